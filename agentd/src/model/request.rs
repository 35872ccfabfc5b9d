//! What a model is asked: the same for every wire format.

use crate::event::Messages;
use serde_json::Value;
use std::sync::Arc;

/// One call of a model.
#[derive(Debug, Clone)]
pub struct ModelRequest {
    /// The system prompt.
    pub system: Arc<str>,
    /// The tools, by name.
    pub tools: Arc<[ToolDefinition]>,
    /// The transcript.
    pub messages: Arc<Messages>,
    /// How often this turn's answers were cut by the output limit: each time more is asked for, as far as the
    /// settings and the model allow.
    pub escalation: u32,
}

/// A tool as the model is told of it.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct ToolDefinition {
    /// Its name.
    pub name: String,
    /// What it does and how to use it.
    pub description: String,
    /// The JSON Schema of its input.
    pub input_schema: Value,
    /// Whether the model is held to the schema while it writes the input (row A04).
    pub strict: bool,
    /// Whether the input is streamed as it is written, not parameter by parameter (row A05).
    pub eager_input_streaming: bool,
    /// Whether the API keeps it out of the prompt until a result refers to it (row A06).
    pub defer_loading: bool,
}

/// What a model takes of a tool beside its name, its text and its schema.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct ToolFeatures {
    /// [`ToolDefinition::strict`].
    pub strict: bool,
    /// [`ToolDefinition::eager_input_streaming`].
    pub eager_input_streaming: bool,
    /// [`ToolDefinition::defer_loading`].
    pub defer_loading: bool,
}
