//! The Messages API: named SSE events, blocks with a start, deltas and a stop.

use super::{Chunk, pieces};
use crate::model::reply::{End, Reply, Step};
use serde_json::{Value, json};

struct Stream {
    chunks: Vec<Chunk>,
    next_block: usize,
    text_open: bool,
}

pub(super) fn render(reply: &Reply, request: &Value, number: usize) -> Vec<Chunk> {
    let mut stream = Stream { chunks: Vec::new(), next_block: 0, text_open: false };
    stream.event(&json!({"type": "message_start", "message": {
        "id": format!("msg_{number}"), "type": "message", "role": "assistant", "model": request["model"],
        "content": [], "stop_reason": null, "stop_sequence": null,
        "usage": {"input_tokens": reply.input_tokens, "output_tokens": 1,
                  "cache_read_input_tokens": 0, "cache_creation_input_tokens": 0},
    }}));
    stream.event(&json!({"type": "ping"}));
    for step in &reply.steps {
        stream.step(step);
    }
    if reply.end == End::Proper {
        stream.close_text();
        stream.event(&json!({
            "type": "message_delta",
            "delta": {"stop_reason": reply.stop_reason(), "stop_sequence": null},
            "usage": {"output_tokens": reply.output_tokens},
        }));
        stream.event(&json!({"type": "message_stop"}));
    }
    stream.chunks
}

impl Stream {
    fn step(&mut self, step: &Step) {
        match step {
            Step::Text(text) => {
                if !self.text_open {
                    self.start(&json!({"type": "text", "text": ""}));
                    self.text_open = true;
                }
                self.delta(&json!({"type": "text_delta", "text": text}));
            }
            Step::Thinking { text, signature } => {
                self.close_text();
                self.start(&json!({"type": "thinking", "thinking": "", "signature": ""}));
                self.delta(&json!({"type": "thinking_delta", "thinking": text}));
                self.delta(&json!({"type": "signature_delta", "signature": signature}));
                self.stop();
            }
            Step::Tool { id, name, json } => {
                self.open_tool(id, name, json);
                self.stop();
            }
            Step::PartialTool { id, name, json } => self.open_tool(id, name, json),
            Step::Gate(name) => self.chunks.push(Chunk::Gate(name.clone())),
            Step::Raw(bytes) => self.chunks.push(Chunk::Bytes(bytes.clone().into_bytes())),
        }
    }

    fn open_tool(&mut self, id: &str, name: &str, json: &str) {
        self.close_text();
        self.start(&json!({"type": "tool_use", "id": id, "name": name, "input": {}}));
        self.delta(&json!({"type": "input_json_delta", "partial_json": ""}));
        for piece in pieces(json, 9) {
            self.delta(&json!({"type": "input_json_delta", "partial_json": piece}));
        }
    }

    fn start(&mut self, block: &Value) {
        self.event(&json!({"type": "content_block_start", "index": self.next_block, "content_block": block}));
        self.next_block += 1;
    }

    fn delta(&mut self, delta: &Value) {
        self.event(&json!({"type": "content_block_delta", "index": self.next_block - 1, "delta": delta}));
    }

    fn stop(&mut self) {
        self.event(&json!({"type": "content_block_stop", "index": self.next_block - 1}));
    }

    fn close_text(&mut self) {
        if self.text_open {
            self.stop();
            self.text_open = false;
        }
    }

    fn event(&mut self, event: &Value) {
        let name = event["type"].as_str().expect("each event has a type");
        self.chunks.push(Chunk::Bytes(format!("event: {name}\ndata: {event}\n\n").into_bytes()));
    }
}
