//! Content: what people and models say. Used by prompts, messages and tool results.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use serde_json::Value;

/// A piece of a prompt or of a tool result.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(tag = "type", rename_all = "camelCase", rename_all_fields = "camelCase", deny_unknown_fields)]
pub enum ContentBlock {
    /// Plain text.
    Text {
        /// The text.
        text: String,
    },
    /// A picture.
    Image {
        /// Such as `image/png`.
        media_type: String,
        /// The bytes in base64.
        data: String,
    },
    /// A file of the workspace, which agentd reads when the prompt is sent to the model.
    File {
        /// Absolute, or relative to the session's folder.
        path: String,
        /// The part that is meant; all of it if absent.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        range: Option<LineRange>,
    },
    /// A resource that the client holds, such as a buffer or an MCP resource.
    Resource {
        /// Its address.
        uri: String,
        /// Its media type.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        mime_type: Option<String>,
        /// Its text, for textual resources.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        text: Option<String>,
        /// Its bytes in base64, for the others.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        data: Option<String>,
    },
}

impl ContentBlock {
    /// A text block.
    pub fn text(text: impl Into<String>) -> Self {
        Self::Text { text: text.into() }
    }
}

/// Lines of a file, counted from 1, both ends included.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub struct LineRange {
    /// The first line.
    pub start: u64,
    /// The last line.
    pub end: u64,
}

/// A prompt: a plain string or a list of blocks.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(untagged)]
pub enum Prompt {
    /// Plain text.
    Text(String),
    /// Blocks.
    Blocks(Vec<ContentBlock>),
}

impl Prompt {
    /// Several prompts as one.
    #[must_use]
    pub fn joined(prompts: Vec<Self>) -> Self {
        let mut prompts = prompts.into_iter();
        match (prompts.next(), prompts.next()) {
            (Some(only), None) => only,
            (first, second) => {
                let all = first.into_iter().chain(second).chain(prompts);
                Self::Blocks(all.flat_map(Self::into_blocks).collect())
            }
        }
    }

    /// The prompt as blocks.
    #[must_use]
    pub fn into_blocks(self) -> Vec<ContentBlock> {
        match self {
            Self::Text(text) => vec![ContentBlock::text(text)],
            Self::Blocks(blocks) => blocks,
        }
    }

    /// The textual blocks, joined by line breaks: what a title, a list or a terminal shows.
    #[must_use]
    pub fn plain_text(&self) -> String {
        match self {
            Self::Text(text) => text.clone(),
            Self::Blocks(blocks) => plain_text(blocks),
        }
    }
}

/// The textual blocks of a list, joined by line breaks.
#[must_use]
pub fn plain_text(blocks: &[ContentBlock]) -> String {
    let texts: Vec<&str> = blocks
        .iter()
        .filter_map(|block| match block {
            ContentBlock::Text { text } => Some(text.as_str()),
            ContentBlock::Image { .. } | ContentBlock::File { .. } | ContentBlock::Resource { .. } => None,
        })
        .collect();
    texts.join("\n")
}

/// A block of a model's message, kept as the canonical transcript keeps it: provider-private data
/// (signatures, encrypted reasoning) stays in it untouched, so that it can be sent back.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(tag = "type", rename_all = "snake_case")]
pub enum MessageBlock {
    /// What the model says.
    Text {
        /// The text.
        text: String,
    },
    /// What the model thinks aloud.
    Thinking {
        /// The text; may be empty where the provider keeps it to itself.
        thinking: String,
        /// The provider's proof that the text is its own.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        signature: Option<String>,
    },
    /// Thinking that only the provider can read.
    RedactedThinking {
        /// Opaque.
        data: String,
    },
    /// A tool call.
    ToolUse {
        /// The call's id.
        id: String,
        /// The tool's name.
        name: String,
        /// The input: an object, or a string with the raw text where the model's JSON was broken.
        input: Value,
    },
    /// A block of a kind that this version does not know, kept whole.
    #[serde(untagged)]
    Other(Value),
}
