//! How turns go: rounds, retries, cancels.

use super::*;

/// Row L12: an answer without tools ends the turn.
#[test]
fn an_answer_without_tools_ends_the_turn() {
    let mut turn = Turn::new();
    turn.says(0, "hi");
    turn.stops("end_turn");
    assert_eq!(turn.take(), ["delta 0 hi", "message 1 end_turn", "END Completed"]);
    turn.stops("end_turn");
    assert!(turn.take().is_empty(), "nothing comes after the end");
}

/// Rows L02, C13: a tool starts when its block is complete, while the stream goes on.
#[test]
fn a_tool_starts_and_ends_while_the_model_streams() {
    let mut turn = Turn::new();
    turn.calls(0, "a", "Read");
    turn.ends("a");
    assert_eq!(turn.take(), ["queued a Read", "start a", "ended a Completed"]);
    turn.says(1, "more");
    turn.stops("tool_use");
    assert_eq!(turn.take(), ["delta 0 more", "message 2 tool_use", "continue NextTurn", "call"]);
}

/// Rows C01, C03, C09, C12: reads run side by side, the write alone, the last read after it, and each end wakes what
/// waited for it.
#[test]
fn calls_run_in_batches() {
    let mut turn = Turn::new();
    for (index, (id, tool)) in [("r1", "Read"), ("r2", "Read"), ("b", "Bash"), ("r3", "Read")].iter().enumerate() {
        turn.calls(index, id, tool);
    }
    turn.stops("tool_use");
    let starts = |words: Vec<String>| words.into_iter().filter(|word| word.starts_with("start")).collect::<Vec<_>>();
    assert_eq!(starts(turn.take()), ["start r1", "start r2"]);
    turn.ends("r2");
    assert!(starts(turn.take()).is_empty());
    turn.ends("r1");
    assert_eq!(starts(turn.take()), ["start b"]);
    turn.ends("b");
    assert_eq!(starts(turn.take()), ["start r3"]);
    turn.ends("r3");
    assert_eq!(turn.take(), ["ended r3 Completed", "continue NextTurn", "call"]);
}

/// Row L05: a limit of two allows exactly two tool rounds.
#[test]
fn the_limit_of_rounds_counts_rounds() {
    let mut turn = Turn::with(|settings| settings.max_rounds = Some(2));
    for round in 0..2 {
        turn.calls(0, &format!("c{round}"), "Read");
        turn.stops("tool_use");
        turn.ends(&format!("c{round}"));
    }
    let words = turn.take();
    assert_eq!(words.iter().filter(|word| *word == "call").count(), 1, "{words:?}");
    assert_eq!(words.last().unwrap(), "END MaxTurns");
}

#[test]
fn a_cancel_while_streaming_keeps_what_was_said() {
    let mut turn = Turn::new();
    turn.model(ModelEvent::BlockStarted { index: 0, kind: BlockKind::Text });
    turn.model(ModelEvent::Delta { index: 0, kind: DeltaKind::Text, text: "ha".into() });
    turn.model(ModelEvent::Delta { index: 0, kind: DeltaKind::Text, text: "lf".into() });
    turn.step(Input::Cancel(CancelKind::UserAbort));
    assert_eq!(turn.take(), ["delta 0 ha", "delta 2 lf", "stop model", "message 1 aborted", "END AbortedStreaming"]);
}

#[test]
fn a_cancel_before_a_word_leaves_no_message() {
    let mut turn = Turn::new();
    turn.step(Input::Cancel(CancelKind::UserAbort));
    assert_eq!(turn.take(), ["stop model", "END AbortedStreaming"]);
}

#[test]
fn a_cut_tool_input_never_runs() {
    let mut turn = Turn::new();
    turn.model(ModelEvent::BlockStarted { index: 0, kind: BlockKind::ToolUse { id: "a".into(), name: "Bash".into() } });
    turn.model(ModelEvent::Delta { index: 0, kind: DeltaKind::ToolInput, text: "{\"comm".into() });
    turn.step(Input::Cancel(CancelKind::UserAbort));
    assert_eq!(turn.take(), ["delta 0 {\"comm", "stop model", "tombstone aborted", "END AbortedStreaming"]);
}

