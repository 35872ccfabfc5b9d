//! Anthropic's Messages API, streamed. Made by `catalog`; `encode` writes the request, `decode` reads
//! the answer, `http` carries both.

mod decode;
mod encode;
#[cfg(test)]
mod tests;

use super::call_ids::CallIds;
use super::encoded::Prefix;
use super::endpoint::Endpoint;
use super::http::{self, Call, Http};
use super::{Model, ModelRequest, ModelStream, ToolFeatures};
use std::sync::Arc;

const VERSION: &str = "2023-06-01";
/// The API itself: gateways that speak its format may refuse the newer fields of tools.
const OWN_URL: &str = "https://api.anthropic.com";
/// The first models that can be held to a schema, as the API's documents on structured outputs list them.
const STRICT_SINCE: (u32, u32) = (4, 5);

/// A model behind the Messages API.
pub(super) struct Anthropic {
    http: Arc<Http>,
    endpoint: Arc<Endpoint>,
    prefix: Prefix,
}

impl Anthropic {
    pub(super) fn new(http: Arc<Http>, endpoint: Endpoint) -> Self {
        Self { http, endpoint: Arc::new(endpoint), prefix: Prefix::default() }
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

/// What the model at this place takes of tools. References to deferred tools can't be kept in a transcript yet, so
/// deferral is agentd's own: what is not discovered is left out.
fn tool_features(endpoint: &Endpoint) -> ToolFeatures {
    ToolFeatures {
        strict: version(&endpoint.model).is_some_and(|version| version >= STRICT_SINCE),
        eager_input_streaming: url(&endpoint.base_url, "") == url(OWN_URL, ""),
        defer_loading: false,
    }
}

/// The version in a model's name, such as 4.5 in `claude-sonnet-4-5-20250929` and 3.5 in `claude-3-5-haiku`.
fn version(model: &str) -> Option<(u32, u32)> {
    let numbers = |part: &str| part.parse::<u32>().ok().filter(|number| *number < 100);
    let mut parts = model.strip_prefix("claude-")?.split('-').skip_while(|part| numbers(part).is_none());
    let major = parts.next().and_then(numbers)?;
    Some((major, parts.next().and_then(numbers).unwrap_or(0)))
}

/// A decoder by itself.
#[cfg(test)]
pub(super) fn decoder(endpoint: Arc<Endpoint>, ids: CallIds) -> Box<dyn super::http::Decoder> {
    Box::new(decode::Decode::new(endpoint, ids))
}

impl Model for Anthropic {
    fn stream(&self, request: ModelRequest) -> ModelStream {
        let call = Call {
            url: url(&self.endpoint.base_url, "messages"),
            headers: headers(&self.endpoint),
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

    fn tool_features(&self) -> ToolFeatures {
        tool_features(&self.endpoint)
    }
}
