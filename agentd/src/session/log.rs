//! Append, then announce: the one place where an event gets its number, is folded into the session's
//! state and is handed to whoever listens. Nothing else notifies.

use crate::base::clock;
use crate::event::Record;
use crate::event::state::OpenRequest;
use crate::event::{SessionState, record};
use crate::store::{Journal, StoreError};
use proto::event::{Ephemeral, Event};
use proto::ids::RequestId;
use proto::session::SessionInfo;
use std::sync::Arc;
use tokio::sync::watch;

/// Tells those who listen. Implemented by the hub; never blocks.
pub trait Announce: Send + Sync {
    /// A durable event, right after it was appended, in order.
    fn durable(&self, record: &Record);
    /// An ephemeral event.
    fn ephemeral(&self, at: &str, event: &Ephemeral);
    /// Whether somebody listens.
    fn has_listeners(&self) -> bool;
}

/// What others may see of a session without asking its actor.
#[derive(Debug, Clone)]
pub struct View {
    /// What lists show.
    pub info: Arc<SessionInfo>,
    /// Open permission requests.
    pub permissions: Arc<[OpenRequest]>,
    /// Requests that were answered.
    pub resolved: Arc<[RequestId]>,
}

impl View {
    /// The view of a state.
    #[must_use]
    pub fn of(state: &SessionState) -> Self {
        Self {
            info: Arc::new(state.info.clone()),
            permissions: state.permissions.clone().into(),
            resolved: state.resolved.keys().cloned().collect(),
        }
    }
}

/// A session's log with the state that it folds to.
pub struct Log {
    journal: Arc<Journal>,
    announce: Arc<dyn Announce>,
    state: SessionState,
    view: watch::Sender<View>,
}

/// Which room an event may take.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Room {
    /// What is left beside the reserve.
    Normal,
    /// The reserve too: for events that end something.
    Reserve,
}

impl Log {
    /// A log over a journal that was folded to `state`.
    pub fn new(
        journal: Arc<Journal>,
        announce: Arc<dyn Announce>,
        state: SessionState,
    ) -> (Self, watch::Receiver<View>) {
        let (view, receiver) = watch::channel(View::of(&state));
        (Self { journal, announce, state, view }, receiver)
    }

    /// The state after the last event.
    #[must_use]
    pub fn state(&self) -> &SessionState {
        &self.state
    }

    /// The journal, for syncing and reading.
    #[must_use]
    pub fn journal(&self) -> &Arc<Journal> {
        &self.journal
    }

    /// Whoever listens.
    #[must_use]
    pub fn announce(&self) -> &Arc<dyn Announce> {
        &self.announce
    }

    /// Appends an event, folds it and announces it.
    ///
    /// # Errors
    /// If it could not be written; then nothing has changed and nobody was told.
    pub fn append(&mut self, event: &Event, room: Room) -> Result<u64, StoreError> {
        let bytes = record::encode(event)
            .map_err(|error| StoreError::BadEvent { path: "the session's log".into(), why: error.to_string() })?;
        let at = clock::now();
        let record = match room {
            Room::Normal => self.journal.append(&at, bytes)?,
            Room::Reserve => self.journal.append_closing(&at, bytes)?,
        };
        self.state.apply(record.seq, &at, event);
        self.refresh(event);
        self.announce.durable(&record);
        Ok(record.seq)
    }

    /// Announces an event that is not kept.
    pub fn ephemeral(&self, event: &Ephemeral) {
        self.announce.ephemeral(&clock::now(), event);
    }

    fn refresh(&mut self, event: &Event) {
        let asked = matches!(event, Event::PermissionRequested { .. } | Event::PermissionResolved { .. });
        let state = &self.state;
        self.view.send_modify(|view| {
            if asked {
                *view = View::of(state);
            } else {
                view.info = Arc::new(state.info.clone());
            }
        });
    }
}
