//! What is known of a line: its commands, each with its class, the reason, and the paths that it uses. Made by
//! [`analyse`], for the permission policy and for the question that people see.

use super::{parse, screen, walk};

/// What a line's words may stand for, beside its own text.
#[derive(Debug, Clone, Copy)]
pub struct World<'a> {
    /// The folder in which the line starts, absolute, all links followed.
    pub cwd: &'a str,
    /// `$HOME` and `~`.
    pub home: &'a str,
}

/// A line taken apart.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Analysis {
    /// Its simple commands in order, also those in substitutions, loops and functions. A redirection without a command
    /// is one too.
    pub commands: Vec<Command>,
    /// Why the line as a whole is not understood. Then nothing of it is harmless, and commands may be missing.
    pub refused: Option<String>,
}

/// One simple command.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Command {
    /// As it is written.
    pub text: String,
    /// The program, if it is known for sure; by the name that is written.
    pub program: Option<String>,
    /// The text that allow rules are compared with: words without quotes, one blank between, without redirections,
    /// harmless assignments and wrappers (`timeout 5`, `nice`, …). Words that are not known stand as they are written.
    pub plain: String,
    /// Every text that a rule which tightens is compared with: `plain`, the text as written, and the texts without any
    /// assignment or wrapper, of which there may be several.
    pub forms: Vec<String>,
    /// What it does.
    pub class: Class,
    /// What kind of reading it is.
    pub doing: Doing,
    /// Why it is of its class, one sentence.
    pub why: String,
    /// The paths that it uses, its redirections' too.
    pub paths: Vec<PathUse>,
    /// Of a command that may do anything, what its words may name. What is done to it is not known.
    pub named: Vec<PathUse>,
    /// Whether it can't be told from its words which command it runs: `$(…) x`, `eval "$x"`.
    pub hidden: bool,
}

/// What a command can do.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub enum Class {
    /// It only reads what its `paths` say.
    ReadOnly,
    /// It changes only the files that its `paths` say.
    Edits,
    /// It may do anything.
    Unknown,
}

/// What a command that reads is for.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum Doing {
    /// It looks for text or files.
    Search,
    /// It shows the content of files.
    Read,
    /// It shows what files there are.
    List,
    /// Something else.
    #[default]
    Other,
}

/// A path that a command uses.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct PathUse {
    /// Absolute, as text: no link is followed and `..` stays. Of a pattern, the folder before its first wildcard.
    /// `None` if it can't be known.
    pub path: Option<String>,
    /// Whether what is used may be anything below `path`.
    pub below: bool,
    /// What is done to it.
    pub access: Access,
    /// As it is written; of a name that a pattern stands for, the pattern.
    pub text: String,
    /// Of what is below `path`, the pattern that it fits from there on, if that is known.
    pub pattern: Option<String>,
    /// Whether what is below `path` surely is no link.
    pub solid: bool,
    /// Whether links below it are followed, if it is a folder.
    pub follows: bool,
}

/// What is done to a path.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub enum Access {
    /// Its name, size and the like are seen, or the names in it.
    Look,
    /// Its content is read.
    Read,
    /// It is made or changed.
    Write,
    /// It is removed.
    Remove,
}

impl Analysis {
    /// Whether the line surely only reads, wherever its paths lead.
    #[must_use]
    pub fn is_read_only(&self) -> bool {
        self.refused.is_none() && self.commands.iter().all(|command| command.class == Class::ReadOnly)
    }

    /// Whether each command searches, reads or lists (row B05).
    #[must_use]
    pub fn is_search_or_read(&self) -> bool {
        self.is_read_only() && !self.commands.is_empty() && self.commands.iter().all(|c| c.doing != Doing::Other)
    }
}

/// Names of files that one command of a line gives to another. What is said of the line holds if each name below
/// `folder` is plain: it holds no blank, quote, backslash, control character or what else a shell obeys, so that it is
/// taken for one word and no option, and no link there leads to what may not be read.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Listed {
    /// Absolute, as text.
    pub folder: String,
    /// Words of the commands that choose the names, such as patterns.
    pub hints: Vec<String>,
    /// What git has to do with them.
    pub tracked: Tracked,
    /// Which of them may begin a word.
    pub bare: Bare,
    /// Whether each is one word whatever it holds.
    pub whole: bool,
}

/// Which names below a folder may stand in words with no folder before them.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Bare {
    /// None.
    No,
    /// Those right in the folder.
    First,
    /// All.
    All,
    /// Those right in the folder, of which it only counts that none is an option. Nothing further down matters.
    Options,
}

/// Whether git names files: nothing in a folder `.git` is among them then, but all that its index holds may be, on disk
/// or not.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Tracked {
    /// It doesn't.
    No,
    /// Those below the folder, from the current one on.
    Below,
    /// Those of the whole repository, from its top on.
    All,
}

/// Takes a line apart as [`analyse`] does, and judges it as if all that is `Listed` were plain.
#[must_use]
pub fn analyse_if_plain(line: &str, world: World<'_>) -> (Analysis, Vec<Listed>) {
    let found = match screen::refusal(line) {
        Some(why) => Err(why),
        None => parse::parse(line).and_then(|list| walk::walk_if_plain(line, &list, world)),
    };
    match found {
        Ok((commands, listed)) => (Analysis { commands, refused: None }, listed),
        Err(why) => (Analysis { refused: Some(why), ..Analysis::default() }, Vec::new()),
    }
}

/// Takes a line apart and judges it. Bounded in time whatever the line.
#[must_use]
pub fn analyse(line: &str, world: World<'_>) -> Analysis {
    let found = match screen::refusal(line) {
        Some(why) => Err(why),
        None => parse::parse(line).and_then(|list| walk::walk(line, &list, world)),
    };
    match found {
        Ok(commands) => Analysis { commands, refused: None },
        Err(why) => Analysis { refused: Some(why), ..Analysis::default() },
    }
}
