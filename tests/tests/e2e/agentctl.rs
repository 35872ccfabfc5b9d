//! agentctl for scripts: what goes to standard output, and the exit code.

use nix::sys::signal::Signal;
use serde_json::{Value, json};
use tests::{Agentctl, Client, Daemon, ModelServer, Pty, Reply, binary};

fn one_session(daemon: &Daemon) -> String {
    let sessions = Client::connect(daemon).call_ok("session/list", &json!({}));
    sessions["sessions"][0]["id"].as_str().unwrap().to_owned()
}

#[test]
fn run_prints_the_answer_and_nothing_else() {
    let model = ModelServer::start();
    let daemon = Daemon::with_model(&model);
    let agentctl = Agentctl::new(daemon.home());
    model.reply(Reply::calls("t1", "Glob", &json!({"pattern": "*"}))).reply(Reply::says("The answer."));
    let output = agentctl.run(&["run", "a question"]);
    assert_eq!((output.code, output.stdout.as_str()), (Some(0), "The answer.\n"), "{output:?}");
    model.reply(Reply::says("Again."));
    let output = Agentctl::new(daemon.home()).stdin("from standard input").run(&["run", "-", "--continue"]);
    assert_eq!((output.code, output.stdout.as_str()), (Some(0), "Again.\n"), "{output:?}");
    let request = model.wait_for_request(3);
    assert!(request.last_user_text().ends_with("from standard input"));
    assert_eq!(request.messages().len(), 5, "the same session");
    let elsewhere = agentctl.run(&["run", "x", "--continue", "--cwd", "/"]);
    let newest = format!("no session in /; the newest is {} in ", one_session(&daemon));
    assert!(elsewhere.stderr.contains(&newest), "{elsewhere:?}");
}

#[test]
fn run_prints_json_in_two_forms() {
    let model = ModelServer::start();
    let daemon = Daemon::with_model(&model);
    let agentctl = Agentctl::new(daemon.home());
    model.reply(Reply::says("One.")).reply(Reply::says("Two."));
    let object: Value = serde_json::from_str(&agentctl.ok(&["run", "q", "--output", "json"])).unwrap();
    assert_eq!((&object["reason"], &object["text"]), (&json!("completed"), &json!("One.")));
    assert!(object["sessionId"].is_string() && object["turnId"].is_string() && object["durationMs"].is_u64());
    assert_eq!(object["usage"]["outputTokens"], 20);
    let lines = agentctl.ok(&["run", "q", "--output", "stream-json"]);
    let events: Vec<Value> = lines.lines().map(|line| serde_json::from_str(line).unwrap()).collect();
    let kinds: Vec<&str> = events.iter().map(|event| event["event"]["type"].as_str().unwrap()).collect();
    assert!(kinds.contains(&"turn.started") && kinds.contains(&"message.completed"), "{kinds:?}");
    assert_eq!(kinds.last(), Some(&"turn.ended"));
    assert!(events.iter().all(|event| event["sessionId"].is_string()));
}

#[test]
fn the_exit_code_says_how_it_ended() {
    let model = ModelServer::start();
    let daemon = Daemon::with_model(&model);
    let agentctl = Agentctl::new(daemon.home());
    assert_eq!(agentctl.run(&["run"]).code, Some(2));
    assert_eq!(agentctl.run(&["run", "x", "--timeout", "soon"]).code, Some(2));
    assert_eq!(agentctl.run(&["run", "x", "--session", "ses_unknown"]).code, Some(1));
    model.reply(Reply::error(401, "authentication_error", "bad key"));
    let output = agentctl.run(&["run", "x"]);
    assert_eq!((output.code, output.stdout.as_str()), (Some(1), ""), "{output:?}");
    assert!(output.stderr.contains("key"), "{output:?}");
    // Nobody is there to ask: denied, told to the model, and said by the exit code.
    model.reply(Reply::calls("t1", "Bash", &json!({"command": "touch a"}))).reply(Reply::says("Then not."));
    let output = agentctl.run(&["run", "x"]);
    assert_eq!((output.code, output.stdout.as_str()), (Some(3), "Then not.\n"), "{output:?}");
    assert!(output.stderr.to_lowercase().contains("nobody is there to ask"), "{output:?}");
    assert!(!daemon.workspace().join("a").exists());
    model.reply(Reply::calls("t2", "Glob", &json!({"pattern": "*"})));
    assert_eq!(agentctl.run(&["run", "x", "--max-turns", "1"]).code, Some(4));
}

