//! `session/update`.

use super::{Call, Handler};
use proto::RpcError;
use proto::methods::{SessionResult, SessionUpdate, SessionUpdateParams};

impl Handler for SessionUpdate {
    async fn handle(call: Call, params: SessionUpdateParams) -> Result<SessionResult, RpcError> {
        let session = call.server.hub().get(&params.session_id).await?;
        Ok(SessionResult { session: session.update(params).await? })
    }
}
