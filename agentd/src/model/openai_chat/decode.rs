//! The chunks of a Chat Completions stream as model events. Text and reasoning are complete when another
//! kind of block begins, a tool call when the next one does, and all are with the finish reason. Pure.

use super::calls::{Calls, Fragment, Taken};
use super::private::{self, Details};
use super::think::ThinkTags;
use crate::model::call_ids::CallIds;
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

/// Where servers put reasoning that is not in the text.
pub(super) const REASONING_FIELDS: [&str; 2] = ["reasoning_content", "reasoning"];

/// The block of text or reasoning that grows.
struct Open {
    index: usize,
    kind: DeltaKind,
    text: String,
}

/// The state of one answer.
pub(super) struct Decode {
    endpoint: Arc<Endpoint>,
    ids: CallIds,
    next_block: usize,
    open: Option<Open>,
    tags: ThinkTags,
    /// The field that the open reasoning comes in.
    reasoning_field: Option<&'static str>,
    details: Details,
    calls: Calls,
    refused: bool,
    reason: Option<String>,
    usage: Usage,
    over: bool,
}

impl Decode {
    pub(super) fn new(endpoint: Arc<Endpoint>, ids: CallIds) -> Self {
        let usage = Usage { context_window: endpoint.context_window, ..Usage::default() };
        Self {
            endpoint,
            ids,
            next_block: 0,
            open: None,
            tags: ThinkTags::default(),
            reasoning_field: None,
            details: Details::default(),
            calls: Calls::default(),
            refused: false,
            reason: None,
            usage,
            over: false,
        }
    }

    fn take(&mut self, chunk: &Value, out: &mut VecDeque<ModelEvent>) -> Result<(), String> {
        let is_error = chunk.get("object").and_then(Value::as_str) == Some("error");
        if is_error || chunk.get("error").is_some_and(|error| !error.is_null()) {
            return self.fail(chunk, out);
        }
        // Most send it beside the choices, Moonshot in one, Groq in a field of its own.
        for path in ["/usage", "/choices/0/usage", "/x_groq/usage"] {
            self.usage(chunk.pointer(path), out);
        }
        let Some(choice) = chunk.pointer("/choices/0") else { return Ok(()) };
        if choice.get("error").is_some_and(|error| !error.is_null()) {
            return self.fail(choice, out);
        }
        // A whole message stands for its only delta.
        if let Some(delta) = choice.get("delta").or_else(|| choice.get("message")).filter(|_| self.reason.is_none()) {
            self.delta(delta, out)?;
        }
        match choice.get("finish_reason").and_then(Value::as_str) {
            Some("error") => return self.fail(chunk, out),
            Some(reason) if !reason.is_empty() && self.reason.is_none() => self.finish(reason, out),
            Some(_) | None => {}
        }
        Ok(())
    }

    fn fail(&mut self, value: &Value, out: &mut VecDeque<ModelEvent>) -> Result<(), String> {
        self.over = true;
        out.push_back(ModelEvent::Fault(Refusal::from_json(value).into_fault(&self.endpoint)));
        Ok(())
    }

    fn delta(&mut self, delta: &Value, out: &mut VecDeque<ModelEvent>) -> Result<(), String> {
        let reasoning = REASONING_FIELDS.iter().find_map(|field| {
            let text = delta.get(*field).and_then(Value::as_str).filter(|text| !text.is_empty())?;
            Some((*field, text))
        });
        if let Some((field, text)) = reasoning {
            self.grow(DeltaKind::Thinking, text, out);
            self.reasoning_field = Some(field);
        }
        self.details.take(delta);
        match delta.get("content") {
            Some(Value::String(text)) => self.content(text, out),
            Some(Value::Array(parts)) => {
                for part in parts {
                    self.content_part(part, out);
                }
            }
            Some(_) | None => {}
        }
        if let Some(text) = delta.get("refusal").and_then(Value::as_str).filter(|text| !text.is_empty()) {
            self.refused = true;
            self.grow(DeltaKind::Text, text, out);
        }
        let calls = delta.get("tool_calls").and_then(Value::as_array);
        // The one call of the first version of this API has a field of its own.
        let old = delta.get("function_call").filter(|call| call.is_object());
        for call in calls.into_iter().flatten().chain(old) {
            self.call(Fragment::read(call), out)?;
        }
        Ok(())
    }

