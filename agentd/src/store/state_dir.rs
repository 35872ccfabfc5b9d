//! The folder that holds all sessions: `<state dir>/sessions/<id>/`. Prepared by `daemon` at start, used
//! by `hub`. It never follows an id out of the folder, and nothing in it is open to other users.

use super::disk::create_private_dir;
use super::error::StoreError;
use super::journal::JOURNAL_FILE;
use proto::ids::SessionId;
use std::fs::{DirBuilder, File, Metadata, OpenOptions, Permissions, TryLockError};
use std::io;
use std::os::unix::fs::{DirBuilderExt, MetadataExt, OpenOptionsExt, PermissionsExt};
use std::path::{Path, PathBuf};

const SESSIONS: &str = "sessions";
/// In a session's folder: large tool results.
pub const OUTPUTS_DIR: &str = "outputs";
/// In a session's folder: what was in files before its file tools changed them.
pub const CHECKPOINTS_DIR: &str = "checkpoints";
/// What the session has read, in its folder.
pub const READS_FILE: &str = "reads.jsonl";
const LOCK_FILE: &str = "lock";
/// How the names of sessions begin that are being deleted; no session id begins with a dot.
const TRASH_PREFIX: &str = ".trash-";
/// How the names of sessions begin that are being made from another.
const DRAFT_PREFIX: &str = ".draft-";

/// The state folder, known to be ours and private.
#[derive(Debug, Clone)]
pub struct StateDir {
    root: PathBuf,
}

/// Keeps another agentd out of the state folder, until it is dropped or this process ends.
#[derive(Debug)]
pub struct StateLock {
    _file: File,
}

impl StateDir {
    /// Creates what is missing (0700), tightens the mode of what is ours, and removes what a deletion left.
    ///
    /// # Errors
    /// [`StoreError::Unsafe`] if the folder belongs to somebody else, or holds other things and can be
    /// written by others.
    pub fn prepare(root: &Path) -> Result<Self, StoreError> {
        let failed = |error| StoreError::from_io(root, error);
        DirBuilder::new().recursive(true).mode(0o700).create(root).map_err(failed)?;
        let sessions = root.join(SESSIONS);
        let known = sessions.is_dir() || is_empty(root).map_err(failed)?;
        check_private(root, known)?;
        match create_private_dir(&sessions) {
            Err(error) if error.kind() != io::ErrorKind::AlreadyExists => {
                return Err(StoreError::from_io(&sessions, error));
            }
            _ => {}
        }
        check_private(&sessions, true)?;
        let dir = Self { root: root.to_owned() };
        dir.remove_trash();
        Ok(dir)
    }

    /// Keeps another agentd out of this folder.
    ///
    /// # Errors
    /// [`StoreError::InUse`] if one is there.
    pub fn lock(&self) -> Result<StateLock, StoreError> {
        let path = self.root.join(LOCK_FILE);
        let failed = |error| StoreError::from_io(&path, error);
        let mut options = OpenOptions::new();
        let file = options.read(true).write(true).create(true).truncate(false).mode(0o600).open(&path);
        let file = file.map_err(failed)?;
        match crate::base::files::lock(&file) {
            Ok(()) => Ok(StateLock { _file: file }),
            Err(TryLockError::WouldBlock) => Err(StoreError::InUse { path: self.root.clone() }),
            Err(TryLockError::Error(error)) => Err(failed(error)),
        }
    }

    /// The sessions that have a journal, in no order.
    ///
    /// # Errors
    /// [`StoreError::Io`].
    pub fn session_ids(&self) -> Result<Vec<SessionId>, StoreError> {
        let sessions = self.root.join(SESSIONS);
        let entries = std::fs::read_dir(&sessions).map_err(|error| StoreError::from_io(&sessions, error))?;
        Ok(entries
            .flatten()
            .filter(|entry| entry.path().join(JOURNAL_FILE).is_file())
            .filter_map(|entry| entry.file_name().into_string().ok())
            .filter(|name| is_session_id(name))
            .map(SessionId::from)
            .collect())
    }

    /// The folder of a session, whether it is there or not.
    ///
    /// # Errors
    /// [`StoreError::Missing`] for a name that no session can have: anything but ASCII letters, digits,
    /// `_` and `-`.
    pub fn session_dir(&self, id: &SessionId) -> Result<PathBuf, StoreError> {
        let sessions = self.root.join(SESSIONS);
        if is_session_id(id.as_str()) {
            Ok(sessions.join(id.as_str()))
        } else {
            // The path names what was looked in, since a hostile id must not be taken for a path.
            Err(StoreError::Missing { path: sessions.join(format!("{:?}", id.as_str())) })
        }
    }

