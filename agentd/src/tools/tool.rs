//! The `Tool` trait: everything that agentd, the model and people need to know of a tool.

use crate::base::environment::Environment;
use crate::event::ContextChange;
use crate::policy::{OwnCheck, Subject};
use futures::future::BoxFuture;
use proto::content::ContentBlock;
use proto::event::{FileCheckpoint, ProgressStream, ToolCause, ToolKind};
use proto::ids::{SessionId, ToolCallId};
use proto::permission::Preview;
use serde_json::Value;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use tokio_util::sync::CancellationToken;

/// What the text that a model is told of a tool may depend on. The same options give the same text, so that prompt
/// caches hold: what changes within a turn is no part of it.
#[derive(Debug, Clone, Default, PartialEq, Eq, Hash)]
pub struct PromptOptions {
    /// The model, as `provider/model`.
    pub model: String,
    /// The names of all tools of the turn, also of those that have to be searched for.
    pub tools: Vec<String>,
    /// Whether there are only the few tools of simple mode (row R07).
    pub simple: bool,
}

impl PromptOptions {
    /// Whether the model can call a tool of this name.
    #[must_use]
    pub fn has(&self, tool: &str) -> bool {
        self.tools.iter().any(|name| name == tool)
    }
}

/// A tool, built in or from an MCP server (row T01). Predicates take the input, since `ls` and `rm` are one tool;
/// they fail closed (row T06).
pub trait Tool: Send + Sync {
    /// Its name, as the model calls it.
    fn name(&self) -> &str;

    /// Other names that models call it by (row T02).
    fn aliases(&self) -> &[&str] {
        &[]
    }

    /// Words beside its name and its text by which a search finds it (row T02).
    fn search_hint(&self) -> &str {
        ""
    }

    /// `builtin`, or the MCP server that it comes from.
    fn source(&self) -> &str {
        "builtin"
    }

    /// Whether it is there at all, on this machine and in this daemon (row R01).
    fn is_enabled(&self) -> bool {
        true
    }

    /// What the model is told of it (rows T05, A03).
    fn prompt(&self, options: &PromptOptions) -> String;

    /// The JSON Schema of its input, made from the input's type, unknown fields denied. A tool that has none says so in
    /// [`Tool::input_json_schema`].
    fn input_schema(&self) -> Value {
        serde_json::json!({"type": "object"})
    }

    /// The JSON Schema of its input as it came with the tool; it goes to the model unchanged (rows T03, A02).
    fn input_json_schema(&self) -> Option<Value> {
        None
    }

    /// The JSON Schema of [`ToolOutput::data`].
    fn output_schema(&self) -> Option<Value> {
        None
    }

    /// What it does, for icons.
    fn kind(&self) -> ToolKind;

    /// Whether it comes from an MCP server (row T11).
    fn is_mcp(&self) -> bool {
        false
    }

    /// Whether models that can should be held to its schema while they write the input (rows T11, A04).
    fn strict(&self) -> bool {
        false
    }

    /// Whether models are told of it only once they have searched for it (row T09). Servers bring tools by the
    /// dozen, most of which a session never needs.
    fn should_defer(&self) -> bool {
        self.is_mcp()
    }

    /// Whether models are told of it from the start, whatever [`Tool::should_defer`] says.
    fn always_load(&self) -> bool {
        false
    }

    /// Whether this call only reads.
    fn read_only(&self, _input: &Value) -> bool {
        false
    }

    /// Whether this call may do what can't be undone.
    fn destructive(&self, input: &Value) -> bool {
        !self.read_only(input)
    }

    /// Whether this call may run beside others (row C05).
    fn concurrency_safe(&self, _input: &Value) -> bool {
        false
    }

    /// Whether a new prompt that interrupts lets this call run to its end; a cancel stops it anyway (rows T15, I10).
    fn blocks_interrupt(&self, _input: &Value) -> bool {
        true
    }

    /// Whether it runs commands: by the setting `tools.cascade` its failure stops parallel calls (row C14).
    fn runs_commands(&self) -> bool {
        false
    }

