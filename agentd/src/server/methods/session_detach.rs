//! `session/detach`: after the answer no event of the session comes any more.

use super::{Call, Handler};
use proto::RpcError;
use proto::methods::{Empty, SessionDetach, SessionParams};

impl Handler for SessionDetach {
    async fn handle(call: Call, params: SessionParams) -> Result<Empty, RpcError> {
        // A session that is not known is an error; one that is not attached is not.
        if !call.connection.detach(&params.session_id).await {
            call.server.hub().get(&params.session_id).await?;
        }
        Ok(Empty {})
    }
}
