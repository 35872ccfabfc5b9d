//! What becomes of a turn that a crash or a restart cut, or in the middle of which a session was forked. Pure: a
//! state in, events out. Nothing is run again by itself, and each open call gets an honest result.

use crate::event::SessionState;
use crate::event::state::{OpenCall, OpenTurn};
use proto::content::ContentBlock;
use proto::event::{EndReason, Event, Role, ToolCause, ToolEndedDetails, ToolStatus, TurnError};
use proto::ids::{MessageId, SessionId};
use proto::permission::{DecisionReason, PermissionDecision, ReasonType};
use proto::session::Usage;

/// What to do with a session that was loaded from its log.
#[derive(Debug, Clone, PartialEq)]
pub enum Recovery {
    /// No turn was cut.
    Nothing,
    /// The turn waits for a person and nothing of its calls has started: it goes on waiting, after
    /// these events, if its message was still under way.
    Revive(Vec<Event>),
    /// The turn is over: append these.
    Close(Vec<Event>),
}

/// What cut a turn.
enum Cut<'a> {
    /// agentd stopped.
    Restart,
    /// The session is a fork; what runs goes on in this other one.
    Fork(&'a SessionId),
}

/// What ends in a fork that was just made of a session with this past: its open turn, which can be resumed, with
/// the questions, and the prompts that wait. All of them stay with the session that it was forked from.
#[must_use]
pub fn forked(state: &SessionState, from: &SessionId) -> Vec<Event> {
    let mut events = state.turn.as_ref().map(|turn| closing(state, turn, &Cut::Fork(from))).unwrap_or_default();
    let waiting = state.queue.iter().map(|queued| queued.id.clone());
    events.extend(waiting.map(|turn_id| Event::TurnEnded {
        turn_id,
        reason: EndReason::AbortedStreaming,
        error: Some(left_to(from, "the prompt waited")),
        usage: Usage::default(),
        cost: None,
        duration_ms: 0,
        structured_output: None,
    }));
    events
}

fn left_to(from: &SessionId, what: &str) -> TurnError {
    TurnError {
        kind: "forked".to_owned(),
        message: format!("This session was forked from session {from} while {what} there."),
    }
}

/// Decides it.
#[must_use]
pub fn plan(state: &SessionState) -> Recovery {
    let Some(turn) = &state.turn else { return Recovery::Nothing };
    let untouched = turn.calls.iter().all(|call| !call.started);
    if untouched && !turn.calls.is_empty() && !state.permissions.is_empty() {
        return Recovery::Revive(cut_message(state, turn).into_iter().collect());
    }
    Recovery::Close(closing(state, turn, &Cut::Restart))
}

/// The message that was under way, with the calls that were complete: they have results, or will.
fn cut_message(state: &SessionState, turn: &OpenTurn) -> Option<Event> {
    (!turn.loose.is_empty()).then(|| Event::MessageCompleted {
        message_id: MessageId(format!("{}.{}", turn.id, state.info.last_seq + 1)),
        turn_id: turn.id.clone(),
        role: Role::Assistant,
        content: turn.loose.clone(),
        model: turn.options.model.clone().unwrap_or_else(|| state.info.model.clone()),
        stop_reason: "interrupted".to_owned(),
        usage: Usage { context_window: state.info.usage.context_window, ..Usage::default() },
        cost: None,
    })
}