    /// Whether a person has to be asked in every mode (row T14).
    fn requires_user_interaction(&self) -> bool {
        false
    }

    /// Characters of its result that go to the model; more goes to a file (row T10).
    fn max_result_chars(&self) -> usize {
        crate::base::limits::MAX_RESULT_CHARS
    }

    /// The input with what observers (hooks, permission, people) should see beside what the model wrote, such as an
    /// absolute path; `None` if it is the same. `call` gets the model's own (rows T16, X06, X07).
    fn observable_input(&self, _input: &Value, _context: &ToolContext) -> Option<Value> {
        None
    }

    /// What the model is told of structured data that a hook put in the place of the tool's own (rows H10, X14).
    fn map_data(&self, data: &Value) -> Vec<ContentBlock> {
        vec![ContentBlock::text(data.as_str().map_or_else(|| data.to_string(), str::to_owned))]
    }

    /// Whether the checks of this input (validation, permission, preview) may look at files: then they run where that
    /// holds nobody up, which costs a change of threads.
    fn checks_read_files(&self, _input: &Value) -> bool {
        true
    }

    /// The model has begun to write a call of it, whose input is not known yet: what takes time to get ready may be got
    /// ready now. Returns at once and changes nothing that anybody sees.
    fn expect(&self, _context: &ToolContext) {}

    /// Whether an input is what the tool takes, as far as the input alone tells.
    ///
    /// # Errors
    /// One sentence that names the field and what is expected.
    fn check_input(&self, input: &Value) -> Result<(), String> {
        super::schema_check::check(input, &schema_of(self))
    }

    /// Stage A of the pipeline: the input's shape, then the tool's own check (rows X03, X05). May read files.
    ///
    /// # Errors
    /// One sentence that names the field and what is expected, for the model.
    fn validate(&self, input: &Value, _context: &ToolContext) -> Result<(), String> {
        self.check_input(input)
    }

    /// What the tool itself thinks of the call, beside what the call is about: that, rules and modes are weighed by
    /// `policy`. May read files.
    fn check_permission(&self, _input: &Value, _context: &ToolContext) -> ToolVerdict {
        ToolVerdict::Ask { detail: format!("{} may change something", self.name()) }
    }

    /// What the call is about, for rules and safety checks: made once for a call, looked at for many rules (row T13). May
    /// look at files.
    fn subject(&self, _input: &Value, _context: &ToolContext) -> Subject {
        Subject::Fields
    }

    /// The call in few words, for a model that judges whether it is safe (row T12).
    fn classifier_input(&self, input: &Value) -> String {
        format!("{} {input}", self.name())
    }

    /// One line for people on the call, such as `Edit src/main.rs` (row T08).
    fn title(&self, input: &Value) -> String;

    /// One line for people while it runs.
    fn progress_text(&self, input: &Value, progress: &Progress) -> String {
        let last = progress.text.lines().rfind(|line| !line.trim().is_empty()).unwrap_or_default();
        match last {
            "" => self.title(input),
            last => format!("{}: {}", self.title(input), crate::base::text::one_line(last, 80)),
        }
    }

    /// One line for people on what it gave.
    fn result_text(&self, output: &ToolOutput) -> String {
        output.summary.clone()
    }

    /// One line for people on why it failed, or did not run.
    fn error_text(&self, message: &str) -> String {
        crate::base::text::one_line(message, 120)
    }

    /// What the call would do, for the person who is asked. Reads files, changes nothing.
    fn preview(&self, _input: &Value, _context: &ToolContext) -> Option<Preview> {
        None
    }

    /// The call as the edit of a file that it is, if it is one that can be worked out ahead: asked only of a line that
    /// changes nothing but files, before a person is. Changes nothing.
    fn simulate<'a>(&'a self, _input: &'a Value, _context: &'a ToolContext) -> BoxFuture<'a, Option<Simulated>> {
        Box::pin(std::future::ready(None))
    }

    /// Runs the call. Returns soon after `context.cancel` fires, and only when its processes are gone.
    fn call(&self, input: Value, context: ToolContext) -> BoxFuture<'_, ToolOutput>;
}

