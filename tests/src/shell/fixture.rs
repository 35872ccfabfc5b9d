//! The repository in which lines are tried: made once by `fixture.sh`, copied for each sandbox.

use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};
use tempfile::TempDir;

const SCRIPT: &str = include_str!("fixture.sh");

/// A repository that is never used itself.
#[derive(Debug)]
pub struct Fixture {
    dir: TempDir,
}

impl Default for Fixture {
    fn default() -> Self {
        Self::new()
    }
}

impl Fixture {
    /// Makes it, with names that want to be options and commands.
    ///
    /// # Panics
    /// If bash or git are missing.
    #[must_use]
    pub fn new() -> Self {
        Self::made(&[])
    }

    /// Makes it with the names that a repository has.
    ///
    /// # Panics
    /// If bash or git are missing.
    #[must_use]
    pub fn plain() -> Self {
        Self::made(&["bash", "plain"])
    }

    fn made(words: &[&str]) -> Self {
        let dir = tempfile::Builder::new().prefix("agentd-lines-").tempdir().expect("a temporary folder");
        let fixture = Self { dir };
        let work = fixture.path();
        std::fs::create_dir(&work).expect("a folder in the temporary folder");
        let mut make = Command::new("bash");
        make.args(["-c", SCRIPT]).args(words).current_dir(&work).env_clear();
        make.envs([("PATH", super::sandbox::PATH), ("GIT_CONFIG_NOSYSTEM", "1"), ("GIT_CONFIG_GLOBAL", "/dev/null")]);
        make.envs([("GIT_AUTHOR_DATE", "2026-01-01T00:00:00Z"), ("GIT_COMMITTER_DATE", "2026-01-01T00:00:00Z")]);
        let output = make.stdin(Stdio::null()).output().expect("bash starts");
        assert!(output.status.success(), "the fixture can't be made: {}", String::from_utf8_lossy(&output.stderr));
        fixture
    }

    /// Where it is.
    #[must_use]
    pub fn path(&self) -> PathBuf {
        self.dir.path().join("work")
    }

    /// Copies it.
    ///
    /// # Panics
    /// If it can't be copied.
    pub fn copy_to(&self, folder: &Path) {
        let copied = Command::new("cp").arg("-a").arg(self.path()).arg(folder).status().expect("cp starts");
        assert!(copied.success(), "the fixture can't be copied to {}", folder.display());
    }
}
