//! Questions: who answers them, where an answer is kept, and that what runs is what was shown.

use serde_json::{Value, json};
use std::fs;
use std::path::Path;
use tests::{Client, Daemon, Event, ModelServer, Reply, assert_order};

fn write(daemon: &Daemon, name: &str) -> Value {
    json!({"file_path": daemon.workspace().join(name), "content": "new\n"})
}

fn written(daemon: &Daemon, name: &str) -> bool {
    daemon.workspace().join(name).exists()
}

fn asked(events: &[Event]) -> usize {
    events.iter().filter(|event| event.kind == "permission.requested").count()
}

fn read(path: &Path) -> String {
    fs::read_to_string(path).unwrap()
}

/// Two people answer at the same moment, one yes and one no: one of them wins, the other is told who did, and what
/// happens is what the winner said.
#[test]
fn two_who_race_have_one_winner() {
    const ROUNDS: usize = 200;
    let model = ModelServer::start();
    let daemon = Daemon::with_model(&model);
    let clients = [("left", Client::connect(&daemon)), ("right", Client::connect(&daemon))];
    for (name, client) in &clients {
        client.call_ok("initialize", &json!({"protocolVersion": 1, "client": {"name": name, "version": "1"}}));
    }
    let session = clients[0].1.session(&daemon.workspace());
    let (mut allowed, mut wins) = (0, [0, 0]);
    for round in 0..ROUNDS {
        model.reply(Reply::calls(&format!("t{round}"), "Bash", &json!({"command": "echo x >> ran"})));
        model.reply(Reply::says("done"));
        clients[0].1.prompt(&session, "go");
        let request = clients[0].1.events_until("permission.requested").pop().unwrap().text("requestId").to_owned();
        let answers = |decision: &str| json!({"requestId": request, "decision": decision, "message": "no"});
        // Who is written to first changes each round, and so does who says yes.
        let order = if round % 2 == 0 { [0, 1] } else { [1, 0] };
        let yes = (round / 2) % 2;
        let calls = order.map(|who| {
            let answer = answers(if who == yes { "allow" } else { "deny" });
            (who, clients[who].1.begin("permission/respond", &answer))
        });
        let results = calls.map(|(who, call)| (who, clients[who].1.finish(&call)));
        let winner = results.iter().find(|(_, result)| result.is_ok()).expect("somebody wins").0;
        let (loser, error) =
            results.iter().find_map(|(who, result)| Some((*who, result.clone().err()?))).expect("one loses");
        assert_ne!(winner, loser);
        assert_eq!((error.code, &error.data["by"]), (-32010, &json!(clients[winner].0)), "{error:?}");
        wins[winner] += 1;
        allowed += usize::from(winner == yes);
        let status = if winner == yes { "completed" } else { "denied" };
        let events = clients[0].1.events_until("turn.ended");
        assert_order(&events, &[&format!("tool.ended(t{round} {status})")]);
        assert_eq!(events.iter().filter(|event| event.kind == "permission.resolved").count(), 1);
    }
    let ran = fs::read_to_string(daemon.workspace().join("ran")).unwrap_or_default().lines().count();
    assert_eq!(ran, allowed, "each yes that won ran once, and nothing else did ({wins:?})");
}

/// Row P13: where nobody is there to ask, no question is opened, and the model is told why.
#[test]
fn a_turn_may_say_that_nobody_is_there() {
    let model = ModelServer::start();
    let daemon = Daemon::with_model(&model);
    model.reply(Reply::calls("t1", "Write", &write(&daemon, "a"))).reply(Reply::says("I see"));
    let client = Client::connect(&daemon);
    let session = client.session(&daemon.workspace());
    client.call_ok("turn/start", &json!({"sessionId": session, "prompt": "go", "onAsk": "deny"}));
    let events = client.events_until("turn.ended");
    assert_order(&events, &["tool.ended(t1 denied)", "turn.ended(completed)"]);
    assert_eq!(asked(&events), 0);
    assert!(model.wait_for_request(2).tool_results()[0].1.contains("nobody is there to ask"));
    assert!(!written(&daemon, "a"));
    let wrong = client.call_err("turn/start", &json!({"sessionId": session, "prompt": "go", "onAsk": "maybe"}));
    assert_eq!(wrong.code, -32602);
}

