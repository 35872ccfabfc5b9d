//! `session/events`.

use super::{Call, Handler};
use proto::RpcError;
use proto::methods::{SessionEvents, SessionEventsParams, SessionEventsResult};

impl Handler for SessionEvents {
    async fn handle(call: Call, params: SessionEventsParams) -> Result<SessionEventsResult, RpcError> {
        let session = call.server.hub().get(&params.session_id).await?;
        session.events(params.after_seq, params.limit).await
    }
}
