//! Prompts that interrupt or join a turn, and calls that fail together.

use super::*;
use crate::event::ContextChange;

fn contents(effects: &[Effect]) -> Vec<String> {
    let text = |effect: &Effect| match effect {
        Effect::Append(Event::ToolEnded { content, .. }) => Some(proto::content::plain_text(content)),
        _ => None,
    };
    effects.iter().filter_map(text).collect()
}

/// Rows I06, I07: an interrupt stops the call that can be cut with its own words, and waits for the other.
#[test]
fn an_interrupt_cuts_what_can_be_cut_and_waits_for_the_rest() {
    let mut turn = Turn::new();
    turn.calls(0, "a", "Read");
    turn.stops("tool_use");
    turn.take();
    turn.step(Input::Cancel(CancelKind::UserInterrupted));
    assert_eq!(turn.take(), ["stop a UserInterrupted"]);
    let outcome = ToolOutcome {
        status: ToolStatus::Cancelled,
        cause: Some(ToolCause::UserInterrupted),
        ..ToolOutcome::default()
    };
    let effects = turn.machine.step(Input::ToolEnded { id: "a".into(), outcome: Box::new(outcome) }, &Tools);
    assert_eq!(contents(&effects), ["Interrupted by the user: a new prompt came in."]);

    let mut turn = Turn::new();
    turn.calls(0, "w", "Write");
    turn.calls(1, "r", "Read");
    turn.stops("tool_use");
    turn.runs("w");
    turn.take();
    turn.step(Input::Cancel(CancelKind::UserInterrupted));
    assert_eq!(turn.take(), ["ended r Cancelled UserInterrupted", "notice"], "the write runs on");
    turn.ends("w");
    assert_eq!(turn.take(), ["ended w Completed", "END AbortedTools"]);
}

/// Rows I06, I07: of two calls that run side by side, one is cut and one goes on.
#[test]
fn an_interrupt_of_a_mixed_batch_cuts_one_call() {
    let mut turn = Turn::new();
    turn.calls(0, "a", "Read");
    turn.calls(1, "b", "Fetch");
    turn.stops("tool_use");
    turn.runs("b");
    assert!(turn.take().contains(&"start b".to_owned()));
    turn.step(Input::Cancel(CancelKind::UserInterrupted));
    assert_eq!(turn.take(), ["stop a UserInterrupted", "notice"]);
    turn.ends("a");
    turn.ends("b");
    assert_eq!(turn.take(), ["ended a Completed", "ended b Completed", "END AbortedTools"]);
}

/// A call that only waits for its permission can be cut, whatever it would do.
#[test]
fn an_interrupt_cuts_a_writer_that_waits_for_permission() {
    let mut turn = Turn::new();
    turn.calls(0, "w", "Write");
    turn.stops("tool_use");
    turn.take();
    turn.step(Input::Cancel(CancelKind::UserInterrupted));
    assert_eq!(turn.take(), ["stop w UserInterrupted"]);
}

/// Row I08: a cancel after an interrupt stops what that one waited for, and a third one changes nothing.
#[test]
fn a_cancel_stops_what_an_interrupt_waits_for() {
    let mut turn = Turn::new();
    turn.calls(0, "w", "Write");
    turn.stops("tool_use");
    turn.runs("w");
    turn.step(Input::Cancel(CancelKind::UserInterrupted));
    turn.take();
    turn.step(Input::Cancel(CancelKind::UserAbort));
    assert_eq!(turn.take(), ["stop w UserAbort"]);
    turn.step(Input::Cancel(CancelKind::UserAbort));
    assert!(turn.take().is_empty());
    turn.ends("w");
    assert_eq!(turn.take().last().unwrap(), "END AbortedTools");
}

/// Row C06: a failed command that may write stops the queued rest, also what the message still brings.
#[test]
fn a_failed_command_stops_its_siblings() {
    let mut turn = Turn::new();
    turn.calls(0, "a", "Bash");
    turn.calls(1, "b", "Write");
    turn.take();
    let outcome = ToolOutcome { status: ToolStatus::Failed, is_error: true, ..ToolOutcome::default() };
    let effects = turn.machine.step(Input::ToolEnded { id: "a".into(), outcome: Box::new(outcome) }, &Tools);
    let words: Vec<String> = effects.iter().map(word).collect();
    assert_eq!(words, ["ended a Failed", "ended b Cancelled SiblingError"]);
    assert!(contents(&effects)[1].starts_with("Cancelled: parallel tool call Bash errored."));
    turn.calls(2, "c", "Read");
    turn.stops("tool_use");
    let words = turn.take();
    assert_eq!(words[..2], ["queued c Read", "ended c Cancelled SiblingError"]);
    assert_eq!(words[3..], ["continue NextTurn", "call"], "the turn lives on");
}

