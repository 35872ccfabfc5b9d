//! The settings as one value, all layers merged (PROTOCOL.md §9). Unknown keys are kept out and
//! reported by the loader.

use crate::base::environment::Environment;
use crate::policy::Rules;
use proto::session::Mode;
use serde::Deserialize;
use std::collections::BTreeMap;
use std::path::PathBuf;
use std::sync::Arc;

/// All settings.
#[derive(Debug, Clone, Default, PartialEq, Deserialize)]
#[serde(rename_all = "camelCase", default)]
pub struct Settings {
    /// The model for new sessions, as `provider/model`.
    pub model: Option<String>,
    /// The model to fall back to.
    pub fallback_model: Option<String>,
    /// The model for small jobs.
    pub small_model: Option<String>,
    /// Providers by name, beside the built-in ones.
    pub providers: BTreeMap<String, ProviderSettings>,
    /// The command that prints the key of the Anthropic provider, as Claude Code's settings name it.
    pub api_key_helper: Option<String>,
    /// Whether only the permission rules of managed settings count. Managed settings alone may say so.
    pub allow_managed_permission_rules_only: bool,
    /// Permissions.
    pub permissions: PermissionSettings,
    /// The rules of `permissions`, each with where it comes from.
    #[serde(skip)]
    pub rules: Arc<Rules>,
    /// Variables for tools.
    pub env: BTreeMap<String, String>,
    /// Tools.
    pub tools: ToolSettings,
    /// Limits.
    pub limits: LimitSettings,
}

/// A wire format.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum ApiKind {
    /// Anthropic Messages.
    Anthropic,
    /// OpenAI Responses.
    OpenaiResponses,
    /// OpenAI Chat Completions.
    OpenaiChat,
}

/// A provider of models.
#[derive(Debug, Clone, Default, PartialEq, Deserialize)]
#[serde(rename_all = "camelCase", default)]
pub struct ProviderSettings {
    /// Its wire format.
    pub api: Option<ApiKind>,
    /// Where it is.
    pub base_url: Option<String>,
    /// The variable that holds the key.
    pub api_key_env: Option<String>,
    /// The file that holds the key: the user's own, and closed to others.
    pub api_key_file: Option<PathBuf>,
    /// The systemd credential that holds the key: a file of this name in `$CREDENTIALS_DIRECTORY`.
    pub api_key_credential: Option<String>,
    /// The command that prints the key.
    pub api_key_helper: Option<String>,
    /// Further headers.
    pub headers: BTreeMap<String, String>,
    /// Its models.
    pub models: Vec<ModelSettings>,
}

/// A model of a provider.
#[derive(Debug, Clone, Default, PartialEq, Deserialize)]
#[serde(rename_all = "camelCase", default)]
pub struct ModelSettings {
    /// Its id, as the provider names it.
    pub id: String,
    /// Its context window in tokens.
    pub context_window: Option<u64>,
    /// How much it may write in one answer, in tokens.
    pub max_output: Option<u64>,
    /// What it costs.
    pub price: Option<Price>,
}

/// What a model costs, in US dollars per million tokens.
#[derive(Debug, Clone, Copy, Default, PartialEq, Deserialize)]
#[serde(rename_all = "camelCase", default)]
pub struct Price {
    /// Tokens read at full price.
    pub input: f64,
    /// Tokens written by the model.
    pub output: f64,
    /// Tokens read from the prompt cache; as `input` where it is not told.
    pub cache_read: Option<f64>,
    /// Tokens written to the prompt cache; as `input` where it is not told.
    pub cache_write: Option<f64>,
}

/// Permissions of all layers. The rules are here as their texts; what sessions use is [`Settings::rules`].
#[derive(Debug, Clone, Default, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "camelCase", default)]
pub struct PermissionSettings {
    /// What runs unasked.
    pub allow: Vec<String>,
    /// What is asked.
    pub ask: Vec<String>,
    /// What never runs.
    pub deny: Vec<String>,
    /// The mode of new sessions.
    pub default_mode: Option<Mode>,
    /// Folders beside a session's own in which file tools may work.
    pub additional_directories: Vec<PathBuf>,
    /// Switches the mode bypassPermissions off. Any source may say so.
    pub disable_bypass_permissions_mode: Option<Disable>,
    /// Switches the mode auto off. Any source may say so.
    pub disable_auto_mode: Option<Disable>,
    /// Whether the mode bypassPermissions writes protected paths unasked too (contradiction C4). No file of a folder
    /// may say so.
    pub bypass_protected_paths: bool,
}

impl PermissionSettings {
    /// Why a mode can't be used under these settings; none if it can.
    #[must_use]
    pub fn refusal(&self, mode: Mode) -> Option<String> {
        let key = match mode {
            Mode::BypassPermissions if self.disable_bypass_permissions_mode.is_some() => "disableBypassPermissionsMode",
            Mode::Auto if self.disable_auto_mode.is_some() => "disableAutoMode",
            _ => return None,
        };
        Some(format!("mode: {} is switched off by permissions.{key} in the settings; use another mode", mode.name()))
    }
}

/// The one value of a switch that turns something off.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Disable {
    /// Off.
    Disable,
}

