//! L2: the tools, one file each, behind one trait. Called by the session's pipeline; they ask nobody
//! for permission and know nothing of sessions.

mod bash;
mod bash_cwd;
mod bash_exit;
mod bash_forms;
mod bash_found;
mod bash_git;
mod bash_globs;
mod bash_lines;
mod bash_named;
mod bash_names;
mod bash_path;
mod bash_placed;
mod bash_sed;
mod binary_kind;
mod checkpoint;
mod definition;
mod diff;
mod edit;
mod edit_text;
mod exit_plan_mode;
mod gated;
mod git_index;
mod glob;
mod grep;
mod input;
mod large_result;
mod mcp_name;
mod output_schema;
mod paths;
mod picture;
mod read;
mod read_log;
mod read_state;
mod registry;
mod restore;
mod schema_check;
mod search_walk;
mod secrets;
#[cfg(feature = "sleep")]
mod sleep;
mod structured_output;
mod text_file;
mod tool;
mod tool_search;
mod write;
mod zones;

pub use definition::Definition;
pub use exit_plan_mode::ExitPlanMode;
pub use large_result::{Fitted, Part, put_away, shorten};
pub use mcp_name::{mcp_name, split_mcp_name};
pub use paths::places;
pub use read_state::{FileState, ReadState};
pub use registry::{Permitted, Registered, Registry};
pub use restore::{Restored, restore};
pub use structured_output::StructuredOutput;
pub use tool::{
    FileChange, Hidden, Progress, PromptOptions, Simulated, Tool, ToolContext, ToolOutput, ToolVerdict, own_check,
};
pub use tool_search::{TOOL_SEARCH, ToolSearch};

#[cfg(test)]
pub(crate) mod testing;
