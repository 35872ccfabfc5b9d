//! Links among the files that a pattern of a command stands for: `cat *` reads what they lead to. Called for the paths of
//! a line. Looks names up, opens no file.

use globset::{GlobBuilder, GlobMatcher};
use std::fs::{self, DirEntry};
use std::path::{Path, PathBuf};

/// Names that are looked at for one pattern.
const MAX_NAMES: usize = 20_000;

/// Too many names to look at.
#[derive(Debug, PartialEq, Eq)]
pub(super) struct TooMany;

/// The links that a pattern may name, in and below the folder before its first wildcard. The pattern is as it is
/// written in the line.
///
/// # Errors
/// If there are too many names to tell.
pub(super) fn links(folder: &Path, pattern: &str) -> Result<Vec<PathBuf>, TooMany> {
    let plain = pattern.replace(['"', '\''], "");
    let parts: Vec<&str> = plain.split('/').collect();
    let fixed = parts.iter().take_while(|part| !is_pattern(part)).count();
    let names: Vec<Option<GlobMatcher>> = parts.iter().skip(fixed).map(|part| matcher(part)).collect();
    let mut search = Search { left: MAX_NAMES, found: Vec::new() };
    search.below(folder, &names)?;
    Ok(search.found)
}

fn is_pattern(part: &str) -> bool {
    part.contains(['*', '?', '[', '{', '$', '`', '\\'])
}

/// What a part of the pattern fits; `None` if that can't be told, so every name counts.
fn matcher(part: &str) -> Option<GlobMatcher> {
    let tame = !part.contains(['$', '`', '\\', '(', '{']);
    let glob = tame.then(|| GlobBuilder::new(part).literal_separator(true).build().ok()).flatten()?;
    Some(glob.compile_matcher())
}

struct Search {
    left: usize,
    found: Vec<PathBuf>,
}

impl Search {
    fn below(&mut self, folder: &Path, names: &[Option<GlobMatcher>]) -> Result<(), TooMany> {
        let Some((name, deeper)) = names.split_first() else { return Ok(()) };
        // A folder that can't be listed gives the shell no names either.
        for entry in fs::read_dir(folder).into_iter().flatten().flatten() {
            self.left = self.left.checked_sub(1).ok_or(TooMany)?;
            if name.as_ref().is_none_or(|name| name.is_match(entry.file_name())) {
                self.take(&entry, deeper)?;
            }
        }
        Ok(())
    }

    fn take(&mut self, entry: &DirEntry, deeper: &[Option<GlobMatcher>]) -> Result<(), TooMany> {
        let path = entry.path();
        let ends_here = deeper.is_empty();
        if path.is_symlink() && (ends_here || path.is_dir()) {
            self.found.push(path.clone());
        }
        if !ends_here && path.is_dir() { self.below(&path, deeper) } else { Ok(()) }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::os::unix::fs::symlink;

    #[test]
    fn links_that_a_pattern_may_name_are_found() {
        let dir = tempfile::tempdir().unwrap();
        let at = |name: &str| dir.path().join(name);
        fs::create_dir_all(at("src/deep")).unwrap();
        fs::write(at("a.txt"), "").unwrap();
        for (name, target) in
            [("b.txt", "/etc/passwd"), ("src/c.rs", "/etc/hosts"), ("src/deep/d.rs", ".."), ("sub", "src")]
        {
            symlink(target, at(name)).unwrap();
        }
        let found = |folder: &str, pattern: &str| {
            let mut names: Vec<String> = links(&at(folder), pattern)
                .unwrap()
                .iter()
                .map(|path| path.strip_prefix(dir.path()).unwrap().to_str().unwrap().to_owned())
                .collect();
            names.sort();
            names
        };
        for (folder, pattern, expected) in [
            ("", "*.txt", &["b.txt"][..]),
            ("", "./*.txt", &["b.txt"]),
            ("", "?.txt", &["b.txt"]),
            ("", "a*", &[]),
            ("", "\"\"*.txt", &["b.txt"]),
            ("", "*", &["b.txt", "sub"]),
            ("", "*/*.rs", &["src/c.rs", "sub", "sub/c.rs"]),
            ("src", "src/*.rs", &["src/c.rs"]),
            ("src", "src/[cd].rs", &["src/c.rs"]),
            ("src", "src/*/d.rs", &["src/deep/d.rs"]),
            ("", "$x*", &["b.txt", "sub"]),
            ("", "{a,b}*", &["b.txt", "sub"]),
            ("nosuch", "nosuch/*", &[]),
        ] {
            assert_eq!(found(folder, pattern), expected, "{pattern}");
        }
    }

    #[test]
    fn a_folder_with_too_many_names_is_not_searched_to_its_end() {
        let dir = tempfile::tempdir().unwrap();
        for name in 0..=MAX_NAMES {
            fs::write(dir.path().join(name.to_string()), "").unwrap();
        }
        assert_eq!(links(dir.path(), "*"), Err(TooMany));
    }
}
