//! Sessions as a client manages them: lists, updates, deletion; and that they outlive the daemon.

use serde_json::{Value, json};
use std::fs;
use std::os::unix::fs::PermissionsExt;
use tests::{Client, Daemon, ModelServer, Reply, assert_order};

fn ids(result: &Value) -> Vec<&str> {
    result["sessions"].as_array().unwrap().iter().map(|session| session["id"].as_str().unwrap()).collect()
}

#[test]
fn a_session_outlives_the_daemon() {
    let model = ModelServer::start();
    let mut daemon = Daemon::with_model(&model);
    model.reply(Reply::says("hello"));
    let client = Client::connect(&daemon);
    let session = client.session(&daemon.workspace());
    client.run(&session, "remember the word needle");
    let before = client.log(&session);
    drop(client);
    daemon.restart();
    let client = Client::connect(&daemon);
    assert_eq!(client.log(&session), before);
    assert_eq!(ids(&client.call_ok("session/list", &json!({}))), [session.as_str()]);
    client.attach(&session, 4);
    model.reply(Reply::says("needle"));
    assert_order(&client.run(&session, "which word?"), &["turn.ended(completed)"]);
    // Rebuilt from the journal, the past is sent byte for byte as it was.
    let [first, second] = [1, 2].map(|n| model.wait_for_request(n));
    assert_eq!(first.messages()[0].to_string(), second.messages()[0].to_string());
    assert_eq!(second.messages()[1]["role"], "assistant");
    assert_eq!(first.system(), second.system());
}

#[test]
fn lists_are_newest_first_filtered_and_paged() {
    let model = ModelServer::start();
    let daemon = Daemon::with_model(&model);
    let client = Client::connect(&daemon);
    let other = daemon.workspace().join("other");
    fs::create_dir(&other).unwrap();
    let create = |title: &str, cwd: &std::path::Path| {
        let result = client.call_ok("session/create", &json!({"cwd": cwd, "title": title}));
        result["session"]["id"].as_str().unwrap().to_owned()
    };
    let made = [create("red", &daemon.workspace()), create("green", &other), create("blue", &daemon.workspace())];
    let list = |params: Value| client.call_ok("session/list", &params);
    let mut newest_first = made.clone();
    newest_first.reverse();
    assert_eq!(ids(&list(json!({}))), newest_first);
    assert_eq!(ids(&list(json!({"cwd": other}))), [&made[1]]);
    assert_eq!(ids(&list(json!({"query": "blu"}))), [&made[2]]);
    assert_eq!(ids(&list(json!({"status": "running"}))), Vec::<&str>::new());
    let page = list(json!({"limit": 2}));
    assert_eq!(ids(&page), newest_first[..2]);
    let rest = list(json!({"limit": 2, "cursor": page["nextCursor"]}));
    assert_eq!((ids(&rest), &rest["nextCursor"]), (vec![made[0].as_str()], &Value::Null));
}

#[test]
fn an_update_is_an_event_and_a_deletion_is_final() {
    let model = ModelServer::start();
    let daemon = Daemon::with_model(&model);
    let client = Client::connect(&daemon);
    let session = client.session(&daemon.workspace());
    let change = json!({"sessionId": session, "title": "new", "mode": "acceptEdits", "metadata": {"a": 1}});
    let updated = client.call_ok("session/update", &change);
    assert_eq!(updated["session"]["title"], "new");
    let event = client.expect_event("session.updated");
    assert_eq!((&event.body["mode"], &event.body["metadata"]["a"]), (&json!("acceptEdits"), &json!(1)));
    client.call_ok("session/delete", &json!({"sessionId": session}));
    client.expect_event("session.closed");
    assert_eq!(client.call_err("session/get", &json!({"sessionId": session})).code, -32001);
    assert!(!daemon.home().state_dir().join("sessions").join(&session).exists());
}

#[test]
fn what_is_on_disk_is_closed_to_others() {
    let model = ModelServer::start();
    let daemon = Daemon::with_model(&model);
    let client = Client::connect(&daemon);
    let session = client.session(&daemon.workspace());
    let folder = daemon.home().state_dir().join("sessions").join(&session);
    let mode = |path: &std::path::Path| fs::metadata(path).unwrap().permissions().mode() & 0o777;
    assert_eq!(mode(&daemon.home().state_dir()), 0o700);
    assert_eq!(mode(&folder), 0o700);
    assert_eq!(mode(&folder.join("journal.jsonl")), 0o600);
    assert_eq!(mode(&daemon.home().socket()), 0o600);
    assert_eq!(mode(daemon.home().socket().parent().unwrap()), 0o700);
}