/// A file that changes, or a link that is laid in its way, while the question is open: what was allowed is not run.
#[test]
fn what_changed_since_the_question_is_refused() {
    let change = |daemon: &Daemon| fs::write(daemon.workspace().join("dir/f"), "changed\n").unwrap();
    let swap = |daemon: &Daemon| {
        fs::rename(daemon.workspace().join("dir"), daemon.workspace().join("old")).unwrap();
        std::os::unix::fs::symlink(daemon.workspace().join("other"), daemon.workspace().join("dir")).unwrap();
    };
    let changes: [&dyn Fn(&Daemon); 2] = [&change, &swap];
    for (at, happens) in changes.into_iter().enumerate() {
        let model = ModelServer::start();
        let daemon = Daemon::with_model(&model);
        for dir in ["dir", "other"] {
            fs::create_dir(daemon.workspace().join(dir)).unwrap();
            fs::write(daemon.workspace().join(dir).join("f"), "old\n").unwrap();
        }
        let input = json!({"file_path": "dir/f", "old_string": "old", "new_string": "new"});
        let both = Reply::new().tool("r1", "Read", &json!({"file_path": "dir/f"}));
        model.reply(both.tool("r2", "Read", &json!({"file_path": "other/f"})));
        model.reply(Reply::calls("e", "Edit", &input)).reply(Reply::says("I see"));
        let client = Client::connect(&daemon);
        let session = client.session(&daemon.workspace());
        client.prompt(&session, "go");
        let request = client.events_until("permission.requested").pop().unwrap();
        happens(&daemon);
        client.call_ok("permission/respond", &json!({"requestId": request.text("requestId"), "decision": "allow"}));
        let events = client.events_until("turn.ended");
        assert_order(&events, &["permission.resolved(allow)", "tool.ended(e failed)", "turn.ended(completed)"]);
        let told = model.wait_for_request(3).tool_results().last().unwrap().1.clone();
        assert!(told.contains("has changed") && told.contains("Read it again"), "{at}: {told}");
        assert!(!events.iter().any(|event| event.kind == "file.changed"));
        assert_ne!(read(&daemon.workspace().join("other/f")), "new\n");
    }
}

/// A question is durable, and what it shows with it: over a restart it holds where it still shows the same, and is
/// asked anew where it does not.
#[test]
fn a_question_that_shows_what_is_no_more_is_asked_anew_after_a_restart() {
    for moved in [false, true] {
        let model = ModelServer::start();
        let mut daemon = Daemon::with_model(&model);
        fs::create_dir(daemon.workspace().join("dir")).unwrap();
        model.reply(Reply::calls("t1", "Write", &json!({"file_path": "dir/f", "content": "x\n"})));
        let client = Client::connect(&daemon);
        let session = client.session(&daemon.workspace());
        client.prompt(&session, "go");
        let events = client.events_until_all(&["permission.requested", "message.completed"]);
        let before = events.iter().find(|event| event.kind == "permission.requested").unwrap().body.clone();
        client.leave();
        drop(client);
        daemon.terminate();
        if moved {
            fs::rename(daemon.workspace().join("dir"), daemon.workspace().join("old")).unwrap();
            fs::create_dir(daemon.workspace().join("other")).unwrap();
            std::os::unix::fs::symlink("other", daemon.workspace().join("dir")).unwrap();
        }
        daemon.start_again();
        model.reply(Reply::says("done"));
        let client = Client::connect(&daemon);
        let last = client.call_ok("session/get", &json!({"sessionId": session}))["session"]["lastSeq"].clone();
        client.attach(&session, last.as_u64().unwrap());
        let mut id = before["requestId"].clone();
        if moved {
            // From the log, since it may have happened before this client was there.
            client.leave();
            let other = Client::connect(&daemon);
            other.attach(&session, 0);
            other.leave();
            let asked = other.events_until("permission.resolved");
            assert_eq!(asked.last().unwrap().body["requestId"], id);
            id = other.expect_event("permission.requested").body["requestId"].clone();
        }
        assert_eq!(id == before["requestId"], !moved);
        client.call_ok("permission/respond", &json!({"requestId": id, "decision": "allow"}));
        assert_order(&client.events_until("turn.ended"), &["permission.resolved(allow)", "tool.ended(t1 completed)"]);
    }
}

