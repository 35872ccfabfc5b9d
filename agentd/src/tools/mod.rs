//! L2: the tools, one file each, behind one trait. Called by the session's executor; they ask nobody
//! for permission and know nothing of sessions.

mod read_state;
mod tool;

pub use read_state::ReadState;
pub use tool::{FileChange, Progress, Tool, ToolContext, ToolOutput, ToolVerdict};
