//! Who may answer: people, by whatever client; not the tool whose call is asked about.

use serde_json::json;
use std::fs;
use tests::{Client, Daemon, ModelServer, Reply, assert_order, binary};

/// A tool that runs commands can reach the socket, as the same user. It reads, and is refused all that is for people,
/// however it hides: in a session of its own, as an orphan, without variables, through another program.
#[test]
fn a_tool_can_not_answer_its_own_question() {
    let model = ModelServer::start();
    let daemon = Daemon::with_model(&model);
    let client = Client::connect(&daemon);
    let (file, workspace) = (daemon.workspace().join("a"), daemon.workspace());
    model.reply(Reply::calls("t1", "Write", &json!({"file_path": file, "content": "new\n"})));
    let asking = client.session(&workspace);
    client.prompt(&asking, "go");
    let events = client.events_until_all(&["permission.requested", "message.completed"]);
    let request =
        events.iter().find(|event| event.kind == "permission.requested").unwrap().text("requestId").to_owned();

    let (socket, agentctl) = (daemon.home().socket(), binary("agentctl"));
    let ctl = format!("AGENTD_SOCKET='{}' '{}'", socket.display(), agentctl.display());
    let inner = format!("{ctl} allow {request}");
    let rpc = |method: &str, params: serde_json::Value| format!("{ctl} rpc {method} '{params}'");
    let hidden = [
        inner.clone(),
        format!("setsid sh -c \"{inner}\""),
        format!("env -i sh -c \"HOME=/nowhere {inner}\""),
        // An orphan: its parents are gone before it speaks.
        format!("mkfifo p; (setsid nohup env -i sh -c \"HOME=/nowhere {inner}\" > p 2>&1 &); cat p; rm p"),
        rpc("permission/respond", json!({"requestId": request, "decision": "allow"})),
        rpc("session/update", json!({"sessionId": asking, "mode": "bypassPermissions"})),
        rpc("session/create", json!({"cwd": workspace, "mode": "bypassPermissions"})),
        rpc("turn/start", json!({"sessionId": asking, "prompt": "go on"})),
        rpc("turn/cancel", json!({"sessionId": asking})),
        rpc("trust/set", json!({"path": workspace, "trusted": true})),
        rpc("config/set", json!({"scope": "user", "key": "model", "value": "x"})),
        rpc("daemon/shutdown", json!({"mode": "now"})),
    ];
    let tool = client.session_with(&json!({"cwd": workspace, "mode": "bypassPermissions"}));
    for (at, command) in hidden.iter().enumerate() {
        let call = format!("b{at}");
        model.reply(Reply::calls(&call, "Bash", &json!({"command": format!("{{ {command}; }} 2>&1; true")})));
        model.reply(Reply::says("done"));
        let before = model.requests().len();
        client.run(&tool, "try it");
        let told = &model.wait_for_request(before + 2).tool_results();
        let text = &told.last().unwrap().1;
        assert!(text.contains("is refused: it comes from a tool of this agentd"), "{command}: {text}");
        assert!(!file.exists(), "{command}");
    }
    // It may look.
    model.reply(Reply::calls("look", "Bash", &json!({"command": rpc("permission/list", json!({}))})));
    model.reply(Reply::says("done"));
    client.run(&tool, "look");
    let looked = model.requests().last().unwrap().tool_results().last().unwrap().1.clone();
    assert!(looked.contains(&request), "{looked}");
    // The question is as it was, and the person answers it.
    model.reply(Reply::says("done"));
    client.call_ok("permission/respond", &json!({"requestId": request, "decision": "allow"}));
    assert_order(&client.events_until("turn.ended"), &["permission.resolved(allow)", "tool.ended(t1 completed)"]);
    assert!(file.exists());
}

/// A client that a tool starts finds the agentd that runs the tool, whatever other variables it has: it may look there, is
/// refused the rest, and starts no agentd of its own.
#[test]
fn a_tool_s_agentctl_finds_the_agentd_that_runs_it() {
    let model = ModelServer::start();
    let daemon = Daemon::with_model(&model);
    let client = Client::connect(&daemon);
    let session = client.session_with(&json!({"cwd": daemon.workspace(), "mode": "bypassPermissions"}));
    let elsewhere = daemon.home().path("elsewhere");
    fs::create_dir(&elsewhere).unwrap();
    let ctl =
        format!("XDG_RUNTIME_DIR='{0}' XDG_STATE_HOME='{0}' '{1}'", elsewhere.display(), binary("agentctl").display());
    let command = format!("echo \"[$AGENTD_SOCKET]\"; {ctl} rpc session/list; {ctl} run hello 2>&1; true");
    model.reply(Reply::calls("t1", "Bash", &json!({"command": command}))).reply(Reply::says("done"));
    client.run(&session, "go");
    let told = model.wait_for_request(2).tool_results()[0].1.clone();
    assert!(told.starts_with(&format!("[{}]", daemon.home().socket().display())), "{told}");
    assert!(told.contains(&session), "it lists the sessions: {told}");
    assert!(told.contains("it comes from a tool of this agentd"), "{told}");
    assert_eq!(fs::read_dir(&elsewhere).unwrap().count(), 0, "no other agentd was started");
}
