//! What goes to a provider over a session's life: each request begins with the one before, so that prompt caches
//! are found again, also by an agentd that was started anew.

use serde_json::{Value, json};
use std::fs;
use tests::{Client, Daemon, ModelServer, Reply};

/// What the Messages API has over a block's bytes, and moves on with each request.
const MARK: &str = r#","cache_control":{"type":"ephemeral"}"#;

/// A body from its first byte to the end of its last message, without marks.
fn grown(bytes: &[u8]) -> String {
    let body = std::str::from_utf8(bytes).expect("text");
    let kept = body.strip_suffix("]}").expect("the messages come last");
    kept.replace(MARK, "")
}

/// Two turns with tools, errors, thinking and pictures; a restart; a third turn.
fn session(model_name: &str) {
    let model = ModelServer::start();
    let mut daemon = Daemon::with_model(&model);
    let file = daemon.workspace().join("a.txt");
    fs::write(&file, "a needle ü\n".repeat(1000)).unwrap();
    let look = json!({"file_path": file, "limit": 7});
    model.reply(Reply::new().thinking("hm", "c2ln").text("Let me look.").tool("t1", "Read", &look).tool(
        "t2",
        "Read",
        &json!({"file_path": daemon.workspace().join("none"), "offset": 1}),
    ));
    model.reply(Reply::new().text("Again.").broken_tool("t3", "Read", "{\"file_path\": "));
    model.reply(Reply::says("It holds a needle."));
    model.reply(Reply::calls("t4", "Glob", &json!({"pattern": "*.txt"}))).reply(Reply::says("one file"));
    let picture = json!({"type": "image", "mediaType": "image/png", "data": "iVBORw0KGgo="});
    let prompts = [json!("what is in a.txt?"), json!([{"type": "text", "text": "and this?"}, picture]), json!("more")];
    let client = Client::connect(&daemon);
    let session = client.session_with(&json!({"cwd": daemon.workspace(), "model": model_name}));
    let run = |client: &Client, prompt: &Value| {
        let turn = client.call_ok("turn/start", &json!({"sessionId": session, "prompt": prompt}));
        let wait = json!({"sessionId": session, "turnId": turn["turnId"]});
        assert_eq!(client.call_ok("turn/wait", &wait)["reason"], "completed");
    };
    run(&client, &prompts[0]);
    run(&client, &prompts[1]);
    client.leave();
    daemon.restart();
    let client = Client::connect(&daemon);
    client.leave();
    model.reply(Reply::says("the end"));
    run(&client, &prompts[2]);
    let bodies: Vec<String> = model.requests().iter().map(|request| grown(&request.bytes)).collect();
    assert_eq!(bodies.len(), 6);
    for (n, pair) in bodies.windows(2).enumerate() {
        assert!(pair[1].len() > pair[0].len() && pair[1].starts_with(&pair[0]), "{model_name}: request {}", n + 2);
    }
}

#[test]
fn messages_requests_only_grow_also_over_a_restart() {
    session("test/m1");
}

#[test]
fn chat_requests_only_grow_also_over_a_restart() {
    session("chat/m1");
}
