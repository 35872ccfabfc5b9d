//! Forks: a new session that shares another's past, at any point of it, and goes its own way.

use serde_json::{Value, json};
use std::fs;
use std::hash::{BuildHasher, RandomState};
use tests::model::Request;
use tests::{Agentctl, Client, Daemon, Event, ModelServer, Pty, Reply, assert_order, binary};

fn fork(client: &Client, params: &Value) -> Value {
    client.call_ok("session/fork", params)["session"].clone()
}

fn id(session: &Value) -> String {
    session["id"].as_str().unwrap().to_owned()
}

fn status(client: &Client, session: &str) -> String {
    client.call_ok("session/get", &json!({"sessionId": session}))["session"]["status"].as_str().unwrap().to_owned()
}

/// The lines of a session's log on disk.
fn lines(daemon: &Daemon, session: &str) -> Vec<String> {
    let path = daemon.home().state_dir().join("sessions").join(session).join("journal.jsonl");
    fs::read_to_string(path).unwrap().lines().map(str::to_owned).collect()
}

/// Sends a prompt to a session that is not attached to, and waits for its turn.
fn run(client: &Client, session: &str, prompt: &str) -> Value {
    let turn = client.prompt(session, prompt);
    client.call_ok("turn/wait", &json!({"sessionId": session, "turnId": turn}))
}

#[test]
fn a_fork_shares_the_past_byte_for_byte_and_both_go_on() {
    let model = ModelServer::start();
    let mut daemon = Daemon::with_model(&model);
    let client = Client::connect(&daemon);
    let source = client.session_with(&json!({"cwd": daemon.workspace(), "metadata": {"a": 1}}));
    let read = json!({"file_path": "f"});
    fs::write(daemon.workspace().join("f"), "content").unwrap();
    model.reply(Reply::new().thinking("hm", "sig").tool("t1", "Read", &read)).reply(Reply::says("one"));
    client.run(&source, "the first");
    let made = fork(&client, &json!({"sessionId": source}));
    let copy = id(&made);
    let last = lines(&daemon, &source).len();
    assert_eq!(lines(&daemon, &source)[1..], lines(&daemon, &copy)[1..]);
    assert_eq!((&made["parent"]["sessionId"], &made["parent"]["seq"]), (&json!(source), &json!(last)));
    let info = client.call_ok("session/get", &json!({"sessionId": source}))["session"].clone();
    for field in ["title", "cwd", "model", "mode", "metadata", "usage", "turnCount", "lastSeq", "status"] {
        assert_eq!(made[field], info[field], "{field}");
    }
    assert!(made["createdAt"].as_str().unwrap() >= info["createdAt"].as_str().unwrap());
    assert!(made["updatedAt"].as_str().unwrap() >= made["createdAt"].as_str().unwrap());
    for (session, prompt) in [(&source, "left"), (&copy, "right")] {
        model.reply_to(prompt, Reply::says(format!("to the {prompt}")));
        assert_eq!(run(&client, session, prompt)["text"], format!("to the {prompt}"));
    }
    client.leave();
    daemon.restart();
    let client = Client::connect(&daemon);
    model.reply_to("further", Reply::says("on"));
    run(&client, &copy, "further right");
    let [left, right, further] = [3, 4, 5].map(|n| model.wait_for_request(n));
    let past = |request: &Request| json!(request.messages()[..4]).to_string();
    assert_eq!((left.system(), past(&left)), (right.system(), past(&right)));
    // Later the cache point has moved on.
    let without_mark = |request: &Request| past(request).replace(",\"cache_control\":{\"type\":\"ephemeral\"}", "");
    assert_eq!((left.system(), without_mark(&left)), (further.system(), without_mark(&further)));
    assert_eq!([left.last_user_text(), right.last_user_text()], ["left", "right"]);
    assert_eq!(further.messages()[5]["content"][0]["text"], "to the right");
}

