//! The server itself: HTTP on a loopback port, the queue of replies, and what the test asks of it.

use super::check::{Said, violations};
use super::gate::{Gates, Stage};
use super::reply::Reply;
use super::request::Request;
use super::wire::{Chunk, Face};
use crate::PATIENCE;
use futures::stream::{self, Stream};
use http_body_util::{BodyExt, StreamBody, combinators::BoxBody};
use hyper::body::{Bytes, Frame, Incoming};
use hyper::service::service_fn;
use hyper_util::rt::TokioIo;
use serde_json::Value;
use std::collections::{BTreeMap, VecDeque};
use std::convert::Infallible;
use std::future::Future;
use std::io;
use std::net::SocketAddr;
use std::sync::{Arc, Mutex};
use std::time::Instant;
use tokio::net::TcpListener;
use tokio::runtime::{Builder, Runtime};
use tokio::sync::watch;
use tokio::time::timeout;

type Answer = hyper::Response<BoxBody<Bytes, io::Error>>;
type AnswerWith = Arc<dyn Fn(&Request) -> Reply + Send + Sync>;

/// A scripted model on a port of its own. Dropping it fails the test if a request broke a rule or came
/// unexpected, or if a scripted reply was never asked for.
pub struct ModelServer {
    runtime: Option<Runtime>,
    address: SocketAddr,
    shared: Arc<Shared>,
}

struct Shared {
    state: Mutex<State>,
    gates: Gates,
    /// How many requests have come in.
    count: watch::Sender<usize>,
}

#[derive(Default)]
struct State {
    queue: VecDeque<Reply>,
    routes: Vec<(String, VecDeque<Reply>)>,
    otherwise: Option<AnswerWith>,
    requests: Vec<Request>,
    violations: Vec<String>,
    said: Said,
    unused_is_fine: bool,
    /// When the stream of a reply ended, by the request's number.
    ends: BTreeMap<usize, Instant>,
}

impl ModelServer {
    /// Starts one. It has no replies yet.
    ///
    /// # Panics
    /// If no loopback port can be bound.
    #[must_use]
    pub fn start() -> Self {
        let runtime = Builder::new_multi_thread().worker_threads(1).enable_all().build().expect("a runtime");
        let listener = runtime.block_on(TcpListener::bind("127.0.0.1:0")).expect("a loopback port");
        let address = listener.local_addr().expect("the listener is bound");
        let (state, gates, count) = (Mutex::default(), Gates::default(), watch::Sender::new(0));
        let shared = Arc::new(Shared { state, gates, count });
        runtime.spawn(accept(listener, Arc::clone(&shared)));
        Self { runtime: Some(runtime), address, shared }
    }

    /// Where it is, such as `http://127.0.0.1:4711`.
    #[must_use]
    pub fn url(&self) -> String {
        format!("http://{}", self.address)
    }

    /// Queues a reply: the n-th request gets the n-th reply.
    pub fn reply(&self, reply: Reply) -> &Self {
        self.state(|state| state.queue.push_back(reply));
        self
    }

    /// Queues a reply for requests whose last user text contains `needle`: for several sessions at once.
    pub fn reply_to(&self, needle: &str, reply: Reply) -> &Self {
        self.state(|state| {
            let route = state.routes.iter().position(|(known, _)| known == needle).unwrap_or_else(|| {
                state.routes.push((needle.to_owned(), VecDeque::new()));
                state.routes.len() - 1
            });
            state.routes[route].1.push_back(reply);
        });
        self
    }

    /// Answers every request that no queued reply is for.
    pub fn answer_with(&self, answer: impl Fn(&Request) -> Reply + Send + Sync + 'static) -> &Self {
        self.state(|state| state.otherwise = Some(Arc::new(answer)));
        self
    }

    /// Opens a gate, for good.
    pub fn open(&self, gate: &str) {
        self.shared.gates.get(gate).open();
    }

    /// Waits until a stream waits at the gate: everything before it has been sent.
    ///
    /// # Panics
    /// If that does not happen.
    pub fn wait_at(&self, gate: &str) {
        let reached = self.shared.gates.get(gate);
        self.wait(&format!("no stream came to gate `{gate}`"), async move { reached.reach(&[Stage::Waiting]).await });
    }

