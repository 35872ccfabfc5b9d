//! The canonical transcript: what the model is to be told, in its order, folded from durable events.
//! The session actor folds live events into it; a restart folds the journal into the same value.

use super::{Entry, Messages};
use proto::content::{ContentBlock, MessageBlock, Prompt};
use proto::event::{Event, PersistedResult, Role};
use proto::ids::TurnId;
use std::collections::HashMap;
use std::sync::Arc;

/// What the model is told when a turn goes on after an answer that was cut.
const GO_ON: &str = "Your last answer was cut off. Go on from there.";

/// A message of the transcript.
#[derive(Debug, Clone, PartialEq)]
pub enum Message {
    /// From the person, or tool results: results first, text after.
    User(Vec<UserBlock>),
    /// From the model, with the model (`provider/model`) that wrote it.
    Assistant {
        /// The model's own blocks.
        content: Vec<MessageBlock>,
        /// Who wrote them: provider-private data goes back to the same model only.
        model: String,
    },
}

impl Message {
    /// Whether this model, as `provider/model`, wrote it.
    #[must_use]
    pub fn is_by(&self, id: &str) -> bool {
        matches!(self, Self::Assistant { model, .. } if model == id)
    }
}

/// A block of a user message.
#[derive(Debug, Clone, PartialEq)]
pub enum UserBlock {
    /// The result of a tool call.
    ToolResult {
        /// The call.
        tool_use_id: String,
        /// What it gave.
        content: Vec<ContentBlock>,
        /// Whether it is an error.
        is_error: bool,
    },
    /// What the person says.
    Content(ContentBlock),
}

/// The messages of a session so far. A tool may end before the message that called it is complete,
/// since tools run while the model streams: its result waits here for the message.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct Transcript {
    /// Shared with the model call that is under way; copied only if that outlives the next message.
    messages: Arc<Messages>,
    results: HashMap<String, CallResult>,
    awaited: Vec<String>,
    /// What the person added to the turn that runs; it joins with the turn's next step.
    steering: Vec<UserBlock>,
    /// Where each turn began, for going back.
    marks: Vec<Mark>,
}

/// What a tool call gave the model.
#[derive(Debug, Clone, PartialEq)]
struct CallResult {
    block: UserBlock,
    /// What comes after the results of the round.
    after: Vec<ContentBlock>,
}

/// The transcript's end before a turn.
#[derive(Debug, Clone, PartialEq)]
struct Mark {
    turn: TurnId,
    messages: usize,
    /// Blocks of the last message, which a prompt may have been added to.
    blocks: usize,
}

impl Transcript {
    /// The messages; roles alternate, and every tool use has its result in the next message.
    #[must_use]
    pub fn messages(&self) -> Arc<Messages> {
        Arc::clone(&self.messages)
    }

    /// Lets go of the bytes that requests were made of; a later request makes them anew, the same.
    pub fn forget_encodings(&self) {
        self.messages.forget_encodings();
    }

    /// The calls of the last message that have no result yet, in call order.
    pub fn unanswered(&self) -> impl Iterator<Item = &str> {
        self.awaited.iter().map(String::as_str).filter(|id| !self.results.contains_key(*id))
    }

    /// Results that the model has not been told yet: the call, its content, whether it is an error.
    pub fn unsent(&self) -> impl Iterator<Item = (&str, &[ContentBlock], bool)> {
        self.results.values().filter_map(|result| match &result.block {
            UserBlock::ToolResult { tool_use_id, content, is_error } => {
                Some((tool_use_id.as_str(), content.as_slice(), *is_error))
            }
            UserBlock::Content(_) => None,
        })
    }

