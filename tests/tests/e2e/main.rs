//! End to end: the real daemon, a real socket, real processes, a scripted model over real HTTP. One
//! file a feature. Whatever can be proved closer to the code is proved there.

// Test code starts processes and threads of its own.
#![allow(clippy::disallowed_methods)]

mod agentctl;
mod asking;
mod attach;
mod auto;
mod bad_input;
mod busy;
mod cancel;
mod crash;
mod demo;
mod export;
mod fallback;
mod fifo;
mod fork;
mod framing;
mod full_disk;
mod hostile;
mod models;
mod peers;
mod permission;
mod pipeline;
mod plan;
mod protocol;
mod questions;
mod race;
mod replay;
mod requests;
mod resume;
mod rewind;
mod secrets;
mod sessions;
mod settings;
mod shell;
mod shell_corpus;
mod streaming_tools;
mod structured_output;
mod tools;
mod turn;
