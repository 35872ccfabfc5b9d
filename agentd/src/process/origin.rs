//! Whether a process was started by a tool of this daemon. Called by `daemon` for the peers of the socket. Only reads.
//!
//! Two marks are looked at. agentd is the parent of whatever its tools leave behind (`orphans`), so a process of a tool
//! stays a descendant of it, whether it called `setsid`, forked twice or cleared its variables. And what an earlier
//! agentd has started, whose descendant it was, carries the variable of its session, unless it was cleared.

use super::environment::SESSION_VARIABLE;
use super::table;

/// Generations that are looked at; there are seldom more than ten.
const MAX_GENERATIONS: usize = 256;
/// How often the walk begins anew because a process on the way has ended.
const ATTEMPTS: usize = 4;

/// Where a process comes from.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Origin {
    /// From a tool.
    Tool,
    /// From elsewhere.
    Elsewhere,
    /// It has ended already, so that it can't be told.
    Unknown,
}

/// Where a process comes from. `is_own` says of the id of a session whether it is one of this daemon.
#[must_use]
pub fn origin(pid: u32, is_own: &dyn Fn(&str) -> bool) -> Origin {
    let walks = (0..ATTEMPTS).map(|_| walk(pid, is_own));
    walks.into_iter().find(|found| *found != Origin::Unknown).unwrap_or(Origin::Unknown)
}

/// One way up. A process on it that ends meanwhile has left its children to another parent.
fn walk(start: u32, is_own: &dyn Fn(&str) -> bool) -> Origin {
    let agentd = std::process::id();
    let mut pid = start;
    for _ in 0..MAX_GENERATIONS {
        if pid == agentd {
            return if pid == start { Origin::Elsewhere } else { Origin::Tool };
        }
        let Some(process) = table::process(pid) else { return Origin::Unknown };
        if table::variable(pid, SESSION_VARIABLE).is_some_and(|session| is_own(&session)) {
            return Origin::Tool;
        }
        // The first process of all, or one whose parent is in another namespace.
        if process.ppid == 0 {
            return Origin::Elsewhere;
        }
        pid = process.ppid;
    }
    Origin::Unknown
}

#[cfg(test)]
#[allow(clippy::disallowed_methods)] // a test plays a tool
mod tests {
    use super::*;
    use std::process::{Command, Stdio};

    #[test]
    fn a_descendant_is_a_tool_whatever_it_does() {
        // The grandchild clears its variables and is the leader of a session of its own.
        let mut child = Command::new("sh")
            .args(["-c", "setsid env -i sh -c 'echo $$; read x' & wait"])
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .spawn()
            .unwrap();
        let mut line = String::new();
        std::io::BufRead::read_line(&mut std::io::BufReader::new(child.stdout.take().unwrap()), &mut line).unwrap();
        let inner: u32 = line.trim().parse().unwrap();
        assert_eq!(origin(child.id(), &|_| false), Origin::Tool);
        // Without standard input the grandchild may be gone by now; then nothing is claimed.
        assert_ne!(origin(inner, &|_| false), Origin::Elsewhere);
        child.wait().unwrap();
        assert_eq!(origin(child.id(), &|_| false), Origin::Unknown, "it has ended");
    }

    #[test]
    fn others_are_no_tools() {
        assert_eq!(origin(std::process::id(), &|_| false), Origin::Elsewhere);
        assert_eq!(origin(1, &|_| false), Origin::Elsewhere);
    }
}
