//! Permission: requests, decisions and their reasons. Used by events and by the `permission/*` methods.

use crate::ids::{RequestId, SessionId, ToolCallId, TurnId};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use serde_json::Value;

/// What kind of thing decided.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub enum ReasonType {
    /// A rule of some settings source.
    Rule,
    /// The session's mode.
    Mode,
    /// The tool's own check.
    Tool,
    /// A check that no mode turns off.
    SafetyCheck,
    /// A hook.
    Hook,
    /// The classifier of mode `auto`.
    Classifier,
    /// The sandbox holds the command.
    Sandbox,
    /// A part of a compound command.
    Subcommand,
    /// Nobody is there to ask.
    Headless,
    /// A person.
    User,
}

/// Why something was decided as it was.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct DecisionReason {
    /// What kind of thing decided.
    #[serde(rename = "type")]
    pub kind: ReasonType,
    /// The number of the layer that decided, 1 to 13.
    #[schemars(range(min = 1, max = 13))]
    pub layer: u8,
    /// One sentence for people.
    pub detail: String,
    /// The rule, where one decided.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub rule: Option<String>,
    /// The source of the rule.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub source: Option<String>,
}

/// An answer to a permission request.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub enum PermissionDecision {
    /// The call runs.
    Allow,
    /// The call does not run, and the model is told.
    Deny,
}

/// How long an answer is remembered.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub enum RuleScope {
    /// Until the session is closed.
    Session,
    /// In the folder's own, private settings.
    Local,
    /// In the folder's shared settings.
    Project,
    /// In the user's settings.
    User,
}

/// An answer that is to be remembered.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub struct Remember {
    /// Where.
    pub scope: RuleScope,
    /// The rule, such as `Edit` or `Bash(npm run test:*)`.
    pub rule: String,
}

/// A rule that a client can offer together with "yes".
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct Suggestion {
    /// What to show.
    pub label: String,
    /// The rule to send back.
    pub rule: String,
    /// Where it would be remembered.
    pub scope: RuleScope,
}

/// A part of a command, with what the analysis makes of it.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct CommandPart {
    /// The part's text.
    pub text: String,
    /// `readonly` or `ask`.
    pub class: String,
    /// Why.
    pub why: String,
}

/// What the call would do, for the person who is asked.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(untagged, rename_all_fields = "camelCase")]
pub enum Preview {
    /// A change of a file, as a unified diff.
    Diff {
        /// The diff.
        diff: String,
    },
    /// A command.
    Command {
        /// The whole command.
        command: String,
        /// Its parts.
        parts: Vec<CommandPart>,
    },
}

/// A question that waits for a person: may this tool call run?
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct PermissionRequest {
    /// The request's id.
    pub request_id: RequestId,
    /// The session that asks.
    pub session_id: SessionId,
    /// The turn that asks.
    pub turn_id: TurnId,
    /// The call that waits.
    pub tool_call_id: ToolCallId,
    /// The tool.
    pub tool: String,
    /// Its input, exactly as it would run.
    pub input: Value,
    /// One line for people.
    pub title: String,
    /// Why it is asked.
    pub reason: DecisionReason,
    /// Rules that can be remembered with the answer.
    pub suggestions: Vec<Suggestion>,
    /// What the call would do.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub preview: Option<Preview>,
}