    /// Deletes a session with all that is in its folder. A crash in between leaves it whole or gone. Blocks
    /// for the disk.
    ///
    /// # Errors
    /// [`StoreError::Missing`]; [`StoreError::Io`] if it could not be deleted, or a power loss may bring it back.
    pub fn delete(&self, id: &SessionId) -> Result<(), StoreError> {
        let dir = self.session_dir(id)?;
        let sessions = self.root.join(SESSIONS);
        let trash = sessions.join(format!("{TRASH_PREFIX}{id}"));
        // Left by an earlier deletion of the same name; usually there is none.
        let _ = std::fs::remove_dir_all(&trash);
        std::fs::rename(&dir, &trash).map_err(|error| StoreError::from_io(&dir, error))?;
        File::open(&sessions).and_then(|dir| dir.sync_all()).map_err(|error| StoreError::from_io(&sessions, error))?;
        if let Err(error) = std::fs::remove_dir_all(&trash) {
            tracing::warn!(path = %trash.display(), %error, "a deleted session's files are removed at the next start");
        }
        Ok(())
    }

    /// The folder in which a session is made that must not be found before it is whole.
    ///
    /// # Errors
    /// As [`StateDir::session_dir`].
    pub fn draft_dir(&self, id: &SessionId) -> Result<PathBuf, StoreError> {
        self.session_dir(id).map(|dir| dir.with_file_name(format!("{DRAFT_PREFIX}{id}")))
    }

    /// Gives a session that is whole its place. A crash before leaves nothing, one after leaves all of it. Blocks
    /// for the disk.
    ///
    /// # Errors
    /// [`StoreError::Io`].
    pub fn publish_draft(&self, id: &SessionId) -> Result<(), StoreError> {
        let (draft, dir) = (self.draft_dir(id)?, self.session_dir(id)?);
        let sync = |dir: &Path| File::open(dir)?.sync_all();
        sync(&draft).map_err(|error| StoreError::from_io(&draft, error))?;
        std::fs::rename(&draft, &dir).map_err(|error| StoreError::from_io(&draft, error))?;
        sync(&self.root.join(SESSIONS)).map_err(|error| StoreError::from_io(&dir, error))
    }

    /// Removes what was made of a session that could not be finished.
    pub fn discard_draft(&self, id: &SessionId) {
        // What can't be removed now is at the next start.
        let _ = self.draft_dir(id).map(std::fs::remove_dir_all);
    }

    fn remove_trash(&self) {
        let Ok(entries) = std::fs::read_dir(self.root.join(SESSIONS)) else { return };
        for entry in entries.flatten() {
            let name = entry.file_name();
            let name = name.to_string_lossy();
            if (name.starts_with(TRASH_PREFIX) || name.starts_with(DRAFT_PREFIX))
                && let Err(error) = std::fs::remove_dir_all(entry.path())
            {
                tracing::warn!(path = %entry.path().display(), %error, "what is no session any more can't be removed");
            }
        }
    }
}

fn is_session_id(name: &str) -> bool {
    let fits = |byte: u8| byte.is_ascii_alphanumeric() || byte == b'_' || byte == b'-';
    !name.is_empty() && name.len() <= 128 && name.bytes().all(fits)
}

fn is_empty(dir: &Path) -> io::Result<bool> {
    Ok(std::fs::read_dir(dir)?.next().is_none())
}

