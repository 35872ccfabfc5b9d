//! What the model and people are told in words: why a call was cut, how the model is to go on. Texts only.

use proto::event::ToolCause;

/// Of a call that was stopped before it started.
pub const NEVER_STARTED: &str = "Not run: the call was stopped before it started.";
/// Of a call that was stopped since its end could not have been kept.
pub(super) const LOG_FAILED: &str = "Stopped by agentd: the session's log can't be written.";
/// The output limit cut an answer.
pub(super) const GO_ON_AFTER_LIMIT: &str = "Your answer was cut off by the output limit. Go on exactly where it stopped: don't \
     apologize, don't repeat what you have said, and do the rest in smaller pieces.";
/// The connection cut an answer.
pub(super) const GO_ON_AFTER_BREAK: &str =
    "Your answer was cut off by a broken connection. Go on exactly where it stopped.";
/// Another model takes over after an answer that was paused.
pub(super) const GO_ON_FOR_ANOTHER: &str = "The answer above was paused before its end. Go on where it stopped.";
/// The answer is to be data, and none came.
pub(super) const OUTPUT_IS_MISSING: &str =
    "The answer is not complete: call the StructuredOutput tool now, with the whole answer as its input.";

/// What the model is told of a call that was cut, by what cut it: a failed sibling, a person, agentd itself. `errored`
/// is the call that failed. `None` where the tool's own words are all there is to say.
pub(super) fn cancelled(cause: ToolCause, errored: Option<&str>) -> Option<String> {
    match cause {
        ToolCause::SiblingError => Some(match errored {
            Some(call) => format!("Cancelled: parallel tool call {call} errored."),
            None => "Cancelled: a parallel tool call errored.".to_owned(),
        }),
        ToolCause::UserInterrupted => Some("Interrupted by the user: a new prompt came in.".to_owned()),
        ToolCause::UserAbort => Some("Cancelled by the user.".to_owned()),
        ToolCause::StreamingFallback => {
            Some("Void: the answer that asked for this call was given up, and another model took over.".to_owned())
        }
        ToolCause::Restart => Some("Stopped: agentd is shutting down.".to_owned()),
        ToolCause::Timeout => None,
    }
}

/// How a model that was done is told to go on, for a token budget with a goal.
pub(super) fn budget_nudge(used: u64, goal: u64) -> String {
    let percent = used.saturating_mul(100) / goal.max(1);
    format!(
        "You have used {used} of the {goal} output tokens that were set as the goal of this turn ({percent} %). Go on \
         working; don't sum up yet."
    )
}

/// What people are told of a model call that is made again.
pub(in crate::turn) fn retry_notice(why: &str, attempt: u32) -> String {
    let why = why.trim_end();
    let stop = if why.ends_with(['.', '?', '!']) { "" } else { "." };
    format!("{why}{stop} Trying again (retry {attempt}).")
}

/// What people are told while a prompt that interrupts waits for calls that are better not cut.
pub(super) const WAITS_FOR_CALLS: &str = "The new prompt waits for the running call to end, since cutting it could leave things half done; cancel the turn to stop it at once.";