/// At every single event of a turn with calls and a question: the fork is whole, says what is not known, and goes on.
#[test]
fn a_session_can_be_forked_at_each_of_its_events() {
    let model = ModelServer::start();
    let daemon = Daemon::with_model(&model);
    let client = Client::connect(&daemon);
    let source = client.session(&daemon.workspace());
    let touch = json!({"command": "touch a"});
    let both = Reply::new().text("now").tool("t1", "Glob", &json!({"pattern": "*"})).tool("t2", "Bash", &touch);
    model.reply(both).reply(Reply::says("done"));
    client.prompt(&source, "go");
    client.decide_next("allow");
    client.events_until("turn.ended");
    let log = client.log(&source);
    model.answer_with(|_| Reply::says("on"));
    for at in 1..=log.len() {
        let copy = id(&fork(&client, &json!({"sessionId": source, "atSeq": at})));
        let past = client.log(&copy);
        for (own, theirs) in past.iter().zip(&log).take(at).skip(1) {
            assert_eq!((&own["seq"], &own["at"], &own["event"]), (&theirs["seq"], &theirs["at"], &theirs["event"]));
        }
        let count = |kind: &str| past.iter().filter(|event| event["event"]["type"] == kind).count();
        for (began, ended) in [
            ("turn.started", "turn.ended"),
            ("tool.queued", "tool.ended"),
            ("permission.requested", "permission.resolved"),
        ] {
            assert_eq!(count(began), count(ended), "at {at}: {began}");
        }
        let inside = (2..log.len()).contains(&at);
        assert_eq!(status(&client, &copy), if inside { "interrupted" } else { "idle" }, "at {at}");
        if inside {
            let turn = client.call_ok("turn/resume", &json!({"sessionId": copy}))["turnId"].clone();
            let end = client.call_ok("turn/wait", &json!({"sessionId": copy, "turnId": turn}));
            assert_eq!(end["reason"], "completed", "at {at}");
        }
        assert_eq!(run(&client, &copy, "and more")["text"], "on", "at {at}");
    }
    assert_eq!(client.log(&source), log, "the source is as it was");
    assert!(fs::read_dir(daemon.home().state_dir().join("sessions")).unwrap().count() == log.len() + 1);
}

#[test]
fn a_running_source_is_not_disturbed_and_keeps_its_question() {
    let model = ModelServer::start();
    let daemon = Daemon::with_model(&model);
    let client = Client::connect(&daemon);
    let source = client.session(&daemon.workspace());
    model.reply(Reply::calls("t1", "Bash", &json!({"command": "echo ran >> runs"})));
    let turn = client.prompt(&source, "go");
    let request = client.events_until("permission.requested").pop().unwrap();
    client.call_ok("turn/start", &json!({"sessionId": source, "prompt": "the next"}));
    client.events_until("turn.queued");
    // Of several forks, so that whoever looks for the request by chance first would find one of them.
    let copies: Vec<Value> = (0..8).map(|_| fork(&client, &json!({"sessionId": source}))).collect();
    let copy = id(&copies[0]);
    let events = client.log(&copy);
    let resolved = &events.iter().find(|event| event["event"]["type"] == "permission.resolved").unwrap()["event"];
    assert_eq!((&resolved["decision"], &resolved["by"]), (&json!("deny"), &json!("agentd")));
    assert!(resolved["reason"]["detail"].as_str().unwrap().contains("forked"), "{resolved}");
    assert_eq!((&copies[0]["status"], &copies[0]["queue"]), (&json!("interrupted"), &json!([])));
    let open = client.call_ok("permission/list", &json!({}));
    assert_eq!(open["requests"].as_array().unwrap().len(), 1, "{open}");
    assert_eq!(status(&client, &source), "waiting");
    model.reply_to("go", Reply::says("done"));
    let answer = json!({"requestId": request.text("requestId"), "decision": "allow"});
    client.call_ok("permission/respond", &answer);
    model.reply_to("the next", Reply::says("also done"));
    let events = client.events_until("turn.ended");
    assert_order(&events, &["permission.resolved(allow)", "tool.ended(t1 completed)"]);
    assert_eq!(events.last().unwrap().text("turnId"), turn);
    client.events_until("turn.ended");
    assert_eq!(client.call_err("permission/respond", &answer).code, -32010);
    // The fork was never asked, ran nothing and did not take over the prompt that waited.
    model.reply_to("go", Reply::says("I see"));
    let resumed = client.call_ok("turn/resume", &json!({"sessionId": copy}))["turnId"].clone();
    client.call_ok("turn/wait", &json!({"sessionId": copy, "turnId": resumed}));
    let requests = model.requests();
    let result = &requests.last().unwrap().tool_results()[0].1;
    assert!(result.contains("forked from session"), "{result}");
    assert!(!json!(requests.last().unwrap().messages()).to_string().contains("the next"));
    assert_eq!(fs::read_to_string(daemon.workspace().join("runs")).unwrap(), "ran\n");
}

#[test]
fn a_fork_in_the_middle_of_an_answer_leaves_the_stream_to_its_source() {
    let model = ModelServer::start();
    let daemon = Daemon::with_model(&model);
    let client = Client::connect(&daemon);
    let source = client.session(&daemon.workspace());
    model.reply_to("go", Reply::new().text("half ").gate("g").text("whole"));
    client.prompt(&source, "go");
    model.wait_at("g");
    let copy = id(&fork(&client, &json!({"sessionId": source})));
    model.reply_to("instead", Reply::says("other"));
    assert_eq!(run(&client, &copy, "instead")["text"], "other");
    model.open("g");
    assert_order(&client.events_until("turn.ended"), &["turn.ended(completed)"]);
}

