//! A durable event as it is kept and sent: encoded once, its bytes shared by the journal and by
//! every subscriber.

use bytes::Bytes;
use proto::event::Event;
use proto::ids::Timestamp;
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

/// Encodes an event.
///
/// # Errors
/// Never for the events of this version; serde's signature is kept so that nothing panics.
pub fn encode(event: &Event) -> Result<Bytes, serde_json::Error> {
    serde_json::to_vec(event).map(Bytes::from)
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
