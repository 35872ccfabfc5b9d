//! A request of the Chat Completions API as bytes. The same transcript gives the same bytes, and a
//! longer one only adds to them. Each message is encoded once. Called by the model; sends nothing.

use super::decode::REASONING_FIELDS;
use super::private;
use crate::event::{Encoding, Message, Reader, UserBlock};
use crate::model::call_ids::safe;
use crate::model::content::{self, Part};
use crate::model::encoded::{self, Body, Prefix, Writer};
use crate::model::endpoint::Endpoint;
use crate::model::{ModelRequest, ToolDefinition};
use proto::content::{ContentBlock, MessageBlock};
use serde_json::{Map, Value, json};

/// The name of the format, for encodings that are kept.
const FORMAT: &str = "openai_chat";
/// OpenAI takes no longer names; ids have the same limit on some servers.
const NAME_CHARS: usize = 64;

/// The body of a request.
pub(super) fn body(endpoint: &Endpoint, request: &ModelRequest, prefix: &Prefix) -> Body {
    let mut head = Map::new();
    head.insert("model".to_owned(), json!(endpoint.model));
    if let Some(tokens) = endpoint.told_output_tokens(request.escalation) {
        // OpenAI renamed the field; the servers that follow it know the old name.
        let field = if endpoint.provider == "openai" { "max_completion_tokens" } else { "max_tokens" };
        head.insert(field.to_owned(), json!(tokens));
    }
    head.insert("stream".to_owned(), json!(true));
    head.insert("stream_options".to_owned(), json!({"include_usage": true}));
    let mut body = Writer::object(head);
    if !request.tools.is_empty() {
        body.field("tools", &[prefix.tools.encoded(&request.tools, |tools| tools.iter().map(tool).collect())]);
    }
    body.begin_list("messages");
    if !request.system.trim().is_empty() {
        body.item(&[prefix.system.encoded(&request.system, |text| json!({"role": "system", "content": text}))]);
    }
    body.messages(&request.messages, Reader { format: FORMAT, model: &endpoint.id }, |entry| {
        let same_model = entry.is_by(&endpoint.id);
        let encoding = Encoding { format: FORMAT, variant: u32::from(same_model) };
        entry.encoded(encoding, |message| encoded::list(own_messages(message, same_model)))
    });
    body.end_list();
    body.finish()
}

/// A message as the API's own, which may be several.
fn own_messages(message: &Message, same_model: bool) -> Vec<Value> {
    match message {
        Message::User(blocks) => user(blocks),
        Message::Assistant { content, .. } => vec![assistant(content, same_model)],
    }
}

fn tool(tool: &ToolDefinition) -> Value {
    json!({
        "type": "function",
        "function": {"name": tool.name, "description": tool.description, "parameters": tool.input_schema},
    })
}

/// Tool results become messages of their own, and pictures in them, which those can't hold, go with the
/// text that follows.
fn user(blocks: &[UserBlock]) -> Vec<Value> {
    let mut messages = Vec::new();
    let mut parts: Vec<Value> = Vec::new();
    for block in blocks {
        match block {
            UserBlock::ToolResult { tool_use_id, content, is_error } => {
                messages.push(tool_result(tool_use_id, content, *is_error));
                parts.extend(content.iter().filter_map(picture));
            }
            UserBlock::Content(block) => parts.extend(part(block)),
        }
    }
    if parts.is_empty() && messages.is_empty() {
        parts.push(json!({"type": "text", "text": content::NOTHING}));
    }
    if !parts.is_empty() {
        messages.push(json!({"role": "user", "content": plain(parts)}));
    }
    messages
}

/// Many servers know only a string; so it is one wherever there is nothing but text.
fn plain(parts: Vec<Value>) -> Value {
    let texts: Option<Vec<&str>> = parts.iter().map(|part| part.get("text").and_then(Value::as_str)).collect();
    match texts {
        Some(texts) => Value::String(texts.join("\n\n")),
        None => Value::Array(parts),
    }
}

fn tool_result(tool_use_id: &str, blocks: &[ContentBlock], is_error: bool) -> Value {
    let texts: Vec<String> = blocks
        .iter()
        .filter_map(|block| match content::part(block) {
            Part::Text(text) => Some(text.into_owned()).filter(|text| !text.is_empty()),
            Part::Image { .. } => Some("(the picture follows)".to_owned()),
        })
        .collect();
    let text = content::result_text(texts.join("\n\n"), is_error);
    json!({"role": "tool", "tool_call_id": safe(tool_use_id, NAME_CHARS), "content": text})
}

fn part(block: &ContentBlock) -> Option<Value> {
    match content::part(block) {
        Part::Text(text) if text.is_empty() => None,
        Part::Text(text) => Some(json!({"type": "text", "text": text})),
        Part::Image { .. } => picture(block),
    }
}

fn picture(block: &ContentBlock) -> Option<Value> {
    match content::part(block) {
        Part::Image { media_type, data } => {
            Some(json!({"type": "image_url", "image_url": {"url": format!("data:{media_type};base64,{data}")}}))
        }
        Part::Text(_) => None,
    }
}

/// Text and calls. Reasoning goes back to its writer only, in the field that it came in: DeepSeek and Moonshot
/// refuse a call whose reasoning is missing, and servers without such a field never sent any. So does what only they
/// understand. This API has no place for another provider's blocks.
fn assistant(blocks: &[MessageBlock], same_model: bool) -> Value {
    let mut texts: Vec<&str> = Vec::new();
    let mut calls: Vec<(&str, Value)> = Vec::new();
    let mut reasoning: Option<(&str, String)> = None;
    for block in blocks {
        match block {
            MessageBlock::Text { text } if !text.is_empty() => texts.push(text),
            MessageBlock::ToolUse { id, name, input } => calls.push((id, call(id, name, input))),
            MessageBlock::Thinking { thinking, signature: Some(field) }
                if same_model && REASONING_FIELDS.contains(&field.as_str()) =>
            {
                reasoning.get_or_insert_with(|| (field, String::new())).1.push_str(thinking);
            }
            MessageBlock::Text { .. }
            | MessageBlock::Thinking { .. }
            | MessageBlock::RedactedThinking { .. }
            | MessageBlock::Other(_) => {}
        }
    }
    let text = match (texts.is_empty(), calls.is_empty()) {
        (false, _) => Value::String(texts.join("\n\n")),
        (true, false) => Value::Null,
        (true, true) => Value::from(content::NOTHING),
    };
    let mut message = Map::new();
    message.insert("role".to_owned(), json!("assistant"));
    message.insert("content".to_owned(), text);
    if let Some((field, text)) = reasoning {
        message.insert(field.to_owned(), json!(text));
    }
    if same_model {
        private::put_back(blocks, &mut calls, &mut message);
    }
    if !calls.is_empty() {
        message.insert("tool_calls".to_owned(), calls.into_iter().map(|(_, call)| call).collect());
    }
    Value::Object(message)
}

fn call(id: &str, name: &str, input: &Value) -> Value {
    json!({
        "id": safe(id, NAME_CHARS),
        "type": "function",
        "function": {"name": safe(name, NAME_CHARS), "arguments": content::call_input(input).to_string()},
    })
}
