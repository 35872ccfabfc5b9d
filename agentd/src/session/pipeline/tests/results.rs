//! Stage E: limits, budgets, and everything that a result carries.

use super::*;
use crate::event::{ContextChange, Message, Transcript, UserBlock};
use proto::content::MessageBlock;
use proto::event::{Event, Role};
use proto::session::Usage;
use std::os::unix::fs::PermissionsExt as _;

/// Rows T10, X12, G01, G02, G03: exactly at the limit a result is inline, one character more and it is in a
/// private file of the session, whatever the tool.
#[tokio::test]
async fn a_result_over_the_tool_s_limit_goes_to_a_file() {
    let inline = Bench::new(StandIn::gives(said(&"é".repeat(100)))).run(input("x")).await;
    assert_eq!((inline.outcome.persisted_path, inline.text), (None, "é".repeat(100)));

    let bench = Bench::new(StandIn::gives(said(&"é".repeat(101))));
    let told = bench.call("toolu_1", "StandIn", input("x")).await;
    let path = bench.outputs().join("toolu_1.txt");
    assert_eq!(told.outcome.persisted_path.as_deref(), path.to_str());
    assert_eq!(std::fs::read_to_string(&path).unwrap(), "é".repeat(101));
    assert_eq!(std::fs::metadata(&path).unwrap().permissions().mode() & 0o777, 0o600);
    assert!(told.text.contains(path.to_str().unwrap()) && told.text.ends_with(&"é".repeat(100)), "{}", told.text);
    assert_eq!(told.outcome.details.result_bytes, Some(202));
}

#[tokio::test]
async fn a_large_failure_shows_both_ends() {
    let error = ToolOutput::error(format!("BEGIN{}END", "x".repeat(500)));
    let told = Bench::new(StandIn::gives(error)).run(input("x")).await;
    assert!(told.text.starts_with("BEGIN") && told.text.ends_with("END") && told.outcome.is_error, "{}", told.text);
    assert!(told.outcome.persisted_path.is_some());
}

#[tokio::test]
async fn a_tool_that_keeps_its_own_file_is_left_alone() {
    let file = tempfile::NamedTempFile::new().unwrap();
    std::fs::write(file.path(), "w".repeat(5_000)).unwrap();
    let output = ToolOutput { persisted_path: Some(file.path().to_owned()), ..said(&"x".repeat(150)) };
    let bench = Bench::new(StandIn::gives(output));
    let told = bench.run(input("x")).await;
    assert_eq!((told.text, told.outcome.persisted_path.as_deref()), ("x".repeat(150), file.path().to_str()));
    assert_eq!(told.outcome.details.result_bytes, Some(5_000), "the size is that of the whole");
    assert!(!bench.outputs().exists());
}

/// Rows T04, X10: data, new messages, the context change and what an MCP server sends along are each passed on,
/// with the size of the result and the extension of its file.
#[tokio::test]
async fn everything_that_a_tool_gives_is_used() {
    let output = ToolOutput {
        data: Some(json!({"lines": 3})),
        new_messages: vec![ContentBlock::text("look here")],
        context: Some(ContextChange { shell_cwd: Some("/elsewhere".into()), ..Default::default() }),
        mcp_meta: Some(json!({"server": "s"})),
        ..said("three")
    };
    let told = Bench::new(StandIn::gives(output)).run(json!({"text": "x", "file_path": "src/Main.RS"})).await;
    let details = told.outcome.details;
    assert_eq!(plain_text(&details.new_messages), "look here");
    assert_eq!(details.mcp_meta, Some(json!({"server": "s"})));
    assert_eq!((details.result_bytes, details.file_extension.as_deref()), (Some(5), Some("rs")));
    assert_eq!(told.outcome.context.unwrap().shell_cwd.as_deref(), Some("/elsewhere"));
}

/// A round of calls with results of these sizes that end in this order, folded as the log is.
async fn round(limit: usize, sizes: &[(&str, usize)]) -> (Vec<ToolOutcome>, Vec<(String, String)>) {
    let tool = StandIn::works(|input, _| Box::pin(async move { said(input["text"].as_str().unwrap()) }));
    let mut bench = Bench::new(StandIn { limit: usize::MAX, ..tool });
    bench.round = Arc::new(Round::new(limit));
    let mut ids: Vec<&str> = sizes.iter().map(|(id, _)| *id).collect();
    ids.sort_unstable();
    let mut events = vec![calls(&ids)];
    let mut outcomes = Vec::new();
    for (id, chars) in sizes {
        let outcome = bench.call(id, "StandIn", input(&id.repeat(*chars))).await.outcome;
        events.push(ended(id, outcome.clone()));
        outcomes.push(outcome);
    }
    (outcomes, told(&events))
}

