//! Settings in layers, by hand and by method, while sessions run: each counts where it should, from the next call on.

use serde_json::{Value, json};
use std::fs;
use tests::{Agentctl, Client, Daemon, Event, ModelServer, Reply};

fn bash(command: &str) -> Value {
    json!({"command": command})
}

fn put(daemon: &Daemon, name: &str, settings: &Value) {
    let path = daemon.workspace().join(name);
    fs::create_dir_all(path.parent().unwrap()).unwrap();
    fs::write(path, settings.to_string()).unwrap();
}

fn ended(events: &[Event], id: &str) -> String {
    let event = events.iter().find(|event| event.kind == "tool.ended" && event.text("toolCallId") == id);
    event.unwrap_or_else(|| panic!("no end of {id}")).text("status").to_owned()
}

fn notices(events: &[Event]) -> Vec<&str> {
    events.iter().filter(|event| event.kind == "notice").map(|event| event.text("text")).collect()
}

#[test]
fn a_folder_is_trusted_once_by_a_person_and_its_sessions_say_so() {
    let mut daemon = Daemon::start();
    let client = Client::connect(&daemon);
    let session = client.session(&daemon.workspace());
    let trusted = |client: &Client| {
        let got = client.call_ok("session/get", &json!({"sessionId": session}))["session"]["trusted"].clone();
        let listed = client.call_ok("session/list", &json!({}))["sessions"][0]["trusted"].clone();
        assert_eq!(got, listed);
        got
    };
    assert_eq!(trusted(&client), json!(false));
    let path = daemon.workspace();
    let below = path.join("below");
    fs::create_dir_all(&below).unwrap();
    assert_eq!(client.call_ok("trust/get", &json!({"path": path})), json!({"path": path, "trusted": false}));
    let set = client.call_ok("trust/set", &json!({"path": path, "trusted": true}));
    assert_eq!(set, json!({"path": path, "trusted": true}));
    assert_eq!(client.expect_event("session.updated").body["trusted"], json!(true));
    assert_eq!(trusted(&client), json!(true));
    let found = client.call_ok("trust/get", &json!({"path": below}));
    assert_eq!(found, json!({"path": below, "trusted": true, "by": path}));
    let created = client.call_ok("session/create", &json!({"cwd": below}))["session"].clone();
    assert_eq!(created["trusted"], json!(true));
    assert_eq!(client.call_err("trust/set", &json!({"path": "/", "trusted": true})).code, -32602);
    assert_eq!(client.call_err("trust/set", &json!({"path": "work", "trusted": true})).code, -32005);
    daemon.restart();
    let client = Client::connect(&daemon);
    assert_eq!(trusted(&client), json!(true));
    client.call_ok("trust/set", &json!({"path": path, "trusted": false}));
    assert_eq!(trusted(&client), json!(false));
}

/// Row P15: what a trusted folder allows is allowed by the project, and the reason says so.
#[test]
fn before_trust_a_folder_allows_nothing_and_its_denials_hold() {
    let model = ModelServer::start();
    let daemon = Daemon::with_model(&model);
    put(
        &daemon,
        ".claude/settings.json",
        &json!({"permissions": {"allow": ["Bash(touch a)"], "deny": ["Bash(touch d)"]}}),
    );
    let client = Client::connect(&daemon);
    let session = client.session(&daemon.workspace());
    model.reply(Reply::calls("t1", "Bash", &bash("touch d"))).reply(Reply::calls("t2", "Bash", &bash("touch a")));
    model.reply(Reply::says("done"));
    client.prompt(&session, "go");
    let events = client.events_until("permission.requested");
    assert_eq!(ended(&events, "t1"), "denied");
    assert_eq!(events.last().unwrap().text("toolCallId"), "t2");
    let request = events.last().unwrap().text("requestId");
    client.call_ok("permission/respond", &json!({"requestId": request, "decision": "deny", "message": "no"}));
    client.events_until("turn.ended");
    client.call_ok("trust/set", &json!({"path": daemon.workspace(), "trusted": true}));
    model.reply(Reply::calls("t3", "Bash", &bash("touch a"))).reply(Reply::calls("t4", "Bash", &bash("touch d")));
    model.reply(Reply::says("done"));
    let events = client.run(&session, "again");
    assert_eq!((ended(&events, "t3"), ended(&events, "t4")), ("completed".to_owned(), "denied".to_owned()));
    let started = events.iter().find(|event| event.kind == "tool.started").unwrap();
    let file = daemon.workspace().join(".claude/settings.json");
    assert_eq!(started.body["decision"]["source"], json!(format!("project ({})", file.display())));
}