fn explain(client: &Client, place: &Value, tool: &str, input: &Value) -> (String, u64, String) {
    let mut params = place.clone();
    params["tool"] = json!(tool);
    params["input"] = input.clone();
    let told = client.call_ok("permission/explain", &params);
    let trace = told["trace"].as_array().unwrap();
    assert_eq!(trace.last().unwrap()["layer"], told["reason"]["layer"], "{told}");
    assert_eq!(trace.last().unwrap()["outcome"], told["decision"], "{told}");
    assert_eq!(trace.last().unwrap()["detail"], told["reason"]["detail"], "{told}");
    let text = |value: &Value| value.as_str().unwrap().to_owned();
    (text(&told["decision"]), told["reason"]["layer"].as_u64().unwrap(), text(&told["reason"]["detail"]))
}

/// What is explained is what would be decided, in a session and in a plain folder; nothing is written, run or asked.
#[test]
fn a_decision_is_explained_before_it_is_made() {
    let model = ModelServer::start();
    let rules = json!({"permissions": {"allow": ["Bash(make *)"], "deny": ["Bash(rm *)"]}});
    let daemon = Daemon::builder().model(&model).settings(&rules).start();
    let client = Client::connect(&daemon);
    let session = client.session(&daemon.workspace());
    let in_mode = |mode: &str| json!({"sessionId": session, "mode": mode});
    let (here, folder) = (json!({"sessionId": session}), json!({"cwd": daemon.workspace()}));
    for place in [&here, &folder] {
        for (tool, input, decision, layer) in [
            ("Bash", json!({"command": "rm x"}), "deny", 1),
            ("Bash", json!({"command": "make all"}), "allow", 8),
            ("Bash", json!({"command": "touch x"}), "ask", 9),
            ("Write", write(&daemon, "a"), "ask", 9),
            ("Edit", json!({"file_path": "a", "old_string": "x", "new_string": "y"}), "ask", 9),
            ("Write", json!({"file_path": ".git/config", "content": ""}), "ask", 6),
        ] {
            let told = explain(&client, place, tool, &input);
            assert_eq!((told.0.as_str(), told.1), (decision, layer), "{place} {tool} {input}: {}", told.2);
        }
    }
    assert_eq!(explain(&client, &in_mode("acceptEdits"), "Write", &write(&daemon, "a")).0, "allow");
    assert_eq!(explain(&client, &in_mode("plan"), "Write", &write(&daemon, "a")).0, "deny");
    assert_eq!(explain(&client, &in_mode("bypassPermissions"), "Bash", &json!({"command": "x"})).0, "allow");
    for (params, told) in [
        (json!({"sessionId": session, "tool": "Bsh", "input": {}}), "Did you mean Bash?"),
        (json!({"sessionId": session, "tool": "Bash", "input": {}}), "the field `command` is missing"),
        (json!({"sessionId": session, "tool": "Bash", "input": {"command": " "}}), "`command` is empty"),
        (
            json!({"sessionId": session, "tool": "Bash", "input": {"command": "x", "_simulatedSedEdit": {}}}),
            "_simulatedSedEdit",
        ),
        (json!({"tool": "Bash", "input": {"command": "x"}}), "sessionId or cwd"),
    ] {
        let error = client.call_err("permission/explain", &params);
        assert_eq!(error.code, -32602, "{params}: {error:?}");
        assert!(error.message.contains(told), "{params}: {error:?}");
    }
    assert_eq!(
        client.call_err("permission/explain", &json!({"cwd": "x", "tool": "Bash", "input": {"command": "x"}})).code,
        -32005
    );
    // It is the very text of the question.
    model.reply(Reply::calls("t1", "Bash", &json!({"command": "touch x"}))).reply(Reply::says("done"));
    client.prompt(&session, "go");
    let request = client.events_until("permission.requested").pop().unwrap();
    let before = explain(&client, &here, "Bash", &json!({"command": "touch x"}));
    assert_eq!(request.body["reason"]["detail"], json!(before.2));
    client.call_ok("permission/respond", &json!({"requestId": request.text("requestId"), "decision": "allow"}));
    client.events_until("turn.ended");
}

