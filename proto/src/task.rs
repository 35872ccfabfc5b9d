//! Background tasks and processes. Used by the `task/*` and `process/*` methods and by events.

use crate::ids::{SessionId, TaskId, Timestamp, ToolCallId};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// What a task is.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub enum TaskKind {
    /// A command.
    Bash,
    /// A sub-agent.
    Agent,
    /// A watch on something.
    Monitor,
}

/// A background task.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct TaskInfo {
    /// Its id.
    pub task_id: TaskId,
    /// Its session.
    pub session_id: SessionId,
    /// What it is.
    pub kind: TaskKind,
    /// One line for people.
    pub title: String,
    /// `running`, `ended`, `stopped` or `lost`.
    pub state: String,
    /// When it started.
    pub started_at: Timestamp,
    /// When it ended.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub ended_at: Option<Timestamp>,
    /// Its exit code.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub exit_code: Option<i32>,
    /// How much it has written.
    pub total_bytes: u64,
}

/// A process of a tool.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct ProcessInfo {
    /// Its id.
    pub pid: u32,
    /// Its group.
    pub pgid: u32,
    /// The session.
    pub session_id: SessionId,
    /// The tool call that started it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub tool_call_id: Option<ToolCallId>,
    /// The task that it belongs to.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub task_id: Option<TaskId>,
    /// Its command line.
    pub command: String,
    /// When it started.
    pub started_at: Timestamp,
    /// Its memory.
    pub rss_bytes: u64,
    /// Its processor time.
    pub cpu_ms: u64,
}
