//! Cancel means stopped: the stream, the tool, the whole process tree; and it may be said twice.

use crate::fifo::Fifo;
use serde_json::{Value, json};
use std::fs;
use tests::{Client, Daemon, ModelServer, Reply, assert_order, fake_program};

fn with_bash(model: &ModelServer) -> Daemon {
    Daemon::builder().model(model).settings(&json!({"permissions": {"allow": ["Bash"]}})).start()
}

fn cancel(client: &Client, session: &str) -> Value {
    client.call_ok("turn/cancel", &json!({"sessionId": session}))
}

#[test]
fn a_stream_is_closed_and_the_session_goes_on() {
    let model = ModelServer::start();
    let daemon = Daemon::with_model(&model);
    model.reply(Reply::new().text("I will never").gate("g"));
    let client = Client::connect(&daemon);
    let session = client.session(&daemon.workspace());
    let turn = client.prompt(&session, "go");
    model.wait_at("g");
    let result = cancel(&client, &session);
    assert_eq!(result, json!({"cancelled": [turn], "alreadyIdle": false}));
    model.wait_closed("g");
    assert_order(&client.events_until("turn.ended"), &["turn.ended(aborted_streaming)"]);
    assert_eq!(cancel(&client, &session), json!({"cancelled": [], "alreadyIdle": true}));
    model.reply(Reply::says("yes?"));
    assert_order(&client.run(&session, "hello?"), &["turn.ended(completed)"]);
}

/// Row I08: a cancel stops a command that an interrupt would wait for, with all that it started.
#[test]
fn a_process_tree_is_gone_when_the_answer_comes() {
    let model = ModelServer::start();
    let daemon = with_bash(&model);
    let pid_file = daemon.workspace().join("pid");
    let command = format!("{} {}; sleep 600 & sleep 600", fake_program("stubborn").display(), pid_file.display());
    model.reply(Reply::calls("t1", "Bash", &json!({"command": format!("{command}; echo never")})));
    let client = Client::connect(&daemon);
    let session = client.session(&daemon.workspace());
    client.prompt(&session, "go");
    client.events_until_all(&["message.completed", "tool.started"]);
    wait_for(&pid_file);
    let other = Client::connect(&daemon);
    other.attach(&session, 0);
    let result = cancel(&other, &session);
    assert_eq!(result["stillRunning"], Value::Null, "{result}");
    let left: Vec<String> = daemon.home().processes().iter().map(ToString::to_string).collect();
    assert_eq!(left.len(), 1, "only agentd is left: {left:?}");
    let expected = ["tool.ended(t1 cancelled)", "turn.ended(aborted_tools)"];
    assert_order(&client.events_until("turn.ended"), &expected);
    assert_order(&other.events_until("turn.ended"), &expected);
    // The model is told the truth.
    model.reply(Reply::says("I see"));
    client.run(&session, "what happened?");
    other.leave();
    let results = model.wait_for_request(2).messages()[2].clone();
    assert_eq!(results["content"][0]["is_error"], true, "{results}");
}

/// Row I11: of a cancelled batch the model is told what is done, what was cut and what never ran.
#[test]
fn finished_results_are_kept_and_the_rest_is_told_of() {
    let model = ModelServer::start();
    let daemon = with_bash(&model);
    let _held = Fifo::new(&daemon.workspace(), "p");
    fs::write(daemon.workspace().join("a"), "one").unwrap();
    let calls = Reply::new()
        .tool("t1", "Read", &json!({"file_path": "a"}))
        .tool("t2", "Bash", &json!({"command": "cat p > out"}))
        .tool("t3", "Bash", &json!({"command": "touch late"}));
    model.reply(calls);
    let client = Client::connect(&daemon);
    let session = client.session(&daemon.workspace());
    client.prompt(&session, "go");
    // All of the answer has to be there, and its second call has to run.
    let (mut whole, mut runs) = (false, false);
    client.events_while("until t2 runs", |event| {
        whole |= event.kind == "message.completed";
        runs |= event.kind == "tool.started" && event.text("toolCallId") == "t2";
        !(whole && runs)
    });
    cancel(&client, &session);
    client.events_until("turn.ended");
    model.reply(Reply::says("I see"));
    client.run(&session, "what happened?");
    let request = model.wait_for_request(2);
    let results = request.messages()[2]["content"].as_array().unwrap();
    let told = |at: usize| results[at]["content"][0]["text"].as_str().unwrap();
    let ids = results.iter().filter_map(|block| block["tool_use_id"].as_str());
    assert_eq!(ids.collect::<Vec<_>>(), ["t1", "t2", "t3"]);
    let errors = results[..3].iter().map(|result| &result["is_error"]);
    assert_eq!(errors.collect::<Vec<_>>(), [&Value::Null, &json!(true), &json!(true)]);
    assert!(told(0).contains("one"), "{results:?}");
    assert!(told(1).starts_with("Cancelled by the user."), "{results:?}");
    assert!(results[2].to_string().contains("Not run: the call was stopped before it started."), "{results:?}");
    assert!(!daemon.workspace().join("late").exists());
}