/// The question of a command shows each of its parts, where it would run, and what can be remembered for it.
#[test]
fn a_question_of_a_line_shows_its_parts() {
    let model = ModelServer::start();
    let rules = json!({"permissions": {"deny": ["Bash(npm publish *)"]}});
    let daemon = Daemon::builder().model(&model).settings(&rules).start();
    let client = Client::connect(&daemon);
    let session = client.session(&daemon.workspace());
    let command = "ls && make test && rm f; make all";
    model.reply(Reply::calls("t1", "Bash", &json!({"command": command}))).reply(Reply::says("done"));
    client.prompt(&session, "go");
    let request = client.events_until("permission.requested").pop().unwrap().body;
    assert_eq!((&request["cwd"], &request["preview"]["command"]), (&json!(daemon.workspace()), &json!(command)));
    let parts = request["preview"]["parts"].as_array().unwrap();
    let classes: Vec<_> =
        parts.iter().map(|part| (part["text"].as_str().unwrap(), part["class"].as_str().unwrap())).collect();
    assert_eq!(classes, [("ls", "readonly"), ("make test", "ask"), ("rm f", "edits"), ("make all", "ask")]);
    assert!(parts.iter().all(|part| !part["why"].as_str().unwrap().is_empty()));
    let offered = &request["suggestions"][0];
    assert_eq!(offered["rules"], json!(["Bash(make test)", "Bash(rm f)", "Bash(make all)"]), "{offered}");
    let remember = json!({"scope": "session", "rule": offered["rule"], "rules": offered["rules"]});
    let answer = json!({"requestId": request["requestId"], "decision": "allow", "remember": remember});
    client.call_ok("permission/respond", &answer);
    let resolved = client.events_until("permission.resolved").pop().unwrap();
    assert_eq!(resolved.body["reason"]["source"], "session");
    let events = client.events_until("turn.ended");
    assert!(events.iter().any(|event| event.kind == "tool.started"), "a rule that is remembered changes nothing shown");
    assert_eq!(explain(&client, &json!({"sessionId": session}), "Bash", &json!({"command": command})).0, "allow");
    assert_eq!(
        explain(&client, &json!({"sessionId": session}), "Bash", &json!({"command": "npm publish x"})).0,
        "deny"
    );
}