    fn content(&mut self, text: &str, out: &mut VecDeque<ModelEvent>) {
        for (kind, piece) in self.tags.take(text) {
            self.grow(kind, &piece, out);
        }
    }

    /// A part of a content that is a list; Mistral's thinking is one, and a list of its own.
    fn content_part(&mut self, part: &Value, out: &mut VecDeque<ModelEvent>) {
        let text = |part: &Value| part.get("text").and_then(Value::as_str).unwrap_or_default().to_owned();
        match part.get("thinking").and_then(Value::as_array) {
            Some(parts) => self.grow(DeltaKind::Thinking, &parts.iter().map(text).collect::<String>(), out),
            None => self.content(&text(part), out),
        }
    }

    /// No text follows for now: what looked like the beginning of a tag was none.
    fn pause_content(&mut self, out: &mut VecDeque<ModelEvent>) {
        if let Some((kind, held)) = self.tags.finish() {
            self.grow(kind, &held, out);
        }
    }

    /// Adds to the open block of that kind, or opens one.
    fn grow(&mut self, kind: DeltaKind, text: &str, out: &mut VecDeque<ModelEvent>) {
        if text.is_empty() {
            return;
        }
        if self.open.as_ref().is_some_and(|open| open.kind != kind) {
            self.close(out);
        }
        let open = self.open.get_or_insert_with(|| {
            let index = self.next_block;
            self.next_block = index.saturating_add(1);
            let block = if kind == DeltaKind::Thinking { BlockKind::Thinking } else { BlockKind::Text };
            out.push_back(ModelEvent::BlockStarted { index, kind: block });
            Open { index, kind, text: String::new() }
        });
        open.text.push_str(text);
        out.push_back(ModelEvent::Delta { index: open.index, kind, text: text.to_owned() });
    }

    fn close(&mut self, out: &mut VecDeque<ModelEvent>) {
        let Some(Open { index, kind, text }) = self.open.take() else { return };
        let block = match kind {
            // Servers that want their reasoning back want it in the field that it came in.
            DeltaKind::Thinking => {
                let signature = self.reasoning_field.take().map(str::to_owned);
                MessageBlock::Thinking { thinking: text, signature }
            }
            DeltaKind::Text | DeltaKind::ToolInput => MessageBlock::Text { text },
        };
        out.push_back(ModelEvent::BlockDone { index, block });
    }

    fn call(&mut self, fragment: Fragment, out: &mut VecDeque<ModelEvent>) -> Result<(), String> {
        let Taken { started, part, extra, done } = self.calls.take(fragment, self.next_block, &mut self.ids)?;
        if started.is_some() {
            self.pause_content(out);
            self.close(out);
        }
        out.extend(done.into_iter().map(|(index, block)| ModelEvent::BlockDone { index, block }));
        if let Some((index, id, name)) = started {
            self.next_block = index.saturating_add(1);
            out.push_back(ModelEvent::BlockStarted { index, kind: BlockKind::ToolUse { id, name } });
        }
        if let Some((index, text)) = part {
            out.push_back(ModelEvent::Delta { index, kind: DeltaKind::ToolInput, text });
        }
        // With the call, not at the end: the call may run though the stream breaks.
        if let Some(details) = self.details.block() {
            self.keep(details, out);
        }
        if let Some((id, extra)) = extra {
            self.keep(private::extra_block(&id, extra), out);
        }
        Ok(())
    }

    /// Gives out a block that only the server understands.
    fn keep(&mut self, block: MessageBlock, out: &mut VecDeque<ModelEvent>) {
        let index = self.next_block;
        self.next_block = index.saturating_add(1);
        out.push_back(ModelEvent::BlockStarted { index, kind: BlockKind::Other });
        out.push_back(ModelEvent::BlockDone { index, block });
    }

