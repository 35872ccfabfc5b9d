//! `turn/*`.

use crate::content::Prompt;
use crate::event::{EndReason, OnAsk, TokenBudget};
use crate::ids::{SessionId, TurnId};
use crate::session::{Cost, Usage};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use serde_json::Value;

/// What becomes of a prompt while a turn runs.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Hash, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub enum WhenBusy {
    /// It waits for the turn to end.
    #[default]
    Queue,
    /// It joins the turn after the tools that run now.
    Steer,
    /// It ends the turn and starts one of its own.
    Interrupt,
    /// It is refused.
    Reject,
}

/// Params of `turn/start`.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub struct TurnStartParams {
    /// The session.
    pub session_id: SessionId,
    /// The prompt.
    pub prompt: Prompt,
    /// What to do while a turn runs; `queue` if absent.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub when_busy: Option<WhenBusy>,
    /// The turn that the client believes to be running; another one is an error.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub expected_turn_id: Option<TurnId>,
    /// A model for this turn only.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub model: Option<String>,
    /// How many tool rounds the turn may take.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub max_turns: Option<u64>,
    /// A JSON Schema that the answer must fit.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub output_schema: Option<Value>,
    /// How much the model is to write.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub token_budget: Option<TokenBudget>,
    /// What becomes of questions to a person while the turn runs; they wait if absent.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub on_ask: Option<OnAsk>,
    /// A prompt with a key that was sent before is not sent again: the same turn is named.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub idempotency_key: Option<String>,
}

/// What became of a prompt.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub enum TurnState {
    /// The turn runs.
    Running,
    /// The turn waits for another one.
    Queued,
    /// The prompt joined a turn.
    Steered,
}

/// Result of `turn/start`.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct TurnStartResult {
    /// The turn.
    pub turn_id: TurnId,
    /// What became of the prompt.
    pub state: TurnState,
}

/// Why a turn is cancelled.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Hash, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum CancelReason {
    /// A person wants it to stop.
    #[default]
    UserAbort,
}

/// Params of `turn/cancel`.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub struct TurnCancelParams {
    /// The session.
    pub session_id: SessionId,
    /// The turn, running or queued; if absent, the running one and all that wait.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub turn_id: Option<TurnId>,
    /// Why.
    #[serde(default)]
    pub reason: CancelReason,
    /// Whether background tasks are stopped too.
    #[serde(default)]
    pub tasks: bool,
}

/// Result of `turn/cancel`.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct TurnCancelResult {
    /// The turns that this call ended.
    pub cancelled: Vec<TurnId>,
    /// Whether there was nothing to cancel.
    pub already_idle: bool,
    /// Processes that outlived the grace period; absent when all are gone.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub still_running: Option<Vec<u32>>,
}

/// Params of `turn/wait`.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub struct TurnWaitParams {
    /// The session.
    pub session_id: SessionId,
    /// The turn.
    pub turn_id: TurnId,
    /// How long to wait; for ever if absent.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub timeout_ms: Option<u64>,
}

/// Result of `turn/wait`.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct TurnWaitResult {
    /// Why the turn ended.
    pub reason: EndReason,
    /// The text of its last message.
    pub text: String,
    /// Its tokens.
    pub usage: Usage,
    /// Its cost, where prices are known.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub cost: Option<Cost>,
    /// The answer as data, where a schema was given.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub structured_output: Option<Value>,
}

/// Result of `turn/resume`.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct TurnResumeResult {
    /// The turn that goes on.
    pub turn_id: TurnId,
}
