//! `session/create`.

use super::{Call, Handler};
use proto::RpcError;
use proto::methods::{SessionCreate, SessionCreateParams, SessionResult};

impl Handler for SessionCreate {
    async fn handle(call: Call, params: SessionCreateParams) -> Result<SessionResult, RpcError> {
        Ok(SessionResult { session: call.server.hub().create(params).await? })
    }
}
