//! The demonstration, played against results of tools.

use super::*;
use crate::event::{Entry, Message, Messages, UserBlock};
use proto::content::ContentBlock;
use serde_json::{Value, json};

const SYSTEM: &str = "You are an agent.\nWorking directory: /home/me/here\nToday is a day.";

fn user(text: &str) -> Message {
    Message::User(vec![UserBlock::Content(ContentBlock::text(text))])
}

async fn events(messages: &[Message], system: &str) -> Vec<ModelEvent> {
    let request = ModelRequest {
        escalation: 0,
        system: system.into(),
        tools: Vec::new().into(),
        messages: messages.iter().cloned().map(Entry::from).collect::<Messages>().into(),
    };
    Demo.stream(request).collect().await
}

fn blocks(events: &[ModelEvent]) -> Vec<MessageBlock> {
    events
        .iter()
        .filter_map(|event| match event {
            ModelEvent::BlockDone { block, .. } => Some(block.clone()),
            _ => None,
        })
        .collect()
}

/// What the demonstration said last, with the calls that it made and the input of the first.
struct Round {
    text: String,
    tools: Vec<String>,
    input: Value,
}

/// Plays a conversation: for each call of a tool the next result is taken from the list.
async fn play(prompt: &str, results: &[(&str, &str, bool)]) -> Vec<Round> {
    let mut messages =
        vec![user("hello"), Message::Assistant { content: Vec::new(), model: ID.to_owned() }, user(prompt)];
    let mut results = results.iter();
    let mut rounds = Vec::new();
    loop {
        let content = blocks(&events(&messages, SYSTEM).await);
        let mut round = Round { text: String::new(), tools: Vec::new(), input: Value::Null };
        let mut given = Vec::new();
        for block in &content {
            match block {
                MessageBlock::Text { text } => round.text.push_str(text),
                MessageBlock::ToolUse { id, name, input } => {
                    let (tool, text, is_error) = results.next().unwrap_or_else(|| panic!("{name} was not expected"));
                    assert_eq!(name, tool);
                    if round.tools.is_empty() {
                        round.input = input.clone();
                    }
                    round.tools.push(name.clone());
                    let content = vec![ContentBlock::text(*text)];
                    given.push(UserBlock::ToolResult { tool_use_id: id.clone(), content, is_error: *is_error });
                }
                other => panic!("{other:?}"),
            }
        }
        messages.push(Message::Assistant { content, model: ID.to_owned() });
        rounds.push(round);
        if given.is_empty() {
            assert_eq!(results.next(), None, "every result was used");
            return rounds;
        }
        // What agentd adds to a message is not taken for a prompt.
        given.push(UserBlock::Content(ContentBlock::text("<system-reminder>tour</system-reminder>")));
        messages.push(Message::User(given));
    }
}

/// What agentd says of a call that the person who was asked did not let run.
const BY_PERSON: &str = "The person did not allow this call. Nothing was run.";
const NUMBERED: &str = "     1→Notes of the tour\n     2→\n     3→[ ] watch an agent edit a file\n";

#[tokio::test]
async fn the_tour_drives_the_tools_and_reports_what_they_said() {
    let rounds = play(
        "Please take the Tour!",
        &[
            ("Write", "File created", false),
            ("Glob", "/home/me/here/agentd-tour/notes.txt", false),
            ("Read", NUMBERED, false),
            ("Grep", "notes.txt:3:[ ] watch an agent edit a file", false),
            ("Edit", "ok", false),
            ("Bash", "5 agentd-tour/notes.txt\n", false),
        ],
    )
    .await;
    let tools: Vec<Vec<String>> = rounds.iter().map(|round| round.tools.clone()).collect();
    assert_eq!(tools, [vec!["Write"], vec!["Glob", "Read", "Grep"], vec!["Edit"], vec!["Bash"], vec![]]);
    assert_eq!(rounds[0].input["file_path"], "/home/me/here/agentd-tour/notes.txt");
    assert_eq!(rounds[2].input["old_string"], "[ ] watch an agent edit a file");
    let written = rounds[0].input["content"].as_str().expect("text");
    assert_eq!(written.matches("[ ] watch an agent edit a file").count(), 1, "the edit is unique");
    assert_eq!(rounds[3].input["command"], "wc -l agentd-tour/notes.txt");
    assert!(rounds[2].text.contains("notes.txt:3:"), "{}", rounds[2].text);
    assert!(rounds[4].text.contains("`wc -l` says: 5 agentd-tour/notes.txt"), "{}", rounds[4].text);
}

