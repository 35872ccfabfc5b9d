//! `session/get`.

use super::{Call, Handler};
use proto::RpcError;
use proto::methods::{SessionGet, SessionParams, SessionResult};

impl Handler for SessionGet {
    async fn handle(call: Call, params: SessionParams) -> Result<SessionResult, RpcError> {
        let session = call.server.hub().get(&params.session_id).await?;
        Ok(SessionResult { session: session.info() })
    }
}
