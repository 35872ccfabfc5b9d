//! L4: all sessions, and who listens to them. Called by `server`'s methods.
