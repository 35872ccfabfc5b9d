//! The turn machine: from a prompt to the end of the agent's work on it, as a value. Each input gives
//! the list of what is to be done. It never waits, and never does anything itself.
//!
//! `answer` takes what the model says, `faults` what goes wrong with it, `calls` what tools give, `stop` what
//! people want stopped; `round` decides how a turn goes on or ends.

mod answer;
mod calls;
mod faults;
mod round;
mod stop;
mod wording;

pub use stop::is_abort;
pub use wording::NEVER_STARTED;

use super::effect::{CallTraits, Effect, Input};
use super::message::PartialMessage;
use super::model_event::Fault;
use super::schedule::{Cascade, NewCall, Schedule};
use crate::event::state::OpenTurn;
use proto::event::{EndReason, TokenBudget, TurnError};
use proto::ids::{MessageId, ToolCallId, TurnId};
use proto::session::Usage;
use serde_json::Value;
use std::collections::HashSet;

#[cfg(test)]
pub(super) use wording::retry_notice;

/// What the machine asks about a call before it is queued.
pub trait ToolTraits {
    /// The traits of a call; of an unknown tool or a broken input too, failing closed (row X01).
    fn traits(&self, tool: &str, input: &Value) -> CallTraits;
}

/// What holds for a whole turn.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct TurnSettings {
    /// The turn.
    pub id: TurnId,
    /// The model, as `provider/model`.
    pub model: String,
    /// The model that takes over when that one is overloaded.
    pub fallback: Option<String>,
    /// How many tool rounds it may take; no limit if absent.
    pub max_rounds: Option<u64>,
    /// How many calls may run at once.
    pub max_concurrency: usize,
    /// Which failures stop parallel calls.
    pub cascade: Cascade,
    /// How often a model call is tried again.
    pub retries: u32,
    /// How long the pauses before further attempts may be together, until an answer is whole, in milliseconds.
    pub retry_total_ms: u64,
    /// How much the model is to write.
    pub budget: TokenBudget,
    /// Whether the answer is to be data: the turn ends once a call has given it.
    pub wants_output: bool,
    /// Whether there are Stop hooks to run before the turn completes.
    pub stop_hooks: bool,
    /// Whether the context can be compacted when the prompt is too long.
    pub can_compact: bool,
}

impl TurnSettings {
    /// With this model to fall back to.
    #[must_use]
    pub fn or_else(self, fallback: Option<String>) -> Self {
        Self { fallback, ..self }
    }

    /// A turn of that model without limits, retries and further parts.
    #[must_use]
    pub fn new(id: TurnId, model: String) -> Self {
        Self {
            id,
            model,
            fallback: None,
            max_rounds: None,
            max_concurrency: 1,
            cascade: Cascade::default(),
            retries: 0,
            retry_total_ms: u64::MAX,
            budget: TokenBudget::default(),
            wants_output: false,
            stop_hooks: false,
            can_compact: false,
        }
    }
}

/// What the turn is doing.
#[derive(Debug, Clone, PartialEq)]
#[allow(clippy::large_enum_variant)] // one lives per turn
enum Phase {
    /// The model is being asked, or speaks.
    Answer(PartialMessage),
    /// The message is complete; calls may still run.
    Calls,
    /// The context is being compacted.
    Compaction,
    /// Stop hooks run.
    StopHooks,
    /// The turn is over.
    Over,
}

/// How the last answer ended, as far as the turn's next step depends on it.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
enum Stop {
    /// The model was done, or wants its tools run.
    #[default]
    Done,
    /// The answer was cut by its limit.
    MaxTokens,
    /// The model's server paused; the same request goes on.
    Pause,
    /// The model refuses.
    Refusal,
    /// The stream broke after whole blocks, which are kept.
    Broken,
}

/// Why the turn is to end as soon as no call runs.
#[derive(Debug, Clone, PartialEq)]
struct Ending {
    reason: EndReason,
    error: Option<TurnError>,
}

/// How often what was tried in this turn.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
struct Tries {
    /// Model calls since the last good answer.
    attempts: u32,
    /// Pauses so far, in milliseconds.
    waited_ms: u64,
    /// Answers in a row that were cut by the output limit.
    truncations: u32,
    /// Answers in a row that were paused.
    pauses: u32,
    /// Times that a Stop hook, or the lack of the wanted data, sent the model back in a row.
    blocks: u32,
    /// Rounds in which the wanted data was given and did not fit.
    misfits: u32,
    /// Times that the token budget sent the model back.
    nudges: u32,
    /// Whether the context was compacted.
    compacted: bool,
}

