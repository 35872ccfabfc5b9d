//! What goes into the turn machine and what comes out of it.

use super::abort::AbortReason;
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
    /// A tool call has its permission and runs now.
    ToolStarted {
        /// The call.
        id: ToolCallId,
    },
    /// A tool call ended, whether it ran or not.
    ToolEnded {
        /// The call.
        id: ToolCallId,
        /// How.
        outcome: Box<ToolOutcome>,
    },
    /// The turn is to stop.
    Cancel(CancelKind),
    /// A further prompt is in the log, to join the turn after the calls that run now.
    Steered,
    /// The context was made smaller, or why it could not be.
    Compacted(Result<(), String>),
    /// What the Stop hooks say.
    StopHooksRan(StopVerdict),
}

/// What the Stop hooks say to the end of a turn.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum StopVerdict {
    /// It may end.
    Pass,
    /// The model is to go on.
    Block {
        /// What the model is told.
        feedback: String,
    },
    /// It ends, and not as completed.
    Prevent {
        /// One sentence for people.
        reason: String,
    },
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
    /// The reason in the tree of aborts.
    #[must_use]
    pub fn reason(self) -> AbortReason {
        match self {
            Self::UserAbort => AbortReason::UserAbort,
            Self::UserInterrupted => AbortReason::Interrupt,
            Self::Restart => AbortReason::Restart,
            Self::StorageFailed => AbortReason::StorageFailed,
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
    /// Whether a new prompt that interrupts lets it run to its end (row I07).
    pub blocks_interrupt: bool,
    /// Whether it runs a command, whose failure may stop its siblings (row C14).
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
    /// Whether a hook ends the turn, and why (row L11).
    pub hook_stop: Option<String>,
    /// What it changes for later calls.
    pub context: Option<ContextChange>,
    /// The answer as data, where the turn has a schema for it.
    pub structured_output: Option<Value>,
    /// What most calls have nothing of.
    pub details: ToolEndedDetails,
}

impl Default for ToolOutcome {
    fn default() -> Self {
        Self {
            status: ToolStatus::Completed,
            is_error: false,
            content: Vec::new(),
            summary: String::new(),
            persisted_path: None,
            duration_ms: 0,
            cause: None,
            stops_turn: false,
            hook_stop: None,
            context: None,
            structured_output: None,
            details: ToolEndedDetails::default(),
        }
    }
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
        /// How often in a row the output limit cut an answer.
        escalation: u32,
    },
    /// From now on ask this model.
    SwitchModel {
        /// As `provider/model`.
        model: String,
    },
    /// Make the context smaller; answered with `Input::Compacted`.
    Compact,
    /// Run the Stop hooks; answered with `Input::StopHooksRan`.
    RunStopHooks {
        /// Whether one has sent the model back already.
        active: bool,
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
