//! Attach anywhere, from any number, and get exactly the rest.

use serde_json::json;
use std::fs;
use tests::{Client, Daemon, Event, ModelServer, Reply, delta_text, outline};

/// Number and bytes of the durable events.
fn durable(events: &[Event]) -> Vec<(u64, &str)> {
    events.iter().filter_map(|event| Some((event.seq?, event.raw.as_str()))).collect()
}

#[test]
fn everyone_sees_the_same_and_a_late_one_exactly_the_rest() {
    let model = ModelServer::start();
    let daemon = Daemon::with_model(&model);
    let file = daemon.workspace().join("a.txt");
    fs::write(&file, "one\n").unwrap();
    model.reply(Reply::new().text("Let me ").tool("t1", "Read", &json!({"file_path": file})).gate("g"));
    model.reply(Reply::new().text("So it ").gate("h").text("is."));
    let first = Client::connect(&daemon);
    let session = first.session(&daemon.workspace());
    let second = Client::connect(&daemon);
    second.attach(&session, 1);
    first.prompt(&session, "go");
    let mut seen = first.events_until("tool.ended");
    model.wait_at("g");
    let middle = seen.last().unwrap().seq.unwrap() - 1;
    let third = Client::connect(&daemon);
    let attached = third.attach(&session, middle);
    assert_eq!(attached["replayTo"], middle + 1);
    assert_eq!(attached["session"]["status"], "running");
    model.open("g");
    model.wait_at("h");
    model.open("h");
    seen.extend(first.events_until("turn.ended"));
    let others = [second.events_until("turn.ended"), third.events_until("turn.ended")];
    assert_eq!(durable(&seen), durable(&others[0]));
    let rest: Vec<_> = durable(&seen).into_iter().filter(|(seq, _)| *seq > middle).collect();
    assert_eq!(durable(&others[1]), rest);
    let log = Client::connect(&daemon);
    log.attach(&session, 0);
    let all = log.events_until("turn.ended");
    assert_eq!(all[0].kind, "session.created");
    assert_eq!(durable(&all[1..]), durable(&seen));
}

#[test]
fn a_late_joiner_gets_the_message_under_way_from_its_start() {
    let model = ModelServer::start();
    let daemon = Daemon::with_model(&model);
    model.reply(Reply::new().text("Grüße, ").gate("g").text("Welt").gate("h"));
    let first = Client::connect(&daemon);
    let session = first.session(&daemon.workspace());
    first.prompt(&session, "go");
    model.wait_at("g");
    let mut seen = first.events_until("message.delta");
    let late = Client::connect(&daemon);
    late.attach(&session, 0);
    model.open("g");
    model.wait_at("h");
    // The stream stands still until both have read all of it.
    let mut text = delta_text(&seen);
    seen.extend(first.events_while("for the rest", |event| grow(&mut text, event)));
    let mut text = String::new();
    let mut joined = late.events_while("for all of it", |event| grow(&mut text, event));
    model.open("h");
    assert_eq!([delta_text(&seen), delta_text(&joined)], ["Grüße, Welt", "Grüße, Welt"]);
    seen.extend(first.events_until("turn.ended"));
    joined.extend(late.events_until("turn.ended"));
    assert_eq!(outline(&joined), format!("session.created {}", outline(&seen)));
}

/// Adds a delta's text; whether more is to come.
fn grow(text: &mut String, event: &Event) -> bool {
    text.push_str(if event.kind == "message.delta" { event.text("text") } else { "" });
    !text.ends_with("Welt")
}

#[test]
fn running_output_is_told_to_a_late_joiner() {
    let model = ModelServer::start();
    let daemon = Daemon::builder().model(&model).settings(&json!({"permissions": {"allow": ["Bash"]}})).start();
    let pipe = crate::fifo::Fifo::new(&daemon.workspace(), "p");
    model.reply(Reply::calls("t1", "Bash", &json!({"command": "echo early; cat p > late; echo late"})));
    model.reply(Reply::says("done"));
    let first = Client::connect(&daemon);
    let session = first.session(&daemon.workspace());
    first.prompt(&session, "go");
    let early = first.events_while("until output", |event| event.kind != "tool.progress");
    assert!(early.last().unwrap().text("text").contains("early"));
    let late = Client::connect(&daemon);
    late.attach(&session, 0);
    let joined = late.events_while("until output", |event| event.kind != "tool.progress");
    let progress = joined.last().unwrap();
    assert_eq!((progress.text("text"), &progress.body["offset"]), ("early\n", &json!(0)));
    pipe.release("x");
    assert_eq!(late.events_until("turn.ended").last().unwrap().text("reason"), "completed");
    first.events_until("turn.ended");
}

#[test]
fn a_client_that_leaves_or_detaches_hurts_nobody() {
    let model = ModelServer::start();
    let daemon = Daemon::with_model(&model);
    model.reply(Reply::new().text("a").gate("g").text("b"));
    let first = Client::connect(&daemon);
    let session = first.session(&daemon.workspace());
    let leaving = Client::connect(&daemon);
    leaving.attach(&session, 0);
    leaving.leave();
    let detached = Client::connect(&daemon);
    detached.attach(&session, 1);
    detached.call_ok("session/detach", &json!({"sessionId": session}));
    first.prompt(&session, "go");
    model.wait_at("g");
    drop(leaving);
    model.open("g");
    assert_eq!(first.events_until("turn.ended").last().unwrap().text("reason"), "completed");
    // Its drop fails if an event reached it.
    detached.call_ok("daemon/status", &json!({}));
}

#[test]
fn a_number_beyond_the_log_is_refused() {
    let model = ModelServer::start();
    let daemon = Daemon::with_model(&model);
    let client = Client::connect(&daemon);
    let session = client.session(&daemon.workspace());
    let error = client.call_err("session/attach", &json!({"sessionId": session, "afterSeq": 99}));
    assert_eq!(error.code, -32602, "{error:?}");
}

#[test]
fn without_ephemeral_only_durable_events_come() {
    let model = ModelServer::start();
    let daemon = Daemon::with_model(&model);
    model.reply(Reply::says("hello"));
    let client = Client::connect(&daemon);
    let session = client.session(&daemon.workspace());
    let quiet = Client::connect(&daemon);
    quiet.call_ok("session/attach", &json!({"sessionId": session, "afterSeq": 1, "ephemeral": false}));
    client.run(&session, "go");
    let events = quiet.events_until("turn.ended");
    assert!(events.iter().all(Event::is_durable), "{events:?}");
}
