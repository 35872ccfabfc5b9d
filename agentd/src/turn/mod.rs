//! L1: the turn machine and the tool scheduler. Values in, effects out: no socket, clock, file or task.
//! Driven by the session actor, which appends, announces and does what the effects say.

pub mod abort;
pub mod effect;
pub mod machine;
pub mod message;
pub mod model_event;
pub mod retry;
pub mod schedule;

#[cfg(test)]
mod tests;

pub use effect::{CallTraits, CancelKind, Effect, Input, StopVerdict, ToolOutcome};
pub use machine::{Machine, NEVER_STARTED, ToolTraits, TurnSettings, is_abort};
pub use schedule::Cascade;
