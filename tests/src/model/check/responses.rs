//! What a request of the Responses API must be. Nothing is kept at the server, so everything has to be in it.

use super::{Findings, Request};
use crate::model::request::text_of;
use serde_json::Value;
use std::collections::BTreeSet;

const FIELDS: &[&str] = &[
    "model",
    "instructions",
    "input",
    "tools",
    "tool_choice",
    "parallel_tool_calls",
    "stream",
    "store",
    "include",
    "max_output_tokens",
    "prompt_cache_key",
    "reasoning",
    "temperature",
    "top_p",
    "text",
    "metadata",
    "truncation",
];

pub(super) fn check(request: &Request, found: &mut Findings<'_>) {
    let body = &request.body;
    found.unknown_fields(body, FIELDS, "the request");
    if !request.headers.contains_key("authorization") {
        found.add("there is no key in `authorization`");
    }
    if body["store"] != false {
        found.add("`store` is not false: the server would keep the conversation");
    }
    let included = body["include"].as_array().map_or(&[][..], Vec::as_slice);
    if !included.iter().any(|field| field == "reasoning.encrypted_content") {
        found.add("encrypted reasoning is not asked for, so none can come back");
    }
    let tools = body["tools"].as_array().map_or(&[][..], Vec::as_slice);
    if tools.iter().any(|tool| tool["type"] != "function" || !tool["strict"].is_boolean()) {
        found.add("a tool is no function that says whether it is strict");
    }
    let parts: Vec<_> = tools.iter().map(|tool| (&tool["name"], &tool["description"], &tool["parameters"])).collect();
    found.tools(&parts);
    Input::default().check(request.messages(), found);
}

/// The state of the walk through the items.
#[derive(Default)]
struct Input {
    /// Calls without an output.
    open: Vec<String>,
    seen: BTreeSet<String>,
    /// Whether the outputs of the last calls have begun.
    outputs: bool,
    /// Reasoning that waits for what it led to.
    reasoning: Vec<(String, String)>,
}

impl Input {
    fn check(mut self, items: &[Value], found: &mut Findings<'_>) {
        let mut answered = false;
        for (at, item) in items.iter().enumerate() {
            let is_output = item["type"] == "function_call_output";
            let is_own = item["role"] == "assistant" || item["type"] == "function_call" || item["type"] == "reasoning";
            if !self.open.is_empty() && !is_output && (self.outputs || !is_own) {
                found.add(format!("item {at} comes before the outputs of the calls {:?}", self.open));
                self.open.clear();
            }
            self.outputs = is_output;
            if item["type"] != "reasoning" {
                let kept = std::mem::take(&mut self.reasoning);
                self.led_to(&kept, item, at, found);
            }
            match (item["type"].as_str().unwrap_or_default(), item["role"].as_str()) {
                ("reasoning", _) => self.reasoning(item, at, found),
                ("function_call", _) => self.call(item, at, found),
                ("function_call_output", _) => self.output(item, at, found),
                ("message", Some("user")) => content(item, at, &["input_text", "input_image", "input_file"], found),
                ("message", Some("assistant")) => content(item, at, &["output_text", "refusal"], found),
                (kind, role) => found.add(format!("item {at} is a `{kind}` of {role:?}")),
            }
            answered = is_own;
        }
        if answered || items.is_empty() || !self.open.is_empty() || !self.reasoning.is_empty() {
            found.add("the input does not end with a prompt or with all outputs");
        }
    }

    fn reasoning(&mut self, item: &Value, at: usize, found: &mut Findings<'_>) {
        found.unknown_fields(item, &["type", "id", "summary", "encrypted_content"], &format!("item {at}"));
        let Some(summary) = item["summary"].as_array() else {
            return found.add(format!("item {at}: reasoning has no summary, not even an empty one"));
        };
        let texts: Vec<&str> = summary.iter().filter_map(|part| part["text"].as_str()).collect();
        let thought = (texts.join("\n\n"), item["encrypted_content"].as_str().unwrap_or_default().to_owned());
        found.thinking(&thought, at);
        self.reasoning.push(thought);
    }

    /// Reasoning stands directly before what it led to, which is there only with it.
    fn led_to(&self, kept: &[(String, String)], item: &Value, at: usize, found: &mut Findings<'_>) {
        if !kept.is_empty() && item["type"] != "function_call" && item["role"] != "assistant" {
            found.add(format!("item {at}: nothing of the model's own follows the reasoning before it"));
        }
        if item["type"] == "function_call" {
            found.thought_directly_before(item["call_id"].as_str().unwrap_or_default(), kept, at);
        }
    }

    fn call(&mut self, item: &Value, at: usize, found: &mut Findings<'_>) {
        found.unknown_fields(item, &["type", "call_id", "name", "arguments"], &format!("item {at}"));
        let id = item["call_id"].as_str().unwrap_or_default().to_owned();
        let arguments: Value = serde_json::from_str(item["arguments"].as_str().unwrap_or_default()).unwrap_or_default();
        if !arguments.is_object() {
            found.add(format!("item {at}: the arguments of call `{id}` are not an object in text form"));
        }
        found.tool_call(&id, &item["name"], &arguments);
        if !self.seen.insert(id.clone()) {
            found.add(format!("item {at}: call `{id}` is there twice"));
        }
        self.open.push(id);
    }

