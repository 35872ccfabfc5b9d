//! What a session has read of which file. Read fills it, Write and Edit ask it, so that nothing is changed
//! which the model has not seen or which changed since; each prompt asks what changed meanwhile. It is kept in a file of
//! the session, so that a question about a change is the same after a restart.

use super::read_log::ReadLog;
use serde::{Deserialize, Serialize};
use std::collections::HashMap;
use std::hash::{DefaultHasher, Hasher as _};
use std::ops::RangeInclusive;
use std::path::{Path, PathBuf};
use std::sync::{Mutex, MutexGuard, PoisonError};
use std::time::SystemTime;

/// What was read, by path.
#[derive(Debug, Default)]
pub struct ReadState {
    files: Mutex<HashMap<PathBuf, Seen>>,
    log: Option<ReadLog>,
}

/// What was seen of one state of a file.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub(super) struct Seen {
    size: usize,
    /// By the standard library's hash: where another version counts otherwise, the file counts as changed.
    hash: u64,
    total_lines: u64,
    lines: Vec<RangeInclusive<u64>>,
    /// When the file was last written, as far as is known.
    modified: Option<SystemTime>,
    /// Whether the model was told that it has changed since.
    #[serde(skip)]
    told: bool,
}

impl Seen {
    fn new(path: &Path, bytes: &[u8], total_lines: u64) -> Self {
        let modified = path.metadata().and_then(|meta| meta.modified()).ok();
        Self { size: bytes.len(), hash: hash(bytes), total_lines, lines: Vec::new(), modified, told: false }
    }

    /// What became of the file since; `None` if it is as it was.
    fn change(&mut self, path: &Path) -> Option<FileState> {
        let Ok(meta) = path.metadata() else { return Some(FileState::Gone) };
        let modified = meta.modified().ok();
        if meta.len() == self.size as u64 {
            if modified.is_some() && modified == self.modified {
                return None;
            }
            let bytes = (meta.len() <= COMPARED_BYTES).then(|| std::fs::read(path)).and_then(Result::ok);
            if bytes.is_some_and(|bytes| hash(&bytes) == self.hash) {
                self.modified = modified;
                return None;
            }
        }
        Some(FileState::Changed)
    }
}

/// What became of a file that was read.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum FileState {
    /// It holds something else.
    Changed,
    /// It can't be found.
    Gone,
}

/// A file of the same size that was written since is compared up to here, and counts as changed beyond.
const COMPARED_BYTES: u64 = 4 << 20;

/// What is known of a file, measured against its bytes now.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) enum Knowledge {
    /// It was never read.
    Unread,
    /// It is not what was read.
    Changed,
    /// Only these lines were read.
    Partial(Vec<RangeInclusive<u64>>),
    /// All of it was read.
    Whole,
}

impl ReadState {
    /// What a session had read when it was last in memory, and from here on is kept in that file.
    #[must_use]
    pub fn kept_in(file: PathBuf) -> Self {
        let log = ReadLog::new(file);
        Self { files: Mutex::new(log.load()), log: Some(log) }
    }

    /// Notes that these lines of a file with these bytes were seen. `path` has all links followed.
    pub(super) fn saw(&self, path: &Path, bytes: &[u8], lines: RangeInclusive<u64>, total_lines: u64) {
        let now = Seen::new(path, bytes, total_lines);
        let mut files = self.lock();
        let seen = files.entry(path.to_owned()).or_insert_with(|| Seen::new(path, bytes, total_lines));
        if seen.size != now.size || seen.hash != now.hash {
            *seen = now;
        }
        seen.told = false;
        seen.lines.push(lines);
        merge(&mut seen.lines);
        self.keep(path, seen);
    }

    /// Notes that the model knows all of a file, since it was just read or written whole.
    pub(super) fn saw_whole(&self, path: &Path, bytes: &[u8]) {
        let seen = Seen::new(path, bytes, 0);
        let mut files = self.lock();
        self.keep(path, &seen);
        files.insert(path.to_owned(), seen);
    }

