//! The registry of sessions.

use super::SessionHandle;
use proto::ids::{RequestId, SessionId};
use proto::methods::SessionCounts;
use proto::methods::{ModelListResult, SessionCreateParams, ToolListResult};
use proto::session::SessionInfo;
use proto::{ErrorKind, RpcError};
use std::sync::Arc;

/// All sessions of this daemon.
#[derive(Debug)]
pub struct Hub {}

fn not_yet<T>() -> Result<T, RpcError> {
    Err(RpcError::new(ErrorKind::Internal, "not built yet"))
}

impl Hub {
    /// `session/create`.
    ///
    /// # Errors
    /// `InvalidPath`, `ModelUnavailable`, `ShuttingDown`, `StorageFailed`.
    pub async fn create(&self, params: SessionCreateParams) -> Result<SessionInfo, RpcError> {
        let _ = params;
        not_yet()
    }

    /// All sessions, newest first.
    #[must_use]
    pub fn list(&self) -> Vec<SessionInfo> {
        Vec::new()
    }

    /// How many sessions do what.
    #[must_use]
    pub fn counts(&self) -> SessionCounts {
        SessionCounts::default()
    }

    /// The session with that id, loaded from its log if it sleeps.
    ///
    /// # Errors
    /// `SessionNotFound`; `StorageFailed` naming the record if its log is damaged.
    pub async fn get(&self, id: &SessionId) -> Result<Arc<SessionHandle>, RpcError> {
        let _ = id;
        not_yet()
    }

    /// The session that a permission request belongs to, open or answered.
    ///
    /// # Errors
    /// `RequestNotFound`.
    pub async fn by_request(&self, id: &RequestId) -> Result<Arc<SessionHandle>, RpcError> {
        let _ = id;
        not_yet()
    }

    /// Every session that has an open permission request.
    #[must_use]
    pub fn waiting(&self) -> Vec<Arc<SessionHandle>> {
        Vec::new()
    }

    /// `session/close`: ends its turn and processes, keeps its log.
    ///
    /// # Errors
    /// `SessionNotFound`.
    pub async fn close(&self, id: &SessionId) -> Result<(), RpcError> {
        let _ = id;
        not_yet()
    }

    /// `session/delete`: closes it and removes its log.
    ///
    /// # Errors
    /// `SessionNotFound`, `StorageFailed`.
    pub async fn delete(&self, id: &SessionId) -> Result<(), RpcError> {
        let _ = id;
        not_yet()
    }

    /// `tool/list`.
    ///
    /// # Errors
    /// `SessionNotFound`.
    pub async fn tools(&self, id: &SessionId) -> Result<ToolListResult, RpcError> {
        let _ = id;
        not_yet()
    }

    /// `model/list`.
    pub async fn models(&self) -> ModelListResult {
        ModelListResult { models: Vec::new() }
    }

    /// Refuses new turns and sessions from now on, and waits until no turn runs. The caller sets the deadline.
    pub async fn drain(&self) {}

    /// Interrupts what still runs, stops all processes and ends all actors.
    pub async fn stop(&self) {}
}
