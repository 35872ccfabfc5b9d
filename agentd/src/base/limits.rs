//! Limits that are not settings, each with its reason or source.

/// A request frame (PROTOCOL.md §1).
pub const MAX_FRAME_BYTES: usize = 64 << 20;
/// Nesting of a request's JSON (PROTOCOL.md §1).
pub const MAX_JSON_DEPTH: usize = 128;
/// What one connection may have waiting to be written (PROTOCOL.md §4).
pub const CONNECTION_QUEUE_BYTES: usize = 8 << 20;
/// Requests of one connection that may run at once; further ones wait unread.
pub const MAX_REQUESTS_IN_FLIGHT: usize = 128;
/// Open connections; beyond it new ones are answered with "limit reached" and closed.
pub const MAX_CONNECTIONS: usize = 1024;
/// How much of a running tool's output a client that attaches gets (PROTOCOL.md §3, `session/attach`).
pub const ATTACH_OUTPUT_TAIL_BYTES: usize = 64 << 10;
/// Characters of a tool result that go to the model; more goes to a file (row B09).
pub const MAX_RESULT_CHARS: usize = 30_000;
/// Characters of a persisted result that the model sees (row G02).
pub const PREVIEW_CHARS: usize = 1_000;
/// Characters of a failed call's large result that the model sees, from both ends (contradiction C17).
pub const FAILURE_CHARS: usize = 10_000;
/// A picture of a tool result. What the Messages API takes of one.
pub const MAX_IMAGE_BYTES: usize = 5 << 20;
