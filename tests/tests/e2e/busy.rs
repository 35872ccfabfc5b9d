//! A prompt while a turn runs: it may wait, join, or end the turn.

use crate::fifo::Fifo;
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
    let schema = json!({"sessionId": session, "prompt": "more", "outputSchema": {"type": "objekt"}});
    let error = client.call_err("turn/start", &schema);
    assert_eq!((error.code, error.message.contains("outputSchema")), (-32602, true), "{error:?}");
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

/// Prompts that wait already stay behind the one that takes the turn's place, and keep their order.
#[test]
fn a_prompt_that_ends_the_turn_goes_before_those_that_wait() {
    let model = ModelServer::start();
    let daemon = Daemon::with_model(&model);
    model.reply_to("first", Reply::new().text("a long").gate("g"));
    let client = Client::connect(&daemon);
    let session = client.session(&daemon.workspace());
    client.prompt(&session, "the first");
    model.wait_at("g");
    for (prompt, when_busy) in [("waits", "queue"), ("waits too", "queue"), ("takes over", "interrupt")] {
        model.reply_to(prompt, Reply::says("done"));
        assert_eq!(start(&client, &session, prompt, when_busy)["state"], "queued");
    }
    let order: Vec<Value> = (0..4)
        .flat_map(|_| client.events_until("turn.ended"))
        .filter(|event| event.kind == "turn.started")
        .map(|event| event.body["prompt"].clone())
        .collect();
    assert_eq!(order, ["the first", "takes over", "waits", "waits too"]);
}

/// Two prompts steer a turn: both are told after the tools that run, in one message with their results; the turn goes on.
#[test]
fn a_prompt_can_join_the_turn_after_its_tools() {
    let model = ModelServer::start();
    let daemon = Daemon::with_model(&model);
    let pipe = Fifo::new(&daemon.workspace(), "p");
    model.reply(Reply::calls("t1", "Bash", &json!({"command": "cat p"})));
    model.reply(Reply::says("blue it is"));
    let client = Client::connect(&daemon);
    let session = client.session(&daemon.workspace());
    let turn = client.prompt(&session, "paint it");
    let mut events = client.events_until("tool.started");
    for text in ["in blue", "and bright"] {
        let steered = start(&client, &session, text, "steer");
        assert_eq!(steered, json!({"turnId": turn, "state": "steered"}));
    }
    pipe.release("wall");
    events.extend(client.events_until("turn.ended"));
    assert_order(
        &events,
        &["turn.steered", "tool.ended(t1 completed)", "turn.continued(steered)", "turn.ended(completed)"],
    );
    let request = model.wait_for_request(2);
    assert!(request.tool_results()[0].1.contains("wall"));
    let texts: Vec<&str> = request.messages()[2]["content"]
        .as_array()
        .unwrap()
        .iter()
        .filter_map(|block| block["text"].as_str())
        .collect();
    assert_eq!(texts, ["in blue", "and bright"]);
}

/// A prompt that waits is taken back while tools run: the model is told all their results, and a client that attaches
/// then sees what is under way from its start.
#[test]
fn a_prompt_that_is_taken_back_leaves_the_turn_that_runs_alone() {
    let model = ModelServer::start();
    let daemon = Daemon::with_model(&model);
    let pipe = Fifo::new(&daemon.workspace(), "p");
    let calls = Reply::new().tool("t1", "Glob", &json!({"pattern": "*"}));
    model.reply(calls.tool("t2", "Bash", &json!({"command": "cat p"})));
    model.reply(Reply::new().text("all of").gate("g").text(" it"));
    let client = Client::connect(&daemon);
    let session = client.session(&daemon.workspace());
    let take_back = || {
        let waiting = start(&client, &session, "later", "queue")["turnId"].clone();
        client.call_ok("turn/cancel", &json!({"sessionId": session, "turnId": waiting}));
    };
    client.prompt(&session, "go");
    client.events_until("tool.ended");
    take_back();
    pipe.release("water");
    let results = model.wait_for_request(2).tool_results();
    assert_eq!(results.iter().map(|(call, _)| call.as_str()).collect::<Vec<_>>(), ["t1", "t2"]);
    client.events_until("message.delta");
    take_back();
    let late = Client::connect(&daemon);
    late.call_ok("session/attach", &json!({"sessionId": session}));
    let so_far = late.events_until("message.delta").pop().unwrap();
    assert_eq!((&so_far.body["offset"], so_far.text("text")), (&json!(0), "all of"));
    model.open("g");
    late.events_until("message.completed");
    late.leave();
    client.leave();
}

