//! Where the daemon's socket and state are, by the rules of PROTOCOL.md §1 and §6. Pure functions of an
//! environment; agentd has the same rules, and the end-to-end tests hold the two together.

use crate::environment::Environment;
use std::path::PathBuf;

/// The socket when `--socket` is not given.
pub fn socket(env: &Environment) -> PathBuf {
    if let Some(path) = env.get("AGENTD_SOCKET") {
        return PathBuf::from(path);
    }
    match env.get("XDG_RUNTIME_DIR") {
        Some(dir) => PathBuf::from(dir).join("agentd/agentd.sock"),
        None => PathBuf::from(format!("/tmp/agentd-{}/agentd.sock", nix::unistd::getuid())),
    }
}

/// The folder of sessions, of the daemon's log and of the prompt history.
pub fn state_dir(env: &Environment) -> PathBuf {
    if let Some(dir) = env.get("AGENTD_STATE_DIR") {
        return PathBuf::from(dir);
    }
    match env.get("XDG_STATE_HOME") {
        Some(dir) => PathBuf::from(dir).join("agentd"),
        None => home(env).join(".local/state/agentd"),
    }
}

fn home(env: &Environment) -> PathBuf {
    match env.get("HOME") {
        Some(dir) => PathBuf::from(dir),
        None => directories::BaseDirs::new().map_or_else(|| PathBuf::from("/"), |dirs| dirs.home_dir().to_owned()),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_strongest_variable_names_the_socket() {
        let all = [("AGENTD_SOCKET", "/a/s"), ("XDG_RUNTIME_DIR", "/run/u")];
        assert_eq!(socket(&Environment::from(all)), PathBuf::from("/a/s"));
        let runtime = [("AGENTD_SOCKET", ""), ("XDG_RUNTIME_DIR", "/run/u")];
        assert_eq!(socket(&Environment::from(runtime)), PathBuf::from("/run/u/agentd/agentd.sock"));
        let none = PathBuf::from(format!("/tmp/agentd-{}/agentd.sock", nix::unistd::getuid()));
        assert_eq!(socket(&Environment::from([])), none);
    }

    #[test]
    fn the_strongest_variable_names_the_state() {
        let all = [("AGENTD_STATE_DIR", "/a"), ("XDG_STATE_HOME", "/x"), ("HOME", "/h")];
        assert_eq!(state_dir(&Environment::from(all)), PathBuf::from("/a"));
        let xdg = [("XDG_STATE_HOME", "/x"), ("HOME", "/h")];
        assert_eq!(state_dir(&Environment::from(xdg)), PathBuf::from("/x/agentd"));
        assert_eq!(state_dir(&Environment::from([("HOME", "/h")])), PathBuf::from("/h/.local/state/agentd"));
    }
}
