//! A disk that is full: what can't be written is refused as a whole, and what was written stays.

use serde_json::json;
use tests::{Client, Daemon, ModelServer, Reply, assert_order};

#[test]
fn a_prompt_that_does_not_fit_is_refused_and_nothing_is_lost() {
    let model = ModelServer::start();
    let daemon = Daemon::builder().model(&model).state_on_a_small_disk("1m").start();
    model.reply(Reply::says("hello"));
    let client = Client::connect(&daemon);
    let session = client.session(&daemon.workspace());
    client.run(&session, "hi");
    let before = client.log(&session);
    let big = json!({"sessionId": session, "prompt": "x".repeat(2 << 20)});
    let error = client.call_err("turn/start", &big);
    assert_eq!((error.code, &error.data["kind"]), (-32020, &json!("storageFailed")), "{error:?}");
    assert_eq!(client.log(&session), before, "nothing was accepted");
    assert_eq!(model.requests().len(), 1);
    // What fits still goes.
    model.reply(Reply::says("still here"));
    assert_order(&client.run(&session, "are you there?"), &["turn.ended(completed)"]);
}

#[test]
fn a_fork_that_does_not_fit_is_refused_and_leaves_nothing() {
    let model = ModelServer::start();
    let daemon = Daemon::builder().model(&model).state_on_a_small_disk("1m").start();
    model.reply(Reply::says("x".repeat(300_000)));
    let client = Client::connect(&daemon);
    let source = client.session(&daemon.workspace());
    client.run(&source, "hi");
    let fork = || client.call("session/fork", &json!({"sessionId": source}));
    let made: Vec<_> = std::iter::from_fn(|| fork().ok()).take(4).collect();
    assert!((1..4).contains(&made.len()), "{made:?}");
    assert_eq!(fork().unwrap_err().code, -32020);
    let listed = client.call_ok("session/list", &json!({}))["sessions"].clone();
    assert_eq!(listed.as_array().unwrap().len(), 1 + made.len());
    // What it took of the disk is free again, and so is what a session that is deleted had.
    assert_eq!(fork().unwrap_err().code, -32020);
    client.call_ok("session/delete", &json!({"sessionId": made[0]["session"]["id"]}));
    assert!(fork().is_ok());
    model.reply(Reply::says("still here"));
    assert_order(&client.run(&source, "are you there?"), &["turn.ended(completed)"]);
}
