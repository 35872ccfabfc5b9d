//! Sessions over the socket: events after answers, slow clients, the lane of cancels, requests in order,
//! draining. The model is a loopback server that accepts and never answers.

use crate::daemon::{Client, Daemon, agentd, private_folder};
use nix::sys::signal::Signal;
use serde_json::{Value, json};
use std::fs;
use std::net::TcpListener;
use std::path::Path;

/// A daemon whose model never answers, and that model's socket.
fn with_silent_model() -> (Daemon, TcpListener) {
    let model = TcpListener::bind("127.0.0.1:0").unwrap();
    let folder = private_folder();
    let mut command = agentd(folder.path());
    let url = format!("http://{}/v1", model.local_addr().unwrap());
    let settings = json!({
        "model": "silent/model",
        "providers": {"silent": {"api": "openai-chat", "baseUrl": url, "models": [{"id": "model", "contextWindow": 100_000}]}},
        "limits": {"drainMs": 600_000},
    });
    command.args(["--settings", &settings.to_string()]);
    (Daemon::start_with(folder, command), model)
}

impl Client {
    fn request(&mut self, id: impl Into<Value>, method: &str, params: Value) {
        let request = json!({"jsonrpc": "2.0", "id": id.into(), "method": method, "params": params});
        self.send(format!("{request}\n"));
    }

    /// Calls a method; nothing else may come before its answer.
    fn result(&mut self, method: &str, params: Value) -> Value {
        self.request("call", method, params);
        let answer = self.line();
        assert_eq!(answer["id"], "call", "{answer}");
        assert!(answer.get("error").is_none(), "{method}: {answer}");
        answer["result"].clone()
    }

    fn new_session(&mut self, cwd: &Path) -> String {
        self.result("session/create", json!({"cwd": cwd}))["session"]["id"].as_str().unwrap().to_owned()
    }

    /// Changes the title, which is one durable event.
    fn rename(&mut self, session: &str, title: &str) -> u64 {
        let result = self.result("session/update", json!({"sessionId": session, "title": title}));
        result["session"]["lastSeq"].as_u64().unwrap()
    }

    /// The number of the next durable event, which must be of that session.
    fn seq(&mut self, session: &str) -> u64 {
        loop {
            let event = self.line();
            assert_eq!(
                (&event["method"], &event["params"]["sessionId"]),
                (&json!("session/event"), &json!(session)),
                "{event}"
            );
            if let Some(seq) = event["params"]["seq"].as_u64() {
                return seq;
            }
        }
    }
}

#[test]
fn events_follow_the_answer_without_a_gap() {
    let (daemon, _model) = with_silent_model();
    let (mut other, mut client) = (daemon.connect(), daemon.connect());
    let session = other.new_session(daemon.folder.path());
    let last = other.rename(&session, "one");
    let attached = client.result("session/attach", json!({"sessionId": session}));
    assert_eq!(attached["replayTo"], last);
    for seq in 1..=last {
        assert_eq!(client.seq(&session), seq);
    }
    let last = other.rename(&session, "two");
    assert_eq!(client.seq(&session), last);
    let mut late = daemon.connect();
    late.result("session/attach", json!({"sessionId": session, "afterSeq": last - 1}));
    assert_eq!(late.seq(&session), last);
}

#[test]
fn a_second_attach_takes_the_place_of_the_first() {
    let (daemon, _model) = with_silent_model();
    let (mut other, mut client) = (daemon.connect(), daemon.connect());
    let session = other.new_session(daemon.folder.path());
    let last = other.rename(&session, "one");
    client.result("session/attach", json!({"sessionId": session, "afterSeq": last}));
    client.result("session/attach", json!({"sessionId": session, "afterSeq": last}));
    let last = other.rename(&session, "two");
    assert_eq!(client.seq(&session), last);
    let last = other.rename(&session, "three");
    assert_eq!(client.seq(&session), last, "each event comes once");
}