fn closing(state: &SessionState, turn: &OpenTurn, cut: &Cut<'_>) -> Vec<Event> {
    let mut events: Vec<Event> = cut_message(state, turn).into_iter().collect();
    events.extend(state.permissions.iter().map(|open| Event::PermissionResolved {
        request_id: open.request.request_id.clone(),
        decision: PermissionDecision::Deny,
        by: "agentd".to_owned(),
        reason: DecisionReason {
            kind: ReasonType::Headless,
            layer: 13,
            detail: match cut {
                Cut::Restart => "agentd stopped before the question was answered".to_owned(),
                Cut::Fork(from) => format!("forked: the question stays with session {from}"),
            },
            rule: None,
            source: None,
        },
        session_rule: None,
        further_session_rules: Vec::new(),
    }));
    events.extend(turn.calls.iter().map(|call| cut_call(call, cut)));
    events.push(Event::TurnEnded {
        turn_id: turn.id.clone(),
        reason: EndReason::Interrupted,
        error: match cut {
            Cut::Restart => None,
            Cut::Fork(from) => Some(left_to(from, "the turn ran")),
        },
        usage: turn.usage,
        cost: turn.cost,
        duration_ms: 0,
        structured_output: None,
    });
    events
}

fn cut_call(call: &OpenCall, cut: &Cut<'_>) -> Event {
    let text = match (cut, call.started) {
        (Cut::Restart, true) => {
            "agentd stopped while this call ran. It may have run to its end, in part or not at all: look before you try it again.".to_owned()
        }
        (Cut::Restart, false) => "Not run: agentd stopped before this call started.".to_owned(),
        (Cut::Fork(from), true) => format!(
            "This session was forked from session {from} while this call ran there. It may have run to its end, in part or not at all: look before you try it again."
        ),
        (Cut::Fork(from), false) => {
            format!("Not run here: this session was forked from session {from} before this call started.")
        }
    };
    let summary = if call.started { "may have run" } else { "not run" };
    Event::ToolEnded {
        tool_call_id: call.id.clone(),
        status: ToolStatus::Cancelled,
        is_error: true,
        content: vec![ContentBlock::text(text)],
        summary: summary.to_owned(),
        persisted_path: None,
        duration_ms: 0,
        cause: matches!(cut, Cut::Restart).then_some(ToolCause::Restart),
        details: ToolEndedDetails::default(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proto::content::{MessageBlock, Prompt};
    use proto::event::{ToolKind, TurnOptions};
    use proto::permission::PermissionRequest;
    use proto::session::SessionInfo;
    use serde_json::json;

    fn session(events: &[Event]) -> SessionState {
        let info = SessionInfo::new("s".into(), "/".into(), "test/model".into(), String::new());
        let created = Event::SessionCreated { session: info, system_prompt: None };
        let mut state = SessionState::from_first(&created).unwrap();
        for (at, event) in events.iter().enumerate() {
            state.apply(at as u64 + 2, "", event);
        }
        state
    }

    fn started() -> Event {
        Event::TurnStarted {
            turn_id: "t".into(),
            prompt: Some(Prompt::Text("go".into())),
            attachments: Vec::new(),
            client: None,
            options: TurnOptions::default(),
            resumes: None,
        }
    }

    fn queued(id: &str) -> Event {
        Event::ToolQueued {
            tool_call_id: id.into(),
            turn_id: "t".into(),
            tool: "Bash".into(),
            input: json!({}),
            title: String::new(),
            kind: ToolKind::Execute,
            read_only: false,
            concurrency_safe: false,
        }
    }

    fn reason() -> DecisionReason {
        DecisionReason { kind: ReasonType::Mode, layer: 9, detail: String::new(), rule: None, source: None }
    }

    fn asked(id: &str) -> Event {
        let request = PermissionRequest {
            request_id: format!("req_{id}").as_str().into(),
            session_id: "s".into(),
            turn_id: "t".into(),
            tool_call_id: id.into(),
            tool: "Bash".into(),
            input: json!({}),
            cwd: String::new(),
            title: String::new(),
            notes: Vec::new(),
            reason: reason(),
            suggestions: Vec::new(),
            scopes: Vec::new(),
            preview: None,
        };
        Event::PermissionRequested { request }
    }

    fn ran(id: &str) -> Event {
        Event::ToolStarted { tool_call_id: id.into(), input: json!({}), decision: reason() }
    }

    fn said(ids: &[&str]) -> Event {
        let block = |id: &&str| MessageBlock::ToolUse { id: (*id).into(), name: "Bash".into(), input: json!({}) };
        Event::MessageCompleted {
            message_id: "m".into(),
            turn_id: "t".into(),
            role: Role::Assistant,
            content: ids.iter().map(block).collect(),
            model: "test/model".into(),
            stop_reason: "tool_use".into(),
            usage: Usage::default(),
            cost: None,
        }
    }

    fn word(event: &Event) -> String {
        match event {
            Event::MessageCompleted { content, .. } => format!("message {}", content.len()),
            Event::PermissionResolved { request_id, .. } => format!("resolved {request_id}"),
            Event::ToolEnded { tool_call_id, summary, .. } => format!("{tool_call_id} {summary}"),
            Event::TurnEnded { reason, .. } => format!("{reason:?}"),
            other => format!("{other:?}"),
        }
    }

    fn words(recovery: Recovery) -> Vec<String> {
        match recovery {
            Recovery::Nothing => vec!["nothing".into()],
            Recovery::Revive(message) => std::iter::once("revive".into()).chain(message.iter().map(word)).collect(),
            Recovery::Close(events) => events.iter().map(word).collect(),
        }
    }

    #[test]
    fn each_moment_of_a_turn_has_its_recovery() {
        let cases: [(&[Event], &[&str]); 7] = [
            (&[], &["nothing"]),
            (&[started()], &["Interrupted"]),
            (&[started(), queued("a"), ran("a"), said(&["a"])], &["a may have run", "Interrupted"]),
            (&[started(), queued("a"), ran("a")], &["message 1", "a may have run", "Interrupted"]),
            (&[started(), queued("a"), queued("b"), said(&["a", "b"]), asked("a")], &["revive"]),
            (&[started(), queued("a"), asked("a")], &["revive", "message 1"]),
            (
                &[started(), queued("a"), ran("a"), queued("b"), said(&["a", "b"]), asked("b")],
                &["resolved req_b", "a may have run", "b not run", "Interrupted"],
            ),
        ];
        for (events, expected) in cases {
            assert_eq!(words(plan(&session(events))), expected, "{events:?}");
        }
    }

    #[test]
    fn what_is_open_where_a_session_is_forked_stays_with_it() {
        let waits = Event::TurnQueued {
            turn_id: "w".into(),
            prompt: Prompt::Text("next".into()),
            attachments: Vec::new(),
            client: None,
            options: TurnOptions::default(),
            was_steering: false,
            interrupts: false,
        };
        let mut events = vec![started(), queued("a"), asked("a"), waits];
        let from = SessionId::from("ses_source");
        let closing = forked(&session(&events), &from);
        let expected = ["message 1", "resolved req_a", "a not run", "Interrupted", "AbortedStreaming"];
        assert_eq!(closing.iter().map(word).collect::<Vec<_>>(), expected);
        assert!(closing[1..3].iter().all(|event| format!("{event:?}").contains("ses_source")), "{closing:?}");
        events.extend(closing);
        let state = session(&events);
        assert_eq!((state.turn.clone(), state.queue.len(), state.permissions.len()), (None, 0, 0));
        assert_eq!(state.interrupted.as_ref().map(|cut| cut.id.as_str()), Some("t"));
        assert_eq!(forked(&state, &from), []);
    }

    /// After the closing events no tool use is left without a result, and nothing is open.
    #[test]
    fn what_recovery_writes_makes_the_log_whole() {
        let mut events = vec![started(), queued("a"), ran("a"), queued("b")];
        let Recovery::Close(closing) = plan(&session(&events)) else { panic!("not closed") };
        events.extend(closing);
        let state = session(&events);
        assert_eq!(state.turn, None);
        assert_eq!(state.interrupted.as_ref().map(|cut| cut.id.as_str()), Some("t"));
        assert_eq!(state.transcript.unanswered().count(), 0);
        assert_eq!(plan(&state), Recovery::Nothing);
    }
}
