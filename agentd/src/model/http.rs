//! The HTTP side that all wire formats share: one client, one POST, the answer's event stream with its
//! time limits, every failure as a `Fault`. Called by the wire formats; knows none of them and never retries.

use super::ModelStream;
use super::encoded::Body;
use super::endpoint::{Endpoint, is_loopback};
use super::fault::{self, Refusal};
use super::helper::{HelperKeys, RunHelper};
use super::lines::{Lines, MAX_LINE_BYTES};
use crate::base::environment::Environment;
use crate::turn::model_event::{Fault, ModelEvent};
use eventsource_stream::{EventStream, EventStreamError};
use futures::stream::{self, BoxStream, StreamExt};
use reqwest::header::{CONTENT_TYPE, HeaderMap, HeaderName, HeaderValue};
use reqwest::{Client, NoProxy, Proxy, Response, StatusCode, Url};
use std::collections::VecDeque;
use std::pin::Pin;
use std::sync::{Arc, OnceLock};
use std::time::Duration;
use tokio::time::Sleep;

const CONNECT_TIMEOUT: Duration = Duration::from_secs(10);
/// How long the body of a refusal may take, and how much of it is read.
const REFUSAL_TIMEOUT: Duration = Duration::from_secs(10);
const REFUSAL_BYTES: usize = 64 << 10;
/// Bytes that only say "still here" keep a stream alive for this many idle times.
const PINGS_ALONE: u32 = 6;
/// How long a stream may linger once its answer is complete.
const LINGER: Duration = Duration::from_secs(5);

/// What turns the events of one answer into model events.
pub(super) trait Decoder: Send + Sync {
    /// Whether an event only says that the server lives.
    fn is_ping(&self, name: &str, data: &str) -> bool;

    /// Takes an event. The last thing given out is a `Stopped` or a `Fault`.
    fn event(&mut self, name: &str, data: &str, out: &mut VecDeque<ModelEvent>);

    /// Whether the answer is complete, though the stream may go on.
    fn is_complete(&self) -> bool;

    /// The connection ended or failed, for the given reason: gives out `Stopped` or `Fault`.
    fn end(&mut self, why: &str, out: &mut VecDeque<ModelEvent>);
}

/// A request, ready to be sent.
pub(super) struct Call {
    pub(super) url: String,
    pub(super) headers: Vec<(String, String)>,
    pub(super) body: Body,
}

/// The clients, made when first used: reading the system's certificates takes a while, and plain HTTP needs none.
pub(super) struct Http {
    env: Environment,
    helper_keys: HelperKeys,
    plain_loopback: OnceLock<Result<Client, String>>,
    loopback: OnceLock<Result<Client, String>>,
    remote: OnceLock<Result<Client, String>>,
}

impl Http {
    #[cfg(test)]
    pub(super) fn new(env: Environment) -> Self {
        Self::with_helper(env, None)
    }

    pub(super) fn with_helper(env: Environment, run_helper: Option<RunHelper>) -> Self {
        // A second provider in the process is refused, and then the first one serves.
        let _ = rustls::crypto::ring::default_provider().install_default();
        let helper_keys = HelperKeys::new(&env, run_helper);
        Self { env, helper_keys, plain_loopback: OnceLock::new(), loopback: OnceLock::new(), remote: OnceLock::new() }
    }

    fn client(&self, url: &Url) -> Result<&Client, String> {
        let made = match is_loopback(url) {
            // It follows no redirect, so it never comes to need a certificate.
            true if url.scheme() == "http" => self.plain_loopback.get_or_init(|| made(builder().tls_certs_only([]))),
            true => self.loopback.get_or_init(|| made(builder())),
            false => self.remote.get_or_init(|| remote_client(&self.env)),
        };
        made.as_ref().map_err(Clone::clone)
    }

    /// A GET for a small JSON document, such as a list of models.
    pub(super) async fn get_json(&self, url: &str, headers: HeaderMap, limit: Duration) -> Option<serde_json::Value> {
        let url = Url::parse(url).ok()?;
        let request = self.client(&url).ok()?.get(url).headers(headers).timeout(limit);
        let response = request.send().await.ok()?;
        if !response.status().is_success() {
            return None;
        }
        let (body, _) = read_capped(response, MAX_LINE_BYTES, limit).await;
        serde_json::from_str(&body).ok()
    }

