//! What a model is asked: the same for every wire format.

use crate::event::Message;
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
    pub messages: Arc<Vec<Arc<Message>>>,
    /// How often this turn's answers were cut by the output limit: each time more is asked for, as far as the
    /// settings and the model allow.
    pub escalation: u32,
}

/// A tool as the model is told of it.
#[derive(Debug, Clone, PartialEq)]
pub struct ToolDefinition {
    /// Its name.
    pub name: String,
    /// What it does and how to use it.
    pub description: String,
    /// The JSON Schema of its input.
    pub input_schema: Value,
}
