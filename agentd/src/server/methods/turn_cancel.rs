//! `turn/cancel`: answers when the turn has ended and its processes are gone.

use super::{Call, Handler};
use proto::RpcError;
use proto::methods::{TurnCancel, TurnCancelParams, TurnCancelResult};

impl Handler for TurnCancel {
    async fn handle(call: Call, params: TurnCancelParams) -> Result<TurnCancelResult, RpcError> {
        let session = call.server.hub().get(&params.session_id).await?;
        session.cancel_turn(params).await
    }
}
