//! The command line. The doc comments are the help.

use clap::{Args, Parser, Subcommand, ValueEnum};
use proto::methods::WhenBusy;
use proto::permission::RuleScope;
use proto::session::Mode;
use std::ffi::OsString;
use std::path::PathBuf;
use std::time::Duration;

/// The client of agentd: coding-agent sessions that outlive their terminal.
#[derive(Parser)]
#[command(name = "agentctl", version)]
pub struct Cli {
    /// The daemon's socket [default: $AGENTD_SOCKET, else in the runtime folder]
    #[arg(long, global = true, value_name = "PATH")]
    pub socket: Option<PathBuf>,
    #[command(subcommand)]
    pub command: Command,
}

/// What to do.
#[derive(Subcommand)]
pub enum Command {
    /// Talk with an agent; starts agentd when none runs
    Chat(Chat),
    /// Run one turn, for scripts
    #[command(after_help = RUN_EXITS)]
    Run(Run),
    /// List sessions, newest first
    Ls(Ls),
    /// Show a session's events, past and live
    Attach(Attach),
    /// Send a prompt and leave; prints the turn
    Send(Send),
    /// Go on with a turn that a restart cut; prints and exits as `run` does
    #[command(after_help = RUN_EXITS)]
    Resume(Resume),
    /// Wait for a turn to end; prints its text and exits as `run` does
    Wait(Wait),
    /// Cancel the running turn and all that wait
    Cancel(Cancel),
    /// List the questions that wait for an answer
    Pending(Pending),
    /// Answer a permission request with yes
    Allow(Allow),
    /// Answer a permission request with no
    Deny(Deny),
    /// Tell what would be decided about a call, and by which layer and rule; runs nothing
    #[command(after_help = EXPLAIN_EXITS)]
    Explain(Explain),
    /// Trust a folder: its own settings may run and allow things
    Trust(Trust),
    /// Show a session's log as text
    Logs(Logs),
    /// Write a session's log to standard output
    Export(Export),
    /// End a session's turn and tasks; its log is kept
    Close(SessionArg),
    /// Close sessions and remove their logs
    Rm(Rm),
    /// Make a new session that shares the past of another; prints its id
    Fork(Fork),
    /// Go back to just before a turn, with --files also to the files of then
    Rewind(Rewind),
    /// Search all sessions (not supported yet)
    Search(Search),
    /// List background tasks (not supported yet)
    Tasks(MaybeSession),
    /// List models
    Models(Json),
    /// Read or write a setting
    Config(Config),
    /// Tell how agentd is
    Status(Json),
    /// Start agentd if none runs
    Start,
    /// Stop agentd; running turns end first, at most limits.drainMs, then they are interrupted
    Stop(Stop),
    /// Stop agentd and start it again
    Restart(Stop),
    /// Look for what is wrong
    Doctor,
    /// Call a method of the protocol; prints its result
    Rpc(Rpc),
    /// Print the JSON Schema of the protocol
    Schema,
    /// Print a completion script
    Completions(Completions),
    /// Leave the terminal and become the given program
    #[command(name = crate::start::DETACH, hide = true)]
    Detach {
        /// The program and its arguments
        #[arg(required = true, trailing_var_arg = true, allow_hyphen_values = true)]
        program: Vec<OsString>,
    },
}

const RUN_EXITS: &str = "Exit codes: 0 completed, 1 error, 2 usage, 3 something was denied, 4 max turns, 124 timed out, \
     130 cancelled.\n\nWith no terminal to ask on, each question is denied, unless --on-ask wait is given.";

const EXPLAIN_EXITS: &str =
    "Exit codes: 0 it would run unasked, 3 it would be denied, 5 a person would be asked, 1 error, 2 usage.

Examples:
  agentctl explain Bash 'git status; rm x'
  agentctl explain --mode acceptEdits Edit src/main.rs
  agentctl explain Grep '{\"pattern\": \"TODO\", \"path\": \"/etc\"}'";

/// A session that is meant: its id, a unique prefix of it, or @last (the newest of all folders)
#[derive(Args)]
pub struct SessionArg {
    /// The session: its id, a unique prefix of it, or @last (the newest of all folders)
    #[arg(value_name = "ID")]
    pub session: String,
}

#[derive(Args)]
pub struct MaybeSession {
    /// Only this session: its id, a unique prefix of it, or @last (the newest of all folders)
    #[arg(value_name = "ID")]
    pub session: Option<String>,
}

#[derive(Args)]
pub struct Json {
    /// Print JSON
    #[arg(long)]
    pub json: bool,
}

