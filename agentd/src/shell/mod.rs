//! L1: what a bash line would do, judged from its text alone: parsed to words, then decided by what each word can
//! become after expansion. Anything that is not understood is said not to be. Called by Bash. Runs and opens nothing.

mod analysis;
mod ast;
mod builtins;
mod expand;
mod names;
mod parse;
mod printed;
mod programs;
mod screen;
mod state;
#[cfg(test)]
mod tests;
mod walk;

pub use analysis::{
    Access, Analysis, Bare, Class, Command, Doing, Listed, PathUse, Tracked, World, analyse, analyse_if_plain,
};
