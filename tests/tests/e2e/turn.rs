//! A prompt in, a turn out: tools run, results go back, the answer comes, all of it told.

use serde_json::json;
use std::fs;
use tests::{Client, Daemon, ModelServer, Reply, assert_order, delta_text, fake_program, outline};

/// Row L01: a client sees the text before the turn ends.
#[test]
fn a_prompt_is_answered() {
    let model = ModelServer::start();
    let daemon = Daemon::with_model(&model);
    model.reply(Reply::new().text("Hello ").text("there").gate("g"));
    let client = Client::connect(&daemon);
    let session = client.session(&daemon.workspace());
    client.prompt(&session, "hi");
    // The stream stands still until all of it has been read: a delta may be left out once the whole
    // message is there.
    let mut events = client.events_while("for the text", |event| !event.text("text").ends_with("there"));
    model.open("g");
    events.extend(client.events_until("turn.ended"));
    assert_eq!(outline(&events), "turn.started message.completed(end_turn) turn.ended(completed)");
    assert_eq!(delta_text(&events), "Hello there");
    let seqs: Vec<u64> = events.iter().filter_map(|event| event.seq).collect();
    assert_eq!(seqs, [2, 3, 4]);
    assert_eq!(events.last().unwrap().body["usage"]["outputTokens"], 20);
    let request = model.wait_for_request(1);
    assert_eq!(request.body["model"], "m1");
    assert!(request.last_user_text().ends_with("hi"));
    assert_eq!(request.tool_names(), ["Bash", "Edit", "Glob", "Grep", "Read", "Write"]);
}

#[test]
fn a_tool_runs_and_its_result_goes_to_the_model() {
    let model = ModelServer::start();
    let daemon = Daemon::with_model(&model);
    let file = daemon.workspace().join("a.txt");
    fs::write(&file, "a needle\n").unwrap();
    model.reply(Reply::new().text("Let me look.").tool("t1", "Read", &json!({"file_path": file})));
    model.reply(Reply::says("It holds a needle."));
    let client = Client::connect(&daemon);
    let session = client.session(&daemon.workspace());
    let turn = client.prompt(&session, "what is in a.txt?");
    let events = client.events_until("turn.ended");
    let tool = ["turn.started", "tool.queued(t1 Read)", "tool.started(t1)", "tool.ended(t1 completed)"];
    assert_order(&events, &[&tool[..], &["turn.continued(next_turn)", "message.completed(end_turn)"]].concat());
    assert_order(&events, &["message.completed(tool_use)", "turn.continued(next_turn)", "turn.ended(completed)"]);
    let request = model.wait_for_request(2);
    let results = request.tool_results();
    assert_eq!(results.len(), 1);
    assert!(results[0].1.contains("a needle"), "{results:?}");
    let wait = client.call_ok("turn/wait", &json!({"sessionId": session, "turnId": turn}));
    assert_eq!((&wait["reason"], &wait["text"]), (&json!("completed"), &json!("It holds a needle.")));
    assert_eq!(wait["usage"]["inputTokens"], 200);
}

#[test]
fn a_call_that_can_not_run_still_gets_its_result() {
    let model = ModelServer::start();
    let daemon = Daemon::with_model(&model);
    let calls = Reply::new()
        .tool("t1", "NoSuchTool", &json!({}))
        .tool("t2", "Read", &json!({"file": "misspelt"}))
        .broken_tool("t3", "Read", "{\"file_path\": ")
        .tool("t4", "Read", &json!({"file_path": daemon.workspace().join("missing")}));
    model.reply(calls).reply(Reply::says("sorry"));
    let client = Client::connect(&daemon);
    let session = client.session(&daemon.workspace());
    let events = client.run(&session, "go");
    assert_order(&events, &["turn.ended(completed)"]);
    let ended = events.iter().filter(|event| event.kind == "tool.ended");
    assert!(ended.clone().all(|event| event.body["isError"] == true), "{}", outline(&events));
    assert_eq!(ended.count(), 4);
    let ids: Vec<String> = model.wait_for_request(2).tool_results().into_iter().map(|(id, _)| id).collect();
    assert_eq!(ids, ["t1", "t2", "t3", "t4"]);
}

