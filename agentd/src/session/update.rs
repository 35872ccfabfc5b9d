//! `session/update`: what a client may change of a session. Part of the actor.

use super::actor::Actor;
use super::log::Room;
use super::turns::storage_failed;
use crate::config::Settings;
use proto::event::Event;
use proto::methods::SessionUpdateParams;
use proto::session::{Mode, SessionInfo};
use proto::{ErrorKind, RpcError};
use serde_json::{Map, Value};

impl Actor {
    pub(super) fn update(&mut self, params: SessionUpdateParams) -> Result<SessionInfo, RpcError> {
        self.check_open()?;
        if let Some(model) = &params.model {
            self.resolve_model(model).map_err(|message| RpcError::new(ErrorKind::ModelUnavailable, message))?;
        }
        if let Some(mode) = params.mode {
            check_mode(mode, &self.services.settings_for(&self.log.state().info.cwd))?;
        }
        if let Some(dirs) = &params.additional_directories {
            dirs.iter().try_for_each(|dir| crate::base::paths::check_directory(dir))?;
        }
        let from = self.log.state().info.model.clone();
        let mut changed = Map::new();
        let mut set = |field: &str, value: Option<Value>| {
            if let Some(value) = value {
                changed.insert(field.to_owned(), value);
            }
        };
        set("title", params.title.map(Value::from));
        set("model", params.model.clone().map(Value::from));
        set("mode", params.mode.map(|mode| Value::from(mode.name())));
        set("additionalDirectories", params.additional_directories.map(Value::from));
        set("metadata", params.metadata.map(Value::Object));
        if !changed.is_empty() {
            self.log.append(&Event::SessionUpdated { changed }, Room::Normal).map_err(storage_failed)?;
        }
        if let Some(to) = params.model.filter(|to| *to != from) {
            self.append_or_log(&Event::ModelSwitched { from, to, reason: "session/update".to_owned() });
        }
        Ok(self.log.state().info.clone())
    }
}

/// Why mode `auto` can't be had.
pub(super) const NO_CLASSIFIER: &str =
    "auto needs a model that judges calls: name one in the setting smallModel, or use acceptEdits or default";

/// Modes that this version has, and the settings do not switch off.
///
/// # Errors
/// `InvalidParams` naming the mode.
pub fn check_mode(mode: Mode, settings: &Settings) -> Result<(), RpcError> {
    if let Some(message) = settings.permissions.refusal(mode) {
        return Err(RpcError::new(ErrorKind::InvalidParams, message));
    }
    if mode == Mode::Auto && settings.small_model.is_none() {
        return Err(RpcError::new(ErrorKind::InvalidParams, format!("mode: {NO_CLASSIFIER}")));
    }
    Ok(())
}
