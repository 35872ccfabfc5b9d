//! What an editor tells: `overlay/*`, `context/update`, `path/complete`.

use crate::ids::SessionId;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use serde_json::Value;

/// Params of `overlay/set`.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub struct OverlaySetParams {
    /// The session.
    pub session_id: SessionId,
    /// The file, absolute.
    pub path: String,
    /// The buffer's text.
    pub text: String,
    /// The buffer's version; an older one than before is ignored.
    pub version: u64,
}

/// Params of `overlay/clear`.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub struct OverlayClearParams {
    /// The session.
    pub session_id: SessionId,
    /// The file, absolute.
    pub path: String,
}

/// Params of `context/update`.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub struct ContextUpdateParams {
    /// The session.
    pub session_id: SessionId,
    /// What is selected.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub selection: Option<Value>,
    /// The files that are open.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub open_files: Option<Vec<String>>,
    /// What compilers and linters say.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub diagnostics: Option<Value>,
}

/// Params of `path/complete`.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub struct PathCompleteParams {
    /// The session.
    pub session_id: SessionId,
    /// What was typed.
    pub prefix: String,
    /// How many at most.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub limit: Option<u64>,
}

/// Result of `path/complete`.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct PathCompleteResult {
    /// The paths, best first.
    pub items: Vec<PathItem>,
}

/// A path that fits what was typed.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct PathItem {
    /// The path, relative to the session's folder.
    pub path: String,
    /// `file` or `directory`.
    pub kind: String,
    /// How well it fits; higher is better.
    pub score: u64,
}
