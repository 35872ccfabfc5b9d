//! The format over a real connection: whole and cut streams, faults, requests and their caching.

use super::*;
use crate::event::{Entry, Message, Messages, UserBlock};
use crate::model::ToolDefinition;
use crate::model::endpoint::{Key, Scheme, Secret, for_tests};
use crate::model::http::Decoder;
use crate::model::test_server::{Reply, Server};
use crate::turn::model_event::{BlockKind, FaultKind, ModelEvent};
use futures::stream::StreamExt;
use proptest::collection::vec;
use proptest::prelude::*;
use proto::content::{ContentBlock, MessageBlock};
use proto::event::DeltaKind;
use proto::session::Usage;
use serde_json::{Value, json};
use std::collections::{HashSet, VecDeque};
use std::time::Duration;

fn endpoint(url: &str) -> Endpoint {
    let mut endpoint = for_tests("anthropic", "claude-test", url, "canary-key");
    endpoint.key =
        Some(Key { value: Secret::new("canary-key"), source: "ANTHROPIC_API_KEY".to_owned(), scheme: Scheme::ApiKey });
    endpoint
}

fn model(endpoint: Endpoint) -> Anthropic {
    Anthropic::new(Arc::new(Http::new(crate::base::environment::Environment::default())), endpoint)
}

fn request(messages: Vec<Message>) -> ModelRequest {
    let tool = |name: &str| ToolDefinition {
        name: name.to_owned(),
        description: "does".to_owned(),
        input_schema: json!({"type": "object"}),
        ..ToolDefinition::default()
    };
    ModelRequest {
        escalation: 0,
        system: "be good".into(),
        tools: vec![tool("Bash"), tool("Read")].into(),
        messages: messages.into_iter().map(Entry::from).collect::<Messages>().into(),
    }
}

fn user(text: &str) -> Message {
    Message::User(vec![UserBlock::Content(ContentBlock::text(text))])
}

fn result(id: &str, text: &str) -> UserBlock {
    UserBlock::ToolResult { tool_use_id: id.to_owned(), content: vec![ContentBlock::text(text)], is_error: false }
}

fn assistant(model: &str, content: Vec<MessageBlock>) -> Message {
    Message::Assistant { content, model: model.to_owned() }
}

fn tool_use(id: &str, input: Value) -> MessageBlock {
    MessageBlock::ToolUse { id: id.to_owned(), name: "Read".to_owned(), input }
}

fn sse(events: &[Value]) -> String {
    events
        .iter()
        .map(|event| format!("event: {}\ndata: {event}\n\n", event["type"].as_str().unwrap_or("message")))
        .collect()
}

fn delta(index: u64, delta: Value) -> Value {
    json!({"type": "content_block_delta", "index": index, "delta": delta})
}

fn start(index: u64, block: Value) -> Value {
    json!({"type": "content_block_start", "index": index, "content_block": block})
}

fn stop(index: u64) -> Value {
    json!({"type": "content_block_stop", "index": index})
}

/// A stream with every kind of block, pings and unknown events.
fn recorded() -> Vec<Value> {
    vec![
        json!({"type": "message_start", "message": {"id": "m", "content": [], "usage":
            {"input_tokens": 10, "cache_read_input_tokens": 100, "cache_creation_input_tokens": 5, "output_tokens": 1}}}),
        json!({"type": "ping"}),
        start(0, json!({"type": "thinking", "thinking": "", "signature": ""})),
        delta(0, json!({"type": "thinking_delta", "thinking": "hm ü"})),
        delta(0, json!({"type": "signature_delta", "signature": "proof"})),
        stop(0),
        start(1, json!({"type": "redacted_thinking", "data": "opaque"})),
        stop(1),
        json!({"type": "from_the_future", "index": 1}),
        start(2, json!({"type": "text", "text": ""})),
        delta(2, json!({"type": "text_delta", "text": "Hel"})),
        delta(2, json!({"type": "text_delta", "text": "lo"})),
        delta(2, json!({"type": "citations_delta", "citation": {}})),
        stop(2),
        start(3, json!({"type": "tool_use", "id": "toolu_1", "name": "Read", "input": {}})),
        delta(3, json!({"type": "input_json_delta", "partial_json": ""})),
        delta(3, json!({"type": "input_json_delta", "partial_json": "{\"file_path\": "})),
        delta(3, json!({"type": "input_json_delta", "partial_json": "\"/a\"}"})),
        stop(3),
        start(4, json!({"type": "server_tool_use", "id": "s1", "name": "web_search", "input": {}})),
        delta(4, json!({"type": "input_json_delta", "partial_json": "{\"q\":1}"})),
        stop(4),
        json!({"type": "message_delta", "delta": {"stop_reason": "tool_use"}, "usage": {"output_tokens": 20}}),
        json!({"type": "message_stop"}),
    ]
}

