//! Opaque identifiers. Used by every shape on the wire; never parsed by a client.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use std::fmt;

macro_rules! id {
    ($(#[$doc:meta] $name:ident),* $(,)?) => {$(
        #[$doc]
        #[derive(Debug, Clone, PartialEq, Eq, Hash, PartialOrd, Ord, Serialize, Deserialize, JsonSchema)]
        #[serde(transparent)]
        pub struct $name(pub String);

        impl $name {
            /// The text of the identifier.
            #[must_use]
            pub fn as_str(&self) -> &str {
                &self.0
            }
        }

        impl fmt::Display for $name {
            fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                f.write_str(&self.0)
            }
        }

        impl From<&str> for $name {
            fn from(text: &str) -> Self {
                Self(text.to_owned())
            }
        }

        impl From<String> for $name {
            fn from(text: String) -> Self {
                Self(text)
            }
        }
    )*};
}

id! {
    /// One session: a conversation with its folder, its log and its settings.
    SessionId,
    /// One turn: from a prompt to the end of the agent's work on it.
    TurnId,
    /// One message of the model.
    MessageId,
    /// One tool call. It is the id that the model gave, so that a log can be matched with a provider's records.
    ToolCallId,
    /// One open permission request or question.
    RequestId,
    /// One background task.
    TaskId,
}

/// A moment: RFC 3339 in UTC with milliseconds, such as `2026-11-30T09:41:07.250Z`.
pub type Timestamp = String;
