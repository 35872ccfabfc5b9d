//! What real servers send, as a table: each case of `quirks/*.txt` goes through the whole client over a real
//! connection.

use super::anthropic::Anthropic;
use super::endpoint::{Endpoint, for_tests};
use super::http::Http;
use super::openai_chat::OpenaiChat;
use super::openai_responses::OpenaiResponses;
use super::test_server::{Reply, Server};
use super::{Model, ModelRequest};
use crate::base::environment::Environment;
use crate::turn::model_event::ModelEvent;
use futures::stream::StreamExt;
use proto::content::MessageBlock;
use serde_json::{Value, json};
use std::collections::HashSet;
use std::sync::Arc;

/// A case.
struct Quirk {
    name: &'static str,
    reply: Reply,
    /// The stop reason, or the word of the fault.
    end: &'static str,
    blocks: Value,
}

/// The cases of a file.
fn cases(file: &'static str) -> Vec<Quirk> {
    file.split("### ").skip(1).map(case).collect()
}

fn case(section: &'static str) -> Quirk {
    let (title, rest) = section.split_once('\n').expect("a title");
    let (name, option) = title.split_once(" | ").unwrap_or((title, ""));
    // The line break before the arrow belongs to the body: it ends the last event.
    let (body, expected) = rest.split_once("\n=> ").expect("what is expected");
    let (end, blocks) = expected.split_once('\n').expect("blocks");
    let blocks = serde_json::from_str(blocks).unwrap_or_else(|error| panic!("{name}: {error}"));
    let reply = match option {
        "json" => Reply::json(200, body.trim()),
        "crlf" => Reply::stream(format!("{body}\n").replace('\n', "\r\n")),
        "" => Reply::stream(format!("{body}\n")),
        other => panic!("{name}: no such option as {other}"),
    };
    Quirk { name, reply, end, blocks }
}

async fn check(file: &'static str, model: impl Fn(Arc<Http>, Endpoint) -> Box<dyn Model>) {
    let cases = cases(file);
    assert!(cases.len() > 10, "the file is read");
    for Quirk { name, reply, end, blocks } in cases {
        let server = Server::start(vec![reply]).await;
        let endpoint = for_tests("mine", "m1", &format!("{}/v1", server.url), "canary-key");
        let model = model(Arc::new(Http::new(Environment::default())), endpoint);
        let request = ModelRequest { escalation: 0, system: "".into(), tools: Arc::new([]), messages: Arc::default() };
        let events: Vec<ModelEvent> = model.stream(request).collect().await;
        let got = match events.last() {
            Some(ModelEvent::Stopped { reason }) => reason.as_str(),
            Some(ModelEvent::Fault(fault)) => fault.kind.word(),
            other => panic!("{name}: no end but {other:?}"),
        };
        assert_eq!(got, end, "{name}: {events:?}");
        assert_eq!(blocks_of(name, &events, &blocks), blocks, "{name}");
    }
}

/// The blocks that were given out, in the message's order, with `*` for an id where one is expected.
fn blocks_of(name: &str, events: &[ModelEvent], expected: &Value) -> Value {
    let mut given: Vec<(usize, MessageBlock)> = events
        .iter()
        .filter_map(|event| match event {
            ModelEvent::BlockDone { index, block } => Some((*index, block.clone())),
            _ => None,
        })
        .collect();
    given.sort_by_key(|(index, _)| *index);
    let mut ids = HashSet::new();
    let blocks = given.into_iter().enumerate().map(|(at, (_, block))| {
        let mut block = serde_json::to_value(block).expect("JSON");
        if let Some(id) = block.get("id").and_then(Value::as_str) {
            assert!(!id.is_empty() && ids.insert(id.to_owned()), "{name}: an id is missing or there twice");
            if expected[at]["id"] == "*" {
                block["id"] = json!("*");
            }
        }
        block
    });
    Value::Array(blocks.collect())
}

#[tokio::test]
async fn servers_of_chat_completions() {
    check(include_str!("quirks/openai_chat.txt"), |http, endpoint| Box::new(OpenaiChat::new(http, endpoint))).await;
}

#[tokio::test]
async fn servers_of_the_messages_api() {
    check(include_str!("quirks/anthropic.txt"), |http, endpoint| Box::new(Anthropic::new(http, endpoint))).await;
}

#[tokio::test]
async fn servers_of_the_responses_api() {
    check(include_str!("quirks/openai_responses.txt"), |http, endpoint| Box::new(OpenaiResponses::new(http, endpoint)))
        .await;
}
