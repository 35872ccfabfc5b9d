//! A session as a Markdown document. Used by `export`. It is for files, not for terminals: control
//! characters are escaped all the same, as somebody will `cat` it. What was rewound away is in it, and marked.

use super::escape::{one_line, visible};
use super::replaced;
use crate::turns::Turns;
use proto::content::{ContentBlock, MessageBlock, Prompt};
use proto::event::{AnyEvent, EndReason, Event, Role};
use proto::ids::ToolCallId;
use proto::session::SessionInfo;
use serde_json::Value;
use std::collections::HashMap;

/// The document's head.
pub fn head(session: &SessionInfo) -> String {
    let title = if session.title.is_empty() { "A session without a title" } else { &session.title };
    let mut lines = vec![
        format!("# {}\n", one_line(title)),
        format!("- session: `{}`", session.id),
        format!("- folder: {}", inline(&session.cwd)),
        format!("- model: {}", inline(&session.model)),
        format!("- created: {}", session.created_at),
    ];
    let parent = session.parent.as_ref();
    lines.extend(parent.map(|parent| format!("- forked from: `{}` after event {}", parent.session_id, parent.seq)));
    format!("{}\n", lines.join("\n"))
}

/// A document under way. `turns` are those of the whole log.
pub struct Document<'a> {
    turns: &'a Turns,
    /// What the calls that have not started were asked for with.
    asked: HashMap<ToolCallId, Value>,
}

impl<'a> Document<'a> {
    /// A document that has no event yet.
    pub fn new(turns: &'a Turns) -> Self {
        Self { turns, asked: HashMap::new() }
    }

    /// What an event adds; nothing for most.
    pub fn event(&mut self, event: &AnyEvent) -> String {
        let AnyEvent::Durable(event) = event else { return String::new() };
        match event {
            Event::ToolQueued { tool_call_id, input, .. } => {
                self.asked.insert(tool_call_id.clone(), input.clone());
            }
            Event::ToolStarted { tool_call_id, input, decision } => {
                let asked = self.asked.remove(tool_call_id);
                if asked.is_some_and(|asked| replaced::differs(&asked, input)) {
                    let by = replaced::by(decision);
                    return format!("\nThis ran instead ({by}):\n\n{}", json(input));
                }
            }
            Event::ToolEnded { tool_call_id, .. } => drop(self.asked.remove(tool_call_id)),
            _ => {}
        }
        added(event, self.turns)
    }
}

fn json(input: &Value) -> String {
    fenced("json", &serde_json::to_string_pretty(input).unwrap_or_default())
}

fn added(event: &Event, turns: &Turns) -> String {
    match event {
        Event::TurnStarted { turn_id, prompt, .. } => {
            let rewound = if turns.from(turn_id) == 0 { " (taken back later)" } else { "" };
            let said = prompt.as_ref().map_or_else(|| "The turn goes on.".to_owned(), |prompt| quoted(&said(prompt)));
            format!("\n## Prompt{rewound}\n\n{said}\n")
        }
        Event::TurnSteered { prompt, .. } => format!("\n### Added\n\n{}\n", quoted(&said(prompt))),
        Event::MessageCompleted { role: Role::Assistant, content, .. } => content.iter().map(block).collect(),
        Event::ToolQueued { tool, input, .. } => {
            format!("\n**{}**\n\n{}", one_line(tool), json(input))
        }
        Event::ToolEnded { summary, content, .. } => {
            format!("\n{}\n\n{}", one_line(summary), result(content))
        }
        Event::FileChanged { path, diff, .. } => {
            format!("\nChanged {}:\n\n{}", inline(path), fenced("diff", diff))
        }
        Event::Notice { text, .. } => note(text),
        Event::ContextCompacted { summary, .. } => format!("\n> The past was summed up:\n>\n{}\n", quoted(summary)),
        Event::ModelSwitched { to, .. } => note(&format!("From here on the model is {to}.")),
        Event::SessionRewound { restored, .. } => note(&rewound(restored)),
        Event::TurnEnded { reason, error, .. } => end(*reason, error.as_ref().map(|error| error.message.as_str())),
        _ => String::new(),
    }
}

fn rewound(restored: &[String]) -> String {
    let files = if restored.is_empty() { String::new() } else { format!("; restored: {}", restored.join(", ")) };
    format!("The session went back: what is marked as taken back is no part of it any more{files}.")
}

fn end(reason: EndReason, error: Option<&str>) -> String {
    match (reason, error) {
        (_, Some(error)) => note(error),
        (EndReason::Completed, None) => String::new(),
        (EndReason::AbortedStreaming | EndReason::AbortedTools, None) => note("The turn was cancelled."),
        (EndReason::Interrupted, None) => note("The turn was interrupted."),
        (reason, None) => {
            let word = serde_json::to_value(reason).unwrap_or_default();
            note(&format!("The turn ended: {}.", word.as_str().unwrap_or_default().replace('_', " ")))
        }
    }
}

fn note(text: &str) -> String {
    format!("\n> {}\n", one_line(text))
}

fn block(block: &MessageBlock) -> String {
    match block {
        MessageBlock::Text { text } if !text.trim().is_empty() => {
            let text = visible(text.trim_end());
            format!("\n{text}\n{}", closing_fence(&text))
        }
        _ => String::new(),
    }
}

