//! The keys of providers: from a variable, a file, a systemd credential, or a command that prints one. Used by
//! `providers`. Reads files, and nothing else; the command is run by `helper` when a request needs it.

use super::catalog::ModelUnavailable;
use super::endpoint::{Key, Scheme, Secret};
use super::helper::Helper;
use super::providers::{Builtin, Variables};
use crate::base::environment::Environment;
use crate::base::files;
use crate::base::paths;
use crate::config::{ProviderSettings, Settings};
use std::path::{Component, Path, PathBuf};

/// No key is longer.
const KEY_FILE_BYTES: u64 = 64 << 10;

/// How a provider is let in.
pub(super) enum Access {
    /// By nothing, or by headers.
    Open,
    /// By a key that is known.
    Key(Key),
    /// By a key that a command prints.
    Helper(Helper),
}

/// What the settings, else the environments, have for a provider.
///
/// # Errors
/// If a key is needed or named, and can't be had.
pub(super) fn access(
    provider: &str,
    settings: &Settings,
    builtin: Option<&Builtin>,
    variables: Variables<'_>,
) -> Result<Access, ModelUnavailable> {
    let none = ProviderSettings::default();
    let own = settings.providers.get(provider).unwrap_or(&none);
    let found = |value: &str, source: &str, scheme| {
        Access::Key(Key { value: Secret::new(value), source: source.to_owned(), scheme })
    };
    if let Some(name) = &own.api_key_env {
        let value = variables.get(name).ok_or_else(|| missing(provider, name))?;
        return Ok(found(value, name, Scheme::ApiKey));
    }
    if let Some(file) = &own.api_key_file {
        let file = at_home(file, variables.own);
        let value = private_key(provider, &file)?;
        return Ok(found(&value, &file.display().to_string(), Scheme::ApiKey));
    }
    if let Some(name) = &own.api_key_credential {
        let file = credential(provider, name, variables.own)?;
        return Ok(found(&key_in(provider, &file)?, &format!("the credential {name}"), Scheme::ApiKey));
    }
    if let Some(command) = &own.api_key_helper {
        return Ok(Access::Helper(Helper::new(command, Scheme::ApiKey)));
    }
    let Some(builtin) = builtin.filter(|builtin| !builtin.key_env.is_empty()) else { return Ok(Access::Open) };
    // What the session says goes before anything of agentd's own.
    for environment in [variables.session, variables.own] {
        for (name, scheme) in builtin.key_env {
            if let Some(value) = environment.get(name) {
                return Ok(found(value, name, *scheme));
            }
        }
    }
    if let Some(command) = settings.api_key_helper.as_ref().filter(|_| builtin.name == "anthropic") {
        return Ok(Access::Helper(Helper::new(command, Scheme::ApiKey)));
    }
    // A provider that was pointed elsewhere, with headers of its own, is let in by those.
    if own.base_url.is_some() {
        return Ok(Access::Open);
    }
    Err(missing(provider, builtin.key_env.first().map_or("its variable", |(name, _)| *name)))
}

fn missing(provider: &str, variable: &str) -> ModelUnavailable {
    ModelUnavailable::new(format!(
        "{provider} needs a key, and {variable} is not set: set it, or choose another model with --model"
    ))
}

fn at_home(file: &Path, env: &Environment) -> PathBuf {
    match file.strip_prefix("~") {
        Ok(rest) => paths::home(env).join(rest),
        Err(_) => file.to_owned(),
    }
}

/// The file of a credential that systemd has set down for agentd.
fn credential(provider: &str, name: &str, own: &Environment) -> Result<PathBuf, ModelUnavailable> {
    let refused =
        |why: &str| Err(ModelUnavailable::new(format!("the credential {name:?} of {provider} can't be used: {why}")));
    if !matches!(Path::new(name).components().collect::<Vec<_>>()[..], [Component::Normal(part)] if part == name) {
        return refused("it must be the name of a credential, without a slash");
    }
    match own.get("CREDENTIALS_DIRECTORY") {
        Some(folder) => Ok(Path::new(folder).join(name)),
        None => refused("agentd was started without credentials; add LoadCredential= to its systemd unit"),
    }
}

/// The key in a file that is the user's own and closed to others.
fn private_key(provider: &str, file: &Path) -> Result<String, ModelUnavailable> {
    if std::fs::metadata(file).is_ok_and(|found| found.is_file() && !files::is_private(&found)) {
        let shown = file.display();
        return Err(ModelUnavailable::new(format!(
            "the key file {shown} of {provider} is open to others and so is not used: make it your own and run chmod 600 {shown}"
        )));
    }
    key_in(provider, file)
}

fn key_in(provider: &str, file: &Path) -> Result<String, ModelUnavailable> {
    let shown = file.display();
    let text = files::read_text(file, KEY_FILE_BYTES).map_err(|error| {
        ModelUnavailable::new(format!(
            "the key of {provider} can't be read from {shown} ({error}): correct the file or its name in the settings"
        ))
    })?;
    let key = text.trim();
    if key.is_empty() {
        return Err(ModelUnavailable::new(format!(
            "the key file {shown} of {provider} is empty: write the key into it"
        )));
    }
    Ok(key.to_owned())
}