/// Row C07: the failure of another tool leaves its siblings alone.
#[test]
fn other_failures_do_not_cascade() {
    let mut turn = Turn::new();
    turn.calls(0, "a", "Write");
    turn.calls(1, "b", "Read");
    turn.take();
    turn.ends_with("a", |outcome| outcome.status = ToolStatus::Failed);
    assert_eq!(turn.take(), ["ended a Failed", "start b"]);
}

/// Row X16: a serial call's change holds for the next one; those of a parallel batch come at its end, in call order.
#[test]
fn changes_of_the_context_come_at_the_end_of_a_batch() {
    let to = |cwd: &str| Some(ContextChange { shell_cwd: Some(cwd.to_owned()), ..Default::default() });
    let mut turn = Turn::new();
    turn.calls(0, "a", "Bash");
    turn.calls(1, "r1", "Read");
    turn.calls(2, "r2", "Read");
    turn.stops("tool_use");
    turn.take();
    turn.ends_with("a", |outcome| outcome.context = to("/a"));
    assert_eq!(turn.take(), ["ended a Completed", "changed {\"shellCwd\":\"/a\"}", "start r1", "start r2"]);
    turn.ends_with("r2", |outcome| outcome.context = to("/r2"));
    assert_eq!(turn.take(), ["ended r2 Completed"]);
    turn.ends_with("r1", |outcome| outcome.context = to("/r1"));
    let words = turn.take();
    assert_eq!(words[1..3], ["changed {\"shellCwd\":\"/r1\"}", "changed {\"shellCwd\":\"/r2\"}"]);
}

/// A prompt that steers joins after the calls that run, and keeps a turn from ending.
#[test]
fn a_steering_prompt_joins_at_the_next_step() {
    let mut turn = Turn::new();
    turn.calls(0, "a", "Read");
    turn.step(Input::Steered);
    turn.stops("tool_use");
    turn.ends("a");
    assert_eq!(turn.take()[3..], ["ended a Completed", "continue Steered", "call"]);
    turn.step(Input::Steered);
    turn.says(0, "done");
    turn.stops("end_turn");
    assert_eq!(turn.take()[2..], ["continue Steered", "call"]);
    turn.says(0, "done");
    turn.stops("end_turn");
    assert_eq!(turn.take().last().unwrap(), "END Completed");
    assert!(!turn.machine.can_be_steered());
}

/// A turn that is about to end takes no further prompt.
#[test]
fn a_cancelled_turn_can_not_be_steered() {
    let mut turn = Turn::new();
    turn.calls(0, "a", "Bash");
    assert!(turn.machine.can_be_steered());
    turn.step(Input::Cancel(CancelKind::UserAbort));
    assert!(!turn.machine.can_be_steered());
}

/// A call that is stopped is told by whom: where the log fails, nobody has wished for it.
#[test]
fn the_model_is_told_who_stopped_a_call() {
    for (kind, told) in [
        (CancelKind::UserAbort, "Cancelled by the user."),
        (CancelKind::UserInterrupted, "Interrupted by the user: a new prompt came in."),
        (CancelKind::Restart, "Stopped: agentd is shutting down."),
        (CancelKind::StorageFailed, "Stopped by agentd: the session's log can't be written."),
    ] {
        let mut turn = Turn::new();
        turn.calls(0, "a", "Bash");
        turn.calls(1, "b", "Bash");
        turn.stops("tool_use");
        let effects = turn.machine.step(Input::Cancel(kind), &Tools);
        assert!(contents(&effects)[0].starts_with(told), "{kind:?}: {effects:?}");
        let outcome =
            ToolOutcome { status: ToolStatus::Cancelled, cause: Some(kind.reason().cause()), ..ToolOutcome::default() };
        let effects = turn.machine.step(Input::ToolEnded { id: "a".into(), outcome: Box::new(outcome) }, &Tools);
        assert_eq!(contents(&effects), [told], "{kind:?}");
    }
}
