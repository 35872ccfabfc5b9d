//! The registry of tool processes: what runs, what a finished call left behind, and how to stop either.
//! Called by `spawn`, by `daemon` at start and stop, and by the methods that list processes.

use super::ahead::Shelf;
use super::child::Child;
use super::environment::SOCKET_VARIABLE;
use super::launch::inherited_descriptors;
use super::orphans;
use super::own_folder;
use super::spawn::CommandSpec;
use super::table::{self, Process, TICKS_PER_SECOND};
use super::tree::{self, Marks};
use proto::ids::{SessionId, Timestamp, ToolCallId};
use proto::task::ProcessInfo;
use std::collections::{BTreeMap, HashMap, HashSet};
use std::io;
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError, RwLock};
use std::time::{Duration, UNIX_EPOCH};
use tokio_util::task::TaskTracker;

/// The processes that this daemon has started for tools. One value for the whole daemon.
#[derive(Debug)]
pub struct Processes {
    /// agentd's own program, as the kernel can start it even after it was replaced on disk.
    helper: PathBuf,
    /// Whether everything is started through it, as where the system forbids the direct way.
    only_helper: bool,
    /// Descriptors that agentd was started with and that are no business of tools.
    inherited: Vec<i32>,
    /// Children that somebody waits for.
    managed: Mutex<HashSet<u32>>,
    /// Shared while a child is started, so that the reaper can't take one that is not entered yet.
    starting: RwLock<()>,
    /// Shells that wait for a line.
    shelf: Mutex<Shelf>,
    /// Those of them that are being started, wanted or not.
    starts: TaskTracker,
    /// Calls with live processes, by their shell.
    calls: Mutex<HashMap<u32, Call>>,
    subreaper: AtomicBool,
    /// Where this daemon listens.
    socket: Option<String>,
}

#[derive(Debug, Clone)]
struct Call {
    root: u32,
    session_id: SessionId,
    tool_call_id: ToolCallId,
    /// What the shell was given, for people: a shell that waited shows only that it did.
    command: String,
    marks: Marks,
    /// Whether the call is over and only what it left behind goes on.
    finished: bool,
}

impl Default for Processes {
    fn default() -> Self {
        Self::new(PathBuf::from("/proc/self/exe"))
    }
}

impl Processes {
    /// A registry that starts children directly or, where the system forbids that, through `helper`, which must be a
    /// build of agentd.
    #[must_use]
    pub fn new(helper: PathBuf) -> Self {
        Self {
            helper,
            only_helper: false,
            inherited: inherited_descriptors(),
            managed: Mutex::default(),
            starting: RwLock::default(),
            shelf: Mutex::default(),
            starts: TaskTracker::new(),
            calls: Mutex::default(),
            subreaper: AtomicBool::new(false),
            socket: None,
        }
    }

    /// The same, telling tools where this daemon listens; a path that is not UTF-8 is not told.
    #[must_use]
    pub fn with_socket(self, socket: &Path) -> Self {
        let socket = std::path::absolute(socket).ok().and_then(|socket| socket.to_str().map(str::to_owned));
        Self { socket, ..self }
    }

    /// The variables of a tool's process, with the socket.
    pub(super) fn with_own(&self, mut variables: BTreeMap<String, String>) -> BTreeMap<String, String> {
        variables.extend(self.socket.iter().map(|socket| (SOCKET_VARIABLE.to_owned(), socket.clone())));
        variables
    }

    /// A registry that starts every child through `helper`.
    #[must_use]
    pub fn through(helper: PathBuf) -> Self {
        Self { only_helper: true, ..Self::new(helper) }
    }

    /// Makes agentd the parent of what its children leave behind, and reaps that. Once, by the daemon, on
    /// its runtime.
    ///
    /// # Errors
    /// The kernel refuses.
    pub fn adopt_orphans(self: &Arc<Self>) -> io::Result<()> {
        orphans::adopt(self)?;
        self.subreaper.store(true, Ordering::Release);
        Ok(())
    }

    /// What runs, of one session or of all: every live process of every call, the oldest first.
    #[must_use]
    pub fn list(&self, session: Option<&SessionId>) -> Vec<ProcessInfo> {
        let boot = table::boot_time();
        let mut found = Vec::new();
        for call in self.calls_of(session) {
            found.extend(call.marks.members().iter().map(|process| describe(&call, process, boot)));
        }
        found.sort_by(|a, b| (&a.started_at, a.pid).cmp(&(&b.started_at, b.pid)));
        // Providers may use the id of a call again: then both calls know the same processes.
        found.dedup_by_key(|process| process.pid);
        found
    }

    /// Stops all processes of a session, also those that an earlier agentd started. Returns those that could
    /// not be stopped.
    pub async fn stop_session(&self, session: &SessionId, grace: Duration) -> Vec<u32> {
        self.let_go(session);
        let known = self.stop_calls(self.calls_of(Some(session)), grace);
        let marks = Marks::of_session(session.as_str());
        let (known, tagged) = futures::join!(known, tree::kill_tree(&marks, grace));
        union(known, tagged)
    }

