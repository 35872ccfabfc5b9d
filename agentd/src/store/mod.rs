//! L2: the journal, the truth of a session. Called by `session` (append) and `hub` (read); knows
//! nothing of who listens.

mod disk;
mod error;
#[cfg(test)]
mod fault;
mod journal;
mod lines;
mod reader;
mod share;
mod snapshot;
mod state_dir;
#[cfg(test)]
mod tests;

pub use error::StoreError;
pub use journal::Journal;
pub use reader::JournalReader;
pub use share::share_files;
pub use snapshot::SessionSnapshot;
pub use state_dir::{CHECKPOINTS_DIR, OUTPUTS_DIR, READS_FILE, StateDir, StateLock};
