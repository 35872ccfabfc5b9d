//! `session/rewind`.

use super::{Call, Handler};
use proto::RpcError;
use proto::methods::{SessionRewind, SessionRewindParams, SessionRewindResult};

impl Handler for SessionRewind {
    async fn handle(call: Call, params: SessionRewindParams) -> Result<SessionRewindResult, RpcError> {
        call.server.hub().accept_work()?;
        let session = call.server.hub().get(&params.session_id).await?;
        session.rewind(params.to_turn_id, params.files).await
    }
}