#[test]
fn large_results_of_the_past_outlive_the_source() {
    let model = ModelServer::start();
    let settings = json!({"permissions": {"allow": ["Bash"]}});
    let mut daemon = Daemon::builder().model(&model).settings(&settings).start();
    let client = Client::connect(&daemon);
    let source = client.session(&daemon.workspace());
    model.reply(Reply::calls("t1", "Bash", &json!({"command": "seq 1 20000"}))).reply(Reply::says("long"));
    let events = client.run(&source, "go");
    let ended = events.iter().find(|event| event.kind == "tool.ended").unwrap();
    let path = ended.text("persistedPath").to_owned();
    // A fork of a fork, so that the path leads to neither of the two that are left.
    let first = id(&fork(&client, &json!({"sessionId": source})));
    let second = id(&fork(&client, &json!({"sessionId": first})));
    for session in [&source, &first] {
        client.call_ok("session/delete", &json!({"sessionId": session}));
    }
    client.expect_event("session.closed");
    assert!(!std::path::Path::new(&path).exists());
    client.leave();
    daemon.restart();
    let client = Client::connect(&daemon);
    let info = client.call_ok("session/get", &json!({"sessionId": second}))["session"].clone();
    client.attach(&second, info["lastSeq"].as_u64().unwrap());
    let read = json!({"file_path": path, "offset": 12_345, "limit": 1});
    let grep = json!({"pattern": "^6789$", "path": path, "output_mode": "content"});
    model.reply(Reply::new().tool("t2", "Read", &read).tool("t3", "Grep", &grep)).reply(Reply::says("found"));
    let events = client.run(&second, "look it up");
    assert_order(&events, &["tool.ended(t2 completed)"]);
    assert_eq!(events.iter().filter(|event| event.kind == "permission.requested").count(), 0, "it is its own file");
    let results = model.wait_for_request(4).tool_results();
    assert!(results[0].1.contains("12345") && results[1].1.contains("6789"), "{results:?}");
}

#[test]
fn what_was_remembered_for_the_source_is_asked_again() {
    let model = ModelServer::start();
    let daemon = Daemon::with_model(&model);
    let client = Client::connect(&daemon);
    let source = client.session(&daemon.workspace());
    let touch = json!({"command": "touch a"});
    model.reply(Reply::calls("t1", "Bash", &touch)).reply(Reply::says("done"));
    client.prompt(&source, "go");
    let request = client.events_until("permission.requested").pop().unwrap();
    let remember = json!({"scope": "session", "rule": request.body["suggestions"][0]["rule"]});
    let answer = json!({"requestId": request.text("requestId"), "decision": "allow", "remember": remember});
    client.call_ok("permission/respond", &answer);
    client.events_until("turn.ended");
    let made = fork(&client, &json!({"sessionId": source}));
    for (session, asked) in [(source, false), (id(&made), true)] {
        model.reply(Reply::calls("t2", "Bash", &touch)).reply(Reply::says("done"));
        let here = Client::connect(&daemon);
        here.attach(&session, client.log(&session).len() as u64);
        here.prompt(&session, "again");
        if asked {
            here.decide_next("allow");
        }
        let events: Vec<Event> = here.events_until("turn.ended");
        assert!(!events.iter().any(|event| event.kind == "permission.requested"), "{session}");
    }
    client.leave();
}

#[test]
fn a_closed_session_is_forked_to_go_on_and_a_title_can_be_given() {
    let model = ModelServer::start();
    let daemon = Daemon::with_model(&model);
    let client = Client::connect(&daemon);
    let source = client.session(&daemon.workspace());
    model.reply(Reply::says("hello"));
    client.run(&source, "hi there");
    client.call_ok("session/close", &json!({"sessionId": source}));
    client.expect_event("session.closed");
    let made = fork(&client, &json!({"sessionId": source, "title": "the other way"}));
    assert_eq!((&made["status"], &made["title"]), (&json!("idle"), &json!("the other way")));
    model.reply(Reply::says("on"));
    assert_eq!(run(&client, &id(&made), "go on")["reason"], "completed");
    let early = fork(&client, &json!({"sessionId": source, "atSeq": 1, "title": "anew"}));
    assert_eq!((&early["title"], &early["turnCount"]), (&json!("anew"), &json!(0)));
}

#[test]
fn a_number_that_the_log_does_not_have_is_refused() {
    let daemon = Daemon::start();
    let client = Client::connect(&daemon);
    let source = client.session(&daemon.workspace());
    for at in [0, 2, u64::MAX] {
        let refused = client.call_err("session/fork", &json!({"sessionId": source, "atSeq": at}));
        assert_eq!(
            (refused.code, &refused.data["field"], &refused.data["lastSeq"]),
            (-32602, &json!("atSeq"), &json!(1))
        );
    }
    assert_eq!(client.call_err("session/fork", &json!({"sessionId": "ses_none"})).code, -32001);
    assert_eq!(fs::read_dir(daemon.home().state_dir().join("sessions")).unwrap().count(), 1, "nothing is left behind");
}

