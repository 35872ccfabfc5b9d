//! Good and bad frames: each gets its answer, and costs nothing but itself.

use crate::daemon::Daemon;
use serde_json::{Value, json};

fn code(answer: &Value) -> (Value, i64) {
    (answer["id"].clone(), answer["error"]["code"].as_i64().unwrap_or_else(|| panic!("no error: {answer}")))
}

#[test]
fn ids_come_back_as_they_were_sent() {
    let daemon = Daemon::start();
    let mut client = daemon.connect();
    for id in ["1", "-1", "1.50", "184467440737095516150", "\"text\"", "\"\"", "null"] {
        client.send(format!("{{\"jsonrpc\":\"2.0\",\"id\":{id},\"method\":\"model/list\"}}\n"));
        client.send(format!("{{\"jsonrpc\":\"2.0\",\"id\":{id},\"method\":\"no/such\"}}\n"));
    }
    client.finish();
    let answers = client.rest();
    for id in ["1", "-1", "1.50", "184467440737095516150", "\"text\"", "\"\"", "null"] {
        for kind in ["result", "error"] {
            let start = format!("{{\"jsonrpc\":\"2.0\",\"id\":{id},\"{kind}\":");
            assert!(answers.lines().any(|answer| answer.starts_with(&start)), "{start} in {answers}");
        }
    }
}

