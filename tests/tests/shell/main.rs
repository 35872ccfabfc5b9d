//! The analysis of shell lines against lines whose effects are known, and against bash itself.

// Test code reads the clock for its bounds.
#![allow(clippy::disallowed_methods)]

mod corpus;
mod effects;
mod fuzz;
mod judge;
mod limits;
