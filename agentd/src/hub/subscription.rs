//! One client's view of one session: durable events from a cursor on, each exactly once and in order,
//! and ephemeral ones between them. Held by a connection's forwarder; never blocks a session.

use super::fanout::{Fanout, Step};
use super::pending::Ready;
use crate::event::Record;
use crate::store::StoreError;
use bytes::Bytes;
use proto::ids::Timestamp;
use std::collections::VecDeque;
use std::sync::Arc;
use tokio::sync::Notify;
use tokio::task::JoinHandle;

/// How much of the journal is read at once.
const READ_BYTES: usize = 64 << 10;

/// A subscription. Dropping it ends it.
pub struct Subscription {
    fanout: Arc<Fanout>,
    id: u64,
    cursor: u64,
    replay_to: u64,
    notify: Arc<Notify>,
    /// Read from the journal and not yet handed out.
    read: VecDeque<Record>,
    /// A read under way. It is kept here, so that `next` may be dropped and called again.
    reading: Option<JoinHandle<Result<Vec<Record>, StoreError>>>,
    /// The journal could not be read.
    failed: bool,
}

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
    pub(super) fn new(fanout: Arc<Fanout>, id: u64, cursor: u64, replay_to: u64, notify: Arc<Notify>) -> Self {
        Self { fanout, id, cursor, replay_to, notify, read: VecDeque::new(), reading: None, failed: false }
    }

    /// The number of the last event that is a replay.
    #[must_use]
    pub fn replay_to(&self) -> u64 {
        self.replay_to
    }

    /// Waits for the next event. Cancel-safe: an event that was not handed out is handed out next time.
    /// `Ended` also comes if the journal can't be read any more; the log says why.
    pub async fn next(&mut self) -> Delivery {
        loop {
            if let Some(reading) = &mut self.reading {
                let result = reading.await;
                self.reading = None;
                self.take_in(result.unwrap_or_else(|_| Ok(Vec::new())));
            }
            if self.failed {
                return Delivery::Ended;
            }
            match self.fanout.step(self.id, self.cursor, self.read.front()) {
                Step::Durable(record) => {
                    // It came from what was read, or that is empty.
                    self.read.pop_front();
                    self.cursor = record.seq;
                    return Delivery::Durable(record);
                }
                Step::Ephemeral(ready) => {
                    if let Some(delivery) = deliver(ready) {
                        return delivery;
                    }
                }
                Step::Read => self.start_reading(),
                Step::Wait => self.notify.notified().await,
                Step::Ended => return Delivery::Ended,
            }
        }
    }

    /// The last durable event that was handed out.
    #[must_use]
    pub fn cursor(&self) -> u64 {
        self.cursor
    }

    /// Whether it ends since agentd stops.
    #[must_use]
    pub fn is_stopped(&self) -> bool {
        self.fanout.is_stopped()
    }

    /// Resolves once the client is too far behind: it has caught up with the live log before, and more
    /// than `limit` bytes of durable events have been appended since beyond its cursor.
    pub async fn overrun(&self, limit: u64) {
        while !self.fanout.is_behind(self.id, limit) {
            self.notify.notified().await;
        }
    }

    /// Starts to read on from the cursor. What is in the file already but not announced may be read too; it
    /// is handed out once it is announced.
    fn start_reading(&mut self) {
        let (reader, after_seq) = (self.fanout.reader().clone(), self.cursor);
        self.reading = Some(tokio::task::spawn_blocking(move || reader.read(after_seq, READ_BYTES)));
    }

    fn take_in(&mut self, result: Result<Vec<Record>, StoreError>) {
        let session = self.fanout.session();
        match result {
            Ok(records) if !records.is_empty() => self.read = records.into(),
            Ok(_) => {
                tracing::warn!(%session, after_seq = self.cursor, "a subscription ends, since its read was stopped");
                self.failed = true;
            }
            Err(error) => {
                tracing::error!(%session, %error, "a subscription ends, since the log can't be read");
                self.failed = true;
            }
        }
    }
}

/// An ephemeral event as it is sent. One that was joined from several is encoded here, by its own reader.
fn deliver(ready: Ready) -> Option<Delivery> {
    match ready {
        Ready::Shared(encoded) => Some(Delivery::Ephemeral(encoded.at.clone(), encoded.bytes.clone())),
        Ready::Own(at, event) => {
            let bytes = serde_json::to_vec(&event).ok()?;
            Some(Delivery::Ephemeral(at, Bytes::from(bytes)))
        }
    }
}

impl Drop for Subscription {
    fn drop(&mut self) {
        self.fanout.leave(self.id);
    }
}

impl std::fmt::Debug for Subscription {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Subscription")
            .field("session", self.fanout.session())
            .field("cursor", &self.cursor)
            .field("replay_to", &self.replay_to)
            .finish()
    }
}
