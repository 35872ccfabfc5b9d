//! How a command fails: an exit code and one sentence. Every module returns it; `main` prints it.
//! It carries no backtrace and no chain.

use crate::connect::CallError;
use std::io;

/// The exit codes of PROTOCOL.md §7.
pub mod code {
    /// Something went wrong.
    pub const ERROR: u8 = 1;
    /// The command line was wrong.
    pub const USAGE: u8 = 2;
    /// The turn ended well, but something was denied.
    pub const DENIED: u8 = 3;
    /// The turn reached its limit of tool rounds.
    pub const MAX_TURNS: u8 = 4;
    /// `explain`: a person would be asked.
    pub const WOULD_ASK: u8 = 5;
    /// The time given was over.
    pub const TIMED_OUT: u8 = 124;
    /// The turn was cancelled.
    pub const CANCELLED: u8 = 130;
    /// The reader of our output went away, as a shell reports SIGPIPE.
    pub const BROKEN_PIPE: u8 = 141;
}

/// What a command comes to: its exit code, or a failure to tell.
pub type Outcome = Result<u8, Failure>;

/// A failure with its exit code. An empty message is not printed.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("{message}")]
pub struct Failure {
    /// The exit code.
    pub code: u8,
    /// One sentence that names the thing and the remedy.
    pub message: String,
}

impl Failure {
    /// An ordinary failure.
    pub fn new(message: impl Into<String>) -> Self {
        Self { code: code::ERROR, message: message.into() }
    }

    /// A command line that cannot be meant.
    pub fn usage(message: impl Into<String>) -> Self {
        Self { code: code::USAGE, message: message.into() }
    }

    /// Nothing to say, as what is to say has been said.
    pub fn silent(code: u8) -> Self {
        Self { code, message: String::new() }
    }
}

/// Output that can't be written. `head` that has seen enough is no news to anybody.
impl From<io::Error> for Failure {
    fn from(error: io::Error) -> Self {
        if error.kind() == io::ErrorKind::BrokenPipe {
            Self::silent(code::BROKEN_PIPE)
        } else {
            Self::new(format!("cannot write the output: {error}"))
        }
    }
}

impl From<CallError> for Failure {
    fn from(error: CallError) -> Self {
        Self::new(error.to_string())
    }
}
