//! Anthropic's Messages API, streamed. Made by `catalog`; `encode` writes the request, `decode` reads
//! the answer, `http` carries both.

mod decode;
mod encode;
#[cfg(test)]
mod tests;

use super::call_ids::CallIds;
use super::endpoint::Endpoint;
use super::http::{self, Call, Http};
use super::{Model, ModelRequest, ModelStream};
use std::sync::Arc;

const VERSION: &str = "2023-06-01";

/// A model behind the Messages API.
pub(super) struct Anthropic {
    http: Arc<Http>,
    endpoint: Arc<Endpoint>,
}

impl Anthropic {
    pub(super) fn new(http: Arc<Http>, endpoint: Endpoint) -> Self {
        Self { http, endpoint: Arc::new(endpoint) }
    }
}

/// The headers of a request.
pub(super) fn headers(endpoint: &Endpoint) -> Vec<(String, String)> {
    let mut headers = vec![("anthropic-version".to_owned(), VERSION.to_owned())];
    headers.extend(endpoint.request_headers());
    headers
}

/// An address of the API. Users of this API leave `/v1` out of the base URL; those who don't mean the same.
pub(super) fn url(base_url: &str, path: &str) -> String {
    let base = base_url.trim_end_matches('/');
    let base = base.strip_suffix("/v1").unwrap_or(base);
    format!("{base}/v1/{path}")
}

impl Model for Anthropic {
    fn stream(&self, request: ModelRequest) -> ModelStream {
        let call = Call {
            url: url(&self.endpoint.base_url, "messages"),
            headers: headers(&self.endpoint),
            body: encode::body(&self.endpoint, &request),
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
