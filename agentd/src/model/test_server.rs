//! A real HTTP server on loopback for the tests of the wire formats: it gives the replies that it was
//! given, in order, and keeps the requests.

use serde_json::Value;
use std::sync::{Arc, Mutex};
use tokio::io::{AsyncReadExt, AsyncWriteExt};
use tokio::net::{TcpListener, TcpStream};
use tokio::sync::Notify;

/// What the server answers to one request.
#[derive(Debug, Clone, Default)]
pub(crate) struct Reply {
    pub(crate) status: u16,
    pub(crate) headers: Vec<(String, String)>,
    pub(crate) body: Vec<u8>,
    /// After the body: says nothing more and keeps the connection open.
    pub(crate) hold: bool,
    /// Sent again and again, once the body is sent.
    pub(crate) pulse: Option<&'static str>,
}

impl Reply {
    /// An event stream.
    pub(crate) fn stream(body: impl Into<Vec<u8>>) -> Self {
        Self { status: 200, body: body.into(), ..Self::default() }.header("content-type", "text/event-stream")
    }

    /// A JSON document.
    pub(crate) fn json(status: u16, body: &str) -> Self {
        Self { status, body: body.into(), ..Self::default() }.header("content-type", "application/json")
    }

    pub(crate) fn header(mut self, name: &str, value: &str) -> Self {
        self.headers.push((name.to_owned(), value.to_owned()));
        self
    }

    pub(crate) fn hold(mut self) -> Self {
        self.hold = true;
        self
    }
}

/// A request as it came in.
#[derive(Debug, Clone)]
pub(crate) struct Seen {
    /// The request line and the headers, in lower case.
    pub(crate) head: String,
    pub(crate) body: Vec<u8>,
}

impl Seen {
    pub(crate) fn json(&self) -> Value {
        serde_json::from_slice(&self.body).expect("a JSON body")
    }
}

/// The server; ends with the runtime of its test.
pub(crate) struct Server {
    pub(crate) url: String,
    seen: Arc<Mutex<Vec<Seen>>>,
    /// Told when a client has closed a connection that was held.
    pub(crate) closed: Arc<Notify>,
}

impl Server {
    /// Serves the replies in order; the last one again and again.
    pub(crate) async fn start(replies: Vec<Reply>) -> Self {
        let listener = TcpListener::bind("127.0.0.1:0").await.expect("a port");
        let url = format!("http://{}", listener.local_addr().expect("an address"));
        let seen = Arc::new(Mutex::new(Vec::new()));
        let closed = Arc::new(Notify::new());
        let (kept, told) = (seen.clone(), closed.clone());
        tokio::spawn(async move {
            let mut replies = replies.into_iter().peekable();
            let mut last = Reply::json(500, "{}");
            while let Ok((socket, _)) = listener.accept().await {
                last = replies.next().unwrap_or(last);
                tokio::spawn(serve(socket, last.clone(), kept.clone(), told.clone()));
            }
        });
        Self { url, seen, closed }
    }

    pub(crate) fn requests(&self) -> Vec<Seen> {
        self.seen.lock().expect("a lock").clone()
    }
}

async fn serve(mut socket: TcpStream, reply: Reply, seen: Arc<Mutex<Vec<Seen>>>, closed: Arc<Notify>) {
    let Some(request) = read_request(&mut socket).await else { return };
    seen.lock().expect("a lock").push(request);
    let mut head = format!("HTTP/1.1 {} Status\r\nconnection: close\r\n", reply.status);
    for (name, value) in &reply.headers {
        head.push_str(&format!("{name}: {value}\r\n"));
    }
    head.push_str("\r\n");
    let _ = socket.write_all(head.as_bytes()).await;
    let _ = socket.write_all(&reply.body).await;
    let _ = socket.flush().await;
    if let Some(pulse) = reply.pulse {
        while socket.write_all(pulse.as_bytes()).await.is_ok() {
            tokio::time::sleep(std::time::Duration::from_millis(5)).await;
        }
    }
    if reply.hold {
        let mut end = [0_u8; 1];
        let _ = socket.read(&mut end).await;
        closed.notify_one();
    }
}

async fn read_request(socket: &mut TcpStream) -> Option<Seen> {
    let mut bytes = Vec::new();
    let mut chunk = [0_u8; 4096];
    loop {
        let read = socket.read(&mut chunk).await.ok().filter(|read| *read > 0)?;
        bytes.extend_from_slice(&chunk[..read]);
        let Some(end) = bytes.windows(4).position(|window| window == b"\r\n\r\n") else { continue };
        let head = String::from_utf8_lossy(&bytes[..end]).to_lowercase();
        let length =
            head.lines().find_map(|line| line.strip_prefix("content-length: ")?.parse::<usize>().ok()).unwrap_or(0);
        if bytes.len() >= end + 4 + length {
            return Some(Seen { head, body: bytes[end + 4..].to_vec() });
        }
    }
}
