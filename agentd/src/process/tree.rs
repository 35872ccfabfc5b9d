//! Which processes belong to a tool call or a session, and how they are stopped. Called by `spawn` and
//! `registry`. Never touches a process that it has not just found to belong there.

use super::environment::{CALL_VARIABLE, SESSION_VARIABLE, tag_text};
use super::table::{self, Process};
use crate::base::clock::Stopwatch;
use nix::sys::signal::{Signal, kill, killpg};
use nix::unistd::Pid;
use std::collections::HashSet;
use std::path::PathBuf;
use std::time::Duration;

/// How long killed processes may take to vanish before they are reported as still running.
const KILL_DEADLINE: Duration = Duration::from_secs(3);
/// The first and the longest pause between two looks at the table.
const PAUSES: (Duration, Duration) = (Duration::from_millis(2), Duration::from_millis(40));

/// Processes that were found to belong there, each with its start, since a process id is used again.
type Known = HashSet<(u32, u64)>;

/// By what the processes to look for are known.
#[derive(Debug, Clone)]
pub(super) enum Marks {
    /// Those of one call: of the session and group that its shell, `root`, leads; or with its variables; or
    /// writing to its output.
    Call { root: u32, variables: [String; 2], output: PathBuf },
    /// Those that carry a session's variable, whichever agentd started them.
    Session { variable: [String; 1] },
    /// Children of agentd: also what hid from all other marks and came to it as an orphan, and shells that waited.
    Children,
}

impl Marks {
    pub fn of_call(root: u32, session: &str, call: &str, output: PathBuf) -> Self {
        let variables = [session_variable(session), format!("{CALL_VARIABLE}={}", tag_text(call))];
        Self::Call { root, variables, output }
    }

    pub fn of_session(session: &str) -> Self {
        Self::Session { variable: [session_variable(session)] }
    }

    /// The processes that are alive and bear the marks, and all their descendants.
    pub fn members(&self) -> Vec<Process> {
        self.members_and(&Known::default())
    }

    /// The same, with those that were members once: whoever has shed all marks is a descendant only as long as
    /// its parent lives.
    fn members_and(&self, known: &Known) -> Vec<Process> {
        let own = std::process::id();
        let mut others: Vec<Process> =
            table::snapshot().into_iter().filter(|process| process.pid != own && process.pid != 1).collect();
        let mut members: Vec<Process> = others
            .extract_if(.., |process| known.contains(&(process.pid, process.start_ticks)) || self.marks(process, own))
            .collect();
        let mut pids: HashSet<u32> = members.iter().map(|process| process.pid).collect();
        loop {
            let found: Vec<Process> = others.extract_if(.., |process| pids.contains(&process.ppid)).collect();
            if found.is_empty() {
                break;
            }
            pids.extend(found.iter().map(|process| process.pid));
            members.extend(found);
        }
        members.retain(|process| !process.zombie);
        members
    }

    fn marks(&self, process: &Process, own: u32) -> bool {
        match self {
            Self::Call { root, variables, output } => {
                [process.pid, process.session, process.pgid].contains(root)
                    || table::has_variables(process.pid, variables)
                    || table::writes_to(process.pid, output)
            }
            Self::Session { variable } => table::has_variables(process.pid, variable),
            Self::Children => process.ppid == own,
        }
    }

    /// The group that can be killed at a stroke: one that a call's shell leads.
    fn group(&self, members: &[Process]) -> Option<u32> {
        let Self::Call { root, .. } = self else { return None };
        members.iter().any(|process| process.pgid == *root && process.session == *root).then_some(*root)
    }
}

fn session_variable(session: &str) -> String {
    format!("{SESSION_VARIABLE}={}", tag_text(session))
}

/// Stops processes: TERM, the grace period, then KILL until none is left. New ones that appear
/// meanwhile are stopped too. Returns those that are still alive.
pub(super) async fn kill_tree(marks: &Marks, grace: Duration) -> Vec<u32> {
    let clock = Stopwatch::start();
    let mut asked = HashSet::new();
    let mut known = Known::default();
    let mut pause = PAUSES.0;
    loop {
        let members = look(marks, &known).await;
        if members.is_empty() {
            return Vec::new();
        }
        known.extend(members.iter().map(|process| (process.pid, process.start_ticks)));
        let elapsed = clock.elapsed();
        if elapsed >= grace + KILL_DEADLINE {
            return members.iter().map(|process| process.pid).collect();
        }
        if elapsed >= grace {
            kill_all(marks, &members);
        } else {
            let fresh: Vec<u32> = members.iter().map(|process| process.pid).filter(|pid| asked.insert(*pid)).collect();
            ask_to_end(&fresh);
        }
        tokio::time::sleep(pause.min(if elapsed < grace { grace - elapsed } else { pause })).await;
        pause = (pause * 2).min(PAUSES.1);
    }
}

/// The table is read off the runtime's own threads. If that fails, nothing is claimed to be alive.
async fn look(marks: &Marks, known: &Known) -> Vec<Process> {
    let (marks, known) = (marks.clone(), known.clone());
    tokio::task::spawn_blocking(move || marks.members_and(&known)).await.unwrap_or_default()
}

/// A stopped process gets TERM only once it goes on.
fn ask_to_end(pids: &[u32]) {
    for pid in pids {
        signal(*pid, Signal::SIGTERM);
        signal(*pid, Signal::SIGCONT);
    }
}

/// The group first: that reaches processes which were forked since the table was read.
fn kill_all(marks: &Marks, members: &[Process]) {
    if let Some(root) = marks.group(members) {
        kill_group(root);
    }
    for process in members {
        signal(process.pid, Signal::SIGKILL);
    }
}

/// Kills the group of a call that its owner has let go of.
pub(super) fn kill_group(root: u32) {
    if let Ok(root) = i32::try_from(root)
        && root > 1
    {
        let _ = killpg(Pid::from_raw(root), Signal::SIGKILL);
    }
}

fn signal(pid: u32, signal: Signal) {
    if let Ok(pid) = i32::try_from(pid)
        && pid > 1
    {
        // It may have ended since; the next look tells.
        let _ = kill(Pid::from_raw(pid), signal);
    }
}