/// A call that was worked out ahead.
#[derive(Debug, Clone, PartialEq)]
pub struct Simulated {
    /// What a person is shown in place of the tool's own preview.
    pub preview: Preview,
    /// What the tool gets in place of its input once that was allowed. Only permission makes it: no schema knows it.
    pub input: Value,
}

/// The JSON Schema of a tool's input: its own, else the one of its type.
pub(super) fn schema_of(tool: &(impl Tool + ?Sized)) -> Value {
    tool.input_json_schema().unwrap_or_else(|| tool.input_schema())
}

/// What a tool thinks of a call.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum ToolVerdict {
    /// It has nothing against it: it only reads, or what the call is about decides.
    Allow {
        /// One sentence for people.
        detail: String,
    },
    /// It changes files inside the session's folders: mode `acceptEdits` lets it run.
    AskEdit {
        /// One sentence for people.
        detail: String,
    },
    /// A person should look at it.
    Ask {
        /// One sentence for people.
        detail: String,
    },
    /// No mode lets it run without a person: a protected path (row P06).
    Safety {
        /// One sentence for people.
        detail: String,
    },
    /// It can't be allowed.
    Deny {
        /// One sentence for people and for the model.
        detail: String,
    },
}

/// What a tool thinks of a call, as permission weighs it.
#[must_use]
pub fn own_check(tool: &dyn Tool, input: &Value, context: &ToolContext) -> OwnCheck {
    match tool.check_permission(input, context) {
        ToolVerdict::Deny { detail } => OwnCheck::Forbidden(detail),
        _ if tool.requires_user_interaction() => OwnCheck::NeedsPerson(format!("{} asks a person", tool.name())),
        ToolVerdict::Allow { detail } => OwnCheck::Reads(detail),
        ToolVerdict::AskEdit { detail } => OwnCheck::Edits(detail),
        ToolVerdict::Ask { detail } => OwnCheck::Unsure(detail),
        ToolVerdict::Safety { detail } => OwnCheck::Unsafe(detail),
    }
}

/// Tells files that searches leave out, since a rule denies reading them.
pub type Hidden = Arc<dyn Fn(&Path, &Path) -> bool + Send + Sync>;

/// What a call may use.
#[derive(Clone)]
pub struct ToolContext {
    /// The session, to tag processes with.
    pub session_id: SessionId,
    /// The call, to tag processes and name files with.
    pub tool_call_id: ToolCallId,
    /// The session's folder: with the additional ones, where file tools may work.
    pub root: PathBuf,
    /// Where the session's shell stands: relative paths start here.
    pub cwd: PathBuf,
    /// Folders beside it in which file tools may work.
    pub additional_directories: Arc<[PathBuf]>,
    /// The client's environment; a process gets it less secrets.
    pub env: Arc<Environment>,
    /// Where large results go: `sessions/<id>/outputs`. May not exist yet.
    pub outputs_dir: PathBuf,
    /// Where what Edit and Write replace is kept: `sessions/<id>/checkpoints`. May not exist yet.
    pub checkpoints_dir: PathBuf,
    /// What this session has read of which file, for Edit and Write.
    pub files: Arc<super::read_state::ReadState>,
    /// Processes of this daemon.
    pub processes: Arc<crate::process::Processes>,
    /// Fires when the call is to stop.
    pub cancel: CancellationToken,
    /// Takes live output. May drop it.
    pub progress: Arc<dyn Fn(Progress) + Send + Sync>,
    /// Time limits of Bash.
    pub bash: crate::config::BashSettings,
    /// How long a stopped process may take to end before it is killed.
    pub kill_grace: std::time::Duration,
    /// Whether a person or a hook changed the model's input (row X08).
    pub user_modified: bool,
    /// Says of a file, by its name and by where it leads, that no search may come upon it. `None` if none is hidden.
    pub hidden: Option<Hidden>,
    /// Whether a person trusts the session's folder: its own git configuration may run programs then.
    pub trusted: bool,
}

