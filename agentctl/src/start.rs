//! Starting agentd when none runs: found beside this program, else on PATH; detached from the terminal;
//! once, however many clients want it at the same time. Called by everything that needs a daemon.

use crate::connect::Connection;
use crate::environment::Environment;
use crate::failure::Failure;
use crate::paths;
use std::ffi::OsString;
use std::fs::{self, DirBuilder, File, OpenOptions, TryLockError};
use std::io::{self, Read, Seek, SeekFrom};
use std::os::unix::fs::{DirBuilderExt, OpenOptionsExt, PermissionsExt};
use std::os::unix::process::CommandExt;
use std::path::{Path, PathBuf};
use std::process::{Child, Command, ExitStatus, Stdio};
use std::time::Duration;

/// How agentd says that another one serves the socket already.
const ALREADY_RUNNING: i32 = 3;
/// The longest time that a daemon is waited for.
const PATIENCE: Duration = Duration::from_secs(10);
/// How much of agentd's last words is shown.
const LAST_WORDS_BYTES: u64 = 4096;
/// The hidden command that detaches and becomes agentd.
pub const DETACH: &str = "__detach";

/// What a client needs to find or start its daemon.
#[derive(Clone)]
pub struct Target {
    /// The socket, absolute.
    pub socket: PathBuf,
    /// The state folder, absolute.
    pub state_dir: PathBuf,
    /// The environment in which agentd is looked for.
    pub env: Environment,
}

impl Target {
    /// The file that a daemon started by us logs to.
    pub fn log_file(&self) -> PathBuf {
        self.state_dir.join("agentd.log")
    }

    /// Connects to a daemon that runs; none if there is none.
    pub fn connect_running(&self) -> Result<Option<Connection>, Failure> {
        match Connection::open(&self.socket) {
            Ok(connection) => Ok(Some(connection)),
            Err(error) if is_absent(&error) => Ok(None),
            Err(error) => Err(self.cannot_connect(&error)),
        }
    }

    /// Connects, starting agentd if none runs.
    pub fn connect(&self) -> Result<Connection, Failure> {
        match self.connect_running()? {
            Some(connection) => Ok(connection),
            None => self.start(),
        }
    }

    /// Whether the socket is there but nobody serves it: agentd was killed. One that stops takes it away.
    pub fn is_deserted(&self) -> bool {
        matches!(Connection::open(&self.socket), Err(error) if error.kind() == io::ErrorKind::ConnectionRefused)
    }

    /// Connects or tells that nothing runs.
    pub fn connect_or_tell(&self) -> Result<Connection, Failure> {
        self.connect_running()?.ok_or_else(|| {
            Failure::new(format!("agentd does not run at {}; `agentctl start` starts it", self.socket.display()))
        })
    }

    fn cannot_connect(&self, error: &io::Error) -> Failure {
        Failure::new(format!("cannot connect to {} ({error}); `agentctl doctor` looks into it", self.socket.display()))
    }

    fn start(&self) -> Result<Connection, Failure> {
        let agentd = find_agentd(&self.env)?;
        make_private_dir(&self.state_dir)?;
        let lock = self.state_dir.join("start.lock");
        let lock =
            open_private(&lock).map_err(|error| Failure::new(format!("cannot open {} ({error})", lock.display())))?;
        let mut daemon: Option<Spawned> = None;
        let (mut waited, mut pause) = (Duration::ZERO, Duration::from_millis(1));
        // one client at a time holds the lock and starts agentd; the others wait for the socket or the lock
        while waited < PATIENCE {
            if let Some(connection) = self.connect_running()? {
                return Ok(connection);
            }
            if let Some(spawned) = &mut daemon {
                if let Some(status) = spawned.child.try_wait().ok().flatten() {
                    self.judge_exit(status, spawned.log_start)?;
                    daemon = None;
                    let _ = lock.unlock(); // whoever serves the socket, we only wait for it now
                }
            } else {
                match lock.try_lock() {
                    Ok(()) => {
                        if let Some(connection) = self.connect_running()? {
                            return Ok(connection);
                        }
                        daemon = Some(self.spawn(&agentd)?);
                    }
                    Err(TryLockError::WouldBlock) => {}
                    Err(TryLockError::Error(error)) => return Err(Failure::new(format!("cannot lock: {error}"))),
                }
            }
            std::thread::sleep(pause);
            waited += pause;
            pause = (pause * 2).min(Duration::from_millis(50));
        }
        Err(Failure::new(format!(
            "agentd did not answer at {} within {} s; see {}",
            self.socket.display(),
            PATIENCE.as_secs(),
            self.log_file().display()
        )))
    }

