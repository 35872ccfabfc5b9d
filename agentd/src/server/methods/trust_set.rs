//! `trust/set`.

use super::{Call, Handler};
use proto::RpcError;
use proto::methods::{TrustResult, TrustSet, TrustSetParams};

impl Handler for TrustSet {
    async fn handle(call: Call, params: TrustSetParams) -> Result<TrustResult, RpcError> {
        call.server.hub().set_trust(params).await
    }
}
