//! Plan mode: the model reads, hands in a plan, and begins once a person has approved it.

use serde_json::{Value, json};
use tests::{Client, Daemon, Event, ModelServer, Reply, assert_order};

fn write(daemon: &Daemon) -> Value {
    json!({"file_path": daemon.workspace().join("a"), "content": "new\n"})
}

fn plan(text: &str) -> Value {
    json!({"plan": text})
}

fn mode(client: &Client, session: &str) -> Value {
    client.call_ok("session/get", &json!({"sessionId": session}))["session"]["mode"].clone()
}

fn respond(client: &Client, request: &Event, answer: &Value) {
    let mut answer = answer.clone();
    answer["requestId"] = json!(request.text("requestId"));
    client.call_ok("permission/respond", &answer);
}

/// The plan is shown, a no with a word lets the model revise it, a yes gives the session the mode back that it had, and
/// the model begins in the same turn.
#[test]
fn from_a_plan_to_its_approval() {
    let model = ModelServer::start();
    let daemon = Daemon::with_model(&model);
    let client = Client::connect(&daemon);
    let session = client.session_with(&json!({"cwd": daemon.workspace(), "mode": "acceptEdits"}));
    client.call_ok("session/update", &json!({"sessionId": session, "mode": "plan"}));
    client.expect_event("session.updated");
    model.reply(Reply::calls("w1", "Write", &write(&daemon)));
    model.reply(Reply::calls("p1", "ExitPlanMode", &plan("1. Write a.")));
    model.reply(Reply::calls("p2", "ExitPlanMode", &plan("1. Write a. 2. Look at it.")));
    model.reply(Reply::calls("w2", "Write", &write(&daemon))).reply(Reply::says("done"));
    client.prompt(&session, "go");
    let mut events = client.events_until("permission.requested");
    assert_order(&events, &["tool.ended(w1 denied)"]);
    let request = events.pop().unwrap();
    assert_eq!((&request.body["preview"], &request.body["reason"]["layer"]), (&plan("1. Write a."), &json!(4)));
    respond(&client, &request, &json!({"decision": "deny", "message": "and look at it"}));
    let request = client.events_until("permission.requested").pop().unwrap();
    assert_eq!(request.body["preview"], plan("1. Write a. 2. Look at it."));
    assert_eq!(mode(&client, &session), "plan");
    respond(&client, &request, &json!({"decision": "allow"}));
    let events = client.events_until("turn.ended");
    assert_order(&events, &["tool.ended(p2 completed)", "session.updated", "tool.ended(w2 completed)"]);
    assert_eq!(mode(&client, &session), "acceptEdits");
    assert!(daemon.workspace().join("a").exists());
    let requests = model.requests();
    assert!(
        requests[0].system().contains("# Plan mode") && requests[0].tool_names().contains(&"ExitPlanMode".to_owned())
    );
    assert!(requests[2].tool_results().last().unwrap().1.contains("and look at it"));
    assert!(requests[3].tool_results().last().unwrap().1.contains("the mode is acceptEdits now"));
    // The next turn knows nothing of plans.
    model.reply(Reply::says("fine"));
    client.run(&session, "thanks");
    let last = model.requests().pop().unwrap();
    assert!(!last.system().contains("# Plan mode") && !last.tool_names().contains(&"ExitPlanMode".to_owned()));
}

/// A yes may bring a rule along: edits then run unasked in the mode that was there before.
#[test]
fn a_plan_may_be_approved_with_its_edits() {
    let model = ModelServer::start();
    let daemon = Daemon::with_model(&model);
    let client = Client::connect(&daemon);
    let session = client.session_with(&json!({"cwd": daemon.workspace(), "mode": "plan"}));
    model.reply(Reply::calls("p1", "ExitPlanMode", &plan("1. Write a.")));
    model.reply(Reply::calls("w1", "Write", &write(&daemon))).reply(Reply::says("done"));
    client.prompt(&session, "go");
    let request = client.events_until("permission.requested").pop().unwrap();
    let offer = request.body["suggestions"][0].clone();
    // The approval itself is for this plan alone.
    let always = json!({"scope": "session", "rule": "ExitPlanMode"});
    let answer = json!({"requestId": request.text("requestId"), "decision": "allow", "remember": always});
    let error = client.call_err("permission/respond", &answer);
    assert!(error.code == -32602 && error.message.contains("each plan is approved by itself"), "{error:?}");
    let remember = json!({"scope": offer["scope"], "rule": offer["rule"]});
    respond(&client, &request, &json!({"decision": "allow", "remember": remember}));
    let events = client.events_until("turn.ended");
    assert_order(&events, &["tool.ended(p1 completed)", "tool.ended(w1 completed)"]);
    assert!(!events.iter().any(|event| event.kind == "permission.requested"));
    assert_eq!(mode(&client, &session), "default");
    let told = client.call_ok("tool/list", &json!({"sessionId": session}));
    assert!(!told.to_string().contains("ExitPlanMode"));
}
