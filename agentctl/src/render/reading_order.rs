//! The order in which the past is read. A tool starts while its message still streams, so in the log it
//! stands before the message that asks for it; a reader wants the message first. Used where there are no
//! deltas: for the past, never for what happens now.

use proto::event::{AnyEvent, Event, Role};
use proto::ids::TurnId;

/// Events that wait for the message that they belong to.
#[derive(Default)]
pub struct ReadingOrder {
    held: Vec<AnyEvent>,
    /// The turn that started last.
    turn: Option<TurnId>,
}

impl ReadingOrder {
    /// Takes in an event of the log; returns those that can be read now.
    pub fn push(&mut self, event: &AnyEvent) -> Vec<AnyEvent> {
        match event {
            AnyEvent::Durable(
                Event::MessageCompleted { role: Role::Assistant, .. } | Event::MessageTombstoned { .. },
            ) => {
                let mut ready = vec![event.clone()];
                ready.append(&mut self.held);
                ready
            }
            // A prompt that is taken back while it waits ends as a turn too: the one that runs goes on.
            AnyEvent::Durable(Event::TurnEnded { turn_id, .. })
                if self.turn.as_ref().is_some_and(|running| running != turn_id) =>
            {
                vec![event.clone()]
            }
            AnyEvent::Durable(Event::TurnEnded { turn_id, .. } | Event::TurnStarted { turn_id, .. }) => {
                self.turn = Some(turn_id.clone());
                let mut ready = self.rest();
                ready.push(event.clone());
                ready
            }
            AnyEvent::Durable(Event::ToolQueued { .. }) => {
                self.held.push(event.clone());
                Vec::new()
            }
            _ if self.held.is_empty() => vec![event.clone()],
            _ => {
                self.held.push(event.clone());
                Vec::new()
            }
        }
    }

    /// What still waits: its message is under way.
    pub fn rest(&mut self) -> Vec<AnyEvent> {
        std::mem::take(&mut self.held)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::{Value, json};

    fn read(events: &[Value]) -> Vec<String> {
        let mut order = ReadingOrder::default();
        let events = events.iter().map(|event| serde_json::from_value::<AnyEvent>(event.clone()).unwrap());
        let mut read: Vec<AnyEvent> = events.flat_map(|event| order.push(&event)).collect();
        read.extend(order.rest());
        let name = |event: &AnyEvent| serde_json::to_value(event).unwrap()["type"].as_str().unwrap().to_owned();
        read.iter().map(name).collect()
    }

    #[test]
    fn a_message_is_read_before_its_calls() {
        let message = json!({
            "type": "message.completed", "messageId": "m", "turnId": "t", "role": "assistant", "content": [],
            "model": "x", "stopReason": "tool_use", "usage": {}
        });
        let queued = json!({
            "type": "tool.queued", "toolCallId": "1", "turnId": "t", "tool": "Bash", "input": {}, "title": "",
            "kind": "execute", "readOnly": true, "concurrencySafe": true
        });
        let ended = json!({
            "type": "tool.ended", "toolCallId": "1", "status": "completed", "isError": false, "content": [],
            "summary": "", "durationMs": 1
        });
        let turn = json!({"type": "turn.ended", "turnId": "t", "reason": "interrupted", "usage": {}, "durationMs": 1});
        let notice = json!({"type": "notice", "level": "info", "text": "x"});
        let log = [&queued, &ended, &message, &notice, &ended, &queued, &turn].map(Clone::clone);
        let expected =
            ["message.completed", "tool.queued", "tool.ended", "notice", "tool.ended", "tool.queued", "turn.ended"];
        assert_eq!(read(&log), expected);
        assert_eq!(read(&[queued.clone(), ended.clone()]), ["tool.queued", "tool.ended"]);
        let started = json!({"type": "turn.started", "turnId": "t", "prompt": "go"});
        let taken_back = json!({
            "type": "turn.ended", "turnId": "later", "reason": "aborted_streaming", "usage": {}, "durationMs": 0
        });
        assert_eq!(
            read(&[started, queued, taken_back, message, ended]),
            ["turn.started", "turn.ended", "message.completed", "tool.queued", "tool.ended"],
            "a prompt that waited is not the turn that runs"
        );
    }
}