    /// Sends a call. Where a command prints the key, a key that is refused is asked for anew, once.
    async fn open(&self, endpoint: &Endpoint, call: Call) -> Result<Response, Fault> {
        let Some(helper) = &endpoint.helper else { return self.send(endpoint, &call, None).await };
        let keyless = |why: String| fault::keyless(endpoint, &why);
        let key = self.helper_keys.key(helper, None).await.map_err(keyless)?;
        let response = self.send(endpoint, &call, Some(helper.scheme.header(&key))).await?;
        if response.status() != StatusCode::UNAUTHORIZED {
            return Ok(response);
        }
        let fresh = self.helper_keys.key(helper, Some(&key)).await.map_err(keyless)?;
        if fresh == key { Ok(response) } else { self.send(endpoint, &call, Some(helper.scheme.header(&fresh))).await }
    }

    /// The header with the key that a command prints, if one does and there is one.
    pub(super) async fn helper_header(&self, endpoint: &Endpoint) -> Option<(String, String)> {
        let helper = endpoint.helper.as_ref()?;
        self.helper_keys.key(helper, None).await.ok().map(|key| helper.scheme.header(&key))
    }

    async fn send(&self, endpoint: &Endpoint, call: &Call, key: Option<(String, String)>) -> Result<Response, Fault> {
        let url = Url::parse(&call.url)
            .map_err(|error| fault::unusable(endpoint, &format!("its base URL is not a URL ({error})")))?;
        let client = self.client(&url).map_err(|error| fault::unusable(endpoint, &error))?;
        let headers = header_map(key.iter().chain(&call.headers).map(|(name, value)| (name.as_str(), value.as_str())))
            .map_err(|name| fault::unusable(endpoint, &format!("HTTP does not allow what its header {name} holds")))?;
        let request = client.post(url).headers(headers).body(reqwest::Body::wrap(call.body.pieces()));
        match tokio::time::timeout(endpoint.idle, request.send()).await {
            Ok(Ok(response)) => Ok(response),
            Ok(Err(error)) => Err(send_failed(endpoint, error)),
            Err(_) => Err(fault::truncated(endpoint, &silence(endpoint.idle))),
        }
    }
}

/// Header pairs as reqwest wants them.
///
/// # Errors
/// The name of a header that HTTP does not allow.
pub(super) fn header_map<'a>(pairs: impl Iterator<Item = (&'a str, &'a str)>) -> Result<HeaderMap, String> {
    let mut map = HeaderMap::new();
    for (name, value) in pairs {
        let mut value = HeaderValue::from_str(value).map_err(|_| name.to_owned())?;
        value.set_sensitive(true);
        map.insert(HeaderName::from_bytes(name.as_bytes()).map_err(|_| name.to_owned())?, value);
    }
    Ok(map)
}

fn builder() -> reqwest::ClientBuilder {
    Client::builder()
        .no_proxy()
        // A redirect would carry the key to another host.
        .redirect(reqwest::redirect::Policy::none())
        .connect_timeout(CONNECT_TIMEOUT)
        .tcp_nodelay(true)
        .user_agent(concat!("agentd/", env!("CARGO_PKG_VERSION")))
}

fn made(builder: reqwest::ClientBuilder) -> Result<Client, String> {
    builder.build().map_err(|error| chain(&error))
}

fn remote_client(env: &Environment) -> Result<Client, String> {
    let variable = |name: &str| env.get(name).or_else(|| env.get(&name.to_lowercase()));
    let no_proxy = || variable("NO_PROXY").and_then(NoProxy::from_string);
    let mut builder = builder();
    for (name, proxy) in [
        ("HTTPS_PROXY", Proxy::https as fn(String) -> reqwest::Result<Proxy>),
        ("HTTP_PROXY", Proxy::http as fn(String) -> reqwest::Result<Proxy>),
        ("ALL_PROXY", Proxy::all as fn(String) -> reqwest::Result<Proxy>),
    ] {
        if let Some(address) = variable(name) {
            let proxy =
                proxy(address.to_owned()).map_err(|_| format!("the proxy in {name} is none that agentd can use"))?;
            builder = builder.proxy(proxy.no_proxy(no_proxy()));
        }
    }
    made(builder)
}

