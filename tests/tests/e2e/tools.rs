//! Which tools a session has, as clients and models see them.

use serde_json::{Value, json};
use std::fs;
use tests::{Client, Daemon, ModelServer, Reply, assert_order, outline};

fn listed(client: &Client, session: &str) -> Vec<Value> {
    client.call_ok("tool/list", &json!({"sessionId": session}))["tools"].as_array().unwrap().clone()
}

fn names(tools: &[Value]) -> Vec<&str> {
    tools.iter().map(|tool| tool["name"].as_str().unwrap()).collect()
}

#[test]
fn the_list_says_of_each_tool_where_it_is_from_and_what_it_does() {
    let daemon = Daemon::start();
    let client = Client::connect(&daemon);
    let session = client.session(&daemon.workspace());
    let tools = listed(&client, &session);
    assert_eq!(names(&tools), ["Bash", "Edit", "Glob", "Grep", "Read", "Write"]);
    for tool in &tools {
        let reads = ["Glob", "Grep", "Read"].contains(&tool["name"].as_str().unwrap());
        assert_eq!((&tool["source"], &tool["deferred"]), (&json!("builtin"), &json!(false)));
        assert_eq!(tool["readOnlyHint"], json!(reads), "{tool}");
        assert_eq!(tool["inputSchema"]["additionalProperties"], json!(false), "{tool}");
    }
}

/// Row R01: a deny rule without content takes its tool away from the model and from the list; one with content
/// leaves it there. A call of it is denied by the rule all the same.
#[test]
fn a_denied_tool_is_not_there() {
    let model = ModelServer::start();
    let daemon = Daemon::with_model(&model);
    let folder = daemon.workspace();
    fs::create_dir(folder.join(".agentd")).unwrap();
    let settings = json!({"permissions": {"deny": ["Glob", "Write(secret)"]}});
    fs::write(folder.join(".agentd/settings.json"), settings.to_string()).unwrap();
    let client = Client::connect(&daemon);
    let session = client.session(&folder);
    let expected = ["Bash", "Edit", "Grep", "Read", "Write"];
    assert_eq!(names(&listed(&client, &session)), expected);
    model.reply(Reply::calls("t1", "Glob", &json!({"pattern": "*"}))).reply(Reply::says("I see"));
    let events = client.run(&session, "go");
    assert_order(&events, &["tool.ended(t1 denied)"]);
    assert_eq!(model.wait_for_request(1).tool_names(), expected);
    let result = &model.wait_for_request(2).tool_results()[0].1;
    assert!(result.contains("denied by the rule Glob"), "{result}");
}

/// Row R07: the client's environment switches simple mode, for its own session only.
#[test]
fn simple_mode_leaves_three_tools() {
    let model = ModelServer::start();
    let daemon = Daemon::with_model(&model);
    let client = Client::connect(&daemon);
    let simple = json!({"cwd": daemon.workspace(), "env": {"CLAUDE_CODE_SIMPLE": "1"}});
    let session = client.session_with(&simple);
    assert_eq!(names(&listed(&client, &session)), ["Bash", "Edit", "Read"]);
    model.reply(Reply::says("one")).reply(Reply::says("two"));
    client.run(&session, "go");
    assert_eq!(model.wait_for_request(1).tool_names(), ["Bash", "Edit", "Read"]);
    let other = client.session(&daemon.workspace());
    client.run(&other, "go");
    assert_eq!(model.wait_for_request(2).tool_names().len(), 6);
}

/// Row T07: a call is validated first and then judged, and either stops it: a bad input is never asked about.
#[test]
fn a_bad_input_is_refused_before_anybody_is_asked() {
    let model = ModelServer::start();
    let daemon = Daemon::with_model(&model);
    let path = daemon.workspace().join("f");
    let (bad, good) = (json!({"file_path": path, "text": "x"}), json!({"file_path": path, "content": "x"}));
    model.reply(Reply::calls("t1", "Write", &bad)).reply(Reply::calls("t2", "Write", &good));
    let client = Client::connect(&daemon);
    let session = client.session(&daemon.workspace());
    client.prompt(&session, "go");
    let events = client.decide_next("deny");
    let asked: Vec<&str> =
        events.iter().filter(|event| event.kind == "permission.requested").map(|e| e.text("toolCallId")).collect();
    assert_eq!(asked, ["t2"], "{}", outline(&events));
    let results = model.wait_for_request(2).tool_results();
    assert!(results[0].1.contains("InputValidationError") && results[0].1.contains("`content`"), "{results:?}");
    client.events_until("turn.ended");
    assert!(!path.exists());
}
