//! A tool call's way through the stages: what can't run is an error that helps, what is too large goes to a file.

use serde_json::{Value, json};
use std::fs;
use std::os::unix::fs::PermissionsExt;
use std::path::Path;
use tests::{Client, Daemon, Event, ModelServer, Reply, assert_order};

fn ended<'a>(events: &'a [Event], call: &str) -> &'a Event {
    let of_call = |event: &&Event| event.kind == "tool.ended" && event.text("toolCallId") == call;
    events.iter().find(of_call).unwrap_or_else(|| panic!("{call} has no end"))
}

fn mode(path: &str) -> u32 {
    fs::metadata(path).unwrap().permissions().mode() & 0o777
}

/// Rows X01, X02, X03, L13: an unknown tool, a wrong field and broken JSON each give one error that names what is
/// wrong; broken input never counts as harmless, and the model server finds no gap.
#[test]
fn what_can_not_run_says_why() {
    let model = ModelServer::start();
    let daemon = Daemon::with_model(&model);
    let calls = Reply::new()
        .tool("t1", "Raed", &json!({"file_path": "a"}))
        .tool("t2", "Read", &json!({"path": "a"}))
        .broken_tool("t3", "Read", "{\"file_path\": \"a")
        // The last: a failed Bash stops what waits behind it.
        .tool("t4", "Bash", &json!({"command": ["ls"]}));
    model.reply(calls).reply(Reply::says("sorry"));
    let client = Client::connect(&daemon);
    let session = client.session(&daemon.workspace());
    let events = client.run(&session, "go");
    assert_order(&events, &["turn.ended(completed)"]);
    let results = model.wait_for_request(2).tool_results();
    for (call, (id, text), said) in [
        (
            "t1",
            &results[0],
            "No such tool: Raed. Did you mean Read? The tools are: Bash, Edit, Glob, Grep, Read, Write",
        ),
        ("t2", &results[1], "InputValidationError: Read: the field `file_path` is missing; it must be a string"),
        ("t3", &results[2], "InputValidationError: Read: the input is not valid JSON (EOF while parsing a string"),
        ("t4", &results[3], "InputValidationError: Bash: the field `command` must be a string, not a list"),
    ] {
        assert_eq!(id, call);
        assert!(text.starts_with(&format!("<tool_use_error>{said}")), "{text}");
        assert!(text.ends_with("</tool_use_error>"), "{text}");
        assert!(!ended(&events, call).text("summary").contains('<'), "people need no tags");
    }
    let request = model.wait_for_request(2);
    let [_, _, told] = request.messages() else { panic!("a prompt, an answer and its results") };
    let flags: Vec<&Value> = told["content"].as_array().unwrap().iter().map(|result| &result["is_error"]).collect();
    assert_eq!((&told["role"], flags), (&json!("user"), vec![&json!(true); 4]));
    let queued =
        |call: &str| events.iter().find(|event| event.kind == "tool.queued" && event.text("toolCallId") == call);
    assert_eq!(queued("t3").unwrap().body["concurrencySafe"], false);
    assert!(!events.iter().any(|event| event.kind == "tool.started"));
}

/// Rows G01, G02, X10, X12: a result over the limit is in a private file under the session, named after the call;
/// the model gets its path and the first 1,000 characters.
#[test]
fn a_large_result_goes_to_a_private_file() {
    let model = ModelServer::start();
    let daemon = Daemon::with_model(&model);
    let text: String = (0..2_000).map(|number| format!("an é in line {number:04}\n")).collect();
    fs::write(daemon.workspace().join("many.txt"), text).unwrap();
    let grep = json!({"pattern": "é", "output_mode": "content", "head_limit": 0, "path": "many.txt"});
    model.reply(Reply::calls("toolu_many", "Grep", &grep)).reply(Reply::says("many"));
    let client = Client::connect(&daemon);
    let session = client.session(&daemon.workspace());
    let events = client.run(&session, "look");
    let ended = ended(&events, "toolu_many");
    let path = ended.text("persistedPath");
    assert!(path.ends_with(&format!("sessions/{session}/outputs/toolu_many.txt")), "{path}");
    assert_eq!(mode(path), 0o600);
    let whole = fs::read_to_string(path).unwrap();
    assert_eq!(whole.lines().count(), 2_000);
    assert_eq!(ended.body["resultBytes"], whole.len());
    let told = &model.wait_for_request(2).tool_results()[0].1;
    let start: String = whole.chars().take(1_000).collect();
    assert!(told.contains(path) && told.ends_with(&start) && told.chars().count() < 1_500, "{told}");
}

fn read(call: &str, file: &Path) -> (String, Value) {
    (call.to_owned(), json!({"file_path": file}))
}

/// Row X13: of three results that are too much together the biggest goes to a file, and after a restart the model
/// is told the very same.
#[test]
fn the_biggest_of_a_round_goes_to_a_file() {
    let model = ModelServer::start();
    let settings = json!({"tools": {"batchResultChars": 30_000}});
    let mut daemon = Daemon::builder().model(&model).settings(&settings).start();
    let mut calls = Reply::new();
    for (call, chars) in [("t1", 9_000), ("t2", 16_000), ("t3", 8_000)] {
        let file = daemon.workspace().join(call);
        fs::write(&file, format!("{}\n", "x".repeat(999)).repeat(chars / 1_000)).unwrap();
        let (call, input) = read(call, &file);
        calls = calls.tool(&call, "Read", &input);
    }
    model.reply(calls).reply(Reply::says("read"));
    let client = Client::connect(&daemon);
    let session = client.session(&daemon.workspace());
    let events = client.run(&session, "read all");
    drop(client);
    // Whichever ended last says what went to a file: by its own end, or by that of another.
    let told_later = events.iter().flat_map(|event| event.body["persistedResults"].as_array().into_iter().flatten());
    let own = ["t1", "t2", "t3"].map(|call| ended(&events, call).body.clone());
    let persisted: Vec<&Value> =
        told_later.chain(own.iter()).filter(|result| result["persistedPath"].is_string()).collect();
    let [one] = persisted.as_slice() else { panic!("one result goes: {persisted:?}") };
    assert_eq!(one["toolCallId"], "t2");
    let path = one["persistedPath"].as_str().unwrap();
    assert_eq!((mode(path), fs::read_to_string(path).unwrap().lines().count()), (0o600, 16));

    let request = model.wait_for_request(2);
    let results = request.tool_results();
    let ids: Vec<&str> = results.iter().map(|(id, _)| id.as_str()).collect();
    assert_eq!(ids, ["t1", "t2", "t3"]);
    assert!(results[1].1.contains(path) && results[1].1.len() < 1_500, "{}", results[1].1);
    assert!(results[0].1.len() > 9_000 && results[2].1.len() > 8_000);
    assert!(results.iter().map(|(_, text)| text.len()).sum::<usize>() <= 30_000);

    daemon.restart();
    model.reply(Reply::says("still there"));
    let client = Client::connect(&daemon);
    let attached = client.call_ok("session/get", &json!({"sessionId": session}));
    client.attach(&session, attached["session"]["lastSeq"].as_u64().unwrap());
    client.run(&session, "and now?");
    assert_eq!(model.wait_for_request(3).tool_results(), []);
    let after = model.wait_for_request(3);
    assert_eq!(after.messages()[2]["content"][1]["content"], request.messages()[2]["content"][1]["content"]);
}