/// An error with its causes, without the URL, which may hold a password.
fn chain(error: &dyn std::error::Error) -> String {
    let mut text = String::new();
    let mut next = Some(error);
    while let Some(error) = next {
        let part = error.to_string();
        if !text.contains(&part) {
            text = if text.is_empty() { part } else { format!("{text}: {part}") };
        }
        next = error.source();
    }
    text
}

fn send_failed(endpoint: &Endpoint, error: reqwest::Error) -> Fault {
    let error = error.without_url();
    let why = chain(&error);
    if why.to_lowercase().contains("certificate") {
        return fault::untrusted(endpoint, &why);
    }
    fault::unreachable(endpoint, &root(&error))
}

/// What an error comes down to: the outer ones only say who noticed.
fn root(error: &dyn std::error::Error) -> String {
    let mut innermost = error;
    while let Some(cause) = innermost.source() {
        innermost = cause;
    }
    innermost.to_string()
}

fn silence(limit: Duration) -> String {
    format!("nothing came for {} ms", limit.as_millis())
}

/// Asks: sends the call and decodes the answer. Dropping the stream closes the connection.
pub(super) fn ask(http: Arc<Http>, endpoint: Arc<Endpoint>, call: Call, decoder: Box<dyn Decoder>) -> ModelStream {
    let stage = Stage::Ask(http, call);
    answer(Answer { endpoint, decoder, stage, pending: VecDeque::new(), over: false })
}

/// Decodes an answer that has begun.
#[cfg(test)]
pub(super) fn decode(endpoint: Arc<Endpoint>, response: Response, decoder: Box<dyn Decoder>) -> ModelStream {
    let stage = Stage::Read(events(response, endpoint.idle));
    answer(Answer { endpoint, decoder, stage, pending: VecDeque::new(), over: false })
}

fn answer(answer: Answer) -> ModelStream {
    let limit = Box::pin(tokio::time::sleep(answer.endpoint.answer));
    Box::pin(stream::unfold((answer, limit), |(mut answer, mut limit)| async move {
        let event = answer.next(limit.as_mut()).await?;
        Some((event, (answer, limit)))
    }))
}

/// A name and the data of one server-sent event, or why there are no more.
type SseItem = Result<(String, String), Broken>;

/// Why a stream can't go on.
enum Broken {
    Lost(String),
    Garbage(String),
}

/// What comes next in a call.
enum Stage {
    Ask(Arc<Http>, Call),
    Read(BoxStream<'static, SseItem>),
    Done,
}

/// A call under way.
struct Answer {
    endpoint: Arc<Endpoint>,
    decoder: Box<dyn Decoder>,
    stage: Stage,
    pending: VecDeque<ModelEvent>,
    over: bool,
}

impl Answer {
    /// The next event. Once `limit` is over, the end is.
    async fn next(&mut self, mut limit: Pin<&mut Sleep>) -> Option<ModelEvent> {
        loop {
            if let Some(event) = self.pending.pop_front() {
                if matches!(event, ModelEvent::Stopped { .. } | ModelEvent::Fault(_)) {
                    self.over = true;
                    self.pending.clear();
                    self.stage = Stage::Done;
                }
                return Some(event);
            }
            if self.over {
                return None;
            }
            tokio::select! {
                biased;
                () = limit.as_mut() => {
                    let why = format!("it took longer than limits.answerMs, {} ms", self.endpoint.answer.as_millis());
                    self.decoder.end(&why, &mut self.pending);
                }
                () = self.go_on() => {}
            }
        }
    }

    async fn go_on(&mut self) {
        match std::mem::replace(&mut self.stage, Stage::Done) {
            Stage::Ask(http, call) => self.open(&http, call).await,
            Stage::Read(mut events) => {
                self.advance(&mut events).await;
                self.stage = Stage::Read(events);
            }
            Stage::Done => self.decoder.end("there was no answer", &mut self.pending),
        }
    }

