//! The format over a real connection: whole and cut streams, endings, faults, requests.

mod calls;

use super::*;
use crate::event::{Entry, Message, Messages, UserBlock};
use crate::model::ToolDefinition;
use crate::model::endpoint::for_tests;
use crate::model::test_server::{Reply, Server};
use crate::turn::model_event::{BlockKind, FaultKind, ModelEvent};
use futures::stream::StreamExt;
use proto::content::{ContentBlock, MessageBlock};
use proto::session::Usage;
use serde_json::{Value, json};
use std::time::Duration;

fn model(endpoint: Endpoint) -> OpenaiChat {
    OpenaiChat::new(Arc::new(Http::new(crate::base::environment::Environment::default())), endpoint)
}

fn endpoint(url: &str) -> Endpoint {
    for_tests("mine", "m1", &format!("{url}/v1"), "canary-key")
}

fn request(messages: Vec<Message>) -> ModelRequest {
    let tool = ToolDefinition {
        name: "Read".to_owned(),
        description: "reads".to_owned(),
        input_schema: json!({"type": "object"}),
        ..ToolDefinition::default()
    };
    ModelRequest {
        escalation: 0,
        system: "be good".into(),
        tools: vec![tool].into(),
        messages: messages.into_iter().map(Entry::from).collect::<Messages>().into(),
    }
}

fn user(text: &str) -> Message {
    Message::User(vec![UserBlock::Content(ContentBlock::text(text))])
}

fn tool_use(id: &str, name: &str, input: Value) -> MessageBlock {
    MessageBlock::ToolUse { id: id.to_owned(), name: name.to_owned(), input }
}

fn text(text: &str) -> MessageBlock {
    MessageBlock::Text { text: text.to_owned() }
}

fn chunk(delta: Value) -> Value {
    json!({"object": "chat.completion.chunk", "choices": [{"index": 0, "delta": delta, "finish_reason": null}]})
}

fn calls(calls: Value) -> Value {
    chunk(json!({"tool_calls": calls}))
}

fn finish(reason: &str) -> Value {
    json!({"choices": [{"index": 0, "delta": {}, "finish_reason": reason}]})
}

fn usage() -> Value {
    json!({"choices": [], "usage": {"prompt_tokens": 100, "completion_tokens": 7, "total_tokens": 107,
        "prompt_tokens_details": {"cached_tokens": 60}}})
}

fn sse(chunks: &[Value]) -> String {
    chunks.iter().map(|chunk| format!("data: {chunk}\n\n")).collect()
}

fn done(chunks: &[Value]) -> String {
    sse(chunks) + "data: [DONE]\n\n"
}

async fn answer(reply: Reply) -> Vec<ModelEvent> {
    let server = Server::start(vec![reply]).await;
    model(endpoint(&server.url)).stream(request(vec![user("hi")])).collect().await
}

fn blocks(events: &[ModelEvent]) -> Vec<MessageBlock> {
    let mut blocks: Vec<(usize, MessageBlock)> = events
        .iter()
        .filter_map(|event| match event {
            ModelEvent::BlockDone { index, block } => Some((*index, block.clone())),
            _ => None,
        })
        .collect();
    blocks.sort_by_key(|(index, _)| *index);
    blocks.into_iter().map(|(_, block)| block).collect()
}

fn stopped(events: &[ModelEvent]) -> &str {
    match events.last() {
        Some(ModelEvent::Stopped { reason }) => reason,
        other => panic!("not stopped: {other:?}"),
    }
}

fn fault(events: &[ModelEvent]) -> (FaultKind, String) {
    match events.last() {
        Some(ModelEvent::Fault(fault)) => (fault.kind, fault.message.clone()),
        other => panic!("no fault: {other:?}"),
    }
}

/// Reasoning, text and two calls whose arguments come in parts.
fn recorded() -> Vec<Value> {
    vec![
        chunk(json!({"role": "assistant", "content": ""})),
        chunk(json!({"reasoning_content": "hm "})),
        chunk(json!({"reasoning_content": "ü"})),
        chunk(json!({"content": "Hel"})),
        chunk(json!({"content": "lo"})),
        calls(json!([{"index": 0, "id": "c1", "type": "function", "function": {"name": "Read", "arguments": ""}}])),
        calls(json!([{"index": 0, "function": {"arguments": "{\"file_path\":"}}])),
        calls(json!([{"index": 0, "function": {"arguments": "\"/a\"}"}}])),
        calls(json!([{"index": 1, "id": "c2", "type": "function", "function": {"name": "Glob", "arguments": "{}"}}])),
        finish("tool_calls"),
        usage(),
    ]
}

