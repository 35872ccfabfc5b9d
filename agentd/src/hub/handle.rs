//! What a method can ask of one session. It talks to the session's actor; cancel and permission
//! answers have a lane of their own there.

use super::{Fanout, Subscription};
use crate::base::environment::Environment;
use crate::event::state::OpenRequest;
use crate::event::{Record, record};
use crate::session::{
    Announce, Command, Mailbox, Services, Standing, Urgent, View, changed_files, expand, names_files,
};
use crate::store::{Journal, StoreError};
use crate::tools::ReadState;
use bytes::Bytes;
use proto::event::{AnyEvent, Ephemeral, Event, Role, SessionEvent};
use proto::ids::{RequestId, SessionId, Timestamp, TurnId};
use proto::methods::{
    PermissionRespondParams, PermissionRespondResult, SessionEventsResult, SessionRewindResult, SessionUpdateParams,
    TurnCancelParams, TurnCancelResult, TurnResumeResult, TurnStartParams, TurnStartResult, TurnWaitParams,
    TurnWaitResult,
};
use proto::session::{SessionInfo, SessionStatus};
use proto::{ErrorKind, RpcError};
use std::path::PathBuf;
use std::sync::Arc;
use std::time::Duration;
use tokio::sync::{oneshot, watch};

/// How many events `session/events` gives at most in one answer.
const MAX_EVENTS: u64 = 10_000;

/// One session, from outside. Shared through its `Arc`.
pub struct SessionHandle {
    pub(super) id: SessionId,
    pub(super) mailbox: Mailbox,
    pub(super) view: watch::Receiver<View>,
    pub(super) fanout: Arc<Fanout>,
    pub(super) journal: Arc<Journal>,
    pub(super) services: Arc<Services>,
    pub(super) env: Arc<Environment>,
    pub(super) record: Option<PathBuf>,
    pub(super) files: Arc<ReadState>,
}

impl Announce for Fanout {
    fn durable(&self, record: &Record) {
        Fanout::durable(self, record);
    }

    fn ephemeral(&self, at: &str, event: &Ephemeral) {
        Fanout::ephemeral(self, at, event);
    }

    fn has_listeners(&self) -> bool {
        self.subscribers() > 0
    }
}

impl SessionHandle {
    /// The session's id.
    #[must_use]
    pub fn id(&self) -> SessionId {
        self.id.clone()
    }

    /// The session as it is now.
    #[must_use]
    pub fn info(&self) -> SessionInfo {
        let info = self.logged();
        // The log knows of a folder's trust what the last turn saw.
        SessionInfo { trusted: self.services.loader.trust(info.cwd.as_ref()).trusted, ..info }
    }

    /// The session as its log has it.
    pub(super) fn logged(&self) -> SessionInfo {
        self.view.borrow().info.as_ref().clone()
    }

    /// Whether the actor has ended; the hub then loads the session anew.
    pub(super) fn is_gone(&self) -> bool {
        self.mailbox.urgent.is_closed()
    }

    /// Resolves when no turn runs, or the one that does waits for a person.
    pub(super) async fn settled(&self) {
        // An error means that the actor has ended, and with it the turn.
        let _ = self.view.clone().wait_for(|view| view.info.status != SessionStatus::Running).await;
    }

    /// Subscribes to the session's events after `after_seq`.
    ///
    /// # Errors
    /// `InvalidParams` if `after_seq` is beyond the log's end.
    pub fn subscribe(&self, after_seq: u64, ephemeral: bool) -> Result<Subscription, RpcError> {
        self.fanout.subscribe(after_seq, ephemeral).map_err(|_| {
            let last = self.journal.last_seq();
            let message = format!("afterSeq: {after_seq} is beyond the log's last event, {last}");
            RpcError::new(ErrorKind::InvalidParams, message).with("lastSeq", last)
        })
    }

    /// Reads the log.
    ///
    /// # Errors
    /// `StorageFailed`.
    pub async fn events(&self, after_seq: u64, limit: Option<u64>) -> Result<SessionEventsResult, RpcError> {
        let limit = limit.unwrap_or(MAX_EVENTS).min(MAX_EVENTS);
        let (reader, session_id) = (self.journal.reader(), self.id());
        blocking(move || {
            let mut events = Vec::new();
            reader
                .scan(after_seq, |record| {
                    if events.len() as u64 >= limit {
                        return false;
                    }
                    if let Ok(event) = serde_json::from_slice::<AnyEvent>(&record.event) {
                        let (seq, at) = (Some(record.seq), record.timestamp());
                        events.push(SessionEvent { session_id: session_id.clone(), seq, at, event });
                    }
                    true
                })
                .map_err(read_failed)?;
            Ok(SessionEventsResult { events, last_seq: reader.last_seq() })
        })
        .await
    }

