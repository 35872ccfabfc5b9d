//! One client's view of one session: durable events from a cursor on, each exactly once and in order,
//! and ephemeral ones between them. Held by a connection's forwarder; never blocks a session.

use crate::event::Record;
use bytes::Bytes;
use proto::ids::Timestamp;

/// A subscription. Dropping it ends it.
#[derive(Debug)]
pub struct Subscription {}

/// What a subscription hands out next.
#[derive(Debug, Clone)]
pub enum Delivery {
    /// A durable event.
    Durable(Record),
    /// An ephemeral event: its moment and the JSON of the event.
    Ephemeral(Timestamp, Bytes),
    /// The session is gone; nothing will follow.
    Ended,
}

impl Subscription {
    /// The number of the last event that is a replay.
    #[must_use]
    pub fn replay_to(&self) -> u64 {
        0
    }

    /// Waits for the next event. Cancel-safe: an event that was not handed out is handed out next time.
    pub async fn next(&mut self) -> Delivery {
        Delivery::Ended
    }

    /// The last durable event that was handed out.
    #[must_use]
    pub fn cursor(&self) -> u64 {
        0
    }

    /// Resolves once the client is too far behind: it has caught up with the live log before, and more
    /// than `limit` bytes of durable events have been appended since beyond its cursor.
    pub async fn overrun(&self, limit: u64) {
        let _ = limit;
        std::future::pending::<()>().await;
    }
}