    /// Folds one event.
    pub fn apply(&mut self, event: &Event) {
        match event {
            Event::TurnStarted { turn_id, prompt, attachments, resumes, .. } => {
                self.mark(turn_id);
                self.start_turn(prompt.as_ref(), attachments, resumes.as_ref());
            }
            Event::TurnSteered { prompt, attachments, .. } => self.steering.extend(blocks_of(prompt, attachments)),
            Event::TurnQueued { was_steering: true, .. } => self.steering.clear(),
            Event::TurnContinued { message, .. } => {
                self.join_steering();
                self.push_user(message.iter().map(|text| UserBlock::Content(ContentBlock::text(text))).collect());
            }
            Event::TurnEnded { turn_id, .. } if self.has_begun_last(turn_id) => {
                // Of a turn that was cut, what the person added is told with the next prompt. Results whose
                // message became void are nobody's.
                self.join_steering();
                self.results.clear();
            }
            Event::SessionRewound { to_turn_id, .. } => self.rewind(to_turn_id),
            Event::MessageCompleted { role: Role::Assistant, content, model, .. } => {
                self.take_message(content.clone(), model.clone());
            }
            Event::ToolEnded { tool_call_id, content, is_error, details, .. } => {
                let id = tool_call_id.as_str().to_owned();
                let block =
                    UserBlock::ToolResult { tool_use_id: id.clone(), content: content.clone(), is_error: *is_error };
                self.results.insert(id, CallResult { block, after: details.new_messages.clone() });
                self.move_out(&details.persisted_results);
                self.settle();
            }
            _ => {}
        }
    }

    fn start_turn(&mut self, prompt: Option<&Prompt>, attachments: &[ContentBlock], resumes: Option<&TurnId>) {
        let mut blocks = prompt.map(|prompt| blocks_of(prompt, attachments)).unwrap_or_default();
        let after_answer = !matches!(self.messages.last().map(Entry::as_ref), Some(Message::User(_)));
        if blocks.is_empty() && resumes.is_some() && after_answer {
            blocks.push(UserBlock::Content(ContentBlock::text(GO_ON)));
        }
        self.push_user(blocks);
    }

    fn take_message(&mut self, content: Vec<MessageBlock>, model: String) {
        if content.is_empty() {
            return;
        }
        self.awaited = content
            .iter()
            .filter_map(|block| match block {
                MessageBlock::ToolUse { id, .. } => Some(id.clone()),
                _ => None,
            })
            .collect();
        let messages = Arc::make_mut(&mut self.messages).entries();
        let by_same = |entry: &&mut Entry| matches!(&***entry, Message::Assistant { model: by, .. } if *by == model);
        match messages.last_mut().filter(by_same).map(Entry::change) {
            // The server paused, and the model went on: one message, as far as roles go.
            Some(Message::Assistant { content: before, .. }) => before.extend(content),
            Some(Message::User(_)) | None => messages.push(Entry::from(Message::Assistant { content, model })),
        }
        self.settle();
    }

    /// Once every awaited result is there, they become one user message in call order (row C08).
    fn settle(&mut self) {
        if self.awaited.is_empty() || self.unanswered().next().is_some() {
            return;
        }
        let ids = std::mem::take(&mut self.awaited);
        let results: Vec<CallResult> = ids.iter().filter_map(|id| self.results.remove(id)).collect();
        let (blocks, after): (Vec<UserBlock>, Vec<Vec<ContentBlock>>) =
            results.into_iter().map(|result| (result.block, result.after)).unzip();
        self.push_user(blocks);
        self.push_user(after.into_iter().flatten().map(UserBlock::Content).collect());
    }

    /// Results of the same round that went to files since this one came.
    fn move_out(&mut self, moved: &[PersistedResult]) {
        for result in moved {
            let known = self.results.get_mut(result.tool_call_id.as_str()).map(|known| &mut known.block);
            if let Some(UserBlock::ToolResult { content, .. }) = known {
                content.clone_from(&result.content);
            }
        }
    }

    fn join_steering(&mut self) {
        let steering = std::mem::take(&mut self.steering);
        self.push_user(steering);
    }

    /// Whether this is the turn that began last. One that ends before it began, as a cancel ends the prompts that
    /// wait, is no end of the one that runs.
    fn has_begun_last(&self, turn: &TurnId) -> bool {
        self.marks.last().is_some_and(|mark| mark.turn == *turn)
    }

