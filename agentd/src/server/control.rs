//! What the methods need of the daemon around them. Implemented by `daemon`, so that this layer needn't know it.

use super::peer::Origin;
use futures::future::BoxFuture;
use proto::RpcError;
use proto::ids::{SessionId, Timestamp};
use proto::methods::{DaemonReloadResult, ShutdownMode};
use proto::task::ProcessInfo;
use std::path::PathBuf;

/// What does not change while agentd runs.
#[derive(Debug, Clone)]
pub struct Facts {
    /// agentd's version.
    pub version: &'static str,
    /// Its process id.
    pub pid: u32,
    /// When it started.
    pub started_at: Timestamp,
    /// The socket that it listens on.
    pub socket: PathBuf,
    /// The folder that holds its sessions.
    pub state_dir: PathBuf,
}

/// The daemon, as its clients may steer it.
pub trait Control: Send + Sync + 'static {
    /// What does not change.
    fn facts(&self) -> &Facts;

    /// Reads the settings again, and looks at those of a folder too.
    fn reload(&self, cwd: Option<String>) -> BoxFuture<'_, Result<DaemonReloadResult, RpcError>>;

    /// Begins to stop agentd; returns at once.
    fn shut_down(&self, mode: ShutdownMode);

    /// Where a process that connected comes from.
    fn origin(&self, pid: u32) -> Origin;

    /// The processes of tools, of one session or of all.
    fn processes(&self, session: Option<&SessionId>) -> Vec<ProcessInfo>;
}
