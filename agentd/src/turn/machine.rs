//! The turn machine: from a prompt to the end of the agent's work on it, as a value. Each input gives
//! the list of what is to be done. It never waits, and never does anything itself.

use super::effect::{CallTraits, CancelKind, Effect, Input, ToolOutcome};
use super::message::PartialMessage;
use super::model_event::{Fault, FaultKind, ModelEvent};
use super::retry;
use super::schedule::Schedule;
use crate::event::state::OpenTurn;
use proto::content::{ContentBlock, MessageBlock};
use proto::event::{
    ContinueReason, EndReason, Ephemeral, Event, NoticeLevel, Role, ToolCause, ToolEndedDetails, ToolStatus, TurnError,
};
use proto::ids::{MessageId, ToolCallId, TurnId};
use proto::session::Usage;
use serde_json::Value;
use std::collections::HashSet;

/// What the machine asks about a call before it is queued.
pub trait ToolTraits {
    /// The traits of a call; of an unknown tool or a broken input too, failing closed (seed row X01).
    fn traits(&self, tool: &str, input: &Value) -> CallTraits;
}

/// What holds for a whole turn.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct TurnSettings {
    /// The turn.
    pub id: TurnId,
    /// The model, as `provider/model`.
    pub model: String,
    /// How many tool rounds it may take; no limit if absent.
    pub max_rounds: Option<u64>,
    /// How many calls may run at once.
    pub max_concurrency: usize,
    /// How often a model call is tried again.
    pub retries: u32,
}

/// Why the turn is to end as soon as no call runs.
#[derive(Debug, Clone, PartialEq)]
struct Ending {
    reason: EndReason,
    error: Option<TurnError>,
}

/// One turn.
#[derive(Debug, Clone, PartialEq)]
pub struct Machine {
    settings: TurnSettings,
    rounds: u64,
    messages: u64,
    attempts: u32,
    /// The message under way; `None` while the model is not asked.
    message: Option<PartialMessage>,
    schedule: Schedule,
    seen: HashSet<ToolCallId>,
    usage: Usage,
    ending: Option<Ending>,
    ended: bool,
}

impl Machine {
    /// A turn that begins with a model call.
    #[must_use]
    pub fn new(settings: TurnSettings) -> Self {
        let schedule = Schedule::new(settings.max_concurrency);
        Self {
            settings,
            rounds: 0,
            messages: 0,
            attempts: 0,
            message: None,
            schedule,
            seen: HashSet::new(),
            usage: Usage::default(),
            ending: None,
            ended: false,
        }
    }

    /// A turn of which a restart left only calls that have not started: it begins with them. `last_seq` is
    /// the number of the log's last event.
    #[must_use]
    pub fn revive(settings: TurnSettings, turn: OpenTurn, last_seq: u64) -> Self {
        // A number beyond the log's events is beyond that of any message in it.
        let mut machine = Self { rounds: turn.rounds, messages: last_seq, usage: turn.usage, ..Self::new(settings) };
        for call in turn.calls {
            machine.seen.insert(call.id.clone());
            machine.schedule.push(call.id, call.concurrency_safe, call.tool, call.input);
        }
        machine
    }

    /// The turn.
    #[must_use]
    pub fn turn_id(&self) -> &TurnId {
        &self.settings.id
    }

    /// Takes one input. After `Effect::End` nothing comes any more.
    pub fn step(&mut self, input: Input, tools: &dyn ToolTraits) -> Vec<Effect> {
        let mut effects = Vec::new();
        if self.ended {
            return effects;
        }
        match input {
            Input::Begin if self.schedule.is_empty() => self.call_model(0, &mut effects),
            Input::Begin => {}
            Input::Model(event) => self.take_model_event(event, tools, &mut effects),
            Input::ToolEnded { id, outcome } => self.take_outcome(id, outcome, &mut effects),
            Input::Cancel(kind) => self.cancel(kind, &mut effects),
        }
        self.start_tools(&mut effects);
        self.settle(&mut effects);
        effects
    }