    fn finish(&mut self, reason: &str, out: &mut VecDeque<ModelEvent>) {
        let cut = matches!(reason, "length" | "max_tokens" | "model_length");
        self.finish_with(cut, if cut { "length" } else { reason }, out);
    }

    /// Gives out what is still open; of calls, if `only_whole`, those whose arguments are.
    fn finish_with(&mut self, only_whole: bool, reason: &str, out: &mut VecDeque<ModelEvent>) {
        self.pause_content(out);
        self.close(out);
        if let Some(details) = self.details.block() {
            self.keep(details, out);
        }
        out.extend(
            self.calls.finish(only_whole).into_iter().map(|(index, block)| ModelEvent::BlockDone { index, block }),
        );
        let reason = match reason {
            "length" => "max_tokens",
            "content_filter" | "safety" => "refusal",
            // Some servers say `stop` and send calls, some say `tool_calls` and send none.
            _ if self.calls.any_given_out() => "tool_use",
            _ if self.refused => "refusal",
            _ => "end_turn",
        };
        self.reason = Some(reason.to_owned());
    }

    fn usage(&mut self, usage: Option<&Value>, out: &mut VecDeque<ModelEvent>) {
        let Some(usage) = usage.filter(|usage| usage.is_object()) else { return };
        let number = |path: &str| usage.pointer(path).and_then(Value::as_u64);
        let (Some(prompt), output) = (number("/prompt_tokens"), number("/completion_tokens").unwrap_or(0)) else {
            return;
        };
        // OpenAI's place, Moonshot's, DeepSeek's.
        let read = ["/prompt_tokens_details/cached_tokens", "/cached_tokens", "/prompt_cache_hit_tokens"];
        let cached = read.into_iter().find_map(number).unwrap_or(0).min(prompt);
        let fresh = prompt.saturating_sub(cached);
        let written = number("/prompt_tokens_details/cache_write_tokens").unwrap_or(0).min(fresh);
        let now = Usage {
            input_tokens: fresh.saturating_sub(written),
            output_tokens: output,
            cache_read_tokens: cached,
            cache_write_tokens: written,
            context_tokens: prompt.saturating_add(output),
            context_window: self.endpoint.context_window,
        };
        if now != self.usage {
            self.usage = now;
            cost::report(&self.endpoint, now, out);
        }
    }

    fn stop(&mut self, out: &mut VecDeque<ModelEvent>) -> bool {
        let Some(reason) = self.reason.take() else { return false };
        self.over = true;
        out.push_back(ModelEvent::Stopped { reason });
        true
    }
}

impl Decoder for Decode {
    fn is_ping(&self, _name: &str, data: &str) -> bool {
        // Comments keep these streams alive; they are no events. An event without data is none either.
        data.trim().is_empty()
    }

    fn event(&mut self, name: &str, data: &str, out: &mut VecDeque<ModelEvent>) {
        if self.over {
            return;
        }
        if data.trim() == "[DONE]" {
            // Some gateways drop the reason; only a call that is not whole shows that more was to come.
            if self.reason.is_none() && self.next_block > 0 && self.calls.all_whole() {
                self.finish_with(true, "stop", out);
            }
            return self.end("it ended without an answer", out);
        }
        let taken = match serde_json::from_str::<Value>(data) {
            Ok(error) if name == "error" => self.fail(&error, out),
            Ok(chunk) => self.take(&chunk, out),
            Err(_) => Err("a chunk is not JSON".to_owned()),
        };
        if let Err(why) = taken {
            self.over = true;
            out.push_back(ModelEvent::Fault(fault::malformed(&self.endpoint, &why)));
        }
    }

    fn is_complete(&self) -> bool {
        self.reason.is_some()
    }

    fn end(&mut self, why: &str, out: &mut VecDeque<ModelEvent>) {
        if self.over || self.stop(out) {
            return;
        }
        self.over = true;
        out.push_back(ModelEvent::Fault(fault::truncated(&self.endpoint, why)));
    }
}
