//! The typed client: a method's params in, its result out, over any jsonrpsee client. Used by agentctl
//! and the tests. It opens no connection of its own.

use crate::methods::Method;
use jsonrpsee::core::client::{ClientT, Error};
use jsonrpsee::core::traits::ToRpcParams;
use serde::Serialize;
use serde_json::value::RawValue;

struct Params<T>(T);

impl<T: Serialize> ToRpcParams for Params<T> {
    fn to_rpc_params(self) -> Result<Option<Box<RawValue>>, serde_json::Error> {
        serde_json::value::to_raw_value(&self.0).map(Some)
    }
}

/// Calls `M` and waits for its answer.
///
/// # Errors
/// The error answer as `Error::Call`, or what went wrong with the connection.
pub async fn call<M: Method>(client: &impl ClientT, params: M::Params) -> Result<M::Result, Error> {
    client.request(M::NAME, Params(params)).await
}
