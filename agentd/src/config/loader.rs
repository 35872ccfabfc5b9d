//! Reads the layers of settings and merges them (PROTOCOL.md §9). Called by `daemon` at start and on
//! reload, and for each session with its folder. Reads files, and nothing else.

use super::file::{self, Layer};
use super::settings::Settings;
use super::sift::Owner;
use crate::base::environment::Environment;
use crate::base::paths;
use proto::methods::SettingsError;
use serde_json::{Map, Value};
use std::path::{Path, PathBuf};

const MANAGED: &str = "/etc/agentd/settings.json";

/// Where the layers are.
#[derive(Debug, Clone)]
pub struct Loader {
    user: PathBuf,
    user_claude: PathBuf,
    command_line: Option<String>,
    managed: PathBuf,
}

/// The settings, and what could not be used of their files.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct Loaded {
    /// All layers merged.
    pub settings: Settings,
    /// What is wrong with the files, in their order.
    pub errors: Vec<SettingsError>,
}

impl Loader {
    /// With the folders that the environment names, and the `--settings` of the command line: a file or
    /// a JSON text.
    #[must_use]
    pub fn new(env: &Environment, command_line: Option<String>) -> Self {
        Self {
            user: paths::config_dir(env).join("settings.json"),
            user_claude: paths::home(env).join(".claude/settings.json"),
            command_line,
            managed: PathBuf::from(MANAGED),
        }
    }

    /// With another managed file than `/etc/agentd/settings.json`.
    #[must_use]
    pub fn with_managed(mut self, file: PathBuf) -> Self {
        self.managed = file;
        self
    }

    /// The settings of agentd itself.
    #[must_use]
    pub fn load(&self) -> Loaded {
        self.merge(Vec::new())
    }

    /// The settings of a session in that folder. What a folder says is not trusted: of its files only
    /// `permissions.deny` and `permissions.ask` count, which can't run or widen anything.
    #[must_use]
    pub fn load_for(&self, cwd: &Path) -> Loaded {
        let files = [
            (".claude/settings.json", Owner::Claude),
            (".agentd/settings.json", Owner::Agentd),
            (".claude/settings.local.json", Owner::Claude),
            (".agentd/settings.local.json", Owner::Agentd),
        ];
        let layers = files
            .into_iter()
            .map(|(name, owner)| (cwd.join(name), owner))
            // In the user's home the project's file is the user's own, which was read.
            .filter(|(path, _)| *path != self.user_claude)
            .map(|(path, owner)| restricted(file::read(&path, owner)));
        self.merge(layers.collect())
    }

    fn merge(&self, folder: Vec<Layer>) -> Loaded {
        let mut layers = vec![file::read(&self.user_claude, Owner::Claude), file::read(&self.user, Owner::Agentd)];
        layers.extend(folder);
        layers.extend(self.command_line.as_deref().map(given));
        layers.push(file::read(&self.managed, Owner::Agentd));
        let mut merged = Map::new();
        let mut errors = Vec::new();
        for layer in layers {
            merge(&mut merged, layer.values);
            errors.extend(layer.errors);
        }
        match serde_json::from_value(Value::Object(merged)) {
            Ok(settings) => Loaded { settings, errors },
            Err(error) => {
                // Every value was tried before, so this can't be; no rule may be lost in silence all the same.
                let message = format!("the settings don't fit together ({error}): none of them count");
                errors.push(SettingsError { file: "settings".to_owned(), message });
                Loaded { settings: Settings::default(), errors }
            }
        }
    }
}

/// `--settings`.
fn given(text: &str) -> Layer {
    const NAME: &str = "--settings";
    if text.trim_start().starts_with('{') {
        return file::parse(NAME, text, Owner::Agentd);
    }
    let path = Path::new(text);
    if !path.exists() {
        let message = format!("the file of {NAME} does not exist: correct its path");
        return Layer { values: Map::new(), errors: vec![SettingsError { file: text.to_owned(), message }] };
    }
    file::read(path, Owner::Agentd)
}

/// What an untrusted folder may say.
fn restricted(layer: Layer) -> Layer {
    let mut permissions = Map::new();
    if let Some(Value::Object(all)) = layer.values.get("permissions") {
        for key in ["deny", "ask"] {
            permissions.extend(all.get(key).map(|rules| (key.to_owned(), rules.clone())));
        }
    }
    let mut values = Map::new();
    if !permissions.is_empty() {
        values.insert("permissions".to_owned(), Value::Object(permissions));
    }
    Layer { values, errors: layer.errors }
}

/// Lays a stronger layer over a weaker one: objects and lists merge, everything else is replaced.
fn merge(weaker: &mut Map<String, Value>, stronger: Map<String, Value>) {
    for (key, value) in stronger {
        match (weaker.get_mut(&key), value) {
            (Some(Value::Object(under)), Value::Object(over)) => merge(under, over),
            (Some(Value::Array(under)), Value::Array(over)) => {
                for item in over {
                    if !under.contains(&item) {
                        under.push(item);
                    }
                }
            }
            (_, value) => {
                weaker.insert(key, value);
            }
        }
    }
}

/// The top-level keys whose value differs.
#[must_use]
pub fn changed(before: &Settings, after: &Settings) -> Vec<String> {
    let differs = [
        ("model", before.model != after.model),
        ("fallbackModel", before.fallback_model != after.fallback_model),
        ("smallModel", before.small_model != after.small_model),
        ("providers", before.providers != after.providers),
        ("permissions", before.permissions != after.permissions),
        ("env", before.env != after.env),
        ("tools", before.tools != after.tools),
        ("limits", before.limits != after.limits),
    ];
    differs.into_iter().filter(|(_, differs)| *differs).map(|(key, _)| key.to_owned()).collect()
}

#[cfg(test)]
mod tests;
