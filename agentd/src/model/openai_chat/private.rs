//! What only the server understands and wants back with the next request: OpenRouter's `reasoning_details`, and
//! Google's `extra_content` of a call, which holds the signature of the thought behind it. Kept as blocks of their
//! own, whole. Written by `decode`, put back by `encode`. Pure.

use super::decode::REASONING_FIELDS;
use proto::content::MessageBlock;
use serde_json::{Map, Value, json};

const DETAILS: &str = "reasoning_details";
const EXTRA: &str = "extra_content";

/// The `reasoning_details` of an answer so far.
#[derive(Default)]
pub(super) struct Details(Vec<Value>);

impl Details {
    /// Takes those of a delta. The parts of one are put together: texts grow, other values are set.
    pub(super) fn take(&mut self, delta: &Value) {
        for part in delta.get(DETAILS).and_then(Value::as_array).into_iter().flatten() {
            match self.0.last_mut().filter(|last| is_same(last, part)) {
                Some(last) => merge(last, part),
                None => self.0.push(part.clone()),
            }
        }
    }

    /// The block of what has come, if anything has.
    pub(super) fn block(&mut self) -> Option<MessageBlock> {
        let details = std::mem::take(&mut self.0);
        (!details.is_empty()).then(|| MessageBlock::Other(json!({"type": DETAILS, DETAILS: details})))
    }
}

fn is_same(last: &Value, part: &Value) -> bool {
    let is_whole = |value: &Value| value.get("type").and_then(Value::as_str) == Some("reasoning.encrypted");
    !is_whole(part) && ["type", "index"].iter().all(|field| last.get(*field) == part.get(*field))
}

fn merge(last: &mut Value, part: &Value) {
    let (Value::Object(fields), Value::Object(parts)) = (last, part) else { return };
    for (name, part) in parts.iter().filter(|(_, part)| !part.is_null()) {
        match (name.as_str(), part, fields.get_mut(name)) {
            ("text" | "summary", Value::String(part), Some(Value::String(all))) => all.push_str(part),
            _ => {
                fields.insert(name.clone(), part.clone());
            }
        }
    }
}

/// Whether what only a server understands in a block came in this format. A provider may change its format while
/// its models keep their names.
pub(in crate::model) fn is_own(block: &MessageBlock) -> bool {
    match block {
        MessageBlock::Thinking { signature: Some(field), .. } => REASONING_FIELDS.contains(&field.as_str()),
        MessageBlock::Other(kept) => [DETAILS, EXTRA].iter().any(|field| kept.get(*field).is_some()),
        _ => false,
    }
}

/// The `extra_content` of a part of a call.
pub(super) fn extra(call: &Value) -> Option<Value> {
    call.get(EXTRA).filter(|extra| extra.is_object()).cloned()
}

/// The block that keeps it.
pub(super) fn extra_block(call_id: &str, extra: Value) -> MessageBlock {
    MessageBlock::Other(json!({"type": EXTRA, "call_id": call_id, EXTRA: extra}))
}

/// Puts what the blocks keep back into their message, of which `calls` are the calls by their ids in the session.
pub(super) fn put_back(blocks: &[MessageBlock], calls: &mut [(&str, Value)], message: &mut Map<String, Value>) {
    let mut details: Vec<Value> = Vec::new();
    for block in blocks {
        let MessageBlock::Other(kept) = block else { continue };
        details.extend(kept.get(DETAILS).and_then(Value::as_array).into_iter().flatten().cloned());
        let Some((id, extra)) = kept.get("call_id").and_then(Value::as_str).zip(kept.get(EXTRA)) else { continue };
        let call = calls.iter_mut().find(|(call_id, _)| *call_id == id);
        if let Some(Value::Object(fields)) = call.map(|(_, call)| call) {
            fields.insert(EXTRA.to_owned(), extra.clone());
        }
    }
    if !details.is_empty() {
        message.insert(DETAILS.to_owned(), Value::Array(details));
    }
}
