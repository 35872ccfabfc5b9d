//! What a tool call changes for the calls after it. Given by `tools`, applied by the turn machine at the end of a
//! serial call or of a parallel batch, kept by `session`.

use proto::session::Mode;
use serde_json::{Map, Value};

/// A change of the session's context (row X16).
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct ContextChange {
    /// Where the session's shell stands from now on, absolute.
    pub shell_cwd: Option<String>,
    /// The session's mode from now on.
    pub mode: Option<Mode>,
}

impl ContextChange {
    /// The changed fields by the names of `SessionInfo`, for `session.updated`.
    #[must_use]
    pub fn into_fields(self) -> Map<String, Value> {
        let cwd = self.shell_cwd.map(|cwd| ("shellCwd".to_owned(), Value::String(cwd)));
        let mode = self.mode.map(|mode| ("mode".to_owned(), Value::from(mode.name())));
        cwd.into_iter().chain(mode).collect()
    }
}
