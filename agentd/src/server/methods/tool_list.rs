//! `tool/list`.

use super::{Call, Handler};
use proto::RpcError;
use proto::methods::{SessionParams, ToolList, ToolListResult};

impl Handler for ToolList {
    async fn handle(call: Call, params: SessionParams) -> Result<ToolListResult, RpcError> {
        call.server.hub().tools(&params.session_id).await
    }
}
