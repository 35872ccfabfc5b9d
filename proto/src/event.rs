//! Events: everything that happens in a session. Durable ones make up its log; ephemeral ones are
//! the live view between two of them. Used by the journal, the fan-out and every client.

use crate::content::{ContentBlock, MessageBlock, Prompt};
use crate::ids::{MessageId, RequestId, SessionId, Timestamp, ToolCallId, TurnId};
use crate::permission::{DecisionReason, PermissionDecision, PermissionRequest};
use crate::session::{Cost, SessionInfo, Usage};
use crate::task::TaskInfo;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use serde_json::{Map, Value};

/// The method name of the one event notification.
pub const SESSION_EVENT: &str = "session/event";
/// The method name of the notification that ends a subscription which fell too far behind.
pub const SESSION_LAGGED: &str = "session/lagged";

/// Params of `session/event`.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct SessionEvent {
    /// The session.
    pub session_id: SessionId,
    /// The event's number, for durable events: 1, 2, 3 … without a gap.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub seq: Option<u64>,
    /// When it happened.
    pub at: Timestamp,
    /// What happened.
    pub event: AnyEvent,
}

/// A durable or an ephemeral event.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(untagged)]
#[allow(clippy::large_enum_variant)] // it is decoded, looked at and dropped; a box would be in every reader's way
pub enum AnyEvent {
    /// One that is in the log.
    Durable(Event),
    /// One that is not.
    Ephemeral(Ephemeral),
    /// One of a later version.
    Unknown(Map<String, Value>),
}

/// Params of `session/lagged`.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct SessionLagged {
    /// The session that the connection was detached from.
    pub session_id: SessionId,
    /// The last event that was sent: attach again with this `afterSeq`.
    pub resume_after_seq: u64,
}

/// Why a turn went on after a model call.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum ContinueReason {
    /// Tool results go to the model.
    NextTurn,
    /// The context was compacted since the prompt was too long.
    ReactiveCompactRetry,
    /// The model's output was cut by its limit.
    MaxOutputTokensEscalate,
    /// A Stop hook wants more.
    StopHookBlocking,
    /// The token budget allows more.
    TokenBudgetContinuation,
    /// A fallback model takes over.
    ModelFallback,
    /// A further prompt joined the turn.
    Steered,
}

/// Why a turn ended.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum EndReason {
    /// The model was done.
    Completed,
    /// Cancelled while the model streamed.
    AbortedStreaming,
    /// Cancelled while tools ran.
    AbortedTools,
    /// The model could not be reached, refused, or broke off.
    ModelError,
    /// The prompt does not fit the model's context.
    PromptTooLong,
    /// The turn's limit of tool rounds was reached.
    MaxTurns,
    /// A Stop hook prevented the turn from going on.
    StopHookPrevented,
    /// Another hook stopped the turn.
    HookStopped,
    /// The token budget is used up.
    TokenBudget,
    /// agentd stopped while the turn ran; `turn/resume` goes on.
    Interrupted,
}

/// How a tool call ended.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum ToolStatus {
    /// It ran.
    Completed,
    /// It failed.
    Failed,
    /// It was not allowed.
    Denied,
    /// It was stopped, or never started.
    Cancelled,
}

/// What cut a tool call short.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum ToolCause {
    /// A parallel call failed.
    SiblingError,
    /// A new prompt came in.
    UserInterrupted,
    /// The turn was cancelled.
    UserAbort,
    /// It took longer than allowed.
    Timeout,
    /// The model's answer was voided by a fallback.
    StreamingFallback,
    /// agentd stopped while it ran.
    Restart,
}

/// What a tool does, for icons and grouping (the kinds of ACP).
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum ToolKind {
    /// Reads files.
    Read,
    /// Changes files.
    Edit,
    /// Removes files.
    Delete,
    /// Moves files.
    Move,
    /// Searches.
    Search,
    /// Runs commands.
    Execute,
    /// Thinks or plans.
    Think,
    /// Fetches from a network.
    Fetch,
    /// Something else.
    Other,
}

/// Who a message is from.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum Role {
    /// The model.
    Assistant,
    /// The person, or agentd in their place.
    User,
}

/// How serious a notice is.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum NoticeLevel {
    /// Good to know.
    Info,
    /// Something is not as it should be.
    Warning,
    /// Something failed.
    Error,
}

/// An error that ended a turn.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct TurnError {
    /// A stable word, such as `authentication`, `overloaded`, `unreachable`.
    pub kind: String,
    /// One sentence that names the thing and the remedy.
    pub message: String,
}

