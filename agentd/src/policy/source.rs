//! Where rules come from, and the rules of all sources together. Made by `config` from the settings, and by the session
//! from what was remembered in it.

use super::rule::Rule;
use std::path::PathBuf;

/// A place that rules come from, in the order in which ties are shown (row P15). What a rule says counts by its
/// behaviour alone: a deny of any source beats an ask, and an ask an allow.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum SourceKind {
    /// The machine's managed settings, which nothing overrides.
    Managed,
    /// `--settings` and the options of the command line.
    CommandLine,
    /// A command that is being run.
    Command,
    /// The session.
    Session,
    /// The user's settings.
    User,
    /// The folder's shared settings.
    Project,
    /// The folder's private settings.
    Local,
}

impl SourceKind {
    /// The name in reasons and on the wire.
    #[must_use]
    pub fn name(self) -> &'static str {
        match self {
            Self::Managed => "managed",
            Self::CommandLine => "commandLine",
            Self::Command => "command",
            Self::Session => "session",
            Self::User => "user",
            Self::Project => "project",
            Self::Local => "local",
        }
    }
}

/// A source, exactly.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Source {
    /// Which kind it is.
    pub kind: SourceKind,
    /// Its file, if it is one.
    pub file: Option<PathBuf>,
    /// The folder that a pattern which begins with one `/` starts from.
    pub base: PathBuf,
}

impl Source {
    /// The session itself, whose folder this is.
    #[must_use]
    pub fn session(folder: PathBuf) -> Self {
        Self { kind: SourceKind::Session, file: None, base: folder }
    }

    /// Kind and file for reasons, such as `project (/x/.claude/settings.json)`.
    #[must_use]
    pub fn shown(&self) -> String {
        match &self.file {
            Some(file) => format!("{} ({})", self.kind.name(), file.display()),
            None => self.kind.name().to_owned(),
        }
    }
}

/// A rule with its source (row P14).
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct SourcedRule {
    /// The rule.
    pub rule: Rule,
    /// Where it comes from.
    pub source: Source,
}

/// The rules of all sources, in the order of the sources.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Rules {
    /// What never runs.
    pub deny: Vec<SourcedRule>,
    /// What is asked.
    pub ask: Vec<SourcedRule>,
    /// What runs unasked.
    pub allow: Vec<SourcedRule>,
}