    fn call_model(&mut self, after_ms: u64, effects: &mut Vec<Effect>) {
        self.messages += 1;
        self.message = Some(PartialMessage::new(MessageId(format!("{}.{}", self.settings.id, self.messages))));
        effects.push(Effect::CallModel { after_ms });
    }

    fn take_model_event(&mut self, event: ModelEvent, tools: &dyn ToolTraits, effects: &mut Vec<Effect>) {
        // A late event of a stream that was closed.
        let Some(message) = &mut self.message else { return };
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
                let mut total = self.usage;
                total.add(&usage);
                effects.push(Effect::Announce(Ephemeral::UsageUpdated { usage: total }));
            }
            ModelEvent::Cost(cost) => message.cost = Some(cost),
            ModelEvent::Stopped { reason } => {
                self.attempts = 0;
                self.complete_message(&reason, effects);
            }
            ModelEvent::Fault(fault) => self.take_fault(fault, effects),
        }
    }

    fn finish_block(&mut self, index: usize, block: MessageBlock, tools: &dyn ToolTraits, effects: &mut Vec<Effect>) {
        let MessageBlock::ToolUse { id, name, input } = block else {
            if let Some(message) = &mut self.message {
                message.finish_block(index, block);
            }
            return;
        };
        let id = self.unique(id);
        let traits = tools.traits(&name, &input);
        effects.push(Effect::Append(Event::ToolQueued {
            tool_call_id: id.clone(),
            turn_id: self.settings.id.clone(),
            tool: name.clone(),
            input: input.clone(),
            title: traits.title,
            kind: traits.kind,
            read_only: traits.read_only,
            concurrency_safe: traits.concurrency_safe,
        }));
        self.schedule.push(id.clone(), traits.concurrency_safe, name.clone(), input.clone());
        if let Some(message) = &mut self.message {
            message.finish_block(index, MessageBlock::ToolUse { id: id.0, name, input });
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
    fn complete_message(&mut self, stop_reason: &str, effects: &mut Vec<Effect>) {
        let Some(message) = self.message.take() else { return };
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

    fn take_fault(&mut self, fault: Fault, effects: &mut Vec<Effect>) {
        let Some(message) = &self.message else { return };
        let pause = match message.has_whole_block() {
            true => None,
            false => retry::pause_ms(fault.kind, self.attempts, self.settings.retries),
        };
        let Some(after_ms) = pause else {
            self.complete_message("error", effects);
            let reason = match fault.kind {
                FaultKind::PromptTooLong => EndReason::PromptTooLong,
                _ => EndReason::ModelError,
            };
            let error = TurnError { kind: fault.kind.word().to_owned(), message: fault.message };
            self.ending = Some(Ending { reason, error: Some(error) });
            return;
        };
        if message.has_begun() {
            effects.push(tombstone(message.id.clone(), "retry"));
        }
        self.attempts += 1;
        let text = retry_notice(&fault.message, self.attempts);
        effects.push(Effect::Append(Event::Notice { level: NoticeLevel::Warning, text }));
        self.call_model(after_ms, effects);
    }

    fn take_outcome(&mut self, id: ToolCallId, outcome: ToolOutcome, effects: &mut Vec<Effect>) {
        if !self.schedule.complete(&id) {
            return;
        }
        let stops_turn = outcome.stops_turn;
        effects.push(tool_ended(id, outcome));
        if stops_turn && self.ending.is_none() {
            self.stop(EndReason::AbortedTools, ToolCause::UserAbort, effects);
        }
    }

    fn cancel(&mut self, kind: CancelKind, effects: &mut Vec<Effect>) {
        let reason = match (kind, &self.message) {
            (CancelKind::Restart, _) => EndReason::Interrupted,
            (_, Some(_)) => EndReason::AbortedStreaming,
            (_, None) => EndReason::AbortedTools,
        };
        self.stop(reason, kind.cause(), effects);
    }

    /// Stops all that goes on. The turn ends once the running calls have. A second stop changes nothing.
    fn stop(&mut self, reason: EndReason, cause: ToolCause, effects: &mut Vec<Effect>) {
        let stopping = self
            .ending
            .as_ref()
            .is_some_and(|ending| !matches!(ending.reason, EndReason::ModelError | EndReason::PromptTooLong));
        if stopping {
            return;
        }
        self.ending = Some(Ending { reason, error: None });
        if self.message.is_some() {
            effects.push(Effect::StopModel);
            self.complete_message("aborted", effects);
        }
        let queued: Vec<ToolCallId> = self.schedule.queued().cloned().collect();
        for id in queued {
            self.schedule.complete(&id);
            effects.push(tool_ended(id, never_started(cause)));
        }
        for id in self.schedule.executing() {
            effects.push(Effect::StopTool { id: id.clone(), cause });
        }
    }

    fn start_tools(&mut self, effects: &mut Vec<Effect>) {
        for (id, tool, input) in self.schedule.start_next() {
            effects.push(Effect::StartTool { id, tool, input });
        }
    }

    /// Goes on once the message is complete and every call has ended.
    fn settle(&mut self, effects: &mut Vec<Effect>) {
        if self.message.is_some() || !self.schedule.is_done() {
            return;
        }
        if let Some(Ending { reason, error }) = self.ending.take() {
            return self.end(reason, error, effects);
        }
        if self.schedule.is_empty() {
            return self.end(EndReason::Completed, None, effects);
        }
        self.rounds += 1;
        if self.settings.max_rounds.is_some_and(|max| self.rounds >= max) {
            return self.end(EndReason::MaxTurns, None, effects);
        }
        self.schedule = Schedule::new(self.settings.max_concurrency);
        effects.push(Effect::Append(Event::TurnContinued {
            turn_id: self.settings.id.clone(),
            reason: ContinueReason::NextTurn,
            message: None,
        }));
        self.call_model(0, effects);
    }

    fn end(&mut self, reason: EndReason, error: Option<TurnError>, effects: &mut Vec<Effect>) {
        self.ended = true;
        effects.push(Effect::End { reason, error, structured_output: None });
    }
}

fn tombstone(message_id: MessageId, reason: &str) -> Effect {
    Effect::Append(Event::MessageTombstoned { message_id, reason: reason.to_owned() })
}

fn never_started(cause: ToolCause) -> ToolOutcome {
    let text = match cause {
        ToolCause::UserInterrupted => "Not run: the person sent a new prompt before this call started.",
        ToolCause::Restart => "Not run: agentd stopped before this call started.",
        _ => "Not run: the turn was stopped before this call started.",
    };
    ToolOutcome {
        status: ToolStatus::Cancelled,
        is_error: true,
        content: vec![ContentBlock::text(text)],
        summary: "not run".to_owned(),
        persisted_path: None,
        duration_ms: 0,
        cause: Some(cause),
        stops_turn: false,
        hook_stop: None,
        context: None,
        structured_output: None,
        details: ToolEndedDetails::default(),
    }
}

fn tool_ended(tool_call_id: ToolCallId, outcome: ToolOutcome) -> Effect {
    Effect::Append(Event::ToolEnded {
        tool_call_id,
        status: outcome.status,
        is_error: outcome.is_error,
        content: outcome.content,
        summary: outcome.summary,
        persisted_path: outcome.persisted_path,
        duration_ms: outcome.duration_ms,
        cause: outcome.cause,
        details: outcome.details,
    })
}

/// What people are told of a model call that is made again.
pub(super) fn retry_notice(why: &str, attempt: u32) -> String {
    let why = why.trim_end();
    let stop = if why.ends_with(['.', '?', '!']) { "" } else { "." };
    format!("{why}{stop} Trying again (retry {attempt}).")
}
