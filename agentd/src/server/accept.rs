//! The server: the accept loop and the set of open connections. Owned by `daemon`.

use super::control::Control;
use super::request::Refused;
use super::{Listening, connection, dispatch, methods, peer};
use crate::base::limits::MAX_CONNECTIONS;
use crate::hub::Hub;
use interprocess::local_socket::tokio::Stream;
use jsonrpsee::Methods;
use jsonrpsee::core::RegisterMethodError;
use proto::{ErrorKind, RpcError};
use std::sync::Arc;
use std::time::Duration;
use tokio::io::AsyncWriteExt;
use tokio_util::sync::CancellationToken;
use tokio_util::task::TaskTracker;

/// How long accepting rests after a failure, such as too many open files.
const ACCEPT_REST: Duration = Duration::from_millis(100);

/// Everything that connections share.
pub struct Server {
    hub: Arc<Hub>,
    control: Arc<dyn Control>,
    methods: Methods,
    /// The open connections.
    connections: TaskTracker,
    /// Fires when all connections are to end.
    stop: CancellationToken,
}

impl Server {
    /// A server that does not accept yet.
    ///
    /// # Errors
    /// If two methods have one name, which is a mistake in the table of methods.
    pub fn new(hub: Arc<Hub>, control: Arc<dyn Control>) -> Result<Arc<Self>, RegisterMethodError> {
        let (connections, stop) = (TaskTracker::new(), CancellationToken::new());
        Ok(Arc::new(Self { hub, control, methods: methods::table()?, connections, stop }))
    }

    /// Accepts connections until the server is stopped.
    pub async fn accept(self: Arc<Self>, listening: &Listening) {
        loop {
            let accepted = tokio::select! {
                () = self.stop.cancelled() => return,
                accepted = listening.accept() => accepted,
            };
            match accepted {
                Ok(stream) if !peer::is_allowed(&stream) => {
                    tracing::warn!("a peer of another user was refused");
                }
                Ok(stream) if self.connections.len() >= MAX_CONNECTIONS => {
                    self.connections.spawn(turn_away(stream));
                }
                Ok(stream) => {
                    self.connections.spawn(connection::serve(stream, self.clone(), self.stop.clone()));
                }
                Err(error) => {
                    tracing::warn!(%error, "a connection can't be accepted");
                    tokio::time::sleep(ACCEPT_REST).await;
                }
            }
        }
    }

    /// Ends accepting and all connections, each once what is queued for it is written or a second has passed.
    pub async fn stop(&self) {
        self.stop.cancel();
        self.connections.close();
        self.connections.wait().await;
    }

    /// All sessions.
    pub(super) fn hub(&self) -> &Hub {
        &self.hub
    }

    /// The daemon.
    pub(super) fn control(&self) -> &dyn Control {
        &*self.control
    }

    /// The table of methods.
    pub(super) fn methods(&self) -> &Methods {
        &self.methods
    }

    /// Whether a method can be called.
    pub(super) fn supports(&self, name: &str) -> bool {
        self.methods.method(name).is_some()
    }

    /// How many connections are open.
    pub(super) fn connections(&self) -> u64 {
        self.connections.len() as u64
    }
}

/// Tells a peer that there are too many, in the framing that people read most easily.
async fn turn_away(stream: Stream) {
    let message = format!("agentd has {MAX_CONNECTIONS} connections already; close some and try again");
    let error =
        RpcError::new(ErrorKind::LimitReached, message).with("limit", "connections").with("value", MAX_CONNECTIONS);
    let answer = dispatch::refusal(&Refused { id: None, error }) + "\n";
    // A socket that was just accepted has room for one line; if not, the peer is closed without it.
    let written = tokio::time::timeout(ACCEPT_REST, (&stream).write_all(answer.as_bytes())).await;
    tracing::warn!(told = matches!(written, Ok(Ok(()))), "too many connections; one was turned away");
}
