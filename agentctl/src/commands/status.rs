//! `agentctl status`: how agentd is. It starts none.

use super::{print, print_pretty};
use crate::args::Json;
use crate::environment;
use crate::failure::Outcome;
use crate::start::Target;
use proto::methods::{DaemonStatus, DaemonStatusResult, Empty};

/// Runs the command.
pub fn run(args: &Json, target: &Target) -> Outcome {
    let status = target.connect_or_tell()?.call::<DaemonStatus>(Empty {})?;
    if args.json {
        print_pretty(&status)?;
    } else {
        lines(&status).iter().try_for_each(|line| print(line))?;
    }
    Ok(0)
}

fn lines(status: &DaemonStatusResult) -> Vec<String> {
    let up = super::ls::age_of(&status.started_at, environment::now());
    let sessions = status.sessions;
    vec![
        format!("agentd {}, pid {}, up {up}", status.version, status.pid),
        format!("socket       {}", status.socket),
        format!("state        {}", status.state_dir),
        format!("sessions     {} ({} running, {} waiting)", sessions.total, sessions.running, sessions.waiting),
        format!("connections  {}", status.connections),
        format!("tasks        {}", status.tasks),
        format!("memory       {} MiB", status.rss_bytes / (1024 * 1024)),
    ]
}
