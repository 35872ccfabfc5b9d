//! Chat Completions: unnamed SSE events, deltas of one message, `[DONE]` at the end.

use super::{Chunk, pieces};
use crate::model::reply::{End, Reply, Step};
use serde_json::{Value, json};

struct Stream<'a> {
    chunks: Vec<Chunk>,
    request: &'a Value,
    number: usize,
    next_tool: usize,
}

pub(super) fn render(reply: &Reply, request: &Value, number: usize) -> Vec<Chunk> {
    let mut stream = Stream { chunks: Vec::new(), request, number, next_tool: 0 };
    stream.delta(&json!({"role": "assistant", "content": ""}));
    for step in &reply.steps {
        stream.step(step);
    }
    if reply.end == End::Proper {
        stream.choice(&json!({}), Some(finish_reason(reply.stop_reason())));
        if request["stream_options"]["include_usage"] == true {
            let total = reply.input_tokens + reply.output_tokens;
            let usage = json!({"prompt_tokens": reply.input_tokens, "completion_tokens": reply.output_tokens,
                               "total_tokens": total});
            stream.event(&json!([]), &usage);
        }
        stream.chunks.push(Chunk::Bytes(b"data: [DONE]\n\n".to_vec()));
    }
    stream.chunks
}

/// The reason in the words of this wire format.
fn finish_reason(reason: &str) -> &str {
    match reason {
        "end_turn" | "stop_sequence" => "stop",
        "tool_use" => "tool_calls",
        "max_tokens" => "length",
        "refusal" => "content_filter",
        other => other,
    }
}

impl Stream<'_> {
    fn step(&mut self, step: &Step) {
        match step {
            Step::Text(text) => self.delta(&json!({"content": text})),
            Step::Thinking { text, .. } => self.delta(&json!({"reasoning_content": text})),
            Step::Tool { id, name, json } | Step::PartialTool { id, name, json } => self.tool(id, name, json),
            Step::Gate(name) => self.chunks.push(Chunk::Gate(name.clone())),
            Step::Raw(bytes) => self.chunks.push(Chunk::Bytes(bytes.clone().into_bytes())),
        }
    }

    fn tool(&mut self, id: &str, name: &str, json: &str) {
        let index = self.next_tool;
        self.next_tool += 1;
        let function = json!({"name": name, "arguments": ""});
        self.delta(&json!({"tool_calls": [{"index": index, "id": id, "type": "function", "function": function}]}));
        for piece in pieces(json, 9) {
            self.delta(&json!({"tool_calls": [{"index": index, "function": {"arguments": piece}}]}));
        }
    }

    fn delta(&mut self, delta: &Value) {
        self.choice(delta, None);
    }

    fn choice(&mut self, delta: &Value, finish: Option<&str>) {
        self.event(&json!([{"index": 0, "delta": delta, "finish_reason": finish}]), &Value::Null);
    }

    fn event(&mut self, choices: &Value, usage: &Value) {
        let event = json!({
            "id": format!("chatcmpl-{}", self.number), "object": "chat.completion.chunk", "created": 1,
            "model": self.request["model"], "choices": choices, "usage": usage,
        });
        self.chunks.push(Chunk::Bytes(format!("data: {event}\n\n").into_bytes()));
    }
}
