//! L4: all sessions, and who listens to them. Called by `server`'s methods.

#[cfg(test)]
mod deferral_tests;
mod fanout;
#[cfg(test)]
mod fanout_tests;
mod fork;
mod handle;
mod live;
mod pending;
mod registry;
mod settings;
mod subscription;
mod wake;

pub use fanout::{BeyondEnd, Fanout};
pub use handle::SessionHandle;
pub use registry::Hub;
pub use subscription::{Delivery, Subscription};