    /// `turn/start`. `client` is shown with the prompt.
    ///
    /// # Errors
    /// As PROTOCOL.md §5 says.
    pub async fn start_turn(&self, params: TurnStartParams, client: &str) -> Result<TurnStartResult, RpcError> {
        // Only a prompt with files leaves this thread: prompts that are sent one after the other stay in order.
        let mut attachments = if names_files(&params.prompt) {
            let (prompt, cwd) = (params.prompt.clone(), PathBuf::from(&self.view.borrow().info.cwd));
            blocking(move || expand(&prompt, &cwd)).await?
        } else {
            Vec::new()
        };
        if !self.files.is_empty() {
            // On this thread, for the same reason.
            attachments.extend(tokio::task::block_in_place(|| changed_files(&self.files)));
        }
        let client = client.to_owned();
        let result =
            self.ask(|reply| Command::StartTurn { params: Box::new(params), attachments, client, reply }).await?;
        self.sync().await?;
        Ok(result)
    }

    /// `turn/cancel`.
    ///
    /// # Errors
    /// `TurnNotFound`.
    pub async fn cancel_turn(&self, params: TurnCancelParams) -> Result<TurnCancelResult, RpcError> {
        let (turn_id, tasks) = (params.turn_id.clone(), params.tasks);
        let (reply, answer) = oneshot::channel();
        self.mailbox.urgent.send(Urgent::Cancel { params, reply }).await.map_err(|_| gone(&self.id))?;
        let mut result = match (answer.await.map_err(|_| gone(&self.id))?, turn_id) {
            (Some(result), _) => result,
            (None, Some(turn_id)) => {
                self.past_turn(turn_id).await?;
                TurnCancelResult { cancelled: Vec::new(), already_idle: true, still_running: None }
            }
            (None, None) => TurnCancelResult { cancelled: Vec::new(), already_idle: true, still_running: None },
        };
        if tasks {
            let alive = self.services.processes.stop_session(&self.id, self.services.kill_grace()).await;
            result.still_running = (!alive.is_empty()).then_some(alive);
        }
        Ok(result)
    }

    /// `turn/wait`.
    ///
    /// # Errors
    /// `TurnNotFound`; `LimitReached` with `limit: "timeoutMs"` when the time is over.
    pub async fn wait_turn(&self, params: TurnWaitParams) -> Result<TurnWaitResult, RpcError> {
        let (reply, answer) = oneshot::channel();
        let turn_id = params.turn_id.clone();
        let command = Command::WaitTurn { turn_id: params.turn_id, reply };
        self.mailbox.commands.send(command).await.map_err(|_| gone(&self.id))?;
        let answer = match params.timeout_ms {
            None => answer.await,
            Some(ms) => tokio::time::timeout(Duration::from_millis(ms), answer).await.map_err(|_| {
                let message = format!("turn {turn_id} still runs after {ms} ms: wait again, or cancel it");
                RpcError::new(ErrorKind::LimitReached, message).with("limit", "timeoutMs").with("value", ms)
            })?,
        };
        match answer.map_err(|_| gone(&self.id))? {
            Some(result) => Ok(result),
            None => self.past_turn(turn_id).await,
        }
    }

    /// How a turn ended that is in the log.
    async fn past_turn(&self, turn_id: TurnId) -> Result<TurnWaitResult, RpcError> {
        let reader = self.journal.reader();
        blocking(move || {
            let (mut text, mut found) = (String::new(), None);
            reader
                .scan(0, |record| {
                    match record.decode() {
                        Ok(Event::MessageCompleted { turn_id: of, role: Role::Assistant, content, .. })
                            if of == turn_id =>
                        {
                            let said = crate::event::transcript::text_of(&content);
                            if !said.is_empty() {
                                text = said;
                            }
                        }
                        Ok(Event::TurnEnded { turn_id: of, reason, usage, cost, structured_output, .. })
                            if of == turn_id =>
                        {
                            found = Some((reason, usage, cost, structured_output));
                        }
                        _ => {}
                    }
                    found.is_none()
                })
                .map_err(read_failed)?;
            let (reason, usage, cost, structured_output) = found.ok_or_else(|| {
                RpcError::new(ErrorKind::TurnNotFound, format!("no turn {turn_id} in this session: see session/events"))
            })?;
            Ok(TurnWaitResult { reason, text, usage, cost, structured_output })
        })
        .await
    }

    /// `turn/resume`.
    ///
    /// # Errors
    /// `NotResumable`.
    pub async fn resume_turn(&self, client: &str) -> Result<TurnResumeResult, RpcError> {
        let client = client.to_owned();
        let result = self.ask(|reply| Command::ResumeTurn { client, reply }).await?;
        self.sync().await?;
        Ok(result)
    }

    /// The open permission requests, oldest first.
    #[must_use]
    pub fn pending_permissions(&self) -> Arc<[OpenRequest]> {
        Arc::clone(&self.view.borrow().permissions)
    }

