//! The real daemon in a home of its own. Dropping it stops it and fails the test if it panicked, did
//! not stop in time, or left something behind.

use crate::home::Home;
use crate::model::ModelServer;
use crate::{PATIENCE, binary};
use nix::sys::signal::{Signal, kill};
use nix::unistd::Pid;
use serde_json::Value;
use std::fs::{self, OpenOptions};
use std::io;
use std::os::unix::net::UnixDatagram;
use std::path::{Path, PathBuf};
use std::process::{Command, ExitStatus, Stdio};
use std::sync::mpsc::{Receiver, channel};
use std::thread;
use std::time::{Duration, Instant};

/// A running daemon.
#[derive(Debug)]
pub struct Daemon {
    process: Option<Running>,
    arguments: Vec<String>,
    disk: Option<String>,
    home: Home,
}

#[derive(Debug)]
struct Running {
    pid: Pid,
    exit: Receiver<io::Result<ExitStatus>>,
}

/// What a daemon starts with.
#[derive(Debug, Default)]
pub struct DaemonBuilder {
    home: Home,
    arguments: Vec<String>,
    disk: Option<String>,
}

impl DaemonBuilder {
    /// Uses a home that is there already.
    #[must_use]
    pub fn home(mut self, home: Home) -> Self {
        self.home = home;
        self
    }

    /// Uses the model server for new sessions.
    #[must_use]
    pub fn model(self, model: &ModelServer) -> Self {
        self.home.use_model(model);
        self
    }

    /// Merges into the user's settings.
    #[must_use]
    pub fn settings(self, change: &Value) -> Self {
        self.home.settings(change);
        self
    }

    /// Sets a variable.
    #[must_use]
    pub fn env(mut self, name: &str, value: &str) -> Self {
        self.home.set_env(name, value);
        self
    }

    /// Adds arguments.
    #[must_use]
    pub fn args(mut self, arguments: &[&str]) -> Self {
        self.arguments.extend(arguments.iter().map(|argument| (*argument).to_owned()));
        self
    }

    /// Puts its state on a disk of this size, such as `1m`, which is empty at each start.
    #[must_use]
    pub fn state_on_a_small_disk(mut self, size: &str) -> Self {
        self.disk = Some(size.to_owned());
        self
    }

    /// Starts it and waits until it is ready.
    ///
    /// # Panics
    /// If it is not ready in time.
    #[must_use]
    pub fn start(self) -> Daemon {
        let mut daemon = Daemon { process: None, arguments: self.arguments, disk: self.disk, home: self.home };
        daemon.start_again();
        daemon
    }
}

impl Daemon {
    /// A daemon without a model of its own: it has `demo/guide` only.
    #[must_use]
    pub fn start() -> Self {
        Self::builder().start()
    }

    /// A daemon whose sessions use the model server.
    #[must_use]
    pub fn with_model(model: &ModelServer) -> Self {
        Self::builder().model(model).start()
    }

    /// For a daemon with more to it.
    #[must_use]
    pub fn builder() -> DaemonBuilder {
        DaemonBuilder::default()
    }

    /// Its home.
    #[must_use]
    pub fn home(&self) -> &Home {
        &self.home
    }

    /// Its home, to change settings or variables before the next start.
    pub fn home_mut(&mut self) -> &mut Home {
        &mut self.home
    }

    /// The folder for sessions.
    #[must_use]
    pub fn workspace(&self) -> PathBuf {
        self.home.workspace()
    }

    /// Its process id.
    ///
    /// # Panics
    /// If it does not run.
    #[must_use]
    pub fn pid(&self) -> u32 {
        self.process.as_ref().expect("the daemon runs").pid.as_raw().cast_unsigned()
    }

    /// What it has written to standard error, all starts together.
    #[must_use]
    pub fn log(&self) -> String {
        fs::read_to_string(self.home.path("agentd.log")).unwrap_or_default()
    }

    /// What its open file descriptors point to.
    #[must_use]
    pub fn open_files(&self) -> Vec<String> {
        let entries = fs::read_dir(format!("/proc/{}/fd", self.pid())).into_iter().flatten().filter_map(Result::ok);
        entries.filter_map(|entry| Some(fs::read_link(entry.path()).ok()?.to_string_lossy().into_owned())).collect()
    }

    /// Kills it, as a crash does, and waits for its end.
    pub fn kill9(&mut self) {
        self.signal(Signal::SIGKILL);
        self.wait();
    }

    /// Asks it to stop and waits for its end.
    pub fn terminate(&mut self) -> ExitStatus {
        self.signal(Signal::SIGTERM);
        self.wait()
    }

    /// Sends a signal.
    ///
    /// # Panics
    /// If it does not run.
    pub fn signal(&self, signal: Signal) {
        kill(self.process.as_ref().expect("the daemon runs").pid, signal).expect("the daemon takes signals");
    }

