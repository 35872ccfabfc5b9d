//! `turn/wait`: the one call that a lost connection ends, since nobody is left to hear of it.

use super::{Call, Handler};
use proto::methods::{TurnWait, TurnWaitParams, TurnWaitResult};
use proto::{ErrorKind, RpcError};

impl Handler for TurnWait {
    async fn handle(call: Call, params: TurnWaitParams) -> Result<TurnWaitResult, RpcError> {
        let session = call.server.hub().get(&params.session_id).await?;
        tokio::select! {
            biased;
            result = session.wait_turn(params) => match result {
                // The session was put to sleep with its turn: a stopping agentd is the reason that helps.
                Err(error) if error.kind == ErrorKind::Internal => call.server.hub().accept_work().and(Err(error)),
                result => result,
            },
            () = call.connection.closed() => {
                Err(RpcError::new(ErrorKind::Internal, "the connection was closed while it waited; connect again"))
            }
        }
    }
}
