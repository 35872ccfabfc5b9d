//! Opening files that somebody else named or made: a project, a prompt, a setting. Called where such a file
//! is read as a whole. Never waits for a pipe and never reads a device, which may have no end.

use std::fs::{File, Metadata, OpenOptions, TryLockError};
use std::io::{self, ErrorKind, Read};
use std::os::unix::fs::{MetadataExt, OpenOptionsExt};
use std::path::Path;
use std::time::Duration;

/// Opens a plain file for reading; links are followed.
///
/// # Errors
/// As the system says; `InvalidInput` for a pipe, socket or device, `IsADirectory` for a folder.
pub fn open_plain(path: &Path) -> io::Result<File> {
    // Without it, the open of a pipe waits until somebody writes to it.
    let file = OpenOptions::new().read(true).custom_flags(nix::fcntl::OFlag::O_NONBLOCK.bits()).open(path)?;
    let kind = file.metadata()?.file_type();
    if kind.is_dir() {
        return Err(io::Error::new(ErrorKind::IsADirectory, "it is a folder, where a plain file is needed"));
    }
    if !kind.is_file() {
        let message = "it is a pipe, socket or device, where a plain file is needed";
        return Err(io::Error::new(ErrorKind::InvalidInput, message));
    }
    Ok(file)
}

/// Whether a file is the user's own, and closed to everybody else.
#[must_use]
pub fn is_private(found: &Metadata) -> bool {
    found.uid() == nix::unistd::geteuid().as_raw() && found.mode() & 0o077 == 0
}

/// How long a lock may still be held by what a killed agentd left: a program that was about to start has all of
/// agentd's files open until it has.
const LOCK_PATIENCE: Duration = Duration::from_secs(1);
const LOCK_PAUSE: Duration = Duration::from_millis(10);

/// Locks a file against other agentds. Blocks for a second before it gives up: call it at start only.
///
/// # Errors
/// `WouldBlock` if somebody holds it.
pub fn lock(file: &File) -> Result<(), TryLockError> {
    let mut left = LOCK_PATIENCE;
    loop {
        match file.try_lock() {
            Err(TryLockError::WouldBlock) if !left.is_zero() => {
                std::thread::sleep(LOCK_PAUSE);
                left = left.saturating_sub(LOCK_PAUSE);
            }
            locked => return locked,
        }
    }
}

/// Reads a plain text file as a whole.
///
/// # Errors
/// As [`open_plain`]; `FileTooLarge` beyond `max_bytes`, `InvalidData` if it is not UTF-8.
pub fn read_text(path: &Path, max_bytes: u64) -> io::Result<String> {
    let mut text = String::new();
    open_plain(path)?.take(max_bytes.saturating_add(1)).read_to_string(&mut text)?;
    if text.len() as u64 > max_bytes {
        return Err(io::Error::new(ErrorKind::FileTooLarge, format!("it is longer than {max_bytes} bytes")));
    }
    Ok(text)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_plain_file_is_read_up_to_the_limit() {
        let dir = tempfile::tempdir().unwrap();
        let file = dir.path().join("file");
        std::fs::write(&file, "12345").unwrap();
        assert_eq!(read_text(&file, 5).unwrap(), "12345");
        assert_eq!(read_text(&file, 4).unwrap_err().kind(), ErrorKind::FileTooLarge);
        std::os::unix::fs::symlink(&file, dir.path().join("link")).unwrap();
        assert_eq!(read_text(&dir.path().join("link"), 5).unwrap(), "12345");
    }

    #[test]
    fn what_is_no_plain_file_is_refused_at_once() {
        let dir = tempfile::tempdir().unwrap();
        let (pipe, endless) = (dir.path().join("pipe"), dir.path().join("endless"));
        nix::unistd::mkfifo(&pipe, nix::sys::stat::Mode::S_IRWXU).unwrap();
        std::os::unix::fs::symlink("/dev/zero", &endless).unwrap();
        for path in [&pipe, &endless] {
            assert_eq!(read_text(path, 5).unwrap_err().kind(), ErrorKind::InvalidInput, "{}", path.display());
        }
        assert_eq!(read_text(dir.path(), 5).unwrap_err().kind(), ErrorKind::IsADirectory);
        assert_eq!(read_text(&dir.path().join("none"), 5).unwrap_err().kind(), ErrorKind::NotFound);
    }
}
