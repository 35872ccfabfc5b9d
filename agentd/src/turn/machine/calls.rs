//! What calls give: their ends, what they change for later calls, failures that stop their siblings.

use super::{Machine, Phase, wording};
use crate::event::ContextChange;
use crate::turn::abort::AbortReason;
use crate::turn::effect::{Effect, ToolOutcome};
use crate::turn::schedule::Stopped;
use proto::content::ContentBlock;
use proto::event::{Event, ToolCause, ToolStatus};
use proto::ids::ToolCallId;

impl Machine {
    pub(super) fn start_tools(&mut self, effects: &mut Vec<Effect>) {
        // What became void may still write: nothing runs beside it.
        if !self.discarded.is_empty() {
            return;
        }
        for (id, tool, input) in self.schedule.start_next() {
            effects.push(Effect::StartTool { id, tool, input });
        }
    }

    pub(super) fn take_outcome(&mut self, id: &ToolCallId, mut outcome: ToolOutcome, effects: &mut Vec<Effect>) {
        if let Some(at) = self.discarded.iter().position(|discarded| discarded == id) {
            self.discarded.swap_remove(at);
            return effects.push(tool_ended(id, self.told(void(outcome))));
        }
        if !self.schedule.complete(id, outcome.context.take()) {
            return;
        }
        let (status, stops_turn) = (outcome.status, outcome.stops_turn);
        if self.hook_stop.is_none() {
            self.hook_stop = outcome.hook_stop.take();
        }
        if let Some(output) = outcome.structured_output.take() {
            self.structured_output = Some(output);
        }
        effects.push(tool_ended(id, self.told(outcome)));
        if self.schedule.cascades(id, status) {
            let stopped = self.schedule.fail(id);
            self.report_stopped(stopped, AbortReason::SiblingError, effects);
        }
        if stops_turn && self.schedule.aborts.abort_call(AbortReason::Rejected) {
            self.abort(AbortReason::Rejected, effects);
        }
        self.apply_changes(effects);
    }

    /// At the end of a serial call or of a parallel batch (row X16).
    fn apply_changes(&mut self, effects: &mut Vec<Effect>) {
        for change in self.schedule.take_changes() {
            let changed = ContextChange::into_fields(change);
            if !changed.is_empty() {
                effects.push(Effect::Append(Event::SessionUpdated { changed }));
            }
        }
    }

    /// Ends the calls that will never start, and tells those that run to stop.
    pub(super) fn report_stopped(&self, stopped: Stopped, reason: AbortReason, effects: &mut Vec<Effect>) {
        let cause = reason.cause();
        for id in stopped.never_started {
            effects.push(tool_ended(&id, self.told(never_started(cause))));
        }
        effects.extend(stopped.running.into_iter().map(|id| Effect::StopTool { id, cause }));
    }

    /// The outcome with the sentence that tells the model why the call was cut.
    fn told(&self, mut outcome: ToolOutcome) -> ToolOutcome {
        if outcome.status == ToolStatus::Cancelled
            && let Some(cause) = outcome.cause
            && let Some(sentence) = self.why_cancelled(cause)
        {
            outcome.content.insert(0, ContentBlock::text(sentence));
        }
        outcome
    }

    fn why_cancelled(&self, cause: ToolCause) -> Option<String> {
        // The wire has no cause of its own for it; the model must not take it for the person's wish.
        let unkept = cause == ToolCause::UserAbort && self.schedule.aborts.turn() == Some(AbortReason::StorageFailed);
        match unkept {
            true => Some(wording::LOG_FAILED.to_owned()),
            false => wording::cancelled(cause, self.schedule.errored()),
        }
    }

    pub(super) fn is_answering(&self) -> bool {
        matches!(self.phase, Phase::Answer(_))
    }
}

/// The end of a call whose message became void, whatever it gave: nobody reads it, but the log says that it ran.
fn void(outcome: ToolOutcome) -> ToolOutcome {
    ToolOutcome {
        status: ToolStatus::Cancelled,
        is_error: true,
        cause: Some(ToolCause::StreamingFallback),
        details: proto::event::ToolEndedDetails { new_messages: Vec::new(), ..outcome.details },
        ..outcome
    }
}

fn never_started(cause: ToolCause) -> ToolOutcome {
    ToolOutcome {
        status: ToolStatus::Cancelled,
        is_error: true,
        content: vec![ContentBlock::text(wording::NEVER_STARTED)],
        summary: "not run".to_owned(),
        cause: Some(cause),
        ..ToolOutcome::default()
    }
}

fn tool_ended(id: &ToolCallId, outcome: ToolOutcome) -> Effect {
    Effect::Append(Event::ToolEnded {
        tool_call_id: id.clone(),
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