/// Row I12: SIGINT cancels the turn.
#[test]
fn a_timeout_and_ctrl_c_cancel_the_turn() {
    let model = ModelServer::start();
    let daemon = Daemon::with_model(&model);
    let agentctl = Agentctl::new(daemon.home());
    model.reply(Reply::new().text("I think").gate("g"));
    let output = agentctl.run(&["run", "x", "--timeout", "1s"]);
    assert_eq!(output.code, Some(124), "{output:?}");
    model.wait_closed("g");
    model.reply(Reply::new().text("I think").gate("h"));
    let run = agentctl.start(&["run", "x"]);
    model.wait_at("h");
    run.signal(Signal::SIGINT);
    assert_eq!(run.wait().code, Some(130));
    model.wait_closed("h");
}

#[test]
fn sessions_are_listed_followed_sent_to_and_exported() {
    let model = ModelServer::start();
    let daemon = Daemon::with_model(&model);
    let agentctl = Agentctl::new(daemon.home());
    model.reply(Reply::says("Hello."));
    agentctl.ok(&["run", "the first prompt"]);
    let id = one_session(&daemon);
    let listed = agentctl.ok(&["ls"]);
    assert!(listed.contains(&id) && listed.contains("the first prompt"), "{listed}");
    model.reply(Reply::new().text("Hello ").gate("g").text("again."));
    let turn = agentctl.ok(&["send", "@last", "the second prompt"]);
    model.wait_at("g");
    let follow = ["attach", &id, "--output", "stream-json", "--until-idle", "--durable"];
    let two = [agentctl.start(&follow), agentctl.start(&follow)];
    model.open("g");
    let seen = two.map(|run| run.wait().stdout);
    assert_eq!(seen[0], seen[1]);
    assert_eq!(agentctl.ok(&["wait", &id, turn.trim()]), "Hello again.\n");
    assert_eq!(agentctl.ok(&["export", &id]), seen[0]);
    let last = seen[0].lines().count();
    let from = format!("{}", last - 2);
    let rest = agentctl.ok(&["attach", &id, "--after-seq", &from, "-o", "stream-json", "--until-idle", "--durable"]);
    assert_eq!(rest.lines().collect::<Vec<_>>(), seen[0].lines().skip(last - 2).collect::<Vec<_>>());
    let text = agentctl.ok(&["logs", &id[..id.len() - 2]]);
    assert!(text.contains("the first prompt") && text.contains("Hello again."), "{text}");
    let mut attach = Pty::start(daemon.home(), &binary("agentctl"), &["attach", &id]);
    attach.expect("Hello again.");
    attach.expect("idle; Ctrl-C leaves, --until-idle leaves by itself");
    attach.send("\u{3}");
    attach.wait();
    assert_eq!(agentctl.run(&["cancel", &id]).code, Some(0));
    assert_eq!(agentctl.run(&["export", "ses_unknown"]).code, Some(1));
}

#[test]
fn questions_are_answered_from_any_terminal() {
    let model = ModelServer::start();
    let daemon = Daemon::with_model(&model);
    let agentctl = Agentctl::new(daemon.home());
    let none = agentctl.run(&["pending"]);
    assert_eq!((none.stdout.as_str(), none.stderr.as_str()), ("", ""), "a program gets an empty list");
    let mut pending = Pty::start(daemon.home(), &binary("agentctl"), &["pending"]);
    pending.expect("no question waits");
    assert_eq!(pending.wait(), Some(0));
    let unknown = agentctl.run(&["allow", "NOSUCH"]);
    assert!(unknown.stderr.contains("no open request NOSUCH; `agentctl pending` lists them"), "{unknown:?}");
    for (call, command, answer) in [("t1", "touch a", "allow"), ("t2", "touch b", "deny")] {
        model.reply(Reply::calls(call, "Bash", &json!({"command": command})));
        model.reply(Reply::says("Done."));
        let run = agentctl.start(&["run", "x", "--on-ask", "wait"]);
        let client = Client::connect(&daemon);
        let request = wait_for_request(&client);
        assert!(agentctl.ok(&["pending"]).contains(&request));
        let arguments: &[&str] = if answer == "deny" { &["-m", "not here"] } else { &[] };
        agentctl.ok(&[&[answer, request.as_str()], arguments].concat());
        let output = run.wait();
        let expected = if answer == "deny" { Some(3) } else { Some(0) };
        assert_eq!(output.code, expected, "{output:?}");
        assert_eq!(agentctl.run(&["allow", &request]).code, Some(1), "it was answered already");
    }
    assert!(daemon.workspace().join("a").exists() && !daemon.workspace().join("b").exists());
    assert!(model.wait_for_request(4).tool_results()[0].1.contains("not here"));
}

