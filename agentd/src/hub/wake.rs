//! Waking a session: its log is read, folded and, if a crash cut it, closed honestly; then its actor
//! starts. Called by the registry.

use super::Fanout;
use super::handle::{SessionHandle, blocking};
use crate::base::environment::Environment;
use crate::event::state::OpenTurn;
use crate::event::{Record, SessionState};
use crate::session::{Actor, Announce, Log, Recovery, Room, Services, View, mailbox, plan, storage_failed};
use crate::store::{Journal, READS_FILE, SessionSnapshot, StateDir};
use crate::tools::ReadState;
use proto::event::Event;
use proto::ids::SessionId;
use proto::session::{SessionInfo, SessionStatus};
use proto::{ErrorKind, RpcError};
use std::path::PathBuf;
use std::sync::Arc;
use tokio::sync::watch;

/// Wakes sessions.
pub(super) struct Waker {
    services: Arc<Services>,
    state: StateDir,
}

/// A session that was read from its log, before its actor starts.
pub(super) struct Loaded {
    id: SessionId,
    log: Log,
    view: watch::Receiver<View>,
    fanout: Arc<Fanout>,
    env: Arc<Environment>,
    record: Option<PathBuf>,
    dir: PathBuf,
    revive: Option<OpenTurn>,
    cut: bool,
}

impl Waker {
    pub fn new(services: Arc<Services>, state: StateDir) -> Self {
        Self { services, state }
    }

    /// The session's info from its snapshot, if that is as new as the log and nothing waits to be done.
    pub fn cached(&self, id: &SessionId) -> Option<SessionInfo> {
        let dir = self.state.session_dir(id).ok()?;
        let own = |snapshot: &SessionSnapshot| snapshot.info.id == *id && snapshot.is_current(&dir);
        let snapshot = SessionSnapshot::load(&dir).filter(own)?;
        let info = &snapshot.info;
        let at_rest = !matches!(info.status, SessionStatus::Running | SessionStatus::Waiting) && info.queue.is_empty();
        at_rest.then_some(snapshot.info)
    }

    /// The session's info from its snapshot, for a log that can't be read. Nothing of it runs.
    pub fn last_known(&self, id: &SessionId) -> Option<SessionInfo> {
        let snapshot = SessionSnapshot::load(&self.state.session_dir(id).ok()?)?;
        let status = match snapshot.info.status {
            SessionStatus::Running | SessionStatus::Waiting => SessionStatus::Interrupted,
            status => status,
        };
        (snapshot.info.id == *id).then_some(SessionInfo { status, ..snapshot.info })
    }

    /// Reads a session from its log and closes what a crash cut.
    pub async fn load(
        &self,
        id: &SessionId,
        env: Arc<Environment>,
        record: Option<PathBuf>,
    ) -> Result<Loaded, RpcError> {
        let dir = self.state.session_dir(id).ok().filter(|dir| dir.is_dir()).ok_or_else(|| unknown(id))?;
        let mut loaded = blocking(move || read(dir, env, record)).await?;
        loaded.check_id(id)?;
        match plan(loaded.log.state()) {
            Recovery::Nothing => {}
            Recovery::Revive(events) => {
                for event in &events {
                    loaded.log.append(event, Room::Reserve).map_err(storage_failed)?;
                }
                loaded.revive.clone_from(&loaded.log.state().turn);
            }
            Recovery::Close(events) => {
                for event in &events {
                    loaded.log.append(event, Room::Reserve).map_err(storage_failed)?;
                }
                loaded.keep_snapshot();
                loaded.cut = true;
            }
        }
        Ok(loaded)
    }
}

impl Loaded {
    /// A session that was just created: its log gets its first event.
    pub fn fresh(
        journal: Journal,
        created: &Event,
        dir: PathBuf,
        env: Arc<Environment>,
        record: Option<PathBuf>,
    ) -> Result<Self, RpcError> {
        let state = SessionState::from_first(created)
            .ok_or_else(|| RpcError::new(ErrorKind::Internal, "a session begins with session.created"))?;
        let mut loaded = Self { env, record, ..Self::over(journal, state, dir) };
        loaded.log.append(created, Room::Normal).map_err(storage_failed)?;
        Ok(loaded)
    }

