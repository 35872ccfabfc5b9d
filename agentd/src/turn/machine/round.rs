//! How a turn goes on or ends, once a message is complete and its calls have ended (rows L03–L12). The two
//! enums of the wire, `ContinueReason` and `EndReason`, are the only ways on: one can't stand where the other is
//! wanted, and a turn that is over takes no input.
//!
//! ```
//! use proto::event::{ContinueReason, Event};
//! let event = Event::TurnContinued { turn_id: "t".into(), reason: ContinueReason::NextTurn, message: None };
//! ```
//!
//! ```compile_fail
//! use proto::event::{EndReason, Event};
//! // A turn can't go on for a reason that ends it; all else is as above.
//! let event = Event::TurnContinued { turn_id: "t".into(), reason: EndReason::Completed, message: None };
//! ```

use super::{Ending, Machine, Phase, Stop, turn_error, wording};
use crate::turn::effect::{Effect, StopVerdict};
use proto::event::{ContinueReason, EndReason, Event, TurnError};

/// Answers that may be cut by the output limit in a row (row L09).
const MAX_TRUNCATIONS: u32 = 3;
/// Pauses of the model's server in a row; a server that only pauses gives nothing.
const MAX_PAUSES: u32 = 8;
/// Times in a row that a Stop hook may send the model back; after that the person should look.
const MAX_BLOCKS: u32 = 8;
/// Rounds in which the wanted data may be given without fitting its schema.
const MAX_MISFITS: u32 = 5;
/// Times that a token budget sends the model back.
const MAX_NUDGES: u32 = 10;
/// A goal counts as reached from here on, in percent: the last stretch is not worth another request.
const GOAL_REACHED_PERCENT: u64 = 90;

/// The next step of a turn.
enum Next {
    Continue(ContinueReason, Option<String>),
    AskStopHooks,
    End(EndReason, Option<TurnError>),
}

impl Next {
    fn fail(kind: &str, message: &str) -> Self {
        Self::End(EndReason::ModelError, Some(turn_error(kind, message)))
    }
}

impl Machine {
    /// Goes on once the message is complete and every call has ended.
    pub(super) fn settle(&mut self, effects: &mut Vec<Effect>) {
        let waits = match self.phase {
            Phase::Calls => !self.schedule.is_done() || !self.discarded.is_empty(),
            // An abort doesn't wait for hooks or a compaction; what they say comes too late then.
            Phase::Compaction | Phase::StopHooks => self.ending.is_none(),
            Phase::Answer(_) | Phase::Over => true,
        };
        if waits {
            return;
        }
        let next = match self.ending.take() {
            Some(Ending { reason, error }) => Next::End(reason, error),
            None if self.schedule.is_empty() => self.after_answer(),
            None => self.after_tools(),
        };
        self.go(next, effects);
    }

    fn go(&mut self, next: Next, effects: &mut Vec<Effect>) {
        match next {
            Next::Continue(reason, message) => self.continue_turn(reason, message, effects),
            Next::AskStopHooks => {
                self.phase = Phase::StopHooks;
                effects.push(Effect::RunStopHooks { active: self.tries.blocks > 0 });
            }
            Next::End(reason, error) => self.end(reason, error, effects),
        }
    }

    /// After a round of tools: hook stop, then the wanted data, then the limits (rows L05, L10, L11).
    fn after_tools(&mut self) -> Next {
        if self.hook_stop.is_some() {
            return self.stopped_by_hook();
        }
        if self.structured_output.is_some() {
            return Next::End(EndReason::Completed, None);
        }
        self.tries.misfits += u32::from(self.settings.wants_output && self.gave_output);
        if self.tries.misfits >= MAX_MISFITS {
            let message = "The model gave its answer five times, and it never fitted outputSchema: make the schema simpler, \
                           or choose another model.";
            return Next::fail("structuredOutputMissing", message);
        }
        self.rounds += 1;
        if self.settings.max_rounds.is_some_and(|max| self.rounds >= max) {
            return Next::End(EndReason::MaxTurns, None);
        }
        if self.settings.budget.max.is_some_and(|max| self.usage.output_tokens >= max) {
            return Next::End(EndReason::TokenBudget, None);
        }
        self.tries.pauses = 0;
        self.tries.blocks = 0;
        // The call that was cut has failed by its own input; what cut it is another matter.
        if self.last_stop == Stop::MaxTokens {
            return self.after_truncation();
        }
        self.tries.truncations = 0;
        Next::Continue(if self.steering { ContinueReason::Steered } else { ContinueReason::NextTurn }, None)
    }