    /// Stops everything, also what hid from its call and came to agentd as an orphan. Returns what could not
    /// be stopped.
    pub async fn stop_all(&self, grace: Duration) -> Vec<u32> {
        self.let_all_go().await;
        let known = self.stop_calls(self.calls_of(None), grace).await;
        if !self.subreaper.load(Ordering::Acquire) {
            return known;
        }
        union(known, tree::kill_tree(&Marks::Children, grace).await)
    }

    async fn stop_calls(&self, calls: Vec<Call>, grace: Duration) -> Vec<u32> {
        let stops = calls.iter().map(|call| async move {
            let left = tree::kill_tree(&call.marks, grace).await;
            (call, left)
        });
        let mut remaining = Vec::new();
        for (call, left) in futures::future::join_all(stops).await {
            if left.is_empty() && call.finished {
                self.lock_calls().remove(&call.root);
            }
            remaining.extend(left);
        }
        remaining
    }

    fn calls_of(&self, session: Option<&SessionId>) -> Vec<Call> {
        let calls = self.lock_calls();
        calls.values().filter(|call| session.is_none_or(|wanted| call.session_id == *wanted)).cloned().collect()
    }

    pub(super) fn helper(&self) -> &Path {
        &self.helper
    }

    /// Whether this thread can start children without the helper.
    pub(super) fn is_direct(&self) -> bool {
        !self.only_helper && Child::can_be_followed() && own_folder::is_possible()
    }

    pub(super) fn inherited(&self) -> &[i32] {
        &self.inherited
    }

    pub(super) fn shelf(&self) -> &Mutex<Shelf> {
        &self.shelf
    }

    pub(super) fn starts(&self) -> &TaskTracker {
        &self.starts
    }

    /// Starts a child and enters it as managed in one step, as far as the reaper sees.
    pub(super) fn managed_spawn<T>(&self, spawn: impl FnOnce() -> io::Result<(T, u32)>) -> io::Result<(T, u32)> {
        let _starting = self.starting.read().unwrap_or_else(PoisonError::into_inner);
        let (child, pid) = spawn()?;
        self.lock_managed().insert(pid);
        Ok((child, pid))
    }

    pub(super) fn unmanage(&self, pid: u32) {
        self.lock_managed().remove(&pid);
    }

    pub(super) fn enter(&self, root: u32, spec: &CommandSpec, marks: &Marks) {
        let call = Call {
            root,
            session_id: spec.session_id.clone(),
            tool_call_id: spec.tool_call_id.clone(),
            command: spec.argv.join(" "),
            marks: marks.clone(),
            finished: false,
        };
        self.lock_calls().insert(root, call);
    }

    /// A call is over. What it left behind stays listed.
    pub(super) fn leave(&self, root: u32, left_something: bool) {
        let mut calls = self.lock_calls();
        if left_something {
            if let Some(call) = calls.get_mut(&root) {
                call.finished = true;
            }
        } else {
            calls.remove(&root);
        }
    }

    /// Whether a finished call may have left something: as the parent of orphans agentd would have a child
    /// that nobody waits for.
    pub(super) fn may_have_orphans(&self) -> bool {
        if !self.subreaper.load(Ordering::Acquire) {
            return true;
        }
        let adopted = table::adopted_children();
        let managed = self.lock_managed();
        adopted.iter().any(|pid| !managed.contains(pid))
    }

    /// Reaps ended orphans, and forgets the finished calls that thereby have no process left: their ids
    /// may soon belong to somebody else.
    pub(super) fn reap_orphans(&self) {
        let reaped = {
            let _none_starts = self.starting.write().unwrap_or_else(PoisonError::into_inner);
            let managed = self.lock_managed().clone();
            orphans::reap(&managed)
        };
        if reaped {
            let finished = self.calls_of(None).into_iter().filter(|call| call.finished);
            let over: Vec<u32> =
                finished.filter(|call| call.marks.members().is_empty()).map(|call| call.root).collect();
            let mut calls = self.lock_calls();
            for root in over {
                calls.remove(&root);
            }
        }
    }

    /// Neither map can be left half changed, so a panic elsewhere doesn't spoil it.
    fn lock_managed(&self) -> MutexGuard<'_, HashSet<u32>> {
        self.managed.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn lock_calls(&self) -> MutexGuard<'_, HashMap<u32, Call>> {
        self.calls.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

fn union(mut pids: Vec<u32>, more: Vec<u32>) -> Vec<u32> {
    pids.extend(more);
    pids.sort_unstable();
    pids.dedup();
    pids
}

fn describe(call: &Call, process: &Process, boot: u64) -> ProcessInfo {
    ProcessInfo {
        pid: process.pid,
        pgid: process.pgid,
        session_id: call.session_id.clone(),
        tool_call_id: Some(call.tool_call_id.clone()),
        task_id: None,
        command: if process.pid == call.root { call.command.clone() } else { table::command_line(process.pid) },
        started_at: started_at(process, boot),
        rss_bytes: table::resident_bytes(process.pid),
        cpu_ms: process.cpu_ticks * 1000 / TICKS_PER_SECOND,
    }
}

fn started_at(process: &Process, boot: u64) -> Timestamp {
    let since_boot = Duration::from_millis(process.start_ticks * 1000 / TICKS_PER_SECOND);
    humantime::format_rfc3339_millis(UNIX_EPOCH + Duration::from_secs(boot) + since_boot).to_string()
}