    fn mark(&mut self, turn: &TurnId) {
        let blocks = match self.messages.last().map(Entry::as_ref) {
            Some(Message::User(blocks)) => blocks.len(),
            Some(Message::Assistant { .. }) | None => 0,
        };
        self.marks.push(Mark { turn: turn.clone(), messages: self.messages.len(), blocks });
    }

    /// Back to just before a turn. A turn that is not known changes nothing.
    fn rewind(&mut self, turn: &TurnId) {
        let Some(at) = self.marks.iter().position(|mark| mark.turn == *turn) else { return };
        let Some(mark) = self.marks.drain(at..).next() else { return };
        let messages = Arc::make_mut(&mut self.messages).entries();
        messages.truncate(mark.messages);
        let longer = |last: &&mut Entry| matches!(last.as_ref(), Message::User(blocks) if blocks.len() > mark.blocks);
        if let Some(Message::User(blocks)) = messages.last_mut().filter(longer).map(Entry::change) {
            blocks.truncate(mark.blocks);
        }
        self.results.clear();
        self.awaited.clear();
        self.steering.clear();
    }

    fn push_user(&mut self, blocks: Vec<UserBlock>) {
        if blocks.is_empty() {
            return;
        }
        let messages = Arc::make_mut(&mut self.messages).entries();
        let open = |last: &&mut Entry| matches!(last.as_ref(), Message::User(_));
        match messages.last_mut().filter(open).map(Entry::change) {
            Some(Message::User(before)) => before.extend(blocks),
            _ => messages.push(Entry::from(Message::User(blocks))),
        }
    }
}

fn blocks_of(prompt: &Prompt, attachments: &[ContentBlock]) -> Vec<UserBlock> {
    let said = match prompt {
        Prompt::Text(text) => vec![ContentBlock::text(text.clone())],
        Prompt::Blocks(blocks) => blocks.clone(),
    };
    said.into_iter().chain(attachments.iter().cloned()).map(UserBlock::Content).collect()
}

