//! L1: permission as a pure function. Called by the session's executor.
