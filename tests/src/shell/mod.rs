//! Lines of bash and what they really do: the corpus of checked lines, random lines made of them, and a sandbox in
//! which a line is run and watched. Used by the tests and the fuzzer of the shell analysis.

pub mod adversarial;
pub mod corpus;
pub mod fixture;
pub mod fuzz;
pub mod grammar;
pub mod mutate;
pub mod random;
pub mod sandbox;
pub mod trace;