    /// Waits until the client has closed the stream that waits at the gate.
    ///
    /// # Panics
    /// If that does not happen.
    pub fn wait_closed(&self, gate: &str) {
        let reached = self.shared.gates.get(gate);
        self.wait(&format!("the stream at gate `{gate}` was not closed"), async move {
            reached.reach(&[Stage::Closed]).await;
        });
    }

    /// Whether a stream waits at the gate now.
    #[must_use]
    pub fn is_waiting_at(&self, gate: &str) -> bool {
        self.shared.gates.get(gate).stage() == Stage::Waiting
    }

    /// Waits for the n-th request, counted from 1, and hands it out.
    ///
    /// # Panics
    /// If it does not come.
    #[must_use]
    pub fn wait_for_request(&self, n: usize) -> Request {
        let mut count = self.shared.count.subscribe();
        let so_far = self.state(|state| state.requests.len());
        self.wait(&format!("request {n} did not come; at first there were {so_far}"), async move {
            count.wait_for(|count| *count >= n).await.map(drop).expect("the server holds the sender");
        });
        self.state(|state| state.requests[n - 1].clone())
    }

    /// The requests so far.
    #[must_use]
    pub fn requests(&self) -> Vec<Request> {
        self.state(|state| state.requests.clone())
    }

    /// When the last byte of the reply to the n-th request, counted from 1, was handed to the socket. For
    /// benchmarks; none while it streams.
    #[must_use]
    pub fn ended_at(&self, n: usize) -> Option<Instant> {
        self.state(|state| state.ends.get(&n).copied())
    }

    /// Replies that are never asked for are fine from now on.
    pub fn leave(&self) {
        self.state(|state| state.unused_is_fine = true);
    }

    fn state<T>(&self, change: impl FnOnce(&mut State) -> T) -> T {
        change(&mut self.shared.state.lock().unwrap())
    }

    fn wait(&self, failure: &str, event: impl Future<Output = ()>) {
        let runtime = self.runtime.as_ref().expect("the runtime lives as long as the server");
        let in_time = runtime.block_on(async { timeout(PATIENCE, event).await });
        assert!(in_time.is_ok(), "{failure}");
    }
}

impl Drop for ModelServer {
    fn drop(&mut self) {
        if let Some(runtime) = self.runtime.take() {
            runtime.shutdown_background();
        }
        if std::thread::panicking() {
            return;
        }
        let mut complaints = self.state(|state| std::mem::take(&mut state.violations));
        let unused = self.state(|state| {
            let routed: usize = state.routes.iter().map(|(_, queue)| queue.len()).sum();
            if state.unused_is_fine { 0 } else { state.queue.len() + routed }
        });
        if unused > 0 {
            complaints.push(format!("{unused} scripted replies were never asked for"));
        }
        assert!(complaints.is_empty(), "the model server complains:\n{}", complaints.join("\n"));
    }
}

async fn accept(listener: TcpListener, shared: Arc<Shared>) {
    while let Ok((socket, _)) = listener.accept().await {
        // Each chunk is to arrive by itself, as it does from a provider.
        let _ = socket.set_nodelay(true);
        let shared = Arc::clone(&shared);
        tokio::spawn(async move {
            let serve = service_fn(move |request| {
                let shared = Arc::clone(&shared);
                async move { Ok::<_, Infallible>(answer(&shared, request).await) }
            });
            // A connection that ends early is the client's right, and often what the test is about.
            let _ = hyper::server::conn::http1::Builder::new().serve_connection(TokioIo::new(socket), serve).await;
        });
    }
}

