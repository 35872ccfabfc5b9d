//! A model's conversation is recorded to a file and played again without it.

use serde_json::json;
use std::fs;
use tests::{Agentctl, Daemon, ModelServer, Reply};

#[test]
fn a_recorded_conversation_plays_again() {
    let model = ModelServer::start();
    let daemon = Daemon::with_model(&model);
    let agentctl = Agentctl::new(daemon.home());
    let file = daemon.workspace().join("a.txt");
    fs::write(&file, "a needle\n").unwrap();
    let record = daemon.workspace().join("conversation.jsonl");
    let record = record.to_str().unwrap();
    model.reply(Reply::new().thinking("hm", "c2ln").tool("t1", "Read", &json!({"file_path": file})));
    model.reply(Reply::says("It holds a needle."));
    let run = ["run", "what is in a.txt?", "--record", record];
    assert_eq!(agentctl.ok(&run), "It holds a needle.\n");
    assert!(!fs::read_to_string(record).unwrap().contains("sk-test-key"));
    let second = agentctl.run(&["run", "and more?", "--record", record]);
    assert!(second.stderr.contains("holds something already"), "one file is one conversation: {}", second.stderr);
    let replay = format!("replay/{record}");
    let again = agentctl.ok(&["run", "what is in a.txt?", "--model", &replay, "--output", "stream-json"]);
    assert!(again.contains("\"tool.ended\"") && again.contains("It holds a needle."), "{again}");
    assert_eq!(model.requests().len(), 2, "the model was not asked again");
}