/// What closes a code block that a text leaves open, so that it does not swallow the rest of the document.
fn closing_fence(text: &str) -> String {
    let mut open: Option<&str> = None;
    for line in text.lines() {
        let line = line.trim_start();
        let mark = line.chars().next().filter(|mark| matches!(mark, '`' | '~')).unwrap_or(' ');
        let length = line.chars().take_while(|c| *c == mark).count();
        let (fence, rest) = line.split_at_checked(length).unwrap_or((line, ""));
        open = match open {
            None if mark != ' ' && length >= 3 && !(mark == '`' && rest.contains('`')) => Some(fence),
            Some(opened) if fence.starts_with(opened) && rest.trim().is_empty() => None,
            open => open,
        };
    }
    open.map(|fence| format!("{fence}\n")).unwrap_or_default()
}

fn said(prompt: &Prompt) -> String {
    match prompt {
        Prompt::Text(text) => text.clone(),
        Prompt::Blocks(blocks) => shown(blocks),
    }
}

fn result(content: &[ContentBlock]) -> String {
    let text = shown(content);
    if text.is_empty() { String::new() } else { fenced("", &text) }
}

/// The text of the blocks, and a note for each that is none.
fn shown(blocks: &[ContentBlock]) -> String {
    let texts = blocks.iter().map(|block| match block {
        ContentBlock::Text { text } => text.clone(),
        // Four characters of base64 are three bytes.
        ContentBlock::Image { media_type, data } => format!("[image: {media_type}, {} bytes]", data.len() / 4 * 3),
        ContentBlock::File { path, range: None } => format!("[file: {path}]"),
        ContentBlock::File { path, range: Some(range) } => {
            format!("[file: {path}, lines {} to {}]", range.start, range.end)
        }
        ContentBlock::Resource { text: Some(text), .. } => text.clone(),
        ContentBlock::Resource { uri, .. } => format!("[resource: {uri}]"),
    });
    texts.collect::<Vec<_>>().join("\n")
}

fn quoted(text: &str) -> String {
    let lines: Vec<String> = visible(text).lines().map(|line| format!("> {line}").trim_end().to_owned()).collect();
    lines.join("\n")
}

/// Code in a line, whose quotes are longer than any in the text.
fn inline(text: &str) -> String {
    let text = one_line(text);
    match longest_run(&text) {
        0 => format!("`{text}`"),
        run => {
            let quote = "`".repeat(run + 1);
            format!("{quote} {text} {quote}")
        }
    }
}

fn longest_run(text: &str) -> usize {
    text.split(|c| c != '`').map(str::len).max().unwrap_or(0)
}

/// A code block whose fence is longer than any in the text.
fn fenced(language: &str, text: &str) -> String {
    let text = visible(text);
    let fence = "`".repeat((longest_run(&text) + 1).max(3));
    format!("{fence}{language}\n{}\n{fence}\n", text.trim_end_matches('\n'))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_fence_is_longer_than_what_it_holds() {
        assert_eq!(fenced("", "plain\n"), "```\nplain\n```\n");
        assert_eq!(fenced("md", "```` x"), "`````md\n```` x\n`````\n");
        assert_eq!(inline("a"), "`a`");
        assert_eq!(inline("a``b"), "``` a``b ```");
    }

    #[test]
    fn a_code_block_that_is_left_open_is_closed() {
        let table = [
            ("plain `code` ```inline```", ""),
            ("```rust\nlet a;\n```\nafter", ""),
            ("```rust\nlet a;", "```\n"),
            ("~~~~\n```\n~~~", "~~~~\n"),
            ("````\n```\n", "````\n"),
        ];
        for (text, closing) in table {
            assert_eq!(closing_fence(text), closing, "{text}");
        }
    }

    #[test]
    fn what_is_no_text_has_a_note() {
        let blocks = serde_json::from_value::<Vec<ContentBlock>>(serde_json::json!([
            {"type": "text", "text": "look"},
            {"type": "image", "mediaType": "image/png", "data": "aGVsbG8h"},
            {"type": "file", "path": "a.rs", "range": {"start": 1, "end": 3}},
            {"type": "resource", "uri": "x:y"}
        ]));
        let expected = "look\n[image: image/png, 6 bytes]\n[file: a.rs, lines 1 to 3]\n[resource: x:y]";
        assert_eq!(shown(&blocks.unwrap()), expected);
    }

    #[test]
    fn how_a_turn_ended_is_told_unless_it_is_as_usual() {
        assert_eq!(end(EndReason::Completed, None), "");
        assert_eq!(end(EndReason::MaxTurns, None), "\n> The turn ended: max turns.\n");
        assert_eq!(end(EndReason::ModelError, Some("the model is away")), "\n> the model is away\n");
    }

    #[test]
    fn what_ran_in_place_of_what_was_asked_for_is_told() {
        let turns = Turns::default();
        let mut document = Document::new(&turns);
        let mut add = |event: Value| document.event(&serde_json::from_value(event).unwrap());
        for (id, runs) in [("c1", "ls"), ("c2", "rm x")] {
            add(serde_json::json!({
                "type": "tool.queued", "toolCallId": id, "turnId": "t", "tool": "Bash", "input": {"command": "rm x"},
                "title": "Bash: rm x", "kind": "execute", "readOnly": false, "concurrencySafe": false
            }));
            let said = add(serde_json::json!({
                "type": "tool.started", "toolCallId": id, "input": {"command": runs},
                "decision": {"type": "user", "layer": 9, "detail": "allowed by agentctl, who changed the input"}
            }));
            let changed = "\nThis ran instead (edited by agentctl):\n\n```json\n{\n  \"command\": \"ls\"\n}\n```\n";
            assert_eq!(said, if runs == "ls" { changed } else { "" });
        }
    }

    #[test]
    fn a_prompt_is_quoted() {
        assert_eq!(quoted("a\n\nb\u{1b}"), "> a\n>\n> b^[");
    }
}
