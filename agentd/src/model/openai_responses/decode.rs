//! The event stream of the Responses API as model events. Unknown events are passed over, unknown items are kept
//! whole. A call is given out at its item's own end and never before. Pure.

use super::items::{Item, Items, Kind, Naming};
use crate::model::call_ids::CallIds;
use crate::model::content::parse_input;
use crate::model::cost;
use crate::model::endpoint::Endpoint;
use crate::model::fault::{self, Refusal};
use crate::model::http::Decoder;
use crate::turn::model_event::{BlockKind, ModelEvent};
use proto::content::MessageBlock;
use proto::event::DeltaKind;
use proto::session::Usage;
use serde_json::Value;
use std::collections::VecDeque;
use std::sync::Arc;

/// Between the parts of a reasoning's summary.
const NEXT_PART: &str = "\n\n";

type Out = VecDeque<ModelEvent>;

/// The state of one answer.
pub(super) struct Decode {
    endpoint: Arc<Endpoint>,
    ids: CallIds,
    items: Items,
    called: bool,
    refused: bool,
    over: bool,
}

impl Decode {
    pub(super) fn new(endpoint: Arc<Endpoint>, ids: CallIds) -> Self {
        Self { endpoint, ids, items: Items::default(), called: false, refused: false, over: false }
    }

    fn take(&mut self, kind: &str, event: &Value, out: &mut Out) -> Result<(), String> {
        match kind {
            "response.output_item.added" => {
                let item = event.get("item").unwrap_or(&Value::Null);
                self.begin(&Naming::of(event, item), item, out);
            }
            "response.output_item.done" => {
                let item = event.get("item").unwrap_or(&Value::Null);
                self.done(&Naming::of(event, item), item, out);
            }
            "response.output_text.delta" => self.delta(Kind::Text, event, out),
            "response.refusal.delta" => {
                self.refused = true;
                self.delta(Kind::Text, event, out);
            }
            "response.reasoning_summary_text.delta" | "response.reasoning_text.delta" => {
                self.delta(Kind::Thinking, event, out);
            }
            "response.reasoning_summary_part.added" => self.next_part(event, out),
            "response.function_call_arguments.delta" => self.delta(Kind::Call, event, out),
            "response.function_call_arguments.done" => self.arguments(event, out),
            "response.completed"
            | "response.done"
            | "response.incomplete"
            | "response.failed"
            | "response.cancelled" => {
                let named = kind.strip_prefix("response.").unwrap_or_default();
                self.finish(event.get("response").unwrap_or(event), named, out);
            }
            "error" => self.fail(event, out),
            // A whole answer in place of a stream.
            _ if event.get("object").and_then(Value::as_str) == Some("response") => self.finish(event, "", out),
            _ if event.get("error").is_some_and(|error| !error.is_null()) => self.fail(event, out),
            _ if event.get("choices").is_some() => return Err("it answers in Chat Completions".to_owned()),
            _ => {}
        }
        Ok(())
    }

    fn fail(&mut self, value: &Value, out: &mut Out) {
        self.over = true;
        out.push_back(ModelEvent::Fault(Refusal::from_json(value).into_fault(&self.endpoint)));
    }

    /// An item begins. Where it is.
    fn begin(&mut self, naming: &Naming<'_>, item: &Value, out: &mut Out) -> usize {
        let kind = Kind::of(item);
        let known = self.items.find(naming, kind);
        if let Some(at) = known.filter(|at| self.items.at(*at).is_some_and(|known| !known.ended)) {
            return at;
        }
        let at = self.items.begin(naming, kind);
        if let Some(begun) = self.items.at(at) {
            begin_block(begun, item, &mut self.ids, out);
        }
        at
    }

    /// A further part of an item's text. Text whose item was not told begins one; arguments of a call that was not
    /// told come again with its end.
    fn delta(&mut self, kind: Kind, event: &Value, out: &mut Out) {
        let part = match event.get("delta") {
            Some(Value::String(part)) => part.clone(),
            // Some servers send the parsed object.
            Some(whole @ Value::Object(_)) if kind == Kind::Call => whole.to_string(),
            Some(_) | None => return,
        };
        let naming = Naming::of(event, &Value::Null);
        let at = match self.items.find(&naming, kind) {
            Some(at) => at,
            None if kind == Kind::Call => return,
            None => {
                let at = self.items.begin(&naming, kind);
                if let Some(begun) = self.items.at(at) {
                    begin_block(begun, &Value::Null, &mut self.ids, out);
                }
                at
            }
        };
        if let Some(item) = self.items.at(at) {
            grow(item, &part, out);
        }
    }

    fn next_part(&mut self, event: &Value, out: &mut Out) {
        let known = self.items.find(&Naming::of(event, &Value::Null), Kind::Thinking);
        if let Some(item) = known.and_then(|at| self.items.at(at)).filter(|item| !item.text.is_empty()) {
            grow(item, NEXT_PART, out);
        }
    }