#[test]
fn a_held_open_output_does_not_hang_a_call() {
    let model = ModelServer::start();
    let daemon = with_bash(&model);
    let pid_file = daemon.workspace().join("pid");
    let command = format!("{} {}; echo done", fake_program("stubborn").display(), pid_file.display());
    model.reply(Reply::calls("t1", "Bash", &json!({"command": command}))).reply(Reply::says("done"));
    let client = Client::connect(&daemon);
    let session = client.session(&daemon.workspace());
    let events = client.run(&session, "go");
    assert_order(&events, &["tool.ended(t1 completed)", "turn.ended(completed)"]);
    assert!(model.wait_for_request(2).tool_results()[0].1.contains("done"));
    // A survivor of a call that ended well is the session's: closing the session ends it.
    client.call_ok("session/close", &json!({"sessionId": session}));
    client.expect_event("session.closed");
}

#[test]
fn a_queued_prompt_is_cancelled_alone_or_with_the_rest() {
    let model = ModelServer::start();
    let daemon = Daemon::with_model(&model);
    model.reply(Reply::new().text("working").gate("g"));
    let client = Client::connect(&daemon);
    let session = client.session(&daemon.workspace());
    let turns: Vec<String> = (0..3).map(|n| client.prompt(&session, &format!("prompt {n}"))).collect();
    model.wait_at("g");
    let one = client.call_ok("turn/cancel", &json!({"sessionId": session, "turnId": turns[1]}));
    assert_eq!(one["cancelled"], json!([turns[1]]));
    assert!(model.is_waiting_at("g"), "the running turn goes on");
    let rest = cancel(&client, &session);
    let mut cancelled: Vec<&str> = rest["cancelled"].as_array().unwrap().iter().filter_map(Value::as_str).collect();
    cancelled.sort_unstable();
    let mut expected = vec![turns[0].as_str(), turns[2].as_str()];
    expected.sort_unstable();
    assert_eq!(cancelled, expected);
    let unknown = client.call_err("turn/cancel", &json!({"sessionId": session, "turnId": "nope"}));
    assert_eq!(unknown.code, -32002);
    client.leave();
}

#[test]
fn a_turn_that_waits_for_a_person_can_be_cancelled() {
    let model = ModelServer::start();
    let daemon = Daemon::with_model(&model);
    model.reply(Reply::calls("t1", "Bash", &json!({"command": "touch a"})));
    let client = Client::connect(&daemon);
    let session = client.session(&daemon.workspace());
    client.prompt(&session, "go");
    let events = client.events_until_all(&["message.completed", "permission.requested"]);
    let request = events.iter().find(|event| event.kind == "permission.requested").unwrap();
    cancel(&client, &session);
    assert_order(&client.events_until("turn.ended"), &["tool.ended(t1 cancelled)", "turn.ended(aborted_tools)"]);
    let answer = json!({"requestId": request.text("requestId"), "decision": "allow"});
    assert!([-32010, -32011].contains(&client.call_err("permission/respond", &answer).code));
    assert!(!daemon.workspace().join("a").exists());
    assert_eq!(client.call_ok("permission/list", &json!({}))["requests"], json!([]));
}

/// Waits until a program of the test has written its file.
fn wait_for(path: &std::path::Path) {
    let end = std::time::Instant::now() + tests::PATIENCE;
    while !fs::exists(path).unwrap() {
        assert!(std::time::Instant::now() < end, "{} was not written", path.display());
        std::thread::yield_now();
    }
}
