//! What may change the world asks first; the first answer wins; a question is never lost.

use serde_json::{Value, json};
use std::fs;
use std::path::Path;
use tests::{Client, Daemon, Event, ModelServer, Reply, assert_order};

fn write(daemon: &Daemon, name: &str) -> Value {
    json!({"file_path": daemon.workspace().join(name), "content": "new\n"})
}

fn written(daemon: &Daemon, name: &str) -> bool {
    daemon.workspace().join(name).exists()
}

fn asked(events: &[Event]) -> usize {
    events.iter().filter(|event| event.kind == "permission.requested").count()
}

#[test]
fn a_write_asks_and_runs_when_it_is_allowed() {
    let model = ModelServer::start();
    let daemon = Daemon::with_model(&model);
    model.reply(Reply::calls("t1", "Write", &write(&daemon, "a"))).reply(Reply::says("done"));
    let client = Client::connect(&daemon);
    let session = client.session(&daemon.workspace());
    client.prompt(&session, "go");
    let events = client.events_until("permission.requested");
    assert!(!written(&daemon, "a"));
    let request = &events.last().unwrap().body;
    assert_eq!((&request["tool"], &request["toolCallId"]), (&json!("Write"), &json!("t1")));
    assert!(request["preview"]["diff"].as_str().unwrap().contains("+new"), "{request}");
    let listed = client.call_ok("permission/list", &json!({}));
    assert_eq!(listed["requests"][0]["requestId"], request["requestId"]);
    let info = client.call_ok("session/get", &json!({"sessionId": session}));
    assert_eq!(
        (&info["session"]["status"], &info["session"]["pending"]["permissions"]),
        (&json!("waiting"), &json!(1))
    );
    client.call_ok("permission/respond", &json!({"requestId": request["requestId"], "decision": "allow"}));
    let events = client.events_until("turn.ended");
    assert_order(&events, &["permission.resolved(allow)", "tool.started(t1)", "tool.ended(t1 completed)"]);
    assert!(written(&daemon, "a"));
    assert!(events.iter().any(|event| event.kind == "file.changed"));
    assert_eq!(client.call_ok("permission/list", &json!({}))["requests"], json!([]));
}

#[test]
fn a_denial_with_a_message_tells_the_model_why() {
    let model = ModelServer::start();
    let daemon = Daemon::with_model(&model);
    model.reply(Reply::calls("t1", "Write", &write(&daemon, "a"))).reply(Reply::says("I see"));
    let client = Client::connect(&daemon);
    let session = client.session(&daemon.workspace());
    client.prompt(&session, "go");
    let request = client.events_until("permission.requested").pop().unwrap();
    let answer = json!({"requestId": request.text("requestId"), "decision": "deny", "message": "use folder b"});
    client.call_ok("permission/respond", &answer);
    let events = client.events_until("turn.ended");
    assert_order(&events, &["permission.resolved(deny)", "tool.ended(t1 denied)", "turn.ended(completed)"]);
    assert!(model.wait_for_request(2).tool_results()[0].1.contains("use folder b"));
    assert!(!written(&daemon, "a"));
}

/// Row I05: a no without a word ends the turn.
#[test]
fn a_bare_denial_ends_the_turn_and_the_session_goes_on() {
    let model = ModelServer::start();
    let daemon = Daemon::with_model(&model);
    model.reply(Reply::calls("t1", "Write", &write(&daemon, "a")));
    let client = Client::connect(&daemon);
    let session = client.session(&daemon.workspace());
    client.prompt(&session, "go");
    client.decide_next("deny");
    assert_order(&client.events_until("turn.ended"), &["tool.ended(t1 denied)"]);
    assert_eq!(model.requests().len(), 1);
    model.reply(Reply::says("fine"));
    assert_order(&client.run(&session, "never mind"), &["turn.ended(completed)"]);
}

#[test]
fn an_answer_can_be_remembered_for_the_session() {
    let model = ModelServer::start();
    let daemon = Daemon::with_model(&model);
    for (call, file) in [("t1", "a"), ("t2", "b")] {
        model.reply(Reply::calls(call, "Write", &write(&daemon, file)));
    }
    model.reply(Reply::says("done"));
    let client = Client::connect(&daemon);
    let session = client.session(&daemon.workspace());
    client.prompt(&session, "go");
    let request = client.events_until("permission.requested").pop().unwrap();
    let remember = json!({"scope": "session", "rule": request.body["suggestions"][0]["rule"]});
    let answer = json!({"requestId": request.text("requestId"), "decision": "allow", "remember": remember});
    client.call_ok("permission/respond", &answer);
    let events = client.events_until("turn.ended");
    assert_eq!(asked(&events), 0);
    assert!(written(&daemon, "a") && written(&daemon, "b"));
}

#[test]
fn the_first_answer_wins() {
    let model = ModelServer::start();
    let daemon = Daemon::with_model(&model);
    model.reply(Reply::calls("t1", "Write", &write(&daemon, "a"))).reply(Reply::says("done"));
    let first = Client::connect(&daemon);
    let session = first.session(&daemon.workspace());
    let second = Client::connect(&daemon);
    let hello = json!({"protocolVersion": 1, "client": {"name": "editor", "version": "1"}});
    second.call_ok("initialize", &hello);
    first.prompt(&session, "go");
    let request = first.events_until("permission.requested").pop().unwrap();
    second.call_ok("permission/respond", &json!({"requestId": request.text("requestId"), "decision": "allow"}));
    let late =
        first.call_err("permission/respond", &json!({"requestId": request.text("requestId"), "decision": "deny"}));
    assert_eq!(late.code, -32010);
    assert!(late.message.contains("editor"), "{late:?}");
    assert_order(&first.events_until("turn.ended"), &["permission.resolved(allow)", "tool.ended(t1 completed)"]);
    let unknown = first.call_err("permission/respond", &json!({"requestId": "nope", "decision": "deny"}));
    assert_eq!(unknown.code, -32011);
}