/// Settings of tools.
#[derive(Debug, Clone, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "camelCase", default)]
pub struct ToolSettings {
    /// How many calls may run at once (row C04).
    pub max_concurrency: usize,
    /// Which failures stop parallel calls (row C14).
    pub cascade: Cascade,
    /// Whether there are only Bash, Read and Edit (row R07).
    pub simple: bool,
    /// Whether tools that are seldom needed are told of only once they were searched for (row T09).
    pub search: bool,
    /// Whether models that can are held to a tool's schema while they write its input (row A04). The first use of a
    /// schema makes an answer slower.
    pub strict: bool,
    /// Whether the input of tools is streamed as it is written, where the API itself is asked (row A05).
    pub eager_input: bool,
    /// What a prompt that interrupts does to a running call, by tool; where absent, the tool's own answer holds
    /// (row I10).
    pub interrupt: BTreeMap<String, Interrupt>,
    /// Characters that the results of one round may have together; the largest go to files first (row X13).
    pub batch_result_chars: usize,
    /// Bash.
    pub bash: BashSettings,
}

/// What a prompt that interrupts does to a running call.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Interrupt {
    /// It stops it.
    Cancel,
    /// It waits for it.
    Block,
}

/// Which failures stop parallel calls.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Cascade {
    /// A failed Bash that may write.
    #[default]
    Bash,
    /// Any failed Bash.
    BashAny,
    /// None.
    Off,
}

/// Time limits of Bash.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "camelCase", default)]
pub struct BashSettings {
    /// Without a `timeout` in the call.
    pub timeout_ms: u64,
    /// At most.
    pub max_timeout_ms: u64,
}

/// Limits.
#[derive(Debug, Clone, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "camelCase", default)]
pub struct LimitSettings {
    /// How long a model's stream may be silent.
    pub stream_idle_ms: u64,
    /// How long one answer of a model may take in all.
    pub answer_ms: u64,
    /// How often a model call is tried again.
    pub retries: u32,
    /// How long the pauses before further attempts may be together, until an answer is whole.
    pub retry_total_ms: u64,
    /// Tool rounds of a turn.
    pub max_turns: Option<u64>,
    /// How long a stopping agentd waits for running turns.
    pub drain_ms: u64,
    /// How long a stopped process may take to end before it is killed.
    pub kill_grace_ms: u64,
}

impl Default for ToolSettings {
    fn default() -> Self {
        Self {
            max_concurrency: 10,
            cascade: Cascade::default(),
            simple: false,
            search: true,
            strict: false,
            eager_input: true,
            interrupt: BTreeMap::new(),
            batch_result_chars: 200_000,
            bash: BashSettings::default(),
        }
    }
}

impl ToolSettings {
    /// The settings with the variables of Claude Code laid over them, as a client's environment holds them:
    /// `CLAUDE_CODE_SIMPLE` (row R07) and `CLAUDE_CODE_MAX_TOOL_USE_CONCURRENCY` (row C04).
    #[must_use]
    pub fn with_environment(mut self, env: &Environment) -> Self {
        if let Some(simple) = env.get("CLAUDE_CODE_SIMPLE") {
            self.simple = !matches!(simple.trim().to_ascii_lowercase().as_str(), "0" | "false" | "no" | "off");
        }
        let calls = env.get("CLAUDE_CODE_MAX_TOOL_USE_CONCURRENCY").and_then(|calls| calls.trim().parse().ok());
        if let Some(calls) = calls.filter(|calls| *calls > 0) {
            self.max_concurrency = calls;
        }
        self
    }
}

impl Default for BashSettings {
    fn default() -> Self {
        Self { timeout_ms: 120_000, max_timeout_ms: 600_000 }
    }
}

impl Default for LimitSettings {
    fn default() -> Self {
        Self {
            stream_idle_ms: 300_000,
            answer_ms: 3_600_000,
            retries: 10,
            retry_total_ms: 600_000,
            max_turns: None,
            drain_ms: 10_000,
            kill_grace_ms: 2_000,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Rows R07, C04: the names that Claude Code's users know switch simple mode and the cap of calls.
    #[test]
    fn the_environment_comes_before_the_settings() {
        let with = |name: &str, value: &str| {
            let env = Environment::from(BTreeMap::from([(name.to_owned(), value.to_owned())]));
            let settings = ToolSettings { max_concurrency: 7, ..ToolSettings::default() }.with_environment(&env);
            (settings.simple, settings.max_concurrency)
        };
        for (name, value, expected) in [
            ("CLAUDE_CODE_SIMPLE", "1", (true, 7)),
            ("CLAUDE_CODE_SIMPLE", "true", (true, 7)),
            ("CLAUDE_CODE_SIMPLE", "0", (false, 7)),
            ("CLAUDE_CODE_SIMPLE", "", (false, 7)),
            ("CLAUDE_CODE_MAX_TOOL_USE_CONCURRENCY", "3", (false, 3)),
            ("CLAUDE_CODE_MAX_TOOL_USE_CONCURRENCY", "0", (false, 7)),
            ("CLAUDE_CODE_MAX_TOOL_USE_CONCURRENCY", "many", (false, 7)),
        ] {
            assert_eq!(with(name, value), expected, "{name}={value}");
        }
    }
}
