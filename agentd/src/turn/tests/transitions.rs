//! Each way in which a turn goes on or ends is reached, and one end is all there is.

use super::*;
use proto::event::{ContinueReason, EndReason, TokenBudget};

fn written(turn: &mut Turn, output_tokens: u64) {
    turn.model(ModelEvent::Usage(Usage { output_tokens, ..Usage::default() }));
}

fn round(turn: &mut Turn, id: &str) {
    turn.calls(0, id, "Read");
    turn.stops("tool_use");
    turn.ends(id);
}

fn last(turn: &mut Turn) -> String {
    turn.take().pop().unwrap_or_default()
}

/// Row L09: the output limit may cut three answers in a row; the fourth ends the turn. Each asks for more.
#[test]
fn the_output_limit_is_met_three_times() {
    let mut turn = Turn::new();
    for truncation in 1..=3 {
        turn.says(0, "and then");
        let effects = turn.machine.step(Input::Model(ModelEvent::Stopped { reason: "max_tokens".into() }), &Tools);
        assert!(matches!(effects.last(), Some(Effect::CallModel { escalation, .. }) if *escalation == truncation));
        assert!(effects.iter().any(|effect| word(effect) == "continue MaxOutputTokensEscalate"));
    }
    turn.says(0, "and then");
    turn.stops("max_tokens");
    assert_eq!(last(&mut turn), "END ModelError maxOutputTokens");
}

/// Row L09: the limit counts the same where it cuts a call, which then fails by its input: the next answer may be
/// longer, and it is not for ever.
#[test]
fn the_output_limit_counts_where_it_cuts_a_call() {
    let mut turn = Turn::new();
    for truncation in 1..=4_u32 {
        let id = format!("w{truncation}");
        turn.calls(0, &id, "Write");
        turn.stops("max_tokens");
        turn.take();
        let outcome = ToolOutcome { status: ToolStatus::Failed, is_error: true, ..ToolOutcome::default() };
        let effects =
            turn.machine.step(Input::ToolEnded { id: id.as_str().into(), outcome: Box::new(outcome) }, &Tools);
        let told = effects.iter().any(|effect| {
            matches!(effect, Effect::Append(Event::TurnContinued { message: Some(text), .. }) if text.contains("limit"))
        });
        let longer = matches!(effects.last(), Some(Effect::CallModel { escalation, .. }) if *escalation == truncation);
        assert_eq!((told, longer), (truncation < 4, truncation < 4), "{truncation}: {effects:?}");
    }
}

/// The count starts anew once an answer was whole.
#[test]
fn a_whole_answer_resets_the_output_limit() {
    let mut turn = Turn::new();
    for id in ["a", "b", "c", "d", "e"] {
        turn.stops("max_tokens");
        round(&mut turn, id);
    }
    assert_eq!(last(&mut turn), "call");
}

/// Row L10: the tools of the last allowed round still run, those that wait too; then the budget ends the turn.
#[test]
fn a_token_budget_ends_the_turn_after_its_tools() {
    let mut turn = Turn::with(|settings| settings.budget = TokenBudget { max: Some(10), goal: None });
    written(&mut turn, 12);
    turn.calls(0, "a", "Bash");
    turn.calls(1, "b", "Bash");
    turn.stops("tool_use");
    turn.ends("a");
    turn.ends("b");
    let words = turn.take();
    let runs =
        ["start a", "message 2 tool_use", "ended a Completed", "start b", "ended b Completed", "END TokenBudget"];
    assert_eq!(words.into_iter().filter(|word| !word.starts_with("queued")).skip(1).collect::<Vec<_>>(), runs);
}

/// Row L03: without tools come Stop hooks, then the budget, then the end.
#[test]
fn stop_hooks_come_before_the_budget() {
    let mut turn = Turn::with(|settings| {
        settings.stop_hooks = true;
        settings.budget = TokenBudget { max: None, goal: Some(100) };
    });
    turn.stops("end_turn");
    assert_eq!(last(&mut turn), "stop hooks false");
    turn.step(Input::StopHooksRan(StopVerdict::Pass));
    assert_eq!(turn.take(), ["continue TokenBudgetContinuation", "call"]);
    written(&mut turn, 95);
    turn.stops("end_turn");
    turn.step(Input::StopHooksRan(StopVerdict::Pass));
    assert_eq!(last(&mut turn), "END Completed");
}

