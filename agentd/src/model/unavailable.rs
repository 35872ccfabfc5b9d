//! A model that can't be asked: it stands in for one whose key or provider went away while a turn waited
//! for a person, so that the turn ends with a clear error in place of vanishing. Made by the session.

use super::{Model, ModelRequest, ModelStream};
use crate::turn::model_event::{Fault, FaultKind, ModelEvent};
use std::sync::Arc;

struct Unavailable {
    id: String,
    message: String,
}

/// A model with that name whose every answer is this fault.
#[must_use]
pub fn unavailable(id: &str, message: String) -> Arc<dyn Model> {
    Arc::new(Unavailable { id: id.to_owned(), message })
}

impl Model for Unavailable {
    fn stream(&self, _request: ModelRequest) -> ModelStream {
        let fault = Fault { kind: FaultKind::Authentication, message: self.message.clone() };
        Box::pin(futures::stream::once(std::future::ready(ModelEvent::Fault(fault))))
    }

    fn id(&self) -> &str {
        &self.id
    }

    fn context_window(&self) -> u64 {
        0
    }
}
