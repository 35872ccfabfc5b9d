//! Bad input gets the error that the protocol names, and nothing is lost by it.

use nix::sys::stat::Mode;
use nix::unistd::mkfifo;
use serde_json::{Value, json};
use std::fs;
use std::os::unix::fs::{PermissionsExt, symlink};
use tests::{Client, Daemon, Home, ModelServer, Reply, assert_order, binary};

/// The connection still works.
fn works(client: &Client) {
    client.call_ok("daemon/status", &json!({}));
}

fn error(message: &Value) -> (i64, &Value) {
    (message["error"]["code"].as_i64().unwrap_or_default(), &message["id"])
}

#[test]
fn what_is_no_json_is_answered_and_the_next_line_counts() {
    let daemon = Daemon::start();
    let client = Client::connect(&daemon);
    for bad in [&b"{\"jsonrpc\": \n"[..], b"[1,\n", b"{\"method\": \"\xff\xfe\"}\n", b"{'a': 1}\n"] {
        client.send_raw(bad);
        assert_eq!(error(&client.next_other()), (-32700, &Value::Null));
        works(&client);
    }
    client.send_raw(b"  \n\n");
    works(&client);
}

#[test]
fn what_is_no_request_is_answered() {
    let daemon = Daemon::start();
    let client = Client::connect(&daemon);
    for bad in ["{\"jsonrpc\":\"2.0\"}", "[]", "{\"jsonrpc\":\"2.0\",\"id\":\"x\",\"method\":5}"] {
        client.send_raw(format!("{bad}\n").as_bytes());
        assert_eq!(error(&client.next_other()).0, -32600, "{bad}");
    }
    works(&client);
}

#[test]
fn half_a_frame_and_an_end_of_file_hurt_nobody() {
    let daemon = Daemon::start();
    let half = Client::connect(&daemon);
    half.leave();
    half.send_raw(b"{\"jsonrpc\":\"2.0\",\"id\":1,\"method\":\"daemon/st");
    half.finish_sending();
    half.wait_closed();
    works(&Client::connect(&daemon));
}

#[test]
fn a_line_of_65_mib_is_refused_and_skipped() {
    let daemon = Daemon::start();
    let client = Client::connect(&daemon);
    let before = rss(&client);
    let mut line = b"{\"jsonrpc\":\"2.0\",\"id\":9,\"method\":\"daemon/status\",\"params\":{\"x\":\"".to_vec();
    line.resize(65 << 20, b'x');
    line.extend_from_slice(b"\"}}\n");
    client.send_raw(&line);
    assert_eq!(error(&client.next_other()).0, -32600);
    works(&client);
    assert!(rss(&client) < before + (100 << 20), "a refused frame is not kept");
}

fn rss(client: &Client) -> u64 {
    client.call_ok("daemon/status", &json!({}))["rssBytes"].as_u64().unwrap()
}

#[test]
fn deep_nesting_is_refused() {
    let daemon = Daemon::start();
    let client = Client::connect(&daemon);
    let deep = format!("{}{}", "[".repeat(200), "]".repeat(200));
    let line =
        format!("{{\"jsonrpc\":\"2.0\",\"id\":\"d\",\"method\":\"daemon/status\",\"params\":{{\"x\":{deep}}}}}\n");
    client.send_raw(line.as_bytes());
    assert_eq!(error(&client.next_other()).0, -32600);
    works(&client);
}