/// The durable events. `type` tells them apart.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(tag = "type", rename_all_fields = "camelCase")]
#[allow(clippy::large_enum_variant)] // SessionInfo is rare; boxing it would leak into every client
pub enum Event {
    /// The session was created. Always event 1.
    #[serde(rename = "session.created")]
    SessionCreated {
        /// The session.
        session: SessionInfo,
        /// Additions to the system prompt, or a replacement of it.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        system_prompt: Option<crate::methods::SystemPrompt>,
    },
    /// Some fields of the session changed.
    #[serde(rename = "session.updated")]
    SessionUpdated {
        /// The changed fields, by the names of `SessionInfo`, each as a field of the event.
        #[serde(flatten)]
        changed: Map<String, Value>,
    },
    /// The session was closed.
    #[serde(rename = "session.closed")]
    SessionClosed {},
    /// A prompt waits for the running turn to end.
    #[serde(rename = "turn.queued")]
    TurnQueued {
        /// The turn that it will start.
        turn_id: TurnId,
        /// The prompt.
        prompt: Prompt,
        /// What the prompt's files held when it was sent.
        #[serde(default, skip_serializing_if = "Vec::is_empty")]
        attachments: Vec<ContentBlock>,
        /// Who sent it.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        client: Option<String>,
        /// How the turn is to run.
        #[serde(default, skip_serializing_if = "TurnOptions::is_default")]
        options: TurnOptions,
        /// Whether it holds what was meant to steer a turn that ended first: those prompts are this one now.
        #[serde(default, skip_serializing_if = "std::ops::Not::not")]
        was_steering: bool,
        /// Whether it ended the turn that ran, to take its place: it goes before the prompts that wait.
        #[serde(default, skip_serializing_if = "std::ops::Not::not")]
        interrupts: bool,
    },
    /// A prompt is to join the running turn, after the tools that run now.
    #[serde(rename = "turn.steered")]
    TurnSteered {
        /// The turn that it joins.
        turn_id: TurnId,
        /// The prompt.
        prompt: Prompt,
        /// What the prompt's files held when it was sent.
        #[serde(default, skip_serializing_if = "Vec::is_empty")]
        attachments: Vec<ContentBlock>,
        /// Who sent it.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        client: Option<String>,
        /// The client's key against sending a prompt twice.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        idempotency_key: Option<String>,
    },
    /// A turn started.
    #[serde(rename = "turn.started")]
    TurnStarted {
        /// The turn.
        turn_id: TurnId,
        /// The prompt; absent where an interrupted turn goes on without a new one.
        prompt: Option<Prompt>,
        /// What the prompt's files held when it was sent.
        #[serde(default, skip_serializing_if = "Vec::is_empty")]
        attachments: Vec<ContentBlock>,
        /// Who sent it.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        client: Option<String>,
        /// How the turn is to run.
        #[serde(default, skip_serializing_if = "TurnOptions::is_default")]
        options: TurnOptions,
        /// The interrupted turn that this one goes on with.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        resumes: Option<TurnId>,
    },
    /// The turn goes on with a further model call.
    #[serde(rename = "turn.continued")]
    TurnContinued {
        /// The turn.
        turn_id: TurnId,
        /// Why.
        reason: ContinueReason,
        /// What the model is told, beside the results of its tools and what the person added.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        message: Option<String>,
    },
    /// The turn ended. Exactly one for each turn that started.
    #[serde(rename = "turn.ended")]
    TurnEnded {
        /// The turn.
        turn_id: TurnId,
        /// Why.
        reason: EndReason,
        /// What went wrong.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        error: Option<TurnError>,
        /// The turn's tokens.
        usage: Usage,
        /// The turn's cost, where prices are known.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        cost: Option<Cost>,
        /// How long it took.
        duration_ms: u64,
        /// The answer as data, where a schema was given.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        structured_output: Option<Value>,
    },
    /// A message is complete.
    #[serde(rename = "message.completed")]
    MessageCompleted {
        /// The message.
        message_id: MessageId,
        /// The turn.
        turn_id: TurnId,
        /// Who it is from.
        role: Role,
        /// The model's own blocks.
        content: Vec<MessageBlock>,
        /// The model, as `provider/model`.
        model: String,
        /// Why the model stopped: `end_turn`, `tool_use`, `max_tokens`, `refusal`, …; `aborted` or `error` if it was cut.
        stop_reason: String,
        /// The call's tokens.
        usage: Usage,
        /// The call's cost, where prices are known.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        cost: Option<Cost>,
    },
    /// What was streamed of a message is void.
    #[serde(rename = "message.tombstoned")]
    MessageTombstoned {
        /// The message.
        message_id: MessageId,
        /// Why.
        reason: String,
    },
    /// The model asked for a tool call.
    #[serde(rename = "tool.queued")]
    ToolQueued {
        /// The call.
        tool_call_id: ToolCallId,
        /// The turn.
        turn_id: TurnId,
        /// The tool.
        tool: String,
        /// The model's input.
        input: Value,
        /// One line for people.
        title: String,
        /// What the tool does.
        kind: ToolKind,
        /// Whether this call only reads.
        read_only: bool,
        /// Whether this call may run beside others.
        concurrency_safe: bool,
    },
    /// The call runs.
    #[serde(rename = "tool.started")]
    ToolStarted {
        /// The call.
        tool_call_id: ToolCallId,
        /// The input, after hooks and permission.
        input: Value,
        /// Why it may run.
        decision: DecisionReason,
    },
    /// The call ended. Exactly one for each call that was queued.
    #[serde(rename = "tool.ended")]
    ToolEnded {
        /// The call.
        tool_call_id: ToolCallId,
        /// How it ended.
        status: ToolStatus,
        /// Whether the model is told of an error.
        is_error: bool,
        /// What the model is told.
        content: Vec<ContentBlock>,
        /// One line for people.
        summary: String,
        /// The file that holds the whole of a large result.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        persisted_path: Option<String>,
        /// How long it ran.
        duration_ms: u64,
        /// What cut it short.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        cause: Option<ToolCause>,
        /// What most calls have nothing of.
        #[serde(flatten)]
        details: ToolEndedDetails,
    },
    /// A tool call waits for a person.
    #[serde(rename = "permission.requested")]
    PermissionRequested {
        /// The request.
        #[serde(flatten)]
        request: PermissionRequest,
    },
    /// A permission request was answered, or ended with its turn.
    #[serde(rename = "permission.resolved")]
    PermissionResolved {
        /// The request.
        request_id: RequestId,
        /// The answer.
        decision: PermissionDecision,
        /// Who answered.
        by: String,
        /// Why.
        reason: DecisionReason,
        /// The rule that the answer added to the session.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        session_rule: Option<String>,
        /// The rules that the answer added to the session beside that one.
        #[serde(default, skip_serializing_if = "Vec::is_empty")]
        further_session_rules: Vec<String>,
    },
    /// A question waits for a person.
    #[serde(rename = "question.requested")]
    QuestionRequested {
        /// The request.
        request_id: RequestId,
        /// The questions, or the schema of an MCP elicitation.
        questions: Value,
    },
    /// A question was answered.
    #[serde(rename = "question.resolved")]
    QuestionResolved {
        /// The request.
        request_id: RequestId,
        /// The answers.
        answers: Value,
    },
    /// A background task started.
    #[serde(rename = "task.started")]
    TaskStarted {
        /// The task.
        #[serde(flatten)]
        task: TaskInfo,
    },
    /// A background task ended.
    #[serde(rename = "task.ended")]
    TaskEnded {
        /// The task.
        #[serde(flatten)]
        task: TaskInfo,
    },
    /// A hook ran.
    #[serde(rename = "hook.ran")]
    HookRan {
        /// The hook's event.
        hook_event: String,
        /// The hook.
        name: String,
        /// What it decided.
        outcome: String,
        /// How long it ran.
        duration_ms: u64,
        /// What it says.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        message: Option<String>,
    },
    /// The past was replaced by a summary.
    #[serde(rename = "context.compacted")]
    ContextCompacted {
        /// `auto`, `manual` or `reactive`.
        trigger: String,
        /// Tokens before.
        before_tokens: u64,
        /// Tokens after.
        after_tokens: u64,
        /// The summary.
        summary: String,
    },
    /// The session uses another model.
    #[serde(rename = "model.switched")]
    ModelSwitched {
        /// The model before.
        from: String,
        /// The model now.
        to: String,
        /// Why.
        reason: String,
    },
    /// The agent's list of things to do changed.
    #[serde(rename = "todo.updated")]
    TodoUpdated {
        /// The list.
        items: Value,
    },
    /// A file tool changed a file.
    #[serde(rename = "file.changed")]
    FileChanged {
        /// The file, absolute.
        path: String,
        /// The call that changed it.
        tool_call_id: ToolCallId,
        /// The change, as a unified diff.
        diff: String,
        /// How to undo it.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        checkpoint: Option<FileCheckpoint>,
    },
    /// The session went back to just before a turn: that turn and all after it are no part of what the model is told.
    #[serde(rename = "session.rewound")]
    SessionRewound {
        /// The turn.
        to_turn_id: TurnId,
        /// The files that were restored, absolute.
        #[serde(default, skip_serializing_if = "Vec::is_empty")]
        restored: Vec<String>,
    },
    /// Anything else that a person should see.
    #[serde(rename = "notice")]
    Notice {
        /// How serious it is.
        level: NoticeLevel,
        /// One sentence.
        text: String,
    },
}