#[test]
fn an_open_question_comes_to_whoever_attaches() {
    let model = ModelServer::start();
    let daemon = Daemon::with_model(&model);
    model.reply(Reply::calls("t1", "Write", &write(&daemon, "a"))).reply(Reply::says("done"));
    let first = Client::connect(&daemon);
    let session = first.session(&daemon.workspace());
    first.prompt(&session, "go");
    first.events_until("permission.requested");
    first.leave();
    drop(first);
    let second = Client::connect(&daemon);
    second.attach(&session, 0);
    second.decide_next("allow");
    assert_order(&second.events_until("turn.ended"), &["tool.ended(t1 completed)"]);
}

#[test]
fn each_mode_decides_as_it_says() {
    // The mode; whether Write runs unasked; whether Bash does. What does not run unasked asks, but for
    // dontAsk, which denies.
    let table = [
        ("default", false, false),
        ("acceptEdits", true, false),
        ("bypassPermissions", true, true),
        ("dontAsk", false, false),
    ];
    for (mode, writes, runs) in table {
        let model = ModelServer::start();
        let daemon = Daemon::with_model(&model);
        let client = Client::connect(&daemon);
        let session = client.session_with(&json!({"cwd": daemon.workspace(), "mode": mode}));
        let calls =
            [("w", "Write", write(&daemon, "a"), writes), ("b", "Bash", json!({"command": "sync b || true"}), runs)];
        for (call, tool, input, unasked) in calls {
            model.reply(Reply::calls(call, tool, &input)).reply(Reply::says("done"));
            client.prompt(&session, "go");
            if !unasked && mode != "dontAsk" {
                client.decide_next("allow");
            }
            let events = client.events_until("turn.ended");
            let status = if !unasked && mode == "dontAsk" { "denied" } else { "completed" };
            assert_order(&events, &[&format!("tool.ended({call} {status})")]);
            assert_eq!(asked(&events), 0, "{mode} {tool}");
        }
    }
}

#[test]
fn rules_of_the_settings_allow_and_deny() {
    let model = ModelServer::start();
    let rules = json!({"permissions": {"allow": ["Bash"], "deny": ["Write"]}});
    let daemon = Daemon::builder().model(&model).settings(&rules).start();
    let calls = Reply::new().tool("t1", "Bash", &json!({"command": "touch b"}));
    model.reply(calls.tool("t2", "Write", &write(&daemon, "a"))).reply(Reply::says("done"));
    let client = Client::connect(&daemon);
    let session = client.session_with(&json!({"cwd": daemon.workspace(), "mode": "bypassPermissions"}));
    let events = client.run(&session, "go");
    assert_order(&events, &["tool.ended(t1 completed)"]);
    assert_order(&events, &["tool.ended(t2 denied)"]);
    assert!(written(&daemon, "b") && !written(&daemon, "a"));
}

#[test]
fn what_was_approved_is_what_runs() {
    let model = ModelServer::start();
    let daemon = Daemon::with_model(&model);
    model.reply(Reply::calls("t1", "Bash", &json!({"command": "echo as asked > a"}))).reply(Reply::says("done"));
    let client = Client::connect(&daemon);
    let session = client.session(&daemon.workspace());
    client.prompt(&session, "go");
    let request = client.events_until("permission.requested").pop().unwrap();
    assert_eq!(request.body["input"]["command"], "echo as asked > a");
    let answer = json!({"requestId": request.text("requestId"), "decision": "allow",
                        "updatedInput": {"command": "echo as edited > a"}});
    client.call_ok("permission/respond", &answer);
    let events = client.events_until("turn.ended");
    let started = events.iter().find(|event| event.kind == "tool.started").unwrap();
    assert_eq!(started.body["input"]["command"], "echo as edited > a");
    assert_eq!(read(&daemon.workspace().join("a")), "as edited\n");
}

fn read(path: &Path) -> String {
    fs::read_to_string(path).unwrap()
}

/// The questions of several sessions come oldest first.
#[test]
fn the_list_of_all_sessions_is_in_the_order_of_asking() {
    let model = ModelServer::start();
    let daemon = Daemon::with_model(&model);
    let client = Client::connect(&daemon);
    let mut asked = Vec::new();
    for at in 0..6 {
        model.reply(Reply::calls(&format!("t{at}"), "Bash", &json!({"command": "touch a"})));
        let session = client.session(&daemon.workspace());
        client.prompt(&session, "go");
        let events = client.events_until_all(&["permission.requested", "message.completed"]);
        asked.extend(
            events
                .iter()
                .filter(|event| event.kind == "permission.requested")
                .map(|event| json!(event.text("requestId"))),
        );
    }
    let listed = client.call_ok("permission/list", &json!({}));
    let ids: Vec<_> = listed["requests"].as_array().unwrap().iter().map(|open| open["requestId"].clone()).collect();
    assert_eq!(ids, asked);
}
