//! A durable event as it is kept and sent: encoded once, its bytes shared by the journal and by
//! every subscriber; and the line that the journal keeps of it. Called by `store` (lines) and
//! `session` (events). Never touches a file.

use bytes::Bytes;
use proto::event::Event;
use proto::ids::Timestamp;
use serde::Deserialize;
use serde_json::value::RawValue;
use std::borrow::Cow;
use std::sync::Arc;

/// One durable event with its number.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Record {
    /// Its number in the session's log: 1, 2, 3 …
    pub seq: u64,
    /// When it was appended.
    pub at: Arc<str>,
    /// The JSON of the event, on one line.
    pub event: Bytes,
}

/// Why bytes are no journal line, or an event can't become one.
#[derive(Debug, thiserror::Error)]
pub enum LineError {
    /// Not the JSON object that a line is.
    #[error("it is not a record ({0})")]
    Syntax(#[from] serde_json::Error),
    /// The event is not the one that was written.
    #[error("the checksum of its event is {computed}, but {written} was written")]
    Checksum {
        /// Of the bytes that are there.
        computed: String,
        /// What the line says.
        written: String,
    },
    /// An event with a line break in it would tear its line.
    #[error("its event holds a line break; events are encoded on one line")]
    LineBreak,
}

/// A line without its event: what is around the bytes that the checksum covers.
#[derive(Deserialize)]
struct Line<'a> {
    seq: u64,
    #[serde(borrow)]
    at: Cow<'a, str>,
    crc: &'a str,
    event: &'a RawValue,
}

/// Encodes an event.
///
/// # Errors
/// Never for the events of this version; serde's signature is kept so that nothing panics.
pub fn encode(event: &Event) -> Result<Bytes, serde_json::Error> {
    serde_json::to_vec(event).map(Bytes::from)
}

/// The journal's line for a record, with its line break:
/// `{"seq":1,"at":"…","crc":"xxxxxxxx","event":{…}}`. The checksum covers the event's bytes; the number
/// is covered by being the one that is due.
///
/// # Errors
/// [`LineError::LineBreak`] if the event is not on one line.
pub fn encode_line(record: &Record) -> Result<Vec<u8>, LineError> {
    if record.event.contains(&b'\n') {
        return Err(LineError::LineBreak);
    }
    let at = serde_json::to_string(&record.at)?;
    let head = format!(r#"{{"seq":{},"at":{at},"crc":"{}","event":"#, record.seq, checksum(&record.event));
    let mut line = Vec::with_capacity(head.len() + record.event.len() + 2);
    line.extend_from_slice(head.as_bytes());
    line.extend_from_slice(&record.event);
    line.extend_from_slice(b"}\n");
    Ok(line)
}

/// Reads a line, without or with its line break. The event keeps the very bytes that were written.
///
/// # Errors
/// [`LineError`] says what is wrong with it. Fields that a later version adds are passed over.
pub fn decode_line(line: &[u8]) -> Result<Record, LineError> {
    let line: Line<'_> = serde_json::from_slice(line)?;
    let event = line.event.get().as_bytes();
    let computed = checksum(event);
    if computed != line.crc {
        return Err(LineError::Checksum { computed, written: line.crc.to_owned() });
    }
    Ok(Record { seq: line.seq, at: Arc::from(line.at), event: Bytes::copy_from_slice(event) })
}

fn checksum(event: &[u8]) -> String {
    format!("{:08x}", crc32fast::hash(event))
}

impl Record {
    /// Decodes the event.
    ///
    /// # Errors
    /// If a later version wrote an event that this one does not know.
    pub fn decode(&self) -> Result<Event, serde_json::Error> {
        serde_json::from_slice(&self.event)
    }

    /// The moment as the protocol writes it.
    #[must_use]
    pub fn timestamp(&self) -> Timestamp {
        self.at.to_string()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn record(event: &'static str) -> Record {
        Record { seq: 12, at: "2026-11-30T09:41:07.250Z".into(), event: Bytes::from_static(event.as_bytes()) }
    }

    #[test]
    fn a_line_has_the_documented_form() {
        let line = encode_line(&record(r#"{"type":"session.closed"}"#)).unwrap();
        let crc = crc32fast::hash(br#"{"type":"session.closed"}"#);
        assert_eq!(
            String::from_utf8(line).unwrap(),
            format!(
                "{{\"seq\":12,\"at\":\"2026-11-30T09:41:07.250Z\",\"crc\":\"{crc:08x}\",\"event\":{{\"type\":\"session.closed\"}}}}\n"
            )
        );
    }

    #[test]
    fn an_event_keeps_its_bytes() {
        // Spaces, key order, escapes and a long number: all that a parse and a print would change.
        let written = record(r#"{ "b":1,"a": "\u00e9/é", "n":1.00000000000000000001 }"#);
        assert_eq!(decode_line(&encode_line(&written).unwrap()).unwrap(), written);
    }

    #[test]
    fn an_event_on_two_lines_is_refused() {
        let refused = encode_line(&record("{\n}")).unwrap_err();
        assert!(matches!(refused, LineError::LineBreak), "{refused}");
    }

    #[test]
    fn a_field_of_a_later_version_is_passed_over() {
        let line = String::from_utf8(encode_line(&record("{}")).unwrap()).unwrap();
        let later = line.replace(r#""crc""#, r#""node":7,"crc""#);
        assert_eq!(decode_line(later.as_bytes()).unwrap(), record("{}"));
    }

    #[test]
    fn every_flipped_bit_is_noticed_but_in_the_moment() {
        let written = record(r#"{"type":"notice","level":"info","text":"hello"}"#);
        let line = encode_line(&written).unwrap();
        for bit in 0..line.len() * 8 {
            let mut flipped = line.clone();
            flipped[bit / 8] ^= 1 << (bit % 8);
            if let Ok(read) = decode_line(&flipped) {
                let moment_or_break = read.at != written.at || bit / 8 == line.len() - 1;
                assert!(read.seq != written.seq || moment_or_break, "bit {bit}: {read:?}");
                assert_eq!(read.event, written.event, "bit {bit}");
            }
        }
    }

    #[test]
    fn errors_say_what_is_wrong() {
        assert!(decode_line(b"{\"seq\":1,\"at\":\"x\"").unwrap_err().to_string().contains("not a record"));
        let line = String::from_utf8(encode_line(&record("{\"a\":1}")).unwrap()).unwrap().replace("\"a\":1", "\"a\":2");
        assert!(decode_line(line.as_bytes()).unwrap_err().to_string().contains("checksum"));
    }
}