/// Which session to work in.
#[derive(Args)]
pub struct Where {
    /// Go on with this session: its id, a unique prefix of it, or @last (the newest of all folders)
    #[arg(long, value_name = "ID", conflicts_with = "continue_last")]
    pub session: Option<String>,
    /// Go on with the newest session of this folder
    #[arg(long = "continue", short = 'c')]
    pub continue_last: bool,
    /// The model, as provider/model
    #[arg(long, short, value_name = "MODEL", value_parser = crate::commands::model_name)]
    pub model: Option<String>,
    /// The permission mode: default, acceptEdits, plan, auto, dontAsk or bypassPermissions
    #[arg(long, value_parser = parse_mode, value_name = "MODE")]
    pub mode: Option<Mode>,
    /// The folder of a new session [default: this one]
    #[arg(long, value_name = "DIR")]
    pub cwd: Option<PathBuf>,
}

#[derive(Args)]
pub struct Chat {
    #[command(flatten)]
    pub place: Where,
    /// The first prompt
    pub prompt: Option<String>,
}

#[derive(Args)]
pub struct Run {
    /// The prompt; - reads it from standard input
    pub prompt: String,
    #[command(flatten)]
    pub place: Where,
    #[command(flatten)]
    pub following: Following,
    /// How many tool rounds the turn may take
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u64).range(1..))]
    pub max_turns: Option<u64>,
    /// A JSON Schema that the answer must fit: a file, or the JSON itself. The answer is printed as JSON, in its own line
    /// at the end, or as structuredOutput
    #[arg(long, value_name = "FILE|JSON", value_parser = crate::commands::output_schema)]
    pub output_schema: Option<serde_json::Value>,
    /// Start the turn, print the session's id and leave
    #[arg(long)]
    pub detach: bool,
    /// Record the model's conversation to a file, for the model replay/FILE
    #[arg(long, value_name = "FILE")]
    pub record: Option<PathBuf>,
}

#[derive(Args)]
pub struct Resume {
    /// The session: its id, a unique prefix of it, or @last (the newest of all folders)
    #[arg(value_name = "ID", default_value = crate::session_ref::LAST)]
    pub session: String,
    #[command(flatten)]
    pub following: Following,
}

/// How `run` and `resume` follow a turn.
#[derive(Args)]
pub struct Following {
    /// What to print
    #[arg(long, short, value_enum, default_value_t, value_name = "FORM")]
    pub output: Output,
    /// Cancel the turn after this time: seconds or a unit, such as 90, 90s or 5m
    #[arg(long, value_name = "TIME", value_parser = crate::duration::parse)]
    pub timeout: Option<Duration>,
    /// What becomes of questions [default: ask on a terminal, else deny]
    #[arg(long, value_enum, value_name = "WHAT")]
    pub on_ask: Option<OnAskArg>,
}

/// What `run` prints.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, ValueEnum)]
pub enum Output {
    /// The assistant's text
    #[default]
    Text,
    /// One object at the end
    Json,
    /// Each event, one a line
    StreamJson,
}

/// What becomes of questions where nobody is asked.
#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub enum OnAskArg {
    /// Deny them, and tell the model so
    Deny,
    /// Wait for an answer from another client
    Wait,
}

#[derive(Args)]
pub struct Ls {
    /// Only sessions of this folder
    #[arg(long)]
    pub here: bool,
    /// Only sessions whose title or folder holds this text
    #[arg(long, value_name = "TEXT")]
    pub query: Option<String>,
    /// How many at most
    #[arg(long, short = 'n', value_name = "N")]
    pub limit: Option<usize>,
    /// Print JSON, one session a line
    #[arg(long)]
    pub json: bool,
}

#[derive(Args)]
pub struct Attach {
    #[command(flatten)]
    pub session: SessionArg,
    /// Start after this event
    #[arg(long, value_name = "SEQ", default_value_t)]
    pub after_seq: u64,
    /// What to print
    #[arg(long, short, value_enum, default_value_t, value_name = "FORM")]
    pub output: AttachOutput,
    /// Leave out what streams between two events of the log
    #[arg(long)]
    pub durable: bool,
    /// Leave once no turn runs or waits
    #[arg(long)]
    pub until_idle: bool,
}

/// What `attach` prints.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, ValueEnum)]
pub enum AttachOutput {
    /// Text for people
    #[default]
    Text,
    /// Each event, one a line
    StreamJson,
}

#[derive(Args)]
pub struct Send {
    #[command(flatten)]
    pub session: SessionArg,
    /// The prompt; - reads it from standard input
    pub prompt: String,
    /// What to do while a turn runs
    #[arg(long, value_enum, default_value_t, value_name = "WHAT")]
    pub when_busy: WhenBusyArg,
}