    fn arguments(&mut self, event: &Value, out: &mut Out) {
        let known = self.items.find(&Naming::of(event, &Value::Null), Kind::Call);
        if let Some(item) = known.and_then(|at| self.items.at(at)) {
            complete(item, &arguments_of(event), out);
        }
    }

    /// An item ends: what it holds now counts, whatever has streamed.
    fn done(&mut self, naming: &Naming<'_>, item: &Value, out: &mut Out) {
        let kind = Kind::of(item);
        let at = match self.items.find(naming, kind) {
            Some(at) if self.items.at(at).is_some_and(|known| known.ended) => return,
            Some(at) => at,
            None => self.begin(naming, item, out),
        };
        self.refused = self.refused || parts(item, "content").any(|part| part.get("refusal").is_some());
        let cut = item.get("status").and_then(Value::as_str) == Some("incomplete");
        if let Some(ended) = self.items.at(at) {
            let given = end_item(ended, item, cut, out);
            self.called = self.called || (given && kind == Kind::Call);
        }
    }

    /// The answer ends. `named` is what the event says of how, for servers whose answer does not.
    fn finish(&mut self, answer: &Value, named: &str, out: &mut Out) {
        let status = answer.get("status").and_then(Value::as_str).filter(|status| *status != "in_progress");
        let status = status.unwrap_or(named);
        if status == "failed" || answer.get("error").is_some_and(|error| !error.is_null()) {
            return self.fail(answer, out);
        }
        if status == "cancelled" {
            self.over = true;
            return out.push_back(ModelEvent::Fault(fault::truncated(&self.endpoint, "the server cancelled it")));
        }
        let cut = status == "incomplete";
        self.rest(answer, cut, out);
        if let Some(usage) = answer.get("usage").and_then(|usage| self.usage(usage)) {
            cost::report(&self.endpoint, usage, out);
        }
        let why = answer.pointer("/incomplete_details/reason").and_then(Value::as_str);
        let reason = match why.filter(|_| cut) {
            Some("content_filter") => "refusal",
            Some("max_output_tokens") => "max_tokens",
            Some(other) => other,
            None if cut => "max_tokens",
            None if self.called => "tool_use",
            None if self.refused => "refusal",
            None => "end_turn",
        };
        self.stop(reason, out);
    }

    fn stop(&mut self, reason: &str, out: &mut Out) {
        self.over = true;
        out.push_back(ModelEvent::Stopped { reason: reason.to_owned() });
    }

    /// Gives out what only the whole answer holds, then what never ended. Of an answer that was cut, a call that
    /// did not end is not whole.
    fn rest(&mut self, answer: &Value, cut: bool, out: &mut Out) {
        let items = answer.get("output").and_then(Value::as_array).map_or(&[][..], Vec::as_slice);
        if items.len() > self.items.len() || !self.items.all_ended() {
            for (place, item) in items.iter().enumerate() {
                self.done(&Naming::at(place, item), item, out);
            }
        }
        for item in self.items.open() {
            let given = end_item(item, &Value::Null, cut, out);
            self.called = self.called || (given && item.kind == Kind::Call);
        }
    }

    fn usage(&self, usage: &Value) -> Option<Usage> {
        let number = |path: &str| usage.pointer(path).and_then(Value::as_u64);
        let (input, output) = (number("/input_tokens")?, number("/output_tokens").unwrap_or(0));
        let read = number("/input_tokens_details/cached_tokens").unwrap_or(0).min(input);
        let written = number("/input_tokens_details/cache_write_tokens").unwrap_or(0).min(input.saturating_sub(read));
        Some(Usage {
            input_tokens: input.saturating_sub(read).saturating_sub(written),
            output_tokens: output,
            cache_read_tokens: read,
            cache_write_tokens: written,
            context_tokens: input.saturating_add(output),
            context_window: self.endpoint.context_window,
        })
    }
}

fn begin_block(begun: &mut Item, item: &Value, ids: &mut CallIds, out: &mut Out) {
    let text = |field: &str| item.get(field).and_then(Value::as_str).unwrap_or_default();
    let kind = match begun.kind {
        Kind::Text => BlockKind::Text,
        Kind::Thinking => BlockKind::Thinking,
        Kind::Other => BlockKind::Other,
        Kind::Call => {
            let wire_id = if text("call_id").is_empty() { text("id") } else { text("call_id") };
            begun.id = ids.claim(wire_id);
            text("name").clone_into(&mut begun.name);
            BlockKind::ToolUse { id: begun.id.clone(), name: begun.name.clone() }
        }
    };
    out.push_back(ModelEvent::BlockStarted { index: begun.block, kind });
}

/// Adds a part to an item that has not ended.
fn grow(item: &mut Item, part: &str, out: &mut Out) {
    let kind = match item.kind {
        Kind::Text => DeltaKind::Text,
        Kind::Thinking => DeltaKind::Thinking,
        Kind::Call => DeltaKind::ToolInput,
        Kind::Other => return,
    };
    if item.ended || part.is_empty() {
        return;
    }
    item.text.push_str(part);
    out.push_back(ModelEvent::Delta { index: item.block, kind, text: part.to_owned() });
}

