//! A request of the Responses API as bytes. The same transcript gives the same bytes, and a longer one only adds
//! to them. Nothing refers to what the server keeps: items go back without the server's ids, and reasoning in its
//! encrypted form. Each message is encoded once. Called by the model; sends nothing.

use crate::event::{Encoding, Entry, Message, Reader, UserBlock};
use crate::model::call_ids::safe;
use crate::model::content::{self, Part};
use crate::model::encoded::{self, Body, Prefix, Writer};
use crate::model::endpoint::Endpoint;
use crate::model::openai_chat;
use crate::model::{ModelRequest, ToolDefinition};
use proto::content::{ContentBlock, MessageBlock};
use serde_json::{Map, Value, json};

/// OpenAI takes no longer names and ids.
const NAME_CHARS: usize = 64;

/// The name of the format, for encodings that are kept.
const FORMAT: &str = "openai_responses";

/// The body of a request.
pub(super) fn body(endpoint: &Endpoint, request: &ModelRequest, prefix: &Prefix) -> Body {
    let mut head = Map::new();
    head.insert("model".to_owned(), json!(endpoint.model));
    if let Some(tokens) = endpoint.told_output_tokens(request.escalation) {
        head.insert("max_output_tokens".to_owned(), json!(tokens));
    }
    head.insert("stream".to_owned(), json!(true));
    head.insert("store".to_owned(), json!(false));
    if reasons(&endpoint.model) {
        head.insert("include".to_owned(), json!(["reasoning.encrypted_content"]));
    }
    head.insert("prompt_cache_key".to_owned(), json!(cache_key(request)));
    let mut body = Writer::object(head);
    if !request.tools.is_empty() {
        body.field("tools", &[prefix.tools.encoded(&request.tools, |tools| tools.iter().map(tool).collect())]);
    }
    if !request.system.trim().is_empty() {
        body.field("instructions", &[prefix.system.encoded(&request.system, |text| json!(text))]);
    }
    body.begin_list("input");
    body.messages(&request.messages, Reader { format: FORMAT, model: &endpoint.id }, |entry| {
        let same_model = entry.is_by(&endpoint.id);
        let encoding = Encoding { format: FORMAT, variant: u32::from(same_model) };
        entry.encoded(encoding, |message| encoded::list(items(message, same_model)))
    });
    body.end_list();
    body.finish()
}

/// Whether to ask for encrypted reasoning: OpenAI's models that have none refuse the request.
fn reasons(model: &str) -> bool {
    const NOT: [&str; 4] = ["gpt-3", "gpt-4", "chatgpt-", "gpt-5-chat"];
    let name = model.rsplit('/').next().unwrap_or(model);
    !NOT.iter().any(|start| name.starts_with(start))
}

/// Brings the calls of one session to the same cache, also after a restart. Not a secret, not an identity: a check
/// sum of what the session began with.
fn cache_key(request: &ModelRequest) -> String {
    let mut sum = crc32fast::Hasher::new();
    sum.update(request.system.as_bytes());
    if let Some(Message::User(blocks)) = request.messages.first().map(Entry::as_ref) {
        for block in blocks {
            if let UserBlock::Content(ContentBlock::Text { text }) = block {
                sum.update(text.as_bytes());
            }
        }
    }
    format!("agentd-{:08x}", sum.finalize())
}

fn tool(tool: &ToolDefinition) -> Value {
    json!({
        "type": "function", "name": tool.name, "description": tool.description, "parameters": tool.input_schema,
        // Always told: this API is strict unless it hears otherwise, and then refuses schemas with optional fields.
        "strict": tool.strict,
    })
}

/// The items of a message. They depend on nothing but the message and whether it goes back to its writer.
fn items(message: &Message, same_model: bool) -> Vec<Value> {
    match message {
        Message::User(blocks) => user(blocks),
        Message::Assistant { content, .. } => assistant(content, same_model),
    }
}

/// The outputs of calls, directly after those, then what the person says.
fn user(blocks: &[UserBlock]) -> Vec<Value> {
    let mut items = Vec::new();
    let mut parts: Vec<Value> = Vec::new();
    for block in blocks {
        match block {
            UserBlock::ToolResult { tool_use_id, content, is_error } => {
                items.push(output(tool_use_id, content, *is_error));
            }
            UserBlock::Content(block) => parts.extend(part(block)),
        }
    }
    if parts.is_empty() && items.is_empty() {
        parts.push(json!({"type": "input_text", "text": content::NOTHING}));
    }
    if !parts.is_empty() {
        items.push(json!({"type": "message", "role": "user", "content": parts}));
    }
    items
}

/// What a call gave: a text, and a list only where there are pictures, since not every server takes one.
fn output(tool_use_id: &str, blocks: &[ContentBlock], is_error: bool) -> Value {
    let parts: Vec<Value> = blocks.iter().filter_map(part).collect();
    let has_picture = parts.iter().any(|part| part.get("image_url").is_some());
    let output = if has_picture {
        Value::Array(parts)
    } else {
        let texts: Vec<&str> = parts.iter().filter_map(|part| part.get("text").and_then(Value::as_str)).collect();
        Value::String(content::result_text(texts.join("\n\n"), is_error))
    };
    json!({"type": "function_call_output", "call_id": safe(tool_use_id, NAME_CHARS), "output": output})
}

fn part(block: &ContentBlock) -> Option<Value> {
    match content::part(block) {
        Part::Text(text) if text.is_empty() => None,
        Part::Text(text) => Some(json!({"type": "input_text", "text": text})),
        Part::Image { media_type, data } => {
            let url = format!("data:{media_type};base64,{data}");
            Some(json!({"type": "input_image", "image_url": url, "detail": "auto"}))
        }
    }
}

/// What the model said and called. Reasoning goes back to its writer only, and only before what came of it: the
/// API refuses reasoning that nothing follows.
fn assistant(blocks: &[MessageBlock], same_model: bool) -> Vec<Value> {
    let mut items = Vec::new();
    let mut waiting: Vec<Value> = Vec::new();
    for block in blocks.iter().filter(|block| !openai_chat::is_own(block)) {
        match block {
            MessageBlock::Thinking { thinking, signature: Some(encrypted) } if same_model && !encrypted.is_empty() => {
                waiting.push(reasoning(thinking, encrypted));
            }
            _ => {
                if let Some(item) = own_item(block, same_model) {
                    items.append(&mut waiting);
                    items.push(item);
                }
            }
        }
    }
    if items.is_empty() {
        items.push(said(content::NOTHING));
    }
    items
}

fn reasoning(summary: &str, encrypted: &str) -> Value {
    let summary = if summary.is_empty() { json!([]) } else { json!([{"type": "summary_text", "text": summary}]) };
    json!({"type": "reasoning", "summary": summary, "encrypted_content": encrypted})
}

fn own_item(block: &MessageBlock, same_model: bool) -> Option<Value> {
    match block {
        MessageBlock::Text { text } if text.is_empty() => None,
        MessageBlock::Text { text } => Some(said(text)),
        MessageBlock::ToolUse { id, name, input } => Some(json!({
            "type": "function_call", "call_id": safe(id, NAME_CHARS), "name": safe(name, NAME_CHARS),
            "arguments": content::call_input(input).to_string(),
        })),
        MessageBlock::Other(item) if same_model => Some(item.clone()),
        MessageBlock::Thinking { .. } | MessageBlock::RedactedThinking { .. } | MessageBlock::Other(_) => None,
    }
}

fn said(text: &str) -> Value {
    json!({"type": "message", "role": "assistant", "content": [{"type": "output_text", "text": text}]})
}
