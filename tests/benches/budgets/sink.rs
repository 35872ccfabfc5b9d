//! A model server that costs next to nothing: it counts a request's bytes and drops them, so that what is measured
//! is the client. Knows only what a client of the Messages API sends it.

use std::io::{BufRead, BufReader, Read, Write};
use std::net::{SocketAddr, TcpListener, TcpStream};
use std::sync::{Arc, Mutex};
use std::thread;
use std::time::Instant;

/// A request and its reply.
#[derive(Debug, Clone, Copy)]
pub struct Served {
    /// When the request's head was there.
    pub arrived: Instant,
    /// Bytes of its body.
    pub length: usize,
    /// When the reply's last byte was handed over; the same as `arrived` until then.
    pub ended: Instant,
}

/// Gives the events of the n-th reply, counted from 0.
type Script = Arc<dyn Fn(usize) -> String + Send + Sync>;

/// A server on a port of its own, for as long as the program runs.
pub struct Sink {
    address: SocketAddr,
    served: Arc<Mutex<Vec<Served>>>,
}

impl Sink {
    /// Starts one.
    pub fn start(script: impl Fn(usize) -> String + Send + Sync + 'static) -> Self {
        let listener = TcpListener::bind("127.0.0.1:0").expect("a loopback port");
        let address = listener.local_addr().expect("the listener is bound");
        let served: Arc<Mutex<Vec<Served>>> = Arc::default();
        let (script, seen): (Script, _) = (Arc::new(script), Arc::clone(&served));
        thread::spawn(move || {
            for socket in listener.incoming().map_while(Result::ok) {
                let (script, seen) = (Arc::clone(&script), Arc::clone(&seen));
                thread::spawn(move || serve(socket, &script, &seen));
            }
        });
        Self { address, served }
    }

    /// Where it is, as `host:port`.
    pub fn address(&self) -> String {
        self.address.to_string()
    }

    /// What it has served so far.
    pub fn served(&self) -> Vec<Served> {
        self.served.lock().expect("no thread has panicked").clone()
    }
}

fn serve(socket: TcpStream, script: &Script, served: &Mutex<Vec<Served>>) {
    socket.set_nodelay(true).expect("a TCP socket");
    let mut socket = BufReader::with_capacity(256 << 10, socket);
    while let Some(length) = read_head(&mut socket) {
        let arrived = Instant::now();
        let body = std::io::copy(&mut socket.by_ref().take(length as u64), &mut std::io::sink());
        assert_eq!(body.expect("a body"), length as u64, "the client closed in the middle of a body");
        let number = {
            let mut served = served.lock().expect("no thread has panicked");
            served.push(Served { arrived, length, ended: arrived });
            served.len() - 1
        };
        let events = script(number);
        let reply = format!(
            "HTTP/1.1 200 OK\r\ncontent-type: text/event-stream\r\ntransfer-encoding: chunked\r\n\r\n{:x}\r\n{events}\r\n0\r\n\r\n",
            events.len()
        );
        socket.get_mut().write_all(reply.as_bytes()).expect("the client reads");
        served.lock().expect("no thread has panicked")[number].ended = Instant::now();
    }
}

/// The length of the body that follows; none once the client has closed.
fn read_head(socket: &mut impl BufRead) -> Option<usize> {
    let (mut length, mut line) = (None, String::new());
    loop {
        line.clear();
        if socket.read_line(&mut line).ok()? == 0 {
            return None;
        }
        if line == "\r\n" {
            return length;
        }
        if let Some((name, value)) = line.split_once(':')
            && name.eq_ignore_ascii_case("content-length")
        {
            length = value.trim().parse().ok();
        }
    }
}

/// A reply of the Messages API that calls Read.
pub fn reads(id: &str, file: &str) -> String {
    let input = serde_json::json!({"file_path": file}).to_string();
    let start = serde_json::json!({"type": "content_block_start", "index": 0,
        "content_block": {"type": "tool_use", "id": id, "name": "Read", "input": {}}});
    let delta = serde_json::json!({"type": "content_block_delta", "index": 0,
        "delta": {"type": "input_json_delta", "partial_json": input}});
    whole(&format!("data: {start}\n\ndata: {delta}\n\n"), "tool_use")
}

/// A reply of the Messages API that says something.
pub fn says(text: &str) -> String {
    let start = serde_json::json!({"type": "content_block_start", "index": 0,
        "content_block": {"type": "text", "text": text}});
    whole(&format!("data: {start}\n\n"), "end_turn")
}

fn whole(block: &str, reason: &str) -> String {
    let begin = r#"{"type":"message_start","message":{"usage":{"input_tokens":1,"output_tokens":1}}}"#;
    let end = r#"{"type":"content_block_stop","index":0}"#;
    let delta =
        format!(r#"{{"type":"message_delta","delta":{{"stop_reason":"{reason}"}},"usage":{{"output_tokens":9}}}}"#);
    let stop = r#"{"type":"message_stop"}"#;
    format!("data: {begin}\n\n{block}data: {end}\n\ndata: {delta}\n\ndata: {stop}\n\n")
}
