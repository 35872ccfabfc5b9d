//! What is there to use: `tool/list`, `model/list`, and the lists of what is configured.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use serde_json::Value;
use std::collections::BTreeMap;

/// Result of `tool/list`.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct ToolListResult {
    /// The tools, by name.
    pub tools: Vec<ToolInfo>,
}

/// A tool.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct ToolInfo {
    /// Its name.
    pub name: String,
    /// `builtin`, or the MCP server that it comes from.
    pub source: String,
    /// Whether every call of it only reads.
    pub read_only_hint: bool,
    /// Whether the model has to look it up first.
    pub deferred: bool,
    /// The JSON Schema of its input.
    pub input_schema: Value,
}

/// Params of `model/list`.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub struct ModelListParams {
    /// The client's own environment, whose keys come before agentd's, as in `session/create`.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub env: Option<BTreeMap<String, String>>,
}

/// Result of `model/list`.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct ModelListResult {
    /// The models.
    pub models: Vec<ModelInfo>,
}

/// A model.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct ModelInfo {
    /// Its name, as `provider/model`.
    pub id: String,
    /// Its provider.
    pub provider: String,
    /// Its context window in tokens; 0 where it is not known.
    pub context_window: u64,
    /// What it can do.
    pub supports: ModelSupports,
    /// Whether it is used where none is named.
    pub default: bool,
    /// Why it can't be used, such as a key that is missing.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub problem: Option<String>,
}

/// What a model can do.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct ModelSupports {
    /// Tool calls.
    pub tools: bool,
    /// Pictures in prompts.
    pub images: bool,
    /// Thinking that is streamed.
    pub thinking: bool,
}

/// Result of `command/list`, `agent/list`, `skill/list` and `hook/list`.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct ConfiguredListResult {
    /// What is configured.
    pub items: Vec<ConfiguredItem>,
}

/// Something that a file configures.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct ConfiguredItem {
    /// Its name.
    pub name: String,
    /// What it is for.
    pub description: String,
    /// The file.
    pub file: String,
}