#[test]
fn methods_and_fields_are_checked() {
    let model = ModelServer::start();
    let daemon = Daemon::with_model(&model);
    let client = Client::connect(&daemon);
    let unknown = client.call_err("session/creat", &json!({}));
    assert_eq!(unknown.code, -32601);
    assert!(unknown.message.contains("session/creat"), "{unknown:?}");
    let session = client.session(&daemon.workspace());
    let fields = [
        ("session/create", json!({"cwd": daemon.workspace(), "colour": "red"}), "colour"),
        ("session/create", json!({"cwd": 5}), "cwd"),
        ("session/create", json!({}), "cwd"),
        ("turn/start", json!({"sessionId": session}), "prompt"),
        ("turn/start", json!({"sessionId": session, "prompt": "x", "whenBusy": "panic"}), "whenBusy"),
        ("session/list", json!({"statuss": "idle"}), "statuss"),
    ];
    for (method, params, field) in fields {
        let error = client.call_err(method, &params);
        assert_eq!(error.code, -32602, "{method} {params}: {error:?}");
        assert!(error.message.contains(field), "{method} {params}: {error:?}");
        assert_eq!(error.data["kind"], "invalidParams");
    }
    let version = json!({"protocolVersion": 2, "client": {"name": "x", "version": "1"}});
    assert_eq!(client.call_err("initialize", &version).code, -32009);
}

#[test]
fn paths_sessions_and_models_are_checked() {
    let model = ModelServer::start();
    let daemon = Daemon::with_model(&model);
    let client = Client::connect(&daemon);
    let file = daemon.workspace().join("file");
    fs::write(&file, "").unwrap();
    for cwd in [json!("relative/path"), json!("/nonexistent/folder"), json!(file), json!("")] {
        let error = client.call_err("session/create", &json!({"cwd": cwd}));
        assert_eq!(error.code, -32005, "{cwd}: {error:?}");
    }
    let unknown = json!({"sessionId": "ses_unknown"});
    for method in ["session/get", "session/attach", "session/events", "session/close", "session/delete", "turn/cancel"]
    {
        assert_eq!(client.call_err(method, &unknown).code, -32001, "{method}");
    }
    let prompt = json!({"sessionId": "../../etc", "prompt": "x"});
    assert_eq!(client.call_err("turn/start", &prompt).code, -32001);
    let error = client.call_err("session/create", &json!({"cwd": daemon.workspace(), "model": "nobody/m9"}));
    assert_eq!(error.code, -32006, "{error:?}");
    assert!(error.message.contains("nobody"), "{error:?}");
    let session = client.session(&daemon.workspace());
    let turn = json!({"sessionId": session, "turnId": "turn_unknown"});
    assert_eq!(client.call_err("turn/wait", &turn).code, -32002);
}

#[test]
fn a_closed_session_takes_no_prompt_and_keeps_its_log() {
    let model = ModelServer::start();
    let daemon = Daemon::with_model(&model);
    model.reply(Reply::says("hello"));
    let client = Client::connect(&daemon);
    let session = client.session(&daemon.workspace());
    client.run(&session, "hi");
    client.call_ok("session/close", &json!({"sessionId": session}));
    client.expect_event("session.closed");
    let error = client.call_err("turn/start", &json!({"sessionId": session, "prompt": "more"}));
    assert_eq!(error.code, -32008, "{error:?}");
    assert!(error.message.contains("closed"), "{error:?}");
    assert_eq!(client.log(&session).len(), 5);
}

#[test]
fn a_socket_folder_that_others_can_enter_stops_the_start() {
    let home = Home::new();
    let folder = home.path("run/agentd");
    fs::create_dir(&folder).unwrap();
    fs::set_permissions(&folder, fs::Permissions::from_mode(0o755)).unwrap();
    let output = home.command(&binary("agentd")).output().unwrap();
    let text = String::from_utf8_lossy(&output.stderr);
    assert!(!output.status.success() && text.contains("run/agentd"), "{text}");
}