    /// After an answer without tools (rows L03, L07, L09, L12).
    fn after_answer(&mut self) -> Next {
        match self.last_stop {
            Stop::Broken => {
                return Next::Continue(ContinueReason::NextTurn, Some(wording::GO_ON_AFTER_BREAK.to_owned()));
            }
            Stop::MaxTokens => return self.after_truncation(),
            Stop::Pause if self.tries.pauses < MAX_PAUSES => {
                self.tries.pauses += 1;
                return Next::Continue(ContinueReason::NextTurn, None);
            }
            Stop::Pause => return Next::fail("paused", "The model's server only pauses: send the prompt again later."),
            Stop::Refusal => {
                let message = "The model refused to answer: say it in another way, or go back with session/rewind.";
                return Next::fail("refusal", message);
            }
            Stop::Done => {}
        }
        self.tries.truncations = 0;
        self.tries.pauses = 0;
        self.when_done()
    }

    /// After an answer that the output limit cut, in its words or in a call: the next one may be longer (row L09).
    fn after_truncation(&mut self) -> Next {
        if self.tries.truncations >= MAX_TRUNCATIONS {
            let message = "The model's answers were cut by its output limit four times in a row: raise maxOutput of \
                           the model in the settings, or ask for less at a time.";
            return Next::fail("maxOutputTokens", message);
        }
        self.tries.truncations += 1;
        Next::Continue(ContinueReason::MaxOutputTokensEscalate, Some(wording::GO_ON_AFTER_LIMIT.to_owned()))
    }

    /// The model is done: what still keeps the turn from completing?
    fn when_done(&mut self) -> Next {
        if self.steering {
            return Next::Continue(ContinueReason::Steered, None);
        }
        if self.settings.wants_output {
            return match self.tries.blocks < MAX_TRUNCATIONS {
                true => self.blocked(wording::OUTPUT_IS_MISSING.to_owned()),
                false => Next::fail(
                    "structuredOutputMissing",
                    "The model did not give its answer in the form of outputSchema: send the prompt again, or choose another model.",
                ),
            };
        }
        if self.settings.stop_hooks && self.tries.blocks < MAX_BLOCKS {
            return Next::AskStopHooks;
        }
        self.check_goal()
    }

    fn blocked(&mut self, feedback: String) -> Next {
        self.tries.blocks += 1;
        Next::Continue(ContinueReason::StopHookBlocking, Some(feedback))
    }

    /// The token budget's goal, the last thing before a turn completes (row L03).
    fn check_goal(&mut self) -> Next {
        let used = self.usage.output_tokens;
        let open = self.settings.budget.goal.filter(|goal| used < goal.saturating_mul(GOAL_REACHED_PERCENT) / 100);
        match open {
            Some(goal) if self.tries.nudges < MAX_NUDGES => {
                self.tries.nudges += 1;
                Next::Continue(ContinueReason::TokenBudgetContinuation, Some(wording::budget_nudge(used, goal)))
            }
            Some(_) | None => Next::End(EndReason::Completed, None),
        }
    }

    pub(super) fn take_stop_verdict(&mut self, verdict: StopVerdict, effects: &mut Vec<Effect>) {
        if self.phase != Phase::StopHooks || self.ending.is_some() {
            return;
        }
        self.phase = Phase::Calls;
        let next = match verdict {
            StopVerdict::Pass if self.steering => Next::Continue(ContinueReason::Steered, None),
            StopVerdict::Pass => self.check_goal(),
            StopVerdict::Block { feedback } => self.blocked(feedback),
            StopVerdict::Prevent { reason } => {
                Next::End(EndReason::StopHookPrevented, Some(turn_error("stopHookPrevented", reason)))
            }
        };
        self.go(next, effects);
    }

    fn stopped_by_hook(&mut self) -> Next {
        let reason = self.hook_stop.take().unwrap_or_default();
        Next::End(EndReason::HookStopped, Some(turn_error("hookStopped", reason)))
    }

    pub(super) fn continue_turn(&mut self, reason: ContinueReason, message: Option<String>, effects: &mut Vec<Effect>) {
        self.steering = false;
        self.gave_output = false;
        self.schedule = self.schedule.next_message();
        self.last_stop = Stop::Done;
        effects.push(Effect::Append(Event::TurnContinued { turn_id: self.settings.id.clone(), reason, message }));
        self.call_model(effects);
    }
}
