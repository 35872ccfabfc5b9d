//! The real agentd on a real socket, by raw bytes: framing, errors, HTTP, who may listen, start and stop.
//! Sessions and turns are the subject of the end-to-end tests.

// The helpers are test code too, which clippy's own exception for tests does not see.
#![allow(clippy::unwrap_used, clippy::expect_used, clippy::panic, clippy::indexing_slicing, clippy::print_stdout)]

mod daemon;
mod frames;
mod http;
mod life;
mod listening;
mod sessions;