/// How a turn is to run, where that differs from its session. Kept with the turn, so that a queued or
/// interrupted one goes on as it was asked for.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct TurnOptions {
    /// The turn's own model.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub model: Option<String>,
    /// How many tool rounds it may take.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub max_turns: Option<u64>,
    /// The client's key against sending a prompt twice.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub idempotency_key: Option<String>,
    /// A JSON Schema that the answer must fit.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub output_schema: Option<Value>,
    /// How much the model is to write.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub token_budget: Option<TokenBudget>,
    /// What becomes of questions to a person.
    #[serde(default, skip_serializing_if = "OnAsk::is_default")]
    pub on_ask: OnAsk,
}

/// What becomes of a question to a person in a turn.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Hash, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub enum OnAsk {
    /// It waits for whoever answers it.
    #[default]
    Wait,
    /// Nobody is there: it is denied at once, unless a hook decides it.
    Deny,
}

impl OnAsk {
    /// Whether it is what a turn does that says nothing.
    #[must_use]
    pub fn is_default(&self) -> bool {
        *self == Self::default()
    }
}

/// How much the model is to write in a turn, in output tokens.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub struct TokenBudget {
    /// The turn ends once it has written this many, after the tools of that round have run.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub max: Option<u64>,
    /// A model that is done before is asked to go on.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub goal: Option<u64>,
}