#[test]
fn thinking_goes_back_with_its_signature() {
    let model = ModelServer::start();
    let daemon = Daemon::with_model(&model);
    model.reply(Reply::new().thinking("Let me see.", "c2lnbmF0dXJl").tool("t1", "Glob", &json!({"pattern": "*"})));
    model.reply(Reply::says("nothing"));
    let client = Client::connect(&daemon);
    let session = client.session(&daemon.workspace());
    client.run(&session, "go");
    // The model server checks the signature; here only that the block is there at all.
    let request = model.wait_for_request(2);
    assert_eq!(request.messages()[1]["content"][0]["type"], "thinking");
}

#[test]
fn prompts_wait_their_turn_and_a_key_is_sent_once() {
    let model = ModelServer::start();
    let daemon = Daemon::with_model(&model);
    model.reply_to("first", Reply::new().text("one").gate("g"));
    model.reply_to("second", Reply::says("two"));
    let client = Client::connect(&daemon);
    let session = client.session(&daemon.workspace());
    client.prompt(&session, "the first");
    model.wait_at("g");
    let second = json!({"sessionId": session, "prompt": "the second", "idempotencyKey": "k1"});
    let queued = client.call_ok("turn/start", &second);
    assert_eq!(queued["state"], "queued");
    assert_eq!(client.call_ok("turn/start", &second)["turnId"], queued["turnId"]);
    let busy = json!({"sessionId": session, "prompt": "no", "whenBusy": "reject"});
    assert_eq!(client.call_err("turn/start", &busy).code, -32003);
    let info = client.call_ok("session/get", &json!({"sessionId": session}));
    assert_eq!(info["session"]["status"], "running");
    assert_eq!(info["session"]["queue"], json!([queued["turnId"]]));
    model.open("g");
    let events = [client.events_until("turn.ended"), client.events_until("turn.ended")].concat();
    let first = ["turn.started", "turn.queued", "turn.ended(completed)"];
    assert_order(&events, &[&first[..], &["turn.started", "turn.ended(completed)"]].concat());
    assert_eq!(client.call_ok("turn/start", &second)["turnId"], queued["turnId"]);
    assert_eq!(model.requests().len(), 2);
}

/// Row L05: a limit of two allows two tool rounds, and the next prompt goes on from there.
#[test]
fn a_turn_ends_at_its_limit_of_rounds() {
    let model = ModelServer::start();
    let daemon = Daemon::with_model(&model);
    model.reply(Reply::calls("t1", "Glob", &json!({"pattern": "*"})));
    model.reply(Reply::calls("t2", "Glob", &json!({"pattern": "*"})));
    let client = Client::connect(&daemon);
    let session = client.session(&daemon.workspace());
    client.call_ok("turn/start", &json!({"sessionId": session, "prompt": "loop", "maxTurns": 2}));
    let events = client.events_until("turn.ended");
    assert_order(&events, &["tool.ended(t1 completed)", "turn.ended(max_turns)"]);
    // The transcript is whole all the same: the next prompt is a valid request.
    model.reply(Reply::says("fine"));
    assert_order(&client.run(&session, "and now?"), &["turn.ended(completed)"]);
}

/// Row L10: the tools of the answer that used up the token budget still run; then the turn ends.
#[test]
fn a_turn_ends_at_its_token_budget_after_the_tools() {
    let model = ModelServer::start();
    let daemon = Daemon::with_model(&model);
    model.reply(Reply::calls("t1", "Glob", &json!({"pattern": "*"})).usage(100, 20));
    let client = Client::connect(&daemon);
    let session = client.session(&daemon.workspace());
    client.call_ok("turn/start", &json!({"sessionId": session, "prompt": "loop", "tokenBudget": {"max": 20}}));
    let events = client.events_until("turn.ended");
    assert_order(&events, &["tool.ended(t1 completed)", "turn.ended(token_budget)"]);
    assert_eq!(model.requests().len(), 1);
}

#[test]
fn large_output_stays_out_of_the_model_s_sight() {
    let model = ModelServer::start();
    let daemon = Daemon::builder().model(&model).settings(&json!({"permissions": {"allow": ["Bash"]}})).start();
    let command = format!("{} 1000000", fake_program("spew").display());
    model.reply(Reply::calls("t1", "Bash", &json!({"command": command})));
    model.reply(Reply::says("much"));
    let client = Client::connect(&daemon);
    let session = client.session(&daemon.workspace());
    let events = client.run(&session, "spew");
    let ended = events.iter().find(|event| event.kind == "tool.ended").unwrap();
    let whole = fs::read(ended.text("persistedPath")).unwrap();
    assert_eq!(whole.len(), 1_000_000);
    let result = &model.wait_for_request(2).tool_results()[0].1;
    assert!(result.len() < 40_000, "{} bytes went to the model", result.len());
}

