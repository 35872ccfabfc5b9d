//! The real agentctl without a terminal: what it prints and how it exits.

use crate::home::Home;
use crate::{PATIENCE, binary};
use nix::sys::signal::{Signal, kill};
use nix::unistd::Pid;
use std::io::{self, Write};
use std::process::{Child, Stdio};
use std::sync::mpsc::{Receiver, channel};
use std::thread;

/// agentctl in a home.
#[derive(Debug)]
pub struct Agentctl<'a> {
    home: &'a Home,
    stdin: String,
}

/// How a run ended.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Output {
    /// The exit code; none if a signal ended it.
    pub code: Option<i32>,
    /// Standard output.
    pub stdout: String,
    /// Standard error.
    pub stderr: String,
}

/// A run that goes on.
#[derive(Debug)]
pub struct Running {
    pid: Pid,
    command: String,
    output: Receiver<io::Result<std::process::Output>>,
}

impl<'a> Agentctl<'a> {
    /// agentctl with the variables of a home.
    #[must_use]
    pub fn new(home: &'a Home) -> Self {
        Self { home, stdin: String::new() }
    }

    /// What it reads from standard input.
    #[must_use]
    pub fn stdin(mut self, text: &str) -> Self {
        text.clone_into(&mut self.stdin);
        self
    }

    /// Runs it to its end.
    #[must_use]
    pub fn run(&self, arguments: &[&str]) -> Output {
        self.start(arguments).wait()
    }

    /// Runs it to its end; it must exit with 0. Its standard output.
    ///
    /// # Panics
    /// If it exits otherwise.
    pub fn ok(&self, arguments: &[&str]) -> String {
        let output = self.run(arguments);
        assert_eq!(output.code, Some(0), "agentctl {arguments:?}: {output:?}");
        output.stdout
    }

    /// Starts it.
    ///
    /// # Panics
    /// If it does not start.
    #[must_use]
    pub fn start(&self, arguments: &[&str]) -> Running {
        let mut command = self.home.command(&binary("agentctl"));
        command.args(arguments).stdin(Stdio::piped()).stdout(Stdio::piped()).stderr(Stdio::piped());
        let mut child = command.spawn().expect("agentctl starts");
        feed(&mut child, &self.stdin);
        let pid = Pid::from_raw(child.id().cast_signed());
        let (sender, output) = channel();
        thread::spawn(move || sender.send(child.wait_with_output()));
        Running { pid, command: format!("agentctl {arguments:?}"), output }
    }
}

fn feed(child: &mut Child, text: &str) {
    // Small enough for the pipe; a program that does not read it is not at fault.
    let _ = child.stdin.take().expect("standard input is a pipe").write_all(text.as_bytes());
}

impl Running {
    /// Waits for its end.
    ///
    /// # Panics
    /// If it does not end.
    #[must_use]
    pub fn wait(self) -> Output {
        let Ok(output) = self.output.recv_timeout(PATIENCE) else {
            let _ = kill(self.pid, Signal::SIGKILL);
            let so_far = self.output.recv_timeout(PATIENCE).map(|output| output.map(|output| read(&output)));
            panic!("{} did not end: {so_far:?}", self.command);
        };
        read(&output.expect("agentctl is a child"))
    }

    /// Sends it a signal.
    ///
    /// # Panics
    /// If it is gone.
    pub fn signal(&self, signal: Signal) {
        kill(self.pid, signal).expect("agentctl takes signals");
    }
}

fn read(output: &std::process::Output) -> Output {
    let text = |bytes: &[u8]| String::from_utf8(bytes.to_vec()).expect("agentctl prints UTF-8");
    Output { code: output.status.code(), stdout: text(&output.stdout), stderr: text(&output.stderr) }
}
