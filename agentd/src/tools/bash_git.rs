//! Whether a folder's git configuration makes even `git status` run programs of its choosing. Called by
//! Bash for git commands that only read. Reads the configuration, runs nothing.

use std::path::Path;

/// Words of configuration keys whose values git runs or reads further configuration from.
const RUNS: [&str; 10] = [
    "fsmonitor",
    "external",
    "textconv",
    "filter",
    "program",
    "command",
    "include",
    "signature",
    "submodule",
    "worktreeconfig",
];

/// Whether git, run in this folder, might run a program that the folder names. What can't be told counts as yes.
pub(super) fn config_runs_programs(cwd: &Path) -> bool {
    for dir in cwd.ancestors() {
        let git = dir.join(".git");
        if git.is_dir() {
            return is_suspicious(&git.join("config"));
        }
        // A worktree's or submodule's link, or a bare repository: its configuration is elsewhere or unexpected.
        if git.symlink_metadata().is_ok() || (dir.join("HEAD").exists() && dir.join("objects").exists()) {
            return true;
        }
    }
    false
}

fn is_suspicious(config: &Path) -> bool {
    let Ok(text) = std::fs::read_to_string(config) else { return true };
    let text = text.to_ascii_lowercase();
    RUNS.iter().any(|word| text.contains(word))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn plain_configurations_pass_and_others_do_not() {
        let dir = tempfile::tempdir().unwrap();
        let sub = dir.path().join("sub");
        std::fs::create_dir_all(dir.path().join(".git")).unwrap();
        std::fs::create_dir(&sub).unwrap();
        assert!(config_runs_programs(&sub), "no configuration");
        let config = dir.path().join(".git/config");
        for (text, runs) in [
            ("[core]\n\tbare = false\n[remote \"origin\"]\n\turl = git@example.org:x.git\n", false),
            ("[core]\n\tfsMonitor = ./evil\n", true),
            ("[diff]\n\texternal = ./evil\n", true),
            ("[include]\n\tpath = ../evil\n", true),
            ("[filter \"x\"]\n\tclean = ./evil\n", true),
            ("[log]\n\tshowSignature = true\n", true),
        ] {
            std::fs::write(&config, text).unwrap();
            assert_eq!(config_runs_programs(&sub), runs, "{text}");
        }
        std::fs::write(sub.join(".git"), "gitdir: ../evil").unwrap();
        assert!(config_runs_programs(&sub));
        std::fs::remove_file(sub.join(".git")).unwrap();
        std::fs::write(sub.join("HEAD"), "").unwrap();
        std::fs::create_dir(sub.join("objects")).unwrap();
        assert!(config_runs_programs(&sub), "a bare repository");
    }
}
