//! The format over a real connection: whole and cut streams, endings, faults, requests.

mod any;

use super::*;
use crate::config::Price;
use crate::event::{Entry, Message, Messages, UserBlock};
use crate::model::ToolDefinition;
use crate::model::endpoint::for_tests;
use crate::model::test_server::{Reply, Server};
use crate::turn::model_event::{BlockKind, FaultKind, ModelEvent};
use futures::stream::StreamExt;
use proto::content::{ContentBlock, MessageBlock};
use proto::event::DeltaKind;
use proto::session::{Cost, Usage};
use serde_json::{Value, json};

fn endpoint(url: &str) -> Endpoint {
    for_tests("openai", "gpt-5", &format!("{url}/v1"), "canary-key")
}

fn model(endpoint: Endpoint) -> OpenaiResponses {
    OpenaiResponses::new(Arc::new(Http::new(crate::base::environment::Environment::default())), endpoint)
}

fn request(messages: Vec<Message>) -> ModelRequest {
    let tool = ToolDefinition {
        name: "Read".to_owned(),
        description: "reads".to_owned(),
        input_schema: json!({"type": "object"}),
        strict: false,
        eager_input_streaming: false,
        defer_loading: false,
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

fn result(id: &str, content: Vec<ContentBlock>, is_error: bool) -> UserBlock {
    UserBlock::ToolResult { tool_use_id: id.to_owned(), content, is_error }
}

fn assistant(model: &str, content: Vec<MessageBlock>) -> Message {
    Message::Assistant { content, model: model.to_owned() }
}

fn tool_use(id: &str, name: &str, input: Value) -> MessageBlock {
    MessageBlock::ToolUse { id: id.to_owned(), name: name.to_owned(), input }
}

fn text(text: &str) -> MessageBlock {
    MessageBlock::Text { text: text.to_owned() }
}

fn thinking(text: &str, encrypted: Option<&str>) -> MessageBlock {
    MessageBlock::Thinking { thinking: text.to_owned(), signature: encrypted.map(str::to_owned) }
}

fn added(place: u64, item: Value) -> Value {
    json!({"type": "response.output_item.added", "output_index": place, "item": item})
}

fn done(place: u64, item: Value) -> Value {
    json!({"type": "response.output_item.done", "output_index": place, "item": item})
}

fn delta(kind: &str, place: u64, text: &str) -> Value {
    json!({"type": format!("response.{kind}.delta"), "output_index": place, "delta": text})
}

fn message(text: &str) -> Value {
    json!({"type": "message", "id": "msg_1", "role": "assistant", "status": "completed",
        "content": [{"type": "output_text", "text": text, "annotations": []}]})
}

fn call(call_id: &str, name: &str, arguments: &str) -> Value {
    json!({"type": "function_call", "id": format!("fc_{call_id}"), "call_id": call_id, "name": name,
        "arguments": arguments, "status": "completed"})
}

fn ended(event: &str, answer: Value) -> Value {
    json!({"type": format!("response.{event}"), "response": answer})
}

fn usage() -> Value {
    json!({"input_tokens": 100, "input_tokens_details": {"cached_tokens": 60}, "output_tokens": 7,
        "output_tokens_details": {"reasoning_tokens": 3}, "total_tokens": 107})
}

/// Reasoning with a summary, text, two calls whose arguments stream in turns, and an item of a later version.
fn recorded() -> Vec<Value> {
    let reasoning = json!({"type": "reasoning", "id": "rs_1", "encrypted_content": "opaque",
        "summary": [{"type": "summary_text", "text": "hm ü"}, {"type": "summary_text", "text": "so"}]});
    vec![
        json!({"type": "response.created", "response": {"id": "resp_1", "status": "in_progress", "output": []}}),
        json!({"type": "response.in_progress", "response": {"id": "resp_1", "status": "in_progress"}}),
        added(0, json!({"type": "reasoning", "id": "rs_1", "summary": []})),
        json!({"type": "response.reasoning_summary_part.added", "output_index": 0, "summary_index": 0}),
        delta("reasoning_summary_text", 0, "hm ü"),
        json!({"type": "response.reasoning_summary_part.added", "output_index": 0, "summary_index": 1}),
        delta("reasoning_summary_text", 0, "so"),
        done(0, reasoning),
        added(1, json!({"type": "message", "id": "msg_1", "content": []})),
        json!({"type": "response.content_part.added", "output_index": 1, "part": {"type": "output_text", "text": ""}}),
        delta("output_text", 1, "Hel"),
        delta("output_text", 1, "lo"),
        json!({"type": "response.output_text.done", "output_index": 1, "text": "Hello"}),
        json!({"type": "response.content_part.done", "output_index": 1}),
        done(1, message("Hello")),
        added(2, json!({"type": "function_call", "id": "fc_1", "call_id": "c1", "name": "Read", "arguments": ""})),
        added(3, json!({"type": "function_call", "id": "fc_2", "call_id": "c2", "name": "Glob", "arguments": ""})),
        delta("function_call_arguments", 3, "{}"),
        delta("function_call_arguments", 2, "{\"file_path\":"),
        delta("function_call_arguments", 2, "\"/a\"}"),
        json!({"type": "response.function_call_arguments.done", "output_index": 2, "arguments": "{\"file_path\":\"/a\"}"}),
        done(2, call("c1", "Read", "{\"file_path\":\"/a\"}")),
        done(3, call("c2", "Glob", "{}")),
        json!({"type": "response.from_the_future", "output_index": 4}),
        added(4, json!({"type": "new_call", "id": "n1"})),
        done(4, json!({"type": "new_call", "id": "n1", "x": [1]})),
        ended("completed", json!({"id": "resp_1", "status": "completed", "output": [], "usage": usage()})),
    ]
}

fn recorded_blocks() -> Vec<MessageBlock> {
    vec![
        thinking("hm ü\n\nso", Some("opaque")),
        text("Hello"),
        tool_use("c1", "Read", json!({"file_path": "/a"})),
        tool_use("c2", "Glob", json!({})),
        MessageBlock::Other(json!({"type": "new_call", "id": "n1", "x": [1]})),
    ]
}

fn sse(events: &[Value]) -> String {
    events
        .iter()
        .map(|event| format!("event: {}\ndata: {event}\n\n", event["type"].as_str().unwrap_or("message")))
        .collect()
}

async fn answer(reply: Reply) -> Vec<ModelEvent> {
    let server = Server::start(vec![reply]).await;
    model(endpoint(&server.url)).stream(request(vec![user("hi")])).collect().await
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

#[tokio::test]
async fn a_whole_stream_becomes_events() {
    let server = Server::start(vec![Reply::stream(sse(&recorded()))]).await;
    let mut priced = endpoint(&server.url);
    priced.price = Some(Price { input: 1.0, output: 10.0, cache_read: Some(0.5), cache_write: None });
    let events: Vec<ModelEvent> = model(priced).stream(request(vec![user("hi")])).collect().await;
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
    let usd = (40.0 * 1.0 + 7.0 * 10.0 + 60.0 * 0.5) / 1e6;
    let cost = |event: &ModelEvent| matches!(event, ModelEvent::Cost(Cost { usd: told }) if (told - usd).abs() < 1e-12);
    assert!(events.iter().any(cost), "{events:?}");
    let place = |wanted: &dyn Fn(&ModelEvent) -> bool| events.iter().position(wanted).expect("an event");
    let first = place(&|event| matches!(event, ModelEvent::BlockDone { index: 2, .. }));
    let second = place(&|event| matches!(event, ModelEvent::BlockDone { index: 3, .. }));
    assert!(first < second, "a call is given out at its own end");
    let thought: String = events
        .iter()
        .filter_map(|event| match event {
            ModelEvent::Delta { index: 0, kind: DeltaKind::Thinking, text } => Some(text.as_str()),
            _ => None,
        })
        .collect();
    assert_eq!(thought, "hm ü\n\nso");
    let begun = |event: &ModelEvent| matches!(event, ModelEvent::BlockStarted { index: 2, kind: BlockKind::ToolUse { id, name } } if id == "c1" && name == "Read");
    assert!(events.iter().any(begun));
}

/// Row L12: an answer that ends without calls ends the turn in the words of the Messages API.
#[tokio::test]
async fn each_end_has_its_reason() {
    let hi = || done(0, message("hi"));
    let cut = |reason: &str| json!({"status": "incomplete", "incomplete_details": {"reason": reason}});
    let refusal = json!({"type": "message", "content": [{"type": "refusal", "refusal": "no"}]});
    let half = || added(0, json!({"type": "function_call", "call_id": "c", "name": "Read"}));
    let stopped_call = json!({"type": "function_call", "call_id": "c", "name": "Read", "arguments": "{\"a\":",
        "status": "incomplete"});
    let table = [
        ("text", vec![hi(), ended("completed", json!({"status": "completed"}))], 1, "end_turn"),
        ("nothing", vec![ended("completed", json!({"status": "completed"}))], 0, "end_turn"),
        ("a call", vec![done(0, call("c", "Read", "{}")), ended("completed", json!({}))], 1, "tool_use"),
        ("a refusal", vec![done(0, refusal), ended("completed", json!({}))], 1, "refusal"),
        ("a streamed refusal", vec![delta("refusal", 0, "no"), ended("completed", json!({}))], 1, "refusal"),
        ("the limit", vec![hi(), ended("incomplete", cut("max_output_tokens"))], 1, "max_tokens"),
        ("the filter", vec![hi(), ended("incomplete", cut("content_filter"))], 1, "refusal"),
        (
            "the limit, said in the status only",
            vec![hi(), ended("completed", cut("max_output_tokens"))],
            1,
            "max_tokens",
        ),
        ("the limit inside a call", vec![half(), ended("incomplete", cut("max_output_tokens"))], 0, "max_tokens"),
        (
            "a call that says it was cut",
            vec![done(0, stopped_call), ended("incomplete", cut("max_output_tokens"))],
            0,
            "max_tokens",
        ),
    ];
    for (what, events, count, reason) in table {
        let events = answer(Reply::stream(sse(&events))).await;
        assert_eq!((stopped(&events), blocks(&events).len()), (reason, count), "{what}");
    }
}

#[tokio::test]
async fn failures_in_the_stream_are_faults_without_the_key() {
    let overloaded = FaultKind::Overloaded { retry_after_ms: None };
    let failed =
        |code: &str, text: &str| ended("failed", json!({"status": "failed", "error": {"code": code, "message": text}}));
    let table = [
        (failed("server_error", "boom canary-key"), overloaded),
        (
            failed("rate_limit_exceeded", "Please try again in 1.5s."),
            FaultKind::RateLimited { retry_after_ms: Some(1500) },
        ),
        (failed("context_length_exceeded", "too long"), FaultKind::PromptTooLong),
        (failed("insufficient_quota", "canary-key"), FaultKind::RateLimited { retry_after_ms: None }),
        (failed("invalid_prompt", "canary-key"), FaultKind::InvalidRequest),
        (json!({"type": "error", "code": "server_error", "message": "canary-key"}), overloaded),
        (
            json!({"type": "error", "error": {"type": "invalid_request_error", "message": "no"}}),
            FaultKind::InvalidRequest,
        ),
        (ended("cancelled", json!({"status": "cancelled"})), FaultKind::Truncated),
        (json!({"choices": [{"delta": {"content": "hi"}}]}), FaultKind::Malformed),
    ];
    for (event, kind) in table {
        let events = answer(Reply::stream(sse(&[done(0, message("so far")), event.clone()]))).await;
        assert_eq!(blocks(&events), [text("so far")], "{event}");
        let (got, message) = fault(&events);
        assert_eq!(got, kind, "{event}: {message}");
        assert!(!message.contains("canary"), "{message}");
    }
}

#[tokio::test]
async fn the_request_has_its_headers_and_its_shape() {
    let server = Server::start(vec![Reply::stream(sse(&recorded()))]).await;
    let image = || ContentBlock::Image { media_type: "image/png".to_owned(), data: "AA==".to_owned() };
    let picture = json!({"type": "input_image", "image_url": "data:image/png;base64,AA==", "detail": "auto"});
    let messages = vec![
        user("hi"),
        assistant(
            "openai/gpt-5",
            vec![
                thinking("t", Some("opaque")),
                text("Let me look."),
                thinking("", Some("more")),
                tool_use("a", "Read", json!({"b": 1, "a": 2})),
                tool_use("b.c", "Read", json!("{broken")),
            ],
        ),
        Message::User(vec![
            result("a", vec![ContentBlock::text("out"), image()], false),
            result("b.c", vec![ContentBlock::text("bad input")], true),
            UserBlock::Content(ContentBlock::text("go")),
            UserBlock::Content(image()),
        ]),
        assistant("openai/gpt-5", vec![tool_use("c", "Read", json!({}))]),
        Message::User(vec![result("c", Vec::new(), false)]),
    ];
    let mut limited = endpoint(&server.url);
    limited.max_output = Some(9);
    model(limited).stream(request(messages)).collect::<Vec<_>>().await;
    let seen = &server.requests()[0];
    assert!(seen.head.starts_with("post /v1/responses http/1.1"), "{}", seen.head);
    assert!(seen.head.contains("authorization: bearer canary-key"));
    let call = |id: &str, arguments: &str| json!({"type": "function_call", "call_id": id, "name": "Read", "arguments": arguments});
    let output = |id: &str, output: Value| json!({"type": "function_call_output", "call_id": id, "output": output});
    let mut body = seen.json();
    let key = body["prompt_cache_key"].take();
    assert!(key.as_str().is_some_and(|key| key.len() == "agentd-".len() + 8), "{key}");
    assert_eq!(
        body,
        json!({
            "model": "gpt-5", "max_output_tokens": 9, "stream": true, "store": false,
            "include": ["reasoning.encrypted_content"], "prompt_cache_key": null, "instructions": "be good",
            "tools": [{"type": "function", "name": "Read", "description": "reads", "parameters": {"type": "object"}, "strict": false}],
            "input": [
                {"type": "message", "role": "user", "content": [{"type": "input_text", "text": "hi"}]},
                {"type": "reasoning", "summary": [{"type": "summary_text", "text": "t"}], "encrypted_content": "opaque"},
                {"type": "message", "role": "assistant", "content": [{"type": "output_text", "text": "Let me look."}]},
                {"type": "reasoning", "summary": [], "encrypted_content": "more"},
                call("a", r#"{"b":1,"a":2}"#),
                call("b_c", r#"{"INVALID_JSON":"{broken"}"#),
                output("a", json!([{"type": "input_text", "text": "out"}, picture])),
                output("b_c", json!("Error: bad input")),
                {"type": "message", "role": "user", "content": [{"type": "input_text", "text": "go"}, picture]},
                call("c", "{}"),
                output("c", json!("(no output)")),
            ],
        })
    );
}

fn encoded(endpoint: &Endpoint, messages: Vec<Message>, escalation: u32) -> Value {
    let body = encode::body(endpoint, &ModelRequest { escalation, ..request(messages) }, &Prefix::default()).to_vec();
    serde_json::from_slice(&body).expect("JSON")
}

/// Row F05: reasoning goes back to its writer unchanged, and to no other model.
#[test]
fn reasoning_goes_back_to_its_writer_only_and_never_alone() {
    let own = endpoint("http://127.0.0.1:1");
    let input = |model: &str, content: Vec<MessageBlock>| {
        let body = encoded(&own, vec![user("q"), assistant(model, content)], 0);
        body["input"].as_array().expect("items")[1..].to_vec()
    };
    let reasoning = |text: &str| json!({"type": "reasoning", "summary": [], "encrypted_content": text});
    let said = |text: &str| json!({"type": "message", "role": "assistant", "content": [{"type": "output_text", "text": text}]});
    let other = json!({"type": "new_call", "id": "n1"});
    let content = vec![
        thinking("", Some("one")),
        thinking("", Some("two")),
        thinking("a server's that has no encrypted form", None),
        MessageBlock::RedactedThinking { data: "another format's".to_owned() },
        thinking("in Chat Completions", Some("reasoning_content")),
        MessageBlock::Other(json!({"type": "reasoning_details", "reasoning_details": []})),
        text("so"),
        MessageBlock::Other(other.clone()),
        thinking("", Some("nothing follows")),
    ];
    assert_eq!(input("openai/gpt-5", content.clone()), [reasoning("one"), reasoning("two"), said("so"), other]);
    assert_eq!(input("openai/gpt-4o", content), [said("so")]);
    assert_eq!(input("openai/gpt-5", vec![thinking("cut", Some("alone"))]), [said("(nothing)")]);
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
        let content = vec![thinking("", Some("e")), tool_use(&id, "Read", json!({"z": 1, "a": {"y": 2, "b": 3}}))];
        messages.push(assistant("openai/gpt-5", content));
        messages.push(Message::User(vec![result(&id, vec![ContentBlock::text("out")], false)]));
        let prefix = shorter.strip_suffix("]}").expect("the end of the input");
        assert!(bytes(&messages).starts_with(prefix), "round {round}");
    }
}

#[test]
fn more_is_asked_for_after_a_cut_and_reasoning_only_of_models_that_have_it() {
    let mut endpoint = endpoint("http://127.0.0.1:1");
    endpoint.output_limit = 100_000;
    let asked = |endpoint: &Endpoint, escalation| {
        encoded(endpoint, vec![user("q")], escalation).get("max_output_tokens").and_then(Value::as_u64)
    };
    let escalated: Vec<Option<u64>> = (0..4).map(|escalation| asked(&endpoint, escalation)).collect();
    assert_eq!(escalated, [None, Some(64_000), Some(100_000), Some(100_000)]);
    endpoint.max_output = Some(5);
    assert_eq!(asked(&endpoint, 2), Some(5));
    for (model, reasons) in
        [("gpt-5", true), ("o3", true), ("qwen3", true), ("gpt-4o-mini", false), ("a/gpt-4.1", false)]
    {
        model.clone_into(&mut endpoint.model);
        assert_eq!(encoded(&endpoint, vec![user("q")], 0).get("include").is_some(), reasons, "{model}");
    }
}
