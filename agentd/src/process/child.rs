//! A child process and how its end is learned: by a descriptor of the process, or through the runtime for those that
//! it started. Made by `launch`, held by `spawn` and `ahead`. It stops nothing.

use super::registry::Processes;
use rustix::process::{Pid, PidfdFlags, WaitId, WaitIdOptions, pidfd_open, waitid};
use std::io;
use std::os::fd::{AsFd as _, OwnedFd};
use std::os::unix::process::ExitStatusExt as _;
use std::process::ExitStatus;
use std::sync::{OnceLock, Weak};
use tokio::io::Interest;
use tokio::io::unix::AsyncFd;

/// A child that this process has to wait for.
#[derive(Debug)]
pub(super) enum Child {
    /// Started by `posix_spawn`; readable once it has ended.
    Spawned(AsyncFd<OwnedFd>),
    /// Started by the runtime.
    OfRuntime(tokio::process::Child),
}

impl Child {
    /// Whether children can be waited for by descriptor: the kernel is Linux 5.3 or later and nothing forbids it.
    pub fn can_be_followed() -> bool {
        static CAN: OnceLock<bool> = OnceLock::new();
        *CAN.get_or_init(|| pidfd_open(rustix::process::getpid(), PidfdFlags::NONBLOCK).is_ok())
    }

    /// A child that was just started. If it can't be followed it is killed and reaped: nobody would learn of its end.
    pub fn follow(pid: nix::unistd::Pid) -> io::Result<Self> {
        let open = || -> io::Result<AsyncFd<OwnedFd>> {
            let known = Pid::from_raw(pid.as_raw()).ok_or_else(|| io::Error::other("a process without an id"))?;
            let handle = pidfd_open(known, PidfdFlags::NONBLOCK)?;
            #[allow(deprecated)] // its successor is unsafe for the sake of types that don't own their descriptor
            AsyncFd::with_interest(handle, Interest::READABLE)
        };
        open().map(Self::Spawned).inspect_err(|_| {
            let _ = nix::sys::signal::kill(pid, nix::sys::signal::Signal::SIGKILL);
            let _ = nix::sys::wait::waitpid(pid, None);
        })
    }

    /// Waits for its end and reaps it. May be dropped and called again until it has told the status.
    async fn wait(&mut self) -> io::Result<ExitStatus> {
        match self {
            Self::OfRuntime(child) => child.wait().await,
            Self::Spawned(handle) => loop {
                let mut ready = handle.readable().await?;
                match waitid(WaitId::PidFd(handle.as_fd()), WaitIdOptions::EXITED | WaitIdOptions::NOHANG)? {
                    Some(status) => {
                        // As `wait` packs it: the code in the second byte, or the signal in the first.
                        let code = status.exit_status().map(|code| (code & 0xFF) << 8);
                        return Ok(ExitStatus::from_raw(code.or(status.terminating_signal()).unwrap_or(0)));
                    }
                    None => ready.clear_ready(),
                }
            },
        }
    }
}

/// A child that is entered as managed: the reaper of orphans leaves it alone until it was waited for or let go of.
#[derive(Debug)]
pub(super) struct Managed {
    child: Child,
    pid: u32,
    processes: Weak<Processes>,
    waited: bool,
}

impl Managed {
    pub fn new(child: Child, pid: u32, processes: Weak<Processes>) -> Self {
        Self { child, pid, processes, waited: false }
    }

    /// Its id, which is also that of its group and session.
    pub fn pid(&self) -> u32 {
        self.pid
    }

    /// Waits for its end. From then on its id may belong to somebody else.
    pub async fn wait(&mut self) -> io::Result<ExitStatus> {
        let status = self.child.wait().await;
        self.release();
        status
    }

    fn release(&mut self) {
        if !self.waited {
            self.waited = true;
            if let Some(processes) = self.processes.upgrade() {
                processes.unmanage(self.pid);
            }
        }
    }
}

/// Who is no longer waited for is the reaper's.
impl Drop for Managed {
    fn drop(&mut self) {
        self.release();
    }
}
