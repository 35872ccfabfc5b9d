//! What the demonstration knows: the prompt that it answers, and the calls that it has made for it, with
//! their results. Read from a request by `demo`. Pure.

use crate::base::text;
use crate::event::{Entry, Message, UserBlock};
use crate::model::ModelRequest;
use proto::content::{ContentBlock, MessageBlock, plain_text};
use std::collections::HashMap;

/// The line of the system prompt that holds the session's folder.
const FOLDER_LINE: &str = "Working directory: ";
/// Characters of a reason that an answer repeats.
const REASON_CHARS: usize = 200;

/// A call and what came of it.
pub(super) struct Past {
    /// The last prompt.
    pub(super) prompt: String,
    /// The session's folder, if the system prompt names one.
    pub(super) folder: Option<String>,
    /// The calls since the prompt, in order.
    pub(super) calls: Vec<Done>,
    answers: usize,
}

/// A call that was made.
pub(super) struct Done {
    pub(super) tool: String,
    pub(super) text: String,
    pub(super) failed: bool,
}

impl Done {
    /// Whether a person or a rule said no.
    pub(super) fn denied(&self) -> bool {
        const WORDS: [&str; 7] = ["denied", "deny", "reject", "declin", "refus", "not allow", "doesn't want"];
        // The file system says no in similar words.
        const BY_SYSTEM: [&str; 2] = ["by the system", "os error"];
        let text = self.text.to_lowercase();
        let says = |words: &[&str]| words.iter().any(|word| text.contains(word));
        self.failed && says(&WORDS) && !says(&BY_SYSTEM)
    }

    /// Who or what did not let it run, as agentd words it in the result: the beginning of a sentence.
    pub(super) fn refusal(&self, verb: &str) -> String {
        const BY_PERSON: &str = "The person did not allow this call";
        let text = self.text.trim();
        let text = text.strip_suffix(". Nothing was run.").unwrap_or(text);
        let because = |why: &str| text::one_line(why.lines().next().unwrap_or_default(), REASON_CHARS);
        if text.to_lowercase().contains("nobody is there to ask") {
            format!("Nobody was there to ask whether I may {verb}")
        } else if text.starts_with(BY_PERSON) {
            "You said no".to_owned()
        } else if let Some(why) = text.strip_prefix("Not allowed by a hook: ") {
            format!("A hook did not let me {verb} ({})", because(why))
        } else {
            format!("I was not allowed to {verb} ({})", because(text.strip_prefix("Not allowed: ").unwrap_or(text)))
        }
    }

    /// The first line of its result.
    pub(super) fn first_line(&self) -> &str {
        self.text.lines().map(str::trim).find(|line| !line.is_empty()).unwrap_or("no reason was given")
    }
}

impl Past {
    pub(super) fn of(request: &ModelRequest) -> Self {
        let folder = request.system.lines().find_map(|line| line.trim().strip_prefix(FOLDER_LINE));
        let folder = folder.map(str::trim).filter(|folder| folder.starts_with('/'));
        let answers =
            request.messages.iter().filter(|message| matches!(message.as_ref(), Message::Assistant { .. })).count();
        let (start, prompt) = last_prompt(&request.messages);
        let calls = calls(request.messages.get(start..).unwrap_or_default());
        Self { prompt, folder: folder.map(|folder| folder.trim_end_matches('/').to_owned()), calls, answers }
    }

    /// How often the model has answered in this session.
    pub(super) fn answers(&self) -> usize {
        self.answers
    }

    /// The last call of a tool.
    pub(super) fn last(&self, tool: &str) -> Option<&Done> {
        self.calls.iter().rev().find(|call| call.tool == tool)
    }
}

/// What agentd adds by itself is no prompt: notes in angle brackets, and the word that a resumed turn
/// begins with.
fn is_prompt(content: &ContentBlock) -> bool {
    let ContentBlock::Text { text } = content else { return true };
    let text = text.trim_start();
    !text.starts_with('<') && !text.starts_with("Your last answer was cut off.")
}

/// Where the last prompt is, and its text.
fn last_prompt(messages: &[Entry]) -> (usize, String) {
    for (at, message) in messages.iter().enumerate().rev() {
        let Message::User(blocks) = message.as_ref() else { continue };
        let said: Vec<ContentBlock> = blocks
            .iter()
            .filter_map(|block| match block {
                UserBlock::Content(content) => Some(content.clone()),
                UserBlock::ToolResult { .. } => None,
            })
            .filter(is_prompt)
            .collect();
        if !said.is_empty() {
            return (at, plain_text(&said));
        }
    }
    (0, String::new())
}

/// What is said to people holds no tags that are meant for models.
fn without_tags(text: &str) -> &str {
    let inner = text.strip_prefix("<tool_use_error>").and_then(|text| text.strip_suffix("</tool_use_error>"));
    inner.unwrap_or(text)
}

fn calls(messages: &[Entry]) -> Vec<Done> {
    let mut results: HashMap<&str, (String, bool)> = HashMap::new();
    for message in messages {
        let Message::User(blocks) = message.as_ref() else { continue };
        for block in blocks {
            if let UserBlock::ToolResult { tool_use_id, content, is_error } = block {
                results.insert(tool_use_id, (without_tags(&plain_text(content)).to_owned(), *is_error));
            }
        }
    }
    let mut calls = Vec::new();
    for message in messages {
        let Message::Assistant { content, .. } = message.as_ref() else { continue };
        for block in content {
            let MessageBlock::ToolUse { id, name, .. } = block else { continue };
            let (text, failed) = results.get(id.as_str()).cloned().unwrap_or(("there is no result".to_owned(), true));
            calls.push(Done { tool: name.clone(), text, failed });
        }
    }
    calls
}
