//! The error codes and their stable kinds. Used by every method; a client branches on `data.kind`.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use serde_json::{Map, Value};

macro_rules! kinds {
    ($($(#[$doc:meta])* $variant:ident = $code:literal, $kind:literal;)*) => {
        /// What went wrong, as a stable word with a code.
        #[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
        pub enum ErrorKind {
            $($(#[$doc])* $variant,)*
        }

        impl ErrorKind {
            /// Every kind.
            pub const ALL: &[Self] = &[$(Self::$variant),*];

            /// The JSON-RPC code.
            #[must_use]
            pub fn code(self) -> i32 {
                match self { $(Self::$variant => $code,)* }
            }

            /// The stable word in `data.kind`.
            #[must_use]
            pub fn word(self) -> &'static str {
                match self { $(Self::$variant => $kind,)* }
            }
        }
    };
}

kinds! {
    /// The frame is not JSON.
    ParseError = -32700, "parseError";
    /// The JSON is not a request, or is too large or too deep.
    InvalidRequest = -32600, "invalidRequest";
    /// No such method, or one that this version does not support yet.
    MethodNotFound = -32601, "methodNotFound";
    /// A field is missing, unknown or of a wrong type.
    InvalidParams = -32602, "invalidParams";
    /// A fault of agentd itself.
    Internal = -32603, "internal";
    /// No such session.
    SessionNotFound = -32001, "sessionNotFound";
    /// No such turn.
    TurnNotFound = -32002, "turnNotFound";
    /// A turn runs, and the prompt was not to wait.
    SessionBusy = -32003, "sessionBusy";
    /// agentd is about to stop.
    ShuttingDown = -32004, "shuttingDown";
    /// A path is not absolute, not a directory, or not allowed.
    InvalidPath = -32005, "invalidPath";
    /// The model is not configured, or not known.
    ModelUnavailable = -32006, "modelUnavailable";
    /// A limit is reached.
    LimitReached = -32007, "limitReached";
    /// The session has no interrupted turn, or is closed.
    NotResumable = -32008, "notResumable";
    /// The protocol version is not spoken here.
    UnsupportedVersion = -32009, "unsupportedVersion";
    /// Another client answered first.
    AlreadyResolved = -32010, "alreadyResolved";
    /// No such request.
    RequestNotFound = -32011, "requestNotFound";
    /// No such task.
    TaskNotFound = -32012, "taskNotFound";
    /// A tool asks for what only people may do.
    NotAllowed = -32013, "notAllowed";
    /// The disk is full, read-only or broken: nothing was accepted.
    StorageFailed = -32020, "storageFailed";
}

/// An error answer.
#[derive(Debug, Clone, PartialEq, thiserror::Error)]
#[error("{message}")]
pub struct RpcError {
    /// What went wrong.
    pub kind: ErrorKind,
    /// One sentence that says what to do.
    pub message: String,
    /// Further fields of `data`.
    pub data: Map<String, Value>,
}

impl RpcError {
    /// An error without further data.
    pub fn new(kind: ErrorKind, message: impl Into<String>) -> Self {
        Self { kind, message: message.into(), data: Map::new() }
    }

    /// Adds a field to `data`.
    #[must_use]
    pub fn with(mut self, field: &str, value: impl Into<Value>) -> Self {
        self.data.insert(field.to_owned(), value.into());
        self
    }

    /// The `error` member of the answer.
    #[must_use]
    pub fn to_body(&self) -> ErrorBody {
        let mut data = Map::new();
        data.insert("kind".to_owned(), Value::from(self.kind.word()));
        data.extend(self.data.clone());
        ErrorBody { code: self.kind.code(), message: self.message.clone(), data: Some(Value::Object(data)) }
    }
}

/// The `error` member of an answer, as it stands on the wire.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct ErrorBody {
    /// The JSON-RPC code.
    pub code: i32,
    /// One sentence that says what to do.
    pub message: String,
    /// `{kind, …}`.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub data: Option<Value>,
}