async fn answer(shared: &Arc<Shared>, request: hyper::Request<Incoming>) -> Answer {
    let arrived = Instant::now();
    let (head, body) = request.into_parts();
    let path = head.uri.path().to_owned();
    if head.method == hyper::Method::GET {
        // Clients may ask what models there are; that is no model call.
        return plain(404, "{\"error\":{\"message\":\"this server answers POST only\"}}".to_owned());
    }
    let Ok(body) = body.collect().await else {
        return plain(400, "the request's body broke off".to_owned());
    };
    let headers = head.headers.iter().filter_map(|(name, value)| Some((name.to_string(), value.to_str().ok()?.into())));
    let bytes = body.to_bytes().to_vec();
    let body = serde_json::from_slice(&bytes).unwrap_or(Value::Null);
    let request = Request { path, headers: headers.collect(), bytes, body, arrived };
    let (reply, number) = shared.take(request.clone());
    match (reply, Face::of_path(&request.path)) {
        (Some(reply), Some(face)) => stream_or_plain(shared, face, &reply, &request.body, number),
        // 400, so that no client tries again.
        (None, _) => plain(400, error_body("the test has scripted no reply for this request")),
        (_, None) => plain(404, error_body("no such path")),
    }
}

impl Shared {
    /// Records a request and takes the reply for it.
    fn take(&self, request: Request) -> (Option<Reply>, usize) {
        let mut state = self.state.lock().unwrap();
        let number = state.requests.len() + 1;
        match Face::of_path(&request.path) {
            Some(face) => {
                let found = violations(face, &request, &state.said);
                state.violations.extend(found.into_iter().map(|what| format!("request {number}: {what}")));
            }
            None => state.violations.push(format!("request {number}: no such path as {}", request.path)),
        }
        let text = request.last_user_text();
        let route = state.routes.iter().position(|(needle, queue)| text.contains(needle) && !queue.is_empty());
        let reply = match route {
            Some(route) => state.routes[route].1.pop_front(),
            None => state.queue.pop_front(),
        };
        let reply = reply.or_else(|| state.otherwise.clone().map(|answer| answer(&request)));
        match (&reply, Face::of_path(&request.path)) {
            (Some(reply), Some(face)) => {
                state.said.add(reply, face, request.body["model"].as_str().unwrap_or_default());
            }
            (Some(_), None) => {}
            (None, _) => {
                state.violations.push(format!("request {number} has no scripted reply; its last text: {text}"))
            }
        }
        state.requests.push(request);
        self.count.send_replace(number);
        (reply, number)
    }
}

fn stream_or_plain(shared: &Arc<Shared>, face: Face, reply: &Reply, request: &Value, number: usize) -> Answer {
    let mut answer = match &reply.plain {
        Some(given) => plain(given.status, given.body.clone()),
        None => {
            let chunks = face.render(reply, request, number);
            let mut answer = hyper::Response::new(StreamBody::new(body(Arc::clone(shared), chunks, number)).boxed());
            answer.headers_mut().insert("content-type", "text/event-stream".parse().expect("a header"));
            answer
        }
    };
    for (name, value) in &reply.headers {
        let name: hyper::header::HeaderName = name.parse().expect("the test gives a header's name");
        answer.headers_mut().insert(name, value.parse().expect("the test gives a header's value"));
    }
    answer
}

fn body(shared: Arc<Shared>, chunks: Vec<Chunk>, number: usize) -> impl Stream<Item = io::Result<Frame<Bytes>>> {
    stream::unfold((shared, VecDeque::from(chunks)), move |(shared, mut chunks)| async move {
        loop {
            let Some(chunk) = chunks.pop_front() else {
                shared.state.lock().unwrap().ends.insert(number, Instant::now());
                return None;
            };
            match chunk {
                Chunk::Bytes(bytes) => return Some((Ok(Frame::data(Bytes::from(bytes))), (shared, chunks))),
                Chunk::Gate(name) => shared.gates.get(&name).pass().await,
                Chunk::Cut => {
                    // hyper flushes what it has when the body has nothing for it.
                    tokio::task::yield_now().await;
                    return Some((Err(io::Error::other("cut")), (shared, VecDeque::new())));
                }
            }
        }
    })
}

fn plain(status: u16, body: String) -> Answer {
    let body = http_body_util::Full::new(Bytes::from(body)).map_err(|never: Infallible| match never {}).boxed();
    let mut answer = hyper::Response::new(body);
    *answer.status_mut() = hyper::StatusCode::from_u16(status).expect("the test gives a status");
    answer.headers_mut().insert("content-type", "application/json".parse().expect("a header"));
    answer
}

fn error_body(message: &str) -> String {
    serde_json::json!({"type": "error", "error": {"type": "invalid_request_error", "message": message}}).to_string()
}

#[cfg(test)]
mod tests;
