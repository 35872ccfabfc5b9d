//! A turn that a crash or a stop has cut: an honest log, and a way on.

use crate::fifo::Fifo;
use nix::sys::signal::Signal;
use serde_json::json;
use tests::{Client, Daemon, ModelServer, Reply, assert_order};

fn status(client: &Client, session: &str) -> String {
    let info = client.call_ok("session/get", &json!({"sessionId": session}));
    info["session"]["status"].as_str().unwrap().to_owned()
}

#[test]
fn a_tool_that_a_crash_cut_is_told_of_honestly_and_not_run_again() {
    let model = ModelServer::start();
    let mut daemon = Daemon::builder().model(&model).settings(&json!({"permissions": {"allow": ["Bash"]}})).start();
    let _pipe = Fifo::new(&daemon.workspace(), "p");
    let run = json!({"command": "echo ran >> runs; cat p > out"});
    model.reply(Reply::calls("t1", "Bash", &run));
    let client = Client::connect(&daemon);
    let session = client.session(&daemon.workspace());
    client.prompt(&session, "go");
    client.events_until("tool.started");
    client.leave();
    daemon.kill9();
    daemon.start_again();
    let client = Client::connect(&daemon);
    client.attach(&session, 0);
    let events = client.events_until("turn.ended");
    assert_order(&events, &["tool.started(t1)", "tool.ended(t1 cancelled)", "turn.ended(interrupted)"]);
    let ended = events.iter().find(|event| event.kind == "tool.ended").unwrap();
    assert_eq!(ended.text("cause"), "restart");
    assert_eq!(status(&client, &session), "interrupted");
    assert_eq!(model.requests().len(), 1, "nothing goes on by itself");
    let left: Vec<String> = daemon.home().processes().iter().map(ToString::to_string).collect();
    assert_eq!(left.len(), 1, "what the crash left behind is ended: {left:?}");
    model.reply(Reply::says("I will look first"));
    client.call_ok("turn/resume", &json!({"sessionId": session}));
    assert_order(&client.events_until("turn.ended"), &["turn.started", "turn.ended(completed)"]);
    let result = &model.wait_for_request(2).tool_results()[0].1;
    assert!(result.contains("may have"), "{result}");
    assert!(std::fs::read_to_string(daemon.workspace().join("runs")).unwrap_or_default().lines().count() <= 1);
}

#[test]
fn a_stop_cuts_a_turn_that_does_not_end_in_time() {
    let model = ModelServer::start();
    let mut daemon = Daemon::builder().model(&model).settings(&json!({"limits": {"drainMs": 50}})).start();
    model.reply(Reply::new().text("half an answer").gate("g"));
    let client = Client::connect(&daemon);
    let session = client.session(&daemon.workspace());
    client.prompt(&session, "go");
    model.wait_at("g");
    client.leave();
    assert!(daemon.terminate().success());
    model.wait_closed("g");
    daemon.start_again();
    let client = Client::connect(&daemon);
    assert_eq!(status(&client, &session), "interrupted");
    model.reply(Reply::says("the whole answer"));
    client.attach(&session, 0);
    client.call_ok("turn/resume", &json!({"sessionId": session}));
    let events = client.events_while("until it completes", |event| event.text("reason") != "completed");
    assert_order(&events, &["turn.ended(interrupted)", "turn.started", "turn.ended(completed)"]);
}

#[test]
fn a_stop_lets_a_running_turn_end_and_refuses_new_ones() {
    let model = ModelServer::start();
    let mut daemon = Daemon::builder().model(&model).settings(&json!({"limits": {"drainMs": 60_000}})).start();
    model.reply(Reply::new().text("half ").gate("g").text("whole"));
    let client = Client::connect(&daemon);
    let session = client.session(&daemon.workspace());
    client.prompt(&session, "go");
    model.wait_at("g");
    client.call_ok("daemon/shutdown", &json!({"mode": "drain"}));
    let error = client.call_err("turn/start", &json!({"sessionId": session, "prompt": "more"}));
    assert_eq!(error.code, -32004, "{error:?}");
    model.open("g");
    assert_order(&client.events_until("turn.ended"), &["turn.ended(completed)"]);
    assert!(daemon.wait().success());
}

#[test]
fn a_prompt_that_waits_outlives_a_stop_and_starts_after_it() {
    let model = ModelServer::start();
    let mut daemon = Daemon::builder().model(&model).settings(&json!({"limits": {"drainMs": 60_000}})).start();
    model.reply_to("first", Reply::new().text("one ").gate("g").text("two"));
    model.reply_to("second", Reply::says("three"));
    let client = Client::connect(&daemon);
    let session = client.session(&daemon.workspace());
    client.prompt(&session, "the first");
    model.wait_at("g");
    client.prompt(&session, "the second");
    client.call_ok("daemon/shutdown", &json!({"mode": "drain"}));
    model.open("g");
    assert_order(&client.events_until("turn.ended"), &["turn.queued", "turn.ended(completed)"]);
    client.leave();
    assert!(daemon.wait().success());
    assert_eq!(model.requests().len(), 1, "nothing new starts while agentd stops");
    daemon.start_again();
    let client = Client::connect(&daemon);
    let last = client.call_ok("session/events", &json!({"sessionId": session}));
    let first_end =
        last["events"].as_array().unwrap().iter().find(|event| event["event"]["type"] == "turn.ended").unwrap();
    client.attach(&session, first_end["seq"].as_u64().unwrap());
    assert_order(&client.events_until("turn.ended"), &["turn.started", "turn.ended(completed)"]);
}

