//! `initialize` and `daemon/*`.

use crate::ids::Timestamp;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use serde_json::{Map, Value};

/// The version of this protocol.
pub const PROTOCOL_VERSION: u32 = 1;

/// Params of `initialize`.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub struct InitializeParams {
    /// The version that the client speaks.
    pub protocol_version: u32,
    /// The client.
    pub client: ClientInfo,
    /// What the client can do; none is defined yet.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub capabilities: Option<Map<String, Value>>,
}

/// A client program.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub struct ClientInfo {
    /// Its name, shown with the prompts that it sends and the questions that it answers.
    pub name: String,
    /// Its version.
    pub version: String,
}

/// Result of `initialize`.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct InitializeResult {
    /// The version that agentd speaks.
    pub protocol_version: u32,
    /// The daemon.
    pub agentd: AgentdInfo,
    /// What the daemon can do.
    pub capabilities: Map<String, Value>,
}

/// The running daemon.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct AgentdInfo {
    /// Its version.
    pub version: String,
    /// Its process id.
    pub pid: u32,
    /// When it started.
    pub started_at: Timestamp,
}

/// Result of `daemon/status`.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct DaemonStatusResult {
    /// agentd's version.
    pub version: String,
    /// Its process id.
    pub pid: u32,
    /// When it started.
    pub started_at: Timestamp,
    /// The socket that it listens on.
    pub socket: String,
    /// The folder that holds its sessions.
    pub state_dir: String,
    /// Sessions by what they do.
    pub sessions: SessionCounts,
    /// Open connections, this one included.
    pub connections: u64,
    /// Background tasks that run.
    pub tasks: u64,
    /// agentd's own memory.
    pub rss_bytes: u64,
}

/// Sessions by what they do.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct SessionCounts {
    /// All that are not deleted.
    pub total: u64,
    /// Those with a running turn.
    pub running: u64,
    /// Those that wait for a person.
    pub waiting: u64,
}

/// Params of `daemon/reload`.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub struct DaemonReloadParams {
    /// A folder whose files are looked at too, beside those of the sessions that are in use.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub cwd: Option<String>,
}

/// Result of `daemon/reload`.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct DaemonReloadResult {
    /// The settings whose value changed.
    pub changed: Vec<String>,
    /// What could not be used: of agentd's own files, and of those of each folder that a live session works in.
    pub errors: Vec<SettingsError>,
}

/// A settings file that could not be used.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct SettingsError {
    /// The file.
    pub file: String,
    /// What is wrong, with the line where that is known.
    pub message: String,
}

/// How agentd stops.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub enum ShutdownMode {
    /// Running turns end first, new ones are refused.
    #[default]
    Drain,
    /// Running turns are interrupted.
    Now,
}

/// Params of `daemon/shutdown`.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub struct DaemonShutdownParams {
    /// How.
    #[serde(default)]
    pub mode: ShutdownMode,
}
