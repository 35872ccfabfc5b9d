//! What goes into the turn machine and what comes out of it.

use super::model_event::ModelEvent;
use crate::event::ContextChange;
use proto::content::ContentBlock;
use proto::event::{EndReason, Ephemeral, Event, ToolCause, ToolEndedDetails, ToolKind, ToolStatus, TurnError};
use proto::ids::ToolCallId;
use serde_json::Value;

/// What happened.
#[derive(Debug, Clone, PartialEq)]
pub enum Input {
    /// The turn begins, or goes on after a restart.
    Begin,
    /// The model said something.
    Model(ModelEvent),
    /// A tool call ended, whether it ran or not.
    ToolEnded {
        /// The call.
        id: ToolCallId,
        /// How.
        outcome: ToolOutcome,
    },
    /// The turn is to stop.
    Cancel(CancelKind),
}

/// Why a turn is to stop.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum CancelKind {
    /// A person wants it.
    UserAbort,
    /// A person sent another prompt in its place.
    UserInterrupted,
    /// agentd is about to stop.
    Restart,
    /// The session's log can't be written.
    StorageFailed,
}

impl CancelKind {
    /// The cause that a tool call's end names.
    #[must_use]
    pub fn cause(self) -> ToolCause {
        match self {
            Self::UserAbort | Self::StorageFailed => ToolCause::UserAbort,
            Self::UserInterrupted => ToolCause::UserInterrupted,
            Self::Restart => ToolCause::Restart,
        }
    }
}

/// What the machine needs to know of a tool call before it runs.
#[derive(Debug, Clone, PartialEq)]
pub struct CallTraits {
    /// One line for people.
    pub title: String,
    /// What the tool does.
    pub kind: ToolKind,
    /// Whether this call only reads.
    pub read_only: bool,
    /// Whether this call may run beside others.
    pub concurrency_safe: bool,
    /// Whether a new prompt that interrupts lets it run to its end (seed row I07).
    pub blocks_interrupt: bool,
    /// Whether it runs a command, whose failure may stop its siblings (seed row C14).
    pub runs_command: bool,
}

/// How a tool call ended.
#[derive(Debug, Clone, PartialEq)]
pub struct ToolOutcome {
    /// How.
    pub status: ToolStatus,
    /// Whether the model is told of an error.
    pub is_error: bool,
    /// What the model is told.
    pub content: Vec<ContentBlock>,
    /// One line for people.
    pub summary: String,
    /// The file that holds the whole of a large result.
    pub persisted_path: Option<String>,
    /// How long it ran.
    pub duration_ms: u64,
    /// What cut it short.
    pub cause: Option<ToolCause>,
    /// Whether the turn ends, since a person said no without a word to the model.
    pub stops_turn: bool,
    /// Whether a hook ends the turn, and why (seed row L11).
    pub hook_stop: Option<String>,
    /// What it changes for later calls.
    pub context: Option<ContextChange>,
    /// The answer as data, where the turn has a schema for it.
    pub structured_output: Option<Value>,
    /// What most calls have nothing of.
    pub details: ToolEndedDetails,
}

/// What is to be done, in this order.
#[derive(Debug, Clone, PartialEq)]
#[allow(clippy::large_enum_variant)] // a handful live at a time, and each is used up at once
pub enum Effect {
    /// Append this event, then announce it.
    Append(Event),
    /// Announce this; it is not kept.
    Announce(Ephemeral),
    /// Ask the model with the transcript as it is now, after the given pause.
    CallModel {
        /// Milliseconds to wait, before jitter; 0 for at once.
        after_ms: u64,
    },
    /// Close the model's stream.
    StopModel,
    /// Take the call through the pipeline: validate, permission, run.
    StartTool {
        /// The call.
        id: ToolCallId,
        /// The tool.
        tool: String,
        /// The model's input.
        input: Value,
    },
    /// Stop the call. It still ends with `Input::ToolEnded`.
    StopTool {
        /// The call.
        id: ToolCallId,
        /// Why.
        cause: ToolCause,
    },
    /// The turn is over: append its end. Always the last effect of a turn, exactly once.
    End {
        /// Why.
        reason: EndReason,
        /// What went wrong.
        error: Option<TurnError>,
        /// The answer as data, where the turn has a schema for it.
        structured_output: Option<Value>,
    },
}
