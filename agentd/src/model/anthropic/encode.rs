//! A request of the Messages API as bytes. The same transcript gives the same bytes, and a longer one
//! only adds to them, but for the cache markers at its end: prompt caches live by that. Each message is
//! encoded once. Called by the model; sends nothing.

use crate::event::{Encoding, Entry, Message, Messages, Reader, UserBlock};
use crate::model::call_ids::safe;
use crate::model::content::{self, Part};
use crate::model::encoded::{Body, Prefix, Writer};
use crate::model::endpoint::Endpoint;
use crate::model::{ModelRequest, ToolDefinition};
use bytes::Bytes;
use proto::content::{ContentBlock, MessageBlock};
use serde_json::{Map, Value, json};
use std::slice;

/// The name of the format, for encodings that are kept.
const FORMAT: &str = "anthropic";
const ID_CHARS: usize = 128;
/// The last user message, and the one before, where the last request had its marker: a lookup finds
/// that one even if the round added more blocks than the lookup goes back over.
const MARKED_USER_MESSAGES: usize = 2;

/// Laid over the bytes at the end of a block, which are the same without it.
const MARK: Bytes = Bytes::from_static(br#","cache_control":{"type":"ephemeral"}"#);
/// What follows a list's last block's last field.
const END_OF_LIST: &str = "}]";
/// The same in a message, of which the list is the last field.
const END_OF_MESSAGE: &str = "}]}";

/// The body of a request.
pub(super) fn body(endpoint: &Endpoint, request: &ModelRequest, prefix: &Prefix) -> Body {
    let mut head = Map::new();
    head.insert("model".to_owned(), json!(endpoint.model));
    head.insert("max_tokens".to_owned(), json!(endpoint.output_tokens(request.escalation)));
    head.insert("stream".to_owned(), json!(true));
    let mut body = Writer::object(head);
    if !request.tools.is_empty() {
        body.field("tools", &[prefix.tools.encoded(&request.tools, tools)]);
    }
    if !request.system.trim().is_empty() {
        let system = prefix.system.encoded(&request.system, |text| json!([{"type": "text", "text": text}]));
        body.field("system", &marked(&system, END_OF_LIST));
    }
    messages(endpoint, &request.messages, &mut body);
    body.finish()
}

/// The bytes with a mark on their last block.
fn marked(bytes: &Bytes, end: &str) -> [Bytes; 3] {
    let at = bytes.len().saturating_sub(end.len());
    [bytes.slice(..at), MARK, bytes.slice(at..)]
}

fn tools(tools: &[ToolDefinition]) -> Value {
    let mut encoded: Vec<Map<String, Value>> = tools.iter().map(tool).collect();
    // The API refuses the mark on a deferred tool, which is no part of the prefix.
    let last = encoded.iter_mut().zip(tools).rev().find(|(_, tool)| !tool.defer_loading);
    if let Some((last, _)) = last {
        last.insert("cache_control".to_owned(), json!({"type": "ephemeral"}));
    }
    encoded.into_iter().map(Value::Object).collect()
}

fn tool(tool: &ToolDefinition) -> Map<String, Value> {
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
    fields
}

fn messages(endpoint: &Endpoint, messages: &Messages, body: &mut Writer) {
    let marks_from = messages
        .iter()
        .enumerate()
        .rev()
        .filter(|(_, message)| matches!(message.as_ref(), Message::User(_)))
        .take(MARKED_USER_MESSAGES)
        .last()
        .map_or(messages.len(), |(at, _)| at);
    let encode = |entry: &Entry| {
        let same_model = entry.is_by(&endpoint.id);
        let encoding = Encoding { format: FORMAT, variant: u32::from(same_model) };
        entry.encoded(encoding, |message| self::message(message, same_model).to_string().into_bytes())
    };
    body.begin_list("messages");
    let joined = messages.joined(Reader { format: FORMAT, model: &endpoint.id }, marks_from, encode);
    joined.pieces.iter().for_each(|piece| body.item(slice::from_ref(piece)));
    for (at, entry) in messages.iter().enumerate().skip(joined.count) {
        let bytes = encode(entry);
        match entry.as_ref() {
            Message::User(_) if at >= marks_from => body.item(&marked(&bytes, END_OF_MESSAGE)),
            Message::User(_) | Message::Assistant { .. } => body.item(&[bytes]),
        }
    }
    body.end_list();
}

/// A message without a mark. Its list of blocks comes last and is never empty: a mark is put at its end.
fn message(message: &Message, same_model: bool) -> Value {
    match message {
        Message::User(blocks) => user(blocks),
        Message::Assistant { content, .. } => assistant(content, same_model),
    }
}

fn user(blocks: &[UserBlock]) -> Value {
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
    // The API takes no message that ends with thinking, as one that was cut after it does.
    while content.last().is_some_and(is_thinking) {
        content.pop();
    }
    if content.is_empty() {
        content.push(json!({"type": "text", "text": content::NOTHING}));
    }
    json!({"role": "assistant", "content": content})
}

fn is_thinking(block: &Value) -> bool {
    matches!(block.get("type").and_then(Value::as_str), Some("thinking" | "redacted_thinking"))
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