    fn over(journal: Journal, state: SessionState, dir: PathBuf) -> Self {
        let id = state.info.id.clone();
        let journal = Arc::new(journal);
        let fanout = Fanout::new(id.clone(), journal.reader());
        let announce: Arc<dyn Announce> = Arc::clone(&fanout) as _;
        let (log, view) = Log::new(journal, announce, state);
        Self { id, log, view, fanout, env: Arc::default(), record: None, dir, revive: None, cut: false }
    }

    /// A copy of another session's folder must not pass for that session.
    fn check_id(&self, id: &SessionId) -> Result<(), RpcError> {
        if self.id == *id {
            return Ok(());
        }
        let (dir, other) = (self.dir.display(), &self.id);
        let message = format!("{dir} holds the log of session {other}, not its own: delete session {id}");
        Err(RpcError::new(ErrorKind::StorageFailed, message))
    }

    fn keep_snapshot(&self) {
        let journal_bytes = self.log.journal().len_bytes();
        let snapshot = SessionSnapshot { journal_bytes, info: self.log.state().info.clone() };
        if let Err(error) = SessionSnapshot::save(&self.dir, &snapshot) {
            tracing::debug!(%error, "a snapshot was not kept; the log has it all");
        }
    }

    /// Whether the session has something to do without being asked.
    pub fn has_work(&self) -> bool {
        let state = self.log.state();
        self.revive.is_some() || (!state.queue.is_empty() && state.interrupted.is_none())
    }

    /// Whether a turn of it was cut: what a killed agentd left running of it belongs to nobody now.
    pub fn was_cut(&self) -> bool {
        self.cut
    }

    /// What lists show, for a session that is not woken.
    pub fn into_info(self) -> SessionInfo {
        self.log.state().info.clone()
    }

    /// Starts the actor.
    pub fn start(self, waker: &Waker) -> Arc<SessionHandle> {
        let (mailbox, inbox) = mailbox();
        let files = Arc::new(ReadState::kept_in(self.dir.join(READS_FILE)));
        let handle = SessionHandle {
            id: self.id,
            mailbox,
            view: self.view,
            fanout: self.fanout,
            journal: Arc::clone(self.log.journal()),
            services: Arc::clone(&waker.services),
            env: Arc::clone(&self.env),
            record: self.record.clone(),
            files: Arc::clone(&files),
        };
        let actor = Actor::new(self.log, Arc::clone(&waker.services), self.env, self.dir, inbox)
            .recording(self.record)
            .knowing(files);
        // A panic ends only this task: the session is then loaded anew from its log.
        tokio::spawn(actor.run(self.revive));
        Arc::new(handle)
    }
}

/// The error for a session that is not there.
pub(super) fn unknown(id: &SessionId) -> RpcError {
    RpcError::new(ErrorKind::SessionNotFound, format!("no session {id}: see session/list"))
}

fn read(dir: PathBuf, env: Arc<Environment>, record: Option<PathBuf>) -> Result<Loaded, RpcError> {
    let mut state: Option<SessionState> = None;
    let mut fold = |record: &Record| match record.decode() {
        Ok(event) => {
            if let Some(state) = state.as_mut() {
                state.apply(record.seq, &record.at, &event);
            } else if let Some(mut first) = SessionState::from_first(&event) {
                first.apply(record.seq, &record.at, &event);
                state = Some(first);
            }
        }
        // An event of a later version: it stays in the log and is passed on as it is.
        Err(error) => tracing::warn!(seq = record.seq, %error, "an event was not understood"),
    };
    let journal =
        Journal::open(&dir, &mut fold).map_err(|error| RpcError::new(ErrorKind::StorageFailed, error.to_string()))?;
    let state = state.ok_or_else(|| {
        let message = format!("{} does not begin with session.created: delete the session", dir.display());
        RpcError::new(ErrorKind::StorageFailed, message)
    })?;
    Ok(Loaded { env, record, ..Loaded::over(journal, state, dir) })
}