fn recorded_blocks() -> Vec<MessageBlock> {
    vec![
        MessageBlock::Thinking { thinking: "hm ü".to_owned(), signature: Some("proof".to_owned()) },
        MessageBlock::RedactedThinking { data: "opaque".to_owned() },
        MessageBlock::Text { text: "Hello".to_owned() },
        tool_use("toolu_1", json!({"file_path": "/a"})),
        MessageBlock::Other(json!({"type": "server_tool_use", "id": "s1", "name": "web_search", "input": {"q": 1}})),
    ]
}

fn blocks(events: &[ModelEvent]) -> Vec<MessageBlock> {
    events
        .iter()
        .filter_map(|event| match event {
            ModelEvent::BlockDone { block, .. } => Some(block.clone()),
            _ => None,
        })
        .collect()
}

fn fault(events: &[ModelEvent]) -> (FaultKind, String) {
    match events.last() {
        Some(ModelEvent::Fault(fault)) => (fault.kind, fault.message.clone()),
        other => panic!("no fault: {other:?}"),
    }
}

async fn answer(reply: Reply) -> Vec<ModelEvent> {
    let server = Server::start(vec![reply]).await;
    model(endpoint(&server.url)).stream(request(vec![user("hi")])).collect().await
}

#[tokio::test]
async fn a_whole_stream_becomes_events() {
    let events = answer(Reply::stream(sse(&recorded()))).await;
    assert_eq!(blocks(&events), recorded_blocks());
    assert_eq!(events.last(), Some(&ModelEvent::Stopped { reason: "tool_use".to_owned() }));
    let text: String = events
        .iter()
        .filter_map(|event| match event {
            ModelEvent::Delta { index: 2, kind: DeltaKind::Text, text } => Some(text.as_str()),
            _ => None,
        })
        .collect();
    assert_eq!(text, "Hello");
    let kind = BlockKind::ToolUse { id: "toolu_1".to_owned(), name: "Read".to_owned() };
    assert!(events.contains(&ModelEvent::BlockStarted { index: 3, kind }));
    let usage = Usage {
        input_tokens: 10,
        output_tokens: 20,
        cache_read_tokens: 100,
        cache_write_tokens: 5,
        context_tokens: 135,
        context_window: 1000,
    };
    let last = events.iter().rev().find(|event| matches!(event, ModelEvent::Usage(_)));
    assert_eq!(last, Some(&ModelEvent::Usage(usage)));
}

#[tokio::test]
async fn broken_and_empty_inputs_reach_the_tool() {
    for (parts, expected) in [
        (vec![], json!({})),
        (vec![""], json!({})),
        (vec!["{\"a\": "], json!("{\"a\": ")),
        (vec!["[1", "]"], json!("[1]")),
        (vec!["{\"a\"", ":1}"], json!({"a": 1})),
    ] {
        let mut events = vec![start(0, json!({"type": "tool_use", "id": "t", "name": "Read", "input": {}}))];
        events.extend(parts.iter().map(|part| delta(0, json!({"type": "input_json_delta", "partial_json": part}))));
        events.extend([stop(0), json!({"type": "message_stop"})]);
        let events = answer(Reply::stream(sse(&events))).await;
        assert_eq!(blocks(&events), [tool_use("t", expected)]);
        assert!(matches!(events.last(), Some(ModelEvent::Stopped { .. })));
    }
}

