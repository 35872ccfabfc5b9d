//! What goes wrong with a model call, and what is done about it: again, on with what is whole, another model,
//! a smaller context, or the end. The times are `retry`'s.

use super::{Ending, Machine, Phase, Stop, fault_error, turn_error, wording};
use crate::turn::effect::Effect;
use crate::turn::model_event::{Fault, FaultKind};
use crate::turn::retry;
use proto::event::{ContinueReason, EndReason, Event, NoticeLevel};

/// Attempts at an overloaded model before the fallback takes over.
const ATTEMPTS_BEFORE_FALLBACK: u32 = 2;

/// What is done about a fault.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Remedy {
    /// The same request again after a pause.
    Retry(u64),
    /// What is whole of the answer is kept; its tools run, and the turn goes on after a pause.
    Keep(u64),
    /// The answer is void, and the fallback model is asked.
    FallBack,
    /// The context is made smaller, then the same again.
    Compact,
    /// The turn ends.
    End,
}

impl Machine {
    fn remedy(&mut self, kind: FaultKind) -> Remedy {
        if kind == FaultKind::PromptTooLong {
            return if self.settings.can_compact && !self.tries.compacted { Remedy::Compact } else { Remedy::End };
        }
        let (begun, worth_keeping) =
            self.message().map_or((false, false), |message| (message.has_begun(), message.is_worth_keeping()));
        let overloaded = matches!(kind, FaultKind::Overloaded { .. });
        let patient = !overloaded || (!begun && self.tries.attempts < ATTEMPTS_BEFORE_FALLBACK);
        let pause = retry::pause_ms(kind, self.tries.attempts, self.settings.retries)
            .filter(|pause| self.tries.waited_ms.saturating_add(*pause) <= self.settings.retry_total_ms);
        match pause {
            _ if self.settings.fallback.is_some() && !patient => Remedy::FallBack,
            Some(pause) if worth_keeping => Remedy::Keep(pause),
            Some(pause) => Remedy::Retry(pause),
            None if self.settings.fallback.is_some() && kind.is_passing() => Remedy::FallBack,
            None => Remedy::End,
        }
    }

    pub(super) fn take_fault(&mut self, fault: Fault, effects: &mut Vec<Effect>) {
        if !self.is_answering() {
            return;
        }
        match self.remedy(fault.kind) {
            Remedy::Retry(after_ms) => {
                self.drop_message("retry", effects);
                self.note_attempt(&fault, after_ms, effects);
                self.call_model(effects);
            }
            Remedy::Keep(after_ms) => {
                self.complete_message("error", effects);
                self.last_stop = Stop::Broken;
                self.note_attempt(&fault, after_ms, effects);
            }
            Remedy::FallBack => self.fall_back(fault, effects),
            Remedy::Compact => {
                self.drop_message("reactive_compact_retry", effects);
                self.tries.compacted = true;
                self.phase = Phase::Compaction;
                effects.push(Effect::Compact);
            }
            Remedy::End => {
                self.complete_message("error", effects);
                let reason = match fault.kind {
                    FaultKind::PromptTooLong => EndReason::PromptTooLong,
                    _ => EndReason::ModelError,
                };
                self.ending = Some(Ending { reason, error: Some(fault_error(fault)) });
            }
        }
    }

    fn note_attempt(&mut self, fault: &Fault, after_ms: u64, effects: &mut Vec<Effect>) {
        self.tries.attempts += 1;
        self.tries.waited_ms += after_ms;
        self.pause_ms = after_ms;
        let text = wording::retry_notice(&fault.message, self.tries.attempts);
        effects.push(Effect::Append(Event::Notice { level: NoticeLevel::Warning, text }));
    }

    /// Rows F01–F06: what was streamed is void, with its calls and their results; a fresh schedule, and the
    /// other model. There is one fallback, so this happens once a turn.
    fn fall_back(&mut self, fault: Fault, effects: &mut Vec<Effect>) {
        let Some(fallback) = self.settings.fallback.take() else { return };
        self.drop_message("model_fallback", effects);
        let stopped = self.schedule.discard();
        self.discarded.extend(stopped.running.iter().cloned());
        self.report_stopped(stopped, crate::turn::abort::AbortReason::Fallback, effects);
        self.schedule = self.schedule.next_message();
        self.structured_output = None;
        self.hook_stop = None;
        self.tries.attempts = 0;
        self.tries.waited_ms = 0;
        let from = std::mem::replace(&mut self.settings.model, fallback.clone());
        effects.push(Effect::Append(Event::ModelSwitched { from, to: fallback.clone(), reason: fault.message }));
        effects.push(Effect::SwitchModel { model: fallback });
        // The other model can't go on with an answer that the first one's server only paused.
        let paused = std::mem::take(&mut self.tries.pauses) > 0;
        let message = paused.then(|| wording::GO_ON_FOR_ANOTHER.to_owned());
        self.continue_turn(ContinueReason::ModelFallback, message, effects);
    }

    /// The context was made smaller, or could not be.
    pub(super) fn take_compaction(&mut self, result: Result<(), String>, effects: &mut Vec<Effect>) {
        if self.phase != Phase::Compaction {
            return;
        }
        self.phase = Phase::Calls;
        if self.ending.is_some() {
            return;
        }
        match result {
            Ok(()) => self.continue_turn(ContinueReason::ReactiveCompactRetry, None, effects),
            Err(message) => {
                let error = Some(turn_error(FaultKind::PromptTooLong.word(), message));
                self.ending = Some(Ending { reason: EndReason::PromptTooLong, error });
            }
        }
    }
}
