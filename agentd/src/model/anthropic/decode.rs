//! The event stream of the Messages API as model events. Unknown events and deltas are passed over,
//! unknown blocks are kept whole. A block is given out at its own end event and never before. Pure.

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
use serde_json::{Value, json};
use std::collections::{BTreeMap, BTreeSet, VecDeque};
use std::sync::Arc;

/// A block under way.
enum Partial {
    Text(String),
    Thinking { thinking: String, signature: String },
    Redacted(String),
    ToolUse { id: String, name: String, start: Value, json: String },
    Other { block: Value, json: String },
}

/// The state of one answer.
pub(super) struct Decode {
    endpoint: Arc<Endpoint>,
    ids: CallIds,
    blocks: BTreeMap<usize, Partial>,
    given: BTreeSet<usize>,
    usage: Usage,
    reason: Option<String>,
    over: bool,
}

impl Decode {
    pub(super) fn new(endpoint: Arc<Endpoint>, ids: CallIds) -> Self {
        let usage = Usage { context_window: endpoint.context_window, ..Usage::default() };
        Self { endpoint, ids, blocks: BTreeMap::new(), given: BTreeSet::new(), usage, reason: None, over: false }
    }

    fn take(&mut self, value: &Value, out: &mut VecDeque<ModelEvent>) -> Result<(), String> {
        match value.get("type").and_then(Value::as_str).unwrap_or_default() {
            "message_start" => self.usage(value.pointer("/message/usage"), out),
            "content_block_start" => self.block_start(value, out)?,
            "content_block_delta" => self.block_delta(value, out)?,
            "content_block_stop" => self.block_stop(value, out)?,
            "message_delta" => {
                if let Some(reason) = value.pointer("/delta/stop_reason").and_then(Value::as_str) {
                    self.reason = Some(reason.to_owned());
                }
                self.usage(value.get("usage"), out);
            }
            "message_stop" => self.stop(out),
            "error" => {
                self.over = true;
                out.push_back(ModelEvent::Fault(Refusal::from_json(value).into_fault(&self.endpoint)));
            }
            "message" => self.whole(value, out)?,
            "" if value.get("error").is_some() => {
                self.over = true;
                out.push_back(ModelEvent::Fault(Refusal::from_json(value).into_fault(&self.endpoint)));
            }
            _ => {}
        }
        Ok(())
    }

    /// A whole message in place of a stream.
    fn whole(&mut self, message: &Value, out: &mut VecDeque<ModelEvent>) -> Result<(), String> {
        self.usage(message.get("usage"), out);
        let blocks = message.get("content").and_then(Value::as_array).map_or(&[][..], Vec::as_slice);
        for (index, block) in blocks.iter().enumerate() {
            let event = json!({"index": index, "content_block": block});
            self.block_start(&event, out)?;
            self.block_stop(&event, out)?;
        }
        self.reason = message.get("stop_reason").and_then(Value::as_str).map(str::to_owned);
        self.stop(out);
        Ok(())
    }

    fn stop(&mut self, out: &mut VecDeque<ModelEvent>) {
        self.over = true;
        if !self.blocks.is_empty() {
            let why = "the message ended inside a block";
            return out.push_back(ModelEvent::Fault(fault::truncated(&self.endpoint, why)));
        }
        let reason = self.reason.take().unwrap_or_else(|| "end_turn".to_owned());
        out.push_back(ModelEvent::Stopped { reason });
    }

    fn usage(&mut self, usage: Option<&Value>, out: &mut VecDeque<ModelEvent>) {
        let Some(usage) = usage.filter(|usage| usage.is_object()) else { return };
        // Counts only grow; some gateways leave out in one report, or tell as 0, what another one told.
        let number = |field: &str, before: u64| usage.get(field).and_then(Value::as_u64).unwrap_or(0).max(before);
        let now = &mut self.usage;
        now.input_tokens = number("input_tokens", now.input_tokens);
        now.output_tokens = number("output_tokens", now.output_tokens);
        now.cache_read_tokens = number("cache_read_input_tokens", now.cache_read_tokens);
        now.cache_write_tokens = number("cache_creation_input_tokens", now.cache_write_tokens);
        now.context_tokens = now
            .input_tokens
            .saturating_add(now.cache_read_tokens)
            .saturating_add(now.cache_write_tokens)
            .saturating_add(now.output_tokens);
        cost::report(&self.endpoint, self.usage, out);
    }

    fn block_start(&mut self, value: &Value, out: &mut VecDeque<ModelEvent>) -> Result<(), String> {
        let index = index(value)?;
        if self.blocks.contains_key(&index) || self.given.contains(&index) {
            return Err(format!("block {index} begins twice"));
        }
        let block = value.get("content_block").ok_or_else(|| format!("block {index} begins without a block"))?;
        let text = |field: &str| block.get(field).and_then(Value::as_str).unwrap_or_default().to_owned();
        let (partial, kind, first) = match block.get("type").and_then(Value::as_str).unwrap_or_default() {
            "text" => (Partial::Text(text("text")), BlockKind::Text, Some((DeltaKind::Text, text("text")))),
            "thinking" => (
                Partial::Thinking { thinking: text("thinking"), signature: text("signature") },
                BlockKind::Thinking,
                Some((DeltaKind::Thinking, text("thinking"))),
            ),
            "redacted_thinking" => (Partial::Redacted(text("data")), BlockKind::Other, None),
            "tool_use" => {
                let (id, name) = (self.ids.claim(&text("id")), text("name"));
                let start = block.get("input").cloned().unwrap_or_default();
                let partial = Partial::ToolUse { id: id.clone(), name: name.clone(), start, json: String::new() };
                (partial, BlockKind::ToolUse { id, name }, None)
            }
            _ => (Partial::Other { block: block.clone(), json: String::new() }, BlockKind::Other, None),
        };
        self.blocks.insert(index, partial);
        out.push_back(ModelEvent::BlockStarted { index, kind });
        if let Some((kind, text)) = first.filter(|(_, text)| !text.is_empty()) {
            out.push_back(ModelEvent::Delta { index, kind, text });
        }
        Ok(())
    }

