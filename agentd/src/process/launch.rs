//! Starts a program in a session of its own, with default signals, the three standard descriptors and nothing else of
//! agentd's. Called by `spawn` and `ahead`; the only place in agentd that starts processes.
//!
//! `posix_spawn` does all of it in the kernel's copy of the process, without code of agentd. Where the system
//! forbids what that needs, agentd's own program stands in between, as `exec_helper`.

use super::child::{Child, Managed};
use super::exec_helper::HELPER_ARGUMENT;
use super::own_folder;
use super::registry::Processes;
use nix::fcntl::OFlag;
use nix::spawn::{PosixSpawnAttr, PosixSpawnFileActions, PosixSpawnFlags, posix_spawn};
use nix::sys::signal::SigSet;
use nix::sys::stat::Mode;
use std::collections::BTreeMap;
use std::ffi::{CString, OsStr, OsString};
use std::io;
use std::os::fd::{AsRawFd as _, OwnedFd};
use std::os::unix::ffi::OsStrExt as _;
use std::path::Path;
use std::process::Stdio;
use std::sync::Arc;
use tokio::process::Command;

/// `POSIX_SPAWN_SETSID` of glibc (since 2.26) and musl, which nix does not name.
const SETSID: i32 = 0x80;
/// Close-on-exec, as `/proc/PID/fdinfo` shows the flags of a descriptor, in octal.
const CLOSE_ON_EXEC: u32 = 0o2_000_000;

/// What to start.
pub(super) struct Program<'a> {
    /// The program, by its whole path, and its arguments.
    pub argv: &'a [OsString],
    /// The folder that it starts in.
    pub folder: &'a Path,
    /// All of its variables.
    pub variables: &'a BTreeMap<String, String>,
    /// Its standard input; `None` is `/dev/null`.
    pub input: Option<OwnedFd>,
    /// Its standard output and error; `None` is `/dev/null`.
    pub output: Option<OwnedFd>,
}

impl Processes {
    /// Starts a program. Blocks until it is loaded, some tenths of a millisecond.
    ///
    /// # Errors
    /// The folder or the program is not there, or the system has no room for a process.
    pub(super) fn launch(self: &Arc<Self>, program: Program<'_>) -> io::Result<Managed> {
        self.managed_spawn(|| match self.is_direct() {
            true => spawn(program, self.inherited()),
            false => spawn_by_helper(program, self.helper()),
        })
        .map(|(child, pid)| Managed::new(child, pid, Arc::downgrade(self)))
    }
}

fn spawn(program: Program<'_>, inherited: &[i32]) -> io::Result<(Child, u32)> {
    let Program { argv, folder, variables, input, output } = program;
    let path = argv.first().ok_or_else(|| io::Error::from(io::ErrorKind::InvalidInput))?;
    let mut actions = PosixSpawnFileActions::init()?;
    let mut stream = |number: i32, fd: Option<&OwnedFd>, mode: OFlag| match fd {
        Some(fd) => actions.add_dup2(fd.as_raw_fd(), number),
        None => actions.add_open(number, "/dev/null", mode, Mode::empty()),
    };
    stream(0, input.as_ref(), OFlag::O_RDONLY)?;
    stream(1, output.as_ref(), OFlag::O_WRONLY)?;
    stream(2, output.as_ref(), OFlag::O_WRONLY)?;
    for fd in inherited {
        actions.add_close(*fd)?;
    }
    let attributes = attributes()?;
    let arguments = argv.iter().map(|argument| c_string(argument)).collect::<io::Result<Vec<_>>>()?;
    let variables = variables
        .iter()
        .map(|(name, value)| c_string(OsStr::new(&format!("{name}={value}"))))
        .collect::<io::Result<Vec<_>>>()?;
    let pid = own_folder::within(folder, || {
        Ok(posix_spawn(path.as_os_str(), &actions, &attributes, &arguments, &variables)?)
    })?;
    let id = u32::try_from(pid.as_raw()).map_err(io::Error::other)?;
    Ok((Child::follow(pid)?, id))
}

/// Ignored and blocked signals survive exec; a tool must not inherit agentd's.
fn attributes() -> io::Result<PosixSpawnAttr> {
    let mut attributes = PosixSpawnAttr::init()?;
    attributes.set_flags(
        PosixSpawnFlags::POSIX_SPAWN_SETSIGDEF
            | PosixSpawnFlags::POSIX_SPAWN_SETSIGMASK
            | PosixSpawnFlags::from_bits_retain(SETSID),
    )?;
    attributes.set_sigdefault(&SigSet::all())?;
    attributes.set_sigmask(&SigSet::empty())?;
    Ok(attributes)
}

fn c_string(text: &OsStr) -> io::Result<CString> {
    CString::new(text.as_bytes()).map_err(|_| io::Error::new(io::ErrorKind::InvalidInput, "it holds a NUL byte"))
}

fn spawn_by_helper(program: Program<'_>, helper: &Path) -> io::Result<(Child, u32)> {
    let Program { argv, folder, variables, input, output } = program;
    let stream = |fd: Option<OwnedFd>| fd.map_or_else(Stdio::null, Stdio::from);
    let error = output.as_ref().map(OwnedFd::try_clone).transpose()?;
    #[allow(clippy::disallowed_methods)] // the one place that starts processes
    let child = Command::new(helper)
        .arg0("agentd")
        .arg(HELPER_ARGUMENT)
        .args(argv)
        .current_dir(folder)
        .env_clear()
        .envs(variables)
        .stdin(stream(input))
        .stdout(stream(output))
        .stderr(stream(error))
        .spawn()?;
    let pid = child.id().ok_or_else(|| io::Error::other("a process without an id"))?;
    Ok((Child::OfRuntime(child), pid))
}

/// The descriptors that programs started from here on would inherit, beside the standard three: those that agentd was
/// itself started with, since it opens its own close-on-exec.
pub(super) fn inherited_descriptors() -> Vec<i32> {
    let Ok(entries) = std::fs::read_dir("/proc/self/fdinfo") else { return Vec::new() };
    let is_kept = |number: &i32| {
        let info = std::fs::read_to_string(format!("/proc/self/fdinfo/{number}")).unwrap_or_default();
        let flags = info.lines().find_map(|line| u32::from_str_radix(line.strip_prefix("flags:")?.trim(), 8).ok());
        flags.is_some_and(|flags| flags & CLOSE_ON_EXEC == 0)
    };
    let numbers = entries.filter_map(|entry| entry.ok()?.file_name().to_str()?.parse().ok());
    numbers.filter(|number: &i32| *number > 2).filter(is_kept).collect()
}
