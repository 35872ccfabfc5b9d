//! Tells the subscribers of one awake session what happens. The session's actor calls it right after each
//! append; it only puts things in order under a short lock, and never waits for anybody: a subscriber
//! has a cursor into the log and a small queue of ephemeral events, and fetches at its own pace.

use super::live::{Live, closed_by, started_by};
use super::pending::{Encoded, Pending, Ready};
use super::subscription::Subscription;
use crate::event::Record;
use crate::store::JournalReader;
use bytes::Bytes;
use proto::event::Ephemeral;
use proto::ids::SessionId;
use std::collections::{BTreeMap, VecDeque};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use tokio::sync::Notify;

/// How much is kept in memory, by count and bytes.
#[derive(Debug, Clone, Copy)]
pub(super) struct Limits {
    /// The last durable events, for subscribers that keep up; others read the journal.
    pub(super) tail_records: usize,
    /// The same, in bytes.
    pub(super) tail_bytes: usize,
    /// Ephemeral events that wait for one subscriber, in bytes.
    pub(super) pending_bytes: usize,
}

impl Default for Limits {
    fn default() -> Self {
        Self { tail_records: 128, tail_bytes: 256 << 10, pending_bytes: 1 << 20 }
    }
}

/// `afterSeq` names an event that does not exist yet.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
#[error("afterSeq is {after_seq}, but the session's last event is {last_seq}: give the seq of an event that you have")]
pub struct BeyondEnd {
    /// What was asked for.
    pub after_seq: u64,
    /// The last event.
    pub last_seq: u64,
}

/// The fan-out of one session.
pub struct Fanout {
    session: SessionId,
    reader: JournalReader,
    limits: Limits,
    inner: Mutex<Inner>,
}

#[derive(Default)]
struct Inner {
    /// The last durable event that was announced.
    last_seq: u64,
    /// Bytes of all durable events that were announced.
    announced_bytes: u64,
    ended: bool,
    /// agentd stops: that the session goes on later needs no telling.
    stopped: bool,
    tail: Tail,
    live: Live,
    subscribers: BTreeMap<u64, Subscriber>,
    next_id: u64,
}

/// What the fan-out keeps for one subscriber.
struct Subscriber {
    /// Absent if it wants durable events only.
    pending: Option<Pending>,
    /// Once it has caught up: bytes that it has taken, on the scale of `announced_bytes`.
    taken_bytes: Option<u64>,
    wake: Wake,
    notify: Arc<Notify>,
}

/// What a subscriber waits for.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Wake {
    /// It doesn't wait.
    Never,
    /// Anything new.
    News,
    /// Being further behind than this many bytes.
    Behind(u64),
}

/// The next thing for a subscriber to do.
pub(super) enum Step {
    /// Hand out a durable event.
    Durable(Record),
    /// Hand out an ephemeral one.
    Ephemeral(Ready),
    /// Read the journal on from its cursor.
    Read,
    /// Wait to be notified.
    Wait,
    /// There is nothing more, for ever.
    Ended,
}

impl Fanout {
    /// The fan-out of a session whose log is all that `reader` reads now.
    #[must_use]
    pub fn new(session: SessionId, reader: JournalReader) -> Arc<Self> {
        Self::with_limits(session, reader, Limits::default())
    }

    pub(super) fn with_limits(session: SessionId, reader: JournalReader, limits: Limits) -> Arc<Self> {
        let inner = Mutex::new(Inner { last_seq: reader.last_seq(), ..Inner::default() });
        Arc::new(Self { session, reader, limits, inner })
    }

