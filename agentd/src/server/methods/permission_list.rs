//! `permission/list`.

use super::{Call, Handler};
use proto::RpcError;
use proto::methods::{MaybeSessionParams, PermissionList, PermissionListResult};

impl Handler for PermissionList {
    async fn handle(call: Call, params: MaybeSessionParams) -> Result<PermissionListResult, RpcError> {
        let hub = call.server.hub();
        let sessions = match &params.session_id {
            Some(id) => vec![hub.get(id).await?],
            None => hub.waiting(),
        };
        Ok(PermissionListResult {
            requests: sessions.iter().flat_map(|session| session.pending_permissions()).collect(),
        })
    }
}
