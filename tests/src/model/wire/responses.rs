//! The Responses API: named SSE events, items with a beginning, parts and an end, the whole answer at the end.

use super::{Chunk, pieces};
use crate::model::reply::{End, Reply, Step};
use serde_json::{Value, json};

struct Stream {
    chunks: Vec<Chunk>,
    number: usize,
    sequence: usize,
    /// The items so far; the last one may be open.
    items: Vec<Value>,
    /// The text of the message that is open.
    text: Option<String>,
}

pub(super) fn render(reply: &Reply, request: &Value, number: usize) -> Vec<Chunk> {
    let mut stream = Stream { chunks: Vec::new(), number, sequence: 0, items: Vec::new(), text: None };
    let id = format!("resp_{number}");
    let begun = json!({"id": id, "object": "response", "model": request["model"], "status": "in_progress",
                       "error": null, "incomplete_details": null, "output": [], "usage": null});
    stream.event("response.created", json!({"response": begun}));
    stream.event("response.in_progress", json!({"response": begun}));
    for step in &reply.steps {
        stream.step(step);
    }
    if reply.end == End::Proper {
        stream.close_text();
        stream.finish(reply, begun);
    }
    stream.chunks
}

impl Stream {
    fn step(&mut self, step: &Step) {
        match step {
            Step::Text(text) => {
                if self.text.is_none() {
                    self.open_text();
                }
                let at = json!({"item_id": self.id("msg"), "content_index": 0, "delta": text});
                self.at_item("response.output_text.delta", at);
                self.text.get_or_insert_default().push_str(text);
            }
            Step::Thinking { text, signature } => self.reasoning(text, signature),
            Step::Tool { id, name, json } => {
                self.open_call(id, name, json);
                let done = json!({"item_id": self.id("fc"), "arguments": json});
                self.at_item("response.function_call_arguments.done", done);
                self.done(call(&self.id("fc"), id, name, json, "completed"));
            }
            Step::PartialTool { id, name, json } => self.open_call(id, name, json),
            Step::Gate(name) => self.chunks.push(Chunk::Gate(name.clone())),
            Step::Raw(bytes) => self.chunks.push(Chunk::Bytes(bytes.clone().into_bytes())),
        }
    }

    fn open_text(&mut self) {
        self.added(json!({"id": self.next_id("msg"), "type": "message", "role": "assistant", "status": "in_progress",
                          "content": []}));
        let part = json!({"type": "output_text", "text": "", "annotations": []});
        let at = json!({"item_id": self.id("msg"), "content_index": 0, "part": part});
        self.at_item("response.content_part.added", at);
    }

    fn close_text(&mut self) {
        let Some(text) = self.text.take() else { return };
        let part = json!({"type": "output_text", "text": text, "annotations": []});
        let id = self.id("msg");
        self.at_item("response.output_text.done", json!({"item_id": id, "content_index": 0, "text": text}));
        self.at_item("response.content_part.done", json!({"item_id": id, "content_index": 0, "part": part}));
        self.done(json!({"id": id, "type": "message", "role": "assistant", "status": "completed", "content": [part]}));
    }

    fn reasoning(&mut self, text: &str, encrypted: &str) {
        self.close_text();
        self.added(json!({"id": self.next_id("rs"), "type": "reasoning", "summary": [], "encrypted_content": ""}));
        let id = self.id("rs");
        let part = json!({"type": "summary_text", "text": text});
        let at = json!({"item_id": id, "summary_index": 0, "part": {"type": "summary_text", "text": ""}});
        self.at_item("response.reasoning_summary_part.added", at);
        let at = json!({"item_id": id, "summary_index": 0, "delta": text});
        self.at_item("response.reasoning_summary_text.delta", at);
        let at = json!({"item_id": id, "summary_index": 0, "part": part});
        self.at_item("response.reasoning_summary_part.done", at);
        self.done(json!({"id": id, "type": "reasoning", "summary": [part], "encrypted_content": encrypted}));
    }

    fn open_call(&mut self, call_id: &str, name: &str, arguments: &str) {
        self.close_text();
        self.added(call(&self.next_id("fc"), call_id, name, "", "in_progress"));
        for piece in pieces(arguments, 9) {
            let at = json!({"item_id": self.id("fc"), "delta": piece});
            self.at_item("response.function_call_arguments.delta", at);
        }
    }

    fn finish(&mut self, reply: &Reply, begun: Value) {
        let (status, why) = match reply.stop_reason() {
            "max_tokens" => ("incomplete", json!({"reason": "max_output_tokens"})),
            "refusal" => ("incomplete", json!({"reason": "content_filter"})),
            _ => ("completed", Value::Null),
        };
        let mut answer = begun;
        answer["status"] = json!(status);
        answer["incomplete_details"] = why;
        answer["output"] = json!(self.items);
        answer["usage"] = json!({
            "input_tokens": reply.input_tokens, "input_tokens_details": {"cached_tokens": 0},
            "output_tokens": reply.output_tokens, "output_tokens_details": {"reasoning_tokens": 0},
            "total_tokens": reply.input_tokens + reply.output_tokens,
        });
        self.event(&format!("response.{status}"), json!({"response": answer}));
    }

    /// The id of the open item, of the next one.
    fn id(&self, prefix: &str) -> String {
        format!("{prefix}_{}_{}", self.number, self.items.len())
    }

    fn next_id(&self, prefix: &str) -> String {
        format!("{prefix}_{}_{}", self.number, self.items.len() + 1)
    }

    fn added(&mut self, item: Value) {
        self.items.push(item.clone());
        self.at_item("response.output_item.added", json!({"item": item}));
    }

    fn done(&mut self, item: Value) {
        *self.items.last_mut().expect("an item was added") = item.clone();
        self.at_item("response.output_item.done", json!({"item": item}));
    }

    fn at_item(&mut self, kind: &str, mut event: Value) {
        event["output_index"] = json!(self.items.len() - 1);
        self.event(kind, event);
    }

    fn event(&mut self, kind: &str, mut event: Value) {
        event["type"] = json!(kind);
        event["sequence_number"] = json!(self.sequence);
        self.sequence += 1;
        self.chunks.push(Chunk::Bytes(format!("event: {kind}\ndata: {event}\n\n").into_bytes()));
    }
}

fn call(id: &str, call_id: &str, name: &str, arguments: &str, status: &str) -> Value {
    json!({"id": id, "type": "function_call", "status": status, "call_id": call_id, "name": name,
           "arguments": arguments})
}
