//! OpenAI's Responses API, streamed and without anything kept at the server. Made by `catalog`; `encode` writes
//! the request, `decode` reads the answer, `http` carries both.

mod decode;
mod encode;
mod items;
#[cfg(test)]
mod tests;

use super::call_ids::CallIds;
use super::encoded::Prefix;
use super::endpoint::Endpoint;
use super::http::{self, Call, Http};
use super::openai_chat::url;
use super::{Model, ModelRequest, ModelStream};
use std::sync::Arc;

/// A model behind the Responses API.
pub(super) struct OpenaiResponses {
    http: Arc<Http>,
    endpoint: Arc<Endpoint>,
    prefix: Prefix,
}

impl OpenaiResponses {
    pub(super) fn new(http: Arc<Http>, endpoint: Endpoint) -> Self {
        Self { http, endpoint: Arc::new(endpoint), prefix: Prefix::default() }
    }
}

/// A decoder by itself.
#[cfg(test)]
pub(super) fn decoder(endpoint: Arc<Endpoint>, ids: CallIds) -> Box<dyn super::http::Decoder> {
    Box::new(decode::Decode::new(endpoint, ids))
}

impl Model for OpenaiResponses {
    fn stream(&self, request: ModelRequest) -> ModelStream {
        let call = Call {
            url: url(&self.endpoint.base_url, "responses"),
            headers: self.endpoint.request_headers(),
            body: encode::body(&self.endpoint, &request, &self.prefix),
        };
        let decoder = decode::Decode::new(self.endpoint.clone(), CallIds::of(&request.messages));
        http::ask(self.http.clone(), self.endpoint.clone(), call, Box::new(decoder))
    }

    fn id(&self) -> &str {
        &self.endpoint.id
    }

    fn context_window(&self) -> u64 {
        self.endpoint.context_window
    }
}