/// Row L04: a Stop hook can end the turn in its own name.
#[test]
fn a_stop_hook_can_prevent_the_turn_from_going_on() {
    let mut turn = Turn::with(|settings| settings.stop_hooks = true);
    turn.stops("end_turn");
    turn.step(Input::StopHooksRan(StopVerdict::Prevent { reason: "enough".into() }));
    assert_eq!(last(&mut turn), "END StopHookPrevented stopHookPrevented");
}

/// Row L11: a cancel, a hook that stops and the limit of rounds at once give the cancel; a hook comes before the limit.
#[test]
fn an_interrupt_beats_a_hook_beats_the_limit() {
    for (cancelled, hook, end) in
        [(true, true, "END AbortedTools"), (false, true, "END HookStopped hookStopped"), (false, false, "END MaxTurns")]
    {
        let mut turn = Turn::with(|settings| settings.max_rounds = Some(1));
        turn.calls(0, "a", "Read");
        turn.stops("tool_use");
        if cancelled {
            turn.step(Input::Cancel(CancelKind::UserAbort));
        }
        turn.ends_with("a", |outcome| outcome.hook_stop = hook.then(|| "no more".to_owned()));
        assert_eq!(last(&mut turn), end);
    }
}

/// A prompt that is too long is tried once more after a compaction, where there is one.
#[test]
fn a_long_prompt_is_compacted_once() {
    let mut turn = Turn::with(|settings| settings.can_compact = true);
    turn.faults(FaultKind::PromptTooLong);
    assert_eq!(turn.take(), ["compact"]);
    turn.step(Input::Compacted(Ok(())));
    assert_eq!(turn.take(), ["continue ReactiveCompactRetry", "call"]);
    turn.faults(FaultKind::PromptTooLong);
    assert_eq!(last(&mut turn), "END PromptTooLong promptTooLong");

    let mut turn = Turn::with(|settings| settings.can_compact = true);
    turn.faults(FaultKind::PromptTooLong);
    turn.step(Input::Compacted(Err("nothing to leave out".into())));
    assert_eq!(last(&mut turn), "END PromptTooLong promptTooLong");
}

/// Row X11: the turn ends with the data once a call has given it; without it the model is sent back, not for ever.
#[test]
fn an_answer_as_data_ends_the_turn() {
    let mut turn = Turn::with(|settings| settings.wants_output = true);
    turn.says(0, "here it is");
    turn.stops("end_turn");
    assert_eq!(turn.take()[2..], ["continue StopHookBlocking", "call"]);
    turn.calls(0, "a", "StructuredOutput");
    turn.stops("tool_use");
    let outcome = ToolOutcome { structured_output: Some(json!({"a": 1})), ..ToolOutcome::default() };
    let effects = turn.machine.step(Input::ToolEnded { id: "a".into(), outcome: Box::new(outcome) }, &Tools);
    let Some(Effect::End { reason: EndReason::Completed, structured_output, .. }) = effects.last() else {
        panic!("{effects:?}")
    };
    assert_eq!(*structured_output, Some(json!({"a": 1})));

    let mut turn = Turn::with(|settings| settings.wants_output = true);
    for _ in 0..4 {
        turn.stops("end_turn");
    }
    assert_eq!(last(&mut turn), "END ModelError structuredOutputMissing");
}

/// Row X11: a model that gives its answer in a wrong form over and over, with words in between or without, is not
/// asked for ever.
#[test]
fn an_answer_that_never_fits_ends_the_turn() {
    let rounds = |says: bool| {
        let mut turn = Turn::with(|settings| settings.wants_output = true);
        for round in 1.. {
            let id = format!("a{round}");
            turn.calls(0, &id, "StructuredOutput");
            turn.stops("tool_use");
            turn.ends_with(&id, |outcome| outcome.status = ToolStatus::Failed);
            let end = last(&mut turn);
            if end != "call" {
                return (round, end);
            }
            if says {
                turn.says(0, "done");
                turn.stops("end_turn");
            }
        }
        unreachable!()
    };
    for says in [false, true] {
        assert_eq!(rounds(says), (5, "END ModelError structuredOutputMissing".to_owned()));
    }
}

