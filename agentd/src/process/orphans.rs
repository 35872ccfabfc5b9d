//! Reaps processes whose parents ended before them and which the kernel gave to agentd. Called by
//! `registry`. Never waits for any child that a tool call, a hook or a server still waits for.

use super::registry::Processes;
use super::table;
use nix::sys::wait::{WaitPidFlag, waitpid};
use nix::unistd::Pid;
use std::collections::HashSet;
use std::io;
use std::sync::Arc;
use std::time::Duration;
use tokio::signal::unix::{SignalKind, signal};

/// After a child has ended others soon do: they are looked for together. Nobody waits for an orphan.
const SETTLE: Duration = Duration::from_millis(20);

/// Makes agentd the parent of orphans below it and reaps them from now on. Ends with the runtime.
pub(super) fn adopt(processes: &Arc<Processes>) -> io::Result<()> {
    nix::sys::prctl::set_child_subreaper(true)?;
    let mut ended = signal(SignalKind::child())?;
    let processes = Arc::downgrade(processes);
    tokio::spawn(async move {
        while ended.recv().await.is_some() {
            tokio::time::sleep(SETTLE).await;
            let Some(processes) = processes.upgrade() else { return };
            // It reads the process table, so it stays off the runtime's own threads.
            let _ = tokio::task::spawn_blocking(move || processes.reap_orphans()).await;
        }
    });
    Ok(())
}

/// Reaps the ended children that are not in `managed`. Returns whether there were any.
pub(super) fn reap(managed: &HashSet<u32>) -> bool {
    let mut reaped = false;
    for pid in table::own_children() {
        if managed.contains(&pid) {
            continue;
        }
        if let Ok(raw) = i32::try_from(pid) {
            let status = waitpid(Pid::from_raw(raw), Some(WaitPidFlag::WNOHANG));
            reaped |= status.is_ok_and(|status| status.pid().is_some());
        }
    }
    reaped
}