#[test]
fn the_client_s_variables_serve_the_fork_too() {
    let model = ModelServer::start();
    let settings = json!({"permissions": {"allow": ["Bash"]}});
    let daemon = Daemon::builder().model(&model).settings(&settings).start();
    let client = Client::connect(&daemon);
    let env = json!({"PATH": "/usr/bin:/bin", "MARK": "from the client", "TEST_API_KEY": "sk-of-the-client"});
    let source = client.session_with(&json!({"cwd": daemon.workspace(), "env": env}));
    let copy = id(&fork(&client, &json!({"sessionId": source})));
    model.reply(Reply::calls("t1", "Bash", &json!({"command": "echo $MARK > mark"}))).reply(Reply::says("done"));
    run(&client, &copy, "go");
    assert_eq!(fs::read_to_string(daemon.workspace().join("mark")).unwrap(), "from the client\n");
    assert_eq!(model.wait_for_request(1).headers["x-api-key"], "sk-of-the-client");
}

#[test]
fn agentctl_forks_and_goes_on_in_the_fork() {
    let model = ModelServer::start();
    let daemon = Daemon::with_model(&model);
    let agentctl = Agentctl::new(daemon.home());
    let client = Client::connect(&daemon);
    let source = client.session(&daemon.workspace());
    model.reply(Reply::says("the first"));
    client.run(&source, "one");
    let copy = agentctl.ok(&["fork", &source, "--at", "1", "--title", "anew"]);
    let info = client.call_ok("session/get", &json!({"sessionId": copy.trim()}))["session"].clone();
    assert_eq!((&info["title"], &info["parent"]["seq"]), (&json!("anew"), &json!(1)));
    let refused = agentctl.run(&["fork", &source, "--at", "99"]);
    assert_eq!(refused.code, Some(1));
    assert!(refused.stderr.contains("they are 1 to"), "{refused:?}");
    // In a chat, which goes over to the fork.
    let mut chat = Pty::start(daemon.home(), &binary("agentctl"), &["fork", &source, "--chat"]);
    chat.expect("the first");
    chat.expect("›");
    chat.send("/fork the third way\r");
    chat.expect("now in session ");
    chat.expect("which stays");
    model.reply(Reply::says("the answer"));
    chat.send("two\r");
    chat.expect("the answer");
    chat.expect("›");
    chat.send("/quit\r");
    assert_eq!(chat.wait(), Some(0));
    let sessions = client.call_ok("session/list", &json!({}))["sessions"].clone();
    assert_eq!((&sessions[0]["title"], &sessions[0]["turnCount"]), (&json!("the third way"), &json!(2)));
    assert_eq!(sessions[0]["parent"]["sessionId"], sessions[1]["id"]);
    assert_eq!(sessions[1]["parent"]["sessionId"], source.as_str());
    assert_eq!(sessions[1]["turnCount"], 1);
}

/// However far a fork had come when agentd was killed: it is there as a whole or not at all.
#[test]
fn a_fork_that_a_crash_cut_is_whole_or_not_there() {
    let model = ModelServer::start();
    let mut daemon = Daemon::with_model(&model);
    let client = Client::connect(&daemon);
    let source = client.session(&daemon.workspace());
    model.reply(Reply::says("x".repeat(400_000)));
    client.run(&source, "long");
    let past = client.log(&source);
    client.leave();
    for round in 0..8 {
        let client = Client::connect(&daemon);
        client.leave();
        let _ = client.begin("session/fork", &json!({"sessionId": source, "atSeq": past.len() - 1}));
        let random = RandomState::new().hash_one(round) % 1_500_000;
        (0..random).for_each(|_| std::hint::spin_loop());
        daemon.kill9();
        client.wait_closed();
        daemon.start_again();
    }
    let client = Client::connect(&daemon);
    let sessions = client.call_ok("session/list", &json!({}))["sessions"].clone();
    let sessions = sessions.as_array().unwrap();
    for session in sessions.iter().filter(|session| session["id"] != source.as_str()) {
        let log = client.log(session["id"].as_str().unwrap());
        assert_eq!(log.len(), past.len(), "all but the end is shared, and it has an end of its own");
        assert_eq!(log.last().unwrap()["event"]["reason"], "interrupted");
        assert_eq!(
            log.iter().zip(&past).take(past.len() - 1).skip(1).find(|(own, theirs)| own["event"] != theirs["event"]),
            None
        );
    }
    let folders = fs::read_dir(daemon.home().state_dir().join("sessions")).unwrap().count();
    assert_eq!(folders, sessions.len(), "nothing half-made is left");
}
