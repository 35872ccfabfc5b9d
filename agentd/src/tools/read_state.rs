//! What a session has read of which file.

/// What was read, by path.
#[derive(Debug, Default)]
pub struct ReadState {}
