//! The tool scheduler: which call may start now, and which never will. A value; the machine tells it what was
//! queued and what ended. It knows nothing of tools, permissions or time.

use super::abort::{AbortReason, AbortTree};
use super::effect::CallTraits;
use crate::event::ContextChange;
use proto::event::ToolStatus;
use proto::ids::ToolCallId;
use serde_json::Value;

/// Where a call is (row C02). It only moves forward; what follows `Completed`, being given to the model, is the
/// transcript's part.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
enum Stage {
    Queued,
    Executing,
    Completed,
}

/// Which failures stop the other calls of a message (row C14).
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub enum Cascade {
    /// A failed command that may write; one that only reads fails alone.
    #[default]
    Writing,
    /// Any failed command.
    Any,
    /// None.
    Off,
}

/// A call as it is queued.
#[derive(Debug, Clone, PartialEq)]
pub struct NewCall {
    /// Its id.
    pub id: ToolCallId,
    /// Its tool.
    pub tool: String,
    /// The model's input.
    pub input: Value,
    /// One line for people.
    pub title: String,
    /// Whether it only reads.
    pub read_only: bool,
    /// Whether it may run beside others.
    pub concurrency_safe: bool,
    /// Whether a prompt that interrupts waits for it.
    pub blocks_interrupt: bool,
    /// Whether it runs a command.
    pub runs_command: bool,
}

impl NewCall {
    /// A call with what its tool says of it.
    #[must_use]
    pub fn new(id: ToolCallId, tool: String, input: Value, traits: CallTraits) -> Self {
        let CallTraits { title, read_only, concurrency_safe, blocks_interrupt, runs_command, .. } = traits;
        Self { id, tool, input, title, read_only, concurrency_safe, blocks_interrupt, runs_command }
    }
}

#[derive(Debug, Clone, PartialEq)]
struct Call {
    new: NewCall,
    stage: Stage,
    /// Whether it really runs, and does not only wait for hooks and permission.
    started: bool,
    /// Why it was told to stop.
    stopped: Option<AbortReason>,
    /// What it changes for later calls, until that is applied.
    change: Option<ContextChange>,
}

impl Call {
    /// Whether an interrupt waits for it: only what runs can be left half done.
    fn blocks(&self) -> bool {
        self.new.blocks_interrupt && self.started
    }
}

/// The calls of one message, in call order.
#[derive(Debug, Clone, PartialEq)]
pub struct Schedule {
    calls: Vec<Call>,
    cap: usize,
    cascade: Cascade,
    /// The aborts above these calls.
    pub aborts: AbortTree,
    /// The call whose failure stopped the others.
    errored: Option<String>,
}

/// The calls that an abort reaches.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Stopped {
    /// They will never start, and are over.
    pub never_started: Vec<ToolCallId>,
    /// They run, and are to stop.
    pub running: Vec<ToolCallId>,
}

impl Schedule {
    /// An empty schedule that runs at most `cap` calls at once (row C04); at least one.
    #[must_use]
    pub fn new(cap: usize, cascade: Cascade) -> Self {
        Self { calls: Vec::new(), cap: cap.max(1), cascade, aborts: AbortTree::default(), errored: None }
    }

    /// An empty one for the next message of the same turn.
    #[must_use]
    pub fn next_message(&self) -> Self {
        Self { aborts: self.aborts.next_message(), ..Self::new(self.cap, self.cascade) }
    }

    /// Queues a call behind the others.
    pub fn push(&mut self, new: NewCall) {
        self.calls.push(Call { new, stage: Stage::Queued, started: false, stopped: None, change: None });
    }

    /// Marks as executing, and hands out, the calls that may start now. A call may start when nothing
    /// runs, or when it and all that run are concurrency-safe (row C01); never past a waiting
    /// unsafe one (C03), never more than the cap, none after an abort.
    pub fn start_next(&mut self) -> Vec<(ToolCallId, String, Value)> {
        let mut started = Vec::new();
        while let Some(at) = self.calls.iter().position(|call| call.stage == Stage::Queued) {
            let running: Vec<&Call> = self.calls.iter().filter(|call| call.stage == Stage::Executing).collect();
            let all_safe = running.iter().all(|call| call.new.concurrency_safe);
            let count = running.len();
            let Some(call) = self.calls.get_mut(at) else { break };
            let may_start = count == 0 || (count < self.cap && call.new.concurrency_safe && all_safe);
            if !may_start || self.aborts.siblings().is_some() {
                break;
            }
            call.stage = Stage::Executing;
            // The schedule is done with them: an input may be large.
            started.push((call.new.id.clone(), std::mem::take(&mut call.new.tool), call.new.input.take()));
        }
        started
    }

