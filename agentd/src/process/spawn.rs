//! Starts a command with all that it may have named: program, folder, variables, output file. Called by
//! `ahead` for the lines that need a shell of their own, and by `tools`.

use super::child::Managed;
use super::environment::for_tools;
use super::launch::Program;
use super::output_file::create_output_file;
use super::registry::Processes;
use super::tree::{self, Marks};
use crate::base::environment::Environment;
use proto::ids::{SessionId, ToolCallId};
use std::ffi::OsString;
use std::io;
use std::os::fd::OwnedFd;
use std::path::{Path, PathBuf};
use std::process::ExitStatus;
use std::sync::Arc;
use std::time::Duration;

/// A command to start.
#[derive(Debug, Clone)]
pub struct CommandSpec {
    /// The session that it belongs to.
    pub session_id: SessionId,
    /// The tool call that it belongs to.
    pub tool_call_id: ToolCallId,
    /// The program and its arguments.
    pub argv: Vec<String>,
    /// The folder that it starts in.
    pub cwd: PathBuf,
    /// The client's environment; the process gets it less secrets.
    pub env: Arc<Environment>,
    /// The folder for its output file; made if need be.
    pub outputs_dir: PathBuf,
}

/// A command that runs. Dropped before its end was awaited, it takes its process group with it.
#[derive(Debug)]
pub struct Running {
    child: Managed,
    pub(super) processes: Arc<Processes>,
    pub(super) root: u32,
    pub(super) marks: Marks,
    pub(super) output: PathBuf,
    /// Where the shell writes down its last folder.
    pub(super) note: Option<PathBuf>,
    pub(super) ended: bool,
}

impl Running {
    pub(super) fn new(
        child: Managed,
        processes: Arc<Processes>,
        marks: Marks,
        output: PathBuf,
        note: Option<PathBuf>,
    ) -> Self {
        let root = child.pid();
        Self { child, processes, root, marks, output, note, ended: false }
    }

    /// The shell's id, which is also that of its group and session.
    #[must_use]
    pub fn pid(&self) -> u32 {
        self.root
    }

    /// Where its output goes: both streams, in one file, in the order in which they were written.
    #[must_use]
    pub fn output_path(&self) -> &Path {
        &self.output
    }

    /// The end of the shell itself. Its children may go on.
    pub(super) async fn exit(&mut self) -> io::Result<ExitStatus> {
        self.child.wait().await
    }

    /// Stops every process of the call. Returns those that could not be stopped.
    pub(super) async fn stop(&self, grace: Duration) -> Vec<u32> {
        tree::kill_tree(&self.marks, grace).await
    }
}

impl Drop for Running {
    fn drop(&mut self) {
        if !self.ended {
            tree::kill_group(self.root);
            if let Some(note) = &self.note {
                // Mostly there is none.
                let _ = std::fs::remove_file(note);
            }
        }
    }
}

impl Processes {
    /// Starts a command.
    ///
    /// # Errors
    /// The folder is gone, the output file can't be made, or the system has no room for a process.
    pub fn start(self: &Arc<Self>, spec: &CommandSpec) -> io::Result<Running> {
        if !spec.cwd.is_dir() {
            return Err(io::Error::new(
                io::ErrorKind::NotFound,
                format!("the folder {} does not exist any more", spec.cwd.display()),
            ));
        }
        let (session, call) = (spec.session_id.as_str(), spec.tool_call_id.as_str());
        let (file, output) = create_output_file(&spec.outputs_dir, call)?;
        let child = self
            .launch(Program {
                argv: &spec.argv.iter().map(OsString::from).collect::<Vec<_>>(),
                folder: &spec.cwd,
                variables: &self.with_own(for_tools(&spec.env, session, call)),
                input: None,
                output: Some(OwnedFd::from(file)),
            })
            .inspect_err(|_| {
                let _ = std::fs::remove_file(&output);
            })?;
        let marks = Marks::of_call(child.pid(), session, call, output.clone());
        self.enter(child.pid(), spec, &marks);
        Ok(Running::new(child, Arc::clone(self), marks, output, None))
    }
}