/// While the model says its last words a prompt still joins, and is answered in the same turn.
#[test]
fn a_prompt_joins_a_turn_that_would_be_done() {
    let model = ModelServer::start();
    let daemon = Daemon::with_model(&model);
    model.reply(Reply::new().text("done").gate("g"));
    model.reply(Reply::says("that too"));
    let client = Client::connect(&daemon);
    let session = client.session(&daemon.workspace());
    client.prompt(&session, "first");
    model.wait_at("g");
    let params = json!({"sessionId": session, "prompt": "and that", "whenBusy": "steer", "idempotencyKey": "k"});
    let steered = client.call_ok("turn/start", &params);
    assert_eq!(client.call_ok("turn/start", &params), steered, "sent twice, it joins once");
    model.open("g");
    let events = client.events_until("turn.ended");
    assert_order(
        &events,
        &["turn.steered", "turn.continued(steered)", "message.completed(end_turn)", "turn.ended(completed)"],
    );
    assert_eq!(model.requests().len(), 2);
    assert_eq!(model.wait_for_request(2).last_user_text(), "and that");
}

/// A turn that ends before it could be steered leaves the prompt as one of its own.
#[test]
fn a_prompt_that_could_not_join_is_answered_next() {
    let model = ModelServer::start();
    let daemon = Daemon::with_model(&model);
    let pipe = Fifo::new(&daemon.workspace(), "p");
    model.reply(Reply::calls("t1", "Bash", &json!({"command": "cat p"})));
    model.reply(Reply::says("now blue"));
    let client = Client::connect(&daemon);
    let session = client.session(&daemon.workspace());
    client.call_ok("turn/start", &json!({"sessionId": session, "prompt": "paint it", "maxTurns": 1}));
    client.events_until("tool.started");
    start(&client, &session, "in blue", "steer");
    pipe.release("wall");
    let events = [client.events_until("turn.ended"), client.events_until("turn.ended")].concat();
    assert_order(&events, &["turn.queued", "turn.ended(max_turns)", "turn.started", "turn.ended(completed)"]);
    assert_eq!(model.wait_for_request(2).last_user_text(), "in blue");
}

/// A prompt that steered a turn which a kill cut is told with the next one.
#[test]
fn a_prompt_that_steered_survives_a_kill() {
    let model = ModelServer::start();
    let mut daemon = Daemon::with_model(&model);
    model.reply(Reply::new().text("a").gate("g"));
    model.reply(Reply::says("blue"));
    let client = Client::connect(&daemon);
    let session = client.session(&daemon.workspace());
    client.prompt(&session, "first");
    model.wait_at("g");
    start(&client, &session, "in blue", "steer");
    client.leave();
    daemon.kill9();
    daemon.start_again();
    let client = Client::connect(&daemon);
    client.attach(&session, 0);
    client.call_ok("turn/resume", &json!({"sessionId": session}));
    client.events_while("to the end", |event| !(event.kind == "turn.ended" && event.text("reason") == "completed"));
    assert!(model.wait_for_request(2).last_user_text().contains("in blue"));
}

