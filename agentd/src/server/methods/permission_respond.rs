//! `permission/respond`: the first answer wins.

use super::{Call, Handler};
use proto::RpcError;
use proto::methods::{PermissionRespond, PermissionRespondParams, PermissionRespondResult};

impl Handler for PermissionRespond {
    async fn handle(call: Call, params: PermissionRespondParams) -> Result<PermissionRespondResult, RpcError> {
        let session = call.server.hub().by_request(&params.request_id).await?;
        session.respond_permission(params, &call.connection.client()).await
    }
}
