//! Shells that are started ahead: one a session, in its folder and with its variables, waiting for a line. Called by
//! `tools`, which asks for one when a command is to be expected, and by `session`, which lets it go.
//!
//! A shell that waits runs nothing and holds nothing; without agentd its input ends and so does it. It is used only if
//! program, folder and variables are to the letter those that the line is to run with.

use super::child::Managed;
use super::environment::for_session;
use super::launch::Program;
use super::output_file::create_output_file;
use super::registry::Processes;
use super::shell_words::{can_wait, orders, runs_alike, waiting_script};
use super::spawn::{CommandSpec, Running};
use super::tree::{self, Marks};
use crate::base::environment::Environment;
use proto::ids::{SessionId, ToolCallId};
use std::collections::HashMap;
use std::ffi::OsString;
use std::io::{self, PipeWriter, Write as _};
use std::num::NonZero;
use std::os::fd::OwnedFd;
use std::os::unix::fs::MetadataExt as _;
use std::path::{Path, PathBuf};
use std::sync::{Arc, LazyLock, MutexGuard, PoisonError};
use std::thread::available_parallelism;
use tokio::io::AsyncWriteExt as _;
use tokio::task::JoinHandle;

/// Shells that may wait at one time, whatever the number of sessions: each takes a process and some memory.
const MAX_WAITING: usize = 64;

/// Where and as whom the lines of a session run.
#[derive(Debug, Clone, PartialEq)]
pub struct ShellSpec {
    /// The session.
    pub session_id: SessionId,
    /// The shell, by its whole path.
    pub shell: String,
    /// The folder that it starts in.
    pub cwd: PathBuf,
    /// The client's environment; the shell gets it less secrets.
    pub env: Arc<Environment>,
    /// The folder for output files; made if need be.
    pub outputs_dir: PathBuf,
}

impl ShellSpec {
    fn command(&self, call: &ToolCallId, line: &str) -> CommandSpec {
        CommandSpec {
            session_id: self.session_id.clone(),
            tool_call_id: call.clone(),
            argv: vec![self.shell.clone(), "-c".to_owned(), line.to_owned()],
            cwd: self.cwd.clone(),
            env: Arc::clone(&self.env),
            outputs_dir: self.outputs_dir.clone(),
        }
    }
}

/// A shell that was asked for.
#[derive(Debug)]
pub(super) struct Ahead {
    spec: ShellSpec,
    shell: JoinHandle<io::Result<Waiting>>,
}

/// The shells that were asked for, by session.
pub(super) type Shelf = HashMap<SessionId, Ahead>;

/// A shell that waits for its orders.
#[derive(Debug)]
struct Waiting {
    child: Option<Managed>,
    orders: Option<PipeWriter>,
    /// Device and number of the folder, since another may get its name.
    folder: (u64, u64),
    note: PathBuf,
}

/// One that was not used ends at once.
impl Drop for Waiting {
    fn drop(&mut self) {
        if let Some(child) = &self.child {
            tree::kill_group(child.pid());
        }
    }
}

impl Processes {
    /// Has a shell started for the next line of a session, if there is none that fits. Returns at once.
    pub fn prepare(self: &Arc<Self>, spec: &ShellSpec) {
        self.start_ahead(spec, MAX_WAITING);
    }

    /// The same for a line that is only likely to come. Where as many wait already as there are processors, it had
    /// better be started when it is needed: they are busy enough, and what is not used is lost.
    pub fn prepare_early(self: &Arc<Self>, spec: &ShellSpec) {
        // Asking the system takes several files to be read.
        static PROCESSORS: LazyLock<usize> = LazyLock::new(|| available_parallelism().map_or(1, NonZero::get));
        self.start_ahead(spec, MAX_WAITING.min(*PROCESSORS));
    }

    fn start_ahead(self: &Arc<Self>, spec: &ShellSpec, most_waiting: usize) {
        if !can_wait(&spec.shell) {
            return;
        }
        let mut shelf = self.lock_shelf();
        let has_one = shelf.get(&spec.session_id);
        if has_one.is_some_and(|ahead| ahead.spec == *spec) || (has_one.is_none() && shelf.len() >= most_waiting) {
            return;
        }
        let (processes, wanted) = (Arc::downgrade(self), spec.clone());
        let shell = self.starts().spawn_blocking(move || match processes.upgrade() {
            Some(processes) => processes.start_waiting(&wanted),
            None => Err(io::Error::other("agentd is stopping")),
        });
        shelf.insert(spec.session_id.clone(), Ahead { spec: spec.clone(), shell });
    }

    /// Lets a session's waiting shell go.
    pub fn let_go(&self, session: &SessionId) {
        drop(self.lock_shelf().remove(session));
    }

