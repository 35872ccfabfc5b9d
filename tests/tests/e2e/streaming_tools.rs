//! Tools start while the model still streams: side by side where that is safe, alone where it is not,
//! results to the model in call order. Order is proved by gates and pipes, never by time.

use crate::fifo::Fifo;
use serde_json::json;
use std::fs;
use std::io::Write as _;
use tests::{Client, Daemon, Event, ModelServer, Reply, assert_order};

/// Row L02: a call is recorded, runs and ends before the answer does.
#[test]
fn a_result_is_announced_before_the_stream_goes_on() {
    let model = ModelServer::start();
    let daemon = Daemon::with_model(&model);
    let file = daemon.workspace().join("a.txt");
    fs::write(&file, "one\n").unwrap();
    let input = json!({"file_path": file});
    model.reply(Reply::new().tool("t1", "Read", &input).gate("g").tool("t2", "Read", &input));
    model.reply(Reply::says("done"));
    let client = Client::connect(&daemon);
    let session = client.session(&daemon.workspace());
    client.prompt(&session, "go");
    let early = client.events_until("tool.ended");
    assert_order(&early, &["tool.queued(t1 Read)", "tool.started(t1)", "tool.ended(t1 completed)"]);
    model.wait_at("g");
    assert!(!early.iter().any(|event| event.kind == "message.completed"));
    model.open("g");
    let late = client.events_until("turn.ended");
    assert_order(&late, &["tool.queued(t2 Read)", "tool.ended(t2 completed)", "turn.ended(completed)"]);
    let ids: Vec<String> = model.wait_for_request(2).tool_results().into_iter().map(|(id, _)| id).collect();
    assert_eq!(ids, ["t1", "t2"]);
}

#[test]
fn a_call_whose_input_is_not_complete_does_not_run() {
    let model = ModelServer::start();
    let daemon = Daemon::builder().model(&model).settings(&json!({"permissions": {"allow": ["Bash"]}})).start();
    let harmless = "{\"command\": \"touch half\"";
    model.reply(Reply::new().text("so").partial_tool("t1", "Bash", harmless).gate("g").cut());
    model.reply(Reply::says("again"));
    let client = Client::connect(&daemon);
    let session = client.session(&daemon.workspace());
    client.prompt(&session, "go");
    model.wait_at("g");
    model.open("g");
    let events = client.events_until("turn.ended");
    assert_order(&events, &["message.completed(error)", "turn.continued(next_turn)", "turn.ended(completed)"]);
    assert!(!events.iter().any(|event| event.kind == "tool.started"), "{events:?}");
    assert!(!daemon.workspace().join("half").exists());
}

/// Rows C03, C08: [R, R, B, R] runs as {R, R}, {B}, {R}; whatever ends first, the model gets the results in call order.
#[test]
fn readers_run_together_a_writer_alone_and_results_keep_their_order() {
    let model = ModelServer::start();
    let daemon = Daemon::builder().model(&model).settings(&json!({"permissions": {"allow": ["Bash"]}})).start();
    let pipes: Vec<Fifo> = (1..=4).map(|n| Fifo::new(&daemon.workspace(), &format!("p{n}"))).collect();
    let cat = |n: usize| json!({"command": format!("cat p{n}")});
    let writer = json!({"command": "cat p3 > out"});
    let calls = Reply::new().tool("t1", "Bash", &cat(1)).tool("t2", "Bash", &cat(2));
    model.reply(calls.tool("t3", "Bash", &writer).tool("t4", "Bash", &cat(4)));
    model.reply(Reply::says("done"));
    let client = Client::connect(&daemon);
    let session = client.session(&daemon.workspace());
    client.prompt(&session, "go");
    let mut events = take_started(&client, 2);
    let mut started: Vec<&str> = events.iter().filter(|event| event.kind == "tool.started").map(call_of).collect();
    started.sort_unstable();
    assert_eq!(started, ["t1", "t2"], "both readers run, nothing else does");
    // The second ends first; were the writer let past the readers, or the last reader past the writer, the
    // log would show it below.
    pipes[1].release("two");
    events.extend(client.events_until("tool.ended"));
    pipes[0].release("one");
    events.extend(client.events_while("until t3 starts", |event| !is(event, "tool.started", "t3")));
    pipes[2].release("three");
    events.extend(client.events_while("until t4 starts", |event| !is(event, "tool.started", "t4")));
    pipes[3].release("four");
    events.extend(client.events_until("turn.ended"));
    assert_order(&events, &["tool.ended(t2 completed)", "tool.ended(t1 completed)", "tool.started(t3)"]);
    assert_order(&events, &["tool.ended(t3 completed)", "tool.started(t4)", "turn.ended(completed)"]);
    let results = model.wait_for_request(2).tool_results();
    let ids: Vec<&str> = results.iter().map(|(id, _)| id.as_str()).collect();
    assert_eq!(ids, ["t1", "t2", "t3", "t4"]);
    assert!(results[0].1.contains("one") && results[1].1.contains("two") && results[3].1.contains("four"));
    assert_eq!(fs::read_to_string(daemon.workspace().join("out")).unwrap(), "three");
}