/// What becomes of a prompt while a turn runs.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, ValueEnum)]
pub enum WhenBusyArg {
    /// It waits for the turn to end
    #[default]
    Queue,
    /// It joins the turn after the tools that run now
    Steer,
    /// It ends the turn and starts one of its own
    Interrupt,
    /// It is refused
    Reject,
}

impl From<WhenBusyArg> for WhenBusy {
    fn from(arg: WhenBusyArg) -> Self {
        match arg {
            WhenBusyArg::Queue => Self::Queue,
            WhenBusyArg::Steer => Self::Steer,
            WhenBusyArg::Interrupt => Self::Interrupt,
            WhenBusyArg::Reject => Self::Reject,
        }
    }
}

#[derive(Args)]
pub struct Wait {
    #[command(flatten)]
    pub session: SessionArg,
    /// The turn [default: the newest]
    pub turn: Option<String>,
    /// How long to wait: seconds or a unit, such as 90, 90s or 5m
    #[arg(long, value_name = "TIME", value_parser = crate::duration::parse)]
    pub timeout: Option<Duration>,
    /// Print JSON
    #[arg(long)]
    pub json: bool,
}

#[derive(Args)]
pub struct Cancel {
    #[command(flatten)]
    pub session: SessionArg,
    /// Only this turn
    pub turn: Option<String>,
    /// Stop background tasks too
    #[arg(long)]
    pub tasks: bool,
}

#[derive(Args)]
pub struct Pending {
    /// Only this session: its id, a unique prefix of it, or @last (the newest of all folders)
    #[arg(value_name = "ID")]
    pub session: Option<String>,
    /// Print JSON, one request a line
    #[arg(long)]
    pub json: bool,
}

#[derive(Args)]
pub struct Allow {
    /// The request, or a unique prefix of it
    #[arg(value_name = "REQ")]
    pub request: String,
    /// Remember the first suggested rule, or those of --rule
    #[arg(long, value_enum, value_name = "SCOPE")]
    pub remember: Option<ScopeArg>,
    /// The rule to remember, such as 'Bash(npm run *)'; can be given several times
    #[arg(long = "rule", value_name = "RULE", requires = "remember")]
    pub rules: Vec<String>,
    /// Print JSON
    #[arg(long)]
    pub json: bool,
}

/// How long a rule is remembered.
#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub enum ScopeArg {
    /// Until the session is closed
    Session,
    /// In the folder's own, private settings
    Local,
    /// In the folder's shared settings
    Project,
    /// In your settings
    User,
}

impl From<ScopeArg> for RuleScope {
    fn from(arg: ScopeArg) -> Self {
        match arg {
            ScopeArg::Session => Self::Session,
            ScopeArg::Local => Self::Local,
            ScopeArg::Project => Self::Project,
            ScopeArg::User => Self::User,
        }
    }
}

#[derive(Args)]
pub struct Deny {
    /// The request, or a unique prefix of it
    #[arg(value_name = "REQ")]
    pub request: String,
    /// What the model is told; the turn goes on with it
    #[arg(long, short, value_name = "WHY")]
    pub message: Option<String>,
    /// Print JSON
    #[arg(long)]
    pub json: bool,
}

#[derive(Args)]
pub struct Explain {
    /// The tool, such as Bash or Edit
    #[arg(value_name = "TOOL")]
    pub tool: String,
    /// Its input: the command of Bash, the file of Read, Edit or Write, the pattern of Glob or Grep; any input as JSON
    #[arg(value_name = "INPUT")]
    pub input: Vec<String>,
    /// As in this session: its id, a unique prefix of it, or @last (the newest of all folders)
    #[arg(long, value_name = "ID")]
    pub session: Option<String>,
    /// In this mode
    #[arg(long, value_parser = parse_mode, value_name = "MODE")]
    pub mode: Option<Mode>,
    /// In this folder [default: this one]
    #[arg(long, value_name = "DIR", conflicts_with = "session")]
    pub cwd: Option<PathBuf>,
    /// Print JSON
    #[arg(long)]
    pub json: bool,
}

#[derive(Args)]
pub struct Trust {
    /// The folder [default: this one]
    pub path: Option<PathBuf>,
    /// Trust it no more
    #[arg(long, conflicts_with = "show")]
    pub no: bool,
    /// Only tell whether it is trusted
    #[arg(long)]
    pub show: bool,
    /// Print JSON
    #[arg(long)]
    pub json: bool,
}

