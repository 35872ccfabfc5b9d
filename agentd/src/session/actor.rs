//! The actor: one task per awake session. A closed set of inputs, one loop; each input is handled to its
//! end before the next. It awaits nothing but inputs, so a slow disk, client, model or tool never
//! holds up a cancel; only a rewind waits for the files that it restores, while nothing runs.

use super::log::Log;
use super::mailbox::{Command, Inbox, Reply, Urgent};
use super::pipeline::ToolMessage;
use super::services::Services;
use super::turns::RunningTurn;
use crate::base::environment::Environment;
use crate::event::state::OpenTurn;
use crate::model::ModelStream;
use crate::tools::ReadState;
use crate::turn::model_event::{Fault, FaultKind, ModelEvent};
use futures::StreamExt;
use proto::ids::{RequestId, TurnId};
use proto::methods::TurnWaitResult;
use proto::session::SessionStatus;
use std::collections::{HashMap, HashSet};
use std::path::PathBuf;
use std::sync::Arc;
use std::time::Duration;
use tokio::sync::{mpsc, oneshot};

/// An idle session that nobody listens to leaves the memory after this; its log brings it back.
const IDLE: Duration = Duration::from_secs(600);
/// Messages of running calls that may wait; their senders wait beyond it.
const TOOL_MESSAGES: usize = 256;

/// One awake session.
pub struct Actor {
    /// The session's log and state.
    pub(super) log: Log,
    /// What every session uses.
    pub(super) services: Arc<Services>,
    /// The client's environment.
    pub(super) env: Arc<Environment>,
    /// The session's folder in the state folder.
    pub(super) dir: PathBuf,
    /// The file that the model's conversation is recorded to.
    pub(super) record: Option<PathBuf>,
    /// What was read of which file.
    pub(super) files: Arc<ReadState>,
    /// What was told of the settings' errors: each once, not every turn.
    pub(super) told: HashSet<String>,
    /// The turn that runs.
    pub(super) running: Option<RunningTurn>,
    /// Who waits for the end of which turn.
    pub(super) waiters: Vec<(TurnId, oneshot::Sender<Option<TurnWaitResult>>)>,
    /// How the last turn ended that did since the session woke: who asks a moment too late need not read the log.
    pub(super) last_end: Option<(TurnId, TurnWaitResult)>,
    /// Calls that wait for an answer.
    pub(super) asks: HashMap<RequestId, oneshot::Sender<super::approvals::Answer>>,
    /// Answers that came before their call asked again, after a restart.
    pub(super) early: HashMap<proto::ids::ToolCallId, super::approvals::Early>,
    /// Questions whose answer brings a rule that is being written, with the answers that came after it.
    pub(super) remembering: HashMap<RequestId, Vec<super::approvals::Given>>,
    /// Who waits for the session to be closed.
    pub(super) closing: Vec<Reply<()>>,
    /// Where running calls report to.
    pub(super) tool_sender: mpsc::Sender<ToolMessage>,
    tool_messages: mpsc::Receiver<ToolMessage>,
    inbox: Inbox,
    stopping: bool,
}

/// What wakes the actor, in the order in which it is looked at.
enum Wake {
    Urgent(Urgent),
    Tool(ToolMessage),
    Model(ModelEvent),
    Command(Command),
    Idle,
    Gone,
}

impl Actor {
    /// An actor over a log that is up to date.
    #[must_use]
    pub fn new(log: Log, services: Arc<Services>, env: Arc<Environment>, dir: PathBuf, inbox: Inbox) -> Self {
        let (tool_sender, tool_messages) = mpsc::channel(TOOL_MESSAGES);
        Self {
            log,
            services,
            env,
            dir,
            record: None,
            files: Arc::default(),
            told: HashSet::new(),
            running: None,
            waiters: Vec::new(),
            last_end: None,
            asks: HashMap::new(),
            early: HashMap::new(),
            remembering: HashMap::new(),
            closing: Vec::new(),
            tool_sender,
            tool_messages,
            inbox,
            stopping: false,
        }
    }

    /// Records the model's conversation to a file.
    #[must_use]
    pub fn recording(mut self, file: Option<PathBuf>) -> Self {
        self.record = file;
        self
    }

    /// Shares what was read of which file with whoever takes the prompts.
    #[must_use]
    pub fn knowing(mut self, files: Arc<ReadState>) -> Self {
        self.files = files;
        self
    }

