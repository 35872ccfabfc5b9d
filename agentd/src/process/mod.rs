//! L2: processes of tools: start, output files, kill, reap. Called by `tools`; knows nothing of them.
//!
//! Between fork and exec no code of agentd runs: a child is made by `posix_spawn` as the leader of a session of its
//! own, without what agentd inherited. A session that runs commands has its next shell started ahead. Output goes to a file, not to a pipe, so a child that keeps it open holds nobody up.

mod ahead;
mod child;
mod environment;
mod exec_helper;
mod follow;
mod helper;
mod launch;
mod origin;
mod orphans;
mod output_file;
mod own_folder;
mod registry;
mod shell_words;
mod spawn;
mod table;
mod tail;
mod tree;

pub use ahead::ShellSpec;
pub use environment::{for_tools, search_path, tag_text};
pub use exec_helper::run_if_asked;
pub use follow::{End, Finished, LastFolder, Limits};
pub use origin::{Origin, origin};
pub use output_file::{create_output_file, create_result_file};
pub use registry::Processes;
pub use spawn::{CommandSpec, Running};
pub use tail::OutputPart;