    fn output(&mut self, item: &Value, at: usize, found: &mut Findings<'_>) {
        found.unknown_fields(item, &["type", "call_id", "output"], &format!("item {at}"));
        let id = item["call_id"].as_str().unwrap_or_default();
        if self.open.first().is_some_and(|first| first == id) {
            self.open.remove(0);
        } else {
            found.add(format!("item {at} is an output of `{id}`, but the next open calls are {:?}", self.open));
        }
        let is_empty = match &item["output"] {
            Value::String(text) => text.is_empty(),
            Value::Array(parts) => parts.is_empty(),
            _ => true,
        };
        if is_empty {
            found.add(format!("item {at}: the output is empty"));
        }
    }
}

fn content(item: &Value, at: usize, kinds: &[&str], found: &mut Findings<'_>) {
    found.unknown_fields(item, &["type", "role", "content"], &format!("item {at}"));
    let parts = item["content"].as_array().map_or(&[][..], Vec::as_slice);
    if parts.is_empty() {
        found.add(format!("item {at} has no content"));
    }
    for part in parts {
        let kind = part["type"].as_str().unwrap_or_default();
        if !kinds.contains(&kind) {
            found.add(format!("item {at} has a part of type `{kind}`"));
        }
        if kind.ends_with("_text") && text_of(&Value::Array(vec![part.clone()])).is_empty() {
            found.add(format!("item {at} has an empty text"));
        }
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
        let call = |id: &str| json!({"type": "function_call", "call_id": id, "name": "Read", "arguments": "{\"a\":1}"});
        let output = |id: &str, output: Value| json!({"type": "function_call_output", "call_id": id, "output": output});
        json!({
            "model": "m1", "stream": true, "store": false, "include": ["reasoning.encrypted_content"],
            "instructions": "s", "max_output_tokens": 10,
            "tools": [{"type": "function", "name": "Read", "description": "d", "parameters": {"type": "object"}, "strict": false}],
            "input": [
                {"type": "message", "role": "user", "content": [{"type": "input_text", "text": "hi"}]},
                {"type": "reasoning", "summary": [{"type": "summary_text", "text": "hm"}], "encrypted_content": "e1"},
                {"type": "message", "role": "assistant", "content": [{"type": "output_text", "text": "so"}]},
                {"type": "reasoning", "summary": [], "encrypted_content": "e2"},
                call("t1"),
                call("t2"),
                output("t1", json!("x")),
                output("t2", json!([{"type": "input_text", "text": "y"}])),
                {"type": "message", "role": "user", "content": [{"type": "input_text", "text": "go on"}]},
            ],
        })
    }

    fn check(body: Value) -> Vec<String> {
        let input = json!({"a": 1});
        let reply = Reply::new()
            .thinking("hm", "e1")
            .text("so")
            .thinking("", "e2")
            .tool("t1", "Read", &input)
            .tool("t2", "Read", &input);
        let mut said = Said::default();
        said.add(&reply, Face::Responses, "m1");
        said.add(&Reply::new().thinking("of another", "e3"), Face::Responses, "m2");
        said.add(&Reply::new().thinking("of another format", "e4"), Face::Anthropic, "m1");
        let headers = [("content-type", "application/json"), ("authorization", "Bearer k")];
        let headers = headers.iter().map(|(name, value)| ((*name).to_owned(), (*value).to_owned())).collect();
        let request =
            Request { path: String::new(), headers, bytes: Vec::new(), body, arrived: std::time::Instant::now() };
        violations(Face::Responses, &request, &said)
    }

    #[test]
    fn a_good_request_passes() {
        assert_eq!(check(good()), Vec::<String>::new());
    }

    #[test]
    fn each_fault_is_found() {
        let user = json!({"type": "message", "role": "user", "content": [{"type": "input_text", "text": "x"}]});
        let foreign = |text: &str, encrypted: &str| {
            json!({"type": "reasoning", "summary": [{"type": "summary_text", "text": text}],
                   "encrypted_content": encrypted})
        };
        let faults: &[(&str, Value)] = &[
            ("/store", json!(true)),
            ("/include", json!([])),
            ("/tools/0/strict", Value::Null),
            ("/tools/0/type", json!("custom")),
            ("/tools/0/name", json!("a.b")),
            ("/input/0/content", json!([])),
            ("/input/0/content/0/text", json!("")),
            ("/input/0/content/0/type", json!("text")),
            ("/input/0/role", json!("system")),
            ("/input/1/encrypted_content", json!("other")),
            ("/input/1/summary/0/text", json!("other")),
            ("/input/1/summary", Value::Null),
            ("/input/1", foreign("of another", "e3")),
            ("/input/1", foreign("of another format", "e4")),
            ("/input/2", user.clone()),
            ("/input/3", user.clone()),
            ("/input/3/encrypted_content", json!("e1")),
            ("/input/4/call_id", json!("t9")),
            ("/input/4/call_id", json!("t2")),
            ("/input/4/arguments", json!("{\"a\":2}")),
            ("/input/4/arguments", json!({"a": 1})),
            ("/input/4/id", json!("fc_1")),
            ("/input/6/call_id", json!("t2")),
            ("/input/6/output", json!("")),
            ("/input/6", user.clone()),
            ("/input/7", user),
            ("/input/8/role", json!("assistant")),
            ("/input/8", foreign("hm", "e1")),
        ];
        for (place, fault) in faults {
            let mut body = good();
            match body.pointer_mut(place) {
                Some(old) => *old = fault.clone(),
                None => body["input"][4]["id"] = fault.clone(),
            }
            assert_ne!(check(body), Vec::<String>::new(), "{place} = {fault}");
        }
        let mut without = good();
        without["input"].as_array_mut().unwrap().remove(3);
        assert_ne!(check(without), Vec::<String>::new(), "the reasoning before a call is missing");
    }
}
