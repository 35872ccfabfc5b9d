//! The fallback model takes over, before a word was said and in mid-stream.

use crate::fifo::Fifo;
use serde_json::json;
use tests::{Client, Daemon, ModelServer, Reply, assert_order};

fn daemon(model: &ModelServer) -> Daemon {
    let settings = json!({"permissions": {"allow": ["Bash"]}, "fallbackModel": "test/other", "limits": {"retries": 10, "killGraceMs": 500}});
    Daemon::builder().model(model).settings(&settings).start()
}

const OVERLOADED: &str =
    "event: error\ndata: {\"type\":\"error\",\"error\":{\"type\":\"overloaded_error\",\"message\":\"Overloaded\"}}\n\n";

/// Rows F01, F03, F04, F06: in mid-stream, with one tool running: the message is a tombstone, its call is stopped, the other
/// model is asked without a trace of either, and goes on with calls of its own.
#[test]
fn in_mid_stream_with_a_tool_running() {
    let model = ModelServer::start();
    let daemon = daemon(&model);
    let pipe = Fifo::new(&daemon.workspace(), "p");
    let first = Reply::new().text("let me").tool("t1", "Bash", &json!({"command": "cat p; touch void"})).gate("g");
    model.reply(first.raw(OVERLOADED).without_end());
    model.reply(Reply::calls("t2", "Bash", &json!({"command": "touch made"})));
    model.reply(Reply::says("done"));
    let client = Client::connect(&daemon);
    let session = client.session(&daemon.workspace());
    client.prompt(&session, "go");
    let mut events = client.events_until("tool.started");
    model.wait_at("g");
    model.open("g");
    events.extend(client.events_until("turn.ended"));
    assert_order(&events, &["message.tombstoned", "model.switched", "turn.continued(model_fallback)"]);
    assert_order(&events, &["tool.started(t1)", "tool.ended(t1 cancelled)", "turn.ended(completed)"]);
    let ends = events.iter().filter(|event| event.kind == "tool.ended").count();
    assert_eq!(ends, 2, "each call has one end");
    let retry = model.wait_for_request(2);
    assert_eq!(retry.body["model"], "other");
    assert_eq!(retry.messages().len(), 1, "{:?}", retry.messages());
    assert_eq!(retry.last_user_text(), "go");
    assert!(daemon.workspace().join("made").exists() && !daemon.workspace().join("void").exists());
    let answers = events.iter().filter(|event| event.kind == "message.completed");
    assert!(answers.clone().all(|answer| answer.text("model") == "test/other"), "{events:?}");
    assert_eq!(answers.count(), 2);
    let results = model.wait_for_request(3).tool_results();
    assert_eq!(results.len(), 1, "{results:?}");
    drop(pipe);
}

/// Row F06: the attempts are bounded: when the other model is overloaded too, the turn ends.
#[test]
fn both_are_overloaded() {
    let model = ModelServer::start();
    let settings = json!({"fallbackModel": "test/other", "limits": {"retries": 1}});
    let daemon = Daemon::builder().model(&model).settings(&settings).start();
    for _ in 0..4 {
        model.reply(Reply::error(529, "overloaded_error", "Overloaded"));
    }
    let client = Client::connect(&daemon);
    let session = client.session(&daemon.workspace());
    let events = client.run(&session, "go");
    assert_order(&events, &["turn.continued(model_fallback)", "turn.ended(model_error)"]);
    assert_eq!(events.iter().filter(|event| event.kind == "model.switched").count(), 1);
    assert_eq!(events.last().unwrap().body["error"]["kind"], "overloaded");
    let asked = model.requests();
    let asked: Vec<&str> = asked.iter().filter_map(|request| request.body["model"].as_str()).collect();
    assert_eq!(asked, ["m1", "m1", "other", "other"]);
}

/// The first model is tried a few times, then the other one; the next turn begins with the first again.
#[test]
fn before_a_word_was_said() {
    let model = ModelServer::start();
    let daemon = daemon(&model);
    model.answer_with(|request| match request.body["model"].as_str() {
        Some("other") => Reply::says("here"),
        _ => Reply::error(529, "overloaded_error", "Overloaded"),
    });
    let client = Client::connect(&daemon);
    let session = client.session(&daemon.workspace());
    let events = client.run(&session, "go");
    assert_order(
        &events,
        &["notice", "notice", "model.switched", "turn.continued(model_fallback)", "turn.ended(completed)"],
    );
    assert_eq!(model.requests().len(), 4);
    let again = client.run(&session, "again");
    assert_order(&again, &["model.switched", "turn.ended(completed)"]);
}

/// A fallback that can't be used is told of, and the turn goes on without it.
#[test]
fn a_fallback_without_a_key_is_told_of() {
    let model = ModelServer::start();
    let daemon = Daemon::builder().model(&model).settings(&json!({"fallbackModel": "nobody/knows"})).start();
    model.reply(Reply::says("hi"));
    model.reply(Reply::says("hi"));
    let client = Client::connect(&daemon);
    let session = client.session(&daemon.workspace());
    assert_order(&client.run(&session, "go"), &["notice", "turn.ended(completed)"]);
    assert!(!client.run(&session, "go").iter().any(|event| event.kind == "notice"), "once is enough");
}

/// After a restart a turn that waits for a person goes on with the model that took over, not with the one that it left.
#[test]
fn it_stays_over_a_restart() {
    let model = ModelServer::start();
    let settings = json!({"fallbackModel": "test/other"});
    let mut daemon = Daemon::builder().model(&model).settings(&settings).start();
    model.answer_with(|request| match request.body["model"].as_str() {
        Some("other") if request.messages().len() == 1 => Reply::calls("t1", "Bash", &json!({"command": "touch made"})),
        Some("other") => Reply::says("done"),
        _ => Reply::error(529, "overloaded_error", "Overloaded"),
    });
    let client = Client::connect(&daemon);
    let session = client.session(&daemon.workspace());
    client.prompt(&session, "go");
    let request = client.events_until("permission.requested").pop().unwrap().text("requestId").to_owned();
    client.leave();
    daemon.kill9();
    let before = model.requests().len();
    daemon.start_again();
    let client = Client::connect(&daemon);
    client.attach(&session, 0);
    client.call_ok("permission/respond", &json!({"requestId": request, "decision": "allow"}));
    let events = client.events_until("turn.ended");
    assert_order(&events, &["tool.ended(t1 completed)", "turn.ended(completed)"]);
    let later: Vec<_> =
        model.requests().into_iter().skip(before).map(|request| request.body["model"].clone()).collect();
    assert_eq!(later, [json!("other")]);
}
