//! `session/delete`.

use super::{Call, Handler};
use proto::RpcError;
use proto::methods::{Empty, SessionDelete, SessionParams};

impl Handler for SessionDelete {
    async fn handle(call: Call, params: SessionParams) -> Result<Empty, RpcError> {
        call.server.hub().delete(&params.session_id).await?;
        Ok(Empty {})
    }
}