    async fn open(&mut self, http: &Http, call: Call) {
        let response = match http.open(&self.endpoint, call).await {
            Ok(response) => response,
            Err(fault) => return self.pending.push_back(ModelEvent::Fault(fault)),
        };
        if !response.status().is_success() {
            let fault = refused(&self.endpoint, response).await;
            return self.pending.push_back(ModelEvent::Fault(fault));
        }
        let is_json = response
            .headers()
            .get(CONTENT_TYPE)
            .and_then(|value| value.to_str().ok())
            .is_some_and(|value| value.trim().to_ascii_lowercase().starts_with("application/json"));
        if is_json {
            // A server that ignores `stream` answers whole.
            let (body, why) = read_capped(response, MAX_LINE_BYTES, self.endpoint.idle).await;
            self.decoder.event("message", &body, &mut self.pending);
            return self.decoder.end(&why, &mut self.pending);
        }
        self.stage = Stage::Read(events(response, self.endpoint.idle));
    }

    async fn advance(&mut self, events: &mut BoxStream<'static, SseItem>) {
        let limit = if self.decoder.is_complete() { LINGER } else { self.endpoint.idle.saturating_mul(PINGS_ALONE) };
        let decoder = &self.decoder;
        let telling = async {
            loop {
                match events.next().await {
                    Some(Ok((name, data))) if decoder.is_ping(&name, &data) => {}
                    item => return item,
                }
            }
        };
        match tokio::time::timeout(limit, telling).await {
            Ok(Some(Ok((name, data)))) => self.decoder.event(&name, &data, &mut self.pending),
            Ok(Some(Err(Broken::Lost(why)))) => self.decoder.end(&why, &mut self.pending),
            Ok(Some(Err(Broken::Garbage(why)))) => {
                self.pending.push_back(ModelEvent::Fault(fault::malformed(&self.endpoint, &why)));
            }
            Ok(None) => self.decoder.end("the connection was closed", &mut self.pending),
            Err(_) => self.decoder.end(&silence(limit), &mut self.pending),
        }
    }
}

/// The server-sent events of a response; silence of `idle` ends them.
fn events(response: Response, idle: Duration) -> BoxStream<'static, SseItem> {
    let bytes = Box::pin(response.bytes_stream());
    let guarded = stream::unfold(Some((bytes, Lines::default())), move |state| async move {
        let (mut bytes, mut lines) = state?;
        loop {
            match tokio::time::timeout(idle, bytes.next()).await {
                Ok(Some(Ok(part))) => match lines.take(part) {
                    Ok(Some(whole)) => return Some((Ok(whole), Some((bytes, lines)))),
                    Ok(None) => {}
                    Err(why) => return Some((Err(Broken::Garbage(why)), None)),
                },
                Ok(Some(Err(error))) => return Some((Err(Broken::Lost(chain(&error.without_url()))), None)),
                Ok(None) => return lines.rest().map(|rest| (Ok(rest), None)),
                Err(_) => return Some((Err(Broken::Lost(silence(idle))), None)),
            }
        }
    });
    let decoded = EventStream::new(Box::pin(guarded)).map(|item| match item {
        Ok(event) => Ok((event.event, event.data)),
        Err(EventStreamError::Transport(broken)) => Err(broken),
        // A character that is cut at the very end is a cut stream, not a wrong one.
        Err(EventStreamError::Utf8(error)) if error.utf8_error().error_len().is_none() => {
            Err(Broken::Lost("the connection was closed".to_owned()))
        }
        Err(EventStreamError::Utf8(_)) => Err(Broken::Garbage("its stream is not UTF-8".to_owned())),
        Err(EventStreamError::Parser(_)) => Err(Broken::Garbage("its stream is not an event stream".to_owned())),
    });
    Box::pin(decoded)
}

/// The start of a body as text, and why it ended.
async fn read_capped(response: Response, cap: usize, limit: Duration) -> (String, String) {
    let mut body = Vec::new();
    let mut bytes = Box::pin(response.bytes_stream());
    let reading = async {
        while let Some(chunk) = bytes.next().await {
            match chunk {
                Ok(chunk) => body.extend_from_slice(&chunk),
                Err(error) => return chain(&error.without_url()),
            }
            if body.len() >= cap {
                return format!("the body is longer than {cap} bytes");
            }
        }
        "the connection was closed".to_owned()
    };
    let why = tokio::time::timeout(limit, reading).await.unwrap_or_else(|_| silence(limit));
    body.truncate(cap);
    (String::from_utf8_lossy(&body).into_owned(), why)
}

