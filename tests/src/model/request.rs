//! A captured request, with the questions that tests ask of one.

use serde_json::Value;
use std::collections::BTreeMap;
use std::time::Instant;

/// One request that the model server got.
#[derive(Debug, Clone)]
pub struct Request {
    /// Such as `/v1/messages`.
    pub path: String,
    /// By lower-case name.
    pub headers: BTreeMap<String, String>,
    /// The bytes as they came.
    pub bytes: Vec<u8>,
    /// The same as JSON; null where they are not JSON.
    pub body: Value,
    /// When its head was read; for benchmarks.
    pub arrived: Instant,
}

impl Request {
    /// The messages, or the items of the Responses API.
    #[must_use]
    pub fn messages(&self) -> &[Value] {
        self.body["messages"].as_array().or(self.body["input"].as_array()).map_or(&[], Vec::as_slice)
    }

    /// All text of the last user message that has text: what the person said last.
    #[must_use]
    pub fn last_user_text(&self) -> String {
        let users = self.messages().iter().rev().filter(|message| message["role"] == "user");
        users.map(|message| text_of(&message["content"])).find(|text| !text.is_empty()).unwrap_or_default()
    }

    /// The system prompt.
    #[must_use]
    pub fn system(&self) -> String {
        let first = self.messages().first().filter(|message| message["role"] == "system");
        let beside = if self.body["system"].is_null() { &self.body["instructions"] } else { &self.body["system"] };
        text_of(first.map_or(beside, |message| &message["content"]))
    }

    /// The results of the last round of tool calls: id and text, in order.
    #[must_use]
    pub fn tool_results(&self) -> Vec<(String, String)> {
        let messages = self.messages();
        let is_answer = |message: &Value| message["role"] == "assistant" || message["type"] == "function_call";
        let last_answer = messages.iter().rposition(is_answer).map_or(0, |at| at + 1);
        messages[last_answer..].iter().flat_map(results_in).collect()
    }

    /// The names of the tools, in order.
    #[must_use]
    pub fn tool_names(&self) -> Vec<String> {
        let tools = self.body["tools"].as_array().map_or(&[][..], Vec::as_slice);
        let name = |tool: &Value| tool["name"].as_str().or(tool["function"]["name"].as_str()).map(str::to_owned);
        tools.iter().filter_map(name).collect()
    }
}

fn results_in(message: &Value) -> Vec<(String, String)> {
    let text = |value: &Value| value.as_str().unwrap_or_default().to_owned();
    if message["role"] == "tool" {
        return vec![(text(&message["tool_call_id"]), text_of(&message["content"]))];
    }
    if message["type"] == "function_call_output" {
        return vec![(text(&message["call_id"]), text_of(&message["output"]))];
    }
    let blocks = message["content"].as_array().map_or(&[][..], Vec::as_slice);
    let results = blocks.iter().filter(|block| block["type"] == "tool_result");
    results.map(|block| (text(&block["tool_use_id"]), text_of(&block["content"]))).collect()
}

/// The text of a content that is a string or a list of blocks.
pub(super) fn text_of(content: &Value) -> String {
    match content {
        Value::String(text) => text.clone(),
        Value::Array(blocks) => {
            let texts: Vec<&str> = blocks.iter().filter_map(|block| block["text"].as_str()).collect();
            texts.join("\n")
        }
        _ => String::new(),
    }
}
