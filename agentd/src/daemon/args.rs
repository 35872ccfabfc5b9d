//! The command line. Called by `run`; it reads nothing but its arguments and the environment it is given.

use crate::base::environment::Environment;
use crate::base::paths;
use clap::Parser;
use std::ffi::OsString;
use std::path::{Path, PathBuf};

/// Hosts coding-agent sessions for agentctl, editors and scripts, in the foreground.
#[derive(Debug, Parser)]
#[command(name = "agentd", version, about)]
struct Arguments {
    /// Socket to listen on [default: $AGENTD_SOCKET, else $XDG_RUNTIME_DIR/agentd/agentd.sock, else /tmp/agentd-UID/agentd.sock]
    #[arg(long, value_name = "PATH")]
    socket: Option<PathBuf>,
    /// Folder that keeps the sessions [default: $AGENTD_STATE_DIR, else $XDG_STATE_HOME/agentd, else ~/.local/state/agentd]
    #[arg(long, value_name = "DIR")]
    state_dir: Option<PathBuf>,
    /// Settings file that overrides those of the user and of projects; or a JSON text
    #[arg(long, value_name = "FILE")]
    settings: Option<String>,
    /// What to log to standard error: error, warn, info, debug, trace, or directives such as agentd=debug,hyper=info
    #[arg(long, value_name = "LEVEL", default_value = "info")]
    log: String,
}

/// What agentd was asked for, all paths absolute.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Options {
    /// The socket.
    pub socket: PathBuf,
    /// The folder of sessions.
    pub state_dir: PathBuf,
    /// A settings file, or a JSON text.
    pub settings: Option<String>,
    /// What to log.
    pub log: String,
}

impl Options {
    /// Reads the command line; what it leaves open comes from the environment.
    ///
    /// # Errors
    /// clap's own, which also stands for `--help` and `--version`.
    pub fn read(args: impl IntoIterator<Item = OsString>, env: &Environment) -> Result<Self, clap::Error> {
        let arguments = Arguments::try_parse_from(args)?;
        Ok(Self {
            socket: absolute(&arguments.socket.unwrap_or_else(|| paths::socket_path(env))),
            state_dir: absolute(&arguments.state_dir.unwrap_or_else(|| paths::state_dir(env))),
            settings: arguments.settings,
            log: arguments.log,
        })
    }
}

/// A path from the folder that agentd was started in. It fails only if that folder is gone.
fn absolute(path: &Path) -> PathBuf {
    std::path::absolute(path).unwrap_or_else(|_| path.to_owned())
}

#[cfg(test)]
mod tests {
    use super::Options;
    use crate::base::environment::Environment;
    use std::collections::BTreeMap;
    use std::ffi::OsString;
    use std::path::Path;

    fn read(args: &[&str], env: &[(&str, &str)]) -> Result<Options, clap::Error> {
        let env: BTreeMap<_, _> = env.iter().map(|(name, value)| ((*name).to_owned(), (*value).to_owned())).collect();
        Options::read(
            std::iter::once("agentd").chain(args.iter().copied()).map(OsString::from),
            &Environment::from(env),
        )
    }

    #[test]
    fn arguments_win_over_the_environment() {
        let env = [("AGENTD_SOCKET", "/env/sock"), ("AGENTD_STATE_DIR", "/env/state")];
        let given = read(&["--socket", "/arg/sock", "--state-dir", "/arg/state", "--log", "debug"], &env).unwrap();
        let expected = Options {
            socket: "/arg/sock".into(),
            state_dir: "/arg/state".into(),
            settings: None,
            log: "debug".to_owned(),
        };
        assert_eq!(given, expected);
        assert_eq!(read(&[], &env).unwrap().socket, Path::new("/env/sock"));
        let runtime = read(&[], &[("XDG_RUNTIME_DIR", "/run/user/7"), ("HOME", "/home/me")]).unwrap();
        assert_eq!(runtime.socket, Path::new("/run/user/7/agentd/agentd.sock"));
        assert_eq!(runtime.state_dir, Path::new("/home/me/.local/state/agentd"));
    }

    #[test]
    fn paths_become_absolute() {
        let socket = read(&["--socket", "here/agentd.sock"], &[]).unwrap().socket;
        assert_eq!(socket, std::env::current_dir().unwrap().join("here/agentd.sock"));
    }

    #[test]
    fn usage_errors_have_the_code_of_usage_errors() {
        assert_eq!(read(&["--colour"], &[]).unwrap_err().exit_code(), 2);
        assert_eq!(read(&["extra"], &[]).unwrap_err().exit_code(), 2);
        assert_eq!(read(&["--version"], &[]).unwrap_err().exit_code(), 0);
    }
}
