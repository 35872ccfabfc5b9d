//! The turns of a conversation, and how the session was before each: what a rewind goes back to. Folded as a part
//! of the session's state. What was spent stays spent, and what a person has set since stays set.

use super::SessionState;
use super::state::CutTurn;
use proto::ids::TurnId;
use std::collections::{BTreeSet, VecDeque};
use std::sync::Arc;

/// A turn of the conversation.
#[derive(Debug, Clone, PartialEq)]
pub struct TurnMark {
    /// The turn.
    pub id: TurnId,
    /// The number of the last event before it.
    pub after_seq: u64,
    /// The turn that could be resumed then.
    interrupted: Option<CutTurn>,
    /// Tokens that were in the context.
    context_tokens: u64,
    /// Where the shell stood.
    shell_cwd: Option<String>,
    /// The title that its prompt gave the session.
    title: Option<String>,
    /// Deferred tools that the model was told of.
    discovered: BTreeSet<String>,
    /// The last prompts of people.
    prompts: VecDeque<Arc<str>>,
}

impl SessionState {
    /// The turn, if it is a part of the conversation: it has started and was not rewound away.
    #[must_use]
    pub fn turn_mark(&self, id: &TurnId) -> Option<&TurnMark> {
        self.turns.iter().find(|mark| mark.id == *id)
    }

    /// Notes how the session is before a turn whose prompt gives it this title, if any.
    pub(super) fn mark_turn(&mut self, id: &TurnId, title: Option<String>) {
        self.turns.push(TurnMark {
            id: id.clone(),
            after_seq: self.info.last_seq,
            interrupted: self.interrupted.take(),
            context_tokens: self.info.usage.context_tokens,
            shell_cwd: self.info.shell_cwd.clone(),
            title,
            discovered: self.discovered.clone(),
            prompts: self.prompts.clone(),
        });
    }