#[test]
fn a_turn_that_a_restart_cut_is_resumed() {
    let model = ModelServer::start();
    let mut daemon = Daemon::builder().model(&model).settings(&json!({"limits": {"drainMs": 50}})).start();
    model.reply(Reply::new().text("half an answer").gate("g"));
    let run = Agentctl::new(daemon.home()).start(&["run", "x"]);
    model.wait_at("g");
    daemon.restart();
    model.wait_closed("g");
    let cut = run.wait();
    let id = one_session(&daemon);
    let hint = format!("cut by a restart of agentd; go on with: agentctl resume {id}");
    assert!(cut.code == Some(1) && cut.stderr.contains(&hint), "{cut:?}");
    model.reply(Reply::says("The whole answer."));
    let agentctl = Agentctl::new(daemon.home());
    let resumed = agentctl.run(&["resume"]);
    assert_eq!((resumed.code, resumed.stdout.as_str()), (Some(0), "The whole answer.\n"), "{resumed:?}");
    let nothing = agentctl.run(&["resume", &id]);
    assert!(
        nothing.code == Some(1) && nothing.stderr.contains("no turn of this session was interrupted"),
        "{nothing:?}"
    );
}

#[test]
fn a_stop_tells_what_it_waits_for() {
    let model = ModelServer::start();
    let mut daemon = Daemon::with_model(&model);
    model.reply(Reply::new().text("I think").gate("g"));
    let run = Agentctl::new(daemon.home()).start(&["run", "x"]);
    model.wait_at("g");
    let mut stop = Pty::start(daemon.home(), &binary("agentctl"), &["stop"]);
    stop.expect("waiting for 1 turn, at most 10 s");
    model.open("g");
    stop.expect("agentd stopped");
    assert_eq!(stop.wait(), Some(0));
    assert_eq!(run.wait().code, Some(0));
    assert!(daemon.wait().success());
}

/// The id of the open request, once there is one.
fn wait_for_request(client: &Client) -> String {
    let end = std::time::Instant::now() + tests::PATIENCE;
    loop {
        let listed = client.call_ok("permission/list", &json!({}));
        if let Some(id) = listed["requests"][0]["requestId"].as_str() {
            return id.to_owned();
        }
        assert!(std::time::Instant::now() < end, "nothing was asked");
    }
}

#[test]
fn a_call_is_explained_and_the_exit_code_tells_the_decision() {
    let model = ModelServer::start();
    let daemon = Daemon::with_model(&model);
    let agentctl = Agentctl::new(daemon.home());
    let decide = |arguments: &[&str]| {
        let output = agentctl.run(&[&["explain"], arguments].concat());
        (output.code, output.stdout)
    };
    let (code, said) = decide(&["Bash", "ls"]);
    assert!(code == Some(0) && said.starts_with("allow  it would run unasked: "), "{said}");
    let (code, said) = decide(&["Bash", "ls; touch x"]);
    assert!(code == Some(5) && said.starts_with("ask  a person would be asked: "), "{said}");
    let (code, said) = decide(&["--mode", "dontAsk", "Bash", "touch x"]);
    assert!(code == Some(3) && said.starts_with("deny  it would not run: "), "{said}");
    assert_eq!(decide(&["--mode", "acceptEdits", "Edit", "src/x.rs"]).0, Some(0));
    let (code, said) = decide(&["--mode", "plan", "ExitPlanMode", "1. Write it."]);
    assert!(code == Some(5) && said.contains("ExitPlanMode asks a person"), "{said}");
    let unknown = agentctl.run(&["explain", "ExitPlanMode", "1. Write it."]);
    assert!(unknown.code == Some(1) && unknown.stderr.contains("no such tool"), "only who plans has it: {unknown:?}");
    assert!(agentctl.run(&["explain", "--mode", "plan", "Rea", "{}"]).stderr.contains("ExitPlanMode, "));
    let (code, said) = decide(&["--json", "Write", "x"]);
    let explained: Value = serde_json::from_str(&said).unwrap();
    assert_eq!((code, &explained["decision"]), (Some(5), &json!("ask")));
    assert_eq!(explained["trace"].as_array().unwrap().last().unwrap()["outcome"], "ask");
    assert_eq!(decide(&["Bash"]).0, Some(2));
    assert_eq!(decide(&["mcp__a__b", "no JSON"]).0, Some(2));
    daemon.home().settings(&json!({"permissions": {"defaultMode": "plan"}}));
    assert_eq!(decide(&["ExitPlanMode", "1. Write it."]).0, Some(5), "the folder's own mode");
}

