//! What a session looked like after a certain length of its journal, so that lists need not read the
//! journal. A cache: written by `hub` when a session rests, and worth nothing once the journal is longer.

use super::error::StoreError;
use super::journal::JOURNAL_FILE;
use proto::session::SessionInfo;
use serde::{Deserialize, Serialize};
use std::io::{self, Write};
use std::path::Path;

const SNAPSHOT_FILE: &str = "snapshot.json";

/// A session as it was when its journal was `journal_bytes` long.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct SessionSnapshot {
    /// The length of the journal.
    pub journal_bytes: u64,
    /// The session.
    pub info: SessionInfo,
}

impl SessionSnapshot {
    /// Writes the snapshot: whole or not at all.
    ///
    /// # Errors
    /// [`StoreError`], which a caller may ignore: a journal is enough.
    pub fn save(session_dir: &Path, snapshot: &Self) -> Result<(), StoreError> {
        let path = session_dir.join(SNAPSHOT_FILE);
        let written = || -> io::Result<()> {
            // Mode 0600 is what a temporary file has from the start.
            let mut file = tempfile::Builder::new().prefix(".snapshot-").tempfile_in(session_dir)?;
            file.write_all(&serde_json::to_vec(snapshot)?)?;
            file.persist(&path)?;
            Ok(())
        };
        written().map_err(|error| StoreError::from_io(&path, error))
    }

    /// Reads the snapshot; none if there is none, or anything is wrong with it.
    #[must_use]
    pub fn load(session_dir: &Path) -> Option<Self> {
        let bytes = std::fs::read(session_dir.join(SNAPSHOT_FILE)).ok()?;
        serde_json::from_slice(&bytes).ok()
    }

    /// Whether the journal is still as long as it was, so that the snapshot tells the present.
    #[must_use]
    pub fn is_current(&self, session_dir: &Path) -> bool {
        std::fs::metadata(session_dir.join(JOURNAL_FILE)).is_ok_and(|journal| journal.len() == self.journal_bytes)
    }
}

#[cfg(test)]
mod tests {
    use super::super::Journal;
    use super::*;
    use bytes::Bytes;
    use std::os::unix::fs::PermissionsExt;

    fn info() -> SessionInfo {
        let now = "2026-11-30T09:41:07.250Z".to_owned();
        SessionInfo {
            title: "a title".into(),
            turn_count: 1,
            last_seq: 2,
            ..SessionInfo::new("ses_1".into(), "/".into(), "demo/guide".into(), now)
        }
    }

    #[test]
    fn a_snapshot_is_current_until_the_journal_grows() {
        let dir = tempfile::tempdir().unwrap();
        let session = dir.path().join("ses_1");
        let journal = Journal::create(&session).unwrap();
        journal.append("t", Bytes::from_static(b"{}")).unwrap();
        let snapshot = SessionSnapshot { journal_bytes: journal.len_bytes(), info: info() };
        SessionSnapshot::save(&session, &snapshot).unwrap();

        let loaded = SessionSnapshot::load(&session).unwrap();
        assert_eq!(loaded, snapshot);
        assert!(loaded.is_current(&session));
        let mode = std::fs::metadata(session.join(SNAPSHOT_FILE)).unwrap().permissions().mode();
        assert_eq!(mode & 0o777, 0o600);

        journal.append("t", Bytes::from_static(b"{}")).unwrap();
        assert!(!loaded.is_current(&session));
    }

    #[test]
    fn a_broken_or_missing_snapshot_is_none() {
        let dir = tempfile::tempdir().unwrap();
        assert_eq!(SessionSnapshot::load(dir.path()), None);
        std::fs::write(dir.path().join(SNAPSHOT_FILE), b"{\"journalBytes\":").unwrap();
        assert_eq!(SessionSnapshot::load(dir.path()), None);
    }

    #[test]
    fn a_snapshot_that_can_not_be_written_leaves_the_old_one() {
        let dir = tempfile::tempdir().unwrap();
        let snapshot = SessionSnapshot { journal_bytes: 1, info: info() };
        let missing = dir.path().join("gone");
        assert!(SessionSnapshot::save(&missing, &snapshot).is_err());
        SessionSnapshot::save(dir.path(), &snapshot).unwrap();
        assert_eq!(std::fs::read_dir(dir.path()).unwrap().count(), 1, "no temporary file is left");
    }
}
