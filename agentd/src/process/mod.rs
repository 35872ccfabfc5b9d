//! L2: processes of tools: start, output files, kill, reap. Called by `tools`; knows nothing of them.
//!
//! Between fork and exec no code of agentd runs: a child is made by `posix_spawn` of agentd's own
//! program as `agentd __exec …`, which becomes the leader of a session of its own, drops what it inherited and then
//! becomes the shell. Output goes to a file, not to a pipe, so a child that keeps it open holds nobody up.

mod environment;
mod exec_helper;
mod follow;
mod orphans;
mod output_file;
mod registry;
mod spawn;
mod table;
mod tail;
mod tree;

pub use environment::{for_tools, tag_text};
pub use exec_helper::run_if_asked;
pub use follow::{End, Finished, Limits};
pub use output_file::create_output_file;
pub use registry::Processes;
pub use spawn::{CommandSpec, Running};
pub use tail::OutputPart;