#[tokio::test]
async fn streams_against_the_rules_are_malformed() {
    let text = json!({"type": "text", "text": ""});
    for events in [
        vec![delta(0, json!({"type": "text_delta", "text": "x"}))],
        vec![stop(0)],
        vec![start(0, text.clone()), start(0, text)],
        vec![json!({"type": "content_block_start", "content_block": {"type": "text"}})],
        vec![json!({"type": "content_block_start", "index": -1, "content_block": {"type": "text"}})],
    ] {
        assert_eq!(fault(&answer(Reply::stream(sse(&events))).await).0, FaultKind::Malformed, "{events:?}");
    }
    for body in [&b"data: {\n\n"[..], b"data: \xff\xff\n\n"] {
        assert_eq!(fault(&answer(Reply::stream(body)).await).0, FaultKind::Malformed);
    }
}

#[tokio::test]
async fn an_error_in_the_stream_comes_after_what_was_complete() {
    let events = [
        start(0, json!({"type": "text", "text": "a"})),
        stop(0),
        start(1, json!({"type": "tool_use", "id": "t", "name": "Read", "input": {}})),
        json!({"type": "error", "error": {"type": "overloaded_error", "message": "Overloaded canary-key"}}),
    ];
    let events = answer(Reply::stream(sse(&events))).await;
    assert_eq!(blocks(&events), [MessageBlock::Text { text: "a".to_owned() }]);
    let (kind, message) = fault(&events);
    assert_eq!(kind, FaultKind::Overloaded { retry_after_ms: None });
    assert!(message.contains("Overloaded") && !message.contains("canary"), "{message}");
}

#[tokio::test]
async fn an_unfinished_block_at_the_end_event_is_truncated() {
    let tool = json!({"type": "tool_use", "id": "t", "name": "Read", "input": {}});
    let events = answer(Reply::stream(sse(&[start(0, tool), json!({"type": "message_stop"})]))).await;
    assert_eq!(blocks(&events), []);
    assert_eq!(fault(&events).0, FaultKind::Truncated);
}

#[tokio::test]
async fn statuses_become_faults_without_the_key() {
    let body = r#"{"type":"error","error":{"type":"some_error","message":"no: canary-key"}}"#;
    for (status, kind) in [
        (401, FaultKind::Authentication),
        (404, FaultKind::NotFound),
        (400, FaultKind::InvalidRequest),
        (429, FaultKind::RateLimited { retry_after_ms: Some(3000) }),
        (529, FaultKind::Overloaded { retry_after_ms: Some(3000) }),
    ] {
        let (got, message) = fault(&answer(Reply::json(status, body).header("retry-after", "3")).await);
        assert_eq!(got, kind);
        assert!(!message.contains("canary"), "{message}");
    }
    let (_, message) = fault(&answer(Reply::json(401, body)).await);
    assert!(message.starts_with("anthropic refused the key from ANTHROPIC_API_KEY (401"), "{message}");
    let (_, message) = fault(&answer(Reply::json(404, body)).await);
    assert!(message.starts_with("anthropic/claude-test is not a model that http://127.0.0.1:"), "{message}");
    let (kind, _) = fault(&answer(Reply::json(302, "").header("location", "http://127.0.0.1:1/")).await);
    assert_eq!(kind, FaultKind::InvalidRequest, "a redirect is not followed");
}

#[tokio::test]
async fn a_dead_host_is_unreachable() {
    let events: Vec<ModelEvent> =
        model(endpoint("http://127.0.0.1:1")).stream(request(vec![user("hi")])).collect().await;
    let (kind, message) = fault(&events);
    assert_eq!(kind, FaultKind::Unreachable);
    assert!(message.starts_with("can't reach http://127.0.0.1:1 ("), "{message}");
    assert!(message.ends_with("is the server running?"), "{message}");
}

#[tokio::test]
async fn silence_and_pings_alone_end_a_stream() {
    let first = sse(&recorded()[..4]);
    let pulse = |pulse| Reply { pulse: Some(pulse), ..Reply::stream(first.clone()) };
    for reply in [
        Reply::stream(first.clone()).hold(),
        pulse("event: ping\ndata: {\"type\":\"ping\"}\n\n"),
        pulse("data: {\"type\": \"ping\"}\n\n"),
        pulse(": here\n"),
    ] {
        let server = Server::start(vec![reply]).await;
        let mut endpoint = endpoint(&server.url);
        endpoint.idle = Duration::from_millis(60);
        let events: Vec<ModelEvent> = model(endpoint).stream(request(vec![user("hi")])).collect().await;
        let (kind, message) = fault(&events);
        assert_eq!(kind, FaultKind::Truncated);
        assert!(message.contains("nothing came for"), "{message}");
    }
}