    /// The open permission requests that a client with the events up to `after_seq` is not sent by its
    /// replay, each as its moment and the JSON of the event.
    #[must_use]
    pub fn open_before(&self, after_seq: u64) -> Vec<(Timestamp, Bytes)> {
        let view = self.view.borrow();
        let missed = view.permissions.iter().filter(|open| open.seq <= after_seq);
        missed
            .filter_map(|open| {
                let event = Event::PermissionRequested { request: open.request.clone() };
                Some((open.at.clone(), record::encode(&event).ok()?))
            })
            .collect()
    }

    /// Whether a request belongs to this session.
    pub(super) fn knows_request(&self, id: &RequestId) -> bool {
        let view = self.view.borrow();
        view.resolved.contains(id) || view.permissions.iter().any(|open| open.request.request_id == *id)
    }

    /// `permission/respond`, for a request of this session.
    ///
    /// # Errors
    /// `RequestNotFound`, `AlreadyResolved`; `InvalidParams` for a rule that is none or speaks of another call,
    /// `StorageFailed` where it can't be written: then the question is still open.
    pub async fn respond_permission(
        &self,
        params: PermissionRespondParams,
        by: &str,
    ) -> Result<PermissionRespondResult, RpcError> {
        let by = by.to_owned();
        let result = self.ask_urgent(|reply| Urgent::Respond { params: Box::new(params), by, reply }).await?;
        self.sync().await?;
        Ok(result)
    }

    /// What a call of this session would be decided by, for `permission/explain`.
    ///
    /// # Errors
    /// If the session was just put to sleep.
    pub async fn standing(&self) -> Result<Standing, RpcError> {
        self.ask(|reply| Command::Stand { reply }).await
    }

    /// `session/update`.
    ///
    /// # Errors
    /// `InvalidPath`, `ModelUnavailable`.
    pub async fn update(&self, params: SessionUpdateParams) -> Result<SessionInfo, RpcError> {
        self.ask(|reply| Command::Update { params: Box::new(params), reply }).await
    }

    /// Has the session write down that its folder's trust has changed. One that is about to leave the memory does it
    /// with its next turn.
    pub(super) async fn look_at_trust(&self) {
        let (reply, done) = oneshot::channel();
        if self.mailbox.commands.send(Command::LookAtTrust { reply }).await.is_ok() {
            let _ = done.await;
        }
    }

    /// `session/rewind`.
    ///
    /// # Errors
    /// `SessionBusy`, `TurnNotFound`, `NotResumable` for a closed session, `StorageFailed`.
    pub async fn rewind(&self, to: TurnId, files: bool) -> Result<SessionRewindResult, RpcError> {
        let result = self.ask(|reply| Command::Rewind { to, files, reply }).await?;
        self.sync().await?;
        Ok(result)
    }

    /// Ends the turn and closes the session.
    pub(super) async fn close(&self) -> Result<(), RpcError> {
        self.ask_urgent(|reply| Urgent::Close { reply }).await
    }

    /// Ends the actor.
    pub(super) async fn stop(&self) {
        if self.mailbox.urgent.send(Urgent::Stop).await.is_ok() {
            // The actor holds the other end of the view to its very end, when all who asked it have been told.
            let mut view = self.view.clone();
            while view.changed().await.is_ok() {}
        }
    }

    async fn sync(&self) -> Result<(), RpcError> {
        self.journal.sync().await.map_err(crate::session::storage_failed)
    }

    async fn ask<T>(
        &self,
        command: impl FnOnce(oneshot::Sender<Result<T, RpcError>>) -> Command,
    ) -> Result<T, RpcError> {
        let (reply, answer) = oneshot::channel();
        self.mailbox.commands.send(command(reply)).await.map_err(|_| gone(&self.id))?;
        answer.await.map_err(|_| gone(&self.id))?
    }

    async fn ask_urgent<T>(
        &self,
        urgent: impl FnOnce(oneshot::Sender<Result<T, RpcError>>) -> Urgent,
    ) -> Result<T, RpcError> {
        let (reply, answer) = oneshot::channel();
        self.mailbox.urgent.send(urgent(reply)).await.map_err(|_| gone(&self.id))?;
        answer.await.map_err(|_| gone(&self.id))?
    }
}

fn gone(id: &SessionId) -> RpcError {
    RpcError::new(ErrorKind::Internal, format!("session {id} was just put to sleep or failed: try again"))
}

/// Runs what reads files off the runtime's own threads.
pub(super) async fn blocking<T: Send + 'static>(
    work: impl FnOnce() -> Result<T, RpcError> + Send + 'static,
) -> Result<T, RpcError> {
    match tokio::task::spawn_blocking(work).await {
        Ok(result) => result,
        Err(error) => Err(RpcError::new(ErrorKind::Internal, format!("a fault of agentd: {error}"))),
    }
}

pub(super) fn read_failed(error: StoreError) -> RpcError {
    RpcError::new(ErrorKind::StorageFailed, error.to_string())
}
