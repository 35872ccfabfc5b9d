//! L2: models over HTTP, and the two that need no network. One file a wire format. Called by the
//! session actor; decides nothing about turns, retries or tools.

mod anthropic;
#[cfg(test)]
mod byte_stability;
mod call_ids;
mod catalog;
mod content;
mod cost;
#[cfg(test)]
mod cut_streams;
mod demo;
mod discover;
mod encoded;
mod endpoint;
mod fault;
mod helper;
mod http;
mod keys;
mod lines;
mod openai_chat;
mod openai_responses;
mod providers;
#[cfg(test)]
mod quirks;
mod record;
mod replay;
mod request;
#[cfg(test)]
pub(crate) mod test_server;
mod unavailable;

pub use catalog::{ModelUnavailable, Models};
pub use helper::RunHelper;
pub use record::recording;
pub use request::{ModelRequest, ToolDefinition, ToolFeatures};
pub use unavailable::unavailable;

use crate::turn::model_event::ModelEvent;
use futures::stream::Stream;
use std::pin::Pin;

/// A model's answer as it comes in. Ends after `Stopped` or `Fault`. Dropping it closes the connection.
pub type ModelStream = Pin<Box<dyn Stream<Item = ModelEvent> + Send>>;

/// A model that can be asked.
pub trait Model: Send + Sync {
    /// Asks the model. Every failure, also of the connection, comes as `ModelEvent::Fault`.
    fn stream(&self, request: ModelRequest) -> ModelStream;

    /// Its name as `provider/model`.
    fn id(&self) -> &str;

    /// Its context window in tokens; 0 where it is not known.
    fn context_window(&self) -> u64;

    /// What it takes of tools beside the usual.
    fn tool_features(&self) -> ToolFeatures {
        ToolFeatures::default()
    }
}