#[tokio::test]
async fn an_answer_without_an_end_ends_at_its_limit() {
    let more = "data: {\"type\":\"content_block_delta\",\"index\":0,\"delta\":{\"type\":\"thinking_delta\",\"thinking\":\"x\"}}\n\n";
    let server = Server::start(vec![Reply { pulse: Some(more), ..Reply::stream(sse(&recorded()[..4])) }]).await;
    let mut endpoint = endpoint(&server.url);
    endpoint.answer = Duration::from_millis(60);
    let events: Vec<ModelEvent> = model(endpoint).stream(request(vec![user("hi")])).collect().await;
    let (kind, message) = fault(&events);
    assert_eq!(kind, FaultKind::Truncated);
    assert!(message.contains("limits.answerMs, 60 ms"), "{message}");
    assert_eq!(blocks(&events), []);
}

/// The limit holds before the head of the answer has come, too.
#[tokio::test]
async fn an_answer_without_a_head_ends_at_its_limit() {
    let listener = tokio::net::TcpListener::bind("127.0.0.1:0").await.expect("a port");
    let mut endpoint = endpoint(&format!("http://{}", listener.local_addr().expect("an address")));
    endpoint.answer = Duration::from_millis(60);
    let events: Vec<ModelEvent> = model(endpoint).stream(request(vec![user("hi")])).collect().await;
    assert!(fault(&events).1.contains("limits.answerMs, 60 ms"), "{events:?}");
}

#[tokio::test]
async fn dropping_the_stream_closes_the_connection() {
    let server = Server::start(vec![Reply::stream(sse(&recorded()[..4])).hold()]).await;
    let mut stream = model(endpoint(&server.url)).stream(request(vec![user("hi")]));
    assert!(stream.next().await.is_some());
    drop(stream);
    server.closed.notified().await;
}

/// Row A07: of the tools, only the last has a cache mark; the system prompt and the last user message have one.
#[tokio::test]
async fn the_request_has_its_headers_and_its_shape() {
    let server = Server::start(vec![Reply::stream(sse(&recorded()))]).await;
    let mut with_header = endpoint(&format!("{}/v1/", server.url));
    with_header.headers.push(("X-Team".to_owned(), Secret::new("blue")));
    with_header.max_output = Some(77);
    model(with_header).stream(request(vec![user("hi")])).collect::<Vec<_>>().await;
    let mut bearer = endpoint(&server.url);
    bearer.key.as_mut().expect("a key").scheme = Scheme::Bearer;
    model(bearer).stream(request(vec![user("hi")])).collect::<Vec<_>>().await;
    let seen = server.requests();
    assert!(seen[0].head.starts_with("post /v1/messages http/1.1"), "{}", seen[0].head);
    for header in
        ["x-api-key: canary-key", "anthropic-version: 2023-06-01", "content-type: application/json", "x-team: blue"]
    {
        assert!(seen[0].head.contains(header), "{header}: {}", seen[0].head);
    }
    assert!(seen[1].head.starts_with("post /v1/messages http/1.1"));
    let length = format!("content-length: {}", seen[0].body.len());
    assert!(seen[0].head.contains(&length) && !seen[0].head.contains("transfer-encoding"), "{}", seen[0].head);
    assert!(seen[1].head.contains("authorization: bearer canary-key") && !seen[1].head.contains("x-api-key"));
    let mark = json!({"type": "ephemeral"});
    assert_eq!(
        seen[0].json(),
        json!({
            "model": "claude-test", "max_tokens": 77, "stream": true,
            "tools": [
                {"name": "Bash", "description": "does", "input_schema": {"type": "object"}},
                {"name": "Read", "description": "does", "input_schema": {"type": "object"}, "cache_control": mark},
            ],
            "system": [{"type": "text", "text": "be good", "cache_control": mark}],
            "messages": [{"role": "user", "content": [{"type": "text", "text": "hi", "cache_control": mark}]}],
        })
    );
    assert_eq!(seen[1].json()["max_tokens"], 32_000);
}

