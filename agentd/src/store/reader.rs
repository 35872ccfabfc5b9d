//! Reads a journal while its session appends to it. Used by `hub` for replays and `session/events`;
//! never changes the file and never waits for a writer longer than an append takes.

use super::error::StoreError;
use super::journal::Shared;
use super::lines::Lines;
use crate::event::Record;
use crate::event::record::decode_line;
use std::sync::Arc;

/// How much of a log a scan reads at once.
const CHUNK_BYTES: usize = 256 << 10;
/// The index names at least one of this many records …
const RECORDS_PER_MARK: u64 = 32;
/// … and of this many bytes.
const BYTES_PER_MARK: u64 = 64 << 10;

/// Where some of the records begin: (number, offset), growing.
#[derive(Default)]
pub(super) struct Index(Vec<(u64, u64)>);

impl Index {
    /// Notes a record, if it is far enough from the last one that is named.
    pub(super) fn add(&mut self, seq: u64, offset: u64) {
        let far = self.0.last().is_none_or(|(last_seq, last_offset)| {
            seq - last_seq >= RECORDS_PER_MARK || offset - last_offset >= BYTES_PER_MARK
        });
        if far {
            self.0.push((seq, offset));
        }
    }

    /// The last named record that is not later than the one after `seq`.
    fn before(&self, seq: u64) -> (u64, u64) {
        let after = self.0.partition_point(|(named, _)| *named <= seq.saturating_add(1));
        after.checked_sub(1).and_then(|at| self.0.get(at)).copied().unwrap_or((1, 0))
    }
}

/// Reads the records of one journal. Cheap to clone; keeps the file readable even when it is deleted.
#[derive(Clone)]
pub struct JournalReader {
    shared: Arc<Shared>,
}

impl JournalReader {
    pub(super) fn new(shared: Arc<Shared>) -> Self {
        Self { shared }
    }

    /// The records after `after_seq`, in order: as many as fit in `max_bytes` of events, but at least one
    /// if there is one. Blocks for the disk if the file is not in the page cache.
    ///
    /// # Errors
    /// [`StoreError::Io`]; [`StoreError::Damaged`] if a record changed since it was written. What could be
    /// read before it is handed out first.
    pub fn read(&self, after_seq: u64, max_bytes: usize) -> Result<Vec<Record>, StoreError> {
        let (mark, last_seq, end) = {
            let state = self.shared.state();
            (state.index.before(after_seq), state.last_seq, state.length)
        };
        let mut records = Vec::new();
        if after_seq >= last_seq {
            return Ok(records);
        }
        let (first, offset) = mark;
        let mut lines = Lines::new(self.shared.file.as_ref(), offset, end);
        for _ in first..=after_seq {
            lines.skip().map_err(|error| self.shared.error(error))?;
        }
        let mut bytes = 0;
        for seq in after_seq + 1..=last_seq {
            match self.record(&mut lines, seq) {
                Ok(record) => {
                    bytes += record.event.len();
                    if bytes > max_bytes && !records.is_empty() {
                        break;
                    }
                    records.push(record);
                }
                Err(_) if !records.is_empty() => break,
                Err(error) => return Err(error),
            }
        }
        Ok(records)
    }

    fn record(&self, lines: &mut Lines<'_>, seq: u64) -> Result<Record, StoreError> {
        let line = lines.next().map_err(|error| self.shared.error(error))?;
        let why = match line.map(|line| decode_line(line.bytes)) {
            Some(Ok(record)) if record.seq == seq => return Ok(record),
            Some(Ok(record)) => format!("it has number {}", record.seq),
            Some(Err(error)) => error.to_string(),
            None => "the file was cut".to_owned(),
        };
        Err(StoreError::Damaged { path: self.shared.path.clone(), record: seq, why })
    }

    /// Visits the records after `after_seq` in order, until `visit` has enough. Blocks for the disk.
    ///
    /// # Errors
    /// As [`JournalReader::read`].
    pub fn scan(&self, mut after_seq: u64, mut visit: impl FnMut(&Record) -> bool) -> Result<(), StoreError> {
        loop {
            let records = self.read(after_seq, CHUNK_BYTES)?;
            let Some(last) = records.last() else { return Ok(()) };
            after_seq = last.seq;
            if !records.iter().all(&mut visit) {
                return Ok(());
            }
        }
    }

    /// The number of the last record; 0 if there is none.
    #[must_use]
    pub fn last_seq(&self) -> u64 {
        self.shared.state().last_seq
    }
}

impl std::fmt::Debug for JournalReader {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("JournalReader").field("path", &self.shared.path).finish()
    }
}
