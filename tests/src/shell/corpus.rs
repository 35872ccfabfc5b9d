//! The lines of `tests/corpus/`: what people and agents type, each with what is to become of it.

use serde::Deserialize;
use std::path::Path;

/// The files, by name.
pub const FILES: [&str; 2] = ["shell-commands.json", "more-shell-commands.json"];

/// A line and what is known of it.
#[derive(Debug, Clone, Deserialize)]
pub struct Line {
    /// The line.
    pub cmd: String,
    /// What is to become of it.
    pub class: Class,
    /// Its family, a colon, and what it is an example of.
    pub why: String,
}

/// What is to become of a line.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Class {
    /// It only reads: it may run unasked.
    ReadOnly,
    /// It does more, or nobody can tell: it is asked for.
    Ask,
}

impl Line {
    /// What the line is an example of, in one word.
    #[must_use]
    pub fn family(&self) -> &str {
        self.why.split(':').next().unwrap_or_default()
    }
}

/// The lines of a file.
///
/// # Panics
/// If it is not there or not of that form.
#[must_use]
pub fn load(file: &str) -> Vec<Line> {
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("corpus").join(file);
    let text = std::fs::read_to_string(&path).unwrap_or_else(|error| panic!("{}: {error}", path.display()));
    serde_json::from_str(&text).unwrap_or_else(|error| panic!("{}: {error}", path.display()))
}

/// The lines of all files.
#[must_use]
pub fn all() -> Vec<Line> {
    FILES.iter().flat_map(|file| load(file)).collect()
}
