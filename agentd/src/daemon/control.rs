//! The running daemon as the server's methods may steer it. Made by `run`.

use super::assembly::Assembly;
use super::stop::Stop;
use crate::process;
use crate::server::{Control, Facts, Origin};
use futures::FutureExt;
use futures::future::BoxFuture;
use proto::RpcError;
use proto::ids::SessionId;
use proto::methods::{DaemonReloadResult, ShutdownMode};
use proto::task::ProcessInfo;

/// What the daemon consists of, but for the server.
pub struct Daemon {
    facts: Facts,
    assembly: Assembly,
    stop: Stop,
}

impl Daemon {
    /// A daemon that runs.
    pub fn new(facts: Facts, assembly: Assembly) -> Self {
        Self { facts, assembly, stop: Stop::default() }
    }

    /// The sessions and what they stand on.
    pub fn assembly(&self) -> &Assembly {
        &self.assembly
    }

    /// How far it is on its way to the end.
    pub fn stop(&self) -> &Stop {
        &self.stop
    }
}

impl Control for Daemon {
    fn facts(&self) -> &Facts {
        &self.facts
    }

    fn reload(&self, cwd: Option<String>) -> BoxFuture<'_, Result<DaemonReloadResult, RpcError>> {
        self.assembly.reload(cwd).boxed()
    }

    fn shut_down(&self, mode: ShutdownMode) {
        tracing::info!(?mode, "a client asks agentd to stop");
        // Before the client is answered, so that what it sends next is refused.
        self.assembly.hub().refuse_new();
        self.stop.request(mode);
    }

    fn origin(&self, pid: u32) -> Origin {
        let is_own = |session: &str| self.assembly.hub().has(&SessionId::from(session));
        match process::origin(pid, &is_own) {
            process::Origin::Tool => Origin::Tool,
            process::Origin::Elsewhere => Origin::Elsewhere,
            process::Origin::Unknown => Origin::Unknown,
        }
    }

    fn processes(&self, session: Option<&SessionId>) -> Vec<ProcessInfo> {
        self.assembly.processes().list(session)
    }
}