    /// Announces a durable event. Called right after its append, in the order of the log.
    pub fn durable(&self, record: &Record) {
        let (started, closed) = (started_by(&record.event), closed_by(&record.event));
        let mut inner = self.inner();
        let inner = &mut *inner;
        if let Some(turn) = started {
            inner.live.start(turn);
        }
        if let Some(closed) = &closed {
            inner.live.close(closed);
        }
        inner.last_seq = record.seq;
        inner.announced_bytes += record.event.len() as u64;
        if inner.subscribers.is_empty() {
            inner.tail.clear();
        } else {
            inner.tail.push(record, self.limits);
        }
        for subscriber in inner.subscribers.values_mut() {
            if let (Some(pending), Some(closed)) = (&mut subscriber.pending, &closed) {
                pending.close(closed);
            }
            subscriber.wake_up(inner.announced_bytes);
        }
    }

    /// Tells of an ephemeral event.
    pub fn ephemeral(&self, at: &str, event: &Ephemeral) {
        let mut inner = self.inner();
        let inner = &mut *inner;
        inner.live.take(at, event);
        let mut encoded = None;
        for subscriber in inner.subscribers.values_mut() {
            let Some(pending) = &mut subscriber.pending else { continue };
            if encoded.is_none() {
                let Ok(bytes) = serde_json::to_vec(event) else { return };
                let bytes = Bytes::from(bytes);
                encoded = Some(Arc::new(Encoded { at: at.to_owned(), event: event.clone(), bytes }));
            }
            if let Some(encoded) = &encoded {
                pending.push(inner.last_seq, encoded);
            }
            subscriber.wake_up(inner.announced_bytes);
        }
    }

    /// Subscribes to what follows event `after_seq`: first the log, then what is under way, then live.
    ///
    /// # Errors
    /// [`BeyondEnd`] if there is no such event.
    pub fn subscribe(self: &Arc<Self>, after_seq: u64, ephemeral: bool) -> Result<Subscription, BeyondEnd> {
        let notify = Arc::new(Notify::new());
        let mut inner = self.inner();
        let last_seq = inner.last_seq;
        if after_seq > last_seq {
            return Err(BeyondEnd { after_seq, last_seq });
        }
        let pending = ephemeral.then(|| {
            let mut pending = Pending::new(self.limits.pending_bytes);
            pending.start(last_seq, inner.live.so_far());
            pending
        });
        let taken_bytes = (after_seq == last_seq).then_some(inner.announced_bytes);
        let id = inner.next_id;
        inner.next_id += 1;
        let subscriber = Subscriber { pending, taken_bytes, wake: Wake::Never, notify: Arc::clone(&notify) };
        inner.subscribers.insert(id, subscriber);
        drop(inner);
        Ok(Subscription::new(Arc::clone(self), id, after_seq, last_seq, notify))
    }

    /// The session is deleted: subscribers get what is there, and then the end.
    pub fn end(&self) {
        let mut inner = self.inner();
        inner.ended = true;
        let announced_bytes = inner.announced_bytes;
        for subscriber in inner.subscribers.values_mut() {
            subscriber.wake_up(announced_bytes);
        }
    }

    /// agentd stops, and nothing more will happen: subscribers get what is there, and then a quiet end.
    pub fn stop(&self) {
        self.inner().stopped = true;
        self.end();
    }

    /// Whether the end is agentd's own.
    pub(super) fn is_stopped(&self) -> bool {
        self.inner().stopped
    }

    /// How many subscribe.
    #[must_use]
    pub fn subscribers(&self) -> usize {
        self.inner().subscribers.len()
    }

    pub(super) fn session(&self) -> &SessionId {
        &self.session
    }

    pub(super) fn reader(&self) -> &JournalReader {
        &self.reader
    }

    /// Forgets a subscriber.
    pub(super) fn leave(&self, id: u64) {
        let mut inner = self.inner();
        inner.subscribers.remove(&id);
        if inner.subscribers.is_empty() {
            inner.tail.clear();
        }
    }