#[test]
fn an_answer_that_was_cut_is_asked_for_with_twice_the_room() {
    let room = |endpoint: &Endpoint, escalation| {
        let request = ModelRequest { escalation, ..request(vec![user("hi")]) };
        let body: Value =
            serde_json::from_slice(&encode::body(endpoint, &request, &Prefix::default()).to_vec()).expect("JSON");
        body["max_tokens"].as_u64().expect("a number")
    };
    let mut endpoint = endpoint("http://127.0.0.1:1");
    let rooms = [0, 1, 2, 3, u32::MAX].map(|escalation| room(&endpoint, escalation));
    assert_eq!(rooms, [32_000, 64_000, 128_000, 128_000, 128_000]);
    endpoint.output_limit = 64_000;
    assert_eq!(room(&endpoint, 3), 64_000, "no more than the model can");
    endpoint.max_output = Some(77);
    assert_eq!(room(&endpoint, 3), 77, "what the settings say stays");
}

fn encoded(messages: Vec<Message>) -> Value {
    let body = encode::body(&endpoint("http://127.0.0.1:1"), &request(messages), &Prefix::default()).to_vec();
    serde_json::from_slice(&body).expect("JSON")
}

/// Row F05: thinking goes back to its writer unchanged, with its signature, and to no other model.
#[test]
fn private_blocks_go_back_to_their_writer_only() {
    let content = vec![
        MessageBlock::Thinking { thinking: "t".to_owned(), signature: Some("s".to_owned()) },
        MessageBlock::Thinking { thinking: "unsigned".to_owned(), signature: None },
        MessageBlock::RedactedThinking { data: "d".to_owned() },
        MessageBlock::Other(json!({"type": "compaction", "content": "c"})),
        MessageBlock::Text { text: " ".to_owned() },
        tool_use("a.b", json!("{broken")),
    ];
    let call = json!({"type": "tool_use", "id": "a_b", "name": "Read", "input": {"INVALID_JSON": "{broken"}});
    let own = encoded(vec![user("q"), assistant("anthropic/claude-test", content.clone())]);
    assert_eq!(
        own["messages"][1]["content"],
        json!([
            {"type": "thinking", "thinking": "t", "signature": "s"},
            {"type": "redacted_thinking", "data": "d"},
            {"type": "compaction", "content": "c"},
            call,
        ])
    );
    let other = encoded(vec![user("q"), assistant("openai/x", content)]);
    assert_eq!(other["messages"][1]["content"], json!([call]));
    let only_private = vec![MessageBlock::RedactedThinking { data: "d".to_owned() }];
    for model in ["openai/x", "anthropic/claude-test"] {
        let cut = encoded(vec![user("q"), assistant(model, only_private.clone())]);
        assert_eq!(cut["messages"][1]["content"], json!([{"type": "text", "text": "(nothing)"}]), "{model}");
    }
}

/// Row L13: the results of a round are one user message, one result for each call, in call order, errors
/// flagged, and text after them.
#[test]
fn results_come_first_and_pictures_are_kept() {
    let image = ContentBlock::Image { media_type: "image/png".to_owned(), data: "AA==".to_owned() };
    let failed = UserBlock::ToolResult { tool_use_id: "t2".to_owned(), content: Vec::new(), is_error: true };
    let seen = UserBlock::ToolResult { tool_use_id: "t1".to_owned(), content: vec![image], is_error: false };
    let calls = vec![tool_use("t1", json!({})), tool_use("t2", json!({}))];
    let next = Message::User(vec![seen, failed, UserBlock::Content(ContentBlock::text("go on"))]);
    let body = encoded(vec![user("q"), assistant("anthropic/claude-test", calls), next]);
    assert_eq!(
        body["messages"][2]["content"],
        json!([
            {"type": "tool_result", "tool_use_id": "t1", "content":
                [{"type": "image", "source": {"type": "base64", "media_type": "image/png", "data": "AA=="}}]},
            {"type": "tool_result", "tool_use_id": "t2", "content": [{"type": "text", "text": "(no output)"}], "is_error": true},
            {"type": "text", "text": "go on", "cache_control": {"type": "ephemeral"}},
        ])
    );
}

