//! Stages B and F: what hooks see, and what becomes of what they say.

use super::*;
use crate::session::hooks::{AfterTool, BeforeTool, CallView, HookDecision, ResultView};

/// Hooks that say what they are told to, and note what they saw.
#[derive(Clone, Default)]
struct Script {
    trace: Trace,
    before: BeforeTool,
    after: AfterTool,
    panics: bool,
}

impl Hooks for Script {
    fn before_tool<'a>(&'a self, call: CallView<'a>) -> BoxFuture<'a, BeforeTool> {
        self.trace.add(format!("before {}", call.input));
        assert!(!self.panics, "as it was told");
        Box::pin(async { self.before.clone() })
    }

    fn after_tool<'a>(&'a self, _call: CallView<'a>, result: ResultView<'a>) -> BoxFuture<'a, AfterTool> {
        self.trace.add(format!("after {} {}", plain_text(result.content), result.is_error));
        Box::pin(async { self.after.clone() })
    }
}

fn bench(tool: StandIn, script: impl FnOnce(&mut Script)) -> Bench {
    let mut bench = Bench::new(tool);
    let mut hooks = Script { trace: bench.tool.trace.clone(), ..Script::default() };
    script(&mut hooks);
    bench.hooks = Arc::new(hooks);
    bench
}

fn echo() -> StandIn {
    StandIn::works(|input, context| Box::pin(async move { said(&format!("{input} {}", context.user_modified)) }))
}

/// Rows H01, X14: validation, hooks, permission, call, hooks, and only then the mapping (contradictions C8, C12).
#[tokio::test]
async fn the_order_of_the_stages() {
    let output = ToolOutput { data: Some(json!("own")), ..said("own") };
    let bench = bench(StandIn::gives(output), |hooks| hooks.after.data = Some(json!("other")));
    let told = bench.run(input("x")).await;
    let x = r#"{"text":"x"}"#;
    let order = ["validate", "before", "permission", "call", "after own false", "map"];
    let expected: Vec<String> = order
        .map(|word| if ["before", "permission", "call"].contains(&word) { format!("{word} {x}") } else { word.into() })
        .into();
    assert_eq!(bench.trace(), expected);
    assert_eq!(told.text, "mapped \"other\"");
}

/// Rows X06, X07, T16: hooks and permission see the derived path; the tool gets the model's own, the hook's
/// change, and the model's own path again where the hook only repeats the derived one.
#[tokio::test]
async fn the_three_cases_of_an_observable_input() {
    let model = json!({"text": "x", "file_path": "a"});
    let seen = json!({"text": "x", "file_path": "/project/a"});
    for (written, runs, modified) in [
        (None, model.clone(), false),
        (Some(json!({"text": "x", "file_path": "b"})), json!({"text": "x", "file_path": "b"}), true),
        (Some(json!({"text": "y", "file_path": "/project/a"})), json!({"text": "y", "file_path": "a"}), true),
        (Some(seen.clone()), model.clone(), false),
    ] {
        let bench = bench(echo(), |hooks| hooks.before.updated_input = written);
        let told = bench.run(model.clone()).await;
        assert_eq!(told.text, format!("{runs} {modified}"));
        assert_eq!(told.started[0].0, runs);
        let trace = bench.trace();
        assert!(trace.contains(&format!("before {seen}")), "{trace:?}");
        let mut judged = runs.clone();
        judged["file_path"] = Value::from(format!("/project/{}", runs["file_path"].as_str().unwrap()));
        assert!(trace.contains(&format!("permission {judged}")), "{trace:?}");
    }
}