/// The whole text of an item is known: streams what has not streamed, and takes it in place of what has.
fn complete(item: &mut Item, whole: &str, out: &mut Out) {
    match whole.strip_prefix(item.text.as_str()) {
        Some(rest) => grow(item, rest, out),
        None if whole.is_empty() => {}
        None => whole.clone_into(&mut item.text),
    }
}

/// Ends an item and gives out its block, if it is worth one. Whether it was.
fn end_item(ended: &mut Item, item: &Value, cut: bool, out: &mut Out) -> bool {
    let block = match ended.kind {
        Kind::Text => {
            complete(ended, &joined(item, "content", ""), out);
            Some(MessageBlock::Text { text: std::mem::take(&mut ended.text) })
                .filter(|block| !matches!(block, MessageBlock::Text { text } if text.is_empty()))
        }
        Kind::Thinking => thinking(ended, item, out).filter(|_| !cut),
        Kind::Call => call(ended, item, out).filter(|_| !cut),
        Kind::Other => Some(item).filter(|item| item.is_object() && !cut).cloned().map(MessageBlock::Other),
    };
    ended.ended = true;
    let given = block.is_some();
    out.extend(block.map(|block| ModelEvent::BlockDone { index: ended.block, block }));
    given
}

/// Reasoning: people read its summary, or what an open model thinks; the server, its encrypted form.
fn thinking(ended: &mut Item, item: &Value, out: &mut Out) -> Option<MessageBlock> {
    let summary = joined(item, "summary", NEXT_PART);
    let told = if summary.is_empty() { joined(item, "content", NEXT_PART) } else { summary };
    complete(ended, &told, out);
    let encrypted = item.get("encrypted_content").and_then(Value::as_str).filter(|text| !text.is_empty());
    let text = std::mem::take(&mut ended.text);
    (encrypted.is_some() || !text.is_empty())
        .then(|| MessageBlock::Thinking { thinking: text, signature: encrypted.map(str::to_owned) })
}

fn call(ended: &mut Item, item: &Value, out: &mut Out) -> Option<MessageBlock> {
    complete(ended, &arguments_of(item), out);
    if ended.name.is_empty() {
        item.get("name").and_then(Value::as_str).unwrap_or_default().clone_into(&mut ended.name);
    }
    let input = parse_input(&ended.text);
    Some(MessageBlock::ToolUse { id: ended.id.clone(), name: ended.name.clone(), input })
}

fn arguments_of(holder: &Value) -> String {
    match holder.get("arguments") {
        Some(Value::String(text)) => text.clone(),
        None | Some(Value::Null) => String::new(),
        Some(parsed) => parsed.to_string(),
    }
}

fn parts<'a>(item: &'a Value, field: &str) -> impl Iterator<Item = &'a Value> {
    item.get(field).and_then(Value::as_array).into_iter().flatten()
}

/// The texts of an item's parts.
fn joined(item: &Value, field: &str, between: &str) -> String {
    let text =
        |part: &'_ Value| part.get("text").or_else(|| part.get("refusal")).and_then(Value::as_str).map(str::to_owned);
    parts(item, field).filter_map(text).collect::<Vec<String>>().join(between)
}

impl Decoder for Decode {
    fn is_ping(&self, name: &str, data: &str) -> bool {
        // Some gateways drop the names of events. An event without data is none.
        const PINGS: [&str; 4] =
            [r#""type":"ping""#, r#""type": "ping""#, r#""type":"keepalive""#, r#""type": "keepalive""#];
        const LONGEST: usize = 64;
        let says_so = data.len() <= LONGEST && PINGS.iter().any(|ping| data.contains(ping));
        data.trim().is_empty() || matches!(name, "ping" | "keepalive") || says_so
    }

    fn event(&mut self, name: &str, data: &str, out: &mut Out) {
        if self.over {
            return;
        }
        if data.trim() == "[DONE]" {
            // The API has no such end; where a server sends it in place of its own, all that began has to be whole.
            if !self.items.is_empty() && self.items.all_ended() {
                let reason = if self.called { "tool_use" } else { "end_turn" };
                return self.stop(reason, out);
            }
            return self.end("it ended without an answer", out);
        }
        let taken = match serde_json::from_str::<Value>(data) {
            Ok(event) => {
                let kind = event.get("type").and_then(Value::as_str).unwrap_or(name);
                self.take(kind, &event, out)
            }
            Err(_) => Err("an event is not JSON".to_owned()),
        };
        if let Err(why) = taken {
            self.over = true;
            out.push_back(ModelEvent::Fault(fault::malformed(&self.endpoint, &why)));
        }
    }

    fn is_complete(&self) -> bool {
        // The end event says so, and nothing else does.
        self.over
    }

    fn end(&mut self, why: &str, out: &mut Out) {
        if !self.over {
            self.over = true;
            out.push_back(ModelEvent::Fault(fault::truncated(&self.endpoint, why)));
        }
    }
}
