//! The methods, one file each, and the table of them. A method is thin: typed params → hub → typed
//! result. Called through `dispatch`; a method never touches the socket.
//!
//! Each method's future is first polled by its connection's reader, so it must not block.

mod config_get;
mod config_set;
mod daemon_reload;
mod daemon_shutdown;
mod daemon_status;
mod initialize;
mod model_list;
mod permission_explain;
mod permission_list;
mod permission_respond;
mod process_list;
mod session_attach;
mod session_close;
mod session_create;
mod session_delete;
mod session_detach;
mod session_events;
mod session_fork;
mod session_get;
mod session_list;
mod session_rewind;
mod session_update;
mod tool_list;
mod trust_get;
mod trust_set;
mod turn_cancel;
mod turn_resume;
mod turn_start;
mod turn_wait;

use super::connection::Connection;
use super::{Server, guard};
use jsonrpsee::core::RegisterMethodError;
use jsonrpsee::{Extensions, Methods, RpcModule};
use jsonrpsee_types::ErrorObjectOwned;
use proto::methods as wire;
use proto::methods::Method;
use proto::{ErrorKind, RpcError};
use serde_json::value::{RawValue, to_raw_value};
use std::future::Future;
use std::sync::Arc;
use tokio_util::sync::CancellationToken;

/// Methods that start at once even where a connection has many calls under way: what ends a call must
/// never wait behind it.
pub const URGENT: &[&str] = &[wire::TurnCancel::NAME, wire::PermissionRespond::NAME];

/// What a call is part of.
#[derive(Clone)]
pub struct Call {
    /// The hub, the daemon and the table of methods.
    pub server: Arc<Server>,
    /// The connection that it came from.
    pub connection: Arc<Connection>,
    /// Fires once the answer is queued: what must come after the answer waits for this.
    pub answered: CancellationToken,
}

impl From<Call> for Extensions {
    /// As the table of methods hands it on.
    fn from(call: Call) -> Self {
        let mut extensions = Self::new();
        extensions.insert(call);
        extensions
    }
}

/// A method that this version supports.
trait Handler: Method {
    /// Does it.
    fn handle(call: Call, params: Self::Params) -> impl Future<Output = Result<Self::Result, RpcError>> + Send;
}

/// The table of all methods that are supported; what it lacks is not supported yet.
pub fn table() -> Result<Methods, RegisterMethodError> {
    let mut module = RpcModule::new(());
    register::<wire::Initialize>(&mut module)?;
    register::<wire::DaemonStatus>(&mut module)?;
    register::<wire::DaemonReload>(&mut module)?;
    register::<wire::DaemonShutdown>(&mut module)?;
    register::<wire::SessionCreate>(&mut module)?;
    register::<wire::SessionList>(&mut module)?;
    register::<wire::SessionGet>(&mut module)?;
    register::<wire::SessionAttach>(&mut module)?;
    register::<wire::SessionDetach>(&mut module)?;
    register::<wire::SessionUpdate>(&mut module)?;
    register::<wire::SessionFork>(&mut module)?;
    register::<wire::SessionRewind>(&mut module)?;
    register::<wire::SessionEvents>(&mut module)?;
    register::<wire::SessionClose>(&mut module)?;
    register::<wire::SessionDelete>(&mut module)?;
    register::<wire::TurnStart>(&mut module)?;
    register::<wire::TurnCancel>(&mut module)?;
    register::<wire::TurnWait>(&mut module)?;
    register::<wire::TurnResume>(&mut module)?;
    register::<wire::PermissionList>(&mut module)?;
    register::<wire::PermissionRespond>(&mut module)?;
    register::<wire::PermissionExplain>(&mut module)?;
    register::<wire::ProcessList>(&mut module)?;
    register::<wire::ToolList>(&mut module)?;
    register::<wire::ModelList>(&mut module)?;
    register::<wire::TrustGet>(&mut module)?;
    register::<wire::TrustSet>(&mut module)?;
    register::<wire::ConfigGet>(&mut module)?;
    register::<wire::ConfigSet>(&mut module)?;
    Ok(module.into())
}

fn register<M: Handler>(module: &mut RpcModule<()>) -> Result<(), RegisterMethodError> {
    module.register_async_method(M::NAME, |params, _, extensions| async move {
        run::<M>(params.as_str(), &extensions).await.map_err(|error| error_object(&error))
    })?;
    Ok(())
}

async fn run<M: Handler>(params: Option<&str>, extensions: &Extensions) -> Result<Box<RawValue>, RpcError> {
    let call = extensions
        .get::<Call>()
        .ok_or_else(|| RpcError::new(ErrorKind::Internal, format!("{} was called without its connection", M::NAME)))?;
    guard::check(M::NAME, params, call.connection.origin())?;
    let params = read_params::<M>(params)?;
    let result = M::handle(call.clone(), params).await?;
    to_raw_value(&result).map_err(|error| {
        RpcError::new(ErrorKind::Internal, format!("the result of {} can't be sent: {error}", M::NAME))
    })
}

