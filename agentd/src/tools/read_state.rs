//! What a session has read of which file. Read fills it, Write and Edit ask it, so that nothing is changed
//! which the model has not seen or which changed since. Opens no file.

use std::collections::HashMap;
use std::hash::{DefaultHasher, Hasher as _};
use std::ops::RangeInclusive;
use std::path::{Path, PathBuf};
use std::sync::{Mutex, MutexGuard, PoisonError};

/// What was read, by path.
#[derive(Debug, Default)]
pub struct ReadState {
    files: Mutex<HashMap<PathBuf, Seen>>,
}

/// What was seen of one state of a file.
#[derive(Debug)]
struct Seen {
    size: usize,
    hash: u64,
    total_lines: u64,
    lines: Vec<RangeInclusive<u64>>,
}

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
    /// Notes that these lines of a file with these bytes were seen. `path` has all links followed.
    pub(super) fn saw(&self, path: &Path, bytes: &[u8], lines: RangeInclusive<u64>, total_lines: u64) {
        let (size, hash) = (bytes.len(), hash(bytes));
        let mut files = self.lock();
        let seen = files.entry(path.to_owned()).or_insert(Seen { size, hash, total_lines, lines: Vec::new() });
        if seen.size != size || seen.hash != hash {
            *seen = Seen { size, hash, total_lines, lines: Vec::new() };
        }
        seen.lines.push(lines);
        merge(&mut seen.lines);
    }

    /// Notes that the model knows all of a file, since it was just read or written whole.
    pub(super) fn saw_whole(&self, path: &Path, bytes: &[u8]) {
        let seen = Seen { size: bytes.len(), hash: hash(bytes), total_lines: 0, lines: Vec::new() };
        self.lock().insert(path.to_owned(), seen);
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
        for (line, grown) in changes.iter().rev() {
            seen.total_lines = seen.total_lines.saturating_add_signed(*grown);
            for range in &mut seen.lines {
                let shift = |at: u64, moves: bool| if moves { at.saturating_add_signed(*grown) } else { at };
                *range = shift(*range.start(), range.start() > line)..=shift(*range.end(), range.end() >= line);
            }
        }
        seen.lines.retain(|range| !range.is_empty());
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
