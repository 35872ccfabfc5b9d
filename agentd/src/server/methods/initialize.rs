//! `initialize`: checks the version and remembers the client's name.

use super::{Call, Handler};
use proto::methods::{AgentdInfo, Initialize, InitializeParams, InitializeResult, METHOD_NAMES, PROTOCOL_VERSION};
use proto::{ErrorKind, RpcError};
use serde_json::{Map, Value};

impl Handler for Initialize {
    async fn handle(call: Call, params: InitializeParams) -> Result<InitializeResult, RpcError> {
        if params.protocol_version != PROTOCOL_VERSION {
            let asked = params.protocol_version;
            let message = format!(
                "protocol version {asked} is not spoken here; use a client that speaks version {PROTOCOL_VERSION}"
            );
            return Err(RpcError::new(ErrorKind::UnsupportedVersion, message).with("supported", PROTOCOL_VERSION));
        }
        call.connection.set_client(params.client.name);
        let facts = call.server.control().facts();
        let methods = METHOD_NAMES.iter().filter(|name| call.server.supports(name)).map(|name| Value::from(*name));
        let mut capabilities = Map::new();
        capabilities.insert("methods".to_owned(), methods.collect());
        let agentd =
            AgentdInfo { version: facts.version.to_owned(), pid: facts.pid, started_at: facts.started_at.clone() };
        Ok(InitializeResult { protocol_version: PROTOCOL_VERSION, agentd, capabilities })
    }
}
