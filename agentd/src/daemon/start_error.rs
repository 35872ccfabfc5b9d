//! Why agentd did not start, as one sentence with the remedy and an exit code. Made by all of `daemon`,
//! printed by `run`.

use crate::server::ListenError;
use crate::store::StoreError;
use std::io;

/// A failed start.
#[derive(Debug, thiserror::Error)]
pub enum StartError {
    /// The command line has a value that can't be used.
    #[error("{0}")]
    Usage(String),
    /// The socket.
    #[error(transparent)]
    Listen(#[from] ListenError),
    /// The state folder.
    #[error(transparent)]
    Store(#[from] StoreError),
    /// The system refused something that agentd can't do without.
    #[error("{what} failed: {source}; check the limits of this user and start agentd again")]
    System {
        /// What was tried.
        what: &'static str,
        /// What the system said.
        source: io::Error,
    },
    /// A mistake of agentd itself.
    #[error("agentd is built wrong: {0}; please report it")]
    Internal(String),
}

impl StartError {
    /// The exit code: 1, but 2 for wrong usage and 3 if another agentd serves the socket. With 3, a client
    /// that wanted a daemon has one.
    pub fn exit_code(&self) -> u8 {
        match self {
            Self::Usage(_) => 2,
            Self::Listen(ListenError::AlreadyServed(_)) => 3,
            Self::Listen(ListenError::Refused(_)) | Self::Store(_) | Self::System { .. } | Self::Internal(_) => 1,
        }
    }

    /// For a call to the system that failed.
    pub fn system(what: &'static str) -> impl FnOnce(io::Error) -> Self {
        move |source| Self::System { what, source }
    }
}