async fn refused(endpoint: &Endpoint, response: Response) -> Fault {
    let status = response.status().as_u16();
    let wait = retry_after_ms(response.headers());
    let should_retry = should_retry(response.headers());
    let (body, _) = read_capped(response, REFUSAL_BYTES, REFUSAL_TIMEOUT).await;
    Refusal { should_retry, ..Refusal::from_body(status, &body, wait) }.into_fault(endpoint)
}

/// What the server says itself of trying again; Anthropic and OpenAI do.
fn should_retry(headers: &HeaderMap) -> Option<bool> {
    match headers.get("x-should-retry")?.to_str().ok()?.trim() {
        "true" => Some(true),
        "false" => Some(false),
        _ => None,
    }
}

/// What a date in `retry-after` counts as: its clock is not ours.
const RETRY_AFTER_DATE_MS: u64 = 5_000;

/// `retry-after-ms`, else `retry-after` in seconds or as a date.
fn retry_after_ms(headers: &HeaderMap) -> Option<u64> {
    let number = |name: &str| -> Option<f64> {
        let value: f64 = headers.get(name)?.to_str().ok()?.trim().parse().ok()?;
        (value.is_finite() && value >= 0.0).then_some(value)
    };
    if let Some(ms) = number("retry-after-ms").or_else(|| number("retry-after").map(|seconds| seconds * 1000.0)) {
        return Duration::try_from_secs_f64(ms / 1000.0).ok().and_then(|wait| u64::try_from(wait.as_millis()).ok());
    }
    let text = headers.get("retry-after")?.to_str().ok()?;
    text.trim_end().ends_with("GMT").then_some(RETRY_AFTER_DATE_MS)
}

#[cfg(test)]
mod tests {
    use super::super::test_server::{Reply, Server};
    use super::*;
    use std::collections::BTreeMap;

    #[test]
    fn retry_after_is_read_in_both_forms() {
        let table: &[(&str, &str, Option<u64>)] = &[
            ("retry-after", "2", Some(2000)),
            ("retry-after", "0.5", Some(500)),
            ("retry-after-ms", "1250", Some(1250)),
            ("retry-after", "Wed, 21 Oct 2015 07:28:00 GMT", Some(5000)),
            ("retry-after", "-1", None),
            ("retry-after", "1e300", None),
            ("x-other", "2", None),
        ];
        for (name, value, expected) in table {
            let headers = header_map([(*name, *value)].into_iter()).expect("headers");
            assert_eq!(retry_after_ms(&headers), *expected, "{name}: {value}");
        }
    }

    #[test]
    fn the_word_on_a_retry_is_read() {
        for (value, expected) in [("true", Some(true)), (" false ", Some(false)), ("maybe", None)] {
            let headers = header_map([("x-should-retry", value)].into_iter()).expect("headers");
            assert_eq!(should_retry(&headers), expected, "{value}");
        }
        assert_eq!(should_retry(&HeaderMap::new()), None);
    }

    #[tokio::test]
    async fn a_proxy_is_for_other_hosts_only() {
        let server = Server::start(vec![Reply::json(200, "{\"data\": []}")]).await;
        let proxy = ("HTTP_PROXY".to_owned(), server.url.clone());
        let http = Http::new(Environment::from(BTreeMap::from([proxy])));
        let get = async |url: &str| http.get_json(url, HeaderMap::new(), Duration::from_secs(30)).await;
        assert!(get(&format!("{}/own", server.url)).await.is_some());
        assert!(get("http://agentd.invalid/far").await.is_some());
        let heads: Vec<String> = server.requests().into_iter().map(|seen| seen.head).collect();
        assert!(heads[0].starts_with("get /own "), "{heads:?}");
        assert!(heads[1].starts_with("get http://agentd.invalid/far "), "{heads:?}");
    }

    #[test]
    fn a_proxy_that_cannot_be_used_is_named() {
        let variables = BTreeMap::from([("HTTPS_PROXY".to_owned(), "http://[".to_owned())]);
        let refused = remote_client(&Environment::from(variables));
        assert!(refused.is_err_and(|why| why.contains("HTTPS_PROXY")));
    }
}
