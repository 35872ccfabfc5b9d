//! A request of the Messages API as bytes. The same transcript gives the same bytes, and a longer one
//! only adds to them, but for the cache markers at its end: prompt caches live by that. Pure.

use crate::event::{Message, UserBlock};
use crate::model::call_ids::safe;
use crate::model::content::{self, Part};
use crate::model::endpoint::Endpoint;
use crate::model::{ModelRequest, ToolDefinition};
use proto::content::{ContentBlock, MessageBlock};
use serde_json::{Map, Value, json};
use std::sync::Arc;

const ID_CHARS: usize = 128;
/// The last user message, and the one before, where the last request had its marker: a lookup finds
/// that one even if the round added more blocks than the lookup goes back over.
const MARKED_USER_MESSAGES: usize = 2;

/// The body of a request.
pub(super) fn body(endpoint: &Endpoint, request: &ModelRequest) -> Vec<u8> {
    let mut body = Map::new();
    body.insert("model".to_owned(), json!(endpoint.model));
    body.insert("max_tokens".to_owned(), json!(endpoint.output_tokens(request.escalation)));
    body.insert("stream".to_owned(), json!(true));
    if !request.tools.is_empty() {
        body.insert("tools".to_owned(), tools(&request.tools));
    }
    if !request.system.trim().is_empty() {
        body.insert("system".to_owned(), json!([marked(json!({"type": "text", "text": &*request.system}))]));
    }
    body.insert("messages".to_owned(), messages(endpoint, &request.messages));
    Value::Object(body).to_string().into_bytes()
}

fn marked(mut block: Value) -> Value {
    if let Value::Object(fields) = &mut block {
        fields.insert("cache_control".to_owned(), json!({"type": "ephemeral"}));
    }
    block
}

fn tools(tools: &[ToolDefinition]) -> Value {
    let mut encoded: Vec<Value> = tools.iter().map(tool).collect();
    // The API refuses the mark on a deferred tool, which is no part of the prefix.
    let last = encoded.iter_mut().zip(tools).rev().find(|(_, tool)| !tool.defer_loading);
    if let Some((last, _)) = last {
        *last = marked(last.take());
    }
    Value::Array(encoded)
}

fn tool(tool: &ToolDefinition) -> Value {
    let mut fields = Map::new();
    fields.insert("name".to_owned(), json!(tool.name));
    fields.insert("description".to_owned(), json!(tool.description));
    fields.insert("input_schema".to_owned(), tool.input_schema.clone());
    let flags = [
        ("strict", tool.strict),
        ("eager_input_streaming", tool.eager_input_streaming),
        ("defer_loading", tool.defer_loading),
    ];
    fields.extend(flags.into_iter().filter(|(_, on)| *on).map(|(name, _)| (name.to_owned(), json!(true))));
    Value::Object(fields)
}

fn messages(endpoint: &Endpoint, messages: &[Arc<Message>]) -> Value {
    let mut marks = MARKED_USER_MESSAGES;
    let mut encoded: Vec<Value> = messages
        .iter()
        .rev()
        .map(|message| match message.as_ref() {
            Message::User(blocks) => {
                let mark = marks > 0;
                marks = marks.saturating_sub(1);
                user(blocks, mark)
            }
            Message::Assistant { content, model } => assistant(content, *model == endpoint.id),
        })
        .collect();
    encoded.reverse();
    Value::Array(encoded)
}

fn user(blocks: &[UserBlock], mark: bool) -> Value {
    let mut content: Vec<Value> = Vec::new();
    for block in blocks {
        match block {
            UserBlock::ToolResult { tool_use_id, content: parts, is_error } => {
                content.push(tool_result(tool_use_id, parts, *is_error));
            }
            UserBlock::Content(block) => content.extend(part(block)),
        }
    }
    if content.is_empty() {
        content.push(json!({"type": "text", "text": content::NOTHING}));
    }
    if let Some(last) = content.last_mut().filter(|_| mark) {
        *last = marked(last.take());
    }
    json!({"role": "user", "content": content})
}

fn tool_result(tool_use_id: &str, parts: &[ContentBlock], is_error: bool) -> Value {
    let mut content: Vec<Value> = parts.iter().filter_map(part).collect();
    if content.is_empty() {
        content.push(json!({"type": "text", "text": content::NO_OUTPUT}));
    }
    let mut block = json!({"type": "tool_result", "tool_use_id": safe(tool_use_id, ID_CHARS), "content": content});
    if let Value::Object(fields) = &mut block
        && is_error
    {
        fields.insert("is_error".to_owned(), json!(true));
    }
    block
}

/// A piece of content; empty text is refused by the API and left out.
fn part(block: &ContentBlock) -> Option<Value> {
    match content::part(block) {
        Part::Text(text) if text.trim().is_empty() => None,
        Part::Text(text) => Some(json!({"type": "text", "text": text})),
        Part::Image { media_type, data } => {
            Some(json!({"type": "image", "source": {"type": "base64", "media_type": media_type, "data": data}}))
        }
    }
}

fn assistant(blocks: &[MessageBlock], same_model: bool) -> Value {
    let mut content: Vec<Value> = blocks.iter().filter_map(|block| own_block(block, same_model)).collect();
    if content.is_empty() {
        content.push(json!({"type": "text", "text": content::NOTHING}));
    }
    json!({"role": "assistant", "content": content})
}

/// A block of the model's own. What only its writer can read goes back to nobody else.
fn own_block(block: &MessageBlock, same_model: bool) -> Option<Value> {
    match block {
        MessageBlock::Text { text } if text.trim().is_empty() => None,
        MessageBlock::Text { text } => Some(json!({"type": "text", "text": text})),
        // The API takes no thinking without its signature.
        MessageBlock::Thinking { thinking, signature: Some(signature) } if same_model && !signature.is_empty() => {
            Some(json!({"type": "thinking", "thinking": thinking, "signature": signature}))
        }
        MessageBlock::RedactedThinking { data } if same_model => {
            Some(json!({"type": "redacted_thinking", "data": data}))
        }
        MessageBlock::Other(value) if same_model => Some(value.clone()),
        MessageBlock::Thinking { .. } | MessageBlock::RedactedThinking { .. } | MessageBlock::Other(_) => None,
        MessageBlock::ToolUse { id, name, input } => Some(json!({
            "type": "tool_use", "id": safe(id, ID_CHARS), "name": safe(name, ID_CHARS), "input": content::call_input(input),
        })),
    }
}
