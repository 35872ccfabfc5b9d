//! What a method can ask of one session. It talks to the session's actor; cancel and permission
//! answers have a lane of their own there.

use super::Subscription;
use proto::ids::SessionId;
use proto::methods::{
    PermissionRespondParams, SessionEventsResult, SessionUpdateParams, TurnCancelParams, TurnCancelResult,
    TurnResumeResult, TurnStartParams, TurnStartResult, TurnWaitParams, TurnWaitResult,
};
use proto::permission::PermissionRequest;
use proto::session::SessionInfo;
use proto::{ErrorKind, RpcError};

/// One session, from outside. Cheap to clone through its `Arc`.
#[derive(Debug)]
pub struct SessionHandle {}

fn not_yet<T>() -> Result<T, RpcError> {
    Err(RpcError::new(ErrorKind::Internal, "not built yet"))
}

impl SessionHandle {
    /// The session's id.
    #[must_use]
    pub fn id(&self) -> SessionId {
        SessionId::from("")
    }

    /// The session as it is now.
    ///
    /// # Errors
    /// None in practice.
    pub fn info(&self) -> Result<SessionInfo, RpcError> {
        not_yet()
    }

    /// Subscribes to the session's events after `after_seq`.
    ///
    /// # Errors
    /// `InvalidParams` if `after_seq` is beyond the log's end.
    pub async fn subscribe(&self, after_seq: u64, ephemeral: bool) -> Result<Subscription, RpcError> {
        let _ = (after_seq, ephemeral);
        not_yet()
    }

    /// Reads the log.
    ///
    /// # Errors
    /// `StorageFailed`.
    pub async fn events(&self, after_seq: u64, limit: Option<u64>) -> Result<SessionEventsResult, RpcError> {
        let _ = (after_seq, limit);
        not_yet()
    }

    /// `turn/start`. `client` is shown with the prompt.
    ///
    /// # Errors
    /// As PROTOCOL.md §5 says.
    pub async fn start_turn(&self, params: TurnStartParams, client: &str) -> Result<TurnStartResult, RpcError> {
        let _ = (params, client);
        not_yet()
    }

    /// `turn/cancel`.
    ///
    /// # Errors
    /// `TurnNotFound`.
    pub async fn cancel_turn(&self, params: TurnCancelParams) -> Result<TurnCancelResult, RpcError> {
        let _ = params;
        not_yet()
    }

    /// `turn/wait`.
    ///
    /// # Errors
    /// `TurnNotFound`; `LimitReached` with `limit: "timeoutMs"` when the time is over.
    pub async fn wait_turn(&self, params: TurnWaitParams) -> Result<TurnWaitResult, RpcError> {
        let _ = params;
        not_yet()
    }

    /// `turn/resume`.
    ///
    /// # Errors
    /// `NotResumable`.
    pub async fn resume_turn(&self, client: &str) -> Result<TurnResumeResult, RpcError> {
        let _ = client;
        not_yet()
    }

    /// The open permission requests.
    #[must_use]
    pub fn pending_permissions(&self) -> Vec<PermissionRequest> {
        Vec::new()
    }

    /// `permission/respond`, for a request of this session.
    ///
    /// # Errors
    /// `RequestNotFound`, `AlreadyResolved`.
    pub async fn respond_permission(&self, params: PermissionRespondParams, by: &str) -> Result<(), RpcError> {
        let _ = (params, by);
        not_yet()
    }

    /// `session/update`.
    ///
    /// # Errors
    /// `InvalidPath`, `ModelUnavailable`.
    pub async fn update(&self, params: SessionUpdateParams) -> Result<SessionInfo, RpcError> {
        let _ = params;
        not_yet()
    }
}
