//! `daemon/reload`.

use super::{Call, Handler};
use proto::RpcError;
use proto::methods::{DaemonReload, DaemonReloadResult, Empty};

impl Handler for DaemonReload {
    async fn handle(call: Call, _: Empty) -> Result<DaemonReloadResult, RpcError> {
        Ok(call.server.control().reload().await)
    }
}
