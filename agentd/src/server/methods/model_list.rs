//! `model/list`.

use super::{Call, Handler};
use proto::RpcError;
use proto::methods::{Empty, ModelList, ModelListResult};

impl Handler for ModelList {
    async fn handle(call: Call, _: Empty) -> Result<ModelListResult, RpcError> {
        Ok(call.server.hub().models().await)
    }
}
