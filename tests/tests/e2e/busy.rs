//! A prompt while a turn runs: it may wait, join, or end the turn.

use serde_json::{Value, json};
use tests::{Client, Daemon, ModelServer, Reply, assert_order};

fn start(client: &Client, session: &str, prompt: &str, when_busy: &str) -> Value {
    client.call_ok("turn/start", &json!({"sessionId": session, "prompt": prompt, "whenBusy": when_busy}))
}

#[test]
fn what_can_not_be_done_yet_is_refused_and_the_turn_goes_on() {
    let model = ModelServer::start();
    let daemon = Daemon::with_model(&model);
    model.reply(Reply::new().text("a").gate("g"));
    let client = Client::connect(&daemon);
    let session = client.session(&daemon.workspace());
    client.prompt(&session, "first");
    model.wait_at("g");
    let more = [("whenBusy", json!("steer")), ("outputSchema", json!({"type": "object"}))];
    for (field, value) in more {
        let mut params = json!({"sessionId": session, "prompt": "more"});
        params[field] = value;
        let error = client.call_err("turn/start", &params);
        assert_eq!(error.code, -32602, "{error:?}");
        assert!(error.message.contains(field), "{error:?}");
    }
    let auto = json!({"sessionId": session, "mode": "auto"});
    assert!(client.call_err("session/update", &auto).message.contains("auto"));
    model.open("g");
    assert_order(&client.events_until("turn.ended"), &["turn.ended(completed)"]);
}

#[test]
fn a_prompt_can_end_the_turn_and_start_its_own() {
    let model = ModelServer::start();
    let daemon = Daemon::with_model(&model);
    model.reply_to("first", Reply::new().text("a long").gate("g"));
    model.reply_to("second", Reply::says("short"));
    let client = Client::connect(&daemon);
    let session = client.session(&daemon.workspace());
    let first = client.prompt(&session, "the first");
    model.wait_at("g");
    let second = start(&client, &session, "the second", "interrupt");
    assert_ne!(second["turnId"], json!(first));
    model.wait_closed("g");
    let events = [client.events_until("turn.ended"), client.events_until("turn.ended")].concat();
    assert_order(&events, &["turn.ended(aborted_streaming)", "turn.started", "turn.ended(completed)"]);
}

#[test]
fn a_prompt_that_is_cancelled_while_it_waits_ends_with_nothing_of_the_running_turn() {
    let model = ModelServer::start();
    let daemon = Daemon::with_model(&model);
    model.reply(Reply::calls("t1", "Read", &json!({"file_path": "nothing"})));
    model.reply(Reply::new().text("a").gate("g"));
    let client = Client::connect(&daemon);
    let session = client.session(&daemon.workspace());
    client.prompt(&session, "first");
    model.wait_at("g");
    let waiting = client.prompt(&session, "second");
    let cancelled = client.call_ok("turn/cancel", &json!({"sessionId": session, "turnId": waiting}));
    assert_eq!(cancelled["cancelled"], json!([waiting]));
    let end = client.events_until("turn.ended").pop().unwrap();
    assert_eq!((end.text("turnId"), end.text("reason")), (waiting.as_str(), "aborted_streaming"));
    assert_eq!(end.body["usage"]["outputTokens"], 0, "{}", end.body);
    model.open("g");
    assert_order(&client.events_until("turn.ended"), &["turn.ended(completed)"]);
}

#[test]
fn a_turn_that_is_not_the_expected_one_is_an_error() {
    let model = ModelServer::start();
    let daemon = Daemon::with_model(&model);
    model.reply(Reply::new().text("a").gate("g"));
    let client = Client::connect(&daemon);
    let session = client.session(&daemon.workspace());
    client.prompt(&session, "first");
    model.wait_at("g");
    let stale = json!({"sessionId": session, "prompt": "x", "whenBusy": "steer", "expectedTurnId": "turn_old"});
    let error = client.call_err("turn/start", &stale);
    assert!([-32002, -32003].contains(&error.code), "{error:?}");
    model.open("g");
    client.events_until("turn.ended");
    assert_eq!(model.requests().len(), 1);
}

#[test]
fn a_wait_has_a_limit() {
    let model = ModelServer::start();
    let daemon = Daemon::with_model(&model);
    model.reply(Reply::new().text("a").gate("g"));
    let client = Client::connect(&daemon);
    let session = client.session(&daemon.workspace());
    let turn = client.prompt(&session, "first");
    let wait = json!({"sessionId": session, "turnId": turn, "timeoutMs": 1});
    assert_eq!(client.call_err("turn/wait", &wait).code, -32007);
    model.open("g");
    client.events_until("turn.ended");
}