    /// Back to just before a turn. One that is not known changes nothing.
    pub(super) fn rewind(&mut self, to: &TurnId) {
        let Some(at) = self.turns.iter().position(|mark| mark.id == *to) else { return };
        let gone: Vec<TurnMark> = self.turns.drain(at..).collect();
        // A title that somebody has given since is theirs.
        if gone.iter().any(|mark| mark.title.as_ref() == Some(&self.info.title)) {
            self.info.title.clear();
        }
        self.info.turn_count = self.info.turn_count.saturating_sub(gone.len() as u64);
        if let Some(first) = gone.into_iter().next() {
            self.interrupted = first.interrupted;
            self.info.usage.context_tokens = first.context_tokens;
            self.info.shell_cwd = first.shell_cwd;
            self.discovered = first.discovered;
            self.prompts = first.prompts;
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::event::{Message, UserBlock};
    use proto::content::{ContentBlock, MessageBlock, Prompt};
    use proto::event::{EndReason, Event, Role, TurnOptions};
    use proto::session::{SessionInfo, SessionStatus, Usage};
    use serde_json::{Map, Value, json};

    fn interrupted(state: &SessionState) -> Option<TurnId> {
        state.interrupted.as_ref().map(|cut| cut.id.clone())
    }

    fn session() -> SessionState {
        let info = SessionInfo::new("s".into(), "/".into(), "test/model".into(), "t0".to_owned());
        let created = Event::SessionCreated { session: info, system_prompt: None };
        let mut state = SessionState::from_first(&created).unwrap();
        state.apply(1, "t0", &created);
        state
    }

    fn apply(state: &mut SessionState, events: impl IntoIterator<Item = Event>) {
        for event in events {
            state.apply(state.info.last_seq + 1, "t1", &event);
        }
    }

    fn started(turn: &str, prompt: Option<&str>, resumes: Option<&str>) -> Event {
        Event::TurnStarted {
            turn_id: turn.into(),
            prompt: prompt.map(|text| Prompt::Text(text.to_owned())),
            attachments: Vec::new(),
            client: None,
            options: TurnOptions { idempotency_key: Some(format!("key of {turn}")), ..TurnOptions::default() },
            resumes: resumes.map(TurnId::from),
        }
    }

    fn said(turn: &str, text: &str, context_tokens: u64) -> Event {
        Event::MessageCompleted {
            message_id: format!("m of {turn}").as_str().into(),
            turn_id: turn.into(),
            role: Role::Assistant,
            content: vec![MessageBlock::Text { text: text.to_owned() }],
            model: "test/model".to_owned(),
            stop_reason: "end_turn".to_owned(),
            usage: Usage { output_tokens: 10, context_tokens, ..Usage::default() },
            cost: None,
        }
    }

    fn ended(turn: &str, reason: EndReason) -> Event {
        Event::TurnEnded {
            turn_id: turn.into(),
            reason,
            error: None,
            usage: Usage::default(),
            cost: None,
            duration_ms: 0,
            structured_output: None,
        }
    }

    /// The end of a search for tools.
    fn found(tool: &str) -> Event {
        let ended = json!({
            "type": "tool.ended", "toolCallId": "call", "status": "completed", "isError": false, "content": [],
            "summary": "", "durationMs": 0, "discovered": [tool]
        });
        serde_json::from_value(ended).unwrap()
    }

    fn updated(field: &str, value: &str) -> Event {
        Event::SessionUpdated { changed: Map::from_iter([(field.to_owned(), Value::from(value))]) }
    }

    fn rewound(turn: &str) -> Event {
        Event::SessionRewound { to_turn_id: turn.into(), restored: Vec::new() }
    }

    fn turn(name: &str, context_tokens: u64) -> [Event; 3] {
        let prompt = format!("prompt of {name}");
        [started(name, Some(&prompt), None), said(name, "answer", context_tokens), ended(name, EndReason::Completed)]
    }

    /// What a rewind must bring back: all of the state but what was spent, and what counts events and requests.
    fn assert_same(rewound: &SessionState, before: &SessionState) {
        let mut rewound = rewound.clone();
        rewound.info.last_seq = before.info.last_seq;
        rewound.info.updated_at.clone_from(&before.info.updated_at);
        rewound.info.usage.output_tokens = before.info.usage.output_tokens;
        rewound.idempotency.clone_from(&before.idempotency);
        assert_eq!(&rewound, before);
    }

    #[test]
    fn a_rewind_is_the_state_before_the_turn() {
        let mut state = session();
        let empty = state.clone();
        apply(&mut state, turn("a", 100));
        let after_a = state.clone();
        apply(&mut state, turn("b", 200).into_iter().chain(turn("c", 300)));
        apply(&mut state, [found("Sleep"), updated("shellCwd", "/deep"), rewound("b")]);
        assert_eq!(state.info.usage.output_tokens, 30, "what was spent stays spent");
        assert_eq!(state.idempotency.len(), 3, "no prompt is sent twice");
        let mut expected = after_a;
        expected.info.shell_cwd = None;
        assert_same(&state, &expected);
        apply(&mut state, [rewound("c")]);
        assert_same(&state, &expected);
        apply(&mut state, [rewound("a")]);
        assert_same(&state, &empty);
        assert!(state.transcript.messages().is_empty());
        apply(&mut state, turn("d", 50));
        assert_eq!((state.info.title.as_str(), state.info.turn_count), ("prompt of d", 1));
    }

    #[test]
    fn a_title_that_was_given_stays() {
        let mut state = session();
        apply(&mut state, turn("a", 100));
        apply(&mut state, [updated("title", "mine"), updated("model", "test/other"), rewound("a")]);
        assert_eq!((state.info.title.as_str(), state.info.model.as_str()), ("mine", "test/other"));
    }

    #[test]
    fn an_interrupted_turn_is_cleared_or_there_again() {
        let mut state = session();
        apply(&mut state, [started("a", Some("go"), None), ended("a", EndReason::Interrupted)]);
        let cut = state.clone();
        assert_eq!(state.info.status, SessionStatus::Interrupted);
        apply(&mut state, [started("b", None, Some("a")), said("b", "done", 9), ended("b", EndReason::Completed)]);
        apply(&mut state, [rewound("b")]);
        assert_eq!((state.info.status, interrupted(&state)), (SessionStatus::Interrupted, Some("a".into())));
        assert_same(&state, &cut);
        apply(&mut state, [rewound("a")]);
        assert_eq!((state.info.status, interrupted(&state)), (SessionStatus::Idle, None));
    }

    /// A prompt that was joined to the one before, since no answer came between, leaves that one as it was.
    #[test]
    fn a_prompt_is_taken_out_of_the_message_that_it_was_joined_to() {
        let mut state = session();
        apply(&mut state, [started("a", Some("one"), None), ended("a", EndReason::ModelError)]);
        apply(&mut state, [started("b", Some("two"), None), ended("b", EndReason::ModelError), rewound("b")]);
        let messages = state.transcript.messages();
        let one = Message::User(vec![UserBlock::Content(ContentBlock::text("one"))]);
        assert_eq!(messages.iter().map(|message| message.as_ref().clone()).collect::<Vec<_>>(), [one]);
    }
}
