//! What a client that attaches in the middle needs of the messages and tool calls under way: their text
//! so far. Kept by `fanout`, fed with the events that it announces. Holds no past that is in the log.

use crate::base::limits::ATTACH_OUTPUT_TAIL_BYTES;
use proto::event::{DeltaKind, Ephemeral, ProgressStream};
use proto::ids::{MessageId, Timestamp, ToolCallId, TurnId};
use serde::Deserialize;
use std::borrow::Cow;

/// How much of one block is kept. No model's answer is as long; of one that is, the end is kept.
const BLOCK_BYTES: usize = 1 << 20;

/// The parts under way, in the order in which they began.
#[derive(Debug, Default)]
pub(super) struct Live {
    /// The turn that started last.
    turn: Option<TurnId>,
    parts: Vec<Part>,
}

/// A block of a message, or a stream of a tool's output.
#[derive(Debug)]
struct Part {
    source: Source,
    /// When its last piece came.
    at: Timestamp,
    text: String,
    /// Where the text ends, in bytes of the whole part.
    end: u64,
    /// What the producer says of the whole stream; not used for blocks.
    total_bytes: u64,
}

#[derive(Debug, PartialEq)]
enum Source {
    Block { message_id: MessageId, block: u64, kind: DeltaKind },
    Output { tool_call_id: ToolCallId, stream: ProgressStream },
}

/// What a durable event puts an end to.
#[derive(Debug, PartialEq, Eq)]
pub(super) enum Closed {
    /// A message is complete or void.
    Message(MessageId),
    /// A tool call ended.
    Call(ToolCallId),
    /// A turn ended. With the one that ran nothing is under way any more; a prompt that is taken back while it
    /// waits ends as a turn too.
    Turn(TurnId),
}

impl Closed {
    /// Whether an ephemeral event is a part of what was closed, and so came again in the durable event.
    pub(super) fn covers(&self, event: &Ephemeral) -> bool {
        match (self, event) {
            (Self::Message(id), Ephemeral::MessageDelta { message_id, .. }) => id == message_id,
            (Self::Call(id), Ephemeral::ToolProgress { tool_call_id, .. }) => id == tool_call_id,
            _ => false,
        }
    }
}

#[derive(Deserialize)]
#[serde(rename_all = "camelCase")]
struct Ids<'a> {
    #[serde(borrow)]
    turn_id: Option<Cow<'a, str>>,
    #[serde(borrow)]
    message_id: Option<Cow<'a, str>>,
    #[serde(borrow)]
    tool_call_id: Option<Cow<'a, str>>,
}

