//! agentd, the daemon that hosts coding-agent sessions. The modules, in the order in which a reader
//! (and a prompt) meets them; a lower layer never names a higher one, and a test holds that.
//!
//! L0 [`base`] small things without agentd's nouns ·
//! L1 pure decisions: [`event`], [`turn`], [`shell`], [`policy`], [`prompt`] ·
//! L2 doors to the world: [`store`], [`process`], [`config`], [`model`], [`tools`] ·
//! L3 [`session`] the actor · L4 [`hub`] all sessions and who listens ·
//! L5 [`server`] the socket · L6 [`daemon`] start, signals, stop.

pub mod base;
pub mod config;
pub mod daemon;
pub mod event;
pub mod hub;
pub mod model;
pub mod policy;
pub mod process;
pub mod prompt;
pub mod server;
pub mod session;
pub mod shell;
pub mod store;
pub mod tools;
pub mod turn;
