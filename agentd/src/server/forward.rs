//! Forwards one session's events to one connection. A task of its own, so that neither the session nor
//! the connection's other work waits for a slow reader. Events are put around, never re-encoded.

use super::outbox::{Message, Outbox};
use crate::base::limits::CONNECTION_QUEUE_BYTES;
use crate::event::Record;
use crate::hub::{Delivery, Subscription};
use bytes::Bytes;
use proto::event::{SESSION_EVENT, SESSION_LAGGED, SessionLagged};
use proto::ids::{SessionId, Timestamp};
use std::sync::atomic::{AtomicU64, Ordering};
use tokio::task::JoinHandle;
use tokio_util::sync::CancellationToken;

/// How the event that ends a session's log begins.
const CLOSED: &[u8] = br#"{"type":"session.closed""#;

/// A running forwarder.
#[derive(Debug)]
pub struct Forwarder {
    number: u64,
    stop: CancellationToken,
    task: JoinHandle<()>,
}

/// What a forwarder works with.
pub struct Task {
    /// The session.
    pub session: SessionId,
    /// Where events come from.
    pub subscription: Subscription,
    /// Questions that are still open and that the replay leaves out; they follow it, without a number, since
    /// the client has had the numbered event.
    pub open: Vec<(Timestamp, Bytes)>,
    /// Where they go.
    pub outbox: Outbox,
    /// Fires when the attaching call's answer is queued; no event goes before it.
    pub answered: CancellationToken,
    /// Ends it.
    pub stop: CancellationToken,
    /// The last durable event that the client has.
    pub sent_seq: u64,
}

impl Forwarder {
    /// Starts one; `ended` is told its session and number when it ends by itself.
    pub fn start(task: Task, ended: impl FnOnce(&SessionId, u64) + Send + 'static) -> Self {
        static NUMBERS: AtomicU64 = AtomicU64::new(1);
        let number = NUMBERS.fetch_add(1, Ordering::Relaxed);
        let stop = task.stop.clone();
        let task = tokio::spawn(async move {
            let (session, stop) = (task.session.clone(), task.stop.clone());
            tokio::select! {
                () = stop.cancelled() => {}
                () = task.run() => ended(&session, number),
            }
        });
        Self { number, stop, task }
    }

    /// Tells forwarders of one session apart.
    pub fn number(&self) -> u64 {
        self.number
    }

    /// Ends it; when this returns, it queues nothing more.
    pub async fn stop(self) {
        self.stop.cancel();
        if let Err(error) = self.task.await {
            tracing::error!(%error, "a forwarder failed");
        }
    }
}

impl Task {
    async fn run(mut self) {
        self.answered.cancelled().await;
        let session = serde_json::to_string(&self.session).unwrap_or_default();
        let start = format!(r#"{{"jsonrpc":"2.0","method":"{SESSION_EVENT}","params":{{"sessionId":{session},"#);
        let mut closed = false;
        loop {
            if self.sent_seq >= self.subscription.replay_to() {
                for (at, event) in std::mem::take(&mut self.open) {
                    if self.outbox.send(ephemeral(&start, &at, event)).await.is_err() {
                        return;
                    }
                }
            }
            let (message, seq) = match self.subscription.next().await {
                Delivery::Durable(record) => {
                    closed = record.event.starts_with(CLOSED);
                    (durable(&start, &record), Some(record.seq))
                }
                Delivery::Ephemeral(at, event) => (ephemeral(&start, &at, event), None),
                // Nothing follows a session's end, so nobody need come back; nor agentd's own, whose connections end.
                Delivery::Ended if closed || self.subscription.is_stopped() => return,
                // The session's log is to be read anew: who attaches again finds out.
                Delivery::Ended => return self.cut_off(),
            };
            tokio::select! {
                biased;
                sent = self.outbox.send(message) => match sent {
                    Ok(()) => self.sent_seq = seq.unwrap_or(self.sent_seq),
                    Err(_) => return,
                },
                () = self.subscription.overrun(CONNECTION_QUEUE_BYTES as u64) => return self.cut_off(),
            }
        }
    }

    /// Tells a client that its subscription ends, and where to come back.
    fn cut_off(self) {
        tracing::info!(session = %self.session, after = self.sent_seq, "a client is detached");
        let params = SessionLagged { session_id: self.session, resume_after_seq: self.sent_seq };
        match serde_json::to_string(&params) {
            Ok(params) => {
                let text = format!(r#"{{"jsonrpc":"2.0","method":"{SESSION_LAGGED}","params":{params}}}"#);
                if self.outbox.send_past_the_cap(Message::text(text)).is_err() {
                    tracing::debug!("the client is gone");
                }
            }
            Err(error) => tracing::error!(%error, "a marker can't be encoded"),
        }
    }
}

fn durable(start: &str, record: &Record) -> Message {
    let head = format!(r#"{start}"seq":{},"at":"{}","event":"#, record.seq, record.at);
    Message::around(head, record.event.clone(), "}}")
}

fn ephemeral(start: &str, at: &str, event: Bytes) -> Message {
    Message::around(format!(r#"{start}"at":"{at}","event":"#), event, "}}")
}
