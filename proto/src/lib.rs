//! The wire protocol of agentd: every method, event and error as a Rust type, the frame codec and the
//! typed client. Used by agentd, agentctl and the tests. It holds no logic of sessions and does no I/O.
//!
//! This crate is the glossary: one word per concept.
//! *Session* — a conversation with its folder and its log. *Turn* — from a prompt to the end of the
//! agent's work on it. *Message* — one answer of the model, made of *blocks*. *Tool call* and *tool
//! result* — what the model asks for and what it is told. *Permission* — whether a call may run.
//! *Event* — one thing that happened, *durable* (numbered, in the log) or *ephemeral*.

pub mod client;
pub mod content;
pub mod error;
pub mod event;
pub mod frame;
pub mod ids;
pub mod methods;
pub mod permission;
pub mod places;
pub mod schema;
pub mod session;
pub mod task;

pub use error::{ErrorKind, RpcError};
