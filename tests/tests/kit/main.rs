//! The kit holds what it promises: its guards fail a test that should fail.

// Test code starts processes.
#![allow(clippy::disallowed_methods)]

use serde_json::json;
use std::fs;
use std::io::{BufRead, BufReader, Write};
use std::os::unix::net::UnixListener;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::thread;
use tests::{Client, Home, fake_program};

/// What the drop of a value complains about.
fn complaint<T>(value: T) -> String {
    let failure = catch_unwind(AssertUnwindSafe(|| drop(value))).expect_err("the drop must fail the test");
    *failure.downcast::<String>().unwrap()
}

#[test]
fn a_clean_home_is_quiet() {
    drop(Home::new());
}

#[test]
fn a_process_that_escaped_is_found_and_killed() {
    let home = Home::new();
    let pid_file = home.path("work/pid");
    let status = home.command(&fake_program("stubborn")).arg(&pid_file).status().unwrap();
    assert!(status.success());
    let pid = fs::read_to_string(pid_file).unwrap();
    assert_eq!(home.processes().len(), 1);
    assert!(complaint(home).contains(&format!("process left: {pid}")));
}

#[test]
fn a_stray_file_is_found() {
    let home = Home::new();
    fs::write(home.path("tmp/forgotten"), "").unwrap();
    fs::write(home.path("work/.x.tmp12"), "").unwrap();
    let complaint = complaint(home);
    assert!(complaint.contains("tmp/forgotten") && complaint.contains(".x.tmp12"), "{complaint}");
}

#[test]
fn spew_writes_exactly_so_much() {
    let home = Home::new();
    for size in [0, 1, 65_999, 66_001] {
        let output = home.command(&fake_program("spew")).arg(size.to_string()).output().unwrap();
        assert_eq!(output.stdout.len(), size);
    }
}

/// A server that answers the first request and then says `further`.
fn serve(home: &Home, further: &str) -> Client {
    let socket = home.path("run/fake.sock");
    let listener = UnixListener::bind(&socket).unwrap();
    let further = further.to_owned();
    thread::spawn(move || {
        let (mut stream, _) = listener.accept().unwrap();
        let mut line = String::new();
        BufReader::new(stream.try_clone().unwrap()).read_line(&mut line).unwrap();
        writeln!(stream, "{further}").unwrap();
        writeln!(stream, r#"{{"jsonrpc":"2.0","id":1,"result":{{}}}}"#).unwrap();
    });
    Client::connect_to(&socket)
}

#[test]
fn a_client_complains_of_a_durable_event_that_nobody_read() {
    let home = Home::new();
    let event = r#"{"jsonrpc":"2.0","method":"session/event","params":{"sessionId":"s","seq":1,"at":"t","event":{"type":"notice"}}}"#;
    let client = serve(&home, event);
    client.call_ok("daemon/status", &json!({}));
    assert!(complaint(client).contains(r#"{"type":"notice"}"#));
}

#[test]
fn a_client_hands_out_what_is_no_event() {
    let home = Home::new();
    let client = serve(&home, r#"{"jsonrpc":"2.0","id":null,"error":{"code":-32700,"message":"no"}}"#);
    client.call_ok("daemon/status", &json!({}));
    assert_eq!(client.next_other()["error"]["code"], -32700);
    client.wait_closed();
}
