//! The fallback model.

use super::*;

const OVERLOADED: FaultKind = FaultKind::Overloaded { retry_after_ms: None };

fn with_fallback() -> Turn {
    Turn::with(|settings| settings.fallback = Some("other/model".into()))
}

/// Rows F01, F02, F03, F04: in mid-stream the answer becomes void, running calls are stopped and queued ones ended, the
/// other model is asked with a fresh schedule, and what the old calls give reaches nobody.
#[test]
fn a_fallback_in_mid_stream_voids_all_of_the_answer() {
    let mut turn = with_fallback();
    turn.says(0, "let me");
    turn.calls(1, "a", "Bash");
    turn.calls(2, "b", "Read");
    turn.take();
    turn.faults(OVERLOADED);
    assert_eq!(
        turn.take(),
        [
            "tombstone model_fallback",
            "ended b Cancelled StreamingFallback",
            "stop a StreamingFallback",
            "model test/model to other/model",
            "switch to other/model",
            "continue ModelFallback",
            "call",
        ]
    );
    // A call of the new answer waits for the old one to be gone.
    turn.calls(0, "c", "Read");
    assert_eq!(turn.take(), ["queued c Read"]);
    turn.ends_with("a", |outcome| outcome.hook_stop = Some("void".into()));
    assert_eq!(turn.take(), ["ended a Cancelled StreamingFallback", "start c"]);
    turn.ends("a");
    assert!(turn.take().is_empty(), "a second end of an old call is nobody's");
    turn.stops("tool_use");
    turn.ends("c");
    assert_eq!(turn.take(), ["message 1 tool_use", "ended c Completed", "continue NextTurn", "call"]);
}

/// Row F06: before a word was said, the first model gets a few attempts; there is one fallback.
#[test]
fn the_fallback_comes_after_some_attempts_and_once() {
    let mut turn = with_fallback();
    turn.faults(OVERLOADED);
    turn.faults(OVERLOADED);
    assert_eq!(turn.take(), ["notice", "call after 500", "notice", "call after 1000"]);
    turn.faults(OVERLOADED);
    assert_eq!(turn.take()[2..], ["continue ModelFallback", "call"]);
    for _ in 0..10 {
        turn.faults(OVERLOADED);
    }
    turn.take();
    turn.faults(OVERLOADED);
    assert_eq!(turn.take(), ["END ModelError overloaded"]);
}

/// An answer that its server paused is the first model's; the other one is told to go on, and begins a message of its own.
#[test]
fn the_fallback_after_a_pause_is_told_to_go_on() {
    for paused in [false, true] {
        let mut turn = with_fallback();
        if paused {
            turn.says(0, "searching");
            turn.stops("pause_turn");
        }
        turn.says(0, "and");
        let effects = turn
            .machine
            .step(Input::Model(ModelEvent::Fault(Fault { kind: OVERLOADED, message: String::new() })), &Tools);
        let told = effects.iter().find_map(|effect| match effect {
            Effect::Append(Event::TurnContinued { message, .. }) => Some(message.is_some()),
            _ => None,
        });
        assert_eq!(told, Some(paused), "{effects:?}");
    }
}

/// What another server may not have: the fallback takes over when the attempts are used up, not for a wrong request.
#[test]
fn which_faults_lead_to_the_fallback() {
    for (kind, falls_back) in [
        (FaultKind::Unreachable, true),
        (FaultKind::Truncated, true),
        (FaultKind::RateLimited { retry_after_ms: None }, true),
        (FaultKind::Authentication, false),
        (FaultKind::InvalidRequest, false),
        (FaultKind::PromptTooLong, false),
    ] {
        let mut turn = Turn::with(|settings| {
            settings.fallback = Some("other/model".into());
            settings.retries = 0;
        });
        turn.faults(kind);
        let words = turn.take();
        assert_eq!(words.contains(&"continue ModelFallback".to_owned()), falls_back, "{kind:?} {words:?}");
    }
}

/// Rows F03, F07: a void call's data, hook stop, refusal and change of the context surface nowhere.
#[test]
fn nothing_of_a_void_call_surfaces() {
    let mut turn = with_fallback();
    turn.calls(0, "a", "Read");
    turn.calls(1, "b", "Read");
    turn.ends_with("b", |outcome| {
        outcome.structured_output = Some(json!(1));
        outcome.hook_stop = Some("stop".into());
        outcome.context = Some(crate::event::ContextChange { shell_cwd: Some("/b".into()), ..Default::default() });
    });
    turn.faults(OVERLOADED);
    turn.take();
    turn.ends_with("a", |outcome| {
        outcome.stops_turn = true;
        outcome.context = Some(crate::event::ContextChange { shell_cwd: Some("/a".into()), ..Default::default() });
    });
    turn.says(0, "done");
    turn.stops("end_turn");
    let words = turn.take();
    assert!(!words.iter().any(|word| word.starts_with("changed")), "{words:?}");
    assert_eq!(words.last().unwrap(), "END Completed");
}

/// A cancel while void calls still run waits for them.
#[test]
fn a_cancel_waits_for_void_calls() {
    let mut turn = with_fallback();
    turn.calls(0, "a", "Bash");
    turn.faults(OVERLOADED);
    turn.take();
    turn.step(Input::Cancel(CancelKind::UserAbort));
    assert_eq!(turn.take(), ["stop model"]);
    turn.ends("a");
    assert_eq!(turn.take(), ["ended a Cancelled StreamingFallback", "END AbortedStreaming"]);
}
