//! The framings beside lines: Content-Length headers, and HTTP by POST.

use serde_json::{Value, json};
use std::io::{BufRead, BufReader, Read, Write};
use std::os::unix::net::UnixStream;
use tests::{Daemon, PATIENCE};

fn connect(daemon: &Daemon) -> BufReader<UnixStream> {
    let stream = UnixStream::connect(daemon.home().socket()).unwrap();
    stream.set_read_timeout(Some(PATIENCE)).unwrap();
    BufReader::new(stream)
}

fn send(stream: &BufReader<UnixStream>, head: &str, body: &Value) {
    let body = body.to_string();
    write!(stream.get_ref(), "{head}Content-Length: {}\r\n\r\n{body}", body.len()).unwrap();
}

/// Header lines, then the body.
fn receive(stream: &mut BufReader<UnixStream>) -> (Vec<String>, Value) {
    let mut head = Vec::new();
    loop {
        let mut line = String::new();
        stream.read_line(&mut line).unwrap();
        match line.trim_end() {
            "" => break,
            line => head.push(line.to_ascii_lowercase()),
        }
    }
    let length = head.iter().find_map(|line| line.strip_prefix("content-length: ")).unwrap().parse().unwrap();
    let mut body = vec![0; length];
    stream.read_exact(&mut body).unwrap();
    (head, serde_json::from_slice(&body).unwrap())
}

fn status(id: u64) -> Value {
    json!({"jsonrpc": "2.0", "id": id, "method": "daemon/status"})
}

#[test]
fn content_length_headers_are_answered_in_kind() {
    let daemon = Daemon::start();
    let mut stream = connect(&daemon);
    send(&stream, "", &status(1));
    let (_, answer) = receive(&mut stream);
    assert_eq!(answer["result"]["pid"], daemon.pid());
    send(&stream, "Content-Type: application/vscode-jsonrpc; charset=utf-8\r\n", &status(2));
    assert_eq!(receive(&mut stream).1["id"], 2);
}

#[test]
fn http_post_is_answered_in_kind() {
    let daemon = Daemon::start();
    let mut stream = connect(&daemon);
    send(&stream, "POST / HTTP/1.1\r\nHost: agentd\r\nContent-Type: application/json\r\n", &status(1));
    let (head, answer) = receive(&mut stream);
    assert!(head[0].starts_with("http/1.1 200"), "{head:?}");
    assert_eq!(answer["result"]["pid"], daemon.pid());
}
