//! `daemon/shutdown`: answers at once; agentd stops after that.

use super::{Call, Handler};
use proto::RpcError;
use proto::methods::{DaemonShutdown, DaemonShutdownParams, Empty};

impl Handler for DaemonShutdown {
    async fn handle(call: Call, params: DaemonShutdownParams) -> Result<Empty, RpcError> {
        call.server.control().shut_down(params.mode);
        Ok(Empty {})
    }
}