/// The text blocks of a message, joined by blank lines.
#[must_use]
pub fn text_of(content: &[MessageBlock]) -> String {
    let texts: Vec<&str> = content
        .iter()
        .filter_map(|block| match block {
            MessageBlock::Text { text } => Some(text.as_str()),
            _ => None,
        })
        .collect();
    texts.join("\n\n")
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::{Value, json};

    /// The events of two turns: calls that end one by one, a prompt that joins, a pause.
    fn two_turns() -> Vec<Event> {
        let call = |id: &str| json!({"type": "tool_use", "id": id, "name": "Read", "input": {}});
        let text = |text: &str| json!([{"type": "text", "text": text}]);
        let said = |turn: &str, content| {
            json!({"type": "message.completed", "messageId": "m", "turnId": turn, "role": "assistant", "content": content,
                "model": "a/m", "stopReason": "end_turn", "usage": proto::session::Usage::default()})
        };
        let ended = |id: &str| {
            json!({"type": "tool.ended", "toolCallId": id, "status": "completed", "isError": false, "content": text(id),
                "summary": "", "durationMs": 0})
        };
        let over = |turn: &str| {
            json!({"type": "turn.ended", "turnId": turn, "reason": "completed", "durationMs": 0,
                "usage": proto::session::Usage::default()})
        };
        let started = |turn: &str, prompt: &str| json!({"type": "turn.started", "turnId": turn, "prompt": prompt});
        [
            started("t1", "go"),
            said("t1", json!([call("a"), call("b")])),
            ended("a"),
            json!({"type": "turn.steered", "turnId": "t1", "prompt": "and this"}),
            ended("b"),
            json!({"type": "turn.continued", "turnId": "t1", "reason": "steered"}),
            said("t1", text("done")),
            over("t1"),
            started("t2", "more"),
            ended("c"),
            said("t2", json!([call("c")])),
            over("t2"),
        ]
        .into_iter()
        .map(|event| serde_json::from_value(event).unwrap())
        .collect()
    }

    fn told<'a>(events: impl IntoIterator<Item = &'a Event>) -> Transcript {
        let mut transcript = Transcript::default();
        events.into_iter().for_each(|event| transcript.apply(event));
        transcript
    }

    /// A prompt that waits may be cancelled at any moment of the turn that runs; the model is told the same.
    #[test]
    fn the_end_of_a_prompt_that_waits_changes_nothing_of_the_turn_that_runs() {
        let events = two_turns();
        let whole = told(&events);
        assert_eq!(whole.messages().len(), 7);
        let mut other = events.last().unwrap().clone();
        if let Event::TurnEnded { turn_id, .. } = &mut other {
            *turn_id = "waits".into();
        }
        for at in 0..=events.len() {
            let (before, after) = events.split_at(at);
            let disturbed = told(before.iter().chain([&other]).chain(after));
            assert_eq!(disturbed, whole, "after {at} events");
        }
    }

    fn folded(events: &[Value]) -> Transcript {
        let mut transcript = Transcript::default();
        for event in events {
            transcript.apply(&serde_json::from_value(event.clone()).unwrap());
        }
        transcript
    }

    fn ended(id: &str, beside: &str) -> Value {
        json!({"type": "tool.ended", "toolCallId": id, "status": "completed", "isError": false, "summary": "",
               "durationMs": 1, "content": [{"type": "text", "text": format!("of {id}")}],
               "newMessages": [{"type": "text", "text": beside}]})
    }

    /// Each message in a word or two: who speaks, and what.
    fn lines(transcript: &Transcript) -> Vec<String> {
        let user = |block: &UserBlock| match block {
            UserBlock::ToolResult { tool_use_id, content, .. } => {
                format!("{tool_use_id}={}", proto::content::plain_text(content))
            }
            UserBlock::Content(block) => proto::content::plain_text(std::slice::from_ref(block)),
        };
        let own = |block: &MessageBlock| match block {
            MessageBlock::ToolUse { id, .. } => format!("call {id}"),
            block => text_of(std::slice::from_ref(block)),
        };
        let messages = transcript.messages();
        let line = |entry: &Entry| match entry.as_ref() {
            Message::User(blocks) => format!("user: {}", blocks.iter().map(user).collect::<Vec<_>>().join(", ")),
            Message::Assistant { content, .. } => {
                format!("model: {}", content.iter().map(own).collect::<Vec<_>>().join(", "))
            }
        };
        messages.iter().map(line).collect()
    }

    /// Rows L06, C08, L13: what comes next is what was there, the answer, one message with a result for each call in call
    /// order whatever ended first, and after them what the tools and the person add.
    #[test]
    fn the_next_request_is_the_last_one_with_what_came_since() {
        let call = |id: &str| json!({"type": "tool_use", "id": id, "name": "Read", "input": {}});
        let mut events = vec![
            json!({"type": "turn.started", "turnId": "t", "prompt": "go",
                   "attachments": [{"type": "text", "text": "a file changed"}]}),
            ended("c2", "beside c2"),
            json!({"type": "message.completed", "messageId": "m", "turnId": "t", "role": "assistant", "model": "a/m",
                   "stopReason": "tool_use", "usage": {}, "content": [{"type": "text", "text": "so"}, call("c1"), call("c2")]}),
        ];
        let open = ["user: go, a file changed", "model: so, call c1, call c2"];
        assert_eq!(lines(&folded(&events)), open, "c1 has not ended");
        assert_eq!(folded(&events).unanswered().collect::<Vec<_>>(), ["c1"]);
        events.push(json!({"type": "turn.steered", "turnId": "t", "prompt": "and this"}));
        events.push(ended("c1", "beside c1"));
        let results = "user: c1=of c1, c2=of c2, beside c1, beside c2";
        assert_eq!(lines(&folded(&events)), [&open[..], &[results]].concat());
        events.push(json!({"type": "turn.continued", "turnId": "t", "reason": "steered"}));
        let joined = format!("{results}, and this");
        assert_eq!(lines(&folded(&events)), [&open[..], &[joined.as_str()]].concat());
    }
}