#[test]
fn output_of_any_size_leaves_the_daemon_s_memory_alone() {
    let model = ModelServer::start();
    let daemon = Daemon::builder().model(&model).settings(&json!({"permissions": {"allow": ["Bash"]}})).start();
    let client = Client::connect(&daemon);
    let session = client.session(&daemon.workspace());
    let rss = || client.call_ok("daemon/status", &json!({}))["rssBytes"].as_u64().unwrap();
    let spew = |bytes: u64| json!({"command": format!("{} {bytes}", fake_program("spew").display())});
    // A first, small one, so that what is held for good is there.
    model.reply(Reply::calls("t1", "Bash", &spew(100_000))).reply(Reply::says("some"));
    client.run(&session, "spew");
    let before = rss();
    model.reply(Reply::calls("t2", "Bash", &spew(50_000_000))).reply(Reply::says("much"));
    assert_order(&client.run(&session, "spew more"), &["tool.ended(t2 completed)", "turn.ended(completed)"]);
    let grown = rss().saturating_sub(before);
    assert!(grown <= 16 << 20, "50 MB of output made the daemon grow by {grown} bytes");
}

#[test]
fn a_command_that_takes_too_long_is_stopped_with_its_children() {
    let model = ModelServer::start();
    let daemon = Daemon::builder().model(&model).settings(&json!({"permissions": {"allow": ["Bash"]}})).start();
    let command = json!({"command": "sleep 600 & sleep 600", "timeout": 100});
    model.reply(Reply::calls("t1", "Bash", &command)).reply(Reply::says("too long"));
    let client = Client::connect(&daemon);
    let session = client.session(&daemon.workspace());
    let events = client.run(&session, "go");
    let ended = events.iter().find(|event| event.kind == "tool.ended").unwrap();
    assert_eq!((ended.text("cause"), &ended.body["isError"]), ("timeout", &json!(true)), "{}", ended.body);
    assert_eq!(daemon.home().processes().len(), 1);
    assert_eq!(client.call_ok("process/list", &json!({}))["processes"], json!([]));
}

#[test]
fn files_and_pictures_of_a_prompt_reach_the_model() {
    let model = ModelServer::start();
    let daemon = Daemon::with_model(&model);
    let file = daemon.workspace().join("notes.txt");
    fs::write(&file, "one\ntwo needle\nthree\n").unwrap();
    let prompt = json!([
        {"type": "text", "text": "what is this?"},
        {"type": "file", "path": "notes.txt", "range": {"start": 2, "end": 2}},
        {"type": "image", "mediaType": "image/png", "data": "iVBORw0KGgo="},
        {"type": "resource", "uri": "buffer://1", "text": "an unsaved line"},
    ]);
    model.reply(Reply::says("notes"));
    let client = Client::connect(&daemon);
    let session = client.session(&daemon.workspace());
    client.call_ok("turn/start", &json!({"sessionId": session, "prompt": prompt}));
    assert_order(&client.events_until("turn.ended"), &["turn.ended(completed)"]);
    let request = model.wait_for_request(1);
    let text = request.last_user_text();
    assert!(text.contains("two needle") && !text.contains("three") && text.contains("an unsaved line"), "{text}");
    let content = request.messages()[0]["content"].to_string();
    assert!(content.contains("iVBORw0KGgo=") && content.contains("image/png"), "{content}");
}

/// Row L14: a file that changed since the model read it is told of with the next prompt, once.
#[test]
fn a_file_that_changed_meanwhile_is_told_of() {
    let model = ModelServer::start();
    let daemon = Daemon::with_model(&model);
    let file = daemon.workspace().join("a.txt");
    std::fs::write(&file, "one").unwrap();
    model.reply(Reply::calls("t1", "Read", &json!({"file_path": "a.txt"})));
    for _ in 0..3 {
        model.reply(Reply::says("done"));
    }
    let client = Client::connect(&daemon);
    let session = client.session(&daemon.workspace());
    client.run(&session, "read it");
    std::fs::write(&file, "three").unwrap();
    client.run(&session, "and now");
    let told = model.wait_for_request(3).last_user_text();
    assert!(told.contains("and now") && told.contains("a.txt\" has changed"), "{told}");
    client.run(&session, "again");
    assert_eq!(model.wait_for_request(4).last_user_text(), "again");
}