#[test]
fn a_damaged_log_refuses_that_session_and_no_other() {
    let model = ModelServer::start();
    let mut daemon = Daemon::with_model(&model);
    let client = Client::connect(&daemon);
    let sessions = [client.session(&daemon.workspace()), client.session(&daemon.workspace())];
    for session in &sessions {
        model.reply(Reply::says("hello"));
        client.run(session, "hi");
    }
    drop(client);
    daemon.terminate();
    let path = daemon.home().state_dir().join("sessions").join(&sessions[0]).join("journal.jsonl");
    let text = fs::read_to_string(&path).unwrap();
    let mut lines: Vec<String> = text.lines().map(str::to_owned).collect();
    lines[1] = lines[1].replacen("hi", "who", 1);
    fs::write(&path, format!("{}\n", lines.join("\n"))).unwrap();
    // The other one has a torn tail, which is cut.
    let path = daemon.home().state_dir().join("sessions").join(&sessions[1]).join("journal.jsonl");
    let text = fs::read_to_string(&path).unwrap();
    fs::write(&path, format!("{text}{{\"seq\":5,\"at\":")).unwrap();
    daemon.start_again();
    let client = Client::connect(&daemon);
    let error = client.call_err("session/events", &json!({"sessionId": sessions[0]}));
    assert_eq!(error.code, -32020, "{error:?}");
    assert!(error.message.contains("record 2"), "the record is named: {error:?}");
    assert!(ids(&client.call_ok("session/list", &json!({}))).contains(&sessions[0].as_str()), "it can be found");
    client.call_ok("session/delete", &json!({"sessionId": sessions[0]}));
    assert_eq!(client.log(&sessions[1]).len(), 4);
    model.reply(Reply::says("hello again"));
    client.attach(&sessions[1], 4);
    assert_order(&client.run(&sessions[1], "hi again"), &["turn.ended(completed)"]);
}

#[test]
fn keys_and_the_client_s_variables_reach_the_right_place() {
    let model = ModelServer::start();
    let other = json!({"api": "openai-chat", "baseUrl": "http://127.0.0.1:1/v1", "apiKeyEnv": "PLAIN_NAME"});
    let settings = json!({"permissions": {"allow": ["Bash"]}, "providers": {"other": other}});
    let daemon = Daemon::builder().model(&model).settings(&settings).start();
    model.reply(Reply::calls("t1", "Bash", &json!({"command": "env > env.txt"}))).reply(Reply::says("done"));
    let client = Client::connect(&daemon);
    let env = json!({"PATH": "/usr/bin:/bin", "MARK": "from the client", "TEST_API_KEY": "sk-of-the-client",
                     "LD_PRELOAD": "", "GIT_DIR": "/nonexistent", "ANTHROPIC_API_KEY": "sk-ant", "PLAIN_NAME": "other-key"});
    let session = client.session_with(&json!({"cwd": daemon.workspace(), "env": env}));
    client.run(&session, "go");
    let seen = fs::read_to_string(daemon.workspace().join("env.txt")).unwrap();
    assert!(seen.contains("MARK=from the client"), "{seen}");
    for secret in ["sk-of-the-client", "sk-test-key", "sk-ant", "other-key", "GIT_DIR", "NOTIFY_SOCKET"] {
        assert!(!seen.contains(secret), "{secret} in {seen}");
    }
    assert_eq!(model.wait_for_request(1).headers["x-api-key"], "sk-of-the-client");
    let mut texts = Vec::new();
    collect(&daemon.home().state_dir(), &mut texts);
    assert!(texts.iter().all(|text| !text.contains("sk-of-the-client")), "a key was written to disk");
}

#[test]
fn an_ephemeral_session_is_gone_once_it_is_closed() {
    let model = ModelServer::start();
    let daemon = Daemon::with_model(&model);
    let client = Client::connect(&daemon);
    let session = client.session_with(&json!({"cwd": daemon.workspace(), "ephemeral": true}));
    client.call_ok("session/close", &json!({"sessionId": session}));
    client.expect_event("session.closed");
    assert_eq!(client.call_err("session/get", &json!({"sessionId": session})).code, -32001);
    assert!(!daemon.home().state_dir().join("sessions").join(&session).exists());
}