    /// What a subscriber that has handed out all up to `cursor` does next; `read` is the next durable event
    /// if it has that already. What is returned is its own: it must be handed out.
    pub(super) fn step(&self, id: u64, cursor: u64, read: Option<&Record>) -> Step {
        let mut inner = self.inner();
        let inner = &mut *inner;
        let Some(subscriber) = inner.subscribers.get_mut(&id) else { return Step::Ended };
        if let Some(ready) = subscriber.pending.as_mut().and_then(|pending| pending.pop(cursor)) {
            return Step::Ephemeral(ready);
        }
        if cursor < inner.last_seq {
            return match read.or_else(|| inner.tail.get(cursor + 1)) {
                Some(record) => {
                    subscriber.took(record, inner.last_seq, inner.announced_bytes);
                    Step::Durable(record.clone())
                }
                None => Step::Read,
            };
        }
        if let Some(lagged) = subscriber.pending.as_mut().and_then(Pending::pop_lagged) {
            return Step::Ephemeral(lagged);
        }
        if inner.ended {
            return Step::Ended;
        }
        subscriber.wake = Wake::News;
        Step::Wait
    }

    /// Whether a subscriber is further behind than `limit` bytes; if not, it is notified once it is.
    pub(super) fn is_behind(&self, id: u64, limit: u64) -> bool {
        let mut inner = self.inner();
        let announced_bytes = inner.announced_bytes;
        let Some(subscriber) = inner.subscribers.get_mut(&id) else { return false };
        let behind = subscriber.behind(announced_bytes) > limit;
        subscriber.wake = if behind { Wake::Never } else { Wake::Behind(limit) };
        behind
    }

    fn inner(&self) -> MutexGuard<'_, Inner> {
        // A panic elsewhere must not silence the session for all others.
        self.inner.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl std::fmt::Debug for Fanout {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Fanout").field("session", &self.session).field("subscribers", &self.subscribers()).finish()
    }
}

impl Subscriber {
    fn wake_up(&mut self, announced_bytes: u64) {
        let due = match self.wake {
            Wake::Never => false,
            Wake::News => true,
            Wake::Behind(limit) => self.behind(announced_bytes) > limit,
        };
        if due {
            self.wake = Wake::Never;
            self.notify.notify_one();
        }
    }

    /// Bytes of durable events that it has not taken; 0 as long as it has never caught up.
    fn behind(&self, announced_bytes: u64) -> u64 {
        self.taken_bytes.map_or(0, |taken| announced_bytes.saturating_sub(taken))
    }

    fn took(&mut self, record: &Record, last_seq: u64, announced_bytes: u64) {
        if record.seq == last_seq {
            self.taken_bytes = Some(announced_bytes);
        } else if let Some(taken) = &mut self.taken_bytes {
            *taken += record.event.len() as u64;
        }
    }
}

/// The last durable events.
#[derive(Default)]
struct Tail {
    records: VecDeque<Record>,
    bytes: usize,
}

impl Tail {
    fn push(&mut self, record: &Record, limits: Limits) {
        if self.records.back().is_some_and(|last| last.seq + 1 != record.seq) {
            self.clear();
        }
        self.records.push_back(record.clone());
        self.bytes += record.event.len();
        while self.records.len() > limits.tail_records || self.bytes > limits.tail_bytes {
            let Some(oldest) = self.records.pop_front() else { break };
            self.bytes -= oldest.event.len();
        }
    }

    fn get(&self, seq: u64) -> Option<&Record> {
        let first = self.records.front()?.seq;
        self.records.get(usize::try_from(seq.checked_sub(first)?).ok()?)
    }

    fn clear(&mut self) {
        *self = Self::default();
    }
}

/// What a fan-out holds in memory for its subscribers.
#[cfg(test)]
pub(super) fn held_bytes(fanout: &Fanout) -> usize {
    let inner = fanout.inner();
    let pending = inner.subscribers.values().filter_map(|subscriber| subscriber.pending.as_ref());
    inner.tail.bytes + pending.map(Pending::bytes).sum::<usize>()
}