#[test]
fn nothing_follows_the_answer_of_a_detach() {
    let (daemon, _model) = with_silent_model();
    let (mut other, mut client) = (daemon.connect(), daemon.connect());
    let session = other.new_session(daemon.folder.path());
    let last = other.rename(&session, "one");
    client.result("session/attach", json!({"sessionId": session, "afterSeq": last}));
    client.result("session/detach", json!({"sessionId": session}));
    other.rename(&session, "two");
    client.result("session/detach", json!({"sessionId": session}));
    client.check_alive();
    client.request(1, "session/detach", json!({"sessionId": "none"}));
    assert_eq!(client.line()["error"]["code"], -32001);
}

#[test]
fn requests_start_in_order() {
    let (daemon, _model) = with_silent_model();
    let mut client = daemon.connect();
    let session = client.new_session(daemon.folder.path());
    for number in 0..500 {
        client.request(number, "session/update", json!({"sessionId": session, "title": format!("title {number}")}));
    }
    for _ in 0..500 {
        assert!(client.line()["result"].is_object());
    }
    let events = client.result("session/events", json!({"sessionId": session}))["events"].clone();
    let titles: Vec<_> =
        events.as_array().unwrap().iter().filter_map(|event| event["event"]["title"].as_str()).collect();
    let expected: Vec<_> = (0..500).map(|number| format!("title {number}")).collect();
    assert_eq!(titles, expected);
}

#[test]
fn prompts_queue_in_the_order_in_which_they_were_sent() {
    let (daemon, _model) = with_silent_model();
    let mut client = daemon.connect();
    let session = client.new_session(daemon.folder.path());
    for number in 0..50 {
        client.request(number, "turn/start", json!({"sessionId": session, "prompt": format!("prompt {number}")}));
    }
    let mut answers: Vec<Value> = (0..50).map(|_| client.line()).collect();
    answers.sort_by_key(|answer| answer["id"].as_u64().unwrap());
    let turns: Vec<_> = answers.iter().map(|answer| answer["result"]["turnId"].clone()).collect();
    let queue = client.result("session/get", json!({"sessionId": session}))["session"]["queue"].clone();
    assert_eq!(queue.as_array().unwrap(), turns.get(1..).unwrap());
}

#[test]
fn a_slow_client_is_cut_off_and_comes_back_without_a_gap() {
    let (daemon, _model) = with_silent_model();
    let (mut other, mut slow) = (daemon.connect(), daemon.connect());
    let session = other.new_session(daemon.folder.path());
    slow.result("session/attach", json!({"sessionId": session}));
    let megabyte = "x".repeat(1 << 20);
    let mut last = 0;
    for _ in 0..20 {
        let params = json!({"sessionId": session, "metadata": {"filling": megabyte}});
        last = other.result("session/update", params)["session"]["lastSeq"].as_u64().unwrap();
    }
    let mut seen = 0;
    let lagged = loop {
        let message = slow.line();
        if message["method"] == "session/lagged" {
            break message["params"].clone();
        }
        if let Some(seq) = message["params"]["seq"].as_u64() {
            seen += 1;
            assert_eq!(seq, seen);
        }
    };
    assert_eq!(lagged, json!({"sessionId": session, "resumeAfterSeq": seen}));
    assert!(seen < last);
    slow.result("session/attach", json!({"sessionId": session, "afterSeq": seen}));
    for seq in seen + 1..=last {
        assert_eq!(slow.seq(&session), seq);
    }
}

#[test]
fn a_cancel_does_not_wait_behind_other_calls() {
    let (daemon, _model) = with_silent_model();
    let mut client = daemon.connect();
    let session = client.new_session(daemon.folder.path());
    let turn = client.result("turn/start", json!({"sessionId": session, "prompt": "Hello"}))["turnId"].clone();
    let waits = 300;
    for id in 0..waits {
        client.request(id, "turn/wait", json!({"sessionId": session, "turnId": turn}));
    }
    client.request("cancel", "turn/cancel", json!({"sessionId": session}));
    let mut ids: Vec<Value> = Vec::new();
    for _ in 0..=waits {
        let answer = client.line();
        assert!(answer["result"].is_object(), "{answer}");
        ids.push(answer["id"].clone());
    }
    assert!(ids.contains(&json!("cancel")) && ids.len() == waits + 1);
}