#[tokio::test]
async fn the_tour_answers_what_goes_wrong() {
    let looked =
        [("Glob", "none", false), ("Read", "     3\t[x] watch an agent edit a file", false), ("Grep", "none", false)];
    let write = ("Write", "ok", false);
    type Results<'a> = Vec<(&'a str, &'a str, bool)>;
    let table: Vec<(&str, Results<'_>, &str)> = vec![
        ("a denied write", vec![("Write", BY_PERSON, true)], "You said no, so nothing was written"),
        (
            "a write that plan mode denies",
            vec![("Write", "Not allowed: mode plan only reads: finish the plan. Nothing was run.", true)],
            "I was not allowed to write a file (mode plan only reads: finish the plan), so nothing was written",
        ),
        (
            "a write that a hook denies",
            vec![("Write", "Not allowed by a hook: not on Fridays. Nothing was run.", true)],
            "A hook did not let me write a file (not on Fridays)",
        ),
        (
            "nobody there",
            vec![("Write", "Not allowed: nobody is there to ask, and it has to be asked: x. Nothing was run.", true)],
            "Nobody was there to ask whether I may write a file, so nothing was written",
        ),
        (
            "nobody at the client",
            vec![("Write", "The person did not allow this call: Nobody is there to ask, since", true)],
            "Nobody was there to ask",
        ),
        (
            "an unreadable file",
            vec![write, ("Glob", "", false), ("Read", "Error: gone", true), ("Grep", "", false)],
            "Error: gone",
        ),
        (
            "a denied edit and command",
            [
                vec![write],
                looked.to_vec(),
                vec![("Edit", "Not allowed: a rule denies it. Nothing was run.", true), ("Bash", BY_PERSON, true)],
            ]
            .concat(),
            "I was not allowed to edit the file (a rule denies it), so the file is as it was. You said no, so the command",
        ),
        (
            "a failed command",
            [vec![write], looked.to_vec(), vec![("Edit", "ok", false), ("Bash", "exit code 127", true)]].concat(),
            "exit code 127",
        ),
        (
            "a folder that nobody may write to",
            vec![
                ("Write", "x: permission denied by the system", true),
                ("Glob", "x is not a folder", true),
                ("Read", "x does not exist", true),
                ("Grep", "x does not exist", true),
            ],
            "Start it in a folder that you may write to",
        ),
        (
            "a mistake, without the tags that models read",
            [
                vec![write],
                looked.to_vec(),
                vec![("Edit", "<tool_use_error>gone</tool_use_error>", true), ("Bash", "5 x", false)],
            ]
            .concat(),
            "The edit did not work: gone.",
        ),
        (
            "a file from an earlier tour",
            [
                vec![("Write", "File has not been read yet", true)],
                looked.to_vec(),
                vec![("Edit", "ok", false), ("Bash", "5 x", false)],
            ]
            .concat(),
            "5 x",
        ),
    ];
    for (what, results, expected) in table {
        let rounds = play("tour", &results).await;
        let last = rounds.last().expect("a round");
        assert!(last.text.contains(expected), "{what}: {}", last.text);
    }
    // An earlier tour's edit is taken back.
    let rounds =
        play("tour", &[vec![write], looked.to_vec(), vec![("Edit", "ok", false), ("Bash", "1", false)]].concat()).await;
    assert_eq!(rounds[2].input["old_string"], "[x] watch an agent edit a file");
}

