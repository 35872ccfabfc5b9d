//! `process/list`.

use super::{Call, Handler};
use proto::RpcError;
use proto::methods::{MaybeSessionParams, ProcessList, ProcessListResult};

impl Handler for ProcessList {
    async fn handle(call: Call, params: MaybeSessionParams) -> Result<ProcessListResult, RpcError> {
        if let Some(id) = &params.session_id {
            call.server.hub().get(id).await?;
        }
        Ok(ProcessListResult { processes: call.server.control().processes(params.session_id.as_ref()) })
    }
}