/// Reads params; none at all means none of the optional ones.
fn read_params<M: Method>(params: Option<&str>) -> Result<M::Params, RpcError> {
    let text = params.map_or("{}", str::trim_start);
    if text.starts_with('[') {
        let message = format!("{} takes its params by name; send an object, not an array", M::NAME);
        return Err(RpcError::new(ErrorKind::InvalidParams, message));
    }
    let mut reader = serde_json::Deserializer::from_str(text);
    serde_path_to_error::deserialize(&mut reader).map_err(|error| {
        let cause = error.inner().to_string();
        let path = error.path().to_string();
        let field = field_name(&cause, &path);
        let place = if path == "." { String::new() } else { format!(" at `{path}`") };
        let message = format!("the params of {} don't fit{place}: {}", M::NAME, without_position(&cause));
        let error = RpcError::new(ErrorKind::InvalidParams, message);
        if field.is_empty() { error } else { error.with("field", field) }
    })
}

/// The field that is wrong: the one that serde names, else the one that it stands at.
fn field_name(cause: &str, path: &str) -> String {
    let named = ["unknown field `", "missing field `", "duplicate field `"]
        .iter()
        .find_map(|start| cause.strip_prefix(start)?.split_once('`'))
        .map(|(name, _)| name);
    let place = path.trim_matches('.');
    match (named, place.is_empty()) {
        (Some(name), true) => name.to_owned(),
        // serde places an unknown field at itself, a missing one at its parent.
        (Some(name), false) if place == name || place.ends_with(&format!(".{name}")) => place.to_owned(),
        (Some(name), false) => format!("{place}.{name}"),
        (None, _) => place.to_owned(),
    }
}

/// The line and column count from the start of `params`, which helps nobody.
fn without_position(cause: &str) -> &str {
    cause.rsplit_once(" at line ").map_or(cause, |(text, _)| text)
}

fn error_object(error: &RpcError) -> ErrorObjectOwned {
    let body = error.to_body();
    ErrorObjectOwned::owned(body.code, body.message, body.data)
}

#[cfg(test)]
mod tests {
    use super::{URGENT, read_params, table};
    use proto::ErrorKind;
    use proto::methods::{DaemonStatus, Initialize, METHOD_NAMES, SessionAttach, SessionCreate, TurnStart};
    use serde_json::Value;

    fn wrong<M: proto::methods::Method>(params: &str) -> (String, Value) {
        match read_params::<M>(Some(params)) {
            Ok(_) => panic!("{params} was accepted"),
            Err(error) => {
                assert_eq!(error.kind, ErrorKind::InvalidParams);
                (error.message, error.data.get("field").cloned().unwrap_or_default())
            }
        }
    }

    #[test]
    fn the_table_holds_methods_of_the_protocol() {
        let table = table().unwrap();
        for name in table.method_names() {
            assert!(METHOD_NAMES.contains(&name), "{name}");
        }
        for name in URGENT {
            assert!(table.method(name).is_some(), "{name}");
        }
    }

    #[test]
    fn a_wrong_field_is_named() {
        let (message, field) = wrong::<DaemonStatus>(r#"{"colour":1}"#);
        assert_eq!(field, "colour");
        assert!(message.contains("unknown field `colour`"), "{message}");
        assert_eq!(wrong::<SessionAttach>("{}").1, "sessionId");
        assert_eq!(wrong::<SessionAttach>(r#"{"sessionId":"a","afterSeq":-1}"#).1, "afterSeq");
        assert_eq!(wrong::<SessionCreate>(r#"{"cwd":"/","systemPrompt":{"prepend":"x"}}"#).1, "systemPrompt");
        assert_eq!(wrong::<Initialize>(r#"{"protocolVersion":1,"client":{"name":"a"}}"#).1, "client.version");
        assert_eq!(wrong::<TurnStart>(r#"{"sessionId":"a","prompt":"b","whenBusy":"later"}"#).1, "whenBusy");
        assert_eq!(wrong::<TurnStart>(r#"{"sessionId":"a","prompt":"b","maxTurns":1,"maxTurns":2}"#).1, "maxTurns");
    }

    #[test]
    fn params_are_an_object_or_absent() {
        assert!(read_params::<DaemonStatus>(None).is_ok());
        assert!(read_params::<DaemonStatus>(Some(" {} ")).is_ok());
        let (message, _) = wrong::<DaemonStatus>("[1]");
        assert!(message.contains("send an object"), "{message}");
        wrong::<DaemonStatus>("7");
    }
}
