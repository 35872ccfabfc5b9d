//! The names in the index of a git repository. Called by `bash_names`, since `git ls-files` prints them whether or not
//! there are such files. Reads the index, runs nothing.

use std::fs;
use std::io::ErrorKind;
use std::path::Path;

/// Larger ones are not read.
const MAX_BYTES: u64 = 64 << 20;
/// Before the number of entries: a signature and a version.
const HEADER: usize = 12;
/// Of an entry, before its object id: times, device, inode, mode, owner, group and size.
const STAT: usize = 40;
/// Where in that the mode is.
const MODE: usize = 24;
/// An object id of SHA-1. A repository that says in its configuration that it has other ones is not read.
const ID: usize = 20;
/// The mode of a folder of which no entry is in a sparse index.
const SPARSE: u32 = 0o040_000;
/// The bits of the flags that hold the length of the name, and that say that there are more flags.
const LENGTH: usize = 0xFFF;
const MORE_FLAGS: usize = 0x4000;
/// What names an index of which this one is a part.
const SPLIT: &[u8] = b"sharedindex.";

/// Gives each name in the index of the repository at `top` to `take`, from its top on; it may have none.
///
/// # Errors
/// What is not understood of it, one sentence, or what `take` says.
pub(super) fn each_name(top: &Path, mut take: impl FnMut(&[u8]) -> Result<(), String>) -> Result<(), String> {
    let git = top.join(".git");
    let odd = |what: &str| format!("the index of the repository {} {what}", top.display());
    if !git.is_dir() {
        return Err(odd("is elsewhere"));
    }
    let config = match crate::base::files::read_text(&git.join("config"), MAX_BYTES) {
        Err(error) if error.kind() == ErrorKind::NotFound => String::new(),
        config => config.map_err(|error| odd(&format!("may be of another kind: {error}")))?,
    };
    if config.to_ascii_lowercase().contains("objectformat") {
        return Err(odd("is of another kind"));
    }
    let entries = fs::read_dir(&git).map_err(|error| odd(&format!("can't be read: {error}")))?;
    if entries.flatten().any(|entry| entry.file_name().as_encoded_bytes().starts_with(SPLIT)) {
        return Err(odd("is in several files"));
    }
    let index = git.join("index");
    match index.symlink_metadata() {
        Err(error) if error.kind() == ErrorKind::NotFound => return Ok(()),
        Ok(metadata) if metadata.is_file() && metadata.len() <= MAX_BYTES => {}
        _ => return Err(odd("is no plain file")),
    }
    let bytes = fs::read(index).map_err(|error| odd(&format!("can't be read: {error}")))?;
    let (version, count) = header(&bytes).ok_or_else(|| odd("is not understood"))?;
    let mut rest = bytes.get(HEADER..).unwrap_or_default();
    let mut name = Vec::new();
    for _ in 0..count {
        rest = entry(rest, version, &mut name).ok_or_else(|| odd("is not understood"))?;
        take(&name)?;
    }
    Ok(())
}

/// The version, of those that are known, and the number of entries.
fn header(bytes: &[u8]) -> Option<(u32, u32)> {
    let version = number(bytes, 4)?;
    (bytes.starts_with(b"DIRC") && (2..=4).contains(&version)).then_some(())?;
    Some((version, number(bytes, 8)?))
}

fn number(bytes: &[u8], at: usize) -> Option<u32> {
    Some(u32::from_be_bytes(bytes.get(at..at + 4)?.try_into().ok()?))
}

/// Reads an entry; `name` is that of the one before it, of which version 4 tells only the difference. What is left.
fn entry<'a>(bytes: &'a [u8], version: u32, name: &mut Vec<u8>) -> Option<&'a [u8]> {
    if number(bytes, MODE)? & 0o170_000 == SPARSE {
        return None;
    }
    let at = STAT + ID;
    let flags = usize::from(u16::from_be_bytes(bytes.get(at..at + 2)?.try_into().ok()?));
    let start = at + 2 + if version >= 3 && flags & MORE_FLAGS != 0 { 2 } else { 0 };
    let mut text = bytes.get(start..)?;
    if version == 4 {
        let strip;
        (strip, text) = offset(text)?;
        name.truncate(name.len().checked_sub(strip)?);
    } else {
        name.clear();
    }
    let end = text.iter().position(|byte| *byte == 0)?;
    name.extend(text.get(..end)?);
    let known = flags & LENGTH;
    if name.is_empty() || known != name.len().min(LENGTH) {
        return None;
    }
    // One NUL byte at least ends it; before version 4 as many as make an entry a multiple of eight bytes.
    if version == 4 { text.get(end + 1..) } else { bytes.get((start + end + 8) & !7..) }
}

