//! The bytes of an event stream, handed on by whole lines and within limits. The parser behind it reads what it holds
//! anew with each part that comes, so a long line in many parts would keep its session busy and deaf. Used by `http`;
//! knows nothing of events, and does no I/O.

use bytes::{Bytes, BytesMut};

/// One line of a stream; the decoder holds it in memory.
pub(super) const MAX_LINE_BYTES: usize = 8 << 20;
/// One whole answer.
const MAX_ANSWER_BYTES: usize = 64 << 20;

/// Where a stream is.
#[derive(Default)]
pub(super) struct Lines {
    total: usize,
    /// What came of the line under way.
    held: BytesMut,
}

impl Lines {
    /// Takes a part, and gives out the lines that are whole with it, if any.
    ///
    /// # Errors
    /// If a line or the stream is too long, so that no server can fill the memory.
    pub(super) fn take(&mut self, mut part: Bytes) -> Result<Option<Bytes>, String> {
        self.total = self.total.saturating_add(part.len());
        if self.total > MAX_ANSWER_BYTES {
            return Err(format!("its answer is longer than {MAX_ANSWER_BYTES} bytes"));
        }
        let whole = part.iter().rposition(|byte| matches!(byte, b'\n' | b'\r')).map(|at| part.split_to(at + 1));
        let lines = match whole {
            Some(whole) if self.held.is_empty() => Some(whole),
            Some(whole) => {
                self.held.extend_from_slice(&whole);
                Some(self.held.split().freeze())
            }
            None => None,
        };
        self.held.extend_from_slice(&part);
        if self.held.len() > MAX_LINE_BYTES {
            return Err(format!("a line of its stream is longer than {MAX_LINE_BYTES} bytes"));
        }
        Ok(lines)
    }

    /// What the stream ended with in place of a whole line.
    pub(super) fn rest(self) -> Option<Bytes> {
        (!self.held.is_empty()).then(|| self.held.freeze())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_endless_line_is_cut_off_and_short_ones_are_not() {
        let mut lines = Lines::default();
        let part = Bytes::from(vec![b'x'; 1 << 20]);
        let results: Vec<bool> = (0..10).map(|_| lines.take(part.clone()).is_ok()).collect();
        assert_eq!(results.iter().filter(|ok| **ok).count(), 8);

        let mut lines = Lines::default();
        let mut line = vec![b'x'; 1 << 20];
        line.push(b'\n');
        let line = Bytes::from(line);
        assert!((0..60).all(|_| lines.take(line.clone()).is_ok()));
        assert!((0..9).any(|_| lines.take(line.clone()).is_err()));
    }

    /// A line is handed on once, however many parts it comes in: the parser never sees a beginning twice.
    #[test]
    fn a_line_is_handed_on_whole_and_every_byte_once() {
        let text = b"data: one long line\n\ndata: \r\ndata: x\rdata: and an end without a break";
        for size in 1..=text.len() {
            let mut lines = Lines::default();
            let mut given: Vec<Bytes> = Vec::new();
            for part in text.chunks(size) {
                given.extend(lines.take(Bytes::copy_from_slice(part)).unwrap());
            }
            assert!(given.iter().all(|part| part.ends_with(b"\n") || part.ends_with(b"\r")), "{size}: {given:?}");
            assert!(given.len() <= 6, "{size}: {given:?}");
            given.extend(lines.rest());
            assert_eq!(given.concat(), text, "{size}");
        }
    }
}