    fn block_delta(&mut self, value: &Value, out: &mut VecDeque<ModelEvent>) -> Result<(), String> {
        let index = index(value)?;
        let partial = self.blocks.get_mut(&index).ok_or_else(|| format!("a part of block {index} comes before it"))?;
        let delta = value.get("delta").unwrap_or(&Value::Null);
        let text = |field: &str| delta.get(field).and_then(Value::as_str);
        let told = match partial {
            Partial::Text(all) => text("text").map(|part| (all, DeltaKind::Text, part)),
            Partial::Thinking { thinking, signature } => {
                if let Some(part) = text("signature") {
                    signature.push_str(part);
                }
                text("thinking").map(|part| (thinking, DeltaKind::Thinking, part))
            }
            Partial::ToolUse { json, .. } => text("partial_json").map(|part| (json, DeltaKind::ToolInput, part)),
            Partial::Redacted(data) => {
                data.push_str(text("data").unwrap_or_default());
                None
            }
            Partial::Other { block, json } => {
                merge(block, json, delta);
                None
            }
        };
        if let Some((all, kind, part)) = told.filter(|(_, _, part)| !part.is_empty()) {
            all.push_str(part);
            out.push_back(ModelEvent::Delta { index, kind, text: part.to_owned() });
        }
        Ok(())
    }

    fn block_stop(&mut self, value: &Value, out: &mut VecDeque<ModelEvent>) -> Result<(), String> {
        let index = index(value)?;
        let partial = self.blocks.remove(&index).ok_or_else(|| format!("block {index} ends before it begins"))?;
        self.given.insert(index);
        let block = match partial {
            Partial::Text(text) => MessageBlock::Text { text },
            Partial::Thinking { thinking, signature } => {
                MessageBlock::Thinking { thinking, signature: Some(signature).filter(|proof| !proof.is_empty()) }
            }
            Partial::Redacted(data) => MessageBlock::RedactedThinking { data },
            // Some gateways send the whole input at the start.
            Partial::ToolUse { id, name, start, json } if json.is_empty() && start.is_object() => {
                MessageBlock::ToolUse { id, name, input: start }
            }
            Partial::ToolUse { id, name, json, .. } => MessageBlock::ToolUse { id, name, input: parse_input(&json) },
            Partial::Other { mut block, json } => {
                if let Value::Object(fields) = &mut block
                    && !json.is_empty()
                {
                    fields.insert("input".to_owned(), parse_input(&json));
                }
                MessageBlock::Other(block)
            }
        };
        out.push_back(ModelEvent::BlockDone { index, block });
        Ok(())
    }
}

/// Lays a delta over a block of an unknown kind: texts grow, other values are set.
fn merge(block: &mut Value, json: &mut String, delta: &Value) {
    let (Value::Object(fields), Value::Object(parts)) = (block, delta) else { return };
    for (name, part) in parts.iter().filter(|(name, _)| *name != "type") {
        match (name.as_str(), part, fields.get_mut(name)) {
            ("partial_json", Value::String(part), _) => json.push_str(part),
            (_, Value::String(part), Some(Value::String(all))) => all.push_str(part),
            (_, part, _) => {
                fields.insert(name.clone(), part.clone());
            }
        }
    }
}

fn index(value: &Value) -> Result<usize, String> {
    value
        .get("index")
        .and_then(Value::as_u64)
        .and_then(|index| usize::try_from(index).ok())
        .ok_or_else(|| "an event of a block has no index".to_owned())
}

impl Decoder for Decode {
    fn is_ping(&self, name: &str, data: &str) -> bool {
        // Some gateways drop the names of events.
        const LONGEST: usize = 64;
        name == "ping" || (data.len() <= LONGEST && data.contains("\"ping\""))
    }

    fn event(&mut self, _name: &str, data: &str, out: &mut VecDeque<ModelEvent>) {
        if self.over {
            return;
        }
        if data.trim() == "[DONE]" {
            // Some gateways end every format as another one ends; all but that has to be there.
            if self.reason.is_some() {
                return self.stop(out);
            }
            return self.end("it ended without a stop reason", out);
        }
        let taken = match serde_json::from_str::<Value>(data) {
            Ok(value) => self.take(&value, out),
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

    fn end(&mut self, why: &str, out: &mut VecDeque<ModelEvent>) {
        if !self.over {
            self.over = true;
            out.push_back(ModelEvent::Fault(fault::truncated(&self.endpoint, why)));
        }
    }
}