/// What the model is told of the results, folded from the log.
fn told(events: &[Event]) -> Vec<(String, String)> {
    let mut transcript = Transcript::default();
    events.iter().for_each(|event| transcript.apply(event));
    let messages = transcript.messages();
    let Some(Message::User(blocks)) = messages.last().map(|entry| &**entry) else { panic!("the results are a user's") };
    let told = blocks.iter().map(|block| match block {
        UserBlock::ToolResult { tool_use_id, content, .. } => (tool_use_id.clone(), plain_text(content)),
        UserBlock::Content(_) => panic!("only results"),
    });
    told.collect()
}

fn calls(ids: &[&str]) -> Event {
    let call = |id: &&str| MessageBlock::ToolUse { id: (*id).to_owned(), name: "StandIn".into(), input: json!({}) };
    Event::MessageCompleted {
        message_id: "m".into(),
        turn_id: "turn".into(),
        role: Role::Assistant,
        content: ids.iter().map(call).collect(),
        model: "test/m".into(),
        stop_reason: "tool_use".into(),
        usage: Usage::default(),
        cost: None,
    }
}

fn ended(id: &str, outcome: ToolOutcome) -> Event {
    Event::ToolEnded {
        tool_call_id: id.into(),
        status: outcome.status,
        is_error: outcome.is_error,
        content: outcome.content,
        summary: outcome.summary,
        persisted_path: outcome.persisted_path,
        duration_ms: outcome.duration_ms,
        cause: outcome.cause,
        details: outcome.details,
    }
}

/// Rows X13, T17: three results over the budget of a round: the biggest is the one that goes to a file,
/// whichever ended last, and each result stays that of its call.
#[tokio::test]
async fn the_biggest_of_a_round_goes() {
    for order in [["a", "b", "c"], ["c", "b", "a"], ["b", "c", "a"]] {
        let sizes = order.map(|id| (id, if id == "b" { 5_000 } else { 4_000 }));
        let (outcomes, told) = round(10_000, &sizes).await;
        assert_eq!(
            (told[0].clone(), told[2].clone()),
            (("a".into(), "a".repeat(4_000)), ("c".into(), "c".repeat(4_000)))
        );
        let (id, text) = &told[1];
        assert!(id == "b" && text.ends_with(&format!("\n{}", "b".repeat(1_000))), "{text}");
        let total: usize = told.iter().map(|(_, text)| text.len()).sum();
        assert!(total <= 10_000, "{total}");
        let own = outcomes.iter().filter_map(|outcome| outcome.persisted_path.clone());
        let moved = outcomes.iter().flat_map(|outcome| &outcome.details.persisted_results);
        let paths: Vec<String> = own.chain(moved.filter_map(|result| result.persisted_path.clone())).collect();
        assert_eq!(paths.len(), 1, "{paths:?}");
        assert!(text.contains(&paths[0]));
    }
}

#[tokio::test]
async fn a_round_within_its_budget_stays_as_it_is() {
    let (outcomes, _) = round(8_000, &[("a", 4_000), ("b", 4_000)]).await;
    assert!(outcomes.iter().all(|outcome| outcome.persisted_path.is_none()));
    assert!(outcomes.iter().all(|outcome| outcome.details.persisted_results.is_empty()));
}

/// After a restart the results that the log has count too.
#[tokio::test]
async fn results_from_before_a_restart_count() {
    let mut bench = Bench::new(StandIn { limit: usize::MAX, ..StandIn::gives(said(&"n".repeat(3_000))) });
    let before = [ContentBlock::text("o".repeat(4_000))];
    bench.round = Arc::new(Round::new(5_000).with("old".into(), &before, true));
    let outcome = bench.call("new", "StandIn", input("x")).await.outcome;
    let [moved] = outcome.details.persisted_results.as_slice() else { panic!("{outcome:?}") };
    assert_eq!((moved.tool_call_id.as_str(), outcome.persisted_path), ("old", None));
    let text = plain_text(&moved.content);
    assert!(text.starts_with("ooo") && text.ends_with("ooo") && text.contains("the middle is left out"), "{text}");
}

