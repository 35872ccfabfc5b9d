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
    /// The rule, such as `Edit` or `Bash(npm run test:*)`. May be left out where `rules` says it all.
    #[serde(default, skip_serializing_if = "String::is_empty")]
    pub rule: String,
    /// Further rules, for a compound command: at most [`MAX_RULES`] in all.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub rules: Vec<String>,
}

/// How many rules one answer may add: one for each sub-command that was asked about.
pub const MAX_RULES: usize = 5;

impl Remember {
    /// One rule.
    #[must_use]
    pub fn one(scope: RuleScope, rule: impl Into<String>) -> Self {
        Self { scope, rule: rule.into(), rules: Vec::new() }
    }

    /// What a suggestion offers, in a scope that may be another one.
    #[must_use]
    pub fn suggested(suggestion: &Suggestion, scope: RuleScope) -> Self {
        Self { scope, rule: suggestion.rule.clone(), rules: suggestion.rules.clone() }
    }

    /// All rules, each once, in their order.
    #[must_use]
    pub fn all(&self) -> Vec<&str> {
        let mut all: Vec<&str> = Vec::new();
        for rule in std::iter::once(&self.rule).chain(&self.rules).map(|rule| rule.trim()) {
            if !rule.is_empty() && !all.contains(&rule) {
                all.push(rule);
            }
        }
        all
    }
}

/// A rule that a client can offer together with "yes".
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct Suggestion {
    /// What to show.
    pub label: String,
    /// The rule to send back.
    pub rule: String,
    /// All rules to send back, where it takes several: one for each part of a compound command.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub rules: Vec<String>,
    /// Where it would be remembered.
    pub scope: RuleScope,
}

impl Suggestion {
    /// One rule.
    #[must_use]
    pub fn one(label: impl Into<String>, rule: impl Into<String>, scope: RuleScope) -> Self {
        Self { label: label.into(), rule: rule.into(), rules: Vec::new(), scope }
    }
}

/// A part of a command, with what the analysis makes of it.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct CommandPart {
    /// The part's text.
    pub text: String,
    /// `readonly`, `edits`, `ask` or `deny`.
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
    /// A plan that is to be approved.
    Plan {
        /// The plan, in Markdown.
        plan: String,
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
    /// The folder in which it would run, absolute. Empty in logs of versions that did not write it down.
    #[serde(default, skip_serializing_if = "String::is_empty")]
    pub cwd: String,
    /// One line for people.
    pub title: String,
    /// What is unusual in what is shown, one sentence each: invisible characters, a text that runs from right to left,
    /// blanks that push something out of sight, a link that leads elsewhere.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub notes: Vec<String>,
    /// Why it is asked.
    pub reason: DecisionReason,
    /// Rules that can be remembered with the answer.
    pub suggestions: Vec<Suggestion>,
    /// Where a rule can be remembered: in the files of a folder only if it is trusted. Empty in logs of versions that did
    /// not write it down.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub scopes: Vec<RuleScope>,
    /// What the call would do.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub preview: Option<Preview>,
}
