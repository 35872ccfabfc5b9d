//! What was in a file before Edit or Write changed it, kept so that a rewind can bring it back. A file is named
//! after the SHA-256 of what it holds, so that equal contents are kept once and a damaged one is noticed.
//! Called by Edit and Write before they change anything, and by `restore`. Never touches the file itself.

use super::text_file::{self, Loaded};
use proto::event::FileCheckpoint;
use sha2::{Digest, Sha256};
use std::fmt::Write as _;
use std::fs::{DirBuilder, File};
use std::io::{self, Write as _};
use std::os::unix::fs::DirBuilderExt as _;
use std::path::Path;

/// SHA-256 in lower-case hex.
pub(super) fn sha256(bytes: &[u8]) -> String {
    let mut hex = String::with_capacity(64);
    for byte in Sha256::digest(bytes) {
        let _ = write!(hex, "{byte:02x}"); // a String takes every write
    }
    hex
}

/// Keeps what is in a file that is about to become `after`; with nothing before, only notes that. When this
/// returns, the old content survives a power loss. No file is too large for it: the file tools change
/// none that is larger than `text_file::MAX_WHOLE_BYTES`.
///
/// # Errors
/// One sentence; then nothing may be changed.
pub(super) fn keep(dir: &Path, before: Option<&Loaded>, after: &[u8]) -> Result<FileCheckpoint, String> {
    let after_sha256 = sha256(after);
    let Some(loaded) = before else { return Ok(FileCheckpoint { before: None, mode: None, after_sha256 }) };
    let name = store(dir, &loaded.bytes).map_err(|error| {
        let why = text_file::describe(dir, &error);
        format!("the old content could not be kept for a rewind, so nothing was changed: {why}")
    })?;
    Ok(FileCheckpoint { before: Some(name), mode: Some(loaded.mode()), after_sha256 })
}

fn store(dir: &Path, bytes: &[u8]) -> io::Result<String> {
    let name = sha256(bytes);
    let path = dir.join(&name);
    if path.is_file() {
        return Ok(name);
    }
    DirBuilder::new().recursive(true).mode(0o700).create(dir)?;
    // Mode 0600 is what a temporary file has from the start.
    let mut file = tempfile::Builder::new().prefix(".new-").tempfile_in(dir)?;
    file.write_all(bytes)?;
    file.as_file().sync_all()?;
    file.persist(&path)?;
    File::open(dir)?.sync_all()?;
    Ok(name)
}

/// Reads a kept content.
///
/// # Errors
/// As the system says; `InvalidData` if it is not what was kept.
pub(super) fn load(dir: &Path, name: &str) -> io::Result<Vec<u8>> {
    let damaged = || io::Error::new(io::ErrorKind::InvalidData, "its checkpoint is damaged");
    if name.len() != 64 || !name.bytes().all(|byte| byte.is_ascii_hexdigit()) {
        return Err(damaged());
    }
    let bytes = std::fs::read(dir.join(name))?;
    if sha256(&bytes) == name { Ok(bytes) } else { Err(damaged()) }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::os::unix::fs::PermissionsExt as _;

    #[test]
    fn equal_contents_are_one_private_file() {
        let dir = tempfile::tempdir().unwrap();
        let (file, kept) = (dir.path().join("f"), dir.path().join("checkpoints"));
        std::fs::write(&file, "old").unwrap();
        std::fs::set_permissions(&file, std::fs::Permissions::from_mode(0o750)).unwrap();
        let loaded = text_file::load(&file).unwrap();
        let first = keep(&kept, Some(&loaded), b"new").unwrap();
        assert_eq!(keep(&kept, Some(&loaded), b"newer").unwrap().before, first.before);
        let name = first.before.unwrap();
        // As `printf old | sha256sum` prints it.
        assert_eq!(name, "cba06b5736faf67e54b07b561eae94395e774c517a7d910a54369e1263ccfbd4");
        assert_eq!((first.mode, first.after_sha256), (Some(0o750), sha256(b"new")));
        assert_eq!(load(&kept, &name).unwrap(), b"old");
        let files: Vec<_> = std::fs::read_dir(&kept).unwrap().map(|entry| entry.unwrap()).collect();
        assert_eq!(files.len(), 1);
        assert_eq!(files[0].metadata().unwrap().permissions().mode() & 0o777, 0o600);
        assert_eq!(std::fs::metadata(&kept).unwrap().permissions().mode() & 0o777, 0o700);
    }

    #[test]
    fn a_damaged_checkpoint_is_not_used() {
        let dir = tempfile::tempdir().unwrap();
        let name = store(dir.path(), b"old").unwrap();
        std::fs::write(dir.path().join(&name), "other").unwrap();
        assert_eq!(load(dir.path(), &name).unwrap_err().kind(), io::ErrorKind::InvalidData);
        assert!(load(dir.path(), "../secret").is_err());
    }

    #[test]
    fn what_can_not_be_kept_stops_the_change() {
        let dir = tempfile::tempdir().unwrap();
        std::fs::write(dir.path().join("file"), "in the way").unwrap();
        let loaded = text_file::load(&dir.path().join("file")).unwrap();
        let refused = keep(&dir.path().join("file"), Some(&loaded), b"new").unwrap_err();
        assert!(refused.contains("nothing was changed"), "{refused}");
    }
}
