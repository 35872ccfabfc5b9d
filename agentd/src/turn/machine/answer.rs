//! What the model says: blocks as they stream in, calls queued as soon as they are whole, the message's end.

use super::{Machine, Phase, Stop, ToolTraits};
use crate::event::OUTPUT_TOOL;
use crate::turn::effect::Effect;
use crate::turn::model_event::ModelEvent;
use crate::turn::schedule::NewCall;
use proto::content::MessageBlock;
use proto::event::{Ephemeral, Event, Role};
use proto::ids::{MessageId, ToolCallId};

impl Machine {
    pub(super) fn take_model_event(&mut self, event: ModelEvent, tools: &dyn ToolTraits, effects: &mut Vec<Effect>) {
        let used_before = self.usage;
        // A late event of a stream that was closed.
        let Some(message) = self.message() else { return };
        match event {
            ModelEvent::BlockStarted { index, kind } => message.start_block(index, kind),
            ModelEvent::Delta { index, kind, text } => {
                let offset = message.add(index, kind, &text);
                let (message_id, block) = (message.id.clone(), index as u64);
                effects.push(Effect::Announce(Ephemeral::MessageDelta { message_id, block, kind, offset, text }));
            }
            ModelEvent::BlockDone { index, block } => self.finish_block(index, block, tools, effects),
            ModelEvent::Usage(usage) => {
                message.usage = usage;
                let mut total = used_before;
                total.add(&usage);
                effects.push(Effect::Announce(Ephemeral::UsageUpdated { usage: total }));
            }
            ModelEvent::Cost(cost) => message.cost = Some(cost),
            ModelEvent::Stopped { reason } => self.take_stop(&reason, effects),
            ModelEvent::Fault(fault) => self.take_fault(fault, effects),
        }
    }

    fn take_stop(&mut self, reason: &str, effects: &mut Vec<Effect>) {
        self.tries.attempts = 0;
        self.tries.waited_ms = 0;
        self.last_stop = match reason {
            "max_tokens" | "model_context_window_exceeded" => Stop::MaxTokens,
            "pause_turn" => Stop::Pause,
            "refusal" => Stop::Refusal,
            _ => Stop::Done,
        };
        self.complete_message(reason, effects);
    }

    fn finish_block(&mut self, index: usize, block: MessageBlock, tools: &dyn ToolTraits, effects: &mut Vec<Effect>) {
        let MessageBlock::ToolUse { id, name, input } = block else {
            if let Some(message) = self.message() {
                message.finish_block(index, block);
            }
            return;
        };
        let id = self.unique(id);
        self.gave_output |= name == OUTPUT_TOOL;
        let traits = tools.traits(&name, &input);
        effects.push(Effect::Append(Event::ToolQueued {
            tool_call_id: id.clone(),
            turn_id: self.settings.id.clone(),
            tool: name.clone(),
            input: input.clone(),
            title: traits.title.clone(),
            kind: traits.kind,
            read_only: traits.read_only,
            concurrency_safe: traits.concurrency_safe,
        }));
        self.schedule.push(NewCall::new(id.clone(), name.clone(), input.clone(), traits));
        if let Some(message) = self.message() {
            message.finish_block(index, MessageBlock::ToolUse { id: id.0, name, input });
        }
        // A call of a message in which another one has failed already is over before it starts.
        if let Some(reason) = self.schedule.aborts.siblings() {
            let stopped = self.schedule.stop(reason);
            self.report_stopped(stopped, reason, effects);
        }
    }

    /// Some servers number the calls of each answer anew or leave the id out; results are matched by it.
    fn unique(&mut self, id: String) -> ToolCallId {
        let mut unique = ToolCallId(id);
        while unique.0.is_empty() || !self.seen.insert(unique.clone()) {
            unique = ToolCallId(format!("{}.call_{}", self.settings.id, self.seen.len() + 1));
        }
        unique
    }

    /// Ends the message under way with what there is of it.
    pub(super) fn complete_message(&mut self, stop_reason: &str, effects: &mut Vec<Effect>) {
        let Phase::Answer(message) = std::mem::replace(&mut self.phase, Phase::Calls) else { return };
        let (message_id, usage, cost, begun) = (message.id.clone(), message.usage, message.cost, message.has_begun());
        let content = message.into_blocks();
        self.usage.add(&usage);
        let cut = matches!(stop_reason, "aborted" | "error");
        if content.is_empty() && cut {
            if begun {
                effects.push(tombstone(message_id, stop_reason));
            }
            return;
        }
        effects.push(Effect::Append(Event::MessageCompleted {
            message_id,
            turn_id: self.settings.id.clone(),
            role: Role::Assistant,
            content,
            model: self.settings.model.clone(),
            stop_reason: stop_reason.to_owned(),
            usage,
            cost,
        }));
    }

    /// Voids the message under way.
    pub(super) fn drop_message(&mut self, why: &str, effects: &mut Vec<Effect>) {
        let Phase::Answer(message) = std::mem::replace(&mut self.phase, Phase::Calls) else { return };
        self.usage.add(&message.usage);
        if message.has_begun() {
            effects.push(tombstone(message.id, why));
        }
    }
}

fn tombstone(message_id: MessageId, reason: &str) -> Effect {
    Effect::Append(Event::MessageTombstoned { message_id, reason: reason.to_owned() })
}
