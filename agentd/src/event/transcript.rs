//! The canonical transcript: what the model is to be told, in its order, folded from durable events.
//! The session actor folds live events into it; a restart folds the journal into the same value.

use proto::content::{ContentBlock, MessageBlock, Prompt};
use proto::event::{Event, Role};
use proto::ids::TurnId;
use std::collections::HashMap;
use std::sync::Arc;

/// What the model is told when a turn goes on after an answer that was cut.
const GO_ON: &str = "Your last answer was cut off. Go on from there.";

/// A message of the transcript.
#[derive(Debug, Clone, PartialEq)]
pub enum Message {
    /// From the person, or tool results: results first, text after.
    User(Vec<UserBlock>),
    /// From the model, with the model (`provider/model`) that wrote it.
    Assistant {
        /// The model's own blocks.
        content: Vec<MessageBlock>,
        /// Who wrote them: provider-private data goes back to the same model only.
        model: String,
    },
}

/// A block of a user message.
#[derive(Debug, Clone, PartialEq)]
pub enum UserBlock {
    /// The result of a tool call.
    ToolResult {
        /// The call.
        tool_use_id: String,
        /// What it gave.
        content: Vec<ContentBlock>,
        /// Whether it is an error.
        is_error: bool,
    },
    /// What the person says.
    Content(ContentBlock),
}

/// The messages of a session so far. A tool may end before the message that called it is complete,
/// since tools run while the model streams: its result waits here for the message.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct Transcript {
    /// Shared with the model call that is under way; copied only if that outlives the next message.
    messages: Arc<Vec<Arc<Message>>>,
    results: HashMap<String, UserBlock>,
    awaited: Vec<String>,
}

impl Transcript {
    /// The messages; roles alternate, and every tool use has its result in the next message.
    #[must_use]
    pub fn messages(&self) -> Arc<Vec<Arc<Message>>> {
        Arc::clone(&self.messages)
    }

    /// The calls of the last message that have no result yet, in call order.
    pub fn unanswered(&self) -> impl Iterator<Item = &str> {
        self.awaited.iter().map(String::as_str).filter(|id| !self.results.contains_key(*id))
    }

    /// Folds one event.
    pub fn apply(&mut self, event: &Event) {
        match event {
            Event::TurnStarted { prompt, attachments, resumes, .. } => {
                self.start_turn(prompt.as_ref(), attachments, resumes.as_ref());
            }
            Event::MessageCompleted { role: Role::Assistant, content, model, .. } => {
                self.take_message(content.clone(), model.clone());
            }
            Event::ToolEnded { tool_call_id, content, is_error, .. } => {
                let id = tool_call_id.as_str().to_owned();
                let result =
                    UserBlock::ToolResult { tool_use_id: id.clone(), content: content.clone(), is_error: *is_error };
                self.results.insert(id, result);
                self.settle();
            }
            _ => {}
        }
    }

    fn start_turn(&mut self, prompt: Option<&Prompt>, attachments: &[ContentBlock], resumes: Option<&TurnId>) {
        let mut blocks: Vec<UserBlock> = match prompt {
            Some(Prompt::Text(text)) => vec![UserBlock::Content(ContentBlock::text(text.clone()))],
            Some(Prompt::Blocks(blocks)) => blocks.iter().cloned().map(UserBlock::Content).collect(),
            None => Vec::new(),
        };
        blocks.extend(attachments.iter().cloned().map(UserBlock::Content));
        let after_answer = !matches!(self.messages.last().map(Arc::as_ref), Some(Message::User(_)));
        if blocks.is_empty() && resumes.is_some() && after_answer {
            blocks.push(UserBlock::Content(ContentBlock::text(GO_ON)));
        }
        self.push_user(blocks);
    }

    fn take_message(&mut self, content: Vec<MessageBlock>, model: String) {
        if content.is_empty() {
            return;
        }
        self.awaited = content
            .iter()
            .filter_map(|block| match block {
                MessageBlock::ToolUse { id, .. } => Some(id.clone()),
                _ => None,
            })
            .collect();
        Arc::make_mut(&mut self.messages).push(Arc::new(Message::Assistant { content, model }));
        self.settle();
    }

    /// Once every awaited result is there, they become one user message in call order (seed row C08).
    fn settle(&mut self) {
        if self.awaited.is_empty() || self.unanswered().next().is_some() {
            return;
        }
        let ids = std::mem::take(&mut self.awaited);
        let blocks = ids.iter().filter_map(|id| self.results.remove(id)).collect();
        self.push_user(blocks);
    }

    fn push_user(&mut self, blocks: Vec<UserBlock>) {
        if blocks.is_empty() {
            return;
        }
        let messages = Arc::make_mut(&mut self.messages);
        match messages.last_mut().map(Arc::make_mut) {
            Some(Message::User(before)) => before.extend(blocks),
            _ => messages.push(Arc::new(Message::User(blocks))),
        }
    }
}

/// The text blocks of a message, joined by blank lines.
#[must_use]
pub fn text_of(content: &[MessageBlock]) -> String {
    let texts: Vec<&str> = content
        .iter()
        .filter_map(|block| match block {
            MessageBlock::Text { text } => Some(text.as_str()),
            _ => None,
        })
        .collect();
    texts.join("\n\n")
}