/// A conversation of some rounds.
fn conversation(rounds: usize) -> Vec<Message> {
    let mut messages = vec![user("start")];
    for round in 0..rounds {
        let id = format!("t{round}");
        messages.push(assistant("anthropic/claude-test", vec![tool_use(&id, json!({"z": round, "a": [1, {"y": 2}]}))]));
        messages.push(Message::User(vec![result(&id, "out")]));
    }
    messages
}

#[test]
fn a_longer_conversation_keeps_the_bytes_of_the_shorter_one() {
    const MARK: &str = r#","cache_control":{"type":"ephemeral"}"#;
    let bytes = |rounds| {
        let body =
            encode::body(&endpoint("http://127.0.0.1:1"), &request(conversation(rounds)), &Prefix::default()).to_vec();
        String::from_utf8(body).expect("text")
    };
    for rounds in 0..6 {
        assert_eq!(bytes(rounds), bytes(rounds), "the same twice");
        let shorter = bytes(rounds).replace(MARK, "");
        let longer = bytes(rounds + 1).replace(MARK, "");
        let prefix = shorter.strip_suffix("]}").expect("the end of the messages");
        assert!(longer.starts_with(prefix), "round {rounds}");
        assert!(bytes(rounds).matches(MARK).count() <= 4, "the API takes no more marks");
    }
    // A marker stands where the last request had its last one, so that the cache is found again.
    let (before, after) = (encoded(conversation(3)), encoded(conversation(4)));
    let last = before["messages"].as_array().expect("messages").len() - 1;
    assert_eq!(before["messages"][last], after["messages"][last]);
}

/// Of a longer request, only what is new is made anew: the rest is the very memory of the one before.
#[test]
fn what_was_encoded_is_shared_with_the_next_request() {
    let messages = [user(&"long ".repeat(10_000)), assistant("anthropic/claude-test", Vec::new()), user("x")];
    let mut entries: Vec<Entry> = messages.map(Entry::from).to_vec();
    let long_pieces = |entries: &[Entry]| -> Vec<*const u8> {
        let request = ModelRequest { messages: Arc::new(entries.iter().cloned().collect()), ..request(Vec::new()) };
        let body = encode::body(&endpoint("http://127.0.0.1:1"), &request, &Prefix::default());
        body.places().into_iter().filter(|(_, len)| *len > 40_000).map(|(place, _)| place).collect()
    };
    let before = long_pieces(&entries);
    entries.extend([assistant("anthropic/claude-test", Vec::new()), user("y")].map(Entry::from));
    assert_eq!(before.len(), 1);
    assert_eq!(before, long_pieces(&entries), "though its cache mark has gone");
}

/// Any event of the format, right or wrong, with few indices so that they meet.
fn any_event() -> impl Strategy<Value = Value> {
    let index = 0_u64..3;
    let block = prop_oneof![
        Just(json!({"type": "text", "text": ""})),
        Just(json!({"type": "tool_use", "id": "t", "name": "Read", "input": {}})),
        Just(json!({"type": "thinking"})),
        Just(json!({"type": "new", "content": "a"})),
        Just(Value::Null),
    ];
    let part = prop_oneof![
        Just(json!({"type": "text_delta", "text": "x"})),
        Just(json!({"type": "input_json_delta", "partial_json": "{\"a\":"})),
        Just(json!({"type": "new_delta", "content": 7})),
        Just(json!([])),
    ];
    prop_oneof![
        (index.clone(), block).prop_map(|(index, block)| start(index, block)),
        (index.clone(), part).prop_map(|(index, part)| delta(index, part)),
        index.prop_map(stop),
        Just(json!({"type": "message_delta", "delta": {"stop_reason": "end_turn"}, "usage": {"output_tokens": 1e99}})),
        Just(json!({"type": "message_stop"})),
        Just(json!({"type": "error"})),
        Just(json!([1])),
    ]
}

