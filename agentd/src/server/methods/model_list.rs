//! `model/list`.

use super::{Call, Handler};
use proto::RpcError;
use proto::methods::{ModelList, ModelListParams, ModelListResult};

impl Handler for ModelList {
    async fn handle(call: Call, params: ModelListParams) -> Result<ModelListResult, RpcError> {
        Ok(call.server.hub().models(params.env).await)
    }
}
