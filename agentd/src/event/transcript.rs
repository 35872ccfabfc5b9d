//! The canonical transcript: what the model is to be told, in its order, folded from durable events.
//! The session actor folds live events into it; a restart folds the journal into the same value.

use proto::content::{ContentBlock, MessageBlock};

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

/// The messages of a session so far.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct Transcript {
    /// The messages; roles alternate, and every tool use has its result in the next message.
    pub messages: Vec<Message>,
}
