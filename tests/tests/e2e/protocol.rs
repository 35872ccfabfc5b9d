//! The protocol's page against the running daemon: what it marks as *not yet* answers so, everything
//! else is there.

use proto::methods::METHOD_NAMES;
use serde_json::json;
use std::fs;
use std::path::Path;
use tests::{Agentctl, Client, Daemon, Home, ModelServer, Reply};

fn page() -> String {
    fs::read_to_string(Path::new(env!("CARGO_MANIFEST_DIR")).join("../proto/PROTOCOL.md")).unwrap()
}

#[test]
fn the_page_s_commands_are_there() {
    let page = page();
    let section = page.split("\n## ").find(|section| section.starts_with("7.")).unwrap();
    let cells = section.lines().filter_map(|line| line.strip_prefix("| `")?.split(" | ").next());
    let commands: Vec<&str> =
        cells.flat_map(|cell| cell.split("`, `")).filter_map(|usage| usage.split([' ', '`']).next()).collect();
    assert!(commands.len() > 20, "{commands:?}");
    let home = Home::new();
    let help = Agentctl::new(&home).ok(&["--help"]);
    let there: Vec<&str> = help.lines().filter_map(|line| line.trim().split(' ').next()).collect();
    for command in commands {
        assert!(there.contains(&command), "the page has `agentctl {command}`, which is not there");
    }
}

#[test]
fn what_the_page_marks_as_not_yet_answers_so() {
    let daemon = Daemon::start();
    let client = Client::connect(&daemon);
    client.leave();
    let page = page();
    for method in METHOD_NAMES.iter().filter(|method| **method != "daemon/shutdown") {
        let marked = format!("`{method}`");
        let row = page.lines().find(|line| line.split('|').nth(1).is_some_and(|cell| cell.contains(&marked)));
        let not_yet = row.unwrap().contains("*not yet*");
        // Without its params a method that is there has something else to say.
        let missing = client.call(method, &json!({})).is_err_and(|error| error.code == -32601);
        assert_eq!(missing, not_yet, "{method}");
    }
}

#[test]
fn a_client_is_known_by_its_name() {
    let model = ModelServer::start();
    let daemon = Daemon::with_model(&model);
    let client = Client::connect(&daemon);
    let hello = json!({"protocolVersion": 1, "client": {"name": "my-editor", "version": "7"}});
    let about = client.call_ok("initialize", &hello);
    assert_eq!((&about["protocolVersion"], &about["agentd"]["pid"]), (&json!(1), &json!(daemon.pid())));
    model.reply(Reply::says("hello"));
    let session = client.session(&daemon.workspace());
    let events = client.run(&session, "hi");
    assert_eq!(events[0].text("client"), "my-editor");
}

#[test]
fn status_tells_how_the_daemon_is() {
    let model = ModelServer::start();
    let daemon = Daemon::with_model(&model);
    let client = Client::connect(&daemon);
    let session = client.session(&daemon.workspace());
    model.reply(Reply::new().text("a").gate("g"));
    client.prompt(&session, "go");
    model.wait_at("g");
    let status = client.call_ok("daemon/status", &json!({}));
    assert_eq!(status["sessions"], json!({"total": 1, "running": 1, "waiting": 0}));
    assert_eq!(status["socket"], json!(daemon.home().socket()));
    assert_eq!(status["stateDir"], json!(daemon.home().state_dir()));
    assert_eq!(status["connections"], 1);
    model.open("g");
    client.events_until("turn.ended");
    assert_eq!(client.call_ok("daemon/status", &json!({}))["sessions"]["running"], 0);
}

#[test]
fn settings_are_read_again_on_request() {
    let model = ModelServer::start();
    let daemon = Daemon::with_model(&model);
    let client = Client::connect(&daemon);
    let session = client.session(&daemon.workspace());
    daemon.home().settings(&json!({"permissions": {"allow": ["Bash"]}}));
    let reloaded = client.call_ok("daemon/reload", &json!({}));
    assert!(reloaded["changed"].to_string().contains("permissions"), "{reloaded}");
    assert_eq!(reloaded["errors"], json!([]));
    model.reply(Reply::calls("t1", "Bash", &json!({"command": "touch a"}))).reply(Reply::says("done"));
    let events = client.run(&session, "go");
    assert!(!events.iter().any(|event| event.kind == "permission.requested"));
    assert!(daemon.workspace().join("a").exists());
}
