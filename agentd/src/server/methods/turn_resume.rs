//! `turn/resume`.

use super::{Call, Handler};
use proto::RpcError;
use proto::methods::{SessionParams, TurnResume, TurnResumeResult};

impl Handler for TurnResume {
    async fn handle(call: Call, params: SessionParams) -> Result<TurnResumeResult, RpcError> {
        call.server.hub().accept_work()?;
        let session = call.server.hub().get(&params.session_id).await?;
        session.resume_turn(&call.connection.client()).await
    }
}
