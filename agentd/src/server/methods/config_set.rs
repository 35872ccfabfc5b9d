//! `config/set`.

use super::{Call, Handler};
use proto::RpcError;
use proto::methods::{ConfigGetResult, ConfigSet, ConfigSetParams};

impl Handler for ConfigSet {
    async fn handle(call: Call, params: ConfigSetParams) -> Result<ConfigGetResult, RpcError> {
        call.server.hub().set_config(params).await
    }
}
