//! Which uses of a program are harmless: per program a list of harmless options, never a list of bad ones. One file
//! per program or family. Called by the walk over a line, with words as they are after expansion.

use super::analysis::{Access, Class, Doing};

/// A word of a command after expansion, as far as it is known.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Arg {
    /// Exactly this word.
    Literal(String),
    /// Exactly one word that begins with this text, which may be empty: `"$x"`, `src/$"x"`.
    One(String),
    /// Any number of words, each of which begins with this text, which may be empty: `*.rs`, `src/*`, `$x`.
    Many(String),
}

/// What is known of a command.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Judgement {
    /// It does no more than this.
    Known(Known),
    /// It runs another command, and does itself no more than `does`.
    Runs {
        /// The other command's words, its name first.
        argv: Vec<Arg>,
        /// Beside that.
        does: Known,
    },
    /// It runs this text as a bash line, and does itself nothing.
    Script(String),
    /// It may do anything: why, one sentence.
    Unknown(String),
}

/// What a command does, and no more.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Known {
    /// `ReadOnly` or `Edits`.
    pub class: Class,
    /// What it is for.
    pub doing: Doing,
    /// The paths that it uses.
    pub paths: Vec<PathArg>,
}

/// A path among the words of a command.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct PathArg {
    /// The path; of a word that is not known to its end, its beginning.
    pub arg: Arg,
    /// What is done to it.
    pub access: Access,
}

/// Judges a program by its words after the name.
pub(super) fn judge(name: &str, _args: &[Arg]) -> Judgement {
    Judgement::Unknown(format!("{name} is not a program that is known to be harmless"))
}
