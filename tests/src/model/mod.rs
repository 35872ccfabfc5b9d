//! The gated model server: real HTTP/1.1 and real SSE on a loopback port, scripted by the test. Each
//! chunk of a reply is sent at once until a gate, which holds the stream until the test opens it; so
//! overlap and races are proved by order, not by time. Every request is checked strictly.

mod check;
mod gate;
mod reply;
mod request;
mod server;
mod wire;

pub use reply::Reply;
pub use request::Request;
pub use server::ModelServer;