/// A part of a running call's output.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Progress {
    /// Where it comes from.
    pub stream: ProgressStream,
    /// Bytes of this stream before this part.
    pub offset: u64,
    /// The part.
    pub text: String,
    /// Bytes of this stream so far.
    pub total_bytes: u64,
}

/// What a call gave.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct ToolOutput {
    /// What the model is told. What is beyond the tool's limit is put into a file, unless the tool has done so itself.
    pub content: Vec<ContentBlock>,
    /// One line for people, such as `12 lines`.
    pub summary: String,
    /// Whether the model is told of an error.
    pub is_error: bool,
    /// The file that holds the whole of a large result.
    pub persisted_path: Option<PathBuf>,
    /// What cut the call short.
    pub cause: Option<ToolCause>,
    /// The file that the call changed.
    pub file_change: Option<FileChange>,
    /// Processes that could not be stopped.
    pub still_running: Vec<u32>,
    /// The result as data, for hooks; what the model is told is `content`.
    pub data: Option<Value>,
    /// What the model is told after the results of the round (row T04).
    pub new_messages: Vec<ContentBlock>,
    /// What the call changes for later calls (rows T04, X16).
    pub context: Option<ContextChange>,
    /// What an MCP server sends along.
    pub mcp_meta: Option<Value>,
    /// Deferred tools that the call found: the model is told of them from its next answer on (row T09).
    pub discovered: Vec<String>,
    /// The turn's answer as data, where it has a schema for it (row X11).
    pub structured_output: Option<Value>,
}

/// A change of a file.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct FileChange {
    /// The file, absolute.
    pub path: PathBuf,
    /// The change, as a unified diff.
    pub diff: String,
    /// How to undo it.
    pub checkpoint: Option<FileCheckpoint>,
}

impl ToolOutput {
    /// A success with one text.
    #[must_use]
    pub fn text(text: impl Into<String>, summary: impl Into<String>) -> Self {
        Self { content: vec![ContentBlock::text(text)], summary: summary.into(), ..Self::default() }
    }

    /// An error that the model is told of.
    #[must_use]
    pub fn error(message: impl Into<String>) -> Self {
        let message = message.into();
        Self {
            summary: crate::base::text::one_line(&message, 120),
            content: vec![ContentBlock::text(message)],
            is_error: true,
            ..Self::default()
        }
    }
}

/// A title of a tool's name and one field of its input, as the model wrote it.
pub(super) fn title(name: &str, input: &Value, field: &str) -> String {
    match input.get(field).and_then(Value::as_str) {
        Some(text) => format!("{name} {}", crate::base::text::one_line(text, 120)),
        None => name.to_owned(),
    }
}

/// The input with the field `file_path` made absolute; `None` if it is so already, or is no path.
pub(super) fn with_absolute_path(input: &Value, context: &ToolContext) -> Option<Value> {
    let path = input.get("file_path")?.as_str()?;
    let absolute: PathBuf = super::paths::locate(path, context).ok()?.path.components().collect();
    let absolute = absolute.to_str().filter(|absolute| *absolute != path)?;
    let mut observable = input.clone();
    observable.as_object_mut()?.insert("file_path".to_owned(), Value::from(absolute));
    Some(observable)
}

/// Runs a call's work, which reads and writes files, where it holds nobody up.
pub(super) async fn off_the_runtime(
    cancel: CancellationToken,
    work: impl FnOnce() -> Result<ToolOutput, String> + Send + 'static,
) -> ToolOutput {
    match tokio::task::spawn_blocking(work).await {
        Ok(Ok(output)) => output,
        Ok(Err(message)) => {
            let cause = cancel.is_cancelled().then_some(ToolCause::UserAbort);
            ToolOutput { cause, ..ToolOutput::error(message) }
        }
        Err(error) if error.is_panic() => std::panic::resume_unwind(error.into_panic()),
        Err(_) => ToolOutput::error("the call was stopped since agentd is stopping"),
    }
}
