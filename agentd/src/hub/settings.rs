//! Settings and trust through the hub: what a folder's are, and what changes for its sessions. Called by the methods
//! `config/*` and `trust/*`.

use super::Hub;
use super::handle::blocking;
use crate::base::paths;
use proto::methods::{ConfigGetParams, ConfigGetResult, ConfigSetParams, SettingsError, TrustResult, TrustSetParams};
use proto::permission::RuleScope;
use proto::{ErrorKind, RpcError};
use serde_json::Value;
use std::collections::BTreeSet;
use std::path::Path;
use std::sync::Arc;

impl Hub {
    /// `trust/get`.
    ///
    /// # Errors
    /// `InvalidPath`.
    pub async fn trust(&self, path: String) -> Result<TrustResult, RpcError> {
        paths::check_directory(&path)?;
        let services = Arc::clone(self.services());
        blocking(move || Ok(result(services.loader.trust(path.as_ref()), path))).await
    }

    /// `trust/set`. Every live session that it concerns says so before this returns.
    ///
    /// # Errors
    /// `InvalidPath`; `InvalidParams` if the folder can't be trusted or that can't be kept.
    pub async fn set_trust(&self, params: TrustSetParams) -> Result<TrustResult, RpcError> {
        let TrustSetParams { path, trusted } = params;
        paths::check_directory(&path)?;
        let services = Arc::clone(self.services());
        let set = blocking(move || {
            let trust = services.loader.set_trust(path.as_ref(), trusted).map_err(invalid)?;
            Ok(result(trust, path))
        })
        .await?;
        let awake = self.awake_all();
        futures::future::join_all(awake.iter().map(|handle| handle.look_at_trust())).await;
        Ok(set)
    }

    /// What is wrong with the files of settings: the user's, those of each folder that a live session works in, and
    /// those of one more folder.
    ///
    /// # Errors
    /// `InvalidPath`.
    pub async fn settings_errors(&self, more: Option<String>) -> Result<Vec<SettingsError>, RpcError> {
        more.iter().try_for_each(|cwd| paths::check_directory(cwd))?;
        let live = self.awake_all().into_iter().filter(|handle| !handle.is_gone()).map(|handle| handle.info().cwd);
        let folders: BTreeSet<String> = more.into_iter().chain(live).collect();
        let services = Arc::clone(self.services());
        blocking(move || {
            let mut errors = services.loader.load().errors.clone();
            for folder in folders {
                for error in &services.loader.load_for(folder.as_ref()).errors {
                    if !errors.contains(error) {
                        errors.push(error.clone());
                    }
                }
            }
            Ok(errors)
        })
        .await
    }

    /// `config/get`.
    ///
    /// # Errors
    /// `InvalidPath`; `InvalidParams` if there is no such setting.
    pub async fn config(&self, params: ConfigGetParams) -> Result<ConfigGetResult, RpcError> {
        params.cwd.iter().try_for_each(|cwd| paths::check_directory(cwd))?;
        let services = Arc::clone(self.services());
        blocking(move || {
            let found = services.loader.get(params.cwd.as_deref().map(Path::new), &params.key).map_err(invalid)?;
            let file = found.files.first().cloned();
            Ok(ConfigGetResult { value: found.value, file, files: found.files })
        })
        .await
    }

    /// `config/set`: the value and the file are those that were written, though a stronger file may say otherwise.
    ///
    /// # Errors
    /// `InvalidPath`; `InvalidParams` if it can't be set there.
    pub async fn set_config(&self, params: ConfigSetParams) -> Result<ConfigGetResult, RpcError> {
        params.cwd.iter().try_for_each(|cwd| paths::check_directory(cwd))?;
        let scope = match params.scope.as_str() {
            "user" => RuleScope::User,
            "project" => RuleScope::Project,
            "local" => RuleScope::Local,
            other => return Err(invalid(format!("scope: {other:?} is none: use user, project or local"))),
        };
        let services = Arc::clone(self.services());
        blocking(move || {
            let cwd = params.cwd.as_deref().map(Path::new);
            let files = match &params.value {
                Value::Null => services.loader.unset(scope, cwd, &params.key),
                value => services.loader.set(scope, cwd, &params.key, value).map(|file| vec![file]),
            };
            let files: Vec<String> = files.map_err(invalid)?.iter().map(|file| file.display().to_string()).collect();
            Ok(ConfigGetResult { value: params.value, file: files.first().cloned(), files })
        })
        .await
    }
}

fn result(trust: crate::config::Trust, path: String) -> TrustResult {
    TrustResult { path, trusted: trust.trusted, by: trust.by.map(|by| by.display().to_string()) }
}

fn invalid(message: String) -> RpcError {
    RpcError::new(ErrorKind::InvalidParams, message)
}
