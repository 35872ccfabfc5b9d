//! `permission/*` and `trust/*`.

use crate::content::ContentBlock;
use crate::ids::{RequestId, SessionId};
use crate::permission::{DecisionReason, PermissionDecision, PermissionRequest, Remember};
use crate::session::Mode;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use serde_json::Value;

/// Result of `permission/list`.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct PermissionListResult {
    /// The open requests, oldest first.
    pub requests: Vec<PermissionRequest>,
}

/// Params of `permission/respond`.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub struct PermissionRespondParams {
    /// The request.
    pub request_id: RequestId,
    /// The answer.
    pub decision: PermissionDecision,
    /// A rule to remember with it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub remember: Option<Remember>,
    /// An input to run in place of the one that was asked about.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub updated_input: Option<Value>,
    /// With a denial: what the model is told.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub message: Option<String>,
    /// With a denial: what goes along with the message, such as pictures.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub content: Vec<ContentBlock>,
    /// With a denial: whether the turn ends; by default it does when no message is given.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub stop: Option<bool>,
}

/// Result of `permission/respond`.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct PermissionRespondResult {
    /// The settings file that the rule was written into, where it was to be remembered beyond the session.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub file: Option<String>,
}

/// Params of `permission/explain`: a session, or a folder and a mode.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub struct PermissionExplainParams {
    /// The session.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub session_id: Option<SessionId>,
    /// The folder, in place of a session.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub cwd: Option<String>,
    /// The mode, in place of the session's.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub mode: Option<Mode>,
    /// The tool.
    pub tool: String,
    /// Its input.
    pub input: Value,
}

/// What permission would say.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub enum Verdict {
    /// It would run.
    Allow,
    /// A person would be asked.
    Ask,
    /// It would not run.
    Deny,
}

/// One layer of the decision.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct TraceStep {
    /// The layer's number, 1 to 13.
    pub layer: u8,
    /// `pass`, `allow`, `ask` or `deny`.
    pub outcome: String,
    /// One sentence.
    pub detail: String,
}

/// Result of `permission/explain`.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct PermissionExplainResult {
    /// What would be decided.
    pub decision: Verdict,
    /// Why.
    pub reason: DecisionReason,
    /// The layers, in the order in which they were asked.
    pub trace: Vec<TraceStep>,
}

/// Params of `trust/get`.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub struct TrustGetParams {
    /// The folder, absolute.
    pub path: String,
}

/// Params of `trust/set`.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub struct TrustSetParams {
    /// The folder, absolute.
    pub path: String,
    /// Whether it is trusted.
    pub trusted: bool,
}

/// Result of `trust/get` and `trust/set`.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct TrustResult {
    /// The folder.
    pub path: String,
    /// Whether it is trusted.
    pub trusted: bool,
    /// The folder above it that makes it so.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub by: Option<String>,
}