/// Checks that a folder is ours and private. The mode of one that is `known` to be agentd's is mended; one
/// that holds other things, or is made for all users as `/tmp` is, is left as it is, and refused if others
/// can change what is in it.
fn check_private(dir: &Path, known: bool) -> Result<(), StoreError> {
    let failed = |error| StoreError::from_io(dir, error);
    let found: Metadata = std::fs::metadata(dir).map_err(failed)?;
    let unsafe_since = |why: String| Err(StoreError::Unsafe { path: dir.to_owned(), why });
    if !found.is_dir() {
        return unsafe_since("it is not a folder; set AGENTD_STATE_DIR to one".to_owned());
    }
    let us = nix::unistd::geteuid().as_raw();
    if found.uid() != us {
        let owner = found.uid();
        return unsafe_since(format!(
            "it belongs to user {owner}, and agentd runs as user {us}; set AGENTD_STATE_DIR to a folder of your own"
        ));
    }
    let mode = found.mode() & 0o7777;
    if mode & 0o077 == 0 {
        return Ok(());
    }
    let made_for_all = mode & 0o1000 != 0;
    if known && !made_for_all {
        return std::fs::set_permissions(dir, Permissions::from_mode(0o700)).map_err(failed);
    }
    if mode & 0o022 != 0 {
        return unsafe_since(format!(
            "others can write to it (mode {mode:03o}) and it is not agentd's own; set AGENTD_STATE_DIR to a folder of its own"
        ));
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::super::Journal;
    use super::*;

    fn mode(path: &Path) -> u32 {
        std::fs::metadata(path).unwrap().mode() & 0o7777
    }

    fn set_mode(path: &Path, mode: u32) {
        std::fs::set_permissions(path, Permissions::from_mode(mode)).unwrap();
    }

    #[test]
    fn what_is_missing_is_created_private() {
        let temp = tempfile::tempdir().unwrap();
        let root = temp.path().join("a/b");
        StateDir::prepare(&root).unwrap();
        for dir in [temp.path().join("a"), root.clone(), root.join(SESSIONS)] {
            assert_eq!(mode(&dir), 0o700, "{}", dir.display());
        }
    }

    #[test]
    fn the_mode_of_our_own_is_mended() {
        let temp = tempfile::tempdir().unwrap();
        let root = temp.path().join("state");
        StateDir::prepare(&root).unwrap();
        set_mode(&root, 0o755);
        set_mode(&root.join(SESSIONS), 0o777);
        StateDir::prepare(&root).unwrap();
        assert_eq!((mode(&root), mode(&root.join(SESSIONS))), (0o700, 0o700));
    }

    #[test]
    fn a_folder_that_others_write_to_is_refused_and_left_alone() {
        let temp = tempfile::tempdir().unwrap();
        let shared = temp.path().join("shared");
        std::fs::create_dir(&shared).unwrap();
        let refused_at = |bits: u32| {
            set_mode(&shared, bits);
            let refused = StateDir::prepare(&shared).unwrap_err();
            assert!(matches!(refused, StoreError::Unsafe { .. }), "{refused}");
            assert_eq!(mode(&shared), bits);
            assert!(!shared.join(SESSIONS).exists());
        };
        refused_at(0o1777); // as /tmp is, even if it is empty
        std::fs::write(shared.join("something"), b"else").unwrap();
        refused_at(0o1777);
        refused_at(0o775);
    }

    #[test]
    fn a_file_in_place_of_the_folder_is_refused() {
        let temp = tempfile::tempdir().unwrap();
        std::fs::write(temp.path().join(SESSIONS), b"").unwrap();
        let refused = StateDir::prepare(temp.path()).unwrap_err();
        assert!(refused.to_string().contains("not a folder"), "{refused}");
    }

    #[test]
    fn sessions_are_listed_and_deleted() {
        let temp = tempfile::tempdir().unwrap();
        let state = StateDir::prepare(temp.path()).unwrap();
        for id in ["ses_a", "ses-b"] {
            Journal::create(&state.session_dir(&id.into()).unwrap()).unwrap();
        }
        std::fs::create_dir(temp.path().join(SESSIONS).join("no-journal")).unwrap();
        let listed = || {
            let mut ids = state.session_ids().unwrap();
            ids.sort();
            ids
        };
        assert_eq!(listed(), vec![SessionId::from("ses-b"), SessionId::from("ses_a")]);
        state.delete(&"ses_a".into()).unwrap();
        assert_eq!(listed(), vec![SessionId::from("ses-b")]);
        assert!(matches!(state.delete(&"ses_a".into()), Err(StoreError::Missing { .. })));
    }

    #[test]
    fn the_rest_of_a_deletion_or_a_draft_is_removed_at_the_next_start() {
        let temp = tempfile::tempdir().unwrap();
        StateDir::prepare(temp.path()).unwrap();
        let rests = [".trash-ses_a", ".draft-ses_b"].map(|name| temp.path().join(SESSIONS).join(name));
        for rest in &rests {
            std::fs::create_dir(rest).unwrap();
            std::fs::write(rest.join(JOURNAL_FILE), b"").unwrap();
        }
        let state = StateDir::prepare(temp.path()).unwrap();
        assert!(rests.iter().all(|rest| !rest.exists()));
        assert_eq!(state.session_ids().unwrap(), Vec::new());
    }

    #[test]
    fn a_draft_is_no_session_until_it_is_published() {
        let temp = tempfile::tempdir().unwrap();
        let state = StateDir::prepare(temp.path()).unwrap();
        let (kept, dropped) = (SessionId::from("ses_a"), SessionId::from("ses_b"));
        for id in [&kept, &dropped] {
            Journal::create(&state.draft_dir(id).unwrap()).unwrap();
        }
        assert_eq!(state.session_ids().unwrap(), Vec::new());
        state.publish_draft(&kept).unwrap();
        state.discard_draft(&dropped);
        assert_eq!(state.session_ids().unwrap(), vec![kept]);
        assert_eq!(std::fs::read_dir(temp.path().join(SESSIONS)).unwrap().count(), 1);
    }

    #[test]
    fn an_id_never_leads_out_of_the_folder() {
        let temp = tempfile::tempdir().unwrap();
        let state = StateDir::prepare(temp.path()).unwrap();
        for id in ["", "..", "a/b", "/etc", "a\0b", ".trash-x", "é", &"a".repeat(129)] {
            assert!(matches!(state.session_dir(&id.into()), Err(StoreError::Missing { .. })), "{id:?}");
        }
    }

    #[test]
    fn a_second_agentd_is_kept_out() {
        let temp = tempfile::tempdir().unwrap();
        let state = StateDir::prepare(temp.path()).unwrap();
        let lock = state.lock().unwrap();
        assert!(matches!(state.lock(), Err(StoreError::InUse { .. })));
        drop(lock);
        state.lock().unwrap();
    }
}