/// One turn.
#[derive(Debug, Clone, PartialEq)]
pub struct Machine {
    settings: TurnSettings,
    phase: Phase,
    rounds: u64,
    messages: u64,
    tries: Tries,
    last_stop: Stop,
    schedule: Schedule,
    /// Running calls of answers that became void: awaited, and then forgotten (row F03).
    discarded: Vec<ToolCallId>,
    seen: HashSet<ToolCallId>,
    usage: Usage,
    /// Whether the person added something that joins at the next step.
    steering: bool,
    /// A pause before the next model call, in milliseconds.
    pause_ms: u64,
    hook_stop: Option<String>,
    structured_output: Option<Value>,
    /// Whether the wanted data was given in the round under way.
    gave_output: bool,
    ending: Option<Ending>,
}

impl Machine {
    /// A turn that begins with a model call.
    #[must_use]
    pub fn new(settings: TurnSettings) -> Self {
        let schedule = Schedule::new(settings.max_concurrency, settings.cascade);
        Self {
            settings,
            phase: Phase::Calls,
            rounds: 0,
            messages: 0,
            tries: Tries::default(),
            last_stop: Stop::Done,
            schedule,
            discarded: Vec::new(),
            seen: HashSet::new(),
            usage: Usage::default(),
            steering: false,
            pause_ms: 0,
            hook_stop: None,
            structured_output: None,
            gave_output: false,
            ending: None,
        }
    }

    /// A turn of which a restart left only calls that have not started: it begins with them. `last_seq` is
    /// the number of the log's last event.
    #[must_use]
    pub fn revive(settings: TurnSettings, turn: OpenTurn, tools: &dyn ToolTraits, last_seq: u64) -> Self {
        // A number beyond the log's events is beyond that of any message in it.
        let mut machine = Self {
            rounds: turn.rounds,
            messages: last_seq,
            usage: turn.usage,
            steering: !turn.steering.is_empty(),
            ..Self::new(settings)
        };
        for call in turn.calls {
            machine.seen.insert(call.id.clone());
            let traits = tools.traits(&call.tool, &call.input);
            // What the log says of it was told to clients.
            let traits = CallTraits { concurrency_safe: call.concurrency_safe, ..traits };
            machine.schedule.push(NewCall::new(call.id, call.tool, call.input, traits));
        }
        machine
    }

    /// The turn.
    #[must_use]
    pub fn turn_id(&self) -> &TurnId {
        &self.settings.id
    }

    /// Whether a further prompt can still join: the turn is not about to end.
    #[must_use]
    pub fn can_be_steered(&self) -> bool {
        self.ending.is_none() && self.hook_stop.is_none() && self.phase != Phase::Over
    }

    /// Takes one input. After `Effect::End` nothing comes any more.
    pub fn step(&mut self, input: Input, tools: &dyn ToolTraits) -> Vec<Effect> {
        let mut effects = Vec::new();
        if self.phase == Phase::Over {
            return effects;
        }
        match input {
            Input::Begin if self.schedule.is_empty() => self.call_model(&mut effects),
            Input::Begin => {}
            Input::Model(event) => self.take_model_event(event, tools, &mut effects),
            Input::ToolStarted { id } => self.schedule.note_start(&id),
            Input::ToolEnded { id, outcome } => self.take_outcome(&id, *outcome, &mut effects),
            Input::Cancel(kind) => self.cancel(kind, &mut effects),
            Input::Steered => self.steering = true,
            Input::Compacted(result) => self.take_compaction(result, &mut effects),
            Input::StopHooksRan(verdict) => self.take_stop_verdict(verdict, &mut effects),
        }
        self.start_tools(&mut effects);
        self.settle(&mut effects);
        effects
    }

    fn call_model(&mut self, effects: &mut Vec<Effect>) {
        self.messages += 1;
        self.phase = Phase::Answer(PartialMessage::new(MessageId(format!("{}.{}", self.settings.id, self.messages))));
        let after_ms = std::mem::take(&mut self.pause_ms);
        effects.push(Effect::CallModel { after_ms, escalation: self.tries.truncations });
    }

    fn message(&mut self) -> Option<&mut PartialMessage> {
        match &mut self.phase {
            Phase::Answer(message) => Some(message),
            Phase::Calls | Phase::Compaction | Phase::StopHooks | Phase::Over => None,
        }
    }

    fn end(&mut self, reason: EndReason, error: Option<TurnError>, effects: &mut Vec<Effect>) {
        self.phase = Phase::Over;
        effects.push(Effect::End { reason, error, structured_output: self.structured_output.take() });
    }
}

/// The error of a turn's end.
fn turn_error(kind: &str, message: impl Into<String>) -> TurnError {
    TurnError { kind: kind.to_owned(), message: message.into() }
}

/// The error of a turn that a fault ended.
fn fault_error(fault: Fault) -> TurnError {
    turn_error(fault.kind.word(), fault.message)
}
