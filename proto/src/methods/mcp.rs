//! `mcp/*`.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// Result of `mcp/list`.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct McpListResult {
    /// The servers.
    pub servers: Vec<McpServerInfo>,
}

/// An MCP server.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct McpServerInfo {
    /// Its name.
    pub name: String,
    /// `connecting`, `connected`, `failed`, `needsAuthorization` or `disabled`.
    pub state: String,
    /// Its tools.
    pub tools: Vec<String>,
    /// What went wrong.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub error: Option<String>,
}

/// Params of `mcp/reconnect` and `mcp/authorize`.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub struct McpServerParams {
    /// The server.
    pub server: String,
}

/// Result of `mcp/authorize`.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct McpAuthorizeResult {
    /// The page to open.
    pub url: String,
}
