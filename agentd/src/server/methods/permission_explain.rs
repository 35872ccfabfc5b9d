//! `permission/explain`: what would be decided, without running anything.

use super::{Call, Handler};
use proto::RpcError;
use proto::methods::{PermissionExplain, PermissionExplainParams, PermissionExplainResult};

impl Handler for PermissionExplain {
    async fn handle(call: Call, params: PermissionExplainParams) -> Result<PermissionExplainResult, RpcError> {
        call.server.hub().explain(params).await
    }
}
