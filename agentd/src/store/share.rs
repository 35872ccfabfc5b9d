//! The files beside a log that the past of a session names, for a fork of it. They are never changed once they are
//! written, so both can have the same ones: a hard link each, so that either session can be deleted.

use super::error::StoreError;
use super::state_dir::{CHECKPOINTS_DIR, OUTPUTS_DIR};
use proto::ids::SessionId;
use std::fs::{DirBuilder, File};
use std::io;
use std::os::unix::fs::DirBuilderExt;
use std::path::Path;

/// Gives the fork in `to` the checkpoints and outputs of the session in `from`. Outputs stand in a folder named
/// after the session whose log names their paths, which a fork of a fork has from both. Blocks for the disk.
///
/// # Errors
/// [`StoreError`] if a file can't be linked or copied.
pub fn share_files(from: &Path, source: &SessionId, to: &Path) -> Result<(), StoreError> {
    link_all(&from.join(CHECKPOINTS_DIR), &to.join(CHECKPOINTS_DIR))?;
    let (outputs, shared) = (from.join(OUTPUTS_DIR), to.join(OUTPUTS_DIR));
    link_all(&outputs, &shared.join(source.as_str()))?;
    for inherited in entries(&outputs)?.into_iter().filter(|entry| entry.path().is_dir()) {
        link_all(&inherited.path(), &shared.join(inherited.file_name()))?;
    }
    Ok(())
}

/// Links the plain files of a folder into another, which is made if there are any.
fn link_all(from: &Path, to: &Path) -> Result<(), StoreError> {
    let files: Vec<_> = entries(from)?.into_iter().filter(|entry| entry.path().is_file()).collect();
    if files.is_empty() {
        return Ok(());
    }
    let failed = |error| StoreError::from_io(to, error);
    DirBuilder::new().recursive(true).mode(0o700).create(to).map_err(failed)?;
    for file in files {
        link(&file.path(), &to.join(file.file_name())).map_err(failed)?;
    }
    File::open(to).and_then(|dir| dir.sync_all()).map_err(failed)
}

fn link(from: &Path, to: &Path) -> io::Result<()> {
    // Some file systems have no hard links.
    match std::fs::hard_link(from, to).or_else(|_| std::fs::copy(from, to).map(drop)) {
        // A command of the source that is ending took its empty output away just now.
        Err(error) if error.kind() == io::ErrorKind::NotFound => Ok(()),
        done => done,
    }
}

fn entries(dir: &Path) -> Result<Vec<std::fs::DirEntry>, StoreError> {
    match std::fs::read_dir(dir) {
        Ok(entries) => Ok(entries.flatten().collect()),
        Err(error) if error.kind() == io::ErrorKind::NotFound => Ok(Vec::new()),
        Err(error) => Err(StoreError::from_io(dir, error)),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::fs;
    use std::os::unix::fs::MetadataExt;

    #[test]
    fn a_fork_of_a_fork_has_the_files_of_both() {
        let temp = tempfile::tempdir().unwrap();
        let dir = |name: &str| temp.path().join(name);
        for path in ["a/outputs/x.txt", "a/checkpoints/1"] {
            fs::create_dir_all(dir(path).parent().unwrap()).unwrap();
            fs::write(dir(path), path).unwrap();
        }
        share_files(&dir("a"), &"a".into(), &dir("b")).unwrap();
        fs::write(dir("b/outputs/x.txt"), "its own").unwrap();
        share_files(&dir("b"), &"b".into(), &dir("c")).unwrap();
        let read = |path: &str| fs::read_to_string(dir(path)).unwrap();
        assert_eq!(read("c/outputs/a/x.txt"), "a/outputs/x.txt");
        assert_eq!(read("c/outputs/b/x.txt"), "its own");
        assert_eq!(fs::metadata(dir("c/checkpoints/1")).unwrap().nlink(), 3);
        fs::remove_dir_all(dir("a")).unwrap();
        assert_eq!(read("c/checkpoints/1"), "a/checkpoints/1");
        assert_eq!(fs::metadata(dir("c/outputs/a")).unwrap().mode() & 0o777, 0o700);
    }

    #[test]
    fn a_session_without_files_gives_none() {
        let temp = tempfile::tempdir().unwrap();
        share_files(&temp.path().join("a"), &"a".into(), &temp.path().join("b")).unwrap();
        assert!(!temp.path().join("b").exists());
    }
}
