//! Where a daemon and its clients meet: the socket and the state folder, by the rules of PROTOCOL.md §1 and
//! §6. Pure functions of variables, so that both sides keep one rule; they look at no file.

use std::path::PathBuf;

/// The socket when none is named: `$AGENTD_SOCKET`, else `$XDG_RUNTIME_DIR/agentd/agentd.sock`, else
/// `/tmp/agentd-<uid>/agentd.sock`. `variable` gives the value of a variable that is set and not empty.
pub fn socket<'a>(variable: impl Fn(&str) -> Option<&'a str>, uid: u32) -> PathBuf {
    match (variable("AGENTD_SOCKET"), variable("XDG_RUNTIME_DIR")) {
        (Some(path), _) => PathBuf::from(path),
        (None, Some(dir)) => PathBuf::from(dir).join("agentd/agentd.sock"),
        (None, None) => PathBuf::from(format!("/tmp/agentd-{uid}/agentd.sock")),
    }
}

/// The folder of sessions when none is named: `$AGENTD_STATE_DIR`, else `$XDG_STATE_HOME/agentd`, else
/// `.local/state/agentd` in the user's home.
pub fn state_dir<'a>(variable: impl Fn(&str) -> Option<&'a str>, home: impl FnOnce() -> PathBuf) -> PathBuf {
    match (variable("AGENTD_STATE_DIR"), variable("XDG_STATE_HOME")) {
        (Some(dir), _) => PathBuf::from(dir),
        (None, Some(dir)) => PathBuf::from(dir).join("agentd"),
        (None, None) => home().join(".local/state/agentd"),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn variables<'a>(set: &'a [(&'a str, &'a str)]) -> impl Fn(&str) -> Option<&'a str> {
        |name| set.iter().find(|(known, _)| *known == name).map(|(_, value)| *value)
    }

    #[test]
    fn the_strongest_variable_names_the_socket() {
        let socket = |set| socket(variables(set), 7);
        let both = [("XDG_RUNTIME_DIR", "/run/u"), ("AGENTD_SOCKET", "/a/s")];
        assert_eq!(socket(&both), PathBuf::from("/a/s"));
        assert_eq!(socket(&both[..1]), PathBuf::from("/run/u/agentd/agentd.sock"));
        assert_eq!(socket(&[]), PathBuf::from("/tmp/agentd-7/agentd.sock"));
    }

    #[test]
    fn the_strongest_variable_names_the_state() {
        let state_dir = |set| state_dir(variables(set), || "/h".into());
        let both = [("XDG_STATE_HOME", "/x"), ("AGENTD_STATE_DIR", "/a")];
        assert_eq!(state_dir(&both), PathBuf::from("/a"));
        assert_eq!(state_dir(&both[..1]), PathBuf::from("/x/agentd"));
        assert_eq!(state_dir(&[]), PathBuf::from("/h/.local/state/agentd"));
    }
}
