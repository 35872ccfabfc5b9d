//! L4: all sessions, and who listens to them. Called by `server`'s methods.

mod handle;
mod registry;
mod subscription;

pub use handle::SessionHandle;
pub use registry::Hub;
pub use subscription::{Delivery, Subscription};