#[test]
fn many_sessions_run_at_once_and_do_not_mix() {
    let model = ModelServer::start();
    let daemon = Daemon::with_model(&model);
    let client = Client::connect(&daemon);
    client.leave();
    let count = 40;
    for n in 0..count {
        model.reply_to(&format!("prompt-{n}-"), Reply::new().text(format!("answer-{n}-")).gate("g").text("end"));
    }
    let turns: Vec<(String, String)> = (0..count)
        .map(|n| {
            let created = client.call_ok("session/create", &json!({"cwd": daemon.workspace()}));
            let session = created["session"]["id"].as_str().unwrap().to_owned();
            let turn = client.prompt(&session, &format!("prompt-{n}-"));
            (session, turn)
        })
        .collect();
    // All are under way at the same time.
    let _ = model.wait_for_request(count);
    assert_eq!(client.call_ok("daemon/status", &json!({}))["sessions"]["running"], count);
    model.open("g");
    for (n, (session, turn)) in turns.iter().enumerate() {
        let done = client.call_ok("turn/wait", &json!({"sessionId": session, "turnId": turn}));
        assert_eq!(done["text"], format!("answer-{n}-end"));
    }
}

fn collect(folder: &std::path::Path, texts: &mut Vec<String>) {
    for entry in fs::read_dir(folder).unwrap().map(Result::unwrap) {
        if entry.file_type().unwrap().is_dir() {
            collect(&entry.path(), texts);
        } else {
            texts.push(String::from_utf8_lossy(&fs::read(entry.path()).unwrap()).into_owned());
        }
    }
}

#[test]
fn a_copy_of_a_folder_does_not_pass_for_its_session() {
    let mut daemon = Daemon::start();
    let client = Client::connect(&daemon);
    let session = client.session(&daemon.workspace());
    client.run(&session, "hello");
    let before = client.log(&session);
    drop(client);
    daemon.terminate();
    let sessions = daemon.home().state_dir().join("sessions");
    for with_snapshot in [true, false] {
        let copy = sessions.join(format!("copy-{with_snapshot}"));
        fs::create_dir(&copy).unwrap();
        fs::copy(sessions.join(&session).join("journal.jsonl"), copy.join("journal.jsonl")).unwrap();
        if with_snapshot {
            fs::copy(sessions.join(&session).join("snapshot.json"), copy.join("snapshot.json")).unwrap();
        }
    }
    daemon.start_again();
    let client = Client::connect(&daemon);
    let listed = client.call_ok("session/list", &json!({}));
    assert_eq!(ids(&listed), [session.as_str()]);
    for copy in ["copy-true", "copy-false"] {
        let refused = client.call_err("session/get", &json!({"sessionId": copy}));
        assert_eq!(refused.code, -32020);
        assert!(refused.message.contains(&session), "{}", refused.message);
        client.call_ok("session/delete", &json!({"sessionId": copy}));
    }
    assert_eq!(client.log(&session), before);
}

#[test]
fn a_session_that_is_deleted_is_gone_for_all_who_ask_meanwhile() {
    let daemon = Daemon::start();
    let clients = [0, 1, 2].map(|_| Client::connect(&daemon));
    for _ in 0..60 {
        let session =
            clients[0].call_ok("session/create", &json!({"cwd": daemon.workspace()}))["session"]["id"].clone();
        let meant = json!({"sessionId": session});
        // Asleep, so that each of the others would wake it.
        clients[0].call_ok("session/close", &meant);
        let calls: Vec<_> = ["session/delete", "session/get", "session/events", "session/delete"]
            .iter()
            .flat_map(|method| clients.iter().map(|client| (client, client.begin(method, &meant))))
            .collect();
        for (client, call) in calls {
            if let Err(error) = client.finish(&call) {
                assert_eq!(error.code, -32001, "{}", error.message);
            }
        }
        assert_eq!(clients[0].call_err("session/get", &meant).code, -32001);
        assert_eq!(ids(&clients[0].call_ok("session/list", &json!({}))), [""; 0]);
    }
}

#[test]
fn there_may_be_more_sessions_than_the_usual_limit_of_open_files() {
    let daemon = Daemon::start();
    let limits = fs::read_to_string(format!("/proc/{}/limits", daemon.pid())).unwrap();
    let files: Vec<&str> =
        limits.lines().find(|line| line.starts_with("Max open files")).unwrap().split_whitespace().collect();
    let [soft, hard] = [files[3], files[4]].map(|limit| limit.parse::<u64>().unwrap_or(u64::MAX));
    assert!(soft >= hard.min(65_536), "{limits}");
}
