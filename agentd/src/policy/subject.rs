//! What a call is about, as rules and safety checks see it. Made by the tool from the input, once for a call (row T13);
//! looking at the file system is the tool's business, so that deciding is pure.

use crate::shell::{Access, Class};
use std::path::PathBuf;

/// What a call is about.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub enum Subject {
    /// Nothing but the fields of its input: `Tool(field:value)`.
    #[default]
    Fields,
    /// Files: `Read(src/**)`, `Edit(/docs/*)`.
    Files(Vec<FileUse>),
    /// Commands: `Bash(git *)`.
    Commands(Commands),
    /// A host: `WebFetch(domain:example.org)`.
    Host(String),
    /// A name: `Agent(Explore)`, `Skill(review)`.
    Name(String),
}

/// A file that a call uses.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct FileUse {
    /// Absolute, as it was asked for, without `.` and `..`.
    pub path: PathBuf,
    /// Where it leads, all links followed.
    pub real: PathBuf,
    /// Whether anything below may be used too, such as by a search or a pattern.
    pub below: bool,
    /// What is done to it.
    pub access: Access,
    /// What kind of place it is.
    pub zone: Zone,
}

/// A kind of place.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Zone {
    /// In the session's folders, or the session's own outputs.
    Inside,
    /// In the system's folders that hold no secrets: everybody reads there.
    System,
    /// Somewhere else.
    Outside,
    /// Other programs run or obey what is there: no mode changes it unasked (row P06). Reading is as elsewhere.
    Protected,
    /// It holds secrets: no command reads it unasked, for what is read leaves the machine.
    Secret,
    /// Removing it would be a disaster: the root, home, the session's folder and those above it.
    Critical,
}

/// A line of commands, taken apart.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Commands {
    /// The whole line.
    pub line: String,
    /// Its simple commands in order.
    pub parts: Vec<CommandUse>,
    /// Why the line is not understood. Then every rule that tightens may speak of it, and none allows it but
    /// by the whole line.
    pub refused: Option<String>,
}

/// A simple command of a line. See [`crate::shell::Command`].
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct CommandUse {
    /// As it is written.
    pub text: String,
    /// What allow rules are compared with.
    pub plain: String,
    /// What rules that tighten are compared with.
    pub forms: Vec<String>,
    /// What it can do.
    pub class: Class,
    /// Why it is of its class.
    pub why: String,
    /// The files that it uses.
    pub files: Vec<FileUse>,
    /// A path that it uses and that can't be known before it runs, as it is written.
    pub unknown_path: Option<String>,
    /// Whether it removes what is at that path: `rm -r "$x"/*` may be the whole file system.
    pub removes_unknown: bool,
    /// Of a command that may do anything, the files that its words name, as it would use them at most: as written by a
    /// program that is for that, else as read. It counts for rules that tighten and for protected places alone.
    pub named: Vec<FileUse>,
    /// Whether it can't be told from its words which command it runs, so that any rule on commands may speak of it.
    pub hidden: bool,
}
