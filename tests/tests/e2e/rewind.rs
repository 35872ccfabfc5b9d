//! Rewinds: back to just before a turn, with or without the files that file tools have changed since.

use serde_json::{Value, json};
use std::fs;
use std::hash::{BuildHasher, RandomState};
use std::os::unix::fs::PermissionsExt;
use std::path::PathBuf;
use tests::{Agentctl, Client, Daemon, ModelServer, Pty, Reply, assert_order, binary};

/// A model, a daemon and an attached session in which file tools run unasked.
struct Kit {
    model: ModelServer,
    daemon: Daemon,
    client: Client,
    session: String,
}

impl Kit {
    fn new() -> Self {
        let model = ModelServer::start();
        let daemon = Daemon::with_model(&model);
        let client = Client::connect(&daemon);
        let session = client.session_with(&json!({"cwd": daemon.workspace(), "mode": "acceptEdits"}));
        Self { model, daemon, client, session }
    }

    fn path(&self, name: &str) -> PathBuf {
        self.daemon.workspace().join(name)
    }

    fn file(&self, name: &str, content: &str) -> PathBuf {
        fs::write(self.path(name), content).unwrap();
        self.path(name)
    }

    fn read(&self, name: &str) -> String {
        fs::read_to_string(self.path(name)).unwrap()
    }

    /// A turn in which the model says something. Its id.
    fn says(&self, prompt: &str, text: &str) -> String {
        self.model.reply(Reply::says(text));
        self.run(prompt)
    }

    /// A turn of these calls, one after the other. Its id.
    fn calls(&self, prompt: &str, calls: &[(&str, Value)]) -> String {
        for (at, (tool, input)) in calls.iter().enumerate() {
            self.model.reply(Reply::calls(&format!("{prompt}-{at}"), tool, input));
        }
        self.says(prompt, "done")
    }

    fn run(&self, prompt: &str) -> String {
        let turn = self.client.prompt(&self.session, prompt);
        let events = self.client.events_until("turn.ended");
        let failed = events.iter().find(|event| event.kind == "tool.ended" && event.body["isError"] == true);
        assert!(failed.is_none(), "{failed:?}");
        turn
    }

    fn rewind(&self, turn: &str, files: bool) -> Value {
        let params = json!({"sessionId": self.session, "toTurnId": turn, "files": files});
        let result = self.client.call_ok("session/rewind", &params);
        let event = self.client.expect_event("session.rewound");
        assert_eq!(event.text("toTurnId"), turn);
        assert_eq!(event.body.get("restored").unwrap_or(&json!([])), &result["restored"]);
        result
    }

    fn refused(&self, turn: &str) -> i64 {
        self.client.call_err("session/rewind", &json!({"sessionId": self.session, "toTurnId": turn})).code
    }
}

