//! `session/close`.

use super::{Call, Handler};
use proto::RpcError;
use proto::methods::{Empty, SessionClose, SessionParams};

impl Handler for SessionClose {
    async fn handle(call: Call, params: SessionParams) -> Result<Empty, RpcError> {
        call.server.hub().close(&params.session_id).await?;
        Ok(Empty {})
    }
}