    fn spawn(&self, agentd: &Path) -> Result<Spawned, Failure> {
        let log_path = self.log_file();
        let failed = |error: io::Error| Failure::new(format!("cannot start {} ({error})", agentd.display()));
        let log = open_private(&log_path)
            .map_err(|error| Failure::new(format!("cannot open {} ({error})", log_path.display())))?;
        let log_start = log.metadata().map_or(0, |metadata| metadata.len());
        let own = std::env::current_exe().map_err(failed)?;
        let child = command(&own)
            .arg(DETACH)
            .arg(agentd)
            .arg("--socket")
            .arg(&self.socket)
            .arg("--state-dir")
            .arg(&self.state_dir)
            .current_dir("/")
            .stdin(Stdio::null())
            .stdout(Stdio::from(log.try_clone().map_err(failed)?))
            .stderr(Stdio::from(log))
            .spawn()
            .map_err(failed)?;
        Ok(Spawned { child, log_start })
    }

    fn judge_exit(&self, status: ExitStatus, log_start: u64) -> Result<(), Failure> {
        if status.code() == Some(ALREADY_RUNNING) {
            return Ok(());
        }
        let words = last_words(&self.log_file(), log_start).unwrap_or_default();
        let words = if words.is_empty() { format!("{status}") } else { words };
        Err(Failure::new(format!("agentd ended at once: {words} (log: {})", self.log_file().display())))
    }
}

struct Spawned {
    child: Child,
    /// Where in the log its own words start.
    log_start: u64,
}

/// Leaves the terminal's session and becomes the given program. Never returns if that works.
pub fn detach(program_and_args: &[OsString]) -> Failure {
    let Some((program, args)) = program_and_args.split_first() else {
        return Failure::usage("no program to detach");
    };
    let _ = nix::unistd::setsid(); // fails only for a group leader, which has left already
    let error = command(Path::new(program)).args(args).exec();
    Failure::new(format!("cannot run {}: {error}", Path::new(program).display()))
}

/// Whether an error says that nobody listens there.
pub fn is_absent(error: &io::Error) -> bool {
    matches!(error.kind(), io::ErrorKind::NotFound | io::ErrorKind::ConnectionRefused)
}

/// The agentd beside this program, else the first on PATH.
pub fn find_agentd(env: &Environment) -> Result<PathBuf, Failure> {
    let beside = std::env::current_exe().ok().and_then(|own| Some(own.parent()?.join("agentd")));
    let on_path = env.get("PATH").unwrap_or_default().split(':').filter(|dir| !dir.is_empty());
    let candidates = beside.iter().cloned().chain(on_path.map(|dir| Path::new(dir).join("agentd")));
    candidates.into_iter().find(|path| is_executable(path)).ok_or_else(|| {
        let beside = beside.map_or_else(|| "agentctl".to_owned(), |path| path.display().to_string());
        Failure::new(format!("no agentd found, neither as {beside} nor on PATH; install agentd beside agentctl"))
    })
}

fn is_executable(path: &Path) -> bool {
    fs::metadata(path).is_ok_and(|metadata| metadata.is_file() && metadata.permissions().mode() & 0o111 != 0)
}

/// Makes a folder for this user only, with those above it.
pub fn make_private_dir(dir: &Path) -> Result<(), Failure> {
    DirBuilder::new()
        .recursive(true)
        .mode(0o700)
        .create(dir)
        .map_err(|error| Failure::new(format!("cannot create {} ({error})", dir.display())))
}

fn open_private(path: &Path) -> io::Result<File> {
    OpenOptions::new().create(true).append(true).mode(0o600).open(path)
}

fn last_words(log: &Path, from: u64) -> io::Result<String> {
    let mut log = File::open(log)?;
    let end = log.metadata()?.len();
    log.seek(SeekFrom::Start(from.max(end.saturating_sub(LAST_WORDS_BYTES))))?;
    let mut bytes = Vec::new();
    log.read_to_end(&mut bytes)?;
    let text = String::from_utf8_lossy(&bytes);
    let last = text.lines().rfind(|line| !line.trim().is_empty()).unwrap_or_default();
    let last = last.trim().strip_prefix("agentd: ").unwrap_or(last.trim());
    Ok(crate::render::escape::one_line(last))
}

/// A program to start.
#[allow(clippy::disallowed_methods)] // the one place of agentctl that starts a program
pub fn command(program: &Path) -> Command {
    Command::new(program)
}

/// Makes a path absolute, so that it means the same to a daemon that runs in `/`.
pub fn absolute(path: PathBuf) -> Result<PathBuf, Failure> {
    std::path::absolute(&path).map_err(|error| Failure::new(format!("cannot use {}: {error}", path.display())))
}

/// The daemon that these arguments and variables mean.
pub fn target(socket: Option<PathBuf>, env: Environment) -> Result<Target, Failure> {
    let socket = absolute(socket.unwrap_or_else(|| paths::socket(&env)))?;
    let state_dir = absolute(paths::state_dir(&env))?;
    Ok(Target { socket, state_dir, env })
}
