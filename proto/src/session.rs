//! What a session is, seen from outside. Used by the `session/*` methods and by events.

use crate::ids::{SessionId, Timestamp, TurnId};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use serde_json::{Map, Value};

/// What a session is doing.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub enum SessionStatus {
    /// Nothing runs.
    Idle,
    /// A turn runs.
    Running,
    /// A turn runs and a permission or question is open.
    Waiting,
    /// A restart cut a turn, which can be resumed.
    Interrupted,
    /// Closed: the log is kept, nothing more can run.
    Closed,
}

/// How permission is decided where no rule speaks.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Default, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub enum Mode {
    /// Read-only tools run, everything else asks.
    #[default]
    Default,
    /// File edits run too.
    AcceptEdits,
    /// Reading only; changes are planned and then approved.
    Plan,
    /// A classifier decides in place of questions.
    Auto,
    /// What would ask is denied.
    DontAsk,
    /// Nothing asks, but for what no mode can skip.
    BypassPermissions,
}

impl Mode {
    /// Every mode, in the order that a client should offer them.
    pub const ALL: [Self; 6] =
        [Self::Default, Self::AcceptEdits, Self::Plan, Self::Auto, Self::DontAsk, Self::BypassPermissions];

    /// The name on the wire.
    #[must_use]
    pub fn name(self) -> &'static str {
        match self {
            Self::Default => "default",
            Self::AcceptEdits => "acceptEdits",
            Self::Plan => "plan",
            Self::Auto => "auto",
            Self::DontAsk => "dontAsk",
            Self::BypassPermissions => "bypassPermissions",
        }
    }

    /// The mode with that name.
    #[must_use]
    pub fn parse(name: &str) -> Option<Self> {
        Self::ALL.into_iter().find(|mode| mode.name() == name)
    }
}

/// Tokens, summed over a session or a turn, and how full the context is.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct Usage {
    /// Tokens read at full price.
    #[serde(default)]
    pub input_tokens: u64,
    /// Tokens written by the model.
    #[serde(default)]
    pub output_tokens: u64,
    /// Tokens read from the provider's prompt cache.
    #[serde(default)]
    pub cache_read_tokens: u64,
    /// Tokens written to the provider's prompt cache.
    #[serde(default)]
    pub cache_write_tokens: u64,
    /// Tokens in the context after the last model call.
    #[serde(default)]
    pub context_tokens: u64,
    /// The model's context window; 0 where it is not known.
    #[serde(default)]
    pub context_window: u64,
}

impl Usage {
    /// Adds the counters of a further model call; the context figures are the later call's.
    pub fn add(&mut self, later: &Self) {
        self.input_tokens += later.input_tokens;
        self.output_tokens += later.output_tokens;
        self.cache_read_tokens += later.cache_read_tokens;
        self.cache_write_tokens += later.cache_write_tokens;
        self.context_tokens = later.context_tokens;
        self.context_window = later.context_window;
    }
}

/// Money, as an estimate from the prices in settings.
#[derive(Debug, Clone, Copy, PartialEq, Default, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct Cost {
    /// US dollars.
    pub usd: f64,
}

impl Cost {
    /// The sum of what is known.
    #[must_use]
    pub fn sum(one: Option<Self>, other: Option<Self>) -> Option<Self> {
        match (one, other) {
            (Some(one), Some(other)) => Some(Self { usd: one.usd + other.usd }),
            (one, other) => one.or(other),
        }
    }
}

/// Where a session comes from, for forks and sub-agents.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct Parent {
    /// The session that it was made from.
    pub session_id: SessionId,
    /// The last event that both share.
    pub seq: u64,
    /// When the conversation that both share began: of that day the model is told in the system prompt, which must
    /// stay as it is.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub began_at: Option<Timestamp>,
}

/// How many questions wait for a person.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct Pending {
    /// Open permission requests.
    pub permissions: u64,
    /// Open questions.
    pub questions: u64,
}

/// A session as lists and clients show it.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct SessionInfo {
    /// Its id.
    pub id: SessionId,
    /// Its title: the given one, else the start of its first prompt.
    pub title: String,
    /// Its folder, absolute.
    pub cwd: String,
    /// Where its shell stands, absolute, if that is not `cwd`.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub shell_cwd: Option<String>,
    /// Its model, as `provider/model`.
    pub model: String,
    /// Its permission mode.
    pub mode: Mode,
    /// What it is doing.
    pub status: SessionStatus,
    /// When it was created.
    pub created_at: Timestamp,
    /// When its last event was written.
    pub updated_at: Timestamp,
    /// How many turns have started.
    pub turn_count: u64,
    /// The number of its last event.
    pub last_seq: u64,
    /// Tokens so far.
    pub usage: Usage,
    /// Cost so far, where prices are known.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub cost: Option<Cost>,
    /// The session that it was made from.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub parent: Option<Parent>,
    /// Open questions.
    pub pending: Pending,
    /// Prompts that wait for the running turn to end.
    pub queue: Vec<TurnId>,
    /// Background tasks that run.
    pub task_count: u64,
    /// Whether the folder is trusted.
    pub trusted: bool,
    /// Folders beside `cwd` in which file tools may work.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub additional_directories: Vec<String>,
    /// Whether the session is deleted when it is closed.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub ephemeral: bool,
    /// The client's own data.
    pub metadata: Map<String, Value>,
}

impl SessionInfo {
    /// When its conversation began: the creation of the first of the sessions that it was forked from, one after
    /// the other, else its own.
    #[must_use]
    pub fn began_at(&self) -> &str {
        self.parent.as_ref().and_then(|parent| parent.began_at.as_ref()).unwrap_or(&self.created_at)
    }

    /// A session in which nothing has happened yet, at `now`.
    #[must_use]
    pub fn new(id: SessionId, cwd: String, model: String, now: Timestamp) -> Self {
        Self {
            id,
            title: String::new(),
            cwd,
            shell_cwd: None,
            model,
            mode: Mode::default(),
            status: SessionStatus::Idle,
            created_at: now.clone(),
            updated_at: now,
            turn_count: 0,
            last_seq: 0,
            usage: Usage::default(),
            cost: None,
            parent: None,
            pending: Pending::default(),
            queue: Vec::new(),
            task_count: 0,
            trusted: false,
            additional_directories: Vec::new(),
            ephemeral: false,
            metadata: Map::new(),
        }
    }
}
