//! Runs lines of bash after one another, inside a sandbox: `line-runner MILLISECONDS`, the lines on standard input, each
//! with a NUL byte at its end. Before a line it tries to open `/.line-N`, and `/.late-N` where one took longer than it
//! may, so that who traces it knows where it is. Started by `tests::shell::sandbox` only.

// A test program starts processes and reads its arguments.
#![allow(clippy::disallowed_methods)]

use nix::errno::Errno;
use nix::sys::signal::{Signal, killpg};
use nix::sys::wait::{WaitPidFlag, WaitStatus, waitpid};
use nix::unistd::Pid;
use std::io::{self, Read};
use std::os::unix::process::CommandExt as _;
use std::process::{Command, Stdio};
use std::sync::mpsc::{RecvTimeoutError, channel};
use std::thread;
use std::time::{Duration, Instant};

/// How long what a line leaves in the background may go on.
const BACKGROUND: Duration = Duration::from_millis(300);

fn main() {
    let milliseconds = std::env::args().nth(1).and_then(|text| text.parse().ok());
    let Some(timeout) = milliseconds.map(Duration::from_millis) else { std::process::exit(2) };
    let mut lines = String::new();
    if io::stdin().read_to_string(&mut lines).is_err() {
        std::process::exit(2);
    }
    for (number, line) in lines.split_terminator('\0').enumerate() {
        mark("line", number);
        if run(line, timeout).is_none() {
            mark("late", number);
        }
    }
    mark("end", 0);
}

fn mark(what: &str, number: usize) {
    let _ = std::fs::File::open(format!("/.{what}-{number}"));
}

/// `None` if it took too long.
fn run(line: &str, timeout: Duration) -> Option<()> {
    let mut command = Command::new("/bin/bash");
    command.arg("-c").arg(line).current_dir(tests::shell::sandbox::WORK).stdin(Stdio::null()).process_group(0);
    // Left by the shell that made the sandbox.
    command.env_remove("OLDPWD").env_remove("PWD");
    let Ok(child) = command.spawn() else { return Some(()) };
    let group = Pid::from_raw(child.id().cast_signed());
    let (ended, end) = channel();
    let waiter = thread::spawn(move || {
        let mut child = child;
        let _ = child.wait();
        let _ = ended.send(());
    });
    let in_time = !matches!(end.recv_timeout(timeout), Err(RecvTimeoutError::Timeout));
    if in_time {
        let _ = waiter.join();
        wait_for_group(group);
    }
    let _ = killpg(group, Signal::SIGKILL);
    in_time.then_some(())
}

/// Gives the background a moment. Orphans come to the first process of the sandbox, which is this one.
fn wait_for_group(group: Pid) {
    let end = Instant::now() + BACKGROUND;
    while Instant::now() < end {
        match waitpid(Pid::from_raw(-group.as_raw()), Some(WaitPidFlag::WNOHANG)) {
            Ok(WaitStatus::StillAlive) => thread::yield_now(),
            Ok(_) | Err(Errno::EINTR) => {}
            // No child of that group: at most a grandchild of somebody who lives on.
            Err(_) if killpg(group, None).is_err() => return,
            Err(_) => thread::yield_now(),
        }
    }
}
