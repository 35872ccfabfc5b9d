//! A session's journal: the file that is the truth of it. Held by the session's actor, which alone
//! appends; readers share it. It is appended to and never rewritten; only what a failed write or a
//! crash left behind the last whole record is cut.
//!
//! A little disk space behind the end, the reserve, is always kept, so that a session that meets a
//! full disk can still write how its turn and its tools ended.

use super::disk::{Disk, LogFile, RealDisk, create_private_dir};
use super::error::{StoreError, is_full};
use super::lines::Lines;
use super::reader::{Index, JournalReader};
use crate::event::Record;
use crate::event::record::{decode_line, encode_line};
use bytes::Bytes;
use nix::errno::Errno;
use std::io;
use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

/// The journal's name in a session's folder.
pub(super) const JOURNAL_FILE: &str = "journal.jsonl";
/// What stays free behind the end for closing events.
pub(super) const RESERVE_BYTES: u64 = 16 << 10;
/// How far ahead space is taken, so that few appends need a second system call.
const AHEAD_BYTES: u64 = 16 << 10;

/// An open journal.
pub struct Journal {
    shared: Arc<Shared>,
    /// How many bytes are known to survive a power loss. Whoever holds it syncs for all that wait.
    synced: tokio::sync::Mutex<u64>,
}

/// What a journal and its readers share.
pub(super) struct Shared {
    pub(super) path: PathBuf,
    pub(super) file: Box<dyn LogFile>,
    state: Mutex<State>,
}

/// The part of a journal that changes. Its lock is held for microseconds.
#[derive(Default)]
pub(super) struct State {
    /// Bytes of whole, accepted records.
    pub(super) length: u64,
    /// The number of the last record.
    pub(super) last_seq: u64,
    /// Where to find the others.
    pub(super) index: Index,
    /// Disk space is taken up to here.
    reserved_to: u64,
    /// The file system can't reserve.
    unreservable: bool,
    /// A failed write left something behind `length` that could not be cut yet.
    scraps: bool,
    /// The disk lost something that was written.
    unkept: bool,
}

impl Shared {
    pub(super) fn state(&self) -> MutexGuard<'_, State> {
        // A panic can't leave the state half changed: each change is made after what may fail.
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }

    pub(super) fn error(&self, source: io::Error) -> StoreError {
        StoreError::from_io(&self.path, source)
    }
}

impl Journal {
    /// Creates the journal of a new session, and its folder (0700) if it is not there; the journal
    /// (0600) survives a power loss from then on. Blocks for the disk: call it off the async threads.
    ///
    /// # Errors
    /// [`StoreError::Exists`]; [`StoreError::Full`] if not even the reserve is to be had. A journal that
    /// could not be created leaves nothing behind.
    pub fn create(session_dir: &Path) -> Result<Self, StoreError> {
        Self::create_on(&RealDisk, session_dir)
    }

    pub(super) fn create_on(disk: &dyn Disk, session_dir: &Path) -> Result<Self, StoreError> {
        let made_dir = match create_private_dir(session_dir) {
            Ok(()) => true,
            Err(error) if error.kind() == io::ErrorKind::AlreadyExists => false,
            Err(error) => return Err(StoreError::from_io(session_dir, error)),
        };
        let path = session_dir.join(JOURNAL_FILE);
        let journal = match disk.create(&path) {
            Ok(file) => Self::with(path.clone(), file, State::default()),
            Err(error) if error.kind() == io::ErrorKind::AlreadyExists => return Err(StoreError::Exists { path }),
            Err(error) => {
                remove_new(None, made_dir.then_some(session_dir));
                return Err(StoreError::from_io(&path, error));
            }
        };
        match journal.settle(disk, session_dir) {
            Ok(()) => Ok(journal),
            Err(error) => {
                remove_new(Some(&path), made_dir.then_some(session_dir));
                Err(journal.shared.error(error))
            }
        }
    }

    /// Takes the reserve and makes the new file's name durable.
    fn settle(&self, disk: &dyn Disk, session_dir: &Path) -> io::Result<()> {
        self.shared.make_room(&mut self.shared.state(), RESERVE_BYTES)?;
        disk.sync_dir(session_dir)?;
        session_dir.parent().map_or(Ok(()), |parent| disk.sync_dir(parent))
    }

    /// Opens a journal and hands each of its records to `each`, in order. What a crash left of a last
    /// record is cut. Blocks for the disk: call it off the async threads.
    ///
    /// # Errors
    /// [`StoreError::Missing`]; [`StoreError::Damaged`] names a record in the middle that is not what was
    /// written; the file is then left as it is.
    pub fn open(session_dir: &Path, each: &mut dyn FnMut(&Record)) -> Result<Self, StoreError> {
        Self::open_on(&RealDisk, session_dir, each)
    }

