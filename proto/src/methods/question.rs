//! `question/*`.

use crate::ids::RequestId;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use serde_json::Value;

/// What a person does with a question (the actions of an MCP elicitation).
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub enum QuestionAction {
    /// Answers it.
    Accept,
    /// Refuses to.
    Decline,
    /// Puts it away.
    Cancel,
}

/// Params of `question/respond`.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub struct QuestionRespondParams {
    /// The request.
    pub request_id: RequestId,
    /// What is done with it.
    pub action: QuestionAction,
    /// The answers.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub answers: Option<Value>,
}
