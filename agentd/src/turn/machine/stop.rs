//! What people and agentd itself want stopped. The turn ends once the calls that are stopped, or waited for, have.

use super::{Ending, Machine, wording};
use crate::turn::abort::AbortReason;
use crate::turn::effect::{CancelKind, Effect};
use proto::event::{EndReason, Event, NoticeLevel};

impl Machine {
    /// The first cancel gives the turn its end; a stronger one after an interrupt also stops what that one waits
    /// for. Any other changes nothing.
    pub(super) fn cancel(&mut self, kind: CancelKind, effects: &mut Vec<Effect>) {
        self.abort(kind.reason(), effects);
    }

    pub(super) fn abort(&mut self, reason: AbortReason, effects: &mut Vec<Effect>) {
        let end = match (reason, self.is_answering()) {
            (AbortReason::Restart, _) => EndReason::Interrupted,
            (_, true) => EndReason::AbortedStreaming,
            (_, false) => EndReason::AbortedTools,
        };
        let was_aborted = self.ending.as_ref().is_some_and(|ending| is_abort(ending.reason));
        if !was_aborted {
            self.ending = Some(Ending { reason: end, error: None });
        }
        if self.is_answering() {
            effects.push(Effect::StopModel);
            self.complete_message("aborted", effects);
        }
        let at_once = self.schedule.is_interruptible() || self.schedule.executing().next().is_none();
        let stopped = self.schedule.abort_turn(reason);
        self.report_stopped(stopped, reason, effects);
        if reason == AbortReason::Interrupt && !at_once && !was_aborted {
            let text = wording::WAITS_FOR_CALLS.to_owned();
            effects.push(Effect::Append(Event::Notice { level: NoticeLevel::Info, text }));
        }
    }
}

/// Whether a turn ends so because somebody wanted it to.
#[must_use]
pub fn is_abort(reason: EndReason) -> bool {
    matches!(reason, EndReason::AbortedStreaming | EndReason::AbortedTools | EndReason::Interrupted)
}