    /// Lets all of them go, and waits for those that are being started: each has ended or is a child by then.
    pub(super) async fn let_all_go(&self) {
        self.lock_shelf().clear();
        self.starts().close();
        self.starts().wait().await;
    }

    /// Runs a line: in the session's waiting shell if it fits, else in a new one.
    ///
    /// # Errors
    /// The folder is gone, the output file can't be made, or the system has no room for a process.
    pub async fn run_line(self: &Arc<Self>, spec: &ShellSpec, call: &ToolCallId, line: &str) -> io::Result<Running> {
        if !can_wait(&spec.shell) || !runs_alike(line) {
            return self.start(&spec.command(call, line));
        }
        let (_, output) = create_output_file(&spec.outputs_dir, call.as_str())?;
        let running = self.in_shell(spec, call, line, &output).await;
        running.inspect_err(|_| {
            let _ = std::fs::remove_file(&output);
        })
    }

    async fn in_shell(
        self: &Arc<Self>,
        spec: &ShellSpec,
        call: &ToolCallId,
        line: &str,
        output: &Path,
    ) -> io::Result<Running> {
        let orders = orders(line, call.as_str(), output);
        if let Some(mut waiting) = self.take(spec).await
            && waiting.give(&orders).await.is_ok()
            && let Some(running) = self.running(waiting, &spec.command(call, line), output)
        {
            return Ok(running);
        }
        // Orders that did not arrive whole are not run, so a new shell may have them.
        let mut waiting = self.start_waiting(spec)?;
        waiting.give(&orders).await?;
        let running = self.running(waiting, &spec.command(call, line), output);
        running.ok_or_else(|| io::Error::other("the shell is gone"))
    }

    fn running(self: &Arc<Self>, mut waiting: Waiting, spec: &CommandSpec, output: &Path) -> Option<Running> {
        let child = waiting.child.take()?;
        let call = spec.tool_call_id.as_str();
        let marks = Marks::of_call(child.pid(), spec.session_id.as_str(), call, output.to_owned());
        self.enter(child.pid(), spec, &marks);
        Some(Running::new(child, Arc::clone(self), marks, output.to_owned(), Some(waiting.note.clone())))
    }

    /// The session's waiting shell, if it is what a new one would be.
    async fn take(&self, spec: &ShellSpec) -> Option<Waiting> {
        let ahead = self.lock_shelf().remove(&spec.session_id)?;
        if ahead.spec != *spec {
            return None;
        }
        let waiting = ahead.shell.await.ok()?.ok()?;
        (folder_id(&spec.cwd).ok()? == waiting.folder).then_some(waiting)
    }

    fn start_waiting(self: &Arc<Self>, spec: &ShellSpec) -> io::Result<Waiting> {
        let folder = folder_id(&spec.cwd)?;
        let note = spec.outputs_dir.join(format!(".folder-{}", uuid::Uuid::new_v4().simple()));
        let (read, write) = io::pipe()?;
        let child = self.launch(Program {
            argv: &[OsString::from(&spec.shell), OsString::from("-c"), waiting_script(&spec.cwd, &note)],
            folder: &spec.cwd,
            variables: &self.with_own(for_session(&spec.env, spec.session_id.as_str())),
            input: Some(OwnedFd::from(read)),
            output: None,
        })?;
        Ok(Waiting { child: Some(child), orders: Some(write), folder, note })
    }

    fn lock_shelf(&self) -> MutexGuard<'_, Shelf> {
        self.shelf().lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl Waiting {
    /// Gives the shell its orders. What the pipe takes at once, nearly all lines, needs no waiting.
    async fn give(&mut self, orders: &[u8]) -> io::Result<()> {
        let Some(mut pipe) = self.orders.take() else { return Err(io::ErrorKind::BrokenPipe.into()) };
        nix::fcntl::fcntl(&pipe, nix::fcntl::FcntlArg::F_SETFL(nix::fcntl::OFlag::O_NONBLOCK))?;
        let written = match pipe.write(orders) {
            Ok(written) => written,
            Err(error) if error.kind() == io::ErrorKind::WouldBlock => 0,
            Err(error) => return Err(error),
        };
        match orders.get(written..) {
            Some(rest) if !rest.is_empty() => {
                let mut pipe = tokio::net::unix::pipe::Sender::from_owned_fd(OwnedFd::from(pipe))?;
                pipe.write_all(rest).await
            }
            _ => Ok(()),
        }
    }
}

fn folder_id(folder: &Path) -> io::Result<(u64, u64)> {
    match std::fs::metadata(folder) {
        Ok(found) if found.is_dir() => Ok((found.dev(), found.ino())),
        _ => Err(io::Error::new(
            io::ErrorKind::NotFound,
            format!("the folder {} does not exist any more", folder.display()),
        )),
    }
}
