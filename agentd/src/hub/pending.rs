//! The ephemeral events that one subscriber has not taken yet. Bounded: pieces of one text are joined
//! while they wait, and past the limit the oldest are dropped and counted. Used by `fanout` only.

use super::live::Closed;
use bytes::Bytes;
use proto::event::Ephemeral;
use proto::ids::Timestamp;
use std::collections::VecDeque;
use std::sync::Arc;

/// How long a joined piece may become, so that dropping one drops little and a frame stays small.
const MERGED_BYTES: usize = 64 << 10;
/// What an event costs beside its text.
const ENTRY_BYTES: usize = 256;

/// An ephemeral event, encoded once for all subscribers.
#[derive(Debug)]
pub(super) struct Encoded {
    /// When it happened.
    pub(super) at: Timestamp,
    /// The event.
    pub(super) event: Ephemeral,
    /// Its JSON.
    pub(super) bytes: Bytes,
}

/// An event that can be handed out.
#[derive(Debug)]
pub(super) enum Ready {
    /// As all get it.
    Shared(Arc<Encoded>),
    /// This subscriber's own: joined from several, or what there was when it came.
    Own(Timestamp, Ephemeral),
}

impl Ready {
    fn event(&self) -> &Ephemeral {
        match self {
            Self::Shared(encoded) => &encoded.event,
            Self::Own(_, event) => event,
        }
    }

    fn at(&self) -> &Timestamp {
        match self {
            Self::Shared(encoded) => &encoded.at,
            Self::Own(at, _) => at,
        }
    }
}

#[derive(Debug)]
struct Entry {
    /// The last durable event when this one happened: it is handed out after that and before the next.
    after: u64,
    /// How many events were joined into it, without itself.
    joined: u64,
    ready: Ready,
}

impl Entry {
    fn cost(&self) -> usize {
        ENTRY_BYTES + text(self.ready.event()).len()
    }
}

/// The events of one subscriber, in their order.
#[derive(Debug)]
pub(super) struct Pending {
    entries: VecDeque<Entry>,
    bytes: usize,
    limit: usize,
    /// Dropped since that was last told, each piece of a joined one counted.
    dropped: u64,
    /// When the last of them had happened.
    dropped_at: Option<Timestamp>,
}

impl Pending {
    pub(super) fn new(limit: usize) -> Self {
        Self { entries: VecDeque::new(), bytes: 0, limit, dropped: 0, dropped_at: None }
    }

    /// Puts in what there is so far, for a subscriber that has just come.
    pub(super) fn start(&mut self, after: u64, so_far: impl Iterator<Item = (Timestamp, Ephemeral)>) {
        for (at, event) in so_far {
            self.add(Entry { after, joined: 0, ready: Ready::Own(at, event) });
        }
    }

    /// Adds an event that happened after the durable event `after`.
    pub(super) fn push(&mut self, after: u64, encoded: &Arc<Encoded>) {
        if !self.join(after, encoded) {
            self.add(Entry { after, joined: 0, ready: Ready::Shared(Arc::clone(encoded)) });
        }
        while self.bytes > self.limit {
            let Some(entry) = self.take() else { break };
            self.dropped += 1 + entry.joined;
            self.dropped_at = Some(entry.ready.at().clone());
        }
    }

    /// The first event, if it belongs right behind the durable event `cursor`; first the count of what was
    /// dropped before it.
    pub(super) fn pop(&mut self, cursor: u64) -> Option<Ready> {
        if self.entries.front()?.after != cursor {
            return None;
        }
        self.pop_lagged().or_else(|| self.take().map(|entry| entry.ready))
    }

    /// The count of what was dropped, if something was.
    pub(super) fn pop_lagged(&mut self) -> Option<Ready> {
        let at = self.dropped_at.take()?;
        Some(Ready::Own(at, Ephemeral::QueueLagged { dropped: std::mem::take(&mut self.dropped) }))
    }

    /// Takes out the pieces of what a durable event closes: they come again in it.
    pub(super) fn close(&mut self, closed: &Closed) {
        self.entries.retain(|entry| !closed.covers(entry.ready.event()));
        self.bytes = self.entries.iter().map(Entry::cost).sum();
    }

    /// What the events cost.
    #[cfg(test)]
    pub(super) fn bytes(&self) -> usize {
        self.bytes
    }

    fn add(&mut self, entry: Entry) {
        self.bytes += entry.cost();
        self.entries.push_back(entry);
    }

    fn take(&mut self) -> Option<Entry> {
        let entry = self.entries.pop_front()?;
        self.bytes = self.bytes.saturating_sub(entry.cost());
        Some(entry)
    }

    /// Joins an event with the last one, if it goes on where that one ends.
    fn join(&mut self, after: u64, encoded: &Encoded) -> bool {
        let Some(last) = self.entries.back_mut().filter(|last| last.after == after) else { return false };
        if !continues(last.ready.event(), &encoded.event) {
            return false;
        }
        let before = last.cost();
        let at = encoded.at.clone();
        match &mut last.ready {
            Ready::Own(_, event) => append(event, &encoded.event),
            Ready::Shared(first) => {
                let mut event = first.event.clone();
                append(&mut event, &encoded.event);
                last.ready = Ready::Own(at, event);
            }
        }
        last.joined += 1;
        self.bytes = self.bytes + last.cost() - before;
        true
    }
}

fn text(event: &Ephemeral) -> &str {
    match event {
        Ephemeral::MessageDelta { text, .. } | Ephemeral::ToolProgress { text, .. } => text,
        Ephemeral::UsageUpdated { .. } | Ephemeral::QueueLagged { .. } => "",
    }
}

/// Whether `next` goes on where `last` ends, or replaces it.
fn continues(last: &Ephemeral, next: &Ephemeral) -> bool {
    use Ephemeral::{MessageDelta, ToolProgress, UsageUpdated};
    let (end, from) = match (last, next) {
        (
            MessageDelta { message_id, block, kind, offset, text },
            MessageDelta { message_id: id, block: b, kind: k, offset: from, .. },
        ) if (message_id, block, kind) == (id, b, k) => (offset + text.len() as u64, *from),
        (
            ToolProgress { tool_call_id, stream, offset, text, .. },
            ToolProgress { tool_call_id: id, stream: s, offset: from, .. },
        ) if (tool_call_id, stream) == (id, s) => (offset + text.len() as u64, *from),
        (UsageUpdated { .. }, UsageUpdated { .. }) => return true,
        _ => return false,
    };
    end == from && text(last).len() + text(next).len() <= MERGED_BYTES
}

/// Appends an event to one that it continues.
fn append(last: &mut Ephemeral, next: &Ephemeral) {
    use Ephemeral::{MessageDelta, ToolProgress};
    match (last, next) {
        (MessageDelta { text, .. }, MessageDelta { text: more, .. }) => text.push_str(more),
        (ToolProgress { text, total_bytes, .. }, ToolProgress { text: more, total_bytes: total, .. }) => {
            text.push_str(more);
            *total_bytes = *total;
        }
        (last, next) => *last = next.clone(),
    }
}