fn recorded_blocks() -> Vec<MessageBlock> {
    vec![
        MessageBlock::Thinking { thinking: "hm ü".to_owned(), signature: Some("reasoning_content".to_owned()) },
        text("Hello"),
        tool_use("c1", "Read", json!({"file_path": "/a"})),
        tool_use("c2", "Glob", json!({})),
    ]
}

#[tokio::test]
async fn a_whole_stream_becomes_events() {
    let events = answer(Reply::stream(done(&recorded()))).await;
    assert_eq!(blocks(&events), recorded_blocks());
    assert_eq!(stopped(&events), "tool_use");
    let expected = Usage {
        input_tokens: 40,
        output_tokens: 7,
        cache_read_tokens: 60,
        cache_write_tokens: 0,
        context_tokens: 107,
        context_window: 1000,
    };
    assert!(events.contains(&ModelEvent::Usage(expected)));
    let place = |wanted: &dyn Fn(&ModelEvent) -> bool| events.iter().position(wanted).expect("an event");
    let first_done = place(&|event| matches!(event, ModelEvent::BlockDone { index: 2, .. }));
    let second = place(
        &|event| matches!(event, ModelEvent::BlockStarted { index: 3, kind: BlockKind::ToolUse { name, .. } } if name == "Glob"),
    );
    assert!(first_done < second, "a call is given out when the next begins");
}

#[tokio::test]
async fn an_id_of_an_earlier_call_is_not_used_again() {
    let chunks = [
        calls(json!([{"index": 0, "id": "call_0", "function": {"name": "Read", "arguments": "{}"}}])),
        finish("tool_calls"),
    ];
    let server = Server::start(vec![Reply::stream(done(&chunks))]).await;
    let past = Message::Assistant { content: vec![tool_use("call_0", "Read", json!({}))], model: "mine/m1".to_owned() };
    let request = request(vec![user("hi"), past, user("again")]);
    let events: Vec<ModelEvent> = model(endpoint(&server.url)).stream(request).collect().await;
    match blocks(&events).as_slice() {
        [MessageBlock::ToolUse { id, .. }] => assert_ne!(id, "call_0"),
        other => panic!("{other:?}"),
    }
}

#[tokio::test]
async fn endings_differ_and_mean_the_same() {
    let hi = || chunk(json!({"content": "hi"}));
    let call = || calls(json!([{"index": 0, "id": "a", "function": {"name": "Read", "arguments": "{}"}}]));
    let half = || calls(json!([{"index": 0, "id": "a", "function": {"name": "Read", "arguments": "{\"a\""}}]));
    let whole =
        json!({"choices": [{"index": 0, "message": {"role": "assistant", "content": "hi"}, "finish_reason": "stop"}]});
    let parts = chunk(json!({"content": [{"type": "text", "text": "h"}, {"type": "text", "text": "i"}]}));
    let table: Vec<(&str, Reply, usize, &str)> = vec![
        ("stop", Reply::stream(done(&[hi(), finish("stop")])), 1, "end_turn"),
        ("no [DONE]", Reply::stream(sse(&[hi(), finish("stop")])), 1, "end_turn"),
        ("no reason", Reply::stream(done(&[hi()])), 1, "end_turn"),
        ("no reason, a whole call", Reply::stream(done(&[call()])), 1, "tool_use"),
        ("length", Reply::stream(done(&[hi(), finish("length")])), 1, "max_tokens"),
        ("length in a call", Reply::stream(done(&[hi(), half(), finish("length")])), 1, "max_tokens"),
        ("filter", Reply::stream(done(&[hi(), finish("content_filter")])), 1, "refusal"),
        ("refusal", Reply::stream(done(&[chunk(json!({"refusal": "no"})), finish("stop")])), 1, "refusal"),
        ("calls promised, none sent", Reply::stream(done(&[hi(), finish("tool_calls")])), 1, "end_turn"),
        ("something new", Reply::stream(done(&[hi(), finish("eos")])), 1, "end_turn"),
        ("empty", Reply::stream(done(&[finish("stop")])), 0, "end_turn"),
        ("comments", Reply::stream(format!(": PROCESSING\n\n{}", done(&[hi(), finish("stop")]))), 1, "end_turn"),
        ("carriage returns", Reply::stream(done(&[hi(), finish("stop")]).replace('\n', "\r\n")), 1, "end_turn"),
        ("content in parts", Reply::stream(done(&[parts, finish("stop")])), 1, "end_turn"),
        ("a whole message", Reply::json(200, &whole.to_string()), 1, "end_turn"),
    ];
    for (what, reply, count, reason) in table {
        let events = answer(reply).await;
        assert_eq!((stopped(&events), blocks(&events).len()), (reason, count), "{what}");
        assert!(!events.iter().any(|event| matches!(event, ModelEvent::Usage(_))), "{what}: no usage was sent");
    }
}

