//! Whether a folder's git configuration makes even `git status` run programs of its choosing. Called by
//! Bash for git commands that only read. Reads the configuration, runs nothing.

use super::paths::resolve;
use super::tool::ToolContext;
use std::ffi::OsStr;
use std::io;
use std::path::Path;

/// Words of configuration keys whose values git runs, fetches from, or reads further configuration or files from.
const RUNS: [&str; 13] = [
    "fsmonitor",
    "external",
    "textconv",
    "filter",
    "program",
    "command",
    "include",
    "signature",
    "submodule",
    "worktree",
    "hookspath",
    "promisor",
    "partialclone",
];

/// The only hook of commands that read: they refresh the index.
const INDEX_HOOK: &str = "hooks/post-index-change";

/// The mode of a repository inside a repository, as the index holds it. A file of 57344 bytes looks the same.
const GITLINK: [u8; 4] = [0, 0, 0xE0, 0];

/// Larger files are not looked through.
const MAX_CONFIG_BYTES: u64 = 1 << 20;
const MAX_INDEX_BYTES: u64 = 64 << 20;

/// Whether git, run in this folder, might run a program that the folder names. What can't be told counts as yes.
/// Folders further up count too: git passes over a `.git` that it finds unusable. Where the session's folder is trusted,
/// its own repository is, and any that it is in; not those inside it.
pub(super) fn config_runs_programs(folder: &Path, context: &ToolContext) -> bool {
    let trusted = context.trusted.then(|| resolve(&context.root)).flatten();
    folder.ancestors().any(|dir| match &trusted {
        Some(root) if root.starts_with(dir) => holds_repositories(&dir.join(".git")),
        _ => is_suspicious(dir),
    })
}

fn is_suspicious(dir: &Path) -> bool {
    let git = dir.join(".git");
    // A bare repository: its configuration is where nobody expects it.
    if dir.join("HEAD").exists() && dir.join("objects").exists() {
        return true;
    }
    if !git.is_dir() {
        // A worktree's or submodule's link: its configuration is elsewhere.
        return git.symlink_metadata().is_ok();
    }
    let has = |name: &str| git.join(name).symlink_metadata().is_ok();
    has("commondir") || has(INDEX_HOOK) || names_programs(&git.join("config")) || holds_repositories(&git)
}

fn names_programs(config: &Path) -> bool {
    let Ok(text) = crate::base::files::read_text(config, MAX_CONFIG_BYTES) else { return true };
    let text = text.to_ascii_lowercase();
    RUNS.iter().any(|word| text.contains(word))
}

/// Whether there may be repositories inside: git looks into each, and obeys what is configured there.
fn holds_repositories(git: &Path) -> bool {
    let index = git.join("index");
    match index.symlink_metadata() {
        Err(error) => error.kind() != io::ErrorKind::NotFound,
        Ok(metadata) if !metadata.is_file() || metadata.len() > MAX_INDEX_BYTES => true,
        Ok(_) => {
            let holds = |bytes: Vec<u8>| bytes.windows(GITLINK.len()).any(|window| window == GITLINK);
            is_split(git) || std::fs::read(index).map_or(true, holds)
        }
    }
}

/// Whether a part of the index may be in a file of its own.
fn is_split(git: &Path) -> bool {
    let is_part = |name: &OsStr| name.as_encoded_bytes().starts_with(b"sharedindex");
    std::fs::read_dir(git).map_or(true, |entries| entries.flatten().any(|entry| is_part(&entry.file_name())))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::tools::testing::Scratch;

    fn config_runs_programs(folder: &Path) -> bool {
        super::config_runs_programs(folder, &Scratch::new().context())
    }

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
            ("[core]\n\tworktree = /secret\n", true),
            ("[core]\n\thooksPath = evil\n", true),
            ("[remote \"x\"]\n\tpromisor = true\n\tuploadpack = ./evil\n", true),
            ("[extensions]\n\tpartialClone = x\n", true),
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

    /// A plain repository, to be spoiled.
    fn repository() -> tempfile::TempDir {
        let dir = tempfile::tempdir().unwrap();
        std::fs::create_dir_all(dir.path().join(".git/hooks")).unwrap();
        std::fs::write(dir.path().join(".git/config"), "[core]\n\tbare = false\n").unwrap();
        std::fs::write(dir.path().join(".git/index"), b"DIRC\0\0\x81\xA4 a link to nothing").unwrap();
        std::fs::write(dir.path().join(".git/hooks/pre-commit"), "").unwrap();
        dir
    }

    #[test]
    fn programs_come_from_more_than_the_configuration() {
        let dir = repository();
        assert!(!config_runs_programs(dir.path()), "a plain repository");
        for (file, content) in [
            (".git/hooks/post-index-change", &b""[..]),
            (".git/commondir", b"../evil\n"),
            (".git/index", b"DIRC\0\0\xE0\0 a repository inside"),
            (".git/sharedindex.0123", b""),
        ] {
            let dir = repository();
            std::fs::write(dir.path().join(file), content).unwrap();
            assert!(config_runs_programs(dir.path()), "{file}");
        }
    }

    #[test]
    fn a_harmless_folder_inside_vouches_for_nothing() {
        let dir = repository();
        std::fs::create_dir_all(dir.path().join("sub/.git")).unwrap();
        std::fs::write(dir.path().join("sub/.git/config"), "").unwrap();
        assert!(!config_runs_programs(&dir.path().join("sub")));
        std::fs::write(dir.path().join(".git/config"), "[core]\n\tfsmonitor = ./evil\n").unwrap();
        assert!(config_runs_programs(&dir.path().join("sub")), "git passes over a .git that is none");
        let dir = repository();
        std::fs::write(dir.path().join("HEAD"), "").unwrap();
        std::fs::create_dir(dir.path().join("objects")).unwrap();
        assert!(config_runs_programs(dir.path()), "a bare repository around it");
    }

    #[test]
    fn a_configuration_that_is_no_plain_file_is_not_waited_for() {
        for make in [
            |config: &Path| nix::unistd::mkfifo(config, nix::sys::stat::Mode::S_IRUSR).unwrap(),
            |config: &Path| std::fs::File::create(config).unwrap().set_len(MAX_CONFIG_BYTES + 1).unwrap(),
        ] {
            let dir = repository();
            let config = dir.path().join(".git/config");
            std::fs::remove_file(&config).unwrap();
            make(&config);
            assert!(config_runs_programs(dir.path()));
        }
    }

    #[test]
    fn trust_covers_the_session_s_own_repository_and_none_inside_it() {
        let scratch = Scratch::new();
        let mut context = scratch.context();
        let evil = "[core]\n\tfsmonitor = ./evil\n";
        scratch.write(".git/config", evil);
        scratch.write("sub/f", "");
        let runs = |context: &ToolContext, folder: &str| super::config_runs_programs(&scratch.path(folder), context);
        assert!(runs(&context, "") && runs(&context, "sub"));
        context.trusted = true;
        assert!(!runs(&context, "") && !runs(&context, "sub"));
        scratch.write("sub/.git/config", evil);
        assert!(runs(&context, "sub"), "a repository inside");
        scratch.write(".git/index", b"DIRC\0\0\xE0\0 a repository inside");
        assert!(runs(&context, ""), "git looks into the repositories inside");
    }
}
