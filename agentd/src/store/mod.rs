//! L2: the journal, the truth of a session. Called by `session` (append) and `hub` (read); knows
//! nothing of who listens.
