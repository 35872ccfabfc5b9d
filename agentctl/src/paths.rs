//! Where the daemon's socket and state are, by the protocol's own rules. Pure functions of an environment.

use crate::environment::Environment;
use proto::places;
use std::path::PathBuf;

/// The socket when `--socket` is not given.
pub fn socket(env: &Environment) -> PathBuf {
    places::socket(|name| env.get(name), nix::unistd::getuid().as_raw())
}

/// The folder of sessions, of the daemon's log and of the prompt history.
pub fn state_dir(env: &Environment) -> PathBuf {
    places::state_dir(|name| env.get(name), || home(env))
}

fn home(env: &Environment) -> PathBuf {
    match env.get("HOME") {
        Some(dir) => PathBuf::from(dir),
        None => directories::BaseDirs::new().map_or_else(|| PathBuf::from("/"), |dirs| dirs.home_dir().to_owned()),
    }
}
