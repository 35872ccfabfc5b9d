//! `daemon/reload`.

use super::{Call, Handler};
use proto::RpcError;
use proto::methods::{DaemonReload, DaemonReloadParams, DaemonReloadResult};

impl Handler for DaemonReload {
    async fn handle(call: Call, params: DaemonReloadParams) -> Result<DaemonReloadResult, RpcError> {
        call.server.control().reload(params.cwd).await
    }
}
