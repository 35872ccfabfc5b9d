//! What a source may say: a folder that nobody trusts only tightens, no folder loosens what is the user's own to
//! loosen, and secrets stand in private files. Called by `loader` for each file. Pure.

use super::file::{Content, error};
use super::files::tightening;
use super::merge::{Layer, Place};
use crate::policy::SourceKind;
use proto::methods::SettingsError;
use serde_json::{Map, Value, json};
use std::path::{Path, PathBuf};

/// What counts of a file; what is left out against the writer's wish is told.
pub(super) fn admit(place: &Place, content: &Content, home: &Path, errors: &mut Vec<SettingsError>) -> Layer {
    let shown = place.path.display().to_string();
    errors.extend(content.errors.iter().cloned());
    let kind = place.source.kind;
    let of_folder = matches!(kind, SourceKind::Project | SourceKind::Local);
    let mut values = if of_folder && !place.trusted { tightening(&content.values) } else { content.values.clone() };
    let mut refused = Vec::new();
    if of_folder {
        refused.extend(without_own_loosening(&mut values));
    }
    if kind != SourceKind::Managed && values.remove("allowManagedPermissionRulesOnly").is_some_and(|only| only == true)
    {
        refused.push("allowManagedPermissionRulesOnly counts in managed settings only: remove it here".to_owned());
    }
    if of_folder || !content.private {
        refused.extend(without_secrets(&mut values, of_folder));
    }
    refused.extend(with_whole_paths(&mut values, place, home));
    errors.extend(refused.into_iter().map(|why| error(&shown, why)));
    Layer { source: place.source.clone(), shown, values }
}

/// Takes out what a person says for all folders or not at all.
fn without_own_loosening(values: &mut Map<String, Value>) -> Vec<String> {
    let mut refused = Vec::new();
    let Some(Value::Object(permissions)) = values.get_mut("permissions") else { return refused };
    for mode in ["auto", "bypassPermissions"] {
        if permissions.get("defaultMode") == Some(&json!(mode)) {
            permissions.remove("defaultMode");
            refused.push(format!(
                "permissions.defaultMode: the files of a folder can't choose {mode}; write it into your own settings"
            ));
        }
    }
    if permissions.remove("bypassProtectedPaths").is_some_and(|value| value == true) {
        refused.push(
            "permissions.bypassProtectedPaths: the files of a folder can't set it; write it into your own settings"
                .to_owned(),
        );
    }
    refused
}

/// Makes the folders of a layer absolute: `~/` is home, and what is relative starts from the folder that the file is of.
fn with_whole_paths(values: &mut Map<String, Value>, place: &Place, home: &Path) -> Vec<String> {
    let list = values.get_mut("permissions").and_then(|permissions| permissions.get_mut("additionalDirectories"));
    let Some(Value::Array(folders)) = list else { return Vec::new() };
    let of_no_folder = matches!(place.source.kind, SourceKind::User | SourceKind::Managed);
    let mut refused = Vec::new();
    folders.retain_mut(|folder| {
        let Some(path) = folder.as_str().map(PathBuf::from) else { return false };
        let whole = match path.strip_prefix("~") {
            Ok(rest) => home.join(rest),
            Err(_) if path.is_relative() && of_no_folder => {
                refused
                    .push(format!("permissions.additionalDirectories: {path:?} is not absolute: give the whole path"));
                return false;
            }
            Err(_) => place.source.base.join(path),
        };
        *folder = Value::from(whole.display().to_string());
        true
    });
    refused
}

/// Takes out headers that are secrets.
fn without_secrets(values: &mut Map<String, Value>, of_folder: bool) -> Vec<String> {
    let mut refused = Vec::new();
    let Some(Value::Object(providers)) = values.get_mut("providers") else { return refused };
    let remedy = if of_folder {
        "write it into your own settings, in a file of mode 0600"
    } else {
        "make the file your own with mode 0600 (chmod 600), and pass no secret on the command line"
    };
    for (name, provider) in providers {
        let Some(Value::Object(headers)) = provider.get_mut("headers") else { continue };
        let secret: Vec<String> = headers.keys().filter(|header| is_secret(header)).cloned().collect();
        for header in secret {
            headers.remove(&header);
            refused.push(format!("providers.{name}.headers.{header}: a secret is not taken from here; {remedy}"));
        }
    }
    refused
}

/// Whether a header of that name lets somebody in.
pub(super) fn is_secret(header: &str) -> bool {
    const PARTS: [&str; 7] = ["auth", "key", "token", "secret", "cookie", "password", "credential"];
    let header = header.to_ascii_lowercase();
    PARTS.iter().any(|part| header.contains(part))
}
