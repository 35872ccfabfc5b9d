//! `agentctl start`, `stop` and `restart`.

use super::print;
use crate::args::Stop;
use crate::connect::Connection;
use crate::failure::{Failure, Outcome};
use crate::start::Target;
use proto::methods::{DaemonShutdown, DaemonShutdownParams, DaemonStatus, Empty, ShutdownMode};
use std::path::Path;
use std::time::Duration;

/// How often and how far apart we look whether a daemon that closed its connections is gone.
const GONE_TRIES: u32 = 300;
const GONE_PAUSE: Duration = Duration::from_millis(10);

/// `agentctl start`.
pub fn start(target: &Target) -> Outcome {
    let running = target.connect_running()?;
    let word = if running.is_some() { "runs already" } else { "started" };
    let mut connection = running.map_or_else(|| target.connect(), Ok)?;
    let status = connection.call::<DaemonStatus>(Empty {})?;
    print(&format!("agentd {word}, pid {}, at {}", status.pid, target.socket.display()))?;
    Ok(0)
}

/// `agentctl stop`.
pub fn stop(args: &Stop, target: &Target) -> Outcome {
    match target.connect_running()? {
        Some(connection) => {
            stop_running(connection, args.now, &target.socket)?;
            print("agentd stopped")?;
        }
        None => print("agentd does not run")?,
    }
    Ok(0)
}

/// `agentctl restart`.
pub fn restart(args: &Stop, target: &Target) -> Outcome {
    if let Some(connection) = target.connect_running()? {
        stop_running(connection, args.now, &target.socket)?;
    }
    start(target)
}

fn stop_running(mut connection: Connection, now: bool, socket: &Path) -> Result<(), Failure> {
    let pid = connection.call::<DaemonStatus>(Empty {}).ok().map(|status| status.pid);
    let mode = if now { ShutdownMode::Now } else { ShutdownMode::Drain };
    match connection.call::<DaemonShutdown>(DaemonShutdownParams { mode }) {
        Ok(_) => {}
        Err(error) if error.is_disconnect() => {} // it was quicker than its answer
        Err(error) => return Err(error.into()),
    }
    let _ = connection.wait_for_end(); // however the connection ends, it is the end
    for _ in 0..GONE_TRIES {
        if is_gone(pid, socket) {
            return Ok(());
        }
        std::thread::sleep(GONE_PAUSE);
    }
    Err(Failure::new("agentd closed its connections but still runs; `agentctl stop --now` stops it at once"))
}

/// Whether that daemon has ended; another one may serve the socket by now, as systemd starts them.
fn is_gone(pid: Option<u32>, socket: &Path) -> bool {
    match pid.and_then(|pid| i32::try_from(pid).ok()) {
        Some(pid) => nix::sys::signal::kill(nix::unistd::Pid::from_raw(pid), None).is_err() || is_zombie(pid),
        None => Connection::open(socket).is_err(),
    }
}

/// Whether a process has ended and only waits for its parent to look.
fn is_zombie(pid: i32) -> bool {
    let stat = std::fs::read_to_string(format!("/proc/{pid}/stat")).unwrap_or_default();
    stat.rsplit(')').next().is_some_and(|rest| rest.trim_start().starts_with('Z'))
}