#[derive(Args)]
pub struct Logs {
    #[command(flatten)]
    pub session: SessionArg,
    /// Go on with what happens next
    #[arg(long, short)]
    pub follow: bool,
}

#[derive(Args)]
pub struct Export {
    #[command(flatten)]
    pub session: SessionArg,
    /// The form
    #[arg(long, value_enum, default_value_t)]
    pub format: ExportFormat,
}

/// What `export` writes.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, ValueEnum)]
pub enum ExportFormat {
    /// Each event, one a line
    #[default]
    Jsonl,
    /// One object with the session and all events
    Json,
    /// A document for people
    Markdown,
}

#[derive(Args)]
pub struct Rm {
    /// The sessions: ids, unique prefixes of them, or @last (the newest of all folders)
    #[arg(value_name = "ID", required = true)]
    pub sessions: Vec<String>,
}

#[derive(Args)]
pub struct Fork {
    #[command(flatten)]
    pub session: SessionArg,
    /// The last event that both share [default: the newest]
    #[arg(long, alias = "at-seq", value_name = "SEQ")]
    pub at: Option<u64>,
    /// The new session's title
    #[arg(long)]
    pub title: Option<String>,
    /// Go on in the new session at the terminal
    #[arg(long)]
    pub chat: bool,
}

#[derive(Args)]
pub struct Rewind {
    #[command(flatten)]
    pub session: SessionArg,
    /// The turn to go back before, or a unique prefix of it [default: choose from a list]
    #[arg(conflicts_with = "last")]
    pub turn: Option<String>,
    /// Take back so many turns
    #[arg(long, value_name = "N")]
    pub last: Option<usize>,
    /// Restore what Edit and Write have changed since; what commands in Bash have changed stays
    #[arg(long)]
    pub files: bool,
    /// Don't ask on a terminal
    #[arg(long, short)]
    pub yes: bool,
}

#[derive(Args)]
pub struct Search {
    /// What to look for
    pub query: String,
    /// How many hits at most
    #[arg(long, short = 'n', value_name = "N")]
    pub limit: Option<u64>,
}

#[derive(Args)]
pub struct Config {
    #[command(subcommand)]
    pub action: ConfigAction,
}

#[derive(Subcommand)]
pub enum ConfigAction {
    /// List what is set, and in which files
    List,
    /// Read a setting; prints its value, and on a terminal the files that it comes from
    Get {
        /// The setting, with dots between its parts, such as permissions.allow
        key: String,
        /// Print an object with the value and its files
        #[arg(long)]
        json: bool,
    },
    /// Write a setting; prints the file
    Set {
        /// The setting, with dots between its parts
        key: String,
        /// Its value: JSON, or a plain word
        value: String,
        /// Where
        #[arg(long, value_enum, default_value_t)]
        scope: FileScope,
    },
    /// Remove a setting from a file
    Unset {
        /// The setting, with dots between its parts
        key: String,
        /// From where
        #[arg(long, value_enum, default_value_t)]
        scope: FileScope,
    },
}

/// Which settings file is meant.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, ValueEnum)]
pub enum FileScope {
    /// Yours
    #[default]
    User,
    /// The folder's, for all who work in it
    Project,
    /// The folder's, for you alone
    Local,
}

impl FileScope {
    /// The name on the wire.
    pub fn name(self) -> String {
        let name = match self {
            Self::User => "user",
            Self::Project => "project",
            Self::Local => "local",
        };
        name.to_owned()
    }
}

#[derive(Args)]
pub struct Stop {
    /// Interrupt running turns at once; `resume` goes on with them
    #[arg(long)]
    pub now: bool,
}

#[derive(Args)]
pub struct Rpc {
    /// The method, such as session/list
    pub method: String,
    /// Its params; - reads them from standard input
    #[arg(value_name = "JSON")]
    pub params: Option<String>,
}

#[derive(Args)]
pub struct Completions {
    /// The shell
    #[arg(value_enum)]
    pub shell: clap_complete::Shell,
}

fn parse_mode(name: &str) -> Result<Mode, String> {
    Mode::parse(name).ok_or_else(|| {
        let names: Vec<&str> = Mode::ALL.into_iter().map(Mode::name).collect();
        format!("there is no such mode; one of: {}", names.join(", "))
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use clap::CommandFactory;

    #[test]
    fn the_definition_is_sound() {
        Cli::command().debug_assert();
    }

    #[test]
    fn modes_are_named_as_on_the_wire() {
        assert_eq!(parse_mode("acceptEdits"), Ok(Mode::AcceptEdits));
        assert!(parse_mode("yolo").unwrap_err().contains("bypassPermissions"));
    }
}
