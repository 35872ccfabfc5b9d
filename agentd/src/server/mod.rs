//! L5: the socket: listen, peer check, framing, connections, dispatch; one file per method.
//!
//! A request's way: [`listen`] and `accept` (a peer connects) → `connection` (bytes to frames) or `http` →
//! `request` (a frame to a request) → `calls` (when it starts) → `dispatch` → `methods/…` → the hub; its answer
//! goes through the `outbox`. Events come the other way: the hub → `forward` → `outbox`.
//! Nothing here decides anything about a session, and no session ever waits for a connection.

mod accept;
mod calls;
mod connection;
mod control;
mod dispatch;
mod folder;
mod forward;
mod guard;
mod http;
mod listen;
mod methods;
mod outbox;
mod peer;
mod request;

pub use accept::Server;
pub use control::{Control, Facts};
pub use listen::{ListenError, Listening};
pub use peer::Origin;