    pub(super) fn open_on(
        disk: &dyn Disk,
        session_dir: &Path,
        each: &mut dyn FnMut(&Record),
    ) -> Result<Self, StoreError> {
        let path = session_dir.join(JOURNAL_FILE);
        let file = disk.open(&path).map_err(|error| StoreError::from_io(&path, error))?;
        let on_disk = file.length().map_err(|error| StoreError::from_io(&path, error))?;
        let mut state = recover(&path, file.as_ref(), on_disk, each)?;
        state.scraps = state.length < on_disk;
        let journal = Self::with(path, file, state);
        journal.shared.cut_torn_tail(on_disk);
        Ok(journal)
    }

    fn with(path: PathBuf, file: Box<dyn LogFile>, mut state: State) -> Self {
        state.reserved_to = state.length;
        let shared = Arc::new(Shared { path, file, state: Mutex::new(state) });
        Self { shared, synced: tokio::sync::Mutex::new(0) }
    }

    /// Appends an event and gives it its number. When this returns, the event survives the end of this
    /// process; [`Journal::sync`] makes it survive a power loss.
    ///
    /// # Errors
    /// [`StoreError::Full`], [`StoreError::ReadOnly`], [`StoreError::Io`]: nothing was accepted, nothing
    /// is left behind, and a later append works if the cause is gone. [`StoreError::Unkept`] after a
    /// failed sync.
    pub fn append(&self, at: &str, event: Bytes) -> Result<Record, StoreError> {
        self.shared.append(at, event, RESERVE_BYTES)
    }

    /// Appends an event that closes something (`turn.ended`, `tool.ended`, a notice of what went wrong).
    /// On a full disk it may use the reserve, which holds 16 KiB: keep such events short.
    ///
    /// # Errors
    /// As [`Journal::append`].
    pub fn append_closing(&self, at: &str, event: Bytes) -> Result<Record, StoreError> {
        self.shared.append(at, event, 0)
    }

    /// Returns once everything that was appended before survives a power loss. Callers that wait at the
    /// same time share one write to the disk.
    ///
    /// # Errors
    /// [`StoreError::Unkept`] if the disk failed: what was written may be lost, and since asking again
    /// could wrongly succeed, the journal takes nothing but closing events until it is opened anew.
    /// [`StoreError::Full`] on file systems that find room only now.
    pub async fn sync(&self) -> Result<(), StoreError> {
        let wanted = self.len_bytes();
        let mut synced = self.synced.lock().await;
        if *synced >= wanted {
            return Ok(());
        }
        let covered = self.len_bytes();
        let shared = Arc::clone(&self.shared);
        let result = tokio::task::spawn_blocking(move || shared.sync()).await;
        result.unwrap_or_else(|stopped| Err(self.shared.error(io::Error::other(stopped))))?;
        *synced = covered;
        Ok(())
    }

    /// A reader of this journal, which sees what is appended later too.
    #[must_use]
    pub fn reader(&self) -> JournalReader {
        JournalReader::new(Arc::clone(&self.shared))
    }

    /// The number of the last record; 0 if there is none.
    #[must_use]
    pub fn last_seq(&self) -> u64 {
        self.shared.state().last_seq
    }

    /// How long the journal is.
    #[must_use]
    pub fn len_bytes(&self) -> u64 {
        self.shared.state().length
    }
}

impl std::fmt::Debug for Journal {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Journal").field("path", &self.shared.path).field("last_seq", &self.last_seq()).finish()
    }
}

impl Shared {
    /// Appends, leaving `keep` bytes of room behind; 0 for an event that may use the reserve.
    fn append(&self, at: &str, event: Bytes, keep: u64) -> Result<Record, StoreError> {
        let mut state = self.state();
        if state.unkept && keep > 0 {
            return Err(StoreError::Unkept { path: self.path.clone() });
        }
        let record = Record { seq: state.last_seq + 1, at: at.into(), event };
        let line = encode_line(&record)
            .map_err(|error| StoreError::BadEvent { path: self.path.clone(), why: error.to_string() })?;
        self.cut_scraps(&mut state).map_err(|error| self.error(error))?;
        if keep > 0 {
            let end = state.length + line.len() as u64 + keep;
            self.make_room(&mut state, end).map_err(|error| self.error(error))?;
        }
        if let Err(error) = self.write(&line, state.length) {
            state.scraps = true;
            // If this fails too, the next append tries again before it writes.
            let _ = self.cut_scraps(&mut state);
            return Err(self.error(error));
        }
        state.accept(line.len() as u64);
        Ok(record)
    }

