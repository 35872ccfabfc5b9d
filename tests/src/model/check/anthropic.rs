//! What a request of the Messages API must be.

use super::{Findings, Request};
use serde_json::Value;
use std::collections::BTreeSet;

const FIELDS: &[&str] = &[
    "model",
    "max_tokens",
    "messages",
    "system",
    "tools",
    "tool_choice",
    "stream",
    "temperature",
    "top_p",
    "stop_sequences",
    "metadata",
    "thinking",
    "cache_control",
];

const MAX_MARKS: usize = 4;

pub(super) fn check(request: &Request, found: &mut Findings<'_>) {
    if !request.headers.contains_key("anthropic-version") {
        found.add("the header `anthropic-version` is missing");
    }
    if !request.headers.contains_key("x-api-key") && !request.headers.contains_key("authorization") {
        found.add("there is no key: neither `x-api-key` nor `authorization`");
    }
    found.unknown_fields(&request.body, FIELDS, "the request");
    if request.body["max_tokens"].as_u64().is_none_or(|tokens| tokens == 0) {
        found.add("`max_tokens` is missing or 0");
    }
    let tools = request.body["tools"].as_array().map_or(&[][..], Vec::as_slice);
    let parts: Vec<_> = tools.iter().map(|tool| (&tool["name"], &tool["description"], &tool["input_schema"])).collect();
    found.tools(&parts);
    let marks = request.body.to_string().matches(r#""cache_control":{"#).count();
    if marks > MAX_MARKS {
        found.add(format!("{marks} blocks have a cache mark; the provider takes {MAX_MARKS}"));
    }
    messages(request.messages(), found);
}

fn messages(messages: &[Value], found: &mut Findings<'_>) {
    let mut open: Vec<String> = Vec::new();
    let mut seen = BTreeSet::new();
    for (at, message) in messages.iter().enumerate() {
        let expected = if at % 2 == 0 { "user" } else { "assistant" };
        if message["role"] != expected {
            found.add(format!("message {at} is from {}, but roles alternate and the user begins", message["role"]));
        }
        found.unknown_fields(message, &["role", "content"], &format!("message {at}"));
        let blocks = blocks_of(message, at, found);
        if message["role"] == "assistant" {
            open = assistant(&blocks, at, &mut seen, found);
        } else {
            user(&blocks, at, &open, found);
            open.clear();
        }
    }
    if messages.last().is_none_or(|message| message["role"] != "user") {
        found.add("the last message is not from the user");
    }
}

fn blocks_of(message: &Value, at: usize, found: &mut Findings<'_>) -> Vec<Value> {
    match &message["content"] {
        Value::String(text) if !text.trim().is_empty() => vec![serde_json::json!({"type": "text", "text": text})],
        Value::Array(blocks) if !blocks.is_empty() => blocks.clone(),
        _ => {
            found.add(format!("message {at} has no content"));
            Vec::new()
        }
    }
}

/// The calls that the message leaves open.
fn assistant(blocks: &[Value], at: usize, seen: &mut BTreeSet<String>, found: &mut Findings<'_>) -> Vec<String> {
    let mut open = Vec::new();
    let mut thoughts = Vec::new();
    for block in blocks {
        match block["type"].as_str().unwrap_or_default() {
            "text" => text(block, at, found),
            "thinking" => {
                let text = |name: &str| block[name].as_str().unwrap_or_default().to_owned();
                let thought = (text("thinking"), text("signature"));
                found.thinking(&thought, at);
                thoughts.push(thought);
            }
            "redacted_thinking" => {}
            "tool_use" => {
                let id = block["id"].as_str().unwrap_or_default().to_owned();
                found.tool_call(&id, &block["name"], &block["input"]);
                found.thought_before(&id, &thoughts, at);
                if !block["input"].is_object() {
                    found.add(format!("message {at}: the input of tool call `{id}` is not an object"));
                }
                if !seen.insert(id.clone()) {
                    found.add(format!("message {at}: tool call `{id}` is there twice"));
                }
                open.push(id);
            }
            other => found.add(format!("message {at}: the assistant has a block of type `{other}`")),
        }
    }
    if blocks.last().is_some_and(|last| last["type"] == "thinking" || last["type"] == "redacted_thinking") {
        found.add(format!("message {at} ends with thinking, which the provider refuses"));
    }
    open
}

fn user(blocks: &[Value], at: usize, open: &[String], found: &mut Findings<'_>) {
    let is_result = |block: &&Value| block["type"] == "tool_result";
    let results: Vec<&str> =
        blocks.iter().filter(is_result).map(|block| block["tool_use_id"].as_str().unwrap_or_default()).collect();
    if results != open {
        found.add(format!("message {at} has results for {results:?}, but the calls before it are {open:?}"));
    }
    if blocks.iter().take_while(is_result).count() != results.len() {
        found.add(format!("message {at}: tool results must come first"));
    }
    for block in blocks {
        match block["type"].as_str().unwrap_or_default() {
            "text" => text(block, at, found),
            "image" | "document" => {}
            "tool_result" => result(block, at, found),
            other => found.add(format!("message {at}: the user has a block of type `{other}`")),
        }
    }
}

fn result(block: &Value, at: usize, found: &mut Findings<'_>) {
    found.unknown_fields(
        block,
        &["type", "tool_use_id", "content", "is_error", "cache_control"],
        &format!("message {at}: a tool result"),
    );
    let is_empty = block["content"].as_array().map(Vec::is_empty).or(block["content"].as_str().map(str::is_empty));
    if block["is_error"] == true && is_empty != Some(false) {
        found.add(format!("message {at}: an error says nothing, which the provider refuses"));
    }
    match &block["content"] {
        Value::Array(parts) => {
            for part in parts.iter().filter(|part| part["type"] == "text") {
                text(part, at, found);
            }
        }
        Value::String(_) | Value::Null => {}
        other => found.add(format!("message {at}: the content of a tool result is {other}")),
    }
}

fn text(block: &Value, at: usize, found: &mut Findings<'_>) {
    if block["text"].as_str().is_none_or(|text| text.trim().is_empty()) {
        found.add(format!("message {at}: a text block is empty, which the provider refuses"));
    }
}

#[cfg(test)]
mod tests {
    use crate::model::check::{Said, violations};
    use crate::model::reply::Reply;
    use crate::model::request::Request;
    use crate::model::wire::Face;
    use serde_json::{Value, json};

    fn good() -> Value {
        json!({
            "model": "m1", "max_tokens": 100, "stream": true, "system": "s",
            "tools": [{"name": "Bash", "description": "d", "input_schema": {"type": "object"}},
                      {"name": "Read", "description": "d", "input_schema": {"type": "object"}}],
            "messages": [
                {"role": "user", "content": "hi"},
                {"role": "assistant", "content": [
                    {"type": "thinking", "thinking": "hm", "signature": "sig"},
                    {"type": "tool_use", "id": "t1", "name": "Read", "input": {"a": 1}},
                    {"type": "tool_use", "id": "t2", "name": "Bash", "input": {}}]},
                {"role": "user", "content": [
                    {"type": "tool_result", "tool_use_id": "t1", "content": "x"},
                    {"type": "tool_result", "tool_use_id": "t2", "content": [{"type": "text", "text": "y"}]},
                    {"type": "text", "text": "go on"}]},
            ],
        })
    }

    fn check(body: Value) -> Vec<String> {
        let mut said = Said::default();
        let calls = Reply::new().thinking("hm", "sig").tool("t1", "Read", &json!({"a": 1}));
        said.add(&calls.tool("t2", "Bash", &json!({})), Face::Anthropic, "m1");
        said.add(&Reply::new().thinking("of another", "sig"), Face::Anthropic, "m2");
        said.add(&Reply::new().thinking("of another format", "sig"), Face::Responses, "m1");
        let headers = [("content-type", "application/json"), ("anthropic-version", "1"), ("x-api-key", "k")];
        let headers = headers.iter().map(|(name, value)| ((*name).to_owned(), (*value).to_owned())).collect();
        let request =
            Request { path: String::new(), headers, bytes: Vec::new(), body, arrived: std::time::Instant::now() };
        violations(Face::Anthropic, &request, &said)
    }

    #[test]
    fn a_good_request_passes() {
        assert_eq!(check(good()), Vec::<String>::new());
    }

    #[test]
    fn each_fault_is_found() {
        let faults: &[(&str, Value)] = &[
            ("/max_tokens", Value::Null),
            ("/stream", json!(false)),
            ("/model", Value::Null),
            ("/tools/0/name", json!("Zed")),
            ("/tools/0/name", json!("Read")),
            ("/tools/0/input_schema", json!({"type": "string"})),
            ("/tools/0/description", json!("")),
            ("/messages/0/role", json!("assistant")),
            ("/messages/0/content", json!("")),
            ("/messages/1/content/0/signature", json!("other")),
            ("/messages/1/content/0/thinking", json!("of another")),
            ("/messages/1/content/0/thinking", json!("of another format")),
            ("/messages/1/content/0", json!({"type": "text", "text": "what was thought is missing"})),
            ("/messages/1/content/2", json!({"type": "redacted_thinking", "data": "d"})),
            ("/messages/1/content/1/input", json!({"a": 2})),
            ("/messages/1/content/1/input", json!("text")),
            ("/messages/1/content/1/id", json!("t2")),
            ("/messages/2/content/0/tool_use_id", json!("t2")),
            ("/messages/2/content/2", json!({"type": "tool_result", "tool_use_id": "t3", "content": "x"})),
            ("/messages/2/content/2/text", json!(" ")),
            ("/messages/2/content/0", json!({"type": "text", "text": "text before results"})),
            ("/messages/2/content/1", json!({"type": "text", "text": "a result is missing"})),
            ("/messages/2/role", json!("assistant")),
            ("/messages/2/content/0", json!({"type": "tool_result", "tool_use_id": "t1", "is_error": true})),
            (
                "/messages/2/content/0/content",
                json!(vec![json!({"type": "text", "text": "x", "cache_control": {}}); 5]),
            ),
            ("/tools/0/name", json!("Ba sh")),
        ];
        for (place, fault) in faults {
            let mut body = good();
            *body.pointer_mut(place).expect(place) = fault.clone();
            assert_ne!(check(body), Vec::<String>::new(), "{place} = {fault}");
        }
        let mut body = good();
        body["messages"].as_array_mut().unwrap().pop();
        assert_ne!(check(body), Vec::<String>::new(), "results that are missing altogether");
        let mut body = good();
        let blocks = body["messages"][2]["content"].as_array_mut().unwrap();
        blocks.rotate_right(1);
        assert_ne!(check(body), Vec::<String>::new(), "text before results");
        let mut body = good();
        body["surprise"] = json!(1);
        assert_ne!(check(body), Vec::<String>::new(), "an unknown field");
    }
}
