//! The shell of a session over its calls: the folder that lasts, and the shell that is started ahead, which is there
//! only while a turn may need it.

use serde_json::json;
use std::fs;
use tests::{Client, Daemon, ModelServer, Reply};

fn with_bash_allowed(model: &ModelServer) -> Daemon {
    Daemon::builder().model(model).settings(&json!({"permissions": {"allow": ["Bash"]}})).start()
}

fn bash(id: &str, command: &str) -> Reply {
    Reply::calls(id, "Bash", &json!({"command": command}))
}

/// The live processes that agentd is the parent of.
fn children(daemon: &Daemon) -> Vec<u32> {
    let tasks = fs::read_dir(format!("/proc/{}/task", daemon.pid())).unwrap();
    let lists = tasks.map(|task| fs::read_to_string(task.unwrap().path().join("children")).unwrap_or_default());
    let pids: Vec<u32> =
        lists.flat_map(|list| list.split_whitespace().map(|pid| pid.parse().unwrap()).collect::<Vec<_>>()).collect();
    pids.into_iter().filter(|pid| is_alive(*pid)).collect()
}

fn is_alive(pid: u32) -> bool {
    let stat = fs::read_to_string(format!("/proc/{pid}/stat")).unwrap_or_default();
    stat.rsplit_once(") ").is_some_and(|(_, rest)| !rest.starts_with('Z'))
}

fn until(what: impl Fn() -> bool) {
    while !what() {
        std::thread::yield_now();
    }
}

/// Row X16: `cd` in one call, `pwd` in the next, also in the next turn and after a restart.
#[test]
fn where_a_command_went_the_next_one_starts() {
    let model = ModelServer::start();
    let mut daemon = with_bash_allowed(&model);
    let sub = daemon.workspace().join("sub");
    fs::create_dir(&sub).unwrap();
    let sub = sub.canonicalize().unwrap().display().to_string();
    model.reply(bash("t1", "cd sub")).reply(bash("t2", "pwd")).reply(Reply::says("done"));
    let client = Client::connect(&daemon);
    let session = client.session(&daemon.workspace());
    let events = client.run(&session, "go");
    let updated = events.iter().find(|event| event.kind == "session.updated").unwrap();
    assert_eq!(updated.body["shellCwd"], json!(sub), "{updated:?}");
    assert_eq!(model.wait_for_request(3).tool_results()[0].1, sub);

    daemon.restart();
    let client = Client::connect(&daemon);
    model.reply(bash("t3", "pwd; cd /")).reply(bash("t4", "pwd")).reply(Reply::says("done"));
    client.attach(&session, 0);
    client.prompt(&session, "again");
    client.events_while("to the second end", {
        let mut ends = 0;
        move |event| {
            ends += usize::from(event.kind == "turn.ended");
            ends < 2
        }
    });
    let told = &model.wait_for_request(5).tool_results()[0].1;
    assert!(told.starts_with(&format!("{sub}\n\nThe shell's folder was reset to {sub}: / is not in")), "{told}");
    assert_eq!(model.wait_for_request(6).tool_results()[0].1, sub);
}

#[test]
fn a_shell_waits_for_the_next_command_of_a_turn_and_no_longer() {
    let model = ModelServer::start();
    let daemon = with_bash_allowed(&model);
    model.reply(bash("t1", "true")).reply(Reply::new().text("Hm. ").gate("g"));
    let client = Client::connect(&daemon);
    let session = client.session(&daemon.workspace());
    client.prompt(&session, "go");
    model.wait_at("g");
    until(|| children(&daemon).len() == 1);
    assert_eq!(client.call_ok("process/list", &json!({}))["processes"], json!([]), "it is nobody's process yet");
    model.open("g");
    client.events_until("turn.ended");
    until(|| children(&daemon).is_empty());
}

#[test]
fn a_shell_is_there_once_the_model_begins_to_write_a_command() {
    let model = ModelServer::start();
    let daemon = with_bash_allowed(&model);
    let end_of_block = "event: content_block_stop\ndata: {\"type\":\"content_block_stop\",\"index\":0}\n\n";
    let call = Reply::new().partial_tool("t1", "Bash", "{\"command\": \"echo $$\"}").gate("g").raw(end_of_block);
    model.reply(call.stop("tool_use")).reply(Reply::says("done"));
    let client = Client::connect(&daemon);
    let session = client.session(&daemon.workspace());
    client.prompt(&session, "go");
    model.wait_at("g");
    until(|| children(&daemon).len() == 1);
    let waiting = children(&daemon);
    model.open("g");
    client.events_until("turn.ended");
    assert_eq!(model.wait_for_request(2).tool_results()[0].1, waiting[0].to_string(), "that one has run it");
}

#[test]
fn a_shell_that_waits_ends_with_agentd() {
    let model = ModelServer::start();
    let mut daemon = with_bash_allowed(&model);
    model.reply(bash("t1", "true")).reply(Reply::new().text("Hm. ").gate("g"));
    let client = Client::connect(&daemon);
    let session = client.session(&daemon.workspace());
    client.prompt(&session, "go");
    model.wait_at("g");
    until(|| children(&daemon).len() == 1);
    let waiting = children(&daemon)[0];
    daemon.kill9();
    client.wait_closed();
    client.events_so_far();
    until(|| !is_alive(waiting));
    model.open("g");
}