    fn keep(&self, path: &Path, seen: &Seen) {
        if let Some(log) = &self.log {
            log.add(path, seen);
        }
    }

    /// Notes that an edit turned a file into these bytes: the lines that were seen of it have moved.
    /// `changes` holds, in file order, the last line of each place that was replaced and how many lines it grew by.
    pub(super) fn edited(&self, path: &Path, before: &[u8], after: &[u8], changes: &[(u64, i64)]) {
        let mut files = self.lock();
        let Some(seen) = files.get_mut(path) else { return };
        if seen.size != before.len() || seen.hash != hash(before) {
            return;
        }
        (seen.size, seen.hash) = (after.len(), hash(after));
        seen.modified = path.metadata().and_then(|meta| meta.modified()).ok();
        for (line, grown) in changes.iter().rev() {
            seen.total_lines = seen.total_lines.saturating_add_signed(*grown);
            for range in &mut seen.lines {
                let shift = |at: u64, moves: bool| if moves { at.saturating_add_signed(*grown) } else { at };
                *range = shift(*range.start(), range.start() > line)..=shift(*range.end(), range.end() >= line);
            }
        }
        seen.lines.retain(|range| !range.is_empty());
        self.keep(path, seen);
    }

    /// What is known of a file whose bytes are now these.
    pub(super) fn knowledge(&self, path: &Path, bytes: &[u8]) -> Knowledge {
        let files = self.lock();
        let Some(seen) = files.get(path) else { return Knowledge::Unread };
        if seen.size != bytes.len() || seen.hash != hash(bytes) {
            return Knowledge::Changed;
        }
        let whole = seen.total_lines == 0
            || seen.lines.iter().any(|range| *range.start() <= 1 && *range.end() >= seen.total_lines);
        if whole { Knowledge::Whole } else { Knowledge::Partial(seen.lines.clone()) }
    }

    /// Forgets all: the model does not know any more what it has read, as after a rewind.
    pub fn forget(&self) {
        let mut files = self.lock();
        files.clear();
        if let Some(log) = &self.log {
            log.clear();
        }
    }

    /// Whether any file was read.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.lock().is_empty()
    }

    /// The files that changed since they were read, by path; each change is told once (row L14). Looks at the
    /// files: call it where blocking is allowed.
    #[must_use]
    pub fn take_changes(&self) -> Vec<(PathBuf, FileState)> {
        let mut files = self.lock();
        let unheard = files.iter_mut().filter(|(_, seen)| !seen.told);
        let mut changes: Vec<(PathBuf, FileState)> = unheard
            .filter_map(|(path, seen)| {
                let change = seen.change(path)?;
                seen.told = true;
                Some((path.clone(), change))
            })
            .collect();
        changes.sort_by(|one, other| one.0.cmp(&other.0));
        changes
    }

    /// A map of plain values can't be left half changed, so a panic elsewhere doesn't spoil it.
    fn lock(&self) -> MutexGuard<'_, HashMap<PathBuf, Seen>> {
        self.files.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

fn hash(bytes: &[u8]) -> u64 {
    let mut hasher = DefaultHasher::new();
    hasher.write(bytes);
    hasher.finish()
}