/// Whether an event, as encoded by this version, is of this type.
fn is(event: &[u8], name: &str) -> bool {
    let rest = event.strip_prefix(br#"{"type":""#).and_then(|rest| rest.strip_prefix(name.as_bytes()));
    rest.is_some_and(|rest| rest.starts_with(b"\""))
}

/// The turn that an event starts.
pub(super) fn started_by(event: &[u8]) -> Option<TurnId> {
    let ids: Ids<'_> = is(event, "turn.started").then(|| serde_json::from_slice(event).ok())??;
    ids.turn_id.map(|id| id.into_owned().into())
}

/// What a durable event puts an end to.
pub(super) fn closed_by(event: &[u8]) -> Option<Closed> {
    let closing = ["turn.ended", "message.completed", "message.tombstoned", "tool.ended"];
    // Only these few are parsed, and of them only the ids.
    let name = closing.into_iter().find(|name| is(event, name))?;
    let ids: Ids<'_> = serde_json::from_slice(event).ok()?;
    match name {
        "turn.ended" => ids.turn_id.map(|id| Closed::Turn(id.into_owned().into())),
        "tool.ended" => ids.tool_call_id.map(|id| Closed::Call(id.into_owned().into())),
        _ => ids.message_id.map(|id| Closed::Message(id.into_owned().into())),
    }
}

impl Live {
    /// Takes in a piece of a part.
    pub(super) fn take(&mut self, at: &str, event: &Ephemeral) {
        match event {
            Ephemeral::MessageDelta { message_id, block, kind, offset, text } => {
                let source = Source::Block { message_id: message_id.clone(), block: *block, kind: *kind };
                self.part(source, at).push(*offset, text, BLOCK_BYTES);
            }
            Ephemeral::ToolProgress { tool_call_id, stream, offset, text, total_bytes } => {
                let source = Source::Output { tool_call_id: tool_call_id.clone(), stream: *stream };
                let part = self.part(source, at);
                part.push(*offset, text, ATTACH_OUTPUT_TAIL_BYTES);
                part.total_bytes = *total_bytes;
            }
            Ephemeral::UsageUpdated { .. } | Ephemeral::QueueLagged { .. } => {}
        }
    }

    fn part(&mut self, source: Source, at: &str) -> &mut Part {
        let found = self.parts.iter().position(|part| part.source == source).unwrap_or(self.parts.len());
        if found == self.parts.len() {
            let text = String::new();
            self.parts.push(Part { source, at: String::new(), text, end: 0, total_bytes: 0 });
        }
        #[allow(clippy::indexing_slicing)] // found above, or pushed
        let part = &mut self.parts[found];
        at.clone_into(&mut part.at);
        part
    }

    /// Takes note of a turn that starts.
    pub(super) fn start(&mut self, turn: TurnId) {
        self.turn = Some(turn);
    }

    /// Forgets what ended.
    pub(super) fn close(&mut self, closed: &Closed) {
        let running = self.turn.as_ref();
        self.parts.retain(|part| match (&part.source, closed) {
            (_, Closed::Turn(turn)) => running.is_some_and(|running| running != turn),
            (Source::Block { message_id, .. }, Closed::Message(id)) => message_id != id,
            (Source::Output { tool_call_id, .. }, Closed::Call(id)) => tool_call_id != id,
            _ => true,
        });
    }

    /// One event per part under way, with its text so far.
    pub(super) fn so_far(&self) -> impl Iterator<Item = (Timestamp, Ephemeral)> + '_ {
        self.parts.iter().filter(|part| !part.text.is_empty()).map(|part| (part.at.clone(), part.so_far()))
    }
}

impl Part {
    /// Adds text, keeping at least the last `keep` bytes. A producer that skips something, or starts again,
    /// starts the part anew: what is handed out has no hole in it. One that counts less than the text has
    /// (an undecodable byte becomes a longer character) is believed.
    fn push(&mut self, offset: u64, text: &str, keep: usize) {
        if offset == 0 || offset > self.end {
            self.text.clear();
        }
        self.text.push_str(text);
        self.end = offset + text.len() as u64;
        if self.text.len() > keep * 2 {
            let kept = tail_bytes(&self.text, keep).len();
            self.text.drain(..self.text.len() - kept);
        }
    }

    fn so_far(&self) -> Ephemeral {
        match &self.source {
            Source::Block { message_id, block, kind } => {
                let (offset, text) = self.last(BLOCK_BYTES);
                Ephemeral::MessageDelta { message_id: message_id.clone(), block: *block, kind: *kind, offset, text }
            }
            Source::Output { tool_call_id, stream } => {
                let (offset, text) = self.last(ATTACH_OUTPUT_TAIL_BYTES);
                let (tool_call_id, total_bytes) = (tool_call_id.clone(), self.total_bytes);
                Ephemeral::ToolProgress { tool_call_id, stream: *stream, offset, text, total_bytes }
            }
        }
    }

    fn last(&self, bytes: usize) -> (u64, String) {
        let text = tail_bytes(&self.text, bytes);
        (self.end.saturating_sub(text.len() as u64), text.to_owned())
    }
}

