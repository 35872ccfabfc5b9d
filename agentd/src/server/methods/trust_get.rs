//! `trust/get`.

use super::{Call, Handler};
use proto::RpcError;
use proto::methods::{TrustGet, TrustGetParams, TrustResult};

impl Handler for TrustGet {
    async fn handle(call: Call, params: TrustGetParams) -> Result<TrustResult, RpcError> {
        call.server.hub().trust(params.path).await
    }
}