/// Joins ranges that overlap or touch.
fn merge(ranges: &mut Vec<RangeInclusive<u64>>) {
    ranges.sort_by_key(|range| *range.start());
    ranges.dedup_by(|next, kept| {
        let joins = *next.start() <= kept.end().saturating_add(1);
        if joins {
            *kept = *kept.start()..=(*kept.end()).max(*next.end());
        }
        joins
    });
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Row L14: a file that changed since it was read is told of once, and again only after another change.
    #[test]
    fn changes_since_are_told_once() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("a");
        let (same, gone) = (folder.path().join("same"), folder.path().join("gone"));
        let state = ReadState::default();
        for path in [&path, &same, &gone] {
            std::fs::write(path, "one").unwrap();
            state.saw_whole(path, b"one");
        }
        assert!(state.take_changes().is_empty());
        std::fs::write(&path, "three").unwrap();
        std::fs::File::open(&same).unwrap().set_modified(SystemTime::UNIX_EPOCH).unwrap();
        std::fs::remove_file(&gone).unwrap();
        assert_eq!(state.take_changes(), [(path.clone(), FileState::Changed), (gone, FileState::Gone)]);
        assert!(state.take_changes().is_empty());
        state.saw(&path, b"three", 1..=1, 1);
        assert!(state.take_changes().is_empty());
        std::fs::write(&path, "seven").unwrap();
        std::fs::File::open(&path).unwrap().set_modified(SystemTime::UNIX_EPOCH).unwrap();
        assert_eq!(state.take_changes(), [(path, FileState::Changed)]);
    }

    /// Row L14: what was read is known after a restart, and a change since is told.
    #[test]
    fn what_was_read_outlasts_a_restart() {
        let folder = tempfile::tempdir().unwrap();
        let at = |name: &str| folder.path().join(name);
        let (kept, read, part) = (at("reads"), at("read"), at("part"));
        for path in [&read, &part] {
            std::fs::write(path, "one").unwrap();
        }
        let state = ReadState::kept_in(kept.clone());
        state.saw_whole(&read, b"one");
        state.saw(&part, b"one", 2..=3, 9);
        state.saw(&part, b"one", 5..=6, 9);
        state.edited(&part, b"one", b"four", &[(3, 1)]);
        std::fs::write(&part, "four").unwrap();
        // What was cut while it was written down is passed over.
        let log = std::fs::read_to_string(&kept).unwrap();
        std::fs::write(&kept, format!("{log}{{\"path\": \"/x")).unwrap();
        let state = ReadState::kept_in(kept.clone());
        assert_eq!(state.knowledge(&read, b"one"), Knowledge::Whole);
        assert_eq!(state.knowledge(&read, b"two"), Knowledge::Changed);
        assert_eq!(state.knowledge(&part, b"four"), Knowledge::Partial(vec![2..=4, 6..=7]));
        std::fs::write(&read, "three").unwrap();
        assert_eq!(state.take_changes(), [(read.clone(), FileState::Changed)]);
        state.saw_whole(&read, b"three");
        assert_eq!(ReadState::kept_in(kept.clone()).knowledge(&read, b"three"), Knowledge::Whole);
        state.forget();
        assert!(ReadState::kept_in(kept).is_empty());
    }

    #[test]
    fn pages_add_up_to_the_whole() {
        let (state, path) = (ReadState::default(), Path::new("/f"));
        assert_eq!(state.knowledge(path, b"x"), Knowledge::Unread);
        state.saw(path, b"x", 5..=9, 9);
        assert_eq!(state.knowledge(path, b"x"), Knowledge::Partial(vec![5..=9]));
        state.saw(path, b"x", 1..=2, 9);
        assert_eq!(state.knowledge(path, b"x"), Knowledge::Partial(vec![1..=2, 5..=9]));
        state.saw(path, b"x", 3..=4, 9);
        assert_eq!(state.knowledge(path, b"x"), Knowledge::Whole);
        assert_eq!(state.knowledge(path, b"y"), Knowledge::Changed);
    }

    #[test]
    fn a_page_of_a_changed_file_starts_anew() {
        let (state, path) = (ReadState::default(), Path::new("/f"));
        state.saw(path, b"x", 1..=4, 9);
        state.saw(path, b"y", 5..=9, 9);
        assert_eq!(state.knowledge(path, b"y"), Knowledge::Partial(vec![5..=9]));
    }

    #[test]
    fn an_edit_moves_the_lines_behind_it() {
        let (state, path) = (ReadState::default(), Path::new("/f"));
        state.saw(path, b"x", 1..=4, 30);
        state.saw(path, b"x", 10..=12, 30);
        state.edited(path, b"x", b"yy", &[(3, 2)]);
        assert_eq!(state.knowledge(path, b"yy"), Knowledge::Partial(vec![1..=6, 12..=14]));
    }
}