#[test]
fn bad_requests_get_the_errors_of_json_rpc() {
    let daemon = Daemon::start();
    let mut client = daemon.connect();
    for (frame, id, expected) in [
        ("{", Value::Null, -32700),
        ("hello", Value::Null, -32700),
        ("[{\"jsonrpc\":\"2.0\"", Value::Null, -32700),
        ("17", Value::Null, -32600),
        ("[]", Value::Null, -32600),
        ("{}", Value::Null, -32600),
        (r#"{"id":1,"method":"daemon/status"}"#, json!(1), -32600),
        (r#"{"jsonrpc":"2.0","id":{},"method":"daemon/status"}"#, Value::Null, -32600),
        (r#"{"jsonrpc":"2.0","id":2,"method":"no/such"}"#, json!(2), -32601),
        (r#"{"jsonrpc":"2.0","id":3,"method":"session/compact","params":{"sessionId":"x"}}"#, json!(3), -32601),
        (r#"{"jsonrpc":"2.0","id":4,"method":"daemon/status","params":{"colour":1}}"#, json!(4), -32602),
        (r#"{"jsonrpc":"2.0","id":5,"method":"session/get"}"#, json!(5), -32602),
        (r#"{"jsonrpc":"2.0","id":6,"method":"daemon/status","params":[]}"#, json!(6), -32602),
        (
            r#"{"jsonrpc":"2.0","id":7,"method":"initialize","params":{"protocolVersion":2,"client":{"name":"a","version":"1"}}}"#,
            json!(7),
            -32009,
        ),
    ] {
        let answer = client.ask(frame);
        assert_eq!(code(&answer), (id, expected), "{frame}: {answer}");
        assert!(answer["error"]["data"]["kind"].is_string(), "{answer}");
    }
    client.check_alive();
}

#[test]
fn errors_name_what_is_wrong() {
    let daemon = Daemon::start();
    let mut client = daemon.connect();
    for (frame, name) in [
        (r#"{"jsonrpc":"2.0","id":1,"method":"no/such"}"#, "no/such"),
        (r#"{"jsonrpc":"2.0","id":1,"method":"session/compact"}"#, "session/compact is not supported yet"),
        (r#"{"jsonrpc":"2.0","id":1,"method":"daemon/status","params":{"colour":1}}"#, "colour"),
        (r#"{"jsonrpc":"2.0","id":1,"method":"session/get"}"#, "sessionId"),
        (
            r#"{"jsonrpc":"2.0","id":1,"method":"initialize","params":{"protocolVersion":9,"client":{"name":"a","version":"1"}}}"#,
            "version 1",
        ),
    ] {
        let answer = client.ask(frame);
        assert!(answer["error"]["message"].as_str().unwrap().contains(name), "{name}: {answer}");
    }
}

#[test]
fn notifications_get_no_answer() {
    let daemon = Daemon::start();
    let mut client = daemon.connect();
    client.send("{\"jsonrpc\":\"2.0\",\"method\":\"daemon/status\"}\n");
    client.send("{\"jsonrpc\":\"2.0\",\"method\":\"no/such\"}\n");
    client.send("[{\"jsonrpc\":\"2.0\",\"method\":\"daemon/status\"}]\n");
    client.check_alive();
}

#[test]
fn a_batch_is_answered_by_one_array() {
    let daemon = Daemon::start();
    let mut client = daemon.connect();
    let answer = client.ask(
        r#"[{"jsonrpc":"2.0","id":1,"method":"daemon/status"}, 7, {"jsonrpc":"2.0","method":"daemon/status"},
            {"jsonrpc":"2.0","id":"b","method":"no/such"}, [], {"jsonrpc":"2.0","id":null,"method":"model/list"}]"#
            .replace('\n', " "),
    );
    let answers: Vec<_> =
        answer.as_array().unwrap().iter().map(|one| (one["id"].clone(), one["error"]["code"].as_i64())).collect();
    let expected = [
        (json!(1), None),
        (Value::Null, Some(-32600)),
        (json!("b"), Some(-32601)),
        (Value::Null, Some(-32600)),
        (Value::Null, None),
    ];
    assert_eq!(answers, expected);
    client.check_alive();
}

#[test]
fn initialize_tells_both_sides_who_they_are() {
    let daemon = Daemon::start();
    let mut client = daemon.connect();
    let answer = client.ask(
        r#"{"jsonrpc":"2.0","id":1,"method":"initialize","params":{"protocolVersion":1,"client":{"name":"test","version":"1"},"capabilities":{"x":1}}}"#,
    );
    let result = &answer["result"];
    assert_eq!((&result["protocolVersion"], &result["agentd"]["pid"]), (&json!(1), &json!(daemon.child.id())));
    let methods = result["capabilities"]["methods"].as_array().unwrap();
    assert!(methods.contains(&json!("session/attach")) && !methods.contains(&json!("session/compact")));
}

#[test]
fn an_oversize_line_costs_itself_only() {
    let daemon = Daemon::start();
    let mut client = daemon.connect();
    client.send(r#"{"jsonrpc":"2.0","id":1,"method":"daemon/status","params":{"#);
    let megabyte = vec![b' '; 1 << 20];
    for _ in 0..65 {
        client.send(&megabyte);
    }
    client.send("}}\n");
    let answer = client.line();
    assert_eq!(code(&answer), (Value::Null, -32600), "{answer}");
    client.check_alive();
}

#[test]
fn an_oversize_frame_with_a_header_costs_itself_only() {
    let daemon = Daemon::start();
    let mut client = daemon.connect();
    client.send(format!("Content-Length: {}\r\n\r\n", 65 << 20));
    let megabyte = vec![b' '; 1 << 20];
    for _ in 0..65 {
        client.send(&megabyte);
    }
    assert_eq!(code(&client.headed()), (Value::Null, -32600));
    let request = r#"{"jsonrpc":"2.0","id":1,"method":"daemon/status"}"#;
    client.send(format!("Content-Length: {}\r\n\r\n{request}", request.len()));
    assert_eq!(client.headed()["id"], 1);
}

#[test]
fn invalid_utf8_and_deep_nesting_cost_themselves_only() {
    let daemon = Daemon::start();
    let mut client = daemon.connect();
    let answer = client.ask(b"{\"jsonrpc\":\"2.0\",\"id\":1,\"method\":\"\xff\"}");
    assert_eq!(code(&answer), (Value::Null, -32700));
    for depth in [129, 100_000] {
        let nested =
            format!(r#"{{"jsonrpc":"2.0","id":1,"method":"a","params":{}{}}}"#, "[".repeat(depth), "]".repeat(depth));
        assert_eq!(code(&client.ask(nested)), (Value::Null, -32600), "{depth}");
    }
    client.check_alive();
}

#[test]
fn bytes_may_come_one_by_one() {
    let daemon = Daemon::start();
    let mut client = daemon.connect();
    for byte in b"\r\n \n{\"jsonrpc\":\"2.0\",\"id\":1,\"method\":\"daemon/status\"}\r\n" {
        client.send([*byte]);
    }
    assert_eq!(client.line()["id"], 1);
    let mut client = daemon.connect();
    for byte in b"content-length: 49\r\nContent-Type: application/vscode-jsonrpc; charset=utf-8\r\n\r\n{\"jsonrpc\":\"2.0\",\"id\":1,\"method\":\"daemon/status\"}" {
        client.send([*byte]);
    }
    assert_eq!(client.headed()["id"], 1);
}

#[test]
fn half_a_frame_is_no_frame() {
    let daemon = Daemon::start();
    let mut client = daemon.connect();
    client.send("Content-Length: 49\r\n\r\n{\"jsonrpc\":");
    client.finish();
    assert_eq!(client.rest(), "");
    let mut client = daemon.connect();
    client.send("{\"jsonrpc\":");
    client.finish();
    let answer = client.line();
    assert_eq!(code(&answer), (Value::Null, -32700));
    assert_eq!(client.rest(), "", "the connection ends");
    daemon.connect().check_alive();
}

#[test]
fn a_broken_header_gets_an_error_and_the_end() {
    let daemon = Daemon::start();
    let mut client = daemon.connect();
    client.send("Content-Length: ten\r\n\r\n{}");
    let answer = client.headed();
    assert_eq!(code(&answer), (Value::Null, -32700));
    assert!(answer["error"]["message"].as_str().unwrap().contains("Content-Length"));
    assert_eq!(client.rest(), "");
}

#[test]
fn who_sends_no_more_still_gets_his_answers() {
    let daemon = Daemon::start();
    let mut client = daemon.connect();
    for id in 0..2000 {
        client.send(format!("{{\"jsonrpc\":\"2.0\",\"id\":{id},\"method\":\"daemon/status\"}}\n"));
    }
    client.send("{\"jsonrpc\":\"2.0\",\"id\":2000,\"method\":\"daemon/status\"}");
    client.finish();
    let answers: Vec<Value> = client.rest().lines().map(|line| serde_json::from_str(line).unwrap()).collect();
    let ids: Vec<u64> = answers.iter().map(|answer| answer["id"].as_u64().unwrap()).collect();
    assert_eq!(ids, (0..=2000).collect::<Vec<_>>(), "calls that are done at once are answered in order");
}