#[test]
fn a_pause_goes_on_and_a_refusal_ends() {
    let mut turn = Turn::new();
    turn.says(0, "searching");
    turn.stops("pause_turn");
    assert_eq!(turn.take()[2..], ["continue NextTurn", "call"]);
    turn.says(0, "no");
    turn.stops("refusal");
    assert_eq!(last(&mut turn), "END ModelError refusal");
    let mut turn = Turn::new();
    for _ in 0..9 {
        turn.stops("pause_turn");
    }
    assert_eq!(last(&mut turn), "END ModelError paused");
}

/// Every turn of the table below, as inputs.
fn turns() -> Vec<Turn> {
    let mut done = Turn::new();
    round(&mut done, "a");
    done.step(Input::Steered);
    done.stops("end_turn");
    done.stops("end_turn");
    let mut streaming = Turn::new();
    streaming.step(Input::Cancel(CancelKind::UserAbort));
    let mut tools = Turn::new();
    tools.calls(0, "a", "Bash");
    tools.stops("tool_use");
    tools.step(Input::Cancel(CancelKind::UserAbort));
    tools.ends("a");
    let mut error = Turn::new();
    error.faults(FaultKind::Authentication);
    let mut long = Turn::with(|settings| settings.can_compact = true);
    long.faults(FaultKind::PromptTooLong);
    long.step(Input::Compacted(Ok(())));
    long.faults(FaultKind::PromptTooLong);
    let mut limit = Turn::with(|settings| settings.max_rounds = Some(1));
    limit.stops("max_tokens");
    round(&mut limit, "a");
    let mut prevented = Turn::with(|settings| settings.stop_hooks = true);
    prevented.stops("end_turn");
    prevented.step(Input::StopHooksRan(StopVerdict::Block { feedback: "go on".into() }));
    prevented.stops("end_turn");
    prevented.step(Input::StopHooksRan(StopVerdict::Prevent { reason: "no".into() }));
    let mut hook = Turn::new();
    hook.calls(0, "a", "Read");
    hook.stops("tool_use");
    hook.ends_with("a", |outcome| outcome.hook_stop = Some("no".into()));
    let mut budget = Turn::with(|settings| settings.budget = TokenBudget { max: Some(1), goal: Some(9) });
    budget.stops("end_turn");
    written(&mut budget, 5);
    round(&mut budget, "a");
    let mut restart = Turn::with(|settings| {
        settings.fallback = Some("other/model".into());
        settings.retries = 0;
    });
    restart.faults(FaultKind::Unreachable);
    restart.step(Input::Cancel(CancelKind::Restart));
    vec![done, streaming, tools, error, long, limit, prevented, hook, budget, restart]
}

/// Rows L07, L08: every reason to go on and every reason to end is reached, and each turn ends exactly once.
#[test]
fn every_transition_is_reached_and_each_turn_ends_once() {
    let mut words = Vec::new();
    for mut turn in turns() {
        let log = turn.take();
        assert_eq!(log.iter().filter(|word| word.starts_with("END")).count(), 1, "{log:?}");
        assert!(log.last().unwrap().starts_with("END"), "{log:?}");
        words.extend(log);
    }
    for reason in [
        ContinueReason::NextTurn,
        ContinueReason::ReactiveCompactRetry,
        ContinueReason::MaxOutputTokensEscalate,
        ContinueReason::StopHookBlocking,
        ContinueReason::TokenBudgetContinuation,
        ContinueReason::ModelFallback,
        ContinueReason::Steered,
    ] {
        assert!(words.contains(&format!("continue {reason:?}")), "{reason:?}");
    }
    for reason in [
        EndReason::Completed,
        EndReason::AbortedStreaming,
        EndReason::AbortedTools,
        EndReason::ModelError,
        EndReason::PromptTooLong,
        EndReason::MaxTurns,
        EndReason::StopHookPrevented,
        EndReason::HookStopped,
        EndReason::TokenBudget,
        EndReason::Interrupted,
    ] {
        assert!(words.iter().any(|word| word.starts_with(&format!("END {reason:?}"))), "{reason:?}");
    }
}