#[test]
fn settings_and_trust_are_read_and_written_with_their_files() {
    let model = ModelServer::start();
    let daemon = Daemon::with_model(&model);
    let agentctl = Agentctl::new(daemon.home());
    assert!(agentctl.ok(&["trust", "--show"]).contains(" is not trusted: it has no settings of its own"));
    let set = ["config", "set", "permissions.allow", r#"["Bash(make *)"]"#, "--scope", "project"];
    assert!(agentctl.run(&set).stderr.contains("is not trusted"), "it would count for nothing");
    assert!(agentctl.ok(&["trust"]).contains(" is trusted: "));
    let written = agentctl.ok(&set);
    let file = written.trim().strip_prefix("written to ").unwrap().to_owned();
    assert!(std::fs::read_to_string(&file).unwrap().contains("Bash(make *)"), "{file}");
    agentctl.ok(&["trust", "--no"]);
    assert_eq!(agentctl.run(&["explain", "Bash", "make x"]).code, Some(5), "it is not trusted");
    assert!(agentctl.ok(&["doctor"]).contains("to trust it, run: agentctl trust"));
    agentctl.ok(&["trust"]);
    assert_eq!(agentctl.run(&["explain", "Bash", "make x"]).code, Some(0));
    let found: Value = serde_json::from_str(&agentctl.ok(&["config", "get", "--json", "permissions.allow"])).unwrap();
    assert_eq!((&found["value"], &found["files"]), (&json!(["Bash(make *)"]), &json!([file])));
    let listed = agentctl.ok(&["config", "list"]);
    assert!(listed.contains(&format!("permissions.allow = [\"Bash(make *)\"]  ({file})")), "{listed}");
    agentctl.ok(&["config", "unset", "permissions.allow", "--scope", "project"]);
    assert_eq!(agentctl.ok(&["config", "get", "permissions.allow"]), "null\n");
    let trusted: Value = serde_json::from_str(&agentctl.ok(&["trust", "--no", "--json"])).unwrap();
    assert_eq!(trusted["trusted"], false);
}

#[test]
fn a_waiting_question_is_shown_whole_and_remembered_by_a_rule_that_is_given() {
    let model = ModelServer::start();
    let daemon = Daemon::with_model(&model);
    let agentctl = Agentctl::new(daemon.home());
    let client = Client::connect(&daemon);
    for (call, command) in [("t1", "ls && touch a"), ("t2", "touch b")] {
        model.reply(Reply::calls(call, "Bash", &json!({"command": command})));
    }
    model.reply(Reply::says("Done."));
    let run = agentctl.start(&["run", "x", "--on-ask", "wait"]);
    let request = wait_for_request(&client);
    let pending = agentctl.ok(&["pending"]);
    for part in ["  ls && touch a\n", "    readonly  ls", "    edits     touch a", "can be remembered: "] {
        assert!(pending.contains(part), "{part:?} in {pending}");
    }
    let rule = "Bash(touch *)";
    let remembered = agentctl.ok(&["allow", &request, "--remember", "session", "--rule", rule]);
    assert_eq!(remembered, "remembered for this session: Bash(touch *)\n");
    assert_eq!(run.wait().code, Some(0), "the second command is not asked about");
    assert!(daemon.workspace().join("b").exists());
}

#[test]
fn the_rest_answers() {
    let model = ModelServer::start();
    let daemon = Daemon::with_model(&model);
    let agentctl = Agentctl::new(daemon.home());
    let schema: Value = serde_json::from_str(&agentctl.ok(&["schema"])).unwrap();
    assert_eq!(schema, proto::schema::protocol_schema());
    let status: Value = serde_json::from_str(&agentctl.ok(&["rpc", "daemon/status"])).unwrap();
    assert_eq!(status["pid"], daemon.pid());
    assert!(agentctl.ok(&["status"]).contains(&daemon.pid().to_string()));
    assert!(agentctl.ok(&["models"]).contains("test/m1"));
    assert!(agentctl.ok(&["completions", "bash"]).contains("agentctl"));
    let refused = agentctl.run(&["rpc", "session/get", "{\"sessionId\": \"x\"}"]);
    assert_eq!(refused.code, Some(1));
    assert!(refused.stderr.contains("-32001"), "{refused:?}");
    assert_eq!(agentctl.run(&["doctor"]).code, Some(0));
}