/// The last `bytes` bytes of a text, less where that would cut a character.
fn tail_bytes(text: &str, bytes: usize) -> &str {
    let from = text.ceil_char_boundary(text.len().saturating_sub(bytes));
    text.get(from..).unwrap_or(text)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::event::record::encode;
    use proto::event::{EndReason, Event, Role, ToolEndedDetails, ToolStatus};
    use proto::session::Usage;

    fn delta(message: &str, block: u64, offset: u64, text: &str) -> Ephemeral {
        let kind = DeltaKind::Text;
        Ephemeral::MessageDelta { message_id: message.into(), block, kind, offset, text: text.to_owned() }
    }

    fn output(call: &str, offset: u64, text: &str, total_bytes: u64) -> Ephemeral {
        let stream = ProgressStream::Stdout;
        Ephemeral::ToolProgress { tool_call_id: call.into(), stream, offset, text: text.to_owned(), total_bytes }
    }

    fn so_far(live: &Live) -> Vec<Ephemeral> {
        live.so_far().map(|(_, event)| event).collect()
    }

    #[test]
    fn blocks_are_whole_and_in_order() {
        let mut live = Live::default();
        for (block, offset, text) in [(0, 0, "Hé"), (0, 3, "llo"), (1, 0, "wor"), (1, 3, "ld")] {
            live.take("t", &delta("m", block, offset, text));
        }
        assert_eq!(so_far(&live), vec![delta("m", 0, 0, "Héllo"), delta("m", 1, 0, "world")]);
    }

    #[test]
    fn of_output_the_end_is_kept_with_its_offset() {
        let mut live = Live::default();
        let line = "0123456789é\n";
        let mut offset = 0;
        while offset < 1_000_000 {
            let next = offset + line.len() as u64;
            live.take("t", &output("c", offset, line, next));
            offset = next;
        }
        let [Ephemeral::ToolProgress { offset: from, text, total_bytes, .. }] = &so_far(&live)[..] else {
            panic!("one event")
        };
        assert_eq!(from + text.len() as u64, offset);
        assert_eq!(*total_bytes, offset);
        assert!(text.len() <= ATTACH_OUTPUT_TAIL_BYTES && text.len() > ATTACH_OUTPUT_TAIL_BYTES - 4);
        assert!(live.parts[0].text.len() <= ATTACH_OUTPUT_TAIL_BYTES * 2);
    }

    #[test]
    fn a_skip_or_a_new_start_leaves_no_hole() {
        let mut live = Live::default();
        live.take("t", &output("c", 0, "abc", 3));
        live.take("t", &output("c", 10, "klm", 13));
        assert_eq!(so_far(&live), vec![output("c", 10, "klm", 13)]);
        live.take("t", &output("c", 0, "again", 5));
        assert_eq!(so_far(&live), vec![output("c", 0, "again", 5)]);
    }

    fn completed(id: &str) -> Event {
        Event::MessageCompleted {
            message_id: id.into(),
            turn_id: "turn_1".into(),
            role: Role::Assistant,
            content: Vec::new(),
            model: "demo/guide".to_owned(),
            stop_reason: "end_turn".to_owned(),
            usage: Usage::default(),
            cost: None,
        }
    }

    #[test]
    fn durable_events_say_what_they_close() {
        let closed = |event: &Event| closed_by(&encode(event).unwrap());
        assert_eq!(closed(&completed("m\"1")), Some(Closed::Message("m\"1".into())));
        let tombstone = Event::MessageTombstoned { message_id: "m2".into(), reason: "fallback".to_owned() };
        assert_eq!(closed(&tombstone), Some(Closed::Message("m2".into())));
        let ended = Event::ToolEnded {
            tool_call_id: "c1".into(),
            status: ToolStatus::Completed,
            is_error: false,
            content: Vec::new(),
            summary: String::new(),
            persisted_path: None,
            duration_ms: 1,
            cause: None,
            details: ToolEndedDetails::default(),
        };
        assert_eq!(closed(&ended), Some(Closed::Call("c1".into())));
        let turn = Event::TurnEnded {
            turn_id: "turn_1".into(),
            reason: EndReason::Completed,
            error: None,
            usage: Usage::default(),
            cost: None,
            duration_ms: 1,
            structured_output: None,
        };
        assert_eq!(closed(&turn), Some(Closed::Turn("turn_1".into())));
        assert_eq!(closed(&Event::SessionClosed {}), None);
    }

    #[test]
    fn what_is_closed_is_forgotten_and_nothing_else() {
        let mut live = Live::default();
        live.take("t", &delta("m", 0, 0, "a"));
        live.take("t", &output("c", 0, "b", 1));
        live.take("t", &output("d", 0, "c", 1));
        live.close(&Closed::Message("m".into()));
        live.close(&Closed::Call("c".into()));
        live.start("running".into());
        live.close(&Closed::Turn("waiting".into()));
        assert_eq!(so_far(&live), vec![output("d", 0, "c", 1)]);
        live.close(&Closed::Turn("running".into()));
        assert_eq!(so_far(&live), Vec::new());
    }
}
