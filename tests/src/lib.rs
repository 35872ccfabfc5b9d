//! The test kit: a scripted model over real HTTP, the real daemon in a home of its own, a raw client
//! of the socket, and agentctl with or without a terminal. Used by the end-to-end tests only; nothing
//! of the product depends on it. Its calls block and panic, since a test is a plain function.
//!
//! Nothing here sleeps to wait: each wait is for an event, and [`PATIENCE`] only bounds a failure.

// Test code starts processes, reads the clock for its bounds, and says so on the terminal.
#![allow(clippy::disallowed_methods)]

mod agentctl;
mod client;
mod daemon;
mod event;
mod home;
mod leaks;
pub mod model;
mod programs;
mod pty;
pub mod shell;

pub use agentctl::{Agentctl, Output};
pub use client::{Call, Client, RpcErrorView};
pub use daemon::{Daemon, DaemonBuilder};
pub use event::{Event, assert_order, delta_text, outline};
pub use home::Home;
pub use model::{ModelServer, Reply};
pub use programs::{binary, fake_program};
pub use pty::Pty;

use std::time::Duration;

/// How long any wait may take before the test fails. Generous, since only failures use it up.
pub const PATIENCE: Duration = Duration::from_secs(30);