fn edit(path: &str, old: &str, new: &str) -> [(&'static str, Value); 2] {
    let edit = json!({"file_path": path, "old_string": old, "new_string": new});
    [("Read", json!({"file_path": path})), ("Edit", edit)]
}

fn write(path: &str, content: &str) -> [(&'static str, Value); 1] {
    [("Write", json!({"file_path": path, "content": content}))]
}

#[test]
fn the_model_is_told_nothing_of_what_was_rewound_away() {
    let kit = Kit::new();
    let first = kit.says("one", "the first");
    let before = kit.client.call_ok("session/get", &json!({"sessionId": kit.session}))["session"].clone();
    let second = kit.says("two", "the second");
    kit.says("three", "the third");
    let log = kit.client.log(&kit.session);
    let result = kit.rewind(&second, false);
    for field in ["title", "turnCount", "status", "mode"] {
        assert_eq!(result["session"][field], before[field], "{field}");
    }
    assert_eq!(result["session"]["usage"]["contextTokens"], before["usage"]["contextTokens"]);
    assert_eq!((&result["restored"], result.get("kept")), (&json!([]), None));
    assert_eq!(kit.client.log(&kit.session)[..log.len()], log[..], "the log keeps all of it");
    kit.says("two again", "another second");
    let [old, new] = [2, 4].map(|n| kit.model.wait_for_request(n));
    assert_eq!(new.messages().len(), 3);
    assert_eq!(json!(new.messages()[..2]).to_string(), json!(old.messages()[..2]).to_string());
    assert_eq!(new.last_user_text(), "two again");
    assert!(!json!(new.messages()).to_string().contains("the third"));
    assert_eq!([kit.refused(&second), kit.refused("turn_none")], [-32002, -32002]);
    // Back to the very beginning: the next prompt is the first.
    kit.rewind(&first, false);
    kit.says("anew", "hello");
    let info = kit.client.call_ok("session/get", &json!({"sessionId": kit.session}))["session"].clone();
    assert_eq!((&info["title"], &info["turnCount"]), (&json!("anew"), &json!(1)));
    assert_eq!(kit.model.wait_for_request(5).messages().len(), 1);
}

#[test]
fn a_rewind_holds_over_a_restart() {
    let mut kit = Kit::new();
    kit.says("one", "the first");
    let second = kit.says("two", "the second");
    kit.rewind(&second, false);
    kit.client.leave();
    kit.daemon.kill9();
    kit.daemon.start_again();
    kit.client = Client::connect(&kit.daemon);
    let info = kit.client.call_ok("session/get", &json!({"sessionId": kit.session}))["session"].clone();
    assert_eq!((&info["turnCount"], &info["status"]), (&json!(1), &json!("idle")));
    kit.client.attach(&kit.session, info["lastSeq"].as_u64().unwrap());
    assert_eq!(kit.refused(&second), -32002);
    kit.says("instead", "hello");
    let last = kit.model.wait_for_request(3);
    assert_eq!(last.messages().len(), 3);
    assert_eq!(last.last_user_text(), "instead");
}

#[test]
fn files_come_back_as_they_were() {
    let kit = Kit::new();
    let path = kit.file("edited", "one\n");
    fs::set_permissions(&path, fs::Permissions::from_mode(0o750)).unwrap();
    kit.file("early", "early one\n");
    kit.calls("zero", &edit("early", "one", "two"));
    let first = kit.calls("first", &edit("edited", "one", "two"));
    let made = write("dir/made", "new\n");
    let again = [("Edit", json!({"file_path": "edited", "old_string": "two", "new_string": "three"}))];
    kit.file("only-read", "one\n");
    let read = [("Read", json!({"file_path": "only-read"}))];
    kit.calls("second", &[made.as_slice(), &again, &read].concat());
    fs::set_permissions(&path, fs::Permissions::from_mode(0o640)).unwrap();
    let result = kit.rewind(&first, true);
    let paths = [kit.path("dir/made"), kit.path("edited")];
    assert_eq!((&result["restored"], result.get("kept")), (&json!(paths), None));
    assert_eq!(kit.read("edited"), "one\n");
    assert_eq!(fs::metadata(&path).unwrap().permissions().mode() & 0o777, 0o750);
    assert!(!kit.path("dir/made").exists());
    assert_eq!(kit.read("early"), "early two\n", "what came before the turn stays");
    // The model does not know any more what it has read.
    let unread = json!({"file_path": "only-read", "old_string": "one", "new_string": "2"});
    kit.model.reply(Reply::calls("x", "Edit", &unread));
    kit.model.reply(Reply::says("oh"));
    kit.client.prompt(&kit.session, "edit it");
    let events = kit.client.events_until("turn.ended");
    assert_order(&events, &["tool.ended(x failed)"]);
    let folder = kit.daemon.home().state_dir().join("sessions").join(&kit.session);
    assert_eq!(fs::read_dir(folder.join("checkpoints")).unwrap().count(), 3, "equal contents are one file");
    kit.client.call_ok("session/delete", &json!({"sessionId": kit.session}));
    kit.client.expect_event("session.closed");
    assert!(!folder.exists());
}

#[test]
fn what_others_have_changed_since_is_kept_and_named() {
    let kit = Kit::new();
    for name in ["edited", "deleted", "mine"] {
        kit.file(name, "one\n");
    }
    let turn = kit.calls("go", &["edited", "deleted", "mine"].map(|name| edit(name, "one", "two")).concat());
    kit.file("mine", "mine\n");
    fs::remove_file(kit.path("deleted")).unwrap();
    let result = kit.rewind(&turn, true);
    assert_eq!(result["restored"], json!([kit.path("edited")]));
    assert_eq!(result["kept"], json!([kit.path("deleted"), kit.path("mine")]));
    let notice = kit.client.expect_event("notice");
    for (name, why) in [("deleted", "deleted since"), ("mine", "changed since")] {
        let told = format!("{} (it was {why})", kit.path(name).display());
        assert!(notice.text("text").contains(&told), "{}", notice.body);
    }
    assert_eq!((kit.read("edited").as_str(), kit.read("mine").as_str()), ("one\n", "mine\n"));
    assert!(!kit.path("deleted").exists());
}

#[test]
fn files_stay_unless_they_are_asked_for_and_a_later_rewind_still_restores_them() {
    let mut kit = Kit::new();
    kit.file("f", "one\n");
    let first = kit.says("before", "hello");
    let second = kit.calls("go", &edit("f", "one", "two"));
    kit.rewind(&second, false);
    assert_eq!(kit.read("f"), "two\n");
    kit.calls("more", &edit("f", "two", "three"));
    kit.client.leave();
    kit.daemon.restart();
    kit.client = Client::connect(&kit.daemon);
    let last = kit.client.log(&kit.session).len() as u64;
    kit.client.attach(&kit.session, last);
    let result = kit.rewind(&first, true);
    assert_eq!((&result["restored"], kit.read("f").as_str()), (&json!([kit.path("f")]), "one\n"));
}

#[test]
fn a_fork_restores_files_of_the_past_that_it_shares() {
    let kit = Kit::new();
    kit.file("f", "one\n");
    let turn = kit.calls("go", &edit("f", "one", "two"));
    let copy = kit.client.call_ok("session/fork", &json!({"sessionId": kit.session}))["session"]["id"].clone();
    kit.client.call_ok("session/delete", &json!({"sessionId": kit.session}));
    kit.client.expect_event("session.closed");
    let params = json!({"sessionId": copy, "toTurnId": turn, "files": true});
    assert_eq!(kit.client.call_ok("session/rewind", &params)["restored"], json!([kit.path("f")]));
    assert_eq!(kit.read("f"), "one\n");
}

#[test]
fn a_rewind_waits_for_no_turn_and_a_closed_session_takes_none() {
    let kit = Kit::new();
    let first = kit.says("one", "the first");
    kit.model.reply(Reply::new().text("half ").gate("g").text("whole"));
    let second = kit.client.prompt(&kit.session, "two");
    kit.model.wait_at("g");
    let busy = kit.client.call_err("session/rewind", &json!({"sessionId": kit.session, "toTurnId": first}));
    assert_eq!(busy.code, -32003);
    assert!(busy.message.contains(&second) && busy.message.contains("cancel"), "{busy:?}");
    kit.client.call_ok("turn/cancel", &json!({"sessionId": kit.session}));
    kit.client.events_until("turn.ended");
    kit.rewind(&second, false);
    kit.client.call_ok("session/close", &json!({"sessionId": kit.session}));
    kit.client.expect_event("session.closed");
    assert_eq!(kit.refused(&first), -32008);
}

#[test]
fn of_two_clients_one_rewinds_and_both_are_told() {
    let kit = Kit::new();
    let other = Client::connect(&kit.daemon);
    let turn = kit.says("one", "the first");
    other.attach(&kit.session, kit.client.log(&kit.session).len() as u64);
    let params = json!({"sessionId": kit.session, "toTurnId": turn});
    let calls = [&kit.client, &other].map(|client| (client, client.begin("session/rewind", &params)));
    let codes = calls.map(|(client, call)| client.finish(&call).map_or_else(|error| error.code, |_| 0));
    assert!(codes == [0, -32002] || codes == [-32002, 0], "{codes:?}");
    for client in [&kit.client, &other] {
        assert_eq!(client.expect_event("session.rewound").text("toTurnId"), turn);
    }
}

#[test]
fn a_key_of_a_turn_that_was_rewound_away_stays_known() {
    let kit = Kit::new();
    kit.model.reply(Reply::says("the first"));
    let prompt = json!({"sessionId": kit.session, "prompt": "one", "idempotencyKey": "k"});
    let turn = kit.client.call_ok("turn/start", &prompt)["turnId"].clone();
    kit.client.events_until("turn.ended");
    kit.rewind(turn.as_str().unwrap(), false);
    assert_eq!(kit.client.call_ok("turn/start", &prompt)["turnId"], turn, "a repeated call is no new prompt");
}

#[test]
fn a_turn_that_a_restart_cut_is_rewound_or_resumed() {
    let mut kit = Kit::new();
    kit.model.reply(Reply::new().text("half an answer").gate("g"));
    let cut = kit.client.prompt(&kit.session, "go");
    kit.model.wait_at("g");
    kit.client.leave();
    kit.daemon.kill9();
    kit.daemon.start_again();
    kit.client = Client::connect(&kit.daemon);
    let status = |result: &Value| result["session"]["status"].as_str().unwrap().to_owned();
    let info = kit.client.call_ok("session/get", &json!({"sessionId": kit.session}));
    assert_eq!(status(&info), "interrupted");
    kit.client.attach(&kit.session, info["session"]["lastSeq"].as_u64().unwrap());
    kit.model.reply(Reply::says("the whole answer"));
    let resumed = kit.client.call_ok("turn/resume", &json!({"sessionId": kit.session}))["turnId"].clone();
    kit.client.events_until("turn.ended");
    assert_eq!(status(&kit.rewind(resumed.as_str().unwrap(), false)), "interrupted", "as it was before");
    kit.model.reply(Reply::says("the answer once more"));
    kit.client.call_ok("turn/resume", &json!({"sessionId": kit.session}));
    kit.client.events_until("turn.ended");
    assert_eq!(status(&kit.rewind(&cut, false)), "idle");
    assert_eq!(kit.client.call_err("turn/resume", &json!({"sessionId": kit.session})).code, -32008);
    kit.says("anew", "hello");
    assert_eq!(kit.model.requests().last().unwrap().messages().len(), 1);
}

#[test]
fn prompts_that_wait_behind_a_cut_turn_come_first() {
    let mut kit = Kit::new();
    kit.model.reply(Reply::new().text("half an answer").gate("g"));
    let cut = kit.client.prompt(&kit.session, "go");
    kit.model.wait_at("g");
    let waits = kit.client.prompt(&kit.session, "and then");
    kit.client.leave();
    kit.daemon.kill9();
    kit.daemon.start_again();
    kit.client = Client::connect(&kit.daemon);
    let busy = kit.client.call_err("session/rewind", &json!({"sessionId": kit.session, "toTurnId": cut}));
    assert_eq!(busy.code, -32003);
    assert!(busy.message.contains("turn/cancel") && busy.message.contains("turn/resume"), "{busy:?}");
    assert_eq!(kit.refused(&waits), -32002, "it has not started");
    kit.client.call_ok("turn/cancel", &json!({"sessionId": kit.session}));
    kit.client.attach(&kit.session, kit.client.log(&kit.session).len() as u64);
    kit.rewind(&cut, false);
}

/// However far a rewind had come when agentd was killed: asking once more, if need be, brings all of it about.
#[test]
fn a_rewind_that_a_crash_cut_can_be_asked_for_again() {
    let mut kit = Kit::new();
    let names: Vec<String> = (0..20).map(|n| format!("f{n}")).collect();
    for round in 0..6_u64 {
        for name in &names {
            kit.file(name, "one\n");
        }
        let [mut reads, mut edits] = [Reply::new(), Reply::new()];
        for (name, [read, edit]) in names.iter().map(|name| (name, edit(name, "one", "two"))) {
            reads = reads.tool(&format!("r{round}-{name}"), read.0, &read.1);
            edits = edits.tool(&format!("e{round}-{name}"), edit.0, &edit.1);
        }
        kit.model.reply(reads).reply(edits);
        let turn = kit.says("go", "done");
        let params = json!({"sessionId": kit.session, "toTurnId": turn, "files": true});
        let _ = kit.client.begin("session/rewind", &params);
        let random = RandomState::new().hash_one(round) % 4_000_000;
        (0..random).for_each(|_| std::hint::spin_loop());
        kit.client.leave();
        kit.daemon.kill9();
        kit.client.wait_closed();
        kit.daemon.start_again();
        kit.client = Client::connect(&kit.daemon);
        let rewound = |log: &[Value]| log.iter().any(|event| event["event"]["toTurnId"] == turn.as_str());
        if !rewound(&kit.client.log(&kit.session)) {
            let done = kit.client.call_ok("session/rewind", &params);
            assert_eq!(done["restored"].as_array().unwrap().len(), names.len(), "{done}");
        }
        let log = kit.client.log(&kit.session);
        assert!(rewound(&log));
        assert!(names.iter().all(|name| kit.read(name) == "one\n"));
        kit.client.attach(&kit.session, log.len() as u64);
    }
    // A file that a kill cut while it was written has not got its name yet.
    for entry in fs::read_dir(kit.daemon.workspace()).unwrap().map(Result::unwrap) {
        if entry.file_name().to_string_lossy().starts_with(".agentd-") {
            fs::remove_file(entry.path()).unwrap();
        }
    }
    kit.says("hello", "still here");
    assert_eq!(kit.model.requests().last().unwrap().messages().len(), 1);
}

#[test]
fn agentctl_takes_turns_back_by_number_name_or_choice() {
    let kit = Kit::new();
    kit.file("f", "one\n");
    kit.says("the first", "one");
    let second = kit.calls("second", &edit("f", "one", "two"));
    kit.says("the third", "three");
    let third = kit.says("the fourth", "four");
    let agentctl = Agentctl::new(kit.daemon.home());
    let listed = agentctl.run(&["rewind", &kit.session]);
    assert_eq!(listed.code, Some(2), "{listed:?}");
    for line in [format!("   1  {third}  the fourth"), format!("   3  {second}  second")] {
        assert!(listed.stderr.contains(&line), "{listed:?}");
    }
    assert_eq!(agentctl.ok(&["rewind", &kit.session, "--last", "1"]), "");
    assert_eq!(agentctl.run(&["rewind", &kit.session, &third]).code, Some(1));
    assert_eq!(agentctl.run(&["rewind", &kit.session, "--last", "9"]).code, Some(1));
    // On a terminal: a list to choose from, and a question before it is done.
    let rewind = ["rewind", &kit.session, "--files"];
    let mut asked = Pty::start(kit.daemon.home(), &binary("agentctl"), &rewind);
    asked.expect("which?");
    asked.send("2\r");
    asked.expect("Take back 2 turns, from \"second\" on");
    asked.send("n\r");
    assert_eq!(asked.wait(), Some(130));
    assert_eq!(kit.read("f"), "two\n");
    let restored = agentctl.ok(&["rewind", &kit.session, &second[..second.len() - 1], "--files"]);
    assert_eq!(restored, format!("restored {}\n", kit.path("f").display()));
    assert_eq!(kit.read("f"), "one\n");
    let logs = agentctl.ok(&["logs", &kit.session]);
    assert!(logs.contains(&format!("the session went back: {second} ")), "{logs}");
    kit.client.leave();
}

#[test]
fn a_chat_takes_turns_back() {
    let kit = Kit::new();
    kit.says("the first", "one");
    kit.calls("second", &write("f", "new\n"));
    let mut chat = Pty::start(kit.daemon.home(), &binary("agentctl"), &["chat", "--session", &kit.session]);
    chat.expect("›");
    chat.send("/rewind\r");
    chat.expect("  second");
    chat.expect("/rewind N");
    chat.send("/rewind 1 files\r");
    chat.expect("back to before: second");
    chat.expect("restored ");
    assert!(!kit.path("f").exists());
    kit.model.reply(Reply::says("instead"));
    chat.send("otherwise\r");
    chat.expect("instead");
    chat.expect("›");
    chat.send("/rewind 7\r");
    chat.expect("the session has 2");
    chat.send("/quit\r");
    assert_eq!(chat.wait(), Some(0));
    assert_eq!(kit.model.requests().last().unwrap().messages().len(), 3);
    kit.client.leave();
}