/// Row I11: a cancel stops what runs, ends what waits, and the turn ends once the running call has.
#[test]
fn a_cancel_waits_for_the_running_calls() {
    let mut turn = Turn::new();
    turn.calls(0, "a", "Bash");
    turn.calls(1, "b", "Bash");
    turn.stops("tool_use");
    turn.take();
    turn.step(Input::Cancel(CancelKind::UserAbort));
    assert_eq!(turn.take(), ["ended b Cancelled UserAbort", "stop a UserAbort"]);
    turn.step(Input::Cancel(CancelKind::UserAbort));
    assert!(turn.take().is_empty(), "a second cancel changes nothing");
    turn.ends_with("a", |outcome| {
        outcome.status = ToolStatus::Cancelled;
        outcome.cause = Some(ToolCause::UserAbort);
    });
    assert_eq!(turn.take(), ["ended a Cancelled UserAbort", "END AbortedTools"]);
}

#[test]
fn a_restart_interrupts() {
    let mut turn = Turn::new();
    turn.calls(0, "a", "Bash");
    turn.take();
    turn.step(Input::Cancel(CancelKind::Restart));
    assert_eq!(turn.take(), ["stop model", "message 1 aborted", "stop a Restart"]);
    turn.ends("a");
    assert_eq!(turn.take().last().unwrap(), "END Interrupted");
}

/// Row I05: a refusal without a word ends the turn.
#[test]
fn a_refusal_that_stops_ends_the_turn() {
    let mut turn = Turn::new();
    turn.calls(0, "a", "Bash");
    turn.calls(1, "b", "Bash");
    turn.stops("tool_use");
    turn.take();
    turn.ends_with("a", |outcome| {
        outcome.status = ToolStatus::Denied;
        outcome.stops_turn = true;
    });
    assert_eq!(turn.take(), ["ended a Denied", "ended b Cancelled UserAbort", "END AbortedTools"]);
}

#[test]
fn a_fault_before_anything_whole_is_tried_again() {
    let mut turn = Turn::new();
    turn.faults(FaultKind::Overloaded { retry_after_ms: None });
    assert_eq!(turn.take(), ["notice", "call after 500"]);
    turn.model(ModelEvent::BlockStarted { index: 0, kind: BlockKind::Text });
    turn.model(ModelEvent::Delta { index: 0, kind: DeltaKind::Text, text: "ha".into() });
    turn.faults(FaultKind::Truncated);
    assert_eq!(turn.take(), ["delta 0 ha", "tombstone retry", "notice", "call after 1000"]);
    turn.says(0, "half");
    turn.stops("end_turn");
    assert_eq!(turn.take().last().unwrap(), "END Completed");
}

/// A complete block is kept, its call is not run again, and the turn goes on.
#[test]
fn a_break_after_a_whole_call_keeps_it_and_goes_on() {
    let mut turn = Turn::new();
    turn.says(0, "first");
    turn.calls(1, "a", "Bash");
    turn.take();
    turn.faults(FaultKind::Truncated);
    assert_eq!(turn.take(), ["message 2 error", "notice"], "the running call is waited for");
    turn.ends("a");
    assert_eq!(turn.take(), ["ended a Completed", "continue NextTurn", "call after 500"]);
}

#[test]
fn a_break_after_whole_text_goes_on_from_there() {
    let mut turn = Turn::new();
    turn.says(0, "first");
    turn.take();
    turn.faults(FaultKind::Truncated);
    assert_eq!(turn.take(), ["message 1 error", "notice", "continue NextTurn", "call after 500"]);
}

/// Thinking alone is nothing that a request can end with.
#[test]
fn a_break_after_thinking_alone_starts_anew() {
    let mut turn = Turn::new();
    let thinking = MessageBlock::Thinking { thinking: "hm".into(), signature: Some("s".into()) };
    turn.model(ModelEvent::BlockDone { index: 0, block: thinking });
    turn.faults(FaultKind::Truncated);
    assert_eq!(turn.take(), ["tombstone retry", "notice", "call after 500"]);
}

/// A server that always breaks after a call is given up in the end: what was kept resets nothing.
#[test]
fn breaks_after_whole_calls_are_counted() {
    let mut turn = Turn::new();
    for round in 0..3 {
        turn.calls(0, &format!("c{round}"), "Read");
        turn.ends(&format!("c{round}"));
        turn.faults(FaultKind::Truncated);
    }
    assert_eq!(turn.take().last().unwrap(), "END ModelError truncated");
}

/// The pauses of one turn have a bound in all.
#[test]
fn pauses_are_bounded_in_all() {
    let mut turn = Turn::with(|settings| settings.retry_total_ms = 1_500);
    let overloaded = FaultKind::Overloaded { retry_after_ms: None };
    turn.faults(overloaded);
    turn.faults(overloaded);
    turn.faults(overloaded);
    assert_eq!(turn.take(), ["notice", "call after 500", "notice", "call after 1000", "END ModelError overloaded"]);
}