#[test]
fn a_rule_that_is_added_to_a_file_counts_for_the_next_call_of_the_same_turn() {
    let model = ModelServer::start();
    let daemon = Daemon::with_model(&model);
    let client = Client::connect(&daemon);
    let session = client.session(&daemon.workspace());
    daemon.home().settings(&json!({"permissions": {"allow": ["Bash(touch a)"]}}));
    model.reply(Reply::calls("t1", "Bash", &bash("touch a")));
    model.reply(Reply::new().gate("between").tool("t2", "Bash", &bash("touch a")));
    model.reply(Reply::says("done"));
    client.prompt(&session, "go");
    model.wait_at("between");
    daemon.home().settings(&json!({"permissions": {"deny": ["Bash(touch a)"]}}));
    model.open("between");
    let events = client.events_until("turn.ended");
    assert_eq!((ended(&events, "t1"), ended(&events, "t2")), ("completed".to_owned(), "denied".to_owned()));
}

#[test]
fn the_user_s_settings_count_for_the_next_turn_without_a_reload() {
    let model = ModelServer::start();
    let daemon = Daemon::start();
    let client = Client::connect(&daemon);
    daemon.home().use_model(&model);
    let session = client.session(&daemon.workspace());
    model.reply(Reply::says("hello"));
    client.run(&session, "go");
    assert_eq!(model.requests().len(), 1);
    // A reload tells what was not told yet.
    let told = client.call_ok("daemon/reload", &json!({}));
    assert_eq!(told, json!({"changed": ["model", "providers"], "errors": []}));
    assert_eq!(client.call_ok("daemon/reload", &json!({}))["changed"], json!([]));
}

#[test]
fn a_broken_file_is_told_once_and_keeps_what_it_denied() {
    let model = ModelServer::start();
    let daemon = Daemon::with_model(&model);
    let client = Client::connect(&daemon);
    put(&daemon, ".agentd/settings.json", &json!({"permissions": {"deny": ["Bash(touch d)"]}}));
    let session = client.session(&daemon.workspace());
    model.reply(Reply::says("hello"));
    assert_eq!(notices(&client.run(&session, "go")), [""; 0]);
    fs::write(daemon.workspace().join(".agentd/settings.json"), "{\n  \"permissions\": {\n").unwrap();
    for (round, told) in [(1, 1), (2, 0)] {
        let id = format!("t{round}");
        model.reply(Reply::calls(&id, "Bash", &bash("touch d"))).reply(Reply::says("done"));
        let events = client.run(&session, "again");
        assert_eq!(ended(&events, &id), "denied");
        let notices = notices(&events);
        assert_eq!(notices.len(), told, "{notices:?}");
        assert!(
            notices.iter().all(|text| text.contains(".agentd/settings.json") && text.contains("line 3")),
            "{notices:?}"
        );
    }
}