    /// Waits for its end.
    ///
    /// # Panics
    /// If it does not end.
    pub fn wait(&mut self) -> ExitStatus {
        let process = self.process.take().expect("the daemon runs");
        match process.exit.recv_timeout(PATIENCE) {
            Ok(status) => status.expect("the daemon is a child"),
            Err(_) => {
                let _ = kill(process.pid, Signal::SIGKILL);
                panic!("agentd did not end; its log:\n{}", self.log());
            }
        }
    }

    /// Stops it and starts it again.
    pub fn restart(&mut self) {
        self.terminate();
        self.start_again();
    }

    /// Starts it again after `kill9`, `terminate` or `wait`, and waits until it is ready.
    ///
    /// # Panics
    /// If it is not ready in time.
    pub fn start_again(&mut self) {
        assert!(self.process.is_none(), "the daemon runs already");
        let notify = self.home.path("notify");
        let _ = fs::remove_file(&notify);
        let ready = UnixDatagram::bind(&notify).expect("a notify socket");
        let log = OpenOptions::new().create(true).append(true).open(self.home.path("agentd.log")).expect("a log");
        let mut command = self.command();
        command.args(&self.arguments).env("NOTIFY_SOCKET", &notify);
        command.stdin(Stdio::null()).stdout(log.try_clone().expect("a second handle of the log")).stderr(log);
        let mut child = command.spawn().expect("agentd starts");
        let pid = Pid::from_raw(child.id().cast_signed());
        let (sender, exit) = channel();
        thread::spawn(move || sender.send(child.wait()));
        self.process = Some(Running { pid, exit });
        self.await_ready(&ready);
    }

    fn command(&self) -> Command {
        let Some(size) = &self.disk else { return self.home.command(&binary("agentd")) };
        // In a mount namespace of its own, which needs no rights that a CI user lacks.
        let script = r#"mkdir -p "$1" && mount -t tmpfs -o "size=$2,mode=700" tmpfs "$1" && shift 2 && exec "$@""#;
        let mut command = self.home.command(Path::new("unshare"));
        command.args(["--map-root-user", "--mount", "sh", "-c", script, "sh"]);
        command.arg(self.home.state_dir()).arg(size).arg(binary("agentd"));
        command
    }

    fn await_ready(&mut self, ready: &UnixDatagram) {
        let end = Instant::now() + PATIENCE;
        // A short timeout only to see early that it has ended.
        ready.set_read_timeout(Some(Duration::from_millis(20))).expect("a socket takes a timeout");
        let mut message = [0; 4096];
        while Instant::now() < end {
            if let Ok(length) = ready.recv(&mut message)
                && String::from_utf8_lossy(&message[..length]).lines().any(|line| line == "READY=1")
            {
                return;
            }
            let running = self.process.as_ref().expect("it was started");
            if let Ok(status) = running.exit.try_recv() {
                self.process = None;
                panic!("agentd ended at its start: {status:?}; its log:\n{}", self.log());
            }
        }
        panic!("agentd was not ready in time; its log:\n{}", self.log());
    }

    /// What a daemon that is about to stop must not hold. A client may have left only now, so it has a
    /// moment to let go.
    fn deleted_files(&self) -> Vec<String> {
        let end = Instant::now() + PATIENCE / 10;
        loop {
            let held: Vec<String> = self.open_files().into_iter().filter(|file| file.ends_with("(deleted)")).collect();
            if held.is_empty() || Instant::now() > end {
                return held.iter().map(|file| format!("agentd holds a deleted file open: {file}")).collect();
            }
            thread::yield_now();
        }
    }
}

impl Drop for Daemon {
    fn drop(&mut self) {
        if std::thread::panicking() {
            if let Some(process) = &self.process {
                let _ = kill(process.pid, Signal::SIGKILL);
                let _ = process.exit.recv_timeout(PATIENCE);
            }
            say(&format!("--- log of agentd ---\n{}---", self.log()));
            return;
        }
        let mut complaints = Vec::new();
        if self.process.is_some() {
            complaints.extend(self.deleted_files());
            let status = self.terminate();
            if !status.success() {
                complaints.push(format!("on SIGTERM agentd ended with {status}"));
            }
            if self.home.socket().exists() {
                complaints.push("agentd left its socket".to_owned());
            }
        }
        let log = self.log();
        complaints.extend(log.lines().filter(|line| line.contains("panicked")).map(str::to_owned));
        assert!(complaints.is_empty(), "the daemon complains:\n{}\n--- its log ---\n{log}", complaints.join("\n"));
    }
}

/// Beside the failure, where the test runner keeps it.
fn say(text: &str) {
    eprintln!("{text}");
}
