//! Where hooks join in: what they are shown and what they may say. The pipeline asks before and after each call,
//! the actor when a turn is about to end. Runs nothing itself.

use futures::FutureExt as _;
use futures::future::BoxFuture;
use proto::content::ContentBlock;
use proto::ids::{SessionId, ToolCallId, TurnId};
use proto::permission::{DecisionReason, PermissionRequest};
use serde_json::Value;
use std::path::Path;
use tokio_util::sync::CancellationToken;

/// The hooks of a session. What a method does not say changes nothing. A future is dropped once its call is to stop;
/// what a hook has started is stopped by then.
pub trait Hooks: Send + Sync {
    /// Before a call: after validation, before permission (row H01).
    fn before_tool<'a>(&'a self, _call: CallView<'a>) -> BoxFuture<'a, BeforeTool> {
        futures::future::ready(BeforeTool::default()).boxed()
    }

    /// Whether there is a PermissionRequest hook; the others are not asked.
    fn has_permission_request(&self) -> bool {
        false
    }

    /// When a person is about to be asked, or nobody is there who could be (row P13). It is asked beside the person, and
    /// the first answer counts.
    fn permission_request<'a>(
        &'a self,
        _call: CallView<'a>,
        _request: &'a PermissionRequest,
    ) -> BoxFuture<'a, PermissionSaid> {
        futures::future::ready(PermissionSaid::Pass).boxed()
    }

    /// After the classifier of mode `auto` has denied a call: whether the model is told that it may try again. The
    /// denial stands (row P19).
    fn permission_denied<'a>(&'a self, _call: CallView<'a>, _reason: &'a DecisionReason) -> BoxFuture<'a, bool> {
        futures::future::ready(false).boxed()
    }

    /// After a call that ran.
    fn after_tool<'a>(&'a self, _call: CallView<'a>, _result: ResultView<'a>) -> BoxFuture<'a, AfterTool> {
        futures::future::ready(AfterTool::default()).boxed()
    }

    /// Whether there is a Stop hook; the others are not asked.
    fn has_stop(&self) -> bool {
        false
    }

    /// When the model is done and the turn is about to end.
    fn on_stop<'a>(&'a self, _stop: StopView<'a>) -> BoxFuture<'a, StopDecision> {
        futures::future::ready(StopDecision::Pass).boxed()
    }
}

/// No hooks.
#[derive(Debug, Clone, Copy, Default)]
pub struct NoHooks;

impl Hooks for NoHooks {}

/// A call as hooks see it.
#[derive(Clone, Copy)]
pub struct CallView<'a> {
    /// The session.
    pub session_id: &'a SessionId,
    /// The turn.
    pub turn_id: &'a TurnId,
    /// The call.
    pub tool_call_id: &'a ToolCallId,
    /// The tool, by its own name.
    pub tool: &'a str,
    /// The input with what the tool derives from it, such as absolute paths.
    pub input: &'a Value,
    /// Where the session's shell stands.
    pub cwd: &'a Path,
    /// Fires when the call is to stop: a hook's process is to be stopped then too.
    pub cancel: &'a CancellationToken,
}

/// What a call gave, as hooks see it.
#[derive(Debug, Clone, Copy)]
pub struct ResultView<'a> {
    /// The result as data, where the tool gives it.
    pub data: Option<&'a Value>,
    /// What the model would be told.
    pub content: &'a [ContentBlock],
    /// Whether it is an error.
    pub is_error: bool,
}

/// What hooks say before a call.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct BeforeTool {
    /// The input to run with; it is validated like the model's.
    pub updated_input: Option<Value>,
    /// Whether the call may run.
    pub decision: Option<HookDecision>,
    /// What the model is told beside the result.
    pub additional_context: Vec<String>,
    /// Whether the turn ends after this call.
    pub prevent_continuation: bool,
    /// Why it ends.
    pub stop_reason: Option<String>,
    /// Ends the call before it runs, with this text as its result.
    pub stop: Option<String>,
    /// Further content for the model.
    pub messages: Vec<ContentBlock>,
}

/// A hook's opinion on whether a call may run.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum HookDecision {
    /// No question is needed; deny and ask rules and safety checks still hold.
    Allow {
        /// Why.
        reason: String,
    },
    /// A person is asked, in every mode.
    Ask {
        /// Why.
        reason: String,
    },
    /// The call does not run, whatever else is said.
    Deny {
        /// Why.
        reason: String,
    },
}

/// What a hook says to a question for a person.
#[derive(Debug, Clone, PartialEq)]
pub enum PermissionSaid {
    /// It leaves the answer to others.
    Pass,
    /// The call runs. It takes the place of a person's yes; rules that deny hold.
    Allow {
        /// Why.
        reason: String,
        /// The input to run with; it is validated like the model's.
        updated_input: Option<Value>,
    },
    /// The call does not run.
    Deny {
        /// What the model is told.
        reason: String,
        /// Whether the turn ends.
        stops_turn: bool,
    },
}

/// What hooks say after a call.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct AfterTool {
    /// The result, in the place of the tool's own.
    pub data: Option<Value>,
    /// What the model is told beside the result.
    pub additional_context: Vec<String>,
    /// Whether the turn ends after this call.
    pub prevent_continuation: bool,
    /// Why it ends.
    pub stop_reason: Option<String>,
    /// Further content for the model.
    pub messages: Vec<ContentBlock>,
}

/// A turn that is about to end, as hooks see it.
#[derive(Clone, Copy)]
pub struct StopView<'a> {
    /// The session.
    pub session_id: &'a SessionId,
    /// The turn.
    pub turn_id: &'a TurnId,
    /// The model's last text.
    pub text: &'a str,
    /// Whether a hook has made this turn go on before.
    pub again: bool,
    /// Fires when the turn is to stop.
    pub cancel: &'a CancellationToken,
}

/// What hooks say of a turn that is about to end.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum StopDecision {
    /// It ends.
    Pass,
    /// It goes on: the model is told this.
    Block {
        /// What is missing.
        feedback: String,
    },
    /// It ends, and no hook may make it go on.
    Prevent {
        /// Why.
        reason: String,
    },
}