#[test]
fn an_open_question_survives_a_restart() {
    let model = ModelServer::start();
    let mut daemon = Daemon::with_model(&model);
    model.reply(Reply::calls("t1", "Bash", &json!({"command": "echo ran >> runs"})));
    let client = Client::connect(&daemon);
    let session = client.session(&daemon.workspace());
    client.prompt(&session, "go");
    let request = client.events_until("permission.requested").pop().unwrap();
    client.leave();
    daemon.kill9();
    daemon.start_again();
    let client = Client::connect(&daemon);
    let listed = client.call_ok("permission/list", &json!({"sessionId": session}));
    assert_eq!(listed["requests"][0]["requestId"], request.body["requestId"], "{listed}");
    client.attach(&session, request.seq.unwrap());
    model.reply(Reply::says("done"));
    let answer = json!({"requestId": request.text("requestId"), "decision": "allow"});
    client.call_ok("permission/respond", &answer);
    assert_order(&client.events_until("turn.ended"), &["permission.resolved(allow)", "tool.ended(t1 completed)"]);
}

/// What was read outlasts the restart too: without it a change would be refused that is asked about already.
#[test]
fn an_open_question_on_a_file_that_was_read_survives_a_restart() {
    let changes = [
        ("Edit", json!({"file_path": "f", "old_string": "old", "new_string": "new"})),
        ("Write", json!({"file_path": "f", "content": "new\n"})),
    ];
    for (tool, change) in changes {
        let model = ModelServer::start();
        let mut daemon = Daemon::with_model(&model);
        let file = daemon.workspace().join("f");
        std::fs::write(&file, "old\n").unwrap();
        model.reply(Reply::calls("r", "Read", &json!({"file_path": "f"})));
        model.reply(Reply::calls("c", tool, &change));
        let client = Client::connect(&daemon);
        let session = client.session(&daemon.workspace());
        client.prompt(&session, "go");
        let request = client.events_until("permission.requested").pop().unwrap();
        client.leave();
        daemon.kill9();
        daemon.start_again();
        let client = Client::connect(&daemon);
        client.attach(&session, request.seq.unwrap());
        model.reply(Reply::says("done"));
        client.call_ok("permission/respond", &json!({"requestId": request.text("requestId"), "decision": "allow"}));
        assert_order(&client.events_until("turn.ended"), &["permission.resolved(allow)", "tool.ended(c completed)"]);
        assert_eq!(std::fs::read_to_string(&file).unwrap(), "new\n", "{tool}");
    }
}

#[test]
fn there_is_nothing_to_resume_in_an_idle_session() {
    let model = ModelServer::start();
    let daemon = Daemon::with_model(&model);
    let client = Client::connect(&daemon);
    let session = client.session(&daemon.workspace());
    assert_eq!(client.call_err("turn/resume", &json!({"sessionId": session})).code, -32008);
}

#[test]
fn who_waits_for_a_turn_that_waits_for_a_person_is_told_of_the_stop() {
    let model = ModelServer::start();
    let mut daemon = Daemon::with_model(&model);
    model.reply(Reply::calls("t1", "Bash", &json!({"command": "touch a"})));
    let client = Client::connect(&daemon);
    client.leave();
    let session = client.session(&daemon.workspace());
    let turn = client.prompt(&session, "go");
    client.events_until("permission.requested");
    let wait = client.begin("turn/wait", &json!({"sessionId": session, "turnId": turn}));
    // One connection's calls start in order, so the wait is on when this is answered.
    client.call_ok("session/get", &json!({"sessionId": session}));
    daemon.signal(Signal::SIGTERM);
    assert_eq!(client.finish(&wait).unwrap_err().code, -32004);
    assert!(daemon.wait().success());
}

/// A turn that goes on keeps what it was asked for: its own model and the form of its answer.
#[test]
fn a_resumed_turn_keeps_its_options() {
    let model = ModelServer::start();
    let mut daemon = Daemon::with_model(&model);
    model.reply(Reply::new().text("a").gate("g"));
    model.reply(Reply::calls("t1", "StructuredOutput", &json!({"n": 1})));
    let client = Client::connect(&daemon);
    let session = client.session(&daemon.workspace());
    let schema = json!({"type": "object", "properties": {"n": {"type": "integer"}}, "required": ["n"]});
    client.call_ok(
        "turn/start",
        &json!({"sessionId": session, "prompt": "count", "model": "test/m2", "outputSchema": schema}),
    );
    model.wait_at("g");
    client.leave();
    daemon.kill9();
    daemon.start_again();
    let client = Client::connect(&daemon);
    let turn = client.call_ok("turn/resume", &json!({"sessionId": session}))["turnId"].clone();
    let end = client.call_ok("turn/wait", &json!({"sessionId": session, "turnId": turn}));
    assert_eq!(end["structuredOutput"], json!({"n": 1}), "{end}");
    assert_eq!(model.wait_for_request(2).body["model"], "m2");
}
