//! An answer as data: the schema comes with the prompt, the model calls a tool with the answer, scripts read it.

use serde_json::{Value, json};
use std::fs;
use tests::{Agentctl, Client, Daemon, ModelServer, Reply, assert_order};

fn schema() -> Value {
    json!({
        "type": "object",
        "properties": {"cause": {"type": "string"}, "lines": {"type": "array", "items": {"type": "integer"}}},
        "required": ["cause"],
        "additionalProperties": false,
    })
}

/// Row X11: agentctl takes a schema as a text or a file and prints the answer; the model is told how to give it.
#[test]
fn agentctl_prints_the_answer_as_data() {
    let model = ModelServer::start();
    let daemon = Daemon::with_model(&model);
    let agentctl = Agentctl::new(daemon.home());
    let answer = json!({"cause": "a typo", "lines": [3, 5]});
    let text = schema().to_string();
    model.reply(Reply::calls("t1", "StructuredOutput", &answer));
    let printed = agentctl.ok(&["run", "why?", "--output", "json", "--output-schema", &text]);
    let object: Value = serde_json::from_str(&printed).unwrap();
    assert_eq!((&object["reason"], &object["structuredOutput"]), (&json!("completed"), &answer));
    let request = model.wait_for_request(1);
    assert!(request.system().contains("calling the tool StructuredOutput exactly once"));
    let tools = request.body["tools"].as_array().unwrap();
    let tool = tools.iter().find(|tool| tool["name"] == "StructuredOutput").unwrap();
    assert_eq!(tool["input_schema"], schema());

    let file = daemon.home().path("schema.json");
    fs::write(&file, text).unwrap();
    model.reply(Reply::new().text("It is this:").tool("t2", "StructuredOutput", &answer));
    let printed = agentctl.ok(&["run", "why?", "--output-schema", file.to_str().unwrap()]);
    assert_eq!(serde_json::from_str::<Value>(printed.lines().last().unwrap()).unwrap(), answer);
    assert_eq!(agentctl.run(&["run", "why?", "--output-schema", "{"]).code, Some(2));

    model.reply(Reply::says("plain"));
    agentctl.ok(&["run", "no schema", "--continue"]);
    let request = model.wait_for_request(3);
    assert!(!request.tool_names().contains(&"StructuredOutput".to_owned()), "the tool is of one turn only");
    assert!(!request.system().contains("StructuredOutput"));
}

/// A wrong answer is an error with the path, the right one ends the turn and is kept.
#[test]
fn a_wrong_answer_is_refused_with_its_path() {
    let model = ModelServer::start();
    let daemon = Daemon::with_model(&model);
    model.reply(Reply::calls("t1", "StructuredOutput", &json!({"cause": "x", "lines": [1, "two"]})));
    model.reply(Reply::calls("t2", "StructuredOutput", &json!({"cause": "x", "lines": [1, 2]})));
    let client = Client::connect(&daemon);
    let session = client.session(&daemon.workspace());
    let params = json!({"sessionId": session, "prompt": "why?", "outputSchema": schema()});
    let turn = client.call_ok("turn/start", &params)["turnId"].clone();
    let events = client.events_until("turn.ended");
    assert_order(&events, &["tool.ended(t1 failed)", "tool.ended(t2 completed)", "turn.ended(completed)"]);
    let error = &model.wait_for_request(2).tool_results()[0].1;
    assert!(error.contains("`/lines/1`: want integer, but got string"), "{error}");
    let answer = json!({"cause": "x", "lines": [1, 2]});
    assert_eq!(events.last().unwrap().body["structuredOutput"], answer);
    let waited = client.call_ok("turn/wait", &json!({"sessionId": session, "turnId": turn}));
    assert_eq!(waited["structuredOutput"], answer);
}

/// What is no schema is refused with the prompt, and what it is about is named.
#[test]
fn a_schema_that_is_none_is_refused() {
    let model = ModelServer::start();
    let daemon = Daemon::with_model(&model);
    let client = Client::connect(&daemon);
    let session = client.session(&daemon.workspace());
    for schema in [json!({"type": "objekt"}), json!("text"), json!({"$ref": "http://127.0.0.1:9/x"})] {
        let params = json!({"sessionId": session, "prompt": "why?", "outputSchema": schema});
        let error = client.call_err("turn/start", &params);
        assert_eq!(error.code, -32602, "{schema}");
        assert!(error.message.contains("outputSchema: not a JSON Schema"), "{error:?}");
    }
}
