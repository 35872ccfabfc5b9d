//! `agentctl start`, `stop` and `restart`.

use super::print;
use crate::args::Stop;
use crate::connect::Connection;
use crate::failure::{Failure, Outcome};
use crate::start::Target;
use proto::methods::{DaemonShutdown, DaemonShutdownParams, DaemonStatus, Empty, ShutdownMode};
use std::io::{self, Write};
use std::path::Path;
use std::sync::mpsc::{RecvTimeoutError, SyncSender, sync_channel};
use std::time::Duration;

/// How often and how far apart we look whether a daemon that closed its connections is gone.
const GONE_TRIES: u32 = 300;
const GONE_PAUSE: Duration = Duration::from_millis(10);
/// After how long a person is told what a stop waits for.
const PATIENCE: Duration = Duration::from_millis(500);

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
    let status = connection.call::<DaemonStatus>(Empty {}).ok();
    let pid = status.as_ref().map(|status| status.pid);
    let turns = status.map(|status| status.sessions.running + status.sessions.waiting);
    let mode = if now { ShutdownMode::Now } else { ShutdownMode::Drain };
    match connection.call::<DaemonShutdown>(DaemonShutdownParams { mode }) {
        Ok(_) => {}
        Err(error) if error.is_disconnect() => {} // it was quicker than its answer
        Err(error) => return Err(error.into()),
    }
    {
        let _patience = Patience::start(waiting_for(turns, now));
        let _ = connection.wait_for_end(); // however the connection ends, it is the end
    }
    for _ in 0..GONE_TRIES {
        if is_gone(pid, socket) {
            return Ok(());
        }
        std::thread::sleep(GONE_PAUSE);
    }
    Err(Failure::new("agentd closed its connections but still runs; `agentctl stop --now` stops it at once"))
}

/// What is said to a person who waits for a stop.
fn waiting_for(turns: Option<u64>, now: bool) -> String {
    let what = match turns {
        _ if now => return "waiting for agentd to end".to_owned(),
        None | Some(0) => "running turns".to_owned(),
        Some(1) => "1 turn".to_owned(),
        Some(more) => format!("{more} turns"),
    };
    format!("waiting for {what}, at most 10 s unless limits.drainMs is set; `agentctl stop --now` waits for none")
}

/// Says a sentence on standard error unless it is dropped soon.
struct Patience {
    /// Hung up by the drop.
    _over: SyncSender<()>,
}

impl Patience {
    fn start(sentence: String) -> Self {
        let (over, is_over) = sync_channel::<()>(0);
        std::thread::spawn(move || {
            if is_over.recv_timeout(PATIENCE) == Err(RecvTimeoutError::Timeout) {
                let _ = writeln!(io::stderr(), "{sentence}"); // a hint; nowhere else to tell
            }
        });
        Self { _over: over }
    }
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

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn who_waits_is_told_for_what() {
        for (turns, start) in [(Some(1), "waiting for 1 turn, "), (Some(2), "waiting for 2 turns, ")] {
            assert!(waiting_for(turns, false).starts_with(start));
        }
        for turns in [None, Some(0)] {
            assert!(waiting_for(turns, false).starts_with("waiting for running turns, at most"));
        }
        assert_eq!(waiting_for(Some(2), true), "waiting for agentd to end");
    }
}