/// A picture counts for nothing in the budget, and stays beside the note.
#[tokio::test]
async fn pictures_are_not_text() {
    let picture = ContentBlock::Image { media_type: "image/png".into(), data: "A".repeat(300_000) };
    let output = ToolOutput { content: vec![picture.clone(), ContentBlock::text("t".repeat(101))], ..said("") };
    let outcome = Bench::new(StandIn::gives(output)).run(input("x")).await.outcome;
    assert_eq!(outcome.content.len(), 2);
    assert_eq!(outcome.content[1], picture);
    assert!(outcome.persisted_path.is_some(), "for the text");
    let output = ToolOutput { content: vec![picture.clone()], ..said("") };
    let outcome = Bench::new(StandIn::gives(output)).run(input("x")).await.outcome;
    assert_eq!((outcome.content, outcome.persisted_path), (vec![picture], None));
}

/// Results that end at the same time, one of them of a call that was stopped: each call has one result, the log's
/// order is the order in which they were weighed, and together they are within the budget.
#[tokio::test]
async fn a_round_that_ends_at_once_is_within_its_budget() {
    let tool = StandIn::works(|input, context| {
        Box::pin(async move {
            let cause = (context.tool_call_id.as_str() == "c").then_some(ToolCause::UserAbort);
            ToolOutput { cause, is_error: cause.is_some(), ..said(input["text"].as_str().unwrap()) }
        })
    });
    let mut bench = Bench::new(StandIn { limit: usize::MAX, ..tool });
    bench.round = Arc::new(Round::new(12_000));
    let ids = ["a", "b", "c", "d", "e"];
    let (messages, mut inbox) = mpsc::channel(1);
    for (at, id) in ids.iter().enumerate() {
        let job = bench.job(id, "StandIn", input(&id.repeat(3_000 + 1_000 * at)), messages.clone());
        tokio::spawn(crate::session::pipeline::run(job));
    }
    drop(messages);
    let mut events = vec![calls(&ids)];
    let mut known: Vec<ToolCallId> = Vec::new();
    while let Some(message) = inbox.recv().await {
        match message {
            ToolMessage::Started { go, .. } => drop(go.send(())),
            ToolMessage::Ended { id, outcome, .. } => {
                let moved = &outcome.details.persisted_results;
                assert!(moved.iter().all(|result| known.contains(&result.tool_call_id)), "{moved:?} {known:?}");
                known.push(id.clone());
                events.push(ended(id.as_str(), *outcome));
            }
            _ => panic!("nothing is asked"),
        }
    }
    let told = told(&events);
    assert_eq!(told.iter().map(|(id, _)| id.as_str()).collect::<Vec<_>>(), ids);
    let total: usize = told.iter().map(|(_, text)| text.len()).sum();
    assert!(total <= 12_000, "{total}");
    for (id, text) in &told[..2] {
        assert_eq!(text.trim_matches(id.chars().next().unwrap()), "", "the smallest stay whole");
    }
    assert!(told[2].1.contains("the middle is left out"), "a stopped call is a failure: {}", told[2].1);
}

/// A round whose pictures are too much together keeps those that fit, and says of the others that they were left out.
#[tokio::test]
async fn the_pictures_of_a_round_are_bounded() {
    let picture = || ContentBlock::Image { media_type: "image/png".into(), data: "A".repeat(6 << 20) };
    let tool = StandIn::works(move |_, _| {
        Box::pin(
            async move { ToolOutput { content: vec![picture()], new_messages: vec![picture()], ..said("a picture") } },
        )
    });
    let bench = Bench::new(tool);
    let mut kept = Vec::new();
    for id in ["a", "b"] {
        let outcome = bench.call(id, "StandIn", input("x")).await.outcome;
        for block in outcome.content.iter().chain(&outcome.details.new_messages) {
            kept.push(match block {
                ContentBlock::Text { text } => text.contains("left out: those of one round").then_some("told"),
                _ => Some("shown"),
            });
        }
    }
    assert_eq!(kept, [Some("shown"), Some("shown"), Some("told"), Some("told")]);
}