/// How to undo a change of a file.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct FileCheckpoint {
    /// The file in the session's `checkpoints/` that holds what was there before; absent if there was no file.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub before: Option<String>,
    /// The file's permission bits before.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub mode: Option<u32>,
    /// SHA-256 of what the call wrote, in hex: a file that has changed since is not restored.
    pub after_sha256: String,
}

/// What a tool call may give beside its result.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct ToolEndedDetails {
    /// What the model is told after the results of the round.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub new_messages: Vec<ContentBlock>,
    /// The size of the whole result, in bytes.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub result_bytes: Option<u64>,
    /// The extension of the file that the call is about, in lower case.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub file_extension: Option<String>,
    /// Results of the same round that went to files, since with this one they were too much together.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub persisted_results: Vec<PersistedResult>,
    /// What an MCP server sends along.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub mcp_meta: Option<Value>,
    /// Deferred tools that the call found: from here on the model is told of them.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub discovered: Vec<String>,
}

/// A result that went to a file after its call had ended.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct PersistedResult {
    /// The call.
    pub tool_call_id: ToolCallId,
    /// The file that holds the whole; absent if none could be written.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub persisted_path: Option<String>,
    /// What the model is told in the place of the call's own content.
    pub content: Vec<ContentBlock>,
}

impl TurnOptions {
    /// Whether nothing is set.
    #[must_use]
    pub fn is_default(&self) -> bool {
        *self == Self::default()
    }
}

/// What a delta is a part of.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub enum DeltaKind {
    /// What the model says.
    Text,
    /// What it thinks aloud.
    Thinking,
    /// The JSON text of a tool call's input.
    ToolInput,
}

/// Where a tool's progress comes from.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub enum ProgressStream {
    /// Standard output. A command whose two outputs are one stream reports both here.
    Stdout,
    /// Standard error.
    Stderr,
    /// A line about the work itself.
    Status,
}

/// The ephemeral events. They may be merged or dropped for a slow reader.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(tag = "type", rename_all_fields = "camelCase")]
pub enum Ephemeral {
    /// A further part of a message.
    #[serde(rename = "message.delta")]
    MessageDelta {
        /// The message.
        message_id: MessageId,
        /// The block, counted from 0.
        block: u64,
        /// What it is a part of.
        kind: DeltaKind,
        /// Bytes of this block before this part.
        offset: u64,
        /// The part.
        text: String,
    },
    /// A further part of a tool's output.
    #[serde(rename = "tool.progress")]
    ToolProgress {
        /// The call.
        tool_call_id: ToolCallId,
        /// Where it comes from.
        stream: ProgressStream,
        /// Bytes of this stream before this part.
        offset: u64,
        /// The part.
        text: String,
        /// Bytes of this stream so far.
        total_bytes: u64,
    },
    /// Tokens so far in this turn.
    #[serde(rename = "usage.updated")]
    UsageUpdated {
        /// The tokens.
        usage: Usage,
    },
    /// Ephemeral events were merged or dropped for this connection.
    #[serde(rename = "queue.lagged")]
    QueueLagged {
        /// How many.
        dropped: u64,
    },
}
