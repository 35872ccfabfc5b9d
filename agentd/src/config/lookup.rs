//! `config/get`: the value of a setting, and the files that say so. Called by the method. Reads what `loader` read.

use super::gate::is_secret;
use super::keys;
use super::loader::{Loaded, Loader};
use super::merge;
use serde_json::{Map, Value};
use std::path::Path;

/// The value of a setting.
#[derive(Debug, Clone, PartialEq)]
pub struct Found {
    /// All layers merged; null if no layer sets it.
    pub value: Value,
    /// The files that set it, the strongest first.
    pub files: Vec<String>,
}

impl Loader {
    /// The value of a setting by its key, for a folder or for agentd itself. Headers that are secrets are left out.
    ///
    /// # Errors
    /// A sentence, if there is no such setting.
    pub fn get(&self, cwd: Option<&Path>, key: &str) -> Result<Found, String> {
        let parts = parts(key)?;
        let loaded = match cwd {
            Some(cwd) => self.load_for(cwd),
            None => self.load(),
        };
        Ok(found(&loaded, &parts))
    }
}

fn found(loaded: &Loaded, parts: &[&str]) -> Found {
    let mut merged = Map::new();
    let mut files = Vec::new();
    for layer in &loaded.layers {
        if at(&layer.values, parts).is_some() {
            files.push(layer.shown.clone());
        }
        merge::over(&mut merged, layer.values.clone());
    }
    hide_secrets(&mut merged);
    files.reverse();
    Found { value: at(&merged, parts).cloned().unwrap_or_default(), files }
}

fn at<'a>(values: &'a Map<String, Value>, parts: &[&str]) -> Option<&'a Value> {
    let (first, rest) = parts.split_first()?;
    rest.iter().try_fold(values.get(*first)?, |value, part| value.get(*part))
}

/// What is never told: values of headers, as a provider may take any of them for a key, and variables that sound
/// like secrets.
fn hide_secrets(values: &mut Map<String, Value>) {
    const HIDDEN: &str = "(hidden)";
    if let Some(Value::Object(env)) = values.get_mut("env") {
        env.iter_mut().filter(|(name, _)| is_secret(name)).for_each(|(_, value)| *value = Value::from(HIDDEN));
    }
    let Some(Value::Object(providers)) = values.get_mut("providers") else { return };
    let headers = providers.values_mut().filter_map(|provider| provider.get_mut("headers")?.as_object_mut());
    headers.flat_map(Map::values_mut).for_each(|value| *value = Value::from(HIDDEN));
}

/// The parts of a key that names a setting.
///
/// # Errors
/// A sentence with the name that was probably meant.
pub(super) fn parts(key: &str) -> Result<Vec<&str>, String> {
    let parts: Vec<&str> = key.split('.').collect();
    for (depth, part) in parts.iter().enumerate() {
        let above = parts.get(..depth).unwrap_or_default();
        let known = if depth == 0 { Some(&keys::OWN[..]) } else { keys::children(above) };
        if part.is_empty() {
            return Err(format!("key: {key:?} has an empty part: write the names with one dot between them"));
        }
        let Some(known) = known.filter(|known| !known.contains(part)) else { continue };
        let whole = |name: &str| above.iter().copied().chain([name]).collect::<Vec<_>>().join(".");
        return Err(match keys::nearest(part, known) {
            Some(near) => format!("key: there is no setting {key}; did you mean {}?", whole(near)),
            None if depth == 0 && keys::is_foreign(part) => format!("key: agentd does not use {part}"),
            None => format!("key: there is no setting {key}; there are {}", known.join(", ")),
        });
    }
    Ok(parts)
}
