//! The lines of a journal file in order, from an offset on, one in memory at a time. Used by recovery and
//! by readers; never changes the file.

use super::disk::LogFile;
use std::io::{self, BufRead, BufReader, Read};

/// How much is read at once: a few dozen usual records.
const BUFFER_BYTES: usize = 32 << 10;

/// Reads lines from `offset` to `end`.
pub(super) struct Lines<'a> {
    reader: BufReader<Range<'a>>,
    line: Vec<u8>,
}

/// One line.
pub(super) struct Line<'a> {
    /// Its bytes, with the line break if it has one.
    pub(super) bytes: &'a [u8],
    /// Whether its line break is there.
    pub(super) whole: bool,
}

struct Range<'a> {
    file: &'a dyn LogFile,
    offset: u64,
    end: u64,
}

impl<'a> Lines<'a> {
    pub(super) fn new(file: &'a dyn LogFile, offset: u64, end: u64) -> Self {
        Self { reader: BufReader::with_capacity(BUFFER_BYTES, Range { file, offset, end }), line: Vec::new() }
    }

    /// The next line, or none at the end.
    pub(super) fn next(&mut self) -> io::Result<Option<Line<'_>>> {
        self.line.clear();
        if self.reader.read_until(b'\n', &mut self.line)? == 0 {
            return Ok(None);
        }
        Ok(Some(Line { bytes: &self.line, whole: self.line.last() == Some(&b'\n') }))
    }

    /// Passes over a line without keeping it.
    pub(super) fn skip(&mut self) -> io::Result<()> {
        self.reader.skip_until(b'\n').map(drop)
    }
}

impl Read for Range<'_> {
    fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
        let left = usize::try_from(self.end.saturating_sub(self.offset)).unwrap_or(usize::MAX);
        let wanted = buffer.len().min(left);
        let read = self.file.read_at(buffer.get_mut(..wanted).unwrap_or_default(), self.offset)?;
        self.offset += read as u64;
        Ok(read)
    }
}