/// What is wrong with a folder's files is told by a reload while a session works there, and by doctor to whoever stands in
/// it, each time with the line; a folder that nobody asked about is left alone.
#[test]
fn a_folder_s_faults_are_told_by_reload_and_doctor() {
    let daemon = Daemon::start();
    let client = Client::connect(&daemon);
    let below = daemon.workspace().join("below");
    for folder in [daemon.workspace(), below.clone()] {
        fs::create_dir_all(folder.join(".agentd")).unwrap();
    }
    let text = "{\n  \"permissions\": {\n    \"alow\": [],\n    \"deny\": [\"Bash(\"]\n  },\n}\n";
    fs::write(daemon.workspace().join(".agentd/settings.json"), text).unwrap();
    fs::write(daemon.workspace().join(".agentd/settings.local.json"), "{\n  \"model\" 7\n}").unwrap();
    fs::write(below.join(".agentd/settings.json"), r#"{"modle": "x"}"#).unwrap();
    let told = |params: Value| -> Vec<String> {
        let errors = client.call_ok("daemon/reload", &params)["errors"].clone();
        let error =
            |error: &Value| format!("{}: {}", error["file"].as_str().unwrap(), error["message"].as_str().unwrap());
        errors.as_array().unwrap().iter().map(error).collect()
    };
    let has = |errors: &[String], file: &str, part: &str| {
        let is_it = |error: &&String| error.contains(&format!("work/{file}: ")) && error.contains(part);
        assert_eq!(errors.iter().filter(is_it).count(), 1, "{file}: {part}: {errors:?}");
    };
    assert_eq!(told(json!({})), [""; 0]);
    has(&told(json!({"cwd": below})), "below/.agentd/settings.json", "line 1: modle");
    client.session(&daemon.workspace());
    client.session(&daemon.workspace());
    let errors = told(json!({}));
    has(&errors, ".agentd/settings.json", "line 3: permissions.alow: there is no such setting; did you mean allow?");
    has(&errors, ".agentd/settings.json", "line 4: permissions.deny[0]");
    has(&errors, ".agentd/settings.local.json", "line 2");
    assert_eq!(errors.len(), 3, "{errors:?}");
    let doctor = Agentctl::new(daemon.home()).ok(&["doctor"]);
    assert!(doctor.contains("line 3: permissions.alow") && doctor.contains("settings.local.json: line 2"), "{doctor}");
    assert_eq!(client.call_err("daemon/reload", &json!({"cwd": "work"})).code, -32005);
}

#[test]
fn a_setting_is_written_and_found_with_its_file() {
    let daemon = Daemon::start();
    let client = Client::connect(&daemon);
    let cwd = daemon.workspace();
    let own = daemon.home().path("config/agentd/settings.json");
    fs::write(&own, "{\n  // mine\n  \"limits\": {\"retries\": 1},\n}\n").unwrap();
    let set = client.call_ok("config/set", &json!({"scope": "user", "key": "limits.maxTurns", "value": 7}));
    assert_eq!(set, json!({"value": 7, "file": own, "files": [own]}));
    let text = fs::read_to_string(&own).unwrap();
    assert!(text.contains("// mine") && text.contains("\"retries\": 1"), "{text}");
    let found = client.call_ok("config/get", &json!({"key": "limits.maxTurns"}));
    assert_eq!(found, json!({"value": 7, "file": own, "files": [own]}));
    assert_eq!(client.call_ok("config/get", &json!({"key": "model"})), json!({"value": null}));
    let local = json!({"scope": "local", "cwd": cwd, "key": "permissions.allow", "value": ["Edit"]});
    assert!(client.call_err("config/set", &local).message.contains("is not trusted"));
    client.call_ok("trust/set", &json!({"path": cwd, "trusted": true}));
    let file = cwd.join(".agentd/settings.local.json");
    assert_eq!(client.call_ok("config/set", &local)["file"], json!(file));
    let found = client.call_ok("config/get", &json!({"cwd": cwd, "key": "permissions.allow"}));
    assert_eq!((&found["value"], &found["file"]), (&json!(["Edit"]), &json!(file)));
    for (params, part) in [
        (json!({"scope": "user", "key": "modle", "value": "x"}), "did you mean model?"),
        (json!({"scope": "moon", "key": "model", "value": "x"}), "scope"),
        (json!({"scope": "user", "key": "limits.retries", "value": "x"}), "limits.retries"),
    ] {
        let error = client.call_err("config/set", &params);
        assert!(error.code == -32602 && error.message.contains(part), "{error:?}");
    }
    let before = fs::read_to_string(&own).unwrap();
    for value in [json!(["Edit", "Bash("]), json!([7]), json!("Edit")] {
        let error = client.call_err("config/set", &json!({"scope": "user", "key": "permissions.deny", "value": value}));
        assert!(error.code == -32602 && error.message.starts_with("permissions.deny"), "{error:?}");
        assert!(error.message.contains("nothing was written") && !error.message.contains("ignored"), "{error:?}");
    }
    assert_eq!(fs::read_to_string(&own).unwrap(), before);
    let error = client.call_err("config/get", &json!({"key": "permissions.alow"}));
    assert!(error.code == -32602 && error.message.contains("did you mean permissions.allow?"), "{error:?}");
}

#[test]
fn a_mode_that_is_switched_off_is_refused_and_no_session_keeps_it() {
    let model = ModelServer::start();
    let daemon = Daemon::with_model(&model);
    let client = Client::connect(&daemon);
    let bypass = json!({"cwd": daemon.workspace(), "mode": "bypassPermissions"});
    let session = client.session_with(&bypass);
    put(&daemon, ".claude/settings.json", &json!({"permissions": {"disableBypassPermissionsMode": "disable"}}));
    let error = client.call_err("session/create", &bypass);
    assert!(error.code == -32602 && error.message.contains("disableBypassPermissionsMode"), "{error:?}");
    let update = json!({"sessionId": session, "mode": "bypassPermissions"});
    assert_eq!(client.call_err("session/update", &update).code, -32602);
    model.reply(Reply::calls("t1", "Bash", &bash("touch a")));
    client.prompt(&session, "go");
    client.decide_next("deny");
    assert_eq!(ended(&client.events_until("turn.ended"), "t1"), "denied");
}

#[test]
fn variables_of_the_settings_reach_commands_but_not_from_a_folder_that_is_not_trusted() {
    let model = ModelServer::start();
    let daemon = Daemon::with_model(&model);
    let echo = bash("echo \"[$OWN] [$THEIRS] [$MY_TOKEN] [$LD_AUDIT]\"");
    let own = json!({"OWN": "own", "MY_TOKEN": "canary", "LD_AUDIT": "/canary"});
    daemon.home().settings(&json!({"env": own, "permissions": {"allow": ["Bash"]}}));
    put(&daemon, ".agentd/settings.json", &json!({"env": {"THEIRS": "theirs"}}));
    let client = Client::connect(&daemon);
    let session = client.session(&daemon.workspace());
    for (id, trusted, expected) in [("t1", false, "[own] [] [] []"), ("t2", true, "[own] [theirs] [] []")] {
        client.call_ok("trust/set", &json!({"path": daemon.workspace(), "trusted": trusted}));
        model.reply(Reply::calls(id, "Bash", &echo)).reply(Reply::says("done"));
        client.run(&session, "go");
        let results = model.requests().pop().unwrap().tool_results();
        assert!(results.last().unwrap().1.contains(expected), "{results:?}");
    }
}

#[test]
fn a_command_prints_the_key_and_is_asked_again_when_it_is_refused() {
    let model = ModelServer::start();
    let daemon = Daemon::with_model(&model);
    let (key, runs) = (daemon.home().path("key"), daemon.home().path("runs"));
    fs::write(&key, "canary-one").unwrap();
    let command = format!("echo run >> {}; cat {}", runs.display(), key.display());
    daemon.home().settings(&json!({"providers": {"test": {"apiKeyEnv": null, "apiKeyHelper": command}}}));
    let client = Client::connect(&daemon);
    let session = client.session(&daemon.workspace());
    model.reply(Reply::says("one")).reply(Reply::says("two"));
    client.run(&session, "go");
    client.run(&session, "go");
    fs::write(&key, "canary-two").unwrap();
    model.reply(Reply::error(401, "authentication_error", "no")).reply(Reply::says("three"));
    let events = client.run(&session, "go");
    assert_eq!(events.last().unwrap().text("reason"), "completed");
    let keys: Vec<String> = model.requests().iter().map(|request| request.headers["x-api-key"].clone()).collect();
    assert_eq!(keys, ["canary-one", "canary-one", "canary-one", "canary-two"]);
    assert_eq!(fs::read_to_string(runs).unwrap(), "run\nrun\n");
}
