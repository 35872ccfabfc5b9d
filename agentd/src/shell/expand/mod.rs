//! What words become: quotes, braces, variables, patterns. A word is known exactly, or from its beginning, or not at
//! all. Part of the walk over a line; substitutions are walked on the way.

mod arithmetic;
mod brace;
mod expression;
mod parameter;
mod strip;
mod word;

use super::printed::Kind;
use super::programs::Arg;

/// A word after expansion.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Expanded {
    pub arg: Arg,
    /// As it is written, or what it is, if that is known.
    pub text: String,
    /// Whether what comes after the known beginning stays below its folder: a pattern, not any text.
    pub tame: bool,
    /// Whether it is a process substitution: a pipe, no file.
    pub pipe: bool,
    /// The pattern that it is, or that it fits if it is a name for which one stands.
    pub pattern: Option<String>,
    /// Whether what it names surely is no link.
    pub solid: bool,
    /// Whether its end is words that a command printed, and surely only one.
    pub printed: Option<(Kind, bool)>,
}

impl Expanded {
    pub fn literal(text: &str) -> Self {
        Self { text: text.to_owned(), ..Self::of(Arg::Literal(text.to_owned())) }
    }

    /// Of which no more is known than this.
    pub fn of(arg: Arg) -> Self {
        Self { arg, text: String::new(), tame: false, pipe: false, pattern: None, solid: false, printed: None }
    }

    /// Whether it is known just so far. Empty texts are not compared byte by byte, which is slow where both are nowhere.
    pub fn is(&self, arg: &Arg) -> bool {
        match (&self.arg, arg) {
            (Arg::Literal(one), Arg::Literal(two))
            | (Arg::One(one), Arg::One(two))
            | (Arg::Many(one), Arg::Many(two)) => one.len() == two.len() && (one.is_empty() || one == two),
            _ => false,
        }
    }

    /// The word, if it is known.
    pub fn exact(&self) -> Option<&str> {
        match &self.arg {
            Arg::Literal(text) => Some(text),
            _ => None,
        }
    }
}
