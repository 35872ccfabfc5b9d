//! What a model says, in one form for every wire format. Made by `model`, consumed by the turn machine.

use proto::content::MessageBlock;
use proto::event::DeltaKind;
use proto::session::{Cost, Usage};

/// One step of a model's answer.
#[derive(Debug, Clone, PartialEq)]
pub enum ModelEvent {
    /// A block begins.
    BlockStarted {
        /// Its place in the message, counted from 0; blocks may interleave.
        index: usize,
        /// What it will be.
        kind: BlockKind,
    },
    /// A further part of a block.
    Delta {
        /// The block.
        index: usize,
        /// What the part is of.
        kind: DeltaKind,
        /// The part.
        text: String,
    },
    /// A block is complete; a tool use in it may run now.
    BlockDone {
        /// The block.
        index: usize,
        /// The whole block. A tool use whose JSON could not be parsed has the raw text as its input.
        block: MessageBlock,
    },
    /// Tokens of this call so far (absolute, not a difference).
    Usage(Usage),
    /// What this call costs so far (absolute, not a difference), where prices are known.
    Cost(Cost),
    /// The answer is complete. Always the last event of a good stream.
    Stopped {
        /// `end_turn`, `tool_use`, `max_tokens`, `stop_sequence`, `pause_turn`, `refusal`, … in the words of the Messages API.
        reason: String,
    },
    /// The answer failed. Always the last event of a bad stream.
    Fault(Fault),
}

/// What a block will be.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum BlockKind {
    /// Text.
    Text,
    /// Thinking.
    Thinking,
    /// A tool use.
    ToolUse {
        /// The call's id.
        id: String,
        /// The tool's name.
        name: String,
    },
    /// Anything else.
    Other,
}

/// Why a model's answer failed, by what can be done about it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Fault {
    /// What can be done.
    pub kind: FaultKind,
    /// One sentence for people that names the thing and the remedy. Never holds a key.
    pub message: String,
}

/// What can be done about a fault.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum FaultKind {
    /// 401, 402, 403: the key or the account is refused. No retry.
    Authentication,
    /// 404: no such model or address. No retry.
    NotFound,
    /// 400, 413, 422: the request is refused. No retry.
    InvalidRequest,
    /// The prompt does not fit the context window.
    PromptTooLong,
    /// 429. A retry after the given time; none without one, since no waiting helps then: a spend cap.
    RateLimited {
        /// Milliseconds to wait.
        retry_after_ms: Option<u64>,
    },
    /// 408, 409, 5xx, 529: a retry may help.
    Overloaded {
        /// Milliseconds to wait, where the server says so.
        retry_after_ms: Option<u64>,
    },
    /// The host can't be reached: a retry may help.
    Unreachable,
    /// The stream broke off or fell silent before its end: a retry may help.
    Truncated,
    /// The stream is not what the wire format says. No retry.
    Malformed,
}

impl FaultKind {
    /// Whether it may be over soon, or at another server: another model may be asked then.
    #[must_use]
    pub fn is_passing(self) -> bool {
        match self {
            Self::RateLimited { .. } | Self::Overloaded { .. } | Self::Unreachable | Self::Truncated => true,
            Self::Authentication | Self::NotFound | Self::InvalidRequest | Self::PromptTooLong | Self::Malformed => {
                false
            }
        }
    }

    /// The stable word in `turn.ended`'s `error.kind`.
    #[must_use]
    pub fn word(self) -> &'static str {
        match self {
            Self::Authentication => "authentication",
            Self::NotFound => "modelNotFound",
            Self::InvalidRequest => "invalidRequest",
            Self::PromptTooLong => "promptTooLong",
            Self::RateLimited { .. } => "rateLimited",
            Self::Overloaded { .. } => "overloaded",
            Self::Unreachable => "unreachable",
            Self::Truncated => "truncated",
            Self::Malformed => "malformed",
        }
    }
}
