//! A home for tests of settings.

use super::loader::Loader;
use crate::base::environment::Environment;
use std::collections::BTreeMap;
use std::path::{Path, PathBuf};
use tempfile::TempDir;

/// The user's own settings file.
pub(super) const USER: &str = "config/agentd/settings.json";

/// A home, a project folder in it and a managed file.
pub(super) struct Place {
    _dir: TempDir,
    base: PathBuf,
}

impl Place {
    pub(super) fn new() -> Self {
        let dir = tempfile::tempdir().expect("a folder");
        let base = dir.path().canonicalize().expect("the folder");
        std::fs::create_dir_all(base.join("project")).expect("a folder");
        Self { _dir: dir, base }
    }

    pub(super) fn path(&self, name: &str) -> PathBuf {
        if name.is_empty() { self.base.clone() } else { self.base.join(name) }
    }

    pub(super) fn write(&self, name: &str, text: impl AsRef<[u8]>) -> &Self {
        let path = self.path(name);
        std::fs::create_dir_all(path.parent().expect("a parent")).expect("folders");
        std::fs::write(path, text).expect("a file");
        self
    }

    pub(super) fn read(&self, name: &str) -> String {
        std::fs::read_to_string(self.path(name)).expect("a file")
    }

    pub(super) fn loader(&self, command_line: Option<&str>) -> Loader {
        let home = self.base.display().to_string();
        let variables: BTreeMap<String, String> =
            [("HOME".to_owned(), home.clone()), ("XDG_CONFIG_HOME".to_owned(), format!("{home}/config"))].into();
        Loader::new(&Environment::from(variables), command_line.map(str::to_owned))
            .with_managed(self.path("managed.json"))
            .with_state_dir(&self.path("state"))
    }

    pub(super) fn project(&self) -> PathBuf {
        self.path("project")
    }

    /// A loader that trusts the project.
    pub(super) fn trusting(&self) -> Loader {
        let loader = self.loader(None);
        loader.set_trust(Path::new(&self.project()), true).expect("trust");
        loader
    }
}
