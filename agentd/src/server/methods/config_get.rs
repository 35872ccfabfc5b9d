//! `config/get`.

use super::{Call, Handler};
use proto::RpcError;
use proto::methods::{ConfigGet, ConfigGetParams, ConfigGetResult};

impl Handler for ConfigGet {
    async fn handle(call: Call, params: ConfigGetParams) -> Result<ConfigGetResult, RpcError> {
        call.server.hub().config(params).await
    }
}
