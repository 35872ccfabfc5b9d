//! A home of its own for a daemon and its clients: temporary folders, settings, and the only
//! variables that programs started in it see. Dropping it fails the test if something leaked.

use crate::leaks;
use crate::model::ModelServer;
use serde_json::{Value, json};
use std::collections::BTreeMap;
use std::fs;
use std::os::unix::fs::{DirBuilderExt, PermissionsExt};
use std::path::{Path, PathBuf};
use std::process::Command;
use tempfile::TempDir;

/// A temporary home.
#[derive(Debug)]
pub struct Home {
    dir: TempDir,
    env: BTreeMap<String, String>,
}

impl Default for Home {
    fn default() -> Self {
        Self::new()
    }
}

impl Home {
    /// Makes one, without a model: what runs in it finds `demo/guide` only.
    ///
    /// # Panics
    /// If the temporary folder can't be written.
    #[must_use]
    pub fn new() -> Self {
        let dir = tempfile::Builder::new().prefix("agentd-kit-").tempdir().expect("a temporary folder");
        let root = fs::canonicalize(dir.path()).expect("the temporary folder is there");
        for name in ["home", "config/agentd", "state", "cache", "data", "tmp", "work"] {
            fs::create_dir_all(root.join(name)).expect("a folder in the temporary folder");
        }
        fs::DirBuilder::new().mode(0o700).create(root.join("run")).expect("a folder in the temporary folder");
        let at = |name: &str| root.join(name).to_str().expect("temporary paths are UTF-8").to_owned();
        let env = [
            ("PATH", "/usr/local/bin:/usr/bin:/bin".to_owned()),
            ("HOME", at("home")),
            ("XDG_CONFIG_HOME", at("config")),
            ("XDG_STATE_HOME", at("state")),
            ("XDG_CACHE_HOME", at("cache")),
            ("XDG_DATA_HOME", at("data")),
            ("XDG_RUNTIME_DIR", at("run")),
            ("TMPDIR", at("tmp")),
            ("TEST_API_KEY", "sk-test-key".to_owned()),
        ];
        let env = env.into_iter().map(|(name, value)| (name.to_owned(), value)).collect();
        let home = Self { dir, env };
        home.settings(&base_settings());
        home
    }

    /// Adds the model server as provider `test` (Messages), `chat` (Chat Completions) and `responses` (Responses);
    /// `test/m1` is the model of new sessions.
    pub fn use_model(&self, model: &ModelServer) {
        let url = model.url();
        self.settings(&json!({
            "model": "test/m1",
            "providers": {
                "test": provider("anthropic", &url),
                "chat": provider("openai-chat", &format!("{url}/v1")),
                "responses": provider("openai-responses", &format!("{url}/v1")),
            },
        }));
    }

    /// Merges into the user's settings file.
    ///
    /// # Panics
    /// If the file can't be written.
    pub fn settings(&self, change: &Value) {
        let path = self.path("config/agentd/settings.json");
        let mut settings: Value =
            fs::read(&path).map_or(Value::Null, |text| serde_json::from_slice(&text).expect("JSON"));
        merge(&mut settings, change);
        fs::write(path, settings.to_string()).expect("the settings can be written");
    }

    /// Sets a variable for programs that start from now on.
    pub fn set_env(&mut self, name: &str, value: &str) {
        self.env.insert(name.to_owned(), value.to_owned());
    }

    /// A path in the temporary folder.
    #[must_use]
    pub fn path(&self, name: &str) -> PathBuf {
        fs::canonicalize(self.dir.path()).expect("the temporary folder is there").join(name)
    }

    /// The folder that sessions of a test work in.
    #[must_use]
    pub fn workspace(&self) -> PathBuf {
        self.path("work")
    }

    /// The daemon's socket.
    #[must_use]
    pub fn socket(&self) -> PathBuf {
        self.path("run/agentd/agentd.sock")
    }

    /// The folder that holds the daemon's sessions.
    #[must_use]
    pub fn state_dir(&self) -> PathBuf {
        self.path("state/agentd")
    }

    /// The variables that programs get.
    #[must_use]
    pub fn env(&self) -> &BTreeMap<String, String> {
        &self.env
    }

    /// A command with this home's variables and nothing else, in its workspace.
    #[must_use]
    pub fn command(&self, program: &Path) -> Command {
        let mut command = Command::new(program);
        command.env_clear().envs(&self.env).current_dir(self.workspace());
        command
    }

    /// The processes that this home's variables or folders show in.
    #[must_use]
    pub fn processes(&self) -> Vec<leaks::Process> {
        leaks::processes_of(&self.path(""))
    }
}

impl Drop for Home {
    fn drop(&mut self) {
        let left = self.processes();
        for process in &left {
            process.kill();
        }
        if std::thread::panicking() {
            return;
        }
        let mut complaints: Vec<String> = left.iter().map(|process| format!("process left: {process}")).collect();
        complaints.extend(leaks::stray_files(&self.path("")));
        // A full-disk test may have left the folder closed to us.
        let _ = fs::set_permissions(self.dir.path(), fs::Permissions::from_mode(0o700));
        assert!(complaints.is_empty(), "the home complains:\n{}", complaints.join("\n"));
    }
}

/// Limits under which a failing test fails soon.
fn base_settings() -> Value {
    json!({"limits": {"drainMs": 2000, "killGraceMs": 300, "retries": 1}})
}

fn provider(api: &str, url: &str) -> Value {
    json!({
        "api": api, "baseUrl": url, "apiKeyEnv": "TEST_API_KEY",
        "models": [{"id": "m1", "contextWindow": 200_000, "maxOutput": 8000}],
    })
}

fn merge(into: &mut Value, change: &Value) {
    let (Value::Object(fields), Value::Object(changes)) = (&mut *into, change) else {
        *into = change.clone();
        return;
    };
    for (name, value) in changes {
        merge(fields.entry(name.clone()).or_insert(Value::Null), value);
    }
}