/// Row C13: four reads come at different times, and each has run before the stream ends.
#[test]
fn four_reads_run_while_the_answer_streams() {
    let model = ModelServer::start();
    let daemon = Daemon::with_model(&model);
    fs::write(daemon.workspace().join("a"), "one").unwrap();
    let input = json!({"file_path": "a"});
    let calls =
        (1..=4).fold(Reply::new(), |reply, n| reply.tool(&format!("t{n}"), "Read", &input).gate(&format!("g{n}")));
    model.reply(calls);
    model.reply(Reply::says("done"));
    let client = Client::connect(&daemon);
    let session = client.session(&daemon.workspace());
    client.prompt(&session, "go");
    for n in 1..=4 {
        let events = client.events_until("tool.ended");
        assert_order(&events, &[&format!("tool.ended(t{n} completed)")]);
        assert!(!events.iter().any(|event| event.kind == "message.completed"));
        model.wait_at(&format!("g{n}"));
        model.open(&format!("g{n}"));
    }
    assert_order(&client.events_until("turn.ended"), &["message.completed(tool_use)", "turn.ended(completed)"]);
}

/// Row C06: a failed command that may write cancels the rest, queued or still to come, and the model is told which failed.
#[test]
fn a_failing_writer_cancels_the_queued_rest() {
    let model = ModelServer::start();
    let daemon = Daemon::builder().model(&model).settings(&json!({"permissions": {"allow": ["Bash"]}})).start();
    let failing = json!({"command": "mkdir made && false"});
    let touch = json!({"command": "touch late"});
    model.reply(
        Reply::new().tool("t1", "Bash", &failing).tool("t2", "Bash", &touch).gate("g").tool("t3", "Bash", &touch),
    );
    model.reply(Reply::says("done"));
    let client = Client::connect(&daemon);
    let session = client.session(&daemon.workspace());
    client.prompt(&session, "go");
    model.wait_at("g");
    let early = client.events_while("t2 is over", |event| !is(event, "tool.ended", "t2"));
    assert_order(&early, &["tool.ended(t1 failed)", "tool.ended(t2 cancelled)"]);
    model.open("g");
    let late = client.events_until("turn.ended");
    assert_order(&late, &["tool.queued(t3 Bash)", "tool.ended(t3 cancelled)", "turn.ended(completed)"]);
    assert!(!early.iter().chain(&late).any(|event| is(event, "tool.started", "t2") || is(event, "tool.started", "t3")));
    let results = model.wait_for_request(2).tool_results();
    let told = "Cancelled: parallel tool call Bash: mkdir made && false errored.";
    assert!(results[1].1.starts_with(told) && results[2].1.starts_with(told), "{results:?}");
    assert!(!daemon.workspace().join("late").exists());
}

/// Rows C06, C07: a grep that finds nothing and a reader that fails stop nobody.
#[test]
fn a_reader_fails_alone_and_no_match_is_no_failure() {
    let model = ModelServer::start();
    let daemon = Daemon::builder().model(&model).settings(&json!({"permissions": {"allow": ["Bash"]}})).start();
    let no_match = json!({"command": "touch f && grep nothing f"});
    let failing = json!({"command": "cat missing"});
    let touch = json!({"command": "touch late"});
    model.reply(Reply::new().tool("t1", "Bash", &no_match).tool("t2", "Bash", &failing).tool("t3", "Bash", &touch));
    model.reply(Reply::says("done"));
    let client = Client::connect(&daemon);
    let session = client.session(&daemon.workspace());
    let events = client.run(&session, "go");
    assert_order(&events, &["tool.ended(t1 completed)", "tool.ended(t2 failed)", "tool.ended(t3 completed)"]);
}

