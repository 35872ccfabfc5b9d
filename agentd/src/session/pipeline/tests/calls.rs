//! Stages A, C and D: what is refused, what is asked, what becomes of a tool that fails.

use super::*;
use proto::event::ProgressStream;
use proto::session::Mode;

fn error_of(text: &str) -> &str {
    let inner = text.strip_prefix("<tool_use_error>").and_then(|text| text.strip_suffix("</tool_use_error>"));
    inner.unwrap_or_else(|| panic!("no tool_use_error: {text}"))
}

/// Row X02: an unknown tool is named, with those that there are and the one that is nearly it.
#[tokio::test]
async fn an_unknown_tool_is_named() {
    let told = Bench::new(StandIn::gives(said("x"))).call("c1", "Standin2", input("x")).await;
    assert_eq!(error_of(&told.text), "No such tool: Standin2. Did you mean StandIn? The tools are: StandIn");
    assert_eq!((told.outcome.status, told.outcome.is_error), (ToolStatus::Failed, true));
    assert!(!told.outcome.summary.contains('<'), "people need no tags: {}", told.outcome.summary);
    assert!(told.started.is_empty());
}

/// Rows X03, X05: the error names the tool, the field and what is expected; a tool's own check counts too.
#[tokio::test]
async fn a_bad_input_is_refused_with_its_field() {
    let bench = Bench::new(StandIn::gives(said("x")));
    let told = bench.run(json!({})).await;
    let error = "InputValidationError: StandIn: the field `text` must be a string, not null";
    assert_eq!(error_of(&told.text), error);
    let told = bench.run(input("refused")).await;
    assert_eq!(error_of(&told.text), "InputValidationError: StandIn: the text is refused");
    assert!(told.started.is_empty());
    assert_eq!(bench.trace(), ["validate", "validate"], "neither permission nor call");
}

/// Row X01: input that is no JSON object is an error that says what is wrong with it; it is not guessed at.
#[tokio::test]
async fn broken_json_is_an_error() {
    let bench = Bench::new(StandIn::gives(said("x")));
    for (raw, problem) in [
        (json!("{\"text\": \"x"), "the input is not valid JSON (EOF while parsing a string at line 1 column 11)"),
        (json!("[1]"), "the input must be a JSON object, not [1]"),
        (json!([1]), "the input must be a JSON object"),
    ] {
        let told = bench.run(raw).await;
        assert!(error_of(&told.text).contains(problem), "{}", told.text);
    }
    assert_eq!(bench.trace(), Vec::<String>::new());
}

/// Row X04: the hint at ToolSearch comes with a tool that the model can't know yet, and only then.
#[tokio::test]
async fn a_deferred_tool_hints_at_the_search() {
    let bench = Bench::new(StandIn::gives(said("x")));
    assert!(!bench.run(json!({})).await.text.contains("ToolSearch"));
    let bench = Bench::new(StandIn { defers: true, ..StandIn::gives(said("x")) });
    let told = bench.run(json!({})).await;
    assert!(told.text.contains("call ToolSearch with the query \"select:StandIn\""), "{}", told.text);
    assert_eq!(bench.run(input("x")).await.text, "x", "a good input needs no hint");
}

/// Row X09: a panic of a tool is its error, wherever it happens, and the call ends.
#[tokio::test]
async fn a_panic_is_caught() {
    let bench = Bench::new(StandIn::works(|_, _| panic!("as it was told")));
    let told = bench.run(input("x")).await;
    assert_eq!(error_of(&told.text), "StandIn failed by a fault of agentd itself; its log tells more");
    assert_eq!((told.outcome.status, told.started.len()), (ToolStatus::Failed, 1));
    let told = bench.run(input("panic")).await;
    assert!(error_of(&told.text).starts_with("StandIn could not be checked"), "{}", told.text);
    assert!(told.started.is_empty());
}