#[test]
fn a_second_daemon_leaves_the_first_alone() {
    let daemon = Daemon::start();
    let output = daemon.home().command(&binary("agentd")).output().unwrap();
    assert!(!output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
    works(&Client::connect(&daemon));
}

#[test]
fn a_batch_is_answered_as_one() {
    let daemon = Daemon::start();
    let client = Client::connect(&daemon);
    let call = |id: &str, method: &str| json!({"jsonrpc": "2.0", "id": id, "method": method});
    let batch =
        json!([call("a", "daemon/status"), {"jsonrpc": "2.0", "method": "daemon/status"}, call("b", "nope"), 5]);
    client.send_raw(format!("{batch}\n").as_bytes());
    let answers = client.next_other();
    let answers = answers.as_array().expect("a batch is answered by a list");
    let by_id = |id: &Value| answers.iter().find(|answer| answer["id"] == *id).unwrap_or_else(|| panic!("{answers:?}"));
    assert_eq!(answers.len(), 3, "{answers:?}");
    assert!(by_id(&json!("a"))["result"].is_object());
    assert_eq!(by_id(&json!("b"))["error"]["code"], -32601);
    assert_eq!(by_id(&Value::Null)["error"]["code"], -32600);
}

#[test]
fn broken_settings_are_reported_and_do_not_stop_the_daemon() {
    let home = Home::new();
    fs::write(home.path("config/agentd/settings.json"), "{ not json").unwrap();
    let daemon = Daemon::builder().home(home).start();
    let client = Client::connect(&daemon);
    let result = client.call_ok("daemon/reload", &json!({}));
    assert!(result["errors"][0]["file"].as_str().unwrap().ends_with("agentd/settings.json"), "{result}");
}

#[test]
fn a_slow_client_is_cut_and_can_come_back_without_a_gap() {
    let model = ModelServer::start();
    let daemon = Daemon::with_model(&model);
    let client = Client::connect(&daemon);
    let session = client.session(&daemon.workspace());
    // A client that never reads: what it is sent stays in its queue.
    let stalled = std::os::unix::net::UnixStream::connect(daemon.home().socket()).unwrap();
    let attach = json!({"jsonrpc": "2.0", "id": 1, "method": "session/attach", "params": {"sessionId": session}});
    std::io::Write::write_all(&mut &stalled, format!("{attach}\n").as_bytes()).unwrap();
    let big = "x".repeat(2 << 20);
    for _ in 0..8 {
        model.reply(Reply::says(big.clone()));
        assert_order(&client.run(&session, "more"), &["turn.ended(completed)"]);
    }
    let mut lagged = None;
    let mut last = 0;
    let lines = std::io::BufRead::lines(std::io::BufReader::new(&stalled));
    for line in lines.map(Result::unwrap) {
        let message: Value = serde_json::from_str(&line).unwrap();
        last = message["params"]["seq"].as_u64().unwrap_or(last);
        if message["method"] == "session/lagged" {
            lagged = message["params"]["resumeAfterSeq"].as_u64();
            break;
        }
    }
    assert_eq!(lagged, Some(last), "it is told where to go on");
    let back = Client::connect(&daemon);
    let end = back.attach(&session, last)["replayTo"].as_u64().unwrap();
    let rest = back.events_while("for the replay", |event| event.seq != Some(end));
    assert_eq!(rest[0].seq, Some(last + 1));
}

/// Waits for no pipe and reads no device to its end, which does not come.
#[test]
fn what_is_no_plain_file_is_named_and_holds_nobody_up() {
    let daemon = Daemon::start();
    let client = Client::connect(&daemon);
    let (pipe, endless) = (daemon.home().path("pipe"), daemon.home().path("endless"));
    mkfifo(&pipe, Mode::S_IRWXU).unwrap();
    symlink("/dev/zero", &endless).unwrap();
    for bad in [&pipe, &endless] {
        let project = daemon.workspace().join(".agentd");
        fs::create_dir_all(&project).unwrap();
        symlink(bad, project.join("settings.json")).unwrap();
        let session = client.session(&daemon.workspace());
        let events = client.run(&session, "hello");
        assert_order(&events, &["notice", "turn.ended(completed)"]);
        fs::remove_dir_all(&project).unwrap();

        let prompt = json!({"sessionId": session, "prompt": [{"type": "file", "path": bad}]});
        assert_eq!(client.call_err("turn/start", &prompt).code, -32005);

        let model = format!("replay/{}", bad.display());
        client.call_ok("session/update", &json!({"sessionId": session, "model": model}));
        assert_order(&client.run(&session, "hello"), &["turn.ended(model_error)"]);
    }
}
