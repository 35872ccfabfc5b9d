//! Links among the files that a pattern of a command stands for, or that one command names to another: `cat *` reads what
//! they lead to. Called for the paths of a line. Looks names up, opens no file.

use globset::{GlobBuilder, GlobMatcher};
use std::fs::{self, DirEntry};
use std::path::{Path, PathBuf};

/// Names that are looked at for one pattern.
const MAX_NAMES: usize = 20_000;
/// Names that are looked at in and below a folder.
const MAX_BELOW: usize = 100_000;

/// Too many names to look at.
#[derive(Debug, PartialEq, Eq)]
pub(super) struct TooMany;

/// The links that a pattern may name, in and below the folder from which on it counts.
///
/// # Errors
/// If there are too many names to tell.
pub(super) fn links(folder: &Path, pattern: &str) -> Result<Vec<PathBuf>, TooMany> {
    let parts = pattern.split('/').filter(|part| !matches!(*part, "" | "."));
    let names: Vec<Option<GlobMatcher>> = parts.map(matcher).collect();
    let mut search = Search { left: MAX_NAMES, found: Vec::new() };
    search.below(folder, &names)?;
    Ok(search.found)
}

/// All links in and below a folder, and below the folders that they lead to, if these are `ours`.
///
/// # Errors
/// If there are too many names to tell.
pub(super) fn all_links(folder: &Path, ours: impl Fn(&Path) -> bool) -> Result<Vec<PathBuf>, TooMany> {
    let mut left = MAX_BELOW;
    let (mut folders, mut found) = (vec![folder.to_owned()], Vec::new());
    let mut elsewhere = Vec::new();
    while let Some(inner) = folders.pop() {
        for entry in fs::read_dir(inner).into_iter().flatten().flatten() {
            left = left.checked_sub(1).ok_or(TooMany)?;
            match entry.file_type() {
                Ok(kind) if kind.is_dir() => folders.push(entry.path()),
                Ok(kind) if !kind.is_symlink() => {}
                _ => {
                    let target = fs::canonicalize(entry.path()).ok().filter(|target| target.is_dir() && ours(target));
                    let new = |target: &PathBuf| !target.starts_with(folder) && !elsewhere.contains(target);
                    if let Some(target) = target.filter(new) {
                        elsewhere.push(target.clone());
                        folders.push(target);
                    }
                    found.push(entry.path());
                }
            }
        }
    }
    Ok(found)
}

/// What a part of the pattern fits; `None` if that can't be told, so every name counts.
fn matcher(part: &str) -> Option<GlobMatcher> {
    // Classes in brackets, as `[[:alpha:]]`, are read in another way here.
    let tame = !part.contains(['$', '`', '\\', '(', '{', '!', '^']) && part.matches('[').count() <= 1;
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
            ("", ".//*.txt", &["b.txt"]),
            ("", "?.txt", &["b.txt"]),
            ("", "a*", &[]),
            ("", "[[:alpha:]].txt", &["b.txt", "sub"]),
            ("", "[!a].txt", &["b.txt", "sub"]),
            ("", "*", &["b.txt", "sub"]),
            ("", "*/*.rs", &["src/c.rs", "sub", "sub/c.rs"]),
            ("src", "*.rs", &["src/c.rs"]),
            ("src", "[cd].rs", &["src/c.rs"]),
            ("src", "*/d.rs", &["src/deep/d.rs"]),
            ("", "$x*", &["b.txt", "sub"]),
            ("", "{a,b}*", &["b.txt", "sub"]),
            ("nosuch", "*", &[]),
        ] {
            assert_eq!(found(folder, pattern), expected, "{pattern}");
        }
        let all = |folder: &str, ours: bool| {
            let mut all = all_links(&at(folder), |_| ours).unwrap();
            all.sort();
            all
        };
        assert_eq!(all("", true), ["b.txt", "src/c.rs", "src/deep/d.rs", "sub"].map(at));
        assert_eq!(all("src/deep", true), ["c.rs", "deep/d.rs", "deep/d.rs"].map(|name| at("src").join(name)));
        assert_eq!(all("src/deep", false), [at("src/deep/d.rs")]);
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
