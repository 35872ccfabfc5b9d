//! `turn/start`: answers once the prompt is durable.

use super::{Call, Handler};
use proto::RpcError;
use proto::methods::{TurnStart, TurnStartParams, TurnStartResult};

impl Handler for TurnStart {
    async fn handle(call: Call, params: TurnStartParams) -> Result<TurnStartResult, RpcError> {
        call.server.hub().accept_work()?;
        let session = call.server.hub().get(&params.session_id).await?;
        session.start_turn(params, &call.connection.client()).await
    }
}