/// A yes that is remembered beyond the session is written into its file before it counts, and counts for the next call.
#[test]
fn an_answer_can_be_remembered_in_a_file() {
    let model = ModelServer::start();
    let daemon = Daemon::with_model(&model);
    let client = Client::connect(&daemon);
    client.call_ok("trust/set", &json!({"path": daemon.workspace(), "trusted": true}));
    let session = client.session(&daemon.workspace());
    let command = json!({"command": "touch a && make"});
    for call in ["t1", "t2"] {
        model.reply(Reply::calls(call, "Bash", &command));
    }
    model.reply(Reply::says("done"));
    client.prompt(&session, "go");
    let request = client.events_until("permission.requested").pop().unwrap();
    let id = request.text("requestId");
    assert_eq!(request.body["suggestions"][0]["scope"], "local");
    assert_eq!(request.body["scopes"], json!(["session", "local", "project", "user"]));
    let respond = |remember: Value| json!({"requestId": id, "decision": "allow", "remember": remember});
    for (remember, told) in [
        (json!({"scope": "local", "rule": "Bash("}), "is not a permission rule"),
        (json!({"scope": "local", "rule": ""}), "it is empty"),
        (json!({"scope": "local", "rule": "WebFetch"}), "does not speak of this call"),
        (json!({"scope": "local", "rule": "Bash(rm *)"}), "does not speak of this call"),
        (
            json!({"scope": "local", "rules": ["Bash(a)", "Bash(b)", "Bash(c)", "Bash(d)", "Bash(e)", "Bash(f)"]}),
            "may add 5",
        ),
        (
            json!({"scope": "local", "rules": ["Bash(a)", "Bash(b)", "Bash(c)", "Bash(d)", "Bash(e)"]}),
            "does not speak of this call",
        ),
    ] {
        let error = client.call_err("permission/respond", &respond(remember));
        assert_eq!(error.code, -32602, "{error:?}");
        assert!(error.message.contains(told), "{error:?}");
    }
    // A folder in the place of the file: nothing is written, and the question is still open.
    let file = daemon.workspace().join(".agentd/settings.local.json");
    fs::create_dir_all(&file).unwrap();
    let failed = client.call_err("permission/respond", &respond(json!({"scope": "local", "rule": "Bash(touch *)"})));
    assert_eq!(failed.code, -32020, "{failed:?}");
    assert_eq!(client.call_ok("permission/list", &json!({}))["requests"][0]["requestId"], json!(id));
    fs::remove_dir(&file).unwrap();
    let written = client
        .call_ok("permission/respond", &respond(json!({"scope": "local", "rules": ["Bash(touch a)", "Bash(make)"]})));
    assert!(read(Path::new(written["file"].as_str().unwrap())).contains("Bash(touch a)"), "{written}");
    let events = client.events_until("turn.ended");
    let resolved = events.iter().find(|event| event.kind == "permission.resolved").unwrap();
    assert_eq!(
        (&resolved.body["reason"]["source"], asked(&events)),
        (&written["file"], 0),
        "the second call runs unasked"
    );
}

/// Row B07: `sed -i` on one file is shown as the diff that it makes, and what was shown is written; a line that is more
/// than that is shown as a command, and the field that makes the difference is nothing that a model can send.
#[test]
fn a_sed_in_place_is_shown_as_the_edit_that_it_is() {
    let model = ModelServer::start();
    let daemon = Daemon::with_model(&model);
    let file = daemon.workspace().join("f");
    fs::write(&file, "one\ntwo\n").unwrap();
    let client = Client::connect(&daemon);
    let session = client.session(&daemon.workspace());
    let forged =
        json!({"command": "true", "_simulatedSedEdit": {"filePath": file, "newContent": "x", "beforeSha256": ""}});
    model.reply(Reply::calls("t0", "Bash", &forged));
    model.reply(Reply::calls("t1", "Bash", &json!({"command": "sed -i 's/two/2/' f"})));
    model.reply(Reply::calls("t2", "Bash", &json!({"command": "sed -i 's/2/3/' f && sed -i 's/one/1/' f"})));
    model.reply(Reply::says("done"));
    client.prompt(&session, "go");
    let mut events = client.events_until("permission.requested");
    assert_order(&events, &["tool.ended(t0 failed)"]);
    let request = events.pop().unwrap().body;
    assert!(request["preview"]["diff"].as_str().unwrap().ends_with("-two\n+2\n"), "{request}");
    assert_eq!(request["input"], json!({"command": "sed -i 's/two/2/' f"}));
    assert_eq!(read(&file), "one\ntwo\n");
    client.call_ok("permission/respond", &json!({"requestId": request["requestId"], "decision": "allow"}));
    let mut events = client.events_until("permission.requested");
    assert_order(&events, &["tool.ended(t1 completed)"]);
    let changed = events.iter().find(|event| event.kind == "file.changed").expect("it is an edit");
    assert_eq!((changed.body["path"].as_str().unwrap(), read(&file).as_str()), (file.to_str().unwrap(), "one\n2\n"));
    let request = events.pop().unwrap().body;
    assert_eq!(request["preview"]["parts"].as_array().map(Vec::len), Some(2), "{request}");
    client.call_ok("permission/respond", &json!({"requestId": request["requestId"], "decision": "allow"}));
    client.events_until("turn.ended");
    assert_eq!(read(&file), "1\n3\n");
}