    /// Runs until the session is closed, idle for long, or agentd stops. `revive` is the turn that waited for
    /// a person when agentd stopped before.
    pub async fn run(mut self, revive: Option<OpenTurn>) {
        match revive {
            Some(turn) => self.revive_turn(turn),
            None => self.start_queued(),
        }
        while !self.is_over() {
            match self.wake().await {
                Wake::Urgent(urgent) => self.take_urgent(urgent),
                Wake::Tool(message) => self.take_tool_message(message),
                Wake::Model(event) => self.take_model_event(event),
                Wake::Command(command) => self.take_command(command).await,
                Wake::Idle if self.running.is_none() && !self.log.announce().has_listeners() => break,
                // It stays for those who listen; providers have forgotten its prefix by now, too.
                Wake::Idle => self.log.state().transcript.forget_encodings(),
                Wake::Gone => break,
            }
        }
        self.let_go().await;
    }

    /// Takes what was sent until the last moment. A message whose sender had its place already would otherwise
    /// lie in the closed mailbox, and its sender wait for ever. A closed session answers; one that only
    /// leaves the memory drops the request, which tells its sender to ask again.
    async fn let_go(&mut self) {
        let closed = self.log.state().info.status == SessionStatus::Closed;
        self.inbox.urgent.close();
        self.inbox.commands.close();
        while let Some(urgent) = self.inbox.urgent.recv().await {
            if closed {
                self.take_urgent(urgent);
            }
        }
        while let Some(command) = self.inbox.commands.recv().await {
            if closed {
                self.take_command(command).await;
            }
        }
    }

    fn is_over(&self) -> bool {
        self.stopping && self.running.is_none()
    }

    async fn wake(&mut self) -> Wake {
        tokio::select! {
            biased;
            urgent = self.inbox.urgent.recv() => urgent.map_or(Wake::Gone, Wake::Urgent),
            Some(message) = self.tool_messages.recv() => Wake::Tool(message),
            event = next_model_event(self.running.as_mut().and_then(|turn| turn.stream.as_mut())) => Wake::Model(event),
            command = self.inbox.commands.recv() => command.map_or(Wake::Gone, Wake::Command),
            () = tokio::time::sleep(IDLE), if self.running.is_none() => Wake::Idle,
        }
    }

    fn take_urgent(&mut self, urgent: Urgent) {
        match urgent {
            Urgent::Cancel { params, reply } => self.cancel(params, reply),
            Urgent::Respond { params, by, reply } => {
                self.respond(super::approvals::Given { params: *params, by, reply });
            }
            Urgent::Close { reply } => self.close(reply),
            Urgent::Stop => {
                self.stopping = true;
                self.interrupt_for_stop();
            }
        }
    }

    fn take_model_event(&mut self, event: ModelEvent) {
        self.expect_tool(&event);
        if let (ModelEvent::Stopped { .. } | ModelEvent::Fault(_), Some(turn)) = (&event, &mut self.running) {
            turn.stream = None;
        }
        self.step(crate::turn::Input::Model(event));
    }

    async fn take_command(&mut self, command: Command) {
        match command {
            Command::StartTurn { params, attachments, client, reply } => {
                let _ = reply.send(self.start_turn(*params, attachments, client));
            }
            Command::ResumeTurn { client, reply } => {
                let _ = reply.send(self.resume_turn(client));
            }
            Command::Rewind { to, files, reply } => {
                let _ = reply.send(self.rewind(to, files).await);
            }
            Command::WaitTurn { turn_id, reply } => self.wait_turn(turn_id, reply),
            Command::LookAtTrust { reply } => {
                self.look_at_trust();
                let _ = reply.send(());
            }
            Command::Stand { reply } => drop(reply.send(Ok(self.standing()))),
            Command::Update { params, reply } => {
                let _ = reply.send(self.update(*params));
            }
        }
    }

    /// Ends the actor once nothing runs.
    pub(super) fn finish(&mut self) {
        self.stopping = true;
    }
}

/// The next event of the stream; pending for ever where there is none. A stream that ends without a word
/// broke off.
async fn next_model_event(stream: Option<&mut ModelStream>) -> ModelEvent {
    match stream {
        None => std::future::pending().await,
        Some(stream) => stream.next().await.unwrap_or_else(|| {
            ModelEvent::Fault(Fault { kind: FaultKind::Truncated, message: "The model's answer broke off.".to_owned() })
        }),
    }
}