#[test]
fn too_much_that_waits_is_refused_and_a_cancel_still_works() {
    let (daemon, _model) = with_silent_model();
    let mut client = daemon.connect();
    let session = client.new_session(daemon.folder.path());
    let turn = client.result("turn/start", json!({"sessionId": session, "prompt": "Hello"}))["turnId"].clone();
    for id in 0..128 {
        client.request(id, "turn/wait", json!({"sessionId": session, "turnId": turn}));
    }
    let megabyte = "x".repeat(1 << 20);
    for id in 128..140 {
        client.request(id, "session/update", json!({"sessionId": session, "metadata": {"filling": megabyte}}));
    }
    let refused = client.line();
    assert_eq!(
        (&refused["error"]["code"], &refused["error"]["data"]["limit"]),
        (&json!(-32007), &json!("requestsInFlight"))
    );
    client.request("cancel", "turn/cancel", json!({"sessionId": session}));
    loop {
        let answer = client.line();
        if answer["id"] == "cancel" {
            assert_eq!(answer["result"]["cancelled"], json!([turn]));
            break;
        }
    }
}

#[test]
fn a_stop_waits_for_the_running_turn_and_takes_no_new_one() {
    let (mut daemon, _model) = with_silent_model();
    let mut client = daemon.connect();
    let session = client.new_session(daemon.folder.path());
    client.result("turn/start", json!({"sessionId": session, "prompt": "Hello"}));
    daemon.signal(Signal::SIGTERM);
    assert!(daemon.notified().contains("STOPPING=1"));
    client.request("late", "session/create", json!({"cwd": daemon.folder.path()}));
    assert_eq!(client.line()["error"]["code"], -32004);
    assert!(daemon.child.try_wait().unwrap().is_none(), "the turn still runs");
    let cancelled = client.result("turn/cancel", json!({"sessionId": session}));
    assert_eq!(cancelled["alreadyIdle"], false);
    assert_eq!(daemon.child.wait().unwrap().code(), Some(0));
}

#[test]
fn a_second_signal_ends_the_wait() {
    let (mut daemon, _model) = with_silent_model();
    let mut client = daemon.connect();
    let session = client.new_session(daemon.folder.path());
    client.result("turn/start", json!({"sessionId": session, "prompt": "Hello"}));
    daemon.signal(Signal::SIGTERM);
    assert!(daemon.notified().contains("STOPPING=1"));
    daemon.signal(Signal::SIGTERM);
    assert_eq!(daemon.child.wait().unwrap().code(), Some(0));
    let folder = std::mem::replace(&mut daemon.folder, private_folder());
    let daemon = Daemon::start_in(folder);
    let status = daemon.connect().result("session/get", json!({"sessionId": session}))["session"]["status"].clone();
    assert_eq!(status, "interrupted");
}

#[test]
fn settings_are_read_again_on_request() {
    let daemon = Daemon::start();
    let folder = daemon.folder.path().join(".config/agentd");
    fs::create_dir_all(&folder).unwrap();
    fs::write(folder.join("settings.json"), r#"{"model": "demo/guide", "limits": {"drainMs": 1}}"#).unwrap();
    let mut client = daemon.connect();
    let changed = client.result("daemon/reload", json!({}))["changed"].clone();
    assert!(changed.as_array().unwrap().iter().any(|name| name.as_str().unwrap().starts_with("limits")), "{changed}");
    fs::write(folder.join("settings.json"), "{").unwrap();
    let errors = client.result("daemon/reload", json!({}))["errors"].clone();
    assert!(errors[0]["file"].as_str().unwrap().ends_with("settings.json"), "{errors}");
}
