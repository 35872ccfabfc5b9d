//! `permission/list`.

use super::{Call, Handler};
use crate::event::state::OpenRequest;
use proto::RpcError;
use proto::methods::{MaybeSessionParams, PermissionList, PermissionListResult};

impl Handler for PermissionList {
    async fn handle(call: Call, params: MaybeSessionParams) -> Result<PermissionListResult, RpcError> {
        let hub = call.server.hub();
        let sessions = match &params.session_id {
            Some(id) => vec![hub.get(id).await?],
            None => hub.waiting(),
        };
        let mut open: Vec<OpenRequest> =
            sessions.iter().flat_map(|session| session.pending_permissions().to_vec()).collect();
        // Of all sessions together; times of one form sort as text.
        open.sort_by(|one, other| one.at.cmp(&other.at));
        Ok(PermissionListResult { requests: open.into_iter().map(|open| open.request).collect() })
    }
}
