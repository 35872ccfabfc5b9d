//! Text output of events, for people. Called by the commands that show a session; every text of a model
//! or tool passes `escape` on its way.

pub mod diff;
pub mod escape;
pub mod exact;
pub mod flow;
pub mod fold;
pub mod markdown;
pub mod plan;
pub mod reading_order;
pub mod replaced;
pub mod request;
pub mod screen;
pub mod style;
pub mod tool;
pub mod trace;
pub mod transcript;

pub use screen::Screen;
pub use transcript::{Detail, Transcript};
