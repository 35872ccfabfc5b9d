//! Where agentd keeps things (PROTOCOL.md §1, §6, §9). Pure functions of an environment.

use super::environment::Environment;
use proto::places;
use proto::{ErrorKind, RpcError};
use std::path::{Path, PathBuf};

/// The folder of sessions (`proto::places::state_dir`).
#[must_use]
pub fn state_dir(env: &Environment) -> PathBuf {
    places::state_dir(|name| env.get(name), || home(env))
}

/// The user's settings folder: `$XDG_CONFIG_HOME/agentd`, else `~/.config/agentd`.
#[must_use]
pub fn config_dir(env: &Environment) -> PathBuf {
    match env.get("XDG_CONFIG_HOME") {
        Some(dir) => PathBuf::from(dir).join("agentd"),
        None => home(env).join(".config/agentd"),
    }
}

/// The socket (`proto::places::socket`).
#[must_use]
pub fn socket_path(env: &Environment) -> PathBuf {
    places::socket(|name| env.get(name), nix::unistd::getuid().as_raw())
}

/// The user's home.
#[must_use]
pub fn home(env: &Environment) -> PathBuf {
    match env.get("HOME") {
        Some(dir) => PathBuf::from(dir),
        None => directories::BaseDirs::new().map_or_else(|| PathBuf::from("/"), |dirs| dirs.home_dir().to_owned()),
    }
}

/// Checks that a client named a folder by an absolute path.
///
/// # Errors
/// `InvalidPath` naming it.
pub fn check_directory(path: &str) -> Result<(), RpcError> {
    let invalid = |why: &str| Err(RpcError::new(ErrorKind::InvalidPath, format!("{path:?} {why}")).with("path", path));
    if !Path::new(path).is_absolute() {
        return invalid("is not absolute: give the whole path");
    }
    match std::fs::metadata(path) {
        Ok(found) if found.is_dir() => Ok(()),
        Ok(_) => invalid("is not a directory: name the folder that holds it"),
        Err(error) => invalid(&format!("can't be used: {error}")),
    }
}
