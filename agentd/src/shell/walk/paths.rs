//! Paths that commands use, as absolute texts. Part of the walk.

use super::Walk;
use crate::shell::analysis::{Access, PathUse};
use crate::shell::expand::Expanded;
use crate::shell::programs::{Arg, PathArg};

impl Walk<'_> {
    /// The uses that a path of a command stands for: one for each folder in which the shell may be.
    pub(super) fn uses_of(&self, words: &[Expanded], path: &PathArg) -> Vec<PathUse> {
        let word = words.iter().find(|word| word.arg == path.arg);
        if word.is_some_and(|word| word.pipe) {
            return Vec::new();
        }
        let tame = word.is_some_and(|word| word.tame);
        let text = word.map(|word| word.text.clone()).or_else(|| match &path.arg {
            Arg::Literal(text) | Arg::One(text) | Arg::Many(text) => Some(text.clone()),
        });
        self.uses(&path.arg, tame, path.access, &text.unwrap_or_default())
    }

    pub(super) fn uses(&self, arg: &Arg, tame: bool, access: Access, text: &str) -> Vec<PathUse> {
        let made = |path: Option<String>, below| PathUse { path, below, access, text: text.to_owned() };
        let (start, below) = match arg {
            Arg::Literal(path) => (path.as_str(), false),
            Arg::One(prefix) | Arg::Many(prefix) if tame => {
                // The folder that surely is before what is not known.
                (prefix.rfind('/').map_or("", |at| prefix.get(..=at).unwrap_or("")), true)
            }
            _ => return vec![made(None, false)],
        };
        if start.starts_with('/') {
            return vec![made(Some(absolute("", start)), below)];
        }
        match &self.state.folders {
            Some(folders) => folders.iter().map(|folder| made(Some(absolute(folder, start)), below)).collect(),
            None => vec![made(None, false)],
        }
    }
}

/// A path in a folder, without `.` and doubled slashes; `..` stays.
pub(super) fn absolute(folder: &str, path: &str) -> String {
    let mut whole = folder.trim_end_matches('/').to_owned();
    for part in path.split('/').filter(|part| !part.is_empty() && *part != ".") {
        whole.push('/');
        whole.push_str(part);
    }
    if whole.is_empty() { "/".to_owned() } else { whole }
}

/// Where `cd` leads by text: `..` takes the folder before it away.
pub(super) fn normal(path: &str) -> String {
    let mut parts: Vec<&str> = Vec::new();
    for part in path.split('/').filter(|part| !part.is_empty() && *part != ".") {
        if part == ".." {
            parts.pop();
        } else {
            parts.push(part);
        }
    }
    format!("/{}", parts.join("/"))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn paths_are_joined_by_text() {
        for (folder, path, expected) in [
            ("/w", "a", "/w/a"),
            ("/w", "./a//b", "/w/a/b"),
            ("/w", "../a", "/w/../a"),
            ("/", "a", "/a"),
            ("", "/", "/"),
            ("/w", "", "/w"),
        ] {
            assert_eq!(absolute(folder, path), expected);
        }
        assert_eq!(normal("/w/src/../a/./b"), "/w/a/b");
        assert_eq!(normal("/../.."), "/");
    }
}
