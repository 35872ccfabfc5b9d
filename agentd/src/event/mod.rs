//! L1: the durable events as bytes, and the fold of a log into what the model and the lists need.
//! Pure: no clock, no file. Called by `store`, `session` and `hub`.

pub mod changes;
mod context;
mod entry;
mod marks;
mod messages;
pub mod record;
pub mod state;
pub mod transcript;

pub use context::ContextChange;
pub use entry::{Encoding, Entry};
pub use marks::TurnMark;
pub use messages::{Joined, Messages, Reader};
pub use record::Record;
pub use state::SessionState;
pub use transcript::{Message, Transcript, UserBlock};

/// The tool with which the model gives a turn's answer as data.
pub const OUTPUT_TOOL: &str = "StructuredOutput";