    /// Writes all of a line: one system call, unless the system takes only a part of it.
    fn write(&self, line: &[u8], offset: u64) -> io::Result<()> {
        let mut written = 0;
        while let Some(rest) = line.get(written..).filter(|rest| !rest.is_empty()) {
            match self.file.write_at(rest, offset + written as u64) {
                Ok(0) => return Err(io::ErrorKind::WriteZero.into()),
                Ok(count) => written += count,
                Err(error) if error.kind() == io::ErrorKind::Interrupted => {}
                Err(error) => return Err(error),
            }
        }
        Ok(())
    }

    /// Sees to it that disk space is taken up to `end`, ahead of the need where there is enough of it.
    fn make_room(&self, state: &mut State, end: u64) -> io::Result<()> {
        if state.reserved_to >= end || state.unreservable {
            return Ok(());
        }
        let from = state.reserved_to;
        let mut to = end + AHEAD_BYTES;
        let mut reserved = self.file.reserve(from, to);
        if reserved.as_ref().is_err_and(is_full) {
            to = end;
            reserved = self.file.reserve(from, to);
        }
        match reserved {
            Ok(()) => state.reserved_to = to,
            Err(error) if is_unsupported(&error) => state.unreservable = true,
            Err(error) => return Err(error),
        }
        Ok(())
    }

    /// Cuts what a failed write left behind the last record.
    fn cut_scraps(&self, state: &mut State) -> io::Result<()> {
        if !state.scraps {
            return Ok(());
        }
        self.file.cut(state.length)?;
        state.scraps = false;
        // The cut gave the reserve back too; get it again while the space is still free.
        state.reserved_to = state.length;
        let end = state.length + RESERVE_BYTES;
        if let Err(error) = self.make_room(state, end) {
            tracing::debug!(path = %self.path.display(), %error, "the reserve could not be taken");
        }
        Ok(())
    }

    /// Cuts what a crash left; if that fails, the next append tries again.
    fn cut_torn_tail(&self, on_disk: u64) {
        let mut state = self.state();
        if !state.scraps {
            return;
        }
        let (path, bytes) = (self.path.display(), on_disk.saturating_sub(state.length));
        tracing::warn!(%path, bytes, after_seq = state.last_seq, "a record that a crash had cut short was dropped");
        if let Err(error) = self.cut_scraps(&mut state) {
            tracing::warn!(%path, %error, "the remains of that record could not be cut yet");
        }
    }

    fn sync(&self) -> Result<(), StoreError> {
        if self.state().unkept {
            return Err(StoreError::Unkept { path: self.path.clone() });
        }
        match self.file.sync() {
            Ok(()) => Ok(()),
            Err(error) if is_full(&error) => Err(self.error(error)),
            Err(error) => {
                tracing::error!(path = %self.path.display(), %error, "the disk failed to keep the journal");
                self.state().unkept = true;
                Err(StoreError::Unkept { path: self.path.clone() })
            }
        }
    }
}

impl State {
    /// Takes the line at the end, of `bytes` bytes, as the next record.
    fn accept(&mut self, bytes: u64) {
        self.last_seq += 1;
        self.index.add(self.last_seq, self.length);
        self.length += bytes;
    }
}

/// Reads a journal file: its records go to `each`, and the state says where the last whole one ends.
fn recover(path: &Path, file: &dyn LogFile, on_disk: u64, each: &mut dyn FnMut(&Record)) -> Result<State, StoreError> {
    let mut state = State::default();
    let mut lines = Lines::new(file, 0, on_disk);
    while let Some(line) = lines.next().map_err(|error| StoreError::from_io(path, error))? {
        let due = state.last_seq + 1;
        let bytes = line.bytes.len() as u64;
        let why = match decode_line(line.bytes) {
            Ok(record) if line.whole && record.seq == due => {
                each(&record);
                state.accept(bytes);
                continue;
            }
            Ok(record) => format!("it has number {}", record.seq),
            Err(error) => error.to_string(),
        };
        // Only the last write can have been cut short by a crash. What follows a bad record was written
        // after it, so a bad one in the middle was damaged later.
        if state.length + bytes < on_disk {
            return Err(StoreError::Damaged { path: path.to_owned(), record: due, why });
        }
        break;
    }
    Ok(state)
}

fn is_unsupported(error: &io::Error) -> bool {
    matches!(error.raw_os_error().map(Errno::from_raw), Some(Errno::EOPNOTSUPP | Errno::ENOSYS))
}

/// Takes back what a failed creation made. What can't be removed is no session, since it has no record.
fn remove_new(journal: Option<&Path>, dir: Option<&Path>) {
    if let Some(path) = journal {
        let _ = std::fs::remove_file(path);
    }
    if let Some(path) = dir {
        let _ = std::fs::remove_dir(path);
    }
}