    /// Takes note that a call has its permission and runs.
    pub fn note_start(&mut self, id: &ToolCallId) {
        if let Some(call) = self.calls.iter_mut().find(|call| call.new.id == *id) {
            call.started = true;
        }
    }

    /// Takes note that a call ended, whether it ran or not. False if it is unknown or ended before.
    pub fn complete(&mut self, id: &ToolCallId, change: Option<ContextChange>) -> bool {
        match self.calls.iter_mut().find(|call| call.new.id == *id && call.stage != Stage::Completed) {
            Some(call) => {
                call.stage = Stage::Completed;
                call.change = change;
                true
            }
            None => false,
        }
    }

    /// What the calls of a batch that is over change, in call order (row X16): of a serial call once it has
    /// ended, of parallel ones once all have.
    pub fn take_changes(&mut self) -> Vec<ContextChange> {
        if self.executing().next().is_some() {
            return Vec::new();
        }
        self.calls.iter_mut().filter_map(|call| call.change.take()).collect()
    }

    /// Whether the failure of this call stops the others.
    #[must_use]
    pub fn cascades(&self, id: &ToolCallId, status: ToolStatus) -> bool {
        let Some(call) = self.calls.iter().find(|call| call.new.id == *id) else { return false };
        let counts = match self.cascade {
            Cascade::Writing => call.new.runs_command && !call.new.read_only,
            Cascade::Any => call.new.runs_command,
            Cascade::Off => false,
        };
        counts && status == ToolStatus::Failed && self.aborts.siblings().is_none()
    }

    /// A call failed and stops its siblings; those that are still to come with the message too (row C06).
    pub fn fail(&mut self, id: &ToolCallId) -> Stopped {
        self.errored = self.calls.iter().find(|call| call.new.id == *id).map(|call| call.new.title.clone());
        self.aborts.abort_siblings();
        self.stop(AbortReason::SiblingError)
    }

    /// The call whose failure stopped the others, as people see it.
    #[must_use]
    pub fn errored(&self) -> Option<&str> {
        self.errored.as_deref()
    }

    /// Aborts the turn: what has not started is over, what runs and is not better left alone is to stop.
    pub fn abort_turn(&mut self, reason: AbortReason) -> Stopped {
        self.aborts.abort_turn(reason);
        self.stop(reason)
    }

    /// The calls became void. What runs is to stop; the caller waits for it, and drops what it gives.
    pub fn discard(&mut self) -> Stopped {
        self.aborts.discard();
        let stopped = self.stop(AbortReason::Fallback);
        for call in &mut self.calls {
            call.change = None;
        }
        stopped
    }

    /// The calls that an abort reaches and that were not told before.
    pub fn stop(&mut self, reason: AbortReason) -> Stopped {
        let mut stopped = Stopped::default();
        for call in &mut self.calls {
            match call.stage {
                Stage::Queued => {
                    call.stage = Stage::Completed;
                    stopped.never_started.push(call.new.id.clone());
                }
                Stage::Executing if call.stopped.is_none() && reason.stops_call(call.blocks()) => {
                    call.stopped = Some(reason);
                    stopped.running.push(call.new.id.clone());
                }
                Stage::Executing | Stage::Completed => {}
            }
        }
        stopped
    }

    /// Whether a prompt that interrupts would stop all that runs at once: something runs, and none of it blocks
    /// (row I09).
    #[must_use]
    pub fn is_interruptible(&self) -> bool {
        let mut running = self.calls.iter().filter(|call| call.stage == Stage::Executing).peekable();
        running.peek().is_some() && running.all(|call| !call.blocks())
    }

    /// The calls that have not started.
    pub fn queued(&self) -> impl Iterator<Item = &ToolCallId> {
        self.calls.iter().filter(|call| call.stage == Stage::Queued).map(|call| &call.new.id)
    }

    /// The calls that run.
    pub fn executing(&self) -> impl Iterator<Item = &ToolCallId> {
        self.calls.iter().filter(|call| call.stage == Stage::Executing).map(|call| &call.new.id)
    }

    /// Whether no call was queued.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.calls.is_empty()
    }

    /// Whether every call has ended.
    #[must_use]
    pub fn is_done(&self) -> bool {
        self.calls.iter().all(|call| call.stage == Stage::Completed)
    }
}

#[cfg(test)]
mod tests;