#[tokio::test]
async fn a_complete_answer_does_not_wait_for_a_lingering_server() {
    let reply = Reply::stream(sse(&[chunk(json!({"content": "hi"})), finish("stop")])).hold();
    let server = Server::start(vec![reply]).await;
    let mut endpoint = endpoint(&server.url);
    // It holds for the answer's beginning too, which takes its time on a busy machine.
    endpoint.idle = Duration::from_secs(1);
    let events: Vec<ModelEvent> = model(endpoint).stream(request(vec![user("hi")])).collect().await;
    assert_eq!(stopped(&events), "end_turn");
}

#[tokio::test]
async fn errors_inside_a_good_status_are_faults() {
    let hi = chunk(json!({"content": "hi canary"}));
    for (body, kind) in [
        (
            sse(&[hi.clone(), json!({"error": {"message": "boom canary-key", "code": 502}})]),
            FaultKind::Overloaded { retry_after_ms: None },
        ),
        (
            sse(&[json!({"error": {"message": "canary-key", "type": "invalid_request_error"}})]),
            FaultKind::InvalidRequest,
        ),
        (sse(&[json!({"object": "error", "message": "canary-key maximum context length"})]), FaultKind::PromptTooLong),
        (
            sse(&[
                json!({"choices": [{"index": 0, "delta": {}, "finish_reason": "error", "error": {"code": 429, "message": "x"}}]}),
            ]),
            FaultKind::RateLimited { retry_after_ms: Some(1_000) },
        ),
        (
            sse(&[json!({"choices": [{"index": 0, "delta": {}, "finish_reason": "error"}]})]),
            FaultKind::Overloaded { retry_after_ms: None },
        ),
        (
            done(&[calls(json!([{"index": 0, "id": "a", "function": {"name": "Read", "arguments": "{\"a\""}}]))]),
            FaultKind::Truncated,
        ),
        ("data: nonsense\n\n".to_owned(), FaultKind::Malformed),
        ("data: [DONE]\n\n".to_owned(), FaultKind::Truncated),
        (String::new(), FaultKind::Truncated),
    ] {
        let (got, message) = fault(&answer(Reply::stream(body.clone())).await);
        assert_eq!(got, kind, "{body}");
        assert!(!message.contains("canary-key"), "{message}");
    }
    let json = Reply::json(200, r#"{"error": "model canary-key is not ready"}"#);
    assert_eq!(fault(&answer(json).await).0, FaultKind::Overloaded { retry_after_ms: None });
}

#[tokio::test]
async fn arguments_after_the_end_of_a_call_are_malformed() {
    let chunks = [
        calls(json!([{"index": 0, "id": "a", "function": {"name": "Read", "arguments": "{}"}}])),
        calls(json!([{"index": 1, "id": "b", "function": {"name": "Read", "arguments": "{}"}}])),
        calls(json!([{"index": 0, "function": {"arguments": "\n"}}])),
        calls(json!([{"index": 0, "function": {"arguments": "{\"x\":1}"}}])),
    ];
    let events = answer(Reply::stream(done(&chunks))).await;
    assert_eq!(fault(&events).0, FaultKind::Malformed);
    assert_eq!(blocks(&events), [tool_use("a", "Read", json!({}))]);
}

#[tokio::test]
async fn statuses_become_faults_that_name_the_remedy() {
    let (kind, message) =
        fault(&answer(Reply::json(401, r#"{"error":{"message":"Incorrect API key provided: canary-key"}}"#)).await);
    assert_eq!(kind, FaultKind::Authentication);
    assert_eq!(
        message,
        "mine refused the key from TEST_API_KEY (401: Incorrect API key provided: [key]): set a valid one or choose another model with --model"
    );
    let (kind, message) = fault(
        &answer(Reply::json(404, r#"{"error":{"message":"model \"m1\" not found, try pulling it first"}}"#)).await,
    );
    assert_eq!(kind, FaultKind::NotFound);
    assert!(message.starts_with("mine/m1 is not a model that http://127.0.0.1:"), "{message}");
    assert!(message.ends_with("see `agentctl models`"), "{message}");
    let (kind, _) = fault(&answer(Reply::json(429, "{}").header("retry-after-ms", "20")).await);
    assert_eq!(kind, FaultKind::RateLimited { retry_after_ms: Some(20) });
}

#[tokio::test]
async fn the_request_has_its_headers_and_its_shape() {
    let server = Server::start(vec![Reply::stream(done(&recorded()))]).await;
    let image = || ContentBlock::Image { media_type: "image/png".to_owned(), data: "AA==".to_owned() };
    let result = |id: &str, content, is_error| UserBlock::ToolResult { tool_use_id: id.to_owned(), content, is_error };
    let messages = vec![
        user("hi"),
        Message::Assistant {
            content: vec![
                MessageBlock::Thinking { thinking: "t".to_owned(), signature: None },
                tool_use("a", "Read", json!({"b": 1, "a": 2})),
                tool_use("b", "Read", json!("{broken")),
            ],
            model: "mine/m1".to_owned(),
        },
        Message::User(vec![
            result("a", vec![ContentBlock::text("out"), image()], false),
            result("b", vec![ContentBlock::text("bad input")], true),
            UserBlock::Content(ContentBlock::text("go")),
        ]),
        Message::Assistant {
            content: vec![MessageBlock::RedactedThinking { data: "d".to_owned() }],
            model: "x/y".to_owned(),
        },
        Message::User(vec![result("c", Vec::new(), false)]),
    ];
    let mut endpoint = endpoint(&server.url);
    endpoint.max_output = Some(9);
    model(endpoint).stream(request(messages)).collect::<Vec<_>>().await;
    let seen = &server.requests()[0];
    assert!(seen.head.starts_with("post /v1/chat/completions http/1.1"), "{}", seen.head);
    assert!(seen.head.contains("authorization: bearer canary-key"));
    let call = |id: &str, arguments: &str| json!({"id": id, "type": "function", "function": {"name": "Read", "arguments": arguments}});
    assert_eq!(
        seen.json(),
        json!({
            "model": "m1", "max_tokens": 9, "stream": true, "stream_options": {"include_usage": true},
            "tools": [{"type": "function", "function": {"name": "Read", "description": "reads", "parameters": {"type": "object"}}}],
            "messages": [
                {"role": "system", "content": "be good"},
                {"role": "user", "content": "hi"},
                {"role": "assistant", "content": null, "tool_calls":
                    [call("a", r#"{"b":1,"a":2}"#), call("b", r#"{"INVALID_JSON":"{broken"}"#)]},
                {"role": "tool", "tool_call_id": "a", "content": "out\n\n(the picture follows)"},
                {"role": "tool", "tool_call_id": "b", "content": "Error: bad input"},
                {"role": "user", "content": [
                    {"type": "image_url", "image_url": {"url": "data:image/png;base64,AA=="}},
                    {"type": "text", "text": "go"},
                ]},
                {"role": "assistant", "content": "(nothing)"},
                {"role": "tool", "tool_call_id": "c", "content": "(no output)"},
            ],
        })
    );
}

/// Row F05: reasoning goes back to its writer, in the field that it came in, and to no other model.
#[test]
fn reasoning_goes_back_to_its_writer_only() {
    let thinking = |text: &str, signature: Option<&str>| MessageBlock::Thinking {
        thinking: text.to_owned(),
        signature: signature.map(str::to_owned),
    };
    let said = |model: &str, mut content: Vec<MessageBlock>| {
        content.push(text("so"));
        let messages = vec![user("q"), Message::Assistant { content, model: model.to_owned() }, user("more")];
        let body = encode::body(&endpoint("http://127.0.0.1:1"), &request(messages), &Prefix::default()).to_vec();
        let body: Value = serde_json::from_slice(&body).expect("JSON");
        body["messages"][2].clone()
    };
    let plain = json!({"role": "assistant", "content": "so"});
    for field in ["reasoning_content", "reasoning"] {
        let content = || vec![thinking("hm ", Some(field)), thinking("ü", Some(field))];
        let mut own = plain.clone();
        own[field] = json!("hm ü");
        assert_eq!(said("mine/m1", content()), own);
        assert_eq!(said("mine/m2", content()), plain);
    }
    // From the tags in the text, from another format: nothing to send back.
    let others = vec![thinking("hm", None), thinking("hm", Some("EqQB")), MessageBlock::Other(json!({"type": "new"}))];
    assert_eq!(said("mine/m1", others), plain);
}

/// Row F05: what only the server understands goes back to the model that it came with, in its places.
#[tokio::test]
async fn private_fields_go_back_to_their_writer_only() {
    let details = |part: Value| chunk(json!({"reasoning": "h", "reasoning_details": [part]}));
    let signed = json!({"google": {"thought_signature": "proof"}});
    let call = |id: &str| json!({"index": 0, "id": id, "function": {"name": "Read", "arguments": "{}"}, "extra_content": signed});
    let events = answer(Reply::stream(done(&[
        details(json!({"type": "reasoning.text", "index": 0, "text": "h", "format": "x"})),
        details(json!({"type": "reasoning.text", "index": 0, "text": "m", "signature": "s", "format": null})),
        details(json!({"type": "reasoning.encrypted", "index": 0, "data": "e"})),
        calls(json!([call("a")])),
        calls(json!([{"index": 1, "id": "b", "function": {"name": "Read", "arguments": "{}"}}])),
        finish("tool_calls"),
    ])))
    .await;
    let said = |model: &str| {
        let messages = vec![user("q"), Message::Assistant { content: blocks(&events), model: model.to_owned() }];
        let body = encode::body(&endpoint("http://127.0.0.1:1"), &request(messages), &Prefix::default()).to_vec();
        let body: Value = serde_json::from_slice(&body).expect("JSON");
        body["messages"][2].clone()
    };
    let own = said("mine/m1");
    assert_eq!(
        own["reasoning_details"],
        json!([
            {"type": "reasoning.text", "index": 0, "text": "hm", "format": "x", "signature": "s"},
            {"type": "reasoning.encrypted", "index": 0, "data": "e"},
        ])
    );
    assert_eq!(own["tool_calls"][0]["extra_content"], signed);
    assert_eq!(own["tool_calls"][1].get("extra_content"), None);
    let other = said("mine/m2").to_string();
    assert!(other.contains("tool_calls") && !other.contains("reasoning") && !other.contains("extra"), "{other}");
}

#[test]
fn an_answer_that_was_cut_is_asked_for_with_twice_the_room() {
    let room = |endpoint: &Endpoint, escalation| {
        let request = ModelRequest { escalation, ..request(vec![user("hi")]) };
        let body: Value =
            serde_json::from_slice(&encode::body(endpoint, &request, &Prefix::default()).to_vec()).expect("JSON");
        let field = if endpoint.provider == "openai" { "max_completion_tokens" } else { "max_tokens" };
        body.get(field).and_then(Value::as_u64)
    };
    let mut endpoint = endpoint("http://127.0.0.1:1");
    for provider in ["mine", "openai"] {
        endpoint.provider = provider.to_owned();
        let rooms = [0, 1, 2, 3].map(|escalation| room(&endpoint, escalation));
        assert_eq!(rooms, [None, Some(64_000), Some(128_000), Some(128_000)], "at first the server knows best");
    }
    endpoint.max_output = Some(77);
    assert_eq!([0, 3].map(|escalation| room(&endpoint, escalation)), [Some(77); 2]);
}

#[test]
fn a_longer_conversation_keeps_the_bytes_of_the_shorter_one() {
    let mut messages = vec![user("start")];
    let endpoint = endpoint("http://127.0.0.1:1");
    let bytes = |messages: &[Message]| {
        String::from_utf8(encode::body(&endpoint, &request(messages.to_vec()), &Prefix::default()).to_vec())
            .expect("text")
    };
    for round in 0..5 {
        let shorter = bytes(&messages);
        let id = format!("t{round}");
        let content = vec![text("so"), tool_use(&id, "Read", json!({"z": 1, "a": {"y": 2, "b": 3}}))];
        messages.push(Message::Assistant { content, model: "mine/m1".to_owned() });
        let out = vec![ContentBlock::text("out")];
        messages.push(Message::User(vec![UserBlock::ToolResult { tool_use_id: id, content: out, is_error: false }]));
        let prefix = shorter.strip_suffix("]}").expect("the end of the messages");
        assert!(bytes(&messages).starts_with(prefix), "round {round}");
    }
}