/// A person's own input that the tool can't take is refused, and nothing is lost by it: no rule is written, the question is
/// still open, and whoever answers it well is the one who wins.
#[test]
fn an_input_of_the_wrong_shape_leaves_the_question_open() {
    let model = ModelServer::start();
    let daemon = Daemon::with_model(&model);
    model.reply(Reply::calls("t1", "Bash", &json!({"command": "touch a"}))).reply(Reply::says("done"));
    let (client, other) = (Client::connect(&daemon), Client::connect(&daemon));
    let session = client.session(&daemon.workspace());
    client.prompt(&session, "go");
    let request = client.events_until("permission.requested").pop().unwrap().text("requestId").to_owned();
    let answer = |input: Value| json!({"requestId": request, "decision": "allow", "updatedInput": input});
    for (input, told) in [
        (json!("touch b"), "not a JSON object"),
        (json!(["touch b"]), "not a JSON object"),
        (json!({}), "`command` is missing"),
        (json!({"command": 7}), "`command`"),
        (json!({"command": "touch b", "comand": "x"}), "comand"),
    ] {
        let mut answer = answer(input);
        answer["remember"] = json!({"scope": "user", "rule": "Bash(touch a)"});
        let error = client.call_err("permission/respond", &answer);
        assert_eq!((error.code, &error.data["field"]), (-32602, &json!("updatedInput")), "{error:?}");
        assert!(error.message.starts_with("updatedInput: ") && error.message.contains(told), "{error:?}");
        assert!(error.message.contains("still open"), "{error:?}");
    }
    let denial = json!({"requestId": request, "decision": "deny", "updatedInput": {"command": "touch b"}});
    let error = client.call_err("permission/respond", &denial);
    assert_eq!((error.code, &error.data["field"]), (-32602, &json!("updatedInput")), "{error:?}");
    assert_eq!(client.call_ok("config/get", &json!({"key": "permissions.allow"}))["value"], Value::Null);
    assert_eq!(client.call_ok("permission/list", &json!({}))["requests"][0]["requestId"], json!(request));
    other.call_ok("permission/respond", &answer(json!({"command": "touch b"})));
    let events = client.events_until("turn.ended");
    assert_order(&events, &["permission.resolved(allow)", "tool.ended(t1 completed)", "turn.ended(completed)"]);
    assert!(written(&daemon, "b") && !written(&daemon, "a"));
}

/// With an edited input no rule of the original call is remembered: only one that speaks of what is to run.
#[test]
fn a_rule_is_remembered_for_the_input_that_runs() {
    let model = ModelServer::start();
    let daemon = Daemon::with_model(&model);
    model.reply(Reply::calls("t1", "Bash", &json!({"command": "touch a"}))).reply(Reply::says("done"));
    let client = Client::connect(&daemon);
    let session = client.session(&daemon.workspace());
    client.prompt(&session, "go");
    let request = client.events_until("permission.requested").pop().unwrap().body;
    let offered = &request["suggestions"][0]["rule"];
    assert_eq!((offered, &request["scopes"]), (&json!("Bash(touch a)"), &json!(["session", "user"])));
    let answer = |rule: &Value, command: &str| {
        let remember = json!({"scope": "session", "rule": rule});
        let input = json!({"command": command});
        json!({"requestId": request["requestId"], "decision": "allow", "remember": remember, "updatedInput": input})
    };
    let error = client.call_err("permission/respond", &answer(offered, "touch b"));
    assert!(error.code == -32602 && error.message.contains("does not speak of this call"), "{error:?}");
    client.call_ok("permission/respond", &answer(&json!("Bash(touch b)"), "touch b"));
    client.events_until("turn.ended");
    assert!(written(&daemon, "b") && !written(&daemon, "a"));
    for (command, decision) in [("touch b", "allow"), ("touch a", "ask")] {
        let told = explain(&client, &json!({"sessionId": session}), "Bash", &json!({"command": command}));
        assert_eq!(told.0, decision, "{command}");
    }
}
