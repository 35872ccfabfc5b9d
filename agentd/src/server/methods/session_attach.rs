//! `session/attach`: events of a session go to this connection, after the answer.

use super::{Call, Handler};
use crate::server::connection::Attachment;
use proto::RpcError;
use proto::methods::{SessionAttach, SessionAttachParams, SessionAttachResult};

impl Handler for SessionAttach {
    async fn handle(call: Call, params: SessionAttachParams) -> Result<SessionAttachResult, RpcError> {
        call.connection.require_events()?;
        let session = call.server.hub().get(&params.session_id).await?;
        let subscription = session.subscribe(params.after_seq, params.ephemeral)?;
        let result = SessionAttachResult { replay_to: subscription.replay_to(), session: session.info() };
        // Read after subscribing: what is answered from here on comes as an event.
        let open = session.open_before(params.after_seq);
        let attachment =
            Attachment { subscription, after_seq: params.after_seq, open, answered: call.answered.clone() };
        call.connection.attach(session.id(), attachment).await?;
        Ok(result)
    }
}
