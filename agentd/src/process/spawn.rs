//! Starts a command with all that it may have named: program, folder, variables, output file. Called by
//! `tools`; the only place in agentd that starts a tool's process.

use super::environment::for_tools;
use super::exec_helper::HELPER_ARGUMENT;
use super::output_file::create_output_file;
use super::registry::Processes;
use super::tree::{self, Marks};
use crate::base::environment::Environment;
use proto::ids::{SessionId, ToolCallId};
use std::fs::File;
use std::io;
use std::path::{Path, PathBuf};
use std::process::{ExitStatus, Stdio};
use std::sync::Arc;
use std::time::Duration;
use tokio::process::{Child, Command};

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
    child: Child,
    pub(super) processes: Arc<Processes>,
    pub(super) root: u32,
    pub(super) marks: Marks,
    pub(super) output: PathBuf,
    pub(super) ended: bool,
}

impl Running {
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
        let status = self.child.wait().await;
        self.processes.unmanage(self.root);
        status
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
        let (file, output) = create_output_file(&spec.outputs_dir, spec.tool_call_id.as_str())?;
        let mut command = self.command(spec, file)?;
        let child = self.managed_spawn(|| {
            let child = command.spawn()?;
            let pid = child.id().ok_or_else(|| io::Error::other("a process without an id"))?;
            Ok((child, pid))
        });
        let (child, root) = child.inspect_err(|_| {
            let _ = std::fs::remove_file(&output);
        })?;
        let marks = Marks::of_call(root, spec.session_id.as_str(), spec.tool_call_id.as_str(), output.clone());
        self.enter(root, spec, &marks);
        Ok(Running { child, processes: Arc::clone(self), root, marks, output, ended: false })
    }

    fn command(&self, spec: &CommandSpec, output: File) -> io::Result<Command> {
        #[allow(clippy::disallowed_methods)] // the one place that starts processes
        let mut command = Command::new(self.helper());
        command
            .arg0("agentd")
            .arg(HELPER_ARGUMENT)
            .args(&spec.argv)
            .current_dir(&spec.cwd)
            .env_clear()
            .envs(for_tools(&spec.env, spec.session_id.as_str(), spec.tool_call_id.as_str()))
            .stdin(Stdio::null())
            .stdout(output.try_clone()?)
            .stderr(output);
        Ok(command)
    }
}
