//! The methods: names, params and results, one file a noun. Used by agentd's dispatch, by the typed
//! client and by the schema.

mod config;
mod context;
mod daemon;
mod listing;
mod mcp;
mod permission;
mod question;
mod session;
mod task;
mod turn;

pub use config::*;
pub use context::*;
pub use daemon::*;
pub use listing::*;
pub use mcp::*;
pub use permission::*;
pub use question::*;
pub use session::*;
pub use task::*;
pub use turn::*;

use schemars::JsonSchema;
use serde::Deserialize;
use serde::Serialize;
use serde::de::DeserializeOwned;

/// A method of the protocol.
pub trait Method {
    /// The name on the wire, `noun/verb`.
    const NAME: &'static str;
    /// The shape of `params`.
    type Params: Serialize + DeserializeOwned + JsonSchema + Send + 'static;
    /// The shape of `result`.
    type Result: Serialize + DeserializeOwned + JsonSchema + Send + 'static;
}

/// An empty object.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Empty {}

macro_rules! methods {
    ($($(#[$doc:meta])* $method:ident = $name:literal: $params:ty => $result:ty;)*) => {
        $(
            $(#[$doc])*
            #[derive(Debug, Clone, Copy)]
            pub struct $method;

            impl Method for $method {
                const NAME: &'static str = $name;
                type Params = $params;
                type Result = $result;
            }
        )*

        /// The names of all methods, in the order of PROTOCOL.md.
        pub const METHOD_NAMES: &[&str] = &[$($name),*];

        /// Calls `visit` with the name and the two schemas of each method.
        pub(crate) fn each_schema(
            generator: &mut schemars::SchemaGenerator,
            mut visit: impl FnMut(&'static str, schemars::Schema, schemars::Schema),
        ) {
            $(visit($name, generator.subschema_for::<$params>(), generator.subschema_for::<$result>());)*
        }
    };
}

methods! {
    /// Tells who the client is and checks the version. Optional.
    Initialize = "initialize": InitializeParams => InitializeResult;
    /// Tells how agentd is.
    DaemonStatus = "daemon/status": Empty => DaemonStatusResult;
    /// Reads the settings again.
    DaemonReload = "daemon/reload": DaemonReloadParams => DaemonReloadResult;
    /// Stops agentd.
    DaemonShutdown = "daemon/shutdown": DaemonShutdownParams => Empty;
    /// Creates a session.
    SessionCreate = "session/create": SessionCreateParams => SessionResult;
    /// Lists sessions, newest first.
    SessionList = "session/list": SessionListParams => SessionListResult;
    /// Shows one session.
    SessionGet = "session/get": SessionParams => SessionResult;
    /// Subscribes this connection to a session's events.
    SessionAttach = "session/attach": SessionAttachParams => SessionAttachResult;
    /// Ends the subscription.
    SessionDetach = "session/detach": SessionParams => Empty;
    /// Changes a session.
    SessionUpdate = "session/update": SessionUpdateParams => SessionResult;
    /// Makes a new session that shares the past.
    SessionFork = "session/fork": SessionForkParams => SessionResult;
    /// Goes back to just before a turn.
    SessionRewind = "session/rewind": SessionRewindParams => SessionRewindResult;
    /// Replaces the past by a summary.
    SessionCompact = "session/compact": SessionCompactParams => SessionCompactResult;
    /// Reads the log without attaching.
    SessionEvents = "session/events": SessionEventsParams => SessionEventsResult;
    /// Searches all logs.
    SessionSearch = "session/search": SessionSearchParams => SessionSearchResult;
    /// Ends a session's turn and tasks and keeps its log.
    SessionClose = "session/close": SessionParams => Empty;
    /// Closes a session and removes its log.
    SessionDelete = "session/delete": SessionParams => Empty;
    /// Sends a prompt. Returns once it is durable, not when the turn ends.
    TurnStart = "turn/start": TurnStartParams => TurnStartResult;
    /// Stops a turn. Returns when it has ended and its processes are gone.
    TurnCancel = "turn/cancel": TurnCancelParams => TurnCancelResult;
    /// Waits for the end of a turn.
    TurnWait = "turn/wait": TurnWaitParams => TurnWaitResult;
    /// Goes on with an interrupted turn.
    TurnResume = "turn/resume": SessionParams => TurnResumeResult;
    /// Lists open permission requests.
    PermissionList = "permission/list": MaybeSessionParams => PermissionListResult;
    /// Answers a permission request. The first answer wins.
    PermissionRespond = "permission/respond": PermissionRespondParams => PermissionRespondResult;
    /// Tells what would be decided, without running anything.
    PermissionExplain = "permission/explain": PermissionExplainParams => PermissionExplainResult;
    /// Answers a question.
    QuestionRespond = "question/respond": QuestionRespondParams => Empty;
    /// Lists background tasks.
    TaskList = "task/list": MaybeSessionParams => TaskListResult;
    /// Reads a task's output.
    TaskOutput = "task/output": TaskOutputParams => TaskOutputResult;
    /// Stops a task.
    TaskStop = "task/stop": TaskParams => Empty;
    /// Sends a running command to the background.
    TaskBackground = "task/background": TaskBackgroundParams => TaskBackgroundResult;
    /// Lists the processes of tools.
    ProcessList = "process/list": MaybeSessionParams => ProcessListResult;
    /// Lists a session's tools.
    ToolList = "tool/list": SessionParams => ToolListResult;
    /// Lists the models.
    ModelList = "model/list": ModelListParams => ModelListResult;
    /// Lists MCP servers.
    McpList = "mcp/list": MaybeSessionParams => McpListResult;
    /// Connects an MCP server again.
    McpReconnect = "mcp/reconnect": McpServerParams => Empty;
    /// Starts the authorization of an MCP server.
    McpAuthorize = "mcp/authorize": McpServerParams => McpAuthorizeResult;
    /// Tells whether a folder is trusted.
    TrustGet = "trust/get": TrustGetParams => TrustResult;
    /// Trusts a folder, or stops trusting it.
    TrustSet = "trust/set": TrustSetParams => TrustResult;
    /// Lists a session's commands.
    CommandList = "command/list": SessionParams => ConfiguredListResult;
    /// Lists a session's kinds of sub-agent.
    AgentList = "agent/list": SessionParams => ConfiguredListResult;
    /// Lists a session's skills.
    SkillList = "skill/list": SessionParams => ConfiguredListResult;
    /// Lists a session's hooks.
    HookList = "hook/list": SessionParams => ConfiguredListResult;
    /// Lays an editor's unsaved buffer over a file.
    OverlaySet = "overlay/set": OverlaySetParams => Empty;
    /// Takes it away.
    OverlayClear = "overlay/clear": OverlayClearParams => Empty;
    /// Tells what the person is looking at.
    ContextUpdate = "context/update": ContextUpdateParams => Empty;
    /// Completes a path.
    PathComplete = "path/complete": PathCompleteParams => PathCompleteResult;
    /// Reads a setting.
    ConfigGet = "config/get": ConfigGetParams => ConfigGetResult;
    /// Writes a setting.
    ConfigSet = "config/set": ConfigSetParams => ConfigGetResult;
}
