//! What a request of Chat Completions must be.

use super::{Findings, Request};
use crate::model::request::text_of;
use serde_json::Value;
use std::collections::BTreeSet;

const FIELDS: &[&str] = &[
    "model",
    "messages",
    "stream",
    "stream_options",
    "tools",
    "tool_choice",
    "parallel_tool_calls",
    "max_tokens",
    "max_completion_tokens",
    "temperature",
    "top_p",
    "stop",
    "reasoning_effort",
];

pub(super) fn check(request: &Request, found: &mut Findings<'_>) {
    found.unknown_fields(&request.body, FIELDS, "the request");
    if request.body["max_tokens"].is_null() && request.body["max_completion_tokens"].is_null() {
        found.add("neither `max_tokens` nor `max_completion_tokens` is there");
    }
    let tools = request.body["tools"].as_array().map_or(&[][..], Vec::as_slice);
    if tools.iter().any(|tool| tool["type"] != "function") {
        found.add("a tool is not of type `function`");
    }
    let parts: Vec<_> = tools
        .iter()
        .map(|tool| &tool["function"])
        .map(|tool| (&tool["name"], &tool["description"], &tool["parameters"]))
        .collect();
    found.tools(&parts);
    messages(request.messages(), found);
}

fn messages(messages: &[Value], found: &mut Findings<'_>) {
    let mut open: Vec<String> = Vec::new();
    let mut seen = BTreeSet::new();
    let mut before = "";
    for (at, message) in messages.iter().enumerate() {
        let role = message["role"].as_str().unwrap_or_default();
        if role != "tool" && !open.is_empty() {
            found.add(format!("message {at}: no results for the calls {open:?}"));
            open.clear();
        }
        match role {
            "system" if at == 0 => {}
            "user" if before != "user" => {
                if text_of(&message["content"]).trim().is_empty() {
                    found.add(format!("message {at} has no text"));
                }
            }
            "assistant" if before == "user" || before == "tool" => open = assistant(message, at, &mut seen, found),
            "tool" => result(message, at, &mut open, found),
            _ => found.add(format!("message {at} is from `{role}`, which can't follow `{before}`")),
        }
        before = role;
    }
    if before != "user" && before != "tool" || !open.is_empty() {
        found.add("the conversation does not end with a prompt or with all results");
    }
}

/// The calls that the message leaves open.
fn assistant(message: &Value, at: usize, seen: &mut BTreeSet<String>, found: &mut Findings<'_>) -> Vec<String> {
    let known = ["role", "content", "tool_calls", "reasoning_content"];
    found.unknown_fields(message, &known, &format!("message {at}"));
    let thought = message["reasoning_content"].as_str();
    if thought.is_some_and(|thought| !found.has_thought(thought)) {
        found.add(format!("message {at}: reasoning has changed, or is another model's"));
    }
    let calls = message["tool_calls"].as_array().map_or(&[][..], Vec::as_slice);
    if calls.is_empty() && text_of(&message["content"]).is_empty() {
        found.add(format!("message {at} has neither content nor calls"));
    }
    let mut open = Vec::new();
    for call in calls {
        let id = call["id"].as_str().unwrap_or_default().to_owned();
        let arguments = call["function"]["arguments"].as_str().unwrap_or_default();
        let input: Value = serde_json::from_str(arguments).unwrap_or_default();
        if !input.is_object() || call["type"] != "function" {
            found.add(format!("message {at}: tool call `{id}` is not a function with an object in text form"));
        }
        found.tool_call(&id, &call["function"]["name"], &input);
        found.thought_in_one(&id, thought.unwrap_or_default(), at);
        if !seen.insert(id.clone()) {
            found.add(format!("message {at}: tool call `{id}` is there twice"));
        }
        open.push(id);
    }
    open
}

fn result(message: &Value, at: usize, open: &mut Vec<String>, found: &mut Findings<'_>) {
    let id = message["tool_call_id"].as_str().unwrap_or_default();
    if open.first().is_some_and(|first| first == id) {
        open.remove(0);
    } else {
        found.add(format!("message {at} is a result of `{id}`, but the next open calls are {open:?}"));
    }
    if message["content"].is_null() {
        found.add(format!("message {at}: the result has no content"));
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
        let call = |id: &str, name: &str| {
            json!({"id": id, "type": "function",
                                                 "function": {"name": name, "arguments": "{\"a\":1}"}})
        };
        json!({
            "model": "m1", "max_tokens": 100, "stream": true,
            "tools": [{"type": "function",
                       "function": {"name": "Read", "description": "d", "parameters": {"type": "object"}}}],
            "messages": [
                {"role": "system", "content": "s"},
                {"role": "user", "content": "hi"},
                {"role": "assistant", "content": null, "reasoning_content": "hm ü",
                 "tool_calls": [call("t1", "Read"), call("t2", "Read")]},
                {"role": "tool", "tool_call_id": "t1", "content": "x"},
                {"role": "tool", "tool_call_id": "t2", "content": "y"},
                {"role": "user", "content": "go on"},
            ],
        })
    }

    fn check(body: Value) -> Vec<String> {
        let mut said = Said::default();
        let thinks = Reply::new().thinking("hm ", "").thinking("ü", "").tool("t1", "Read", &json!({"a": 1}));
        said.add(&thinks.tool("t2", "Read", &json!({"a": 1})), Face::Chat, "m1");
        said.add(&Reply::new().thinking("of another", ""), Face::Chat, "m2");
        let headers = [("content-type".to_owned(), "application/json".to_owned())].into();
        violations(
            Face::Chat,
            &Request { path: String::new(), headers, bytes: Vec::new(), body, arrived: std::time::Instant::now() },
            &said,
        )
    }

    #[test]
    fn a_good_request_passes() {
        assert_eq!(check(good()), Vec::<String>::new());
    }

    #[test]
    fn each_fault_is_found() {
        let faults: &[(&str, Value)] = &[
            ("/max_tokens", Value::Null),
            ("/tools/0/type", json!("tool")),
            ("/messages/0/role", json!("tool")),
            ("/messages/1/content", json!("")),
            ("/messages/2/role", json!("user")),
            ("/messages/2/tool_calls", json!([])),
            ("/messages/2/tool_calls/0/function/arguments", json!("{")),
            ("/messages/2/tool_calls/0/function/arguments", json!("{\"a\":2}")),
            ("/messages/2/tool_calls/0/id", json!("t9")),
            ("/messages/2/tool_calls/0/id", json!("t2")),
            ("/messages/2/tool_calls/1/id", json!("")),
            ("/tools/0/function/name", json!("a.b")),
            ("/messages/2/reasoning_content", Value::Null),
            ("/messages/2/reasoning_content", json!("hm")),
            ("/messages/2/reasoning_content", json!("of another")),
            ("/messages/3/tool_call_id", json!("t2")),
            ("/messages/3/content", Value::Null),
            ("/messages/4/role", json!("user")),
            ("/messages/5/role", json!("assistant")),
        ];
        for (place, fault) in faults {
            let mut body = good();
            *body.pointer_mut(place).expect(place) = fault.clone();
            assert_ne!(check(body), Vec::<String>::new(), "{place} = {fault}");
        }
    }
}
