//! `task/*` and `process/*`.

use crate::ids::{TaskId, ToolCallId};
use crate::task::{ProcessInfo, TaskInfo};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// Result of `task/list`.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct TaskListResult {
    /// The tasks.
    pub tasks: Vec<TaskInfo>,
}

/// Params of `task/stop`.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub struct TaskParams {
    /// The task.
    pub task_id: TaskId,
}

/// Params of `task/output`.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub struct TaskOutputParams {
    /// The task.
    pub task_id: TaskId,
    /// Where to start, in bytes.
    #[serde(default)]
    pub offset: u64,
    /// How much at most.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub limit_bytes: Option<u64>,
}

/// Result of `task/output`.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct TaskOutputResult {
    /// The output.
    pub data: String,
    /// Where it starts.
    pub offset: u64,
    /// Where the rest starts.
    pub next_offset: u64,
    /// How much there is.
    pub total_bytes: u64,
    /// Whether the task has ended.
    pub ended: bool,
}

/// Params of `task/background`.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub struct TaskBackgroundParams {
    /// The running call.
    pub tool_call_id: ToolCallId,
}

/// Result of `task/background`.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct TaskBackgroundResult {
    /// The task that it became.
    pub task_id: TaskId,
}

/// Result of `process/list`.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct ProcessListResult {
    /// The processes.
    pub processes: Vec<ProcessInfo>,
}