/// A person is shown the derived path, and an answer that repeats it changes nothing.
#[tokio::test]
async fn people_see_what_hooks_see() {
    let mut bench = Bench::new(echo().asks());
    let seen = json!({"text": "x", "file_path": "/project/a"});
    bench.answer = Some(Answer::Allow { updated_input: Some(seen.clone()), reason: by_person() });
    let told = bench.run(json!({"text": "x", "file_path": "a"})).await;
    assert_eq!((&told.asked[0].input, &told.asked[0].title), (&seen, &format!("StandIn {seen}")));
    assert_eq!(told.text, r#"{"text":"x","file_path":"a"} false"#);
}

/// Rows H02, H08: a hook changes the input, decides, adds context and messages, and stops what comes after.
#[tokio::test]
async fn each_thing_that_a_hook_may_say_before() {
    let changed = bench(echo(), |hooks| hooks.before.updated_input = Some(input("y")));
    assert_eq!(changed.run(input("x")).await.text, r#"{"text":"y"} true"#);

    let bad = bench(echo(), |hooks| hooks.before.updated_input = Some(json!({})));
    let told = bad.run(input("x")).await;
    assert!(told.text.contains("(the input was changed by a hook)") && told.started.is_empty(), "{}", told.text);

    let denied = bench(echo(), |hooks| hooks.before.decision = Some(HookDecision::Deny { reason: "not now".into() }));
    let told = denied.run(input("x")).await;
    assert_eq!((told.outcome.status, told.started.len()), (ToolStatus::Denied, 0));
    assert_eq!(told.text, "Not allowed by a hook: not now. Nothing was run.");

    let more = bench(echo(), |hooks| {
        hooks.before.additional_context = vec!["it is late".into()];
        hooks.before.messages = vec![ContentBlock::text("a message")];
        hooks.before.prevent_continuation = true;
        hooks.before.stop_reason = Some("enough".into());
    });
    let told = more.run(input("x")).await;
    let messages = plain_text(&told.outcome.details.new_messages);
    assert_eq!(messages, "a message\nA hook on StandIn says: it is late");
    assert_eq!((told.outcome.hook_stop.as_deref(), told.outcome.is_error), (Some("enough"), false), "the call runs");
}

/// Row H11: a stop ends the call without running it, with its one result.
#[tokio::test]
async fn a_stop_ends_the_call() {
    let bench = bench(echo(), |hooks| hooks.before.stop = Some("stopped by the hook".into()));
    let told = bench.run(input("x")).await;
    assert_eq!((told.text.as_str(), told.outcome.is_error, told.started.len()), ("stopped by the hook", true, 0));
    assert!(!bench.trace().iter().any(|what| what.starts_with("permission") || what.starts_with("call")));
}

/// Row P17: a hook's allow removes the question, but neither a deny nor an ask rule nor a safety check
/// (contradiction C6); its ask asks though nothing else would.
#[tokio::test]
async fn a_hook_s_decision_is_weighed() {
    let allows = |hooks: &mut Script| hooks.before.decision = Some(HookDecision::Allow { reason: "fine".into() });
    let told = bench(echo().asks(), allows).run(input("x")).await;
    assert!(told.asked.is_empty());
    assert_eq!((told.started[0].1.kind, told.outcome.status), (ReasonType::Hook, ToolStatus::Completed));

    let mut denied = bench(echo().asks(), allows);
    denied.policy.rules = Rules { deny: rules(&["StandIn"]), ..Rules::default() }.into();
    assert_eq!(denied.run(input("x")).await.outcome.status, ToolStatus::Denied);

    let unsafe_tool = StandIn { verdict: ToolVerdict::Safety { detail: "protected".into() }, ..echo() };
    let mut ruled = bench(echo().asks(), allows);
    ruled.policy.rules = Rules { ask: rules(&["StandIn"]), ..Rules::default() }.into();
    for (mut bench, kind) in [(bench(unsafe_tool, allows), ReasonType::SafetyCheck), (ruled, ReasonType::Rule)] {
        bench.answer = Some(Answer::Deny {
            text: "The person did not allow this call. Nothing was run.".into(),
            content: Vec::new(),
            stops_turn: true,
        });
        let told = bench.run(input("x")).await;
        assert_eq!((told.asked[0].reason.kind, told.outcome.status), (kind, ToolStatus::Denied));
    }

    let asks = |hooks: &mut Script| hooks.before.decision = Some(HookDecision::Ask { reason: "look".into() });
    let mut asked = bench(echo(), asks);
    asked.answer = Some(Answer::Allow { updated_input: None, reason: by_person() });
    assert_eq!(asked.run(input("x")).await.asked[0].reason.kind, ReasonType::Hook);
}

/// Row P20: where a hook ends the turn without a word, there is a generic one.
#[tokio::test]
async fn a_stop_without_a_word_has_a_generic_one() {
    let before = bench(echo(), |hooks| hooks.before.prevent_continuation = true);
    assert_eq!(before.run(input("x")).await.outcome.hook_stop.unwrap(), "Execution stopped by PreToolUse hook");
    let after = bench(echo(), |hooks| hooks.after.prevent_continuation = true);
    assert_eq!(after.run(input("x")).await.outcome.hook_stop.unwrap(), "Execution stopped by PostToolUse hook");
    let denied = bench(echo(), |hooks| {
        hooks.before.prevent_continuation = true;
        hooks.before.decision = Some(HookDecision::Deny { reason: "no".into() });
    });
    assert!(denied.run(input("x")).await.outcome.hook_stop.is_some(), "of a call that did not run too");
    let stopped = bench(echo(), |hooks| {
        hooks.before.prevent_continuation = true;
        hooks.before.stop = Some("not this one".into());
    });
    assert!(stopped.run(input("x")).await.outcome.hook_stop.is_some(), "nor one that a hook stops");
}

/// Row H10: a replaced result is mapped anew and is what the model gets, within the tool's limit; context follows
/// the tool's own messages.
#[tokio::test]
async fn a_hook_may_replace_the_result() {
    let own = ToolOutput { new_messages: vec![ContentBlock::text("from the tool")], ..said("own") };
    let bench = bench(StandIn::gives(own), |hooks| {
        hooks.before.additional_context = vec!["before".into()];
        hooks.after.data = Some(json!("z".repeat(200)));
        hooks.after.additional_context = vec!["after".into()];
    });
    let told = bench.run(input("x")).await;
    let path = told.outcome.persisted_path.unwrap();
    assert_eq!(std::fs::read_to_string(path).unwrap(), format!("mapped \"{}\"", "z".repeat(200)));
    let messages = plain_text(&told.outcome.details.new_messages);
    assert_eq!(messages, "A hook on StandIn says: before\nfrom the tool\nA hook on StandIn says: after");
}

/// A hook that breaks stops a call that has not run.
#[tokio::test]
async fn a_hook_that_panics_stops_the_call() {
    let told = bench(echo(), |hooks| hooks.panics = true).run(input("x")).await;
    assert!(told.text.contains("StandIn was not run: a hook failed"), "{}", told.text);
    assert_eq!((told.outcome.status, told.started.len()), (ToolStatus::Failed, 0));
}