proptest! {
    #[test]
    fn whatever_comes_there_is_one_end_and_no_block_twice(events in vec(any_event(), 0..30)) {
        let endpoint = Arc::new(endpoint("http://127.0.0.1:1"));
        let mut decoder = decode::Decode::new(endpoint, CallIds::default());
        let mut out = VecDeque::new();
        for event in events {
            decoder.event("message", &event.to_string(), &mut out);
        }
        decoder.end("cut", &mut out);
        let ends = |event: &&ModelEvent| matches!(event, ModelEvent::Stopped { .. } | ModelEvent::Fault(_));
        prop_assert_eq!(out.iter().filter(ends).count(), 1);
        prop_assert!(out.back().as_ref().is_some_and(ends));
        let (mut started, mut given, mut ids) = (HashSet::new(), HashSet::new(), HashSet::new());
        for event in &out {
            match event {
                ModelEvent::BlockStarted { index, .. } => prop_assert!(started.insert(*index)),
                ModelEvent::Delta { index, .. } => prop_assert!(started.contains(index) && !given.contains(index)),
                ModelEvent::BlockDone { index, block } => {
                    prop_assert!(started.contains(index) && given.insert(*index));
                    if let MessageBlock::ToolUse { id, .. } = block {
                        prop_assert!(ids.insert(id.clone()));
                    }
                }
                _ => {}
            }
        }
    }
}

/// Row A07: of the tools only the last carries the cache marker, and never one whose loading is deferred.
#[test]
fn the_last_tool_alone_is_marked() {
    let marked = |deferred: &[bool]| {
        let mut request = request(vec![user("hi")]);
        let tool = |(at, defer_loading): (usize, &bool)| ToolDefinition {
            name: format!("t{at}"),
            defer_loading: *defer_loading,
            ..ToolDefinition::default()
        };
        request.tools = deferred.iter().enumerate().map(tool).collect();
        let body: Value =
            serde_json::from_slice(&encode::body(&endpoint("http://x"), &request, &Prefix::default()).to_vec())
                .unwrap();
        let tools = body["tools"].as_array().unwrap().clone();
        tools.iter().map(|tool| tool.get("cache_control").is_some()).collect::<Vec<_>>()
    };
    assert_eq!(marked(&[false]), [true]);
    assert_eq!(marked(&[false, false, false]), [false, false, true]);
    assert_eq!(marked(&[false, false, true]), [false, true, false]);
    assert_eq!(marked(&[true, true]), [false, false]);
}

/// Rows A04, A05, A06: a flag that is off is not in the request at all.
#[test]
fn flags_of_tools_are_sent_only_where_they_are_on() {
    let tool = |strict, eager_input_streaming, defer_loading| {
        let mut request = request(vec![user("hi")]);
        request.tools =
            [ToolDefinition { strict, eager_input_streaming, defer_loading, ..ToolDefinition::default() }].into();
        let body: Value =
            serde_json::from_slice(&encode::body(&endpoint("http://x"), &request, &Prefix::default()).to_vec())
                .unwrap();
        let fields = body["tools"][0].as_object().unwrap().clone();
        let flags = fields.iter().filter(|(_, value)| **value == json!(true));
        flags.map(|(name, _)| name.clone()).collect::<Vec<_>>()
    };
    assert_eq!(tool(false, false, false), [""; 0]);
    assert_eq!(tool(true, true, true), ["strict", "eager_input_streaming", "defer_loading"]);
    assert_eq!(tool(false, true, false), ["eager_input_streaming"]);
}

/// Row A05: the API itself takes eager input; behind any other base URL it is not sent.
#[test]
fn a_base_url_of_another_switches_eager_input_off() {
    for (base_url, own) in [
        ("https://api.anthropic.com", true),
        ("https://api.anthropic.com/v1", true),
        ("https://gateway.example.com", false),
        ("http://api.anthropic.com", false),
        ("https://api.anthropic.com.example.com", false),
    ] {
        assert_eq!(model(endpoint(base_url)).tool_features().eager_input_streaming, own, "{base_url}");
    }
}

/// Row A04: which models can be held to a schema.
#[test]
fn models_since_4_5_can_be_strict() {
    for (name, strict) in [
        ("claude-sonnet-4-5", true),
        ("claude-sonnet-4-5-20250929", true),
        ("claude-opus-4-8", true),
        ("claude-sonnet-5", true),
        ("claude-haiku-4-5", true),
        ("claude-opus-4-1", false),
        ("claude-sonnet-4-20250514", false),
        ("claude-3-5-haiku-20241022", false),
        ("claude-test", false),
        ("other-9-9", false),
    ] {
        let endpoint = Endpoint { model: name.to_owned(), ..endpoint("https://api.anthropic.com") };
        assert_eq!(model(endpoint).tool_features().strict, strict, "{name}");
    }
}
