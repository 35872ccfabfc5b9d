//! A daemon in a temporary folder, and clients that speak raw bytes to it. Used by all tests here.

use serde_json::Value;
use std::fs;
use std::io::{BufRead, BufReader, Read, Write};
use std::os::unix::fs::PermissionsExt;
use std::os::unix::net::{UnixDatagram, UnixStream};
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Output, Stdio};
use std::time::Duration;
use tempfile::TempDir;

/// How long anything may take before a test fails.
pub const PATIENCE: Duration = Duration::from_secs(30);

/// A private folder for sockets and state.
pub fn private_folder() -> TempDir {
    tempfile::Builder::new().permissions(fs::Permissions::from_mode(0o700)).tempdir().unwrap()
}

/// An agentd that lives in `folder`, not started yet.
#[allow(clippy::disallowed_methods)] // a test starts the program under test
pub fn agentd(folder: &Path) -> Command {
    let mut command = Command::new(env!("CARGO_BIN_EXE_agentd"));
    command.args(["--socket".as_ref(), folder.join("agentd.sock").as_os_str()]);
    command.args(["--state-dir".as_ref(), folder.join("state").as_os_str()]);
    command.env_clear().env("HOME", folder).env("PATH", "/usr/bin:/bin");
    command.stdin(Stdio::null()).stdout(Stdio::piped()).stderr(Stdio::piped());
    command
}

/// Runs an agentd that is expected not to start. Gives its exit code and its words.
pub fn failing(command: &mut Command) -> (Option<i32>, String) {
    let Output { status, stdout, stderr } = command.output().unwrap();
    assert_eq!(String::from_utf8_lossy(&stdout), "", "nothing goes to standard output");
    (status.code(), String::from_utf8(stderr).unwrap())
}

/// The next message to a socket that plays systemd.
pub fn message_to(notify: &UnixDatagram) -> String {
    let mut message = [0; 4096];
    loop {
        match notify.recv(&mut message) {
            Ok(length) => return String::from_utf8_lossy(&message[..length]).into_owned(),
            // The end of a child that another test has started.
            Err(error) if error.kind() == std::io::ErrorKind::Interrupted => {}
            Err(error) => panic!("agentd does not tell systemd: {error}"),
        }
    }
}

/// A running daemon. Dropping it ends it.
pub struct Daemon {
    pub folder: TempDir,
    pub child: Child,
    pub notify: UnixDatagram,
}

impl Daemon {
    /// Starts one and waits until it says that it is ready.
    pub fn start() -> Self {
        Self::start_in(private_folder())
    }

    /// Starts one in a folder that is there already.
    pub fn start_in(folder: TempDir) -> Self {
        let command = agentd(folder.path());
        Self::start_with(folder, command)
    }

    /// Starts one by a command of the test's.
    pub fn start_with(folder: TempDir, mut command: Command) -> Self {
        let address = folder.path().join("notify");
        let _ = fs::remove_file(&address);
        let notify = UnixDatagram::bind(&address).unwrap();
        notify.set_read_timeout(Some(PATIENCE)).unwrap();
        let child = command.env("NOTIFY_SOCKET", &address).spawn().unwrap();
        let mut daemon = Self { folder, child, notify };
        if !daemon.notified().contains("READY=1") {
            panic!("agentd is not ready: {}", daemon.end());
        }
        daemon
    }

    /// The next message to systemd.
    pub fn notified(&self) -> String {
        message_to(&self.notify)
    }

    pub fn socket(&self) -> PathBuf {
        self.folder.path().join("agentd.sock")
    }

    pub fn connect(&self) -> Client {
        Client::connect(&self.socket())
    }

    pub fn signal(&self, signal: nix::sys::signal::Signal) {
        let pid = nix::unistd::Pid::from_raw(i32::try_from(self.child.id()).unwrap());
        nix::sys::signal::kill(pid, signal).unwrap();
    }

    /// Kills it and gives its log.
    pub fn end(&mut self) -> String {
        let _ = self.child.kill();
        self.child.wait().unwrap();
        let mut log = String::new();
        if let Some(mut stderr) = self.child.stderr.take() {
            stderr.read_to_string(&mut log).unwrap();
        }
        log
    }
}

impl Drop for Daemon {
    fn drop(&mut self) {
        let log = self.end();
        assert!(std::thread::panicking() || !log.contains("panicked"), "{log}");
    }
}

/// A client that sends bytes and reads JSON.
pub struct Client {
    stream: UnixStream,
    reader: BufReader<UnixStream>,
}

impl Client {
    pub fn connect(socket: &Path) -> Self {
        let stream = UnixStream::connect(socket).unwrap();
        stream.set_read_timeout(Some(PATIENCE)).unwrap();
        stream.set_write_timeout(Some(PATIENCE)).unwrap();
        let reader = BufReader::new(stream.try_clone().unwrap());
        Self { stream, reader }
    }

    pub fn send(&mut self, bytes: impl AsRef<[u8]>) {
        self.stream.write_all(bytes.as_ref()).unwrap();
    }

    /// Says that no more will come.
    pub fn finish(&self) {
        self.stream.shutdown(std::net::Shutdown::Write).unwrap();
    }

    /// The next line as JSON.
    pub fn line(&mut self) -> Value {
        let mut line = String::new();
        self.reader.read_line(&mut line).unwrap();
        serde_json::from_str(&line).unwrap_or_else(|error| panic!("{error}: {line:?}"))
    }

    /// The next text after its header.
    pub fn headed(&mut self) -> Value {
        let mut header = String::new();
        self.reader.read_line(&mut header).unwrap();
        let length = header.trim().strip_prefix("Content-Length: ").unwrap_or_else(|| panic!("{header:?}"));
        let mut text = vec![0; length.parse::<usize>().unwrap() + 2];
        self.reader.read_exact(&mut text).unwrap();
        assert_eq!(text[..2], *b"\r\n");
        serde_json::from_slice(&text[2..]).unwrap()
    }

    /// Everything up to the end of the connection.
    pub fn rest(&mut self) -> String {
        let mut rest = String::new();
        self.reader.read_to_string(&mut rest).unwrap();
        rest
    }

    /// Sends a line and reads one.
    pub fn ask(&mut self, line: impl AsRef<[u8]>) -> Value {
        self.send(line);
        self.send("\n");
        self.line()
    }

    /// Calls a method without params, to see that the connection still works.
    pub fn check_alive(&mut self) {
        let answer = self.ask(r#"{"jsonrpc":"2.0","id":"alive","method":"daemon/status"}"#);
        assert_eq!((&answer["id"], answer["result"]["pid"].is_u64()), (&Value::from("alive"), true), "{answer}");
    }
}
