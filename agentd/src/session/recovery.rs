//! What becomes of a turn that a crash or a restart cut. Pure: a state in, events out. Nothing is run
//! again by itself, and each open call gets an honest result.

use crate::event::SessionState;
use crate::event::state::{OpenCall, OpenTurn};
use proto::content::ContentBlock;
use proto::event::{EndReason, Event, Role, ToolCause, ToolStatus};
use proto::ids::MessageId;
use proto::permission::{DecisionReason, PermissionDecision, ReasonType};
use proto::session::Usage;

/// What to do with a session that was loaded from its log.
#[derive(Debug, Clone, PartialEq)]
pub enum Recovery {
    /// No turn was cut.
    Nothing,
    /// The turn waits for a person and nothing of its calls has started: it goes on waiting.
    Revive(OpenTurn),
    /// The turn is over: append these.
    Close(Vec<Event>),
}

/// Decides it.
#[must_use]
pub fn plan(state: &SessionState) -> Recovery {
    let Some(turn) = &state.turn else { return Recovery::Nothing };
    let untouched = turn.loose.is_empty() && turn.calls.iter().all(|call| !call.started);
    if untouched && !turn.calls.is_empty() && !state.permissions.is_empty() {
        return Recovery::Revive(turn.clone());
    }
    Recovery::Close(closing(state, turn))
}

fn closing(state: &SessionState, turn: &OpenTurn) -> Vec<Event> {
    let mut events = Vec::new();
    if !turn.loose.is_empty() {
        events.push(Event::MessageCompleted {
            message_id: MessageId(format!("{}.{}", turn.id, state.info.last_seq + 1)),
            turn_id: turn.id.clone(),
            role: Role::Assistant,
            content: turn.loose.clone(),
            model: turn.options.model.clone().unwrap_or_else(|| state.info.model.clone()),
            stop_reason: "interrupted".to_owned(),
            usage: Usage { context_window: state.info.usage.context_window, ..Usage::default() },
        });
    }
    events.extend(state.permissions.iter().map(|open| Event::PermissionResolved {
        request_id: open.request.request_id.clone(),
        decision: PermissionDecision::Deny,
        by: "agentd".to_owned(),
        reason: DecisionReason {
            kind: ReasonType::Headless,
            layer: 13,
            detail: "agentd stopped before the question was answered".to_owned(),
            rule: None,
            source: None,
        },
        session_rule: None,
    }));
    events.extend(turn.calls.iter().map(cut_call));
    events.push(Event::TurnEnded {
        turn_id: turn.id.clone(),
        reason: EndReason::Interrupted,
        error: None,
        usage: turn.usage,
        cost: None,
        duration_ms: 0,
    });
    events
}

fn cut_call(call: &OpenCall) -> Event {
    let (text, summary) = if call.started {
        (
            "agentd stopped while this call ran. It may have run to its end, in part or not at all: look before you try it again.",
            "may have run",
        )
    } else {
        ("Not run: agentd stopped before this call started.", "not run")
    };
    Event::ToolEnded {
        tool_call_id: call.id.clone(),
        status: ToolStatus::Cancelled,
        is_error: true,
        content: vec![ContentBlock::text(text)],
        summary: summary.to_owned(),
        persisted_path: None,
        duration_ms: 0,
        cause: Some(ToolCause::Restart),
    }
}
