//! The server over a plain TCP connection: order, gates, cuts, and that it complains.

use super::ModelServer;
use crate::model::Reply;
use std::io::{Read, Write};
use std::net::{Shutdown, TcpStream};
use std::panic::{AssertUnwindSafe, catch_unwind};

fn ask(model: &ModelServer, text: &str) -> TcpStream {
    let body = serde_json::json!({
        "model": "m1", "max_tokens": 10, "stream": true, "messages": [{"role": "user", "content": text}],
    });
    let body = body.to_string();
    let mut socket = TcpStream::connect(model.address).unwrap();
    socket.set_read_timeout(Some(crate::PATIENCE)).unwrap();
    let head = "POST /v1/messages HTTP/1.1\r\nhost: x\r\nconnection: close\r\nx-api-key: k\r\nanthropic-version: 1";
    let length = body.len();
    write!(socket, "{head}\r\ncontent-type: application/json\r\ncontent-length: {length}\r\n\r\n{body}").unwrap();
    socket
}

fn rest(mut socket: TcpStream) -> String {
    let mut text = Vec::new();
    // A cut may show as a reset; what came before it counts.
    let _ = socket.read_to_end(&mut text);
    String::from_utf8(text).unwrap()
}

fn until(socket: &mut TcpStream, needle: &str) -> String {
    let mut text = Vec::new();
    while !String::from_utf8_lossy(&text).contains(needle) {
        let mut byte = [0];
        assert_eq!(socket.read(&mut byte).unwrap(), 1, "ended at {}", String::from_utf8_lossy(&text));
        text.push(byte[0]);
    }
    String::from_utf8(text).unwrap()
}

fn complaint(model: ModelServer) -> String {
    let failure = catch_unwind(AssertUnwindSafe(|| drop(model))).expect_err("the drop must fail the test");
    *failure.downcast::<String>().unwrap()
}

#[test]
fn a_gate_holds_the_stream_and_what_is_before_it_arrives() {
    let model = ModelServer::start();
    model.reply(Reply::new().text("before").gate("g").text("after"));
    let mut socket = ask(&model, "hi");
    let start = until(&mut socket, "before");
    assert!(!start.contains("after"));
    model.wait_at("g");
    assert!(model.is_waiting_at("g"));
    model.open("g");
    let end = rest(socket);
    assert!(end.contains("after") && end.contains("message_stop"), "{end}");
}

#[test]
fn a_client_that_goes_away_at_a_gate_is_seen() {
    let model = ModelServer::start();
    model.reply(Reply::new().text("before").gate("g"));
    let mut socket = ask(&model, "hi");
    until(&mut socket, "before");
    model.wait_at("g");
    socket.shutdown(Shutdown::Both).unwrap();
    drop(socket);
    model.wait_closed("g");
}

#[test]
fn replies_go_by_order_or_by_text_and_requests_are_captured() {
    let model = ModelServer::start();
    model.reply(Reply::says("first")).reply(Reply::says("second")).reply_to("blue", Reply::says("sky"));
    assert!(rest(ask(&model, "a")).contains("first"));
    assert!(rest(ask(&model, "the blue one")).contains("sky"));
    assert!(rest(ask(&model, "b")).contains("second"));
    assert_eq!(model.wait_for_request(2).last_user_text(), "the blue one");
    assert_eq!(model.requests().len(), 3);
}

#[test]
fn a_cut_sends_what_is_before_it_and_no_end() {
    let model = ModelServer::start();
    model.reply(Reply::new().text("half a sentence").cut()).reply(Reply::says("quiet").without_end());
    let text = rest(ask(&model, "a"));
    assert!(
        text.contains("half a sentence") && !text.contains("message_stop") && !text.ends_with("0\r\n\r\n"),
        "{text}"
    );
    let text = rest(ask(&model, "b"));
    assert!(!text.contains("message_stop") && text.ends_with("0\r\n\r\n"), "{text}");
}

#[test]
fn an_error_has_its_status_headers_and_body() {
    let model = ModelServer::start();
    model.reply(Reply::error(429, "rate_limit_error", "slow down").header("retry-after", "7"));
    let text = rest(ask(&model, "a"));
    assert!(
        text.starts_with("HTTP/1.1 429") && text.contains("retry-after: 7") && text.contains("slow down"),
        "{text}"
    );
}

#[test]
fn the_drop_names_what_was_wrong() {
    let model = ModelServer::start();
    assert!(rest(ask(&model, "surprise")).starts_with("HTTP/1.1 400"));
    assert!(complaint(model).contains("no scripted reply; its last text: surprise"));

    let model = ModelServer::start();
    model.reply(Reply::says("never"));
    assert!(complaint(model).contains("1 scripted replies were never asked for"));

    let model = ModelServer::start();
    model.reply(Reply::says("x"));
    rest(ask(&model, " "));
    assert!(complaint(model).contains("message 0 has no content"));
}
