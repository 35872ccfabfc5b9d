//! L1: the turn machine and the tool scheduler. Values in, effects out: no socket, clock, file or task.
//! Driven by the session actor.

pub mod model_event;