/// Row I07: a call that may write is not cut by a new prompt, which waits; what had not started never does.
#[test]
fn an_interrupt_waits_for_a_writer() {
    let model = ModelServer::start();
    let daemon = Daemon::builder().model(&model).settings(&json!({"permissions": {"allow": ["Bash"]}})).start();
    let pipe = Fifo::new(&daemon.workspace(), "p");
    let calls = Reply::new().tool("t1", "Bash", &json!({"command": "cat p > out"}));
    model.reply_to("first", calls.tool("t2", "Bash", &json!({"command": "ls"})));
    model.reply_to("second", Reply::says("done"));
    let client = Client::connect(&daemon);
    let session = client.session(&daemon.workspace());
    client.prompt(&session, "the first");
    client.events_until_all(&["message.completed", "tool.started"]);
    start(&client, &session, "the second", "interrupt");
    let cut = client.events_until("tool.ended");
    assert_order(&cut, &["tool.ended(t2 cancelled)"]);
    assert_eq!(cut.last().unwrap().text("cause"), "user_interrupted");
    pipe.release("whole");
    let events = [client.events_until("turn.ended"), client.events_until("turn.ended")].concat();
    assert_order(&events, &["tool.ended(t1 completed)", "turn.ended(aborted_tools)", "turn.ended(completed)"]);
    let results = model.wait_for_request(2).tool_results();
    assert_eq!(results.iter().map(|(id, _)| id.as_str()).collect::<Vec<_>>(), ["t1", "t2"]);
    assert_eq!(std::fs::read_to_string(daemon.workspace().join("out")).unwrap(), "whole");
}

/// A question that nobody has answered does not hold up a prompt that interrupts.
#[test]
fn an_interrupt_takes_back_an_open_question() {
    let model = ModelServer::start();
    let daemon = Daemon::with_model(&model);
    model.reply_to("first", Reply::calls("t1", "Bash", &json!({"command": "touch made"})));
    model.reply_to("second", Reply::says("done"));
    let client = Client::connect(&daemon);
    let session = client.session(&daemon.workspace());
    client.prompt(&session, "the first");
    client.events_until_all(&["message.completed", "permission.requested"]);
    start(&client, &session, "the second", "interrupt");
    let events = [client.events_until("turn.ended"), client.events_until("turn.ended")].concat();
    assert_order(&events, &["tool.ended(t1 cancelled)", "turn.ended(aborted_tools)", "turn.ended(completed)"]);
    assert_eq!(client.call_ok("permission/list", &json!({}))["requests"], json!([]));
    assert!(!daemon.workspace().join("made").exists());
}

/// Row I06: a call that only reads is cut by a new prompt, and the model is told by what; a setting can change that.
#[test]
fn an_interrupt_cuts_a_reader_unless_a_setting_says_otherwise() {
    for (setting, status) in [("cancel", "cancelled"), ("block", "completed")] {
        let model = ModelServer::start();
        let settings = json!({"tools": {"interrupt": {"Bash": setting}}});
        let daemon = Daemon::builder().model(&model).settings(&settings).start();
        let pipe = Fifo::new(&daemon.workspace(), "p");
        model.reply_to("first", Reply::calls("t1", "Bash", &json!({"command": "cat p"})));
        model.reply_to("second", Reply::says("done"));
        let client = Client::connect(&daemon);
        let session = client.session(&daemon.workspace());
        client.prompt(&session, "the first");
        client.events_until_all(&["message.completed", "tool.started"]);
        start(&client, &session, "the second", "interrupt");
        if setting == "block" {
            pipe.release("whole");
        }
        let events = [client.events_until("turn.ended"), client.events_until("turn.ended")].concat();
        assert_order(
            &events,
            &[&format!("tool.ended(t1 {status})"), "turn.ended(aborted_tools)", "turn.ended(completed)"],
        );
        let told = &model.wait_for_request(2).tool_results()[0].1;
        assert_eq!(told.contains("Interrupted by the user: a new prompt came in."), setting == "cancel", "{told}");
    }
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
