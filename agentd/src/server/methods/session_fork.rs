//! `session/fork`.

use super::{Call, Handler};
use proto::RpcError;
use proto::methods::{SessionFork, SessionForkParams, SessionResult};

impl Handler for SessionFork {
    async fn handle(call: Call, params: SessionForkParams) -> Result<SessionResult, RpcError> {
        Ok(SessionResult { session: call.server.hub().fork(params).await? })
    }
}
