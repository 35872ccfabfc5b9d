//! L2: the tools, one file each, behind one trait. Called by the session's executor; they ask nobody
//! for permission and know nothing of sessions.

mod bash;
mod bash_exit;
mod bash_git;
mod bash_readonly;
mod bash_rule;
mod diff;
mod edit;
mod edit_text;
mod glob;
mod grep;
mod input;
mod json_schema;
mod large_result;
mod matching;
mod paths;
mod read;
mod read_state;
mod registry;
mod search_walk;
mod text_file;
mod tool;
mod write;

pub use read_state::{FileState, ReadState};
pub use registry::{Definition, Registry};
pub use tool::{FileChange, PermissionMatcher, Progress, PromptOptions, Tool, ToolContext, ToolOutput, ToolVerdict};

#[cfg(test)]
mod testing;
