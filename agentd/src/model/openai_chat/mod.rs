//! The Chat Completions API, streamed, as OpenAI and the many servers that follow it speak it. Made by
//! `catalog`; `encode` writes the request, `decode` reads the answer, `http` carries both.

mod calls;
mod decode;
mod encode;
mod private;
#[cfg(test)]
mod tests;
mod think;

pub(super) use private::is_own;

use super::call_ids::CallIds;
use super::encoded::Prefix;
use super::endpoint::Endpoint;
use super::http::{self, Call, Http};
use super::{Model, ModelRequest, ModelStream};
use std::sync::Arc;

/// A model behind the Chat Completions API.
pub(super) struct OpenaiChat {
    http: Arc<Http>,
    endpoint: Arc<Endpoint>,
    prefix: Prefix,
}

impl OpenaiChat {
    pub(super) fn new(http: Arc<Http>, endpoint: Endpoint) -> Self {
        Self { http, endpoint: Arc::new(endpoint), prefix: Prefix::default() }
    }
}

/// An address of the API; base URLs of this API hold their `/v1`.
pub(super) fn url(base_url: &str, path: &str) -> String {
    format!("{}/{path}", base_url.trim_end_matches('/'))
}

/// A decoder by itself.
#[cfg(test)]
pub(super) fn decoder(endpoint: Arc<Endpoint>, ids: CallIds) -> Box<dyn super::http::Decoder> {
    Box::new(decode::Decode::new(endpoint, ids))
}

impl Model for OpenaiChat {
    fn stream(&self, request: ModelRequest) -> ModelStream {
        let call = Call {
            url: url(&self.endpoint.base_url, "chat/completions"),
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
