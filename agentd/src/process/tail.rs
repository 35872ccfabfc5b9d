//! Follows a growing output file. Called by `follow`, a few times a second and once at the end. Holds no
//! more than one part in memory, whatever the file's size.

use std::fs::File;
use std::io;
use std::os::unix::fs::FileExt as _;
use std::path::Path;

/// The most bytes in one part. What comes faster is skipped: the offset tells.
pub(super) const MAX_PART_BYTES: u64 = 64 << 10;

/// A part of a command's output.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct OutputPart {
    /// Bytes of the output before this part.
    pub offset: u64,
    /// The part; bytes that are not UTF-8 show as U+FFFD.
    pub text: String,
    /// Bytes of the output so far.
    pub total_bytes: u64,
}

/// A place in an output file.
#[derive(Debug)]
pub(super) struct Tail {
    file: File,
    offset: u64,
}

impl Tail {
    /// Starts at the beginning of a file.
    pub fn open(path: &Path) -> io::Result<Self> {
        Ok(Self { file: File::open(path)?, offset: 0 })
    }

    /// How long the file is.
    pub fn len(&self) -> io::Result<u64> {
        Ok(self.file.metadata()?.len())
    }

    /// What is new. A character whose last bytes are still to come is held back, unless this is the `last` read.
    pub fn next_part(&mut self, last: bool) -> io::Result<Option<OutputPart>> {
        let total_bytes = self.len()?;
        if total_bytes <= self.offset {
            return Ok(None);
        }
        let skips = total_bytes - self.offset > MAX_PART_BYTES;
        if skips {
            self.offset = total_bytes - MAX_PART_BYTES;
        }
        let mut bytes = vec![0; usize::try_from(total_bytes - self.offset).unwrap_or(0)];
        let filled = read_at(&self.file, &mut bytes, self.offset)?;
        bytes.truncate(filled);
        let cut = if skips { bytes.iter().take(3).take_while(|byte| **byte & 0xC0 == 0x80).count() } else { 0 };
        let offset = self.offset + cut as u64;
        let (text, used) = decode(bytes.get(cut..).unwrap_or_default(), last);
        self.offset = offset + used as u64;
        Ok((!text.is_empty()).then_some(OutputPart { offset, text, total_bytes }))
    }
}

/// Fills the buffer as far as the file goes.
fn read_at(file: &File, buffer: &mut [u8], offset: u64) -> io::Result<usize> {
    let mut filled = 0;
    while let Some(rest) = buffer.get_mut(filled..).filter(|rest| !rest.is_empty()) {
        match file.read_at(rest, offset + filled as u64) {
            Ok(0) => break,
            Ok(read) => filled += read,
            Err(error) if error.kind() == io::ErrorKind::Interrupted => {}
            Err(error) => return Err(error),
        }
    }
    Ok(filled)
}

/// The text of some bytes, and how many of them it stands for: all, or all but an incomplete last character.
fn decode(bytes: &[u8], last: bool) -> (String, usize) {
    let held_back = if last { 0 } else { incomplete_end(bytes) };
    let used = bytes.len() - held_back;
    (String::from_utf8_lossy(bytes.get(..used).unwrap_or_default()).into_owned(), used)
}

/// How many bytes at the end are the beginning of a character (0 to 3).
fn incomplete_end(bytes: &[u8]) -> usize {
    let window = bytes.get(bytes.len().saturating_sub(3)..).unwrap_or_default();
    for (at, byte) in window.iter().enumerate().rev() {
        if *byte & 0xC0 == 0x80 {
            continue;
        }
        let tail = window.get(at..).unwrap_or_default();
        return match std::str::from_utf8(tail) {
            Err(error) if error.valid_up_to() == 0 && error.error_len().is_none() => tail.len(),
            _ => 0,
        };
    }
    0
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::io::Write as _;

    fn follow(chunks: &[&[u8]]) -> Vec<OutputPart> {
        let mut file = tempfile::NamedTempFile::new().unwrap();
        let mut tail = Tail::open(file.path()).unwrap();
        let mut parts = Vec::new();
        for chunk in chunks {
            file.write_all(chunk).unwrap();
            parts.extend(tail.next_part(false).unwrap());
        }
        parts.extend(tail.next_part(true).unwrap());
        parts
    }

    #[test]
    fn a_character_split_over_two_reads_arrives_whole() {
        let text = "a€😀z".as_bytes();
        for at in 0..=text.len() {
            let parts = follow(&[&text[..at], &text[at..]]);
            let joined: String = parts.iter().map(|part| part.text.as_str()).collect();
            assert_eq!(joined, "a€😀z", "split at {at}");
            let mut next = 0;
            for part in &parts {
                assert_eq!(part.offset, next);
                next += part.text.len() as u64;
            }
        }
    }

    #[test]
    fn bytes_that_are_not_utf8_show_as_replacement_characters() {
        let parts = follow(&[b"a\xFFb\xE2\x82", b"c", b"\xF0\x9F"]);
        let joined: String = parts.iter().map(|part| part.text.as_str()).collect();
        assert_eq!(joined, "a\u{FFFD}b\u{FFFD}c\u{FFFD}");
    }

    #[test]
    fn a_burst_is_skipped_to_its_end_on_a_character_boundary() {
        let burst = "€".repeat(100_000);
        let parts = follow(&[burst.as_bytes()]);
        assert_eq!(parts.len(), 1);
        let part = &parts[0];
        assert_eq!(part.total_bytes, 300_000);
        assert_eq!(part.offset + part.text.len() as u64, 300_000);
        assert!(part.text.len() as u64 <= MAX_PART_BYTES);
        assert!(part.text.chars().all(|c| c == '€'));
    }
}