#[test]
fn what_no_retry_mends_ends_the_turn() {
    for (kind, end) in [
        (FaultKind::Authentication, "END ModelError authentication"),
        (FaultKind::PromptTooLong, "END PromptTooLong promptTooLong"),
    ] {
        let mut turn = Turn::new();
        turn.faults(kind);
        assert_eq!(turn.take(), [end]);
    }
}

/// M5: some servers number the calls of each answer anew.
#[test]
fn a_repeated_or_missing_call_id_becomes_unique() {
    let mut turn = Turn::new();
    for index in 0..3 {
        turn.calls(index, if index == 2 { "" } else { "call_0" }, "Read");
    }
    let queued: Vec<String> = turn.take().into_iter().filter(|word| word.starts_with("queued")).collect();
    assert_eq!(queued, ["queued call_0 Read", "queued t.call_2 Read", "queued t.call_3 Read"]);
}

/// Row L15: a transition is a value of one of two types (a doc test of `round` shows that one does not stand for the
/// other), and a turn that is over takes no input at all.
#[test]
fn a_turn_that_is_over_takes_no_input() {
    let mut turn = Turn::new();
    turn.stops("end_turn");
    assert_eq!(turn.take().last().unwrap(), "END Completed");
    for input in [
        Input::Begin,
        Input::Model(ModelEvent::Stopped { reason: "end_turn".into() }),
        Input::ToolStarted { id: "a".into() },
        Input::ToolEnded { id: "a".into(), outcome: Box::default() },
        Input::Cancel(CancelKind::UserAbort),
        Input::Steered,
        Input::Compacted(Ok(())),
        Input::StopHooksRan(StopVerdict::Pass),
    ] {
        turn.step(input);
    }
    assert!(turn.take().is_empty());
}

#[test]
fn late_words_change_nothing() {
    let mut turn = Turn::new();
    turn.calls(0, "a", "Read");
    turn.stops("tool_use");
    turn.take();
    turn.says(1, "late");
    turn.ends("unknown");
    assert!(turn.take().is_empty());
}

#[test]
fn usage_adds_up_over_the_calls_of_a_turn() {
    let mut turn = Turn::new();
    let usage = |output_tokens| ModelEvent::Usage(Usage { output_tokens, ..Usage::default() });
    turn.model(usage(5));
    turn.model(usage(7));
    turn.calls(0, "a", "Read");
    turn.stops("tool_use");
    turn.ends("a");
    turn.model(usage(2));
    let usages: Vec<String> = turn.take().into_iter().filter(|word| word.starts_with("usage")).collect();
    assert_eq!(usages, ["usage 5", "usage 7", "usage 9"]);
}

/// A turn that waited for a person goes on with its calls after a restart.
#[test]
fn a_revived_turn_begins_with_its_calls() {
    use crate::event::state::{OpenCall, OpenTurn};
    let call = |id: &str| OpenCall {
        id: ToolCallId::from(id),
        tool: "Bash".into(),
        input: json!({}),
        concurrency_safe: false,
        started: false,
    };
    let open = OpenTurn {
        id: "t".into(),
        options: Default::default(),
        usage: Usage::default(),
        text: String::new(),
        cost: None,
        rounds: 1,
        round_has_tools: true,
        switched_to: None,
        steering: Vec::new(),
        calls: vec![call("a"), call("b")],
        loose: Vec::new(),
    };
    let settings = TurnSettings { max_rounds: Some(2), ..TurnSettings::new("t".into(), "test/model".into()) };
    let mut turn = Turn { machine: Machine::revive(settings, open, &Tools, 9), log: Vec::new() };
    turn.step(Input::Begin);
    assert_eq!(turn.take(), ["start a"]);
    turn.ends("a");
    turn.ends("b");
    assert_eq!(turn.take(), ["ended a Completed", "start b", "ended b Completed", "END MaxTurns"]);
}

#[test]
fn a_retry_is_told_in_whole_sentences() {
    for (why, told) in [
        ("m is overloaded: try again", "m is overloaded: try again. Trying again (retry 2)."),
        ("is it running?", "is it running? Trying again (retry 2)."),
        ("It fell silent. ", "It fell silent. Trying again (retry 2)."),
    ] {
        assert_eq!(crate::turn::machine::retry_notice(why, 2), told);
    }
}
