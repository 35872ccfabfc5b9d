//! HTTP on the same socket, by raw bytes.

use crate::daemon::{Client, Daemon};
use serde_json::{Value, json};

/// Sends one request and gives the status and the body.
fn exchange(client: &mut Client, request: &str) -> (u16, String) {
    client.send(request);
    client.finish();
    let response = client.rest();
    let (head, body) = response.split_once("\r\n\r\n").unwrap_or_else(|| panic!("{response:?}"));
    let status = head.split(' ').nth(1).unwrap().parse().unwrap();
    (status, body.to_owned())
}

fn post(daemon: &Daemon, headers: &str, body: &str) -> (u16, String) {
    let length = body.len();
    let request = format!("POST /any/path HTTP/1.1\r\nHost: agentd\r\n{headers}Content-Length: {length}\r\n\r\n{body}");
    exchange(&mut daemon.connect(), &request)
}

fn parsed(body: &str) -> Value {
    serde_json::from_str(body).unwrap_or_else(|error| panic!("{error}: {body:?}"))
}

#[test]
fn a_post_is_a_frame() {
    let daemon = Daemon::start();
    let (status, body) = post(&daemon, "", r#"{"jsonrpc":"2.0","id":1,"method":"daemon/status"}"#);
    assert_eq!((status, &parsed(&body)["result"]["pid"]), (200, &json!(daemon.child.id())));
    let (status, body) = post(&daemon, "", r#"[{"jsonrpc":"2.0","id":1,"method":"no/such"},1]"#);
    assert_eq!((status, parsed(&body).as_array().map(Vec::len)), (200, Some(2)));
    for (text, code) in [("{\"jsonrpc\":", -32700), ("", -32700), ("1", -32600)] {
        let (status, body) = post(&daemon, "", text);
        assert_eq!((status, &parsed(&body)["error"]["code"], &parsed(&body)["id"]), (200, &json!(code), &Value::Null));
    }
    let (status, body) = post(&daemon, "", r#"{"jsonrpc":"2.0","method":"daemon/status"}"#);
    assert_eq!((status, body.as_str()), (204, ""), "a notification");
}

#[test]
fn one_connection_may_carry_several_requests() {
    let daemon = Daemon::start();
    let body = r#"{"jsonrpc":"2.0","id":1,"method":"daemon/status"}"#;
    let request = format!("POST / HTTP/1.1\r\nHost: a\r\nContent-Length: {}\r\n\r\n{body}", body.len());
    let mut client = daemon.connect();
    client.send(request.repeat(3));
    client.finish();
    assert_eq!(client.rest().matches("HTTP/1.1 200 OK").count(), 3);
}

#[test]
fn a_body_in_chunks_is_understood() {
    let daemon = Daemon::start();
    let body = r#"{"jsonrpc":"2.0","id":1,"method":"daemon/status"}"#;
    let (start, end) = body.split_at(10);
    let chunks = format!("{:x}\r\n{start}\r\n{:x}\r\n{end}\r\n0\r\n\r\n", start.len(), end.len());
    let request = format!("POST / HTTP/1.1\r\nHost: a\r\nTransfer-Encoding: chunked\r\n\r\n{chunks}");
    let (status, body) = exchange(&mut daemon.connect(), &request);
    assert_eq!((status, body.contains("\"result\"")), (200, true), "{body}");
}

#[test]
fn other_methods_and_web_pages_are_refused() {
    let daemon = Daemon::start();
    for verb in ["GET", "PUT", "OPTIONS", "DELETE"] {
        let (status, body) = exchange(&mut daemon.connect(), &format!("{verb} / HTTP/1.1\r\nHost: a\r\n\r\n"));
        assert_eq!((status, body.contains("POST")), (405, true), "{verb}: {body}");
    }
    let (status, body) =
        post(&daemon, "Origin: http://evil.example\r\n", r#"{"jsonrpc":"2.0","id":1,"method":"daemon/status"}"#);
    assert_eq!((status, body.contains("pid")), (403, false));
}

#[test]
fn a_body_that_is_too_large_is_refused_before_it_is_read() {
    let daemon = Daemon::start();
    let mut client = daemon.connect();
    client.send(format!("POST / HTTP/1.1\r\nHost: a\r\nContent-Length: {}\r\n\r\n", 65 << 20));
    let response = client.rest();
    assert!(response.starts_with("HTTP/1.1 413 ") && response.contains("-32600"), "{response}");
    daemon.connect().check_alive();
}

#[test]
fn events_need_another_framing() {
    let daemon = Daemon::start();
    let (status, body) =
        post(&daemon, "", r#"{"jsonrpc":"2.0","id":1,"method":"session/attach","params":{"sessionId":"x"}}"#);
    assert_eq!((status, &parsed(&body)["error"]["code"]), (200, &json!(-32600)));
    assert!(body.contains("session/events"), "{body}");
}
