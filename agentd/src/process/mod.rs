//! L2: processes of tools: start, output files, kill, reap. Called by `tools`; knows nothing of them.

/// The processes that this daemon has started for tools. One value for the whole daemon.
#[derive(Debug, Default)]
pub struct Processes {}