/// Row C04: no more calls run at once than the setting or the client's variable says; what is over waits for one that
/// ends.
#[test]
fn the_cap_holds_back_what_is_over_it() {
    for (settings, env) in [
        (json!({"tools": {"maxConcurrency": 2}}), json!({})),
        (json!({}), json!({"CLAUDE_CODE_MAX_TOOL_USE_CONCURRENCY": "2"})),
    ] {
        let model = ModelServer::start();
        let daemon = Daemon::builder().model(&model).settings(&settings).start();
        let pipes: Vec<Fifo> = (1..=3).map(|n| Fifo::new(&daemon.workspace(), &format!("p{n}"))).collect();
        let cat = |n: usize| json!({"command": format!("cat p{n}")});
        model.reply((1..=3).fold(Reply::new(), |reply, n| reply.tool(&format!("t{n}"), "Bash", &cat(n))));
        model.reply(Reply::says("done"));
        let client = Client::connect(&daemon);
        let session = client.session_with(&json!({"cwd": daemon.workspace(), "env": env}));
        client.prompt(&session, "go");
        let mut events = take_started(&client, 2);
        pipes[1].release("two");
        events.extend(client.events_while("until t3 starts", |event| !is(event, "tool.started", "t3")));
        assert_order(&events, &["tool.started(t1)", "tool.ended(t2 completed)", "tool.started(t3)"]);
        pipes[0].release("one");
        pipes[2].release("three");
        client.events_until("turn.ended");
        let results = model.wait_for_request(2).tool_results();
        assert_eq!(results.iter().map(|(_, text)| text.as_str()).collect::<Vec<_>>(), ["one", "two", "three"]);
    }
}

/// Row C06: with `bash_any` a failed command that only reads stops the others too, with `off` none does.
#[test]
fn a_setting_says_which_failures_stop_the_others() {
    for (policy, failing, late) in [
        ("bash", "cat missing", "completed"),
        ("bash_any", "cat missing", "cancelled"),
        ("off", "mkdir made && false", "completed"),
    ] {
        let model = ModelServer::start();
        let settings = json!({"permissions": {"allow": ["Bash"]}, "tools": {"cascade": policy}});
        let daemon = Daemon::builder().model(&model).settings(&settings).start();
        let failing = json!({"command": failing});
        let touch = json!({"command": "touch late"});
        model.reply(Reply::new().tool("t1", "Bash", &failing).tool("t2", "Bash", &touch)).reply(Reply::says("done"));
        let client = Client::connect(&daemon);
        let session = client.session(&daemon.workspace());
        let events = client.run(&session, "go");
        assert_order(&events, &["tool.ended(t1 failed)", &format!("tool.ended(t2 {late})"), "turn.ended(completed)"]);
        assert_eq!(daemon.workspace().join("late").exists(), late == "completed", "{policy}");
    }
}

/// Row C11: what a later call prints is passed on at once, while an earlier one still runs.
#[test]
fn progress_of_a_later_call_is_passed_on_at_once() {
    let model = ModelServer::start();
    let daemon = Daemon::with_model(&model);
    let pipes = [Fifo::new(&daemon.workspace(), "p1"), Fifo::new(&daemon.workspace(), "p2")];
    let cat = |n: usize| json!({"command": format!("cat p{n}")});
    model.reply(Reply::new().tool("t1", "Bash", &cat(1)).tool("t2", "Bash", &cat(2)));
    model.reply(Reply::says("done"));
    let client = Client::connect(&daemon);
    let session = client.session(&daemon.workspace());
    client.prompt(&session, "go");
    take_started(&client, 2);
    let mut writer = fs::OpenOptions::new().write(true).open(daemon.workspace().join("p2")).unwrap();
    writer.write_all(b"so far").unwrap();
    let progress = client.events_until("tool.progress");
    let last = progress.last().unwrap();
    assert_eq!((call_of(last), last.text("text")), ("t2", "so far"));
    assert!(!progress.iter().any(|event| event.kind == "tool.ended"));
    drop(writer);
    pipes[0].release("");
    client.events_until("turn.ended");
}

/// Events up to the n-th `tool.started`.
fn take_started(client: &Client, count: usize) -> Vec<Event> {
    let mut started = 0;
    client.events_while("until tools start", |event| {
        started += usize::from(event.kind == "tool.started");
        started < count
    })
}

fn is(event: &Event, kind: &str, call: &str) -> bool {
    event.kind == kind && call_of(event) == call
}

fn call_of(event: &Event) -> &str {
    event.text("toolCallId")
}