#[tokio::test]
async fn the_edit_prompt_changes_one_line_of_the_named_file() {
    let read = "     1→same\n     2→same\n     3→\n     4→only here";
    let rounds = play("Please edit src/a.txt.", &[("Read", read, false), ("Edit", "ok", false)]).await;
    assert_eq!(rounds[0].input, json!({"file_path": "/home/me/here/src/a.txt"}));
    let edit = json!({"file_path": "/home/me/here/src/a.txt", "old_string": "only here", "new_string": "only here (edited by demo/guide)"});
    assert_eq!(rounds[1].input, edit);
    assert!(rounds[2].text.starts_with("Done"), "{}", rounds[2].text);

    let rounds =
        play("edit /tmp/b.txt", &[("Read", "1\tx (edited by demo/guide)", false), ("Edit", "ok", false)]).await;
    assert_eq!(rounds[1].input["new_string"], "x");

    let missing = [
        ("Read", "File does not exist", true),
        ("Write", "ok", false),
        ("Read", NUMBERED, false),
        ("Edit", "ok", false),
    ];
    let rounds = play("edit", &missing).await;
    assert_eq!(rounds[1].input["file_path"], "/home/me/here/agentd-tour/notes.txt");
    assert_eq!(rounds[3].input["old_string"], "Notes of the tour");

    for (results, expected) in [
        (vec![("Read", read, false), ("Edit", BY_PERSON, true)], "You said no, so the file is as it was"),
        (vec![("Read", "no such file", true), ("Write", BY_PERSON, true)], "You said no, so /home"),
        (vec![("Read", "no such file", true), ("Write", "disk full", true)], "disk full"),
        (vec![("Read", "     1→a\n     2→a", false)], "no line"),
        (vec![("Read", "denied by a rule", true)], "denied by a rule"),
        (vec![("Read", read, false), ("Edit", "x: permission denied by the system", true)], "did not work"),
    ] {
        let rounds = play("edit x.txt", &results).await;
        assert!(rounds.last().is_some_and(|round| round.text.contains(expected)), "{expected}");
    }
}

#[tokio::test]
async fn any_other_prompt_is_told_that_this_is_a_demonstration() {
    for prompt in ["What is 2+2?", "", "editor tourist counter"] {
        let events = events(&[user(prompt)], SYSTEM).await;
        let blocks = blocks(&events);
        let [MessageBlock::Text { text }] = blocks.as_slice() else { panic!("one text") };
        for word in ["demonstration", "ANTHROPIC_API_KEY", "OPENAI_API_KEY", "settings.json", "take the tour", prompt] {
            assert!(text.contains(word), "{word}: {text}");
        }
        let deltas: Vec<&str> = events
            .iter()
            .filter_map(|event| match event {
                ModelEvent::Delta { text, .. } => Some(text.as_str()),
                _ => None,
            })
            .collect();
        assert!(deltas.len() > 5);
        assert_eq!(&deltas.concat(), text);
        assert_eq!(events.last(), Some(&ModelEvent::Stopped { reason: "end_turn".to_owned() }));
    }
}

#[tokio::test]
async fn without_a_folder_no_file_is_touched() {
    for prompt in ["tour", "edit x.txt"] {
        let events = events(&[user(prompt)], "Working directory: relative").await;
        assert!(matches!(blocks(&events).as_slice(), [MessageBlock::Text { .. }]));
    }
}

#[test]
fn counting_is_slow_and_can_be_cancelled_between_numbers() {
    for prompt in ["count", "Count slowly, please", "be slow"] {
        let request = ModelRequest {
            escalation: 0,
            system: "".into(),
            tools: Vec::new().into(),
            messages: Messages::from_iter([Entry::from(user(prompt))]).into(),
        };
        let past = Past::of(&request);
        let steps = steps(script::answer(&past), 0, &mut CallIds::default());
        let slow: Vec<&Step> = steps.iter().filter(|step| step.pause == Duration::from_millis(500)).collect();
        assert_eq!(slow.len(), 30, "{prompt}");
        assert!(matches!(&slow[29].event, ModelEvent::Delta { text, .. } if text == "30\n"));
    }
}
