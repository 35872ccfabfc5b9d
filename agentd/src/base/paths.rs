//! Where agentd keeps things (PROTOCOL.md §1, §6, §9). Pure functions of an environment.

use super::environment::Environment;
use proto::{ErrorKind, RpcError};
use std::path::{Path, PathBuf};

/// The folder of sessions: `$AGENTD_STATE_DIR`, else `$XDG_STATE_HOME/agentd`, else `~/.local/state/agentd`.
#[must_use]
pub fn state_dir(env: &Environment) -> PathBuf {
    if let Some(dir) = env.get("AGENTD_STATE_DIR") {
        return PathBuf::from(dir);
    }
    match env.get("XDG_STATE_HOME") {
        Some(dir) => PathBuf::from(dir).join("agentd"),
        None => home(env).join(".local/state/agentd"),
    }
}

/// The user's settings folder: `$XDG_CONFIG_HOME/agentd`, else `~/.config/agentd`.
#[must_use]
pub fn config_dir(env: &Environment) -> PathBuf {
    match env.get("XDG_CONFIG_HOME") {
        Some(dir) => PathBuf::from(dir).join("agentd"),
        None => home(env).join(".config/agentd"),
    }
}

/// The socket: `$AGENTD_SOCKET`, else `$XDG_RUNTIME_DIR/agentd/agentd.sock`, else `/tmp/agentd-<uid>/agentd.sock`.
#[must_use]
pub fn socket_path(env: &Environment) -> PathBuf {
    if let Some(path) = env.get("AGENTD_SOCKET") {
        return PathBuf::from(path);
    }
    match env.get("XDG_RUNTIME_DIR") {
        Some(dir) => PathBuf::from(dir).join("agentd/agentd.sock"),
        None => PathBuf::from(format!("/tmp/agentd-{}/agentd.sock", nix::unistd::getuid())),
    }
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
