//! `agentctl export`: the log as it is, and as a document.

use serde_json::{Value, json};
use std::fs;
use tests::{Agentctl, Client, Daemon, ModelServer, Reply};

#[test]
fn a_session_is_exported_in_three_forms() {
    let model = ModelServer::start();
    let daemon = Daemon::with_model(&model);
    let client = Client::connect(&daemon);
    client.leave();
    let session = client.session_with(&json!({"cwd": daemon.workspace(), "mode": "acceptEdits"}));
    let image = json!({"type": "image", "mediaType": "image/png", "data": "aGVsbG8h"});
    let prompt = json!([{"type": "text", "text": "look at this"}, image]);
    let write = json!({"file_path": "f.md", "content": "```sh\nls\n```\n"});
    model.reply(Reply::new().text("I write.").tool("t1", "Write", &write)).reply(Reply::says("```\nnever closed"));
    client.call_ok("turn/start", &json!({"sessionId": session, "prompt": prompt}));
    client.events_until("turn.ended");
    model.reply(Reply::says("a mistake"));
    let second = client.prompt(&session, "the wrong way");
    client.events_until("turn.ended");
    client.call_ok("session/rewind", &json!({"sessionId": session, "toTurnId": second, "files": true}));
    model.reply(Reply::new().text("half ").gate("g"));
    client.prompt(&session, "the right way");
    client.events_until("message.delta");
    client.call_ok("turn/cancel", &json!({"sessionId": session}));

    let agentctl = Agentctl::new(daemon.home());
    let log = client.log(&session);
    let lines = agentctl.ok(&["export", &session]);
    let read: Vec<Value> = lines.lines().map(|line| serde_json::from_str(line).unwrap()).collect();
    assert_eq!(read, log);
    assert!(read.iter().all(|line| line["sessionId"] == session.as_str() && line["seq"].is_u64()));
    let object: Value = serde_json::from_str(&agentctl.ok(&["export", &session, "--format", "json"])).unwrap();
    assert_eq!((&object["session"]["id"], &object["events"]), (&json!(session), &json!(log)));

    let text = agentctl.ok(&["export", &session, "--format", "markdown"]);
    let mut rest = text.as_str();
    for part in [
        "# look at this\n",
        "## Prompt\n\n> look at this\n> [image: image/png, 6 bytes]\n",
        "\nI write.\n",
        "**Write**\n\n````json\n",
        "````diff\n--- /dev/null\n",
        "+```sh\n",
        "\n````\n",
        "```\nnever closed\n```\n",
        "## Prompt (taken back later)\n\n> the wrong way\n",
        "a mistake",
        "> The session went back:",
        "## Prompt\n\n> the right way\n",
        "half",
        "> The turn was cancelled.\n",
    ] {
        let at = rest.find(part).unwrap_or_else(|| panic!("no {part:?} in its place of\n{text}"));
        rest = &rest[at + part.len()..];
    }
    assert!(!text.contains("aGVsbG8h"));
    let copy = client.call_ok("session/fork", &json!({"sessionId": session}))["session"]["id"].clone();
    let text = agentctl.ok(&["export", copy.as_str().unwrap(), "--format", "markdown"]);
    assert!(text.contains(&format!("- forked from: `{session}` after event {}\n", log.len())), "{text}");
    assert!(fs::exists(daemon.workspace().join("f.md")).unwrap());
}
