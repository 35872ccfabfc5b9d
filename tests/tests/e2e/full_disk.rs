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
