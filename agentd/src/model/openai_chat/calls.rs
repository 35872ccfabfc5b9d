//! Puts the fragments of tool calls together. Servers differ: calls go by index, by id, by neither, or
//! come whole in one fragment. Used by `decode`. Pure.

use super::private;
use crate::model::call_ids::CallIds;
use crate::model::content::parse_input;
use proto::content::MessageBlock;
use serde_json::Value;

/// A fragment of a call, as it stands on the wire.
pub(super) struct Fragment {
    index: Option<u64>,
    id: String,
    name: String,
    arguments: String,
    extra: Option<Value>,
}

impl Fragment {
    /// Reads one element of `tool_calls`.
    pub(super) fn read(value: &Value) -> Self {
        let function = value.get("function").unwrap_or(value);
        let text = |value: Option<&Value>| value.and_then(Value::as_str).unwrap_or_default().to_owned();
        let arguments = match function.get("arguments") {
            None | Some(Value::Null) => String::new(),
            Some(Value::String(text)) => text.clone(),
            // Some servers send the parsed object.
            Some(parsed) => parsed.to_string(),
        };
        Self {
            index: value.get("index").and_then(Value::as_u64),
            id: text(value.get("id")),
            name: text(function.get("name")),
            arguments,
            extra: private::extra(value),
        }
    }
}

/// A call under way.
struct Call {
    /// Its place in the message.
    block: usize,
    index: Option<u64>,
    wire_id: String,
    id: String,
    name: String,
    arguments: String,
    given_out: bool,
}

impl Call {
    fn is_whole(&self) -> bool {
        matches!(serde_json::from_str(&self.arguments), Ok(Value::Object(_)))
    }

    fn done(&mut self) -> (usize, MessageBlock) {
        self.given_out = true;
        let input = parse_input(&self.arguments);
        (self.block, MessageBlock::ToolUse { id: self.id.clone(), name: self.name.clone(), input })
    }
}

/// What a fragment did.
pub(super) struct Taken {
    /// A call began: its block, id and name.
    pub(super) started: Option<(usize, String, String)>,
    /// A part of the arguments: its block and the text.
    pub(super) part: Option<(usize, String)>,
    /// What the server wants back with the call: the call's id and that.
    pub(super) extra: Option<(String, Value)>,
    /// Calls that are complete by now.
    pub(super) done: Vec<(usize, MessageBlock)>,
}

/// The calls of one answer.
#[derive(Default)]
pub(super) struct Calls {
    calls: Vec<Call>,
}

impl Calls {
    /// Whether a call can run.
    pub(super) fn any_given_out(&self) -> bool {
        self.calls.iter().any(|call| call.given_out)
    }

    /// Whether no call waits for the rest of its arguments.
    pub(super) fn all_whole(&self) -> bool {
        self.calls.iter().all(Call::is_whole)
    }

    /// Takes a fragment; a new call gets the block `next_block`.
    ///
    /// # Errors
    /// If it adds to a call that was complete.
    pub(super) fn take(&mut self, fragment: Fragment, next_block: usize, ids: &mut CallIds) -> Result<Taken, String> {
        let mut taken = Taken { started: None, part: None, extra: None, done: Vec::new() };
        let at = match self.find(&fragment) {
            Some(at) => at,
            None => {
                // Once another call begins, those whose arguments are whole can run: nothing can follow
                // the end of a JSON object.
                let whole = self.calls.iter_mut().filter(|call| !call.given_out && call.is_whole());
                taken.done = whole.map(Call::done).collect();
                let id = ids.claim(&fragment.id);
                taken.started = Some((next_block, id.clone(), fragment.name.clone()));
                self.calls.push(Call {
                    block: next_block,
                    index: fragment.index,
                    wire_id: fragment.id.clone(),
                    id,
                    name: fragment.name.clone(),
                    arguments: String::new(),
                    given_out: false,
                });
                self.calls.len().saturating_sub(1)
            }
        };
        let Some(call) = self.calls.get_mut(at) else { return Ok(taken) };
        if call.name.is_empty() {
            // Some servers begin a call with its id alone.
            call.name = fragment.name;
        }
        taken.extra = fragment.extra.map(|extra| (call.id.clone(), extra));
        if fragment.arguments.is_empty() {
            return Ok(taken);
        }
        if call.given_out {
            let blank = fragment.arguments.trim().is_empty();
            return if blank { Ok(taken) } else { Err(format!("arguments for {} come after their end", call.name)) };
        }
        call.arguments.push_str(&fragment.arguments);
        taken.part = Some((call.block, fragment.arguments));
        Ok(taken)
    }

    /// The call that a fragment belongs to; none if it begins one.
    fn find(&self, fragment: &Fragment) -> Option<usize> {
        let begins = !fragment.name.is_empty();
        let last = |test: &dyn Fn(&Call) -> bool| self.calls.iter().rposition(test);
        let at = match fragment.index {
            Some(index) => last(&|call| call.index == Some(index)),
            None if !fragment.id.is_empty() => last(&|call| call.wire_id == fragment.id),
            None if begins => None,
            None => self.calls.len().checked_sub(1),
        }?;
        let call = self.calls.get(at)?;
        // Servers that give every call the same index, or the same id, tell them apart only by a further name.
        let other_id = !fragment.id.is_empty() && call.wire_id != fragment.id;
        let more = !fragment.arguments.trim().is_empty();
        let other = begins && (other_id || (more && (call.given_out || call.is_whole())));
        (!other).then_some(at)
    }

    /// The answer is complete: gives out the rest. With `only_whole`, as where the answer was cut for its
    /// length, a call whose arguments are not whole stays back.
    pub(super) fn finish(&mut self, only_whole: bool) -> Vec<(usize, MessageBlock)> {
        self.calls
            .iter_mut()
            .filter(|call| !call.given_out && (!only_whole || call.is_whole()))
            .map(Call::done)
            .collect()
    }
}