/// A number of which each byte holds seven bits, with one added for each byte but the last.
fn offset(bytes: &[u8]) -> Option<(usize, &[u8])> {
    let (first, mut rest) = bytes.split_first()?;
    let mut value = usize::from(first & 0x7F);
    let mut last = *first;
    while last & 0x80 != 0 {
        let (next, more) = rest.split_first()?;
        value = value.checked_add(1)?.checked_mul(0x80)? | usize::from(next & 0x7F);
        (last, rest) = (*next, more);
    }
    Some((value, rest))
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::process::{Command, Stdio};

    fn git(top: &Path, words: &[&str]) {
        #[allow(clippy::disallowed_methods)] // git itself writes the indexes that are read
        let mut command = Command::new("git");
        command.args(words).current_dir(top).env_clear().env("PATH", "/usr/bin:/bin").env("HOME", top);
        command.env("GIT_CONFIG_NOSYSTEM", "1").stdin(Stdio::null());
        let output = command.output().unwrap();
        assert!(output.status.success(), "{words:?}: {}", String::from_utf8_lossy(&output.stderr));
    }

    fn names(top: &Path) -> Result<Vec<String>, String> {
        let mut names = Vec::new();
        each_name(top, |name| {
            names.push(String::from_utf8_lossy(name).into_owned());
            Ok(())
        })?;
        Ok(names)
    }

    fn repository(files: &[&str]) -> tempfile::TempDir {
        let dir = tempfile::tempdir().unwrap();
        git(dir.path(), &["init", "-q"]);
        for name in files {
            let file = dir.path().join(name);
            fs::create_dir_all(file.parent().unwrap()).unwrap();
            fs::write(file, "").unwrap();
        }
        git(dir.path(), &["add", "--", "."]);
        dir
    }

    #[test]
    fn names_of_every_version_are_read() {
        let mut expected = vec!["-o", "a", "a b", "a.rs", "dir/a", "dir/ab", "größe", "--output=x", "last"];
        let dir = repository(&expected);
        for version in ["2", "3", "4"] {
            if version == "3" {
                // More flags make it this version.
                fs::write(dir.path().join("new"), "").unwrap();
                git(dir.path(), &["add", "-N", "new"]);
                expected.push("new");
            } else {
                git(dir.path(), &["update-index", "--index-version", version]);
            }
            let mut found = names(dir.path()).unwrap();
            found.sort();
            expected.sort_unstable();
            assert_eq!(found, expected, "version {version}");
        }
        fs::remove_file(dir.path().join("a")).unwrap();
        assert!(names(dir.path()).unwrap().contains(&"a".to_owned()), "it needs no file");
    }

    #[test]
    fn an_index_that_is_not_understood_is_not_taken_for_empty() {
        let dir = repository(&["a", "b"]);
        let index = dir.path().join(".git/index");
        let whole = fs::read(&index).unwrap();
        for (at, byte) in [(0, b'X'), (7, 5), (11, 200), (HEADER + STAT + ID + 1, 9), (HEADER + MODE + 2, 0x40)] {
            let mut spoiled = whole.clone();
            spoiled[at] = byte;
            fs::write(&index, spoiled).unwrap();
            assert!(names(dir.path()).is_err(), "byte {at}");
        }
        for length in [0, 5, HEADER, HEADER + 30, HEADER + STAT + ID + 2] {
            fs::write(&index, &whole[..length]).unwrap();
            assert!(names(dir.path()).is_err(), "{length} bytes");
        }
        fs::write(&index, &whole).unwrap();
        assert_eq!(names(dir.path()).unwrap(), ["a", "b"]);
        git(dir.path(), &["update-index", "--split-index"]);
        assert!(names(dir.path()).is_err(), "it is in two files");
    }

    #[test]
    fn a_repository_of_another_kind_is_not_read() {
        let dir = tempfile::tempdir().unwrap();
        git(dir.path(), &["init", "-q", "--object-format=sha256"]);
        assert!(names(dir.path()).is_err());
        let dir = tempfile::tempdir().unwrap();
        fs::write(dir.path().join(".git"), "gitdir: elsewhere").unwrap();
        assert!(names(dir.path()).is_err());
        let dir = tempfile::tempdir().unwrap();
        git(dir.path(), &["init", "-q"]);
        assert_eq!(names(dir.path()).unwrap(), [""; 0], "nothing was added");
    }
}