/// Row T07: validation stops a call before the tool's permission check, and that before the call.
#[tokio::test]
async fn each_check_can_stop_the_call() {
    let denies = StandIn { verdict: ToolVerdict::Deny { detail: "never".into() }, ..StandIn::gives(said("x")) };
    let bench = Bench::new(denies);
    bench.run(input("refused")).await;
    assert_eq!(bench.trace(), ["validate"]);
    let told = bench.run(input("x")).await;
    assert_eq!((told.outcome.status, told.text.as_str()), (ToolStatus::Denied, "Not allowed: never. Nothing was run."));
    assert_eq!(bench.trace(), ["validate", r#"permission {"text":"x"}"#]);
}

/// Row T14: a tool that needs a person is asked about in bypass too, though nothing speaks against it.
#[tokio::test]
async fn a_tool_that_needs_a_person_asks_in_bypass() {
    let stand_in = || StandIn::gives(said("x"));
    let mut bench = Bench::new(stand_in());
    bench.policy.mode = Mode::BypassPermissions;
    assert!(bench.run(input("x")).await.asked.is_empty());
    let mut bench = Bench::new(StandIn { needs_person: true, ..stand_in() });
    bench.policy.mode = Mode::BypassPermissions;
    bench.policy.session = rules(&["StandIn"]);
    bench.answer = Some(Answer::Allow { updated_input: None, reason: by_person() });
    let told = bench.run(input("x")).await;
    assert_eq!((told.asked.len(), told.text.as_str()), (1, "x"));
}

/// Row T02: a call by an alias is judged by the tool's own name.
#[tokio::test]
async fn an_alias_is_the_tool() {
    let mut bench = Bench::new(StandIn::gives(said("x")));
    assert_eq!(bench.call("c1", "OldName", input("x")).await.text, "x");
    bench.policy.rules = Rules { deny: rules(&["StandIn"]), ..Rules::default() }.into();
    assert_eq!(bench.call("c1", "OldName", input("x")).await.outcome.status, ToolStatus::Denied);
}

/// Row X08: the tool learns whether its input is the model's own, and which call it is.
#[tokio::test]
async fn the_tool_knows_whose_input_it_has() {
    let works = |input: Value, context: ToolContext| -> BoxFuture<'static, ToolOutput> {
        Box::pin(async move { said(&format!("{} {} {input}", context.tool_call_id, context.user_modified)) })
    };
    let mut bench = Bench::new(StandIn::works(works).asks());
    bench.answer = Some(Answer::Allow { updated_input: None, reason: by_person() });
    assert_eq!(bench.run(input("x")).await.text, r#"c1 false {"text":"x"}"#);
    bench.answer = Some(Answer::Allow { updated_input: Some(input("y")), reason: by_person() });
    let told = bench.run(input("x")).await;
    assert_eq!(told.text, r#"c1 true {"text":"y"}"#);
    assert_eq!(told.started[0].0, input("y"));
}

/// The model is told what ran where a person changed its input, and nothing where it ran as it was asked for.
#[tokio::test]
async fn the_model_is_told_what_a_person_changed() {
    let mut bench = Bench::new(StandIn::gives(said("done")).asks());
    for (written, told_of) in [
        (None, ""),
        (Some(input("x")), ""),
        (Some(input("y")), r#"The person changed the input of this call of StandIn. It ran with: {"text":"y"}"#),
    ] {
        bench.answer = Some(Answer::Allow { updated_input: written, reason: by_person() });
        let told = bench.run(input("x")).await;
        assert_eq!(plain_text(&told.outcome.details.new_messages), told_of);
        assert_eq!(told.text, "done");
    }
    bench.answer = Some(Answer::Allow { updated_input: Some(input(&"y".repeat(5000))), reason: by_person() });
    let told = plain_text(&bench.run(input("x")).await.outcome.details.new_messages);
    assert!(told.chars().count() < 2200 && told.ends_with('…'), "{told}");
}

/// What a person writes is validated as the model's is, and a deny rule holds against it.
#[tokio::test]
async fn a_person_s_input_is_checked() {
    let mut bench = Bench::new(StandIn::gives(said("x")).asks());
    bench.answer = Some(Answer::Allow { updated_input: Some(json!({})), reason: by_person() });
    let told = bench.run(input("x")).await;
    let error = "InputValidationError: StandIn: the field `text` must be a string, not null (the input was changed by \
                 the person)";
    assert_eq!(error_of(&told.text), error);
    assert!(told.started.is_empty());
}

/// Row I05: a no without a word ends the turn, one with a word does not.
#[tokio::test]
async fn a_no_may_end_the_turn() {
    let mut bench = Bench::new(StandIn::gives(said("x")).asks());
    bench.answer = Some(Answer::Deny {
        text: "The person did not allow this call. Nothing was run.".into(),
        content: Vec::new(),
        stops_turn: true,
    });
    let told = bench.run(input("x")).await;
    assert_eq!((told.outcome.status, told.outcome.stops_turn), (ToolStatus::Denied, true));
    bench.answer = Some(Answer::Deny {
        text: "The person did not allow this call: use y".into(),
        content: Vec::new(),
        stops_turn: false,
    });
    let told = bench.run(input("x")).await;
    assert!(told.text.ends_with("use y") && !told.outcome.stops_turn, "{}", told.text);
}

/// Row X15: progress comes before the result, none after it, and an error is told once.
#[tokio::test]
async fn progress_ends_with_the_result() {
    let late: Arc<Mutex<Option<ToolContext>>> = Arc::default();
    let keep = Arc::clone(&late);
    let part = |text: &str| Progress { stream: ProgressStream::Stdout, offset: 0, text: text.into(), total_bytes: 1 };
    let bench = Bench::new(StandIn::works(move |_, context| {
        (context.progress)(part("early"));
        *keep.lock().unwrap() = Some(context);
        Box::pin(async { ToolOutput::error("broken") })
    }));
    let told = bench.run(input("x")).await;
    let context = late.lock().unwrap().take().unwrap();
    (context.progress)(part("late"));
    assert_eq!(bench.trace().last().unwrap(), "progress early");
    assert_eq!((told.text.as_str(), told.outcome.is_error), ("broken", true));
}

/// A call that was stopped before it ran does not run; one that does not stop is left behind.
#[tokio::test(start_paused = true)]
async fn a_stopped_call_ends() {
    let bench = Bench::new(StandIn::works(|_, context| {
        context.cancel.cancel();
        Box::pin(std::future::pending())
    }));
    let told = bench.run(input("x")).await;
    assert_eq!(told.text, "The call did not stop in time. It may still go on.");
    let told = bench.run(input("x")).await;
    assert_eq!((told.outcome.status, told.started.len()), (ToolStatus::Cancelled, 0));
}
