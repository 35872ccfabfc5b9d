//! Layers laid over each other: the values to one value, the rules to one list, each with its source. Called by
//! `loader`. Pure.

use super::settings::Settings;
use crate::policy::{Rule, Rules, Source, SourceKind, SourcedRule};
use proto::methods::SettingsError;
use serde_json::{Map, Value};
use std::path::PathBuf;
use std::sync::Arc;

/// What one source may say, as far as it counts.
#[derive(Debug, Clone, PartialEq)]
pub(super) struct Layer {
    /// The source.
    pub(super) source: Source,
    /// Its name in errors and answers.
    pub(super) shown: String,
    /// Its values.
    pub(super) values: Map<String, Value>,
}

/// The settings of all layers, weakest first.
pub(super) fn settings(layers: &[Layer], errors: &mut Vec<SettingsError>) -> Settings {
    let mut merged = Map::new();
    for layer in layers {
        over(&mut merged, layer.values.clone());
    }
    match serde_json::from_value::<Settings>(Value::Object(merged)) {
        Ok(settings) => {
            let managed_only = settings.allow_managed_permission_rules_only;
            Settings { rules: Arc::new(rules(layers, managed_only)), ..settings }
        }
        Err(error) => {
            // Every value was tried before, so this can't be; no rule may be lost in silence all the same.
            let message = format!("the settings don't fit together ({error}): only their rules count");
            errors.push(SettingsError { file: "settings".to_owned(), message });
            Settings { rules: Arc::new(rules(layers, false)), ..Settings::default() }
        }
    }
}

/// The rules of all layers, in the order of the sources (row P15).
fn rules(layers: &[Layer], managed_only: bool) -> Rules {
    let mut counting: Vec<&Layer> =
        layers.iter().filter(|layer| !managed_only || layer.source.kind == SourceKind::Managed).collect();
    counting.sort_by_key(|layer| layer.source.kind);
    let of = |list: &str| {
        let sourced = |layer: &&Layer| {
            let texts = layer.values.get("permissions").and_then(|all| all.get(list)).and_then(Value::as_array);
            let parsed = texts.into_iter().flatten().filter_map(|text| Rule::parse(text.as_str()?).ok());
            parsed.map(|rule| SourcedRule { rule, source: layer.source.clone() }).collect::<Vec<_>>()
        };
        counting.iter().flat_map(sourced).collect()
    };
    Rules { deny: of("deny"), ask: of("ask"), allow: of("allow") }
}

/// Lays a stronger layer over a weaker one: objects and lists merge, everything else is replaced.
pub(super) fn over(weaker: &mut Map<String, Value>, stronger: Map<String, Value>) {
    for (key, value) in stronger {
        match (weaker.get_mut(&key), value) {
            (Some(Value::Object(under)), Value::Object(upper)) => over(under, upper),
            (Some(Value::Array(under)), Value::Array(upper)) => {
                for item in upper {
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
        ("apiKeyHelper", before.api_key_helper != after.api_key_helper),
        (
            "allowManagedPermissionRulesOnly",
            before.allow_managed_permission_rules_only != after.allow_managed_permission_rules_only,
        ),
        ("permissions", before.permissions != after.permissions),
        ("env", before.env != after.env),
        ("tools", before.tools != after.tools),
        ("limits", before.limits != after.limits),
    ];
    differs.into_iter().filter(|(_, differs)| *differs).map(|(key, _)| key.to_owned()).collect()
}

/// A place where settings may stand.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Place {
    /// The file.
    pub(super) path: PathBuf,
    /// Whose file it is.
    pub(super) owner: super::sift::Owner,
    /// What it is for.
    pub(super) source: Source,
    /// Whether more than its tightening part counts.
    pub(super) trusted: bool,
}
