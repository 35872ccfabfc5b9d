//! What can go wrong with what is kept on disk, each as a sentence with its remedy. Raised by `store`
//! only; `session` and `hub` turn it into the protocol's "storage failed".

use nix::errno::Errno;
use std::io;
use std::path::{Path, PathBuf};

/// An error of the store. Whatever it says, what was accepted before is still there.
#[derive(Debug, thiserror::Error)]
pub enum StoreError {
    /// No room. Nothing was accepted; it works again once there is room.
    #[error("the disk that holds {path} is full: nothing was accepted; free some space and try again")]
    Full {
        /// The file that has to grow.
        path: PathBuf,
    },
    /// The file system can't be written.
    #[error(
        "{path} can't be written, since its file system is read-only: make it writable, or set AGENTD_STATE_DIR to another folder"
    )]
    ReadOnly {
        /// The file that was to be written.
        path: PathBuf,
    },
    /// The system refused or failed.
    #[error("{path} can't be used ({source}): check the disk and the folder's owner and mode")]
    Io {
        /// The file or folder.
        path: PathBuf,
        /// What the system said.
        source: io::Error,
    },
    /// The disk could not keep what had been written, so that nothing may be built on it.
    #[error(
        "the disk failed to keep what was written to {path}: check the disk, then restart agentd, which reads what is really there"
    )]
    Unkept {
        /// The journal.
        path: PathBuf,
    },
    /// A record in the middle of a journal is not what was written.
    #[error(
        "the log {path} is damaged at record {record}: {why}; restore the file from a backup, or delete the session"
    )]
    Damaged {
        /// The journal.
        path: PathBuf,
        /// The number that the damaged record has or should have.
        record: u64,
        /// What is wrong with it.
        why: String,
    },
    /// The event can't be kept as a line.
    #[error("an event for {path} was refused: {why}")]
    BadEvent {
        /// The journal.
        path: PathBuf,
        /// What is wrong with it.
        why: String,
    },
    /// There is a log already.
    #[error("{path} exists already: take another session id")]
    Exists {
        /// The journal.
        path: PathBuf,
    },
    /// There is no log.
    #[error("{path} does not exist: the session was deleted or never created")]
    Missing {
        /// What was looked for.
        path: PathBuf,
    },
    /// Others could read or change what is private.
    #[error("{path} is not safe to keep sessions in: {why}")]
    Unsafe {
        /// The folder.
        path: PathBuf,
        /// What is wrong with it and how to mend it.
        why: String,
    },
    /// Another agentd works on the same folder.
    #[error("{path} is in use by another agentd: stop that one, or set AGENTD_STATE_DIR to another folder")]
    InUse {
        /// The state folder.
        path: PathBuf,
    },
}

impl StoreError {
    /// The error for what the system said about a path.
    pub(super) fn from_io(path: &Path, source: io::Error) -> Self {
        let path = path.to_owned();
        if is_full(&source) {
            return Self::Full { path };
        }
        match source.raw_os_error().map(Errno::from_raw) {
            Some(Errno::EROFS) => Self::ReadOnly { path },
            _ if source.kind() == io::ErrorKind::NotFound => Self::Missing { path },
            _ => Self::Io { path, source },
        }
    }
}

/// Whether an error says that there is no room.
pub(super) fn is_full(error: &io::Error) -> bool {
    matches!(error.raw_os_error().map(Errno::from_raw), Some(Errno::ENOSPC | Errno::EDQUOT))
}
