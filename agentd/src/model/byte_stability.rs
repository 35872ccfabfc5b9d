//! That requests only grow: a session's next request begins with the bytes of the one before, in every wire format,
//! also when agentd was started anew in between. Over real connections, so that what is compared is what was sent.

use super::test_server::{Reply, Server};
use super::{Model, ModelRequest, Models, ToolDefinition};
use crate::base::environment::Environment;
use crate::config::Settings;
use crate::event::Transcript;
use futures::StreamExt;
use proptest::prelude::*;
use proto::event::Event;
use serde::Deserialize;
use serde_json::value::RawValue;
use serde_json::{Value, json};
use std::sync::Arc;

/// Each wire format, by its name in the settings.
const FORMATS: [&str; 3] = ["anthropic", "openai-chat", "openai-responses"];
/// What the Messages API has over the bytes of a block, and moves on with each request.
const MARK: &str = r#","cache_control":{"type":"ephemeral"}"#;
/// Long enough to be a piece of its own.
const LONG: usize = 10_000;

/// Events of a session, and where the model is asked.
enum Step {
    Event(Value),
    Ask,
}
use Step::{Ask, Event as Happens};

fn started(turn: &str, prompt: Value) -> Step {
    Happens(json!({"type": "turn.started", "turnId": turn, "prompt": prompt}))
}

fn continued() -> Step {
    Happens(json!({"type": "turn.continued", "turnId": "t", "reason": "next_turn"}))
}

fn ended(reason: &str) -> Step {
    Happens(json!({"type": "turn.ended", "turnId": "t", "reason": reason, "usage": {}, "durationMs": 1}))
}

fn said(model: &str, content: Value) -> Step {
    Happens(json!({
        "type": "message.completed", "messageId": "m", "turnId": "t", "role": "assistant", "content": content,
        "model": model, "stopReason": "tool_use", "usage": {},
    }))
}

fn result(id: &str, is_error: bool, content: Value) -> Step {
    Happens(json!({
        "type": "tool.ended", "toolCallId": id, "status": "completed", "isError": is_error, "content": content,
        "summary": "", "durationMs": 1, "newMessages": [{"type": "text", "text": format!("beside {id}")}],
    }))
}

fn call(id: &str, input: Value) -> Value {
    json!({"type": "tool_use", "id": id, "name": "Read", "input": input})
}

/// Tools side by side with pictures and errors, steering, broken input, another model's words, a prompt that was
/// never answered.
fn story() -> Vec<Step> {
    let text = |text: &str| json!({"type": "text", "text": text});
    let image = || json!({"type": "image", "mediaType": "image/png", "data": "AA=="});
    let numbers = json!({"z": 0.1, "a": [1.0, 1e99, -7, 4503599627370497.5, {"y": null, "b": "ü\u{2028}\n"}]});
    vec![
        started("t1", json!("start")),
        Ask,
        said(
            "own/m",
            json!([
                {"type": "thinking", "thinking": "hm", "signature": "proof"},
                text("Let me look."),
                call("c1", numbers),
                call("c2", json!({})),
            ]),
        ),
        Happens(json!({"type": "turn.steered", "turnId": "t", "prompt": [text("and this"), image()]})),
        result("c2", true, json!([text("no such file")])),
        result("c1", false, json!([text(&"out ".repeat(LONG)), image()])),
        continued(),
        Ask,
        said("own/m", json!([call("c3", json!("{\"broken"))])),
        result("c3", true, json!([])),
        continued(),
        Ask,
        said("own/m", json!([text("done")])),
        ended("completed"),
        started("t2", json!([text("more ü"), {"type": "file", "path": "a.rs"}])),
        Ask,
        said("other/m", json!([{"type": "thinking", "thinking": "mine", "signature": "x"}, text("from another")])),
        ended("completed"),
        started("t3", json!("is anybody there?")),
        Ask,
    ]
}

fn event(value: &Value) -> Event {
    serde_json::from_value(value.clone()).expect("an event")
}

fn model(server: &Server, format: &str, name: &str) -> Arc<dyn Model> {
    let base_url = format!("{}/v1", server.url);
    let settings: Settings = serde_json::from_value(json!({
        "providers": {"own": {"api": format, "baseUrl": base_url}},
    }))
    .expect("settings");
    let env = Environment::default();
    Models::new(env.clone()).resolve(name, &settings, &env).unwrap_or_else(|error| panic!("{error}"))
}

/// What stays the same from call to call.
fn surroundings() -> ModelRequest {
    let tool = |name: &str| ToolDefinition {
        name: name.to_owned(),
        description: "does".to_owned(),
        input_schema: json!({"type": "object"}),
        strict: false,
        eager_input_streaming: false,
        defer_loading: false,
    };
    ModelRequest {
        escalation: 0,
        system: "be good".into(),
        tools: vec![tool("Edit"), tool("Read")].into(),
        messages: Arc::default(),
    }
}

async fn ask(model: &dyn Model, request: &ModelRequest, transcript: &Transcript) {
    let request = ModelRequest { messages: transcript.messages(), ..request.clone() };
    model.stream(request).collect::<Vec<_>>().await;
}

/// The bodies of the requests of a session that goes on and on.
async fn bodies(format: &str, steps: &[Step]) -> Vec<String> {
    let server = Server::start(vec![Reply::json(400, "{}")]).await;
    let (model, request, mut transcript) = (model(&server, format, "own/m"), surroundings(), Transcript::default());
    for step in steps {
        match step {
            Happens(value) => transcript.apply(&event(value)),
            Ask => ask(model.as_ref(), &request, &transcript).await,
        }
    }
    text_of(&server)
}

/// The body of the last request of a session that agentd, just started, folds from its log.
async fn body_after_restart(format: &str, steps: &[Step]) -> String {
    let server = Server::start(vec![Reply::json(400, "{}")]).await;
    let mut transcript = Transcript::default();
    for step in steps {
        if let Happens(value) = step {
            // As the journal keeps it.
            let line = serde_json::to_vec(&event(value)).expect("a line");
            transcript.apply(&serde_json::from_slice(&line).expect("an event"));
        }
    }
    ask(model(&server, format, "own/m").as_ref(), &surroundings(), &transcript).await;
    text_of(&server).remove(0)
}

fn text_of(server: &Server) -> Vec<String> {
    server.requests().into_iter().map(|seen| String::from_utf8(seen.body).expect("text")).collect()
}

/// A body from its first byte to the end of its last message, without marks.
fn grown(body: &str) -> String {
    #[derive(Deserialize)]
    struct Messages<'a> {
        #[serde(borrow, alias = "input")]
        messages: &'a RawValue,
    }
    let messages = serde_json::from_str::<Messages<'_>>(body).expect("a body").messages.get();
    let end = messages.as_ptr().addr() - body.as_ptr().addr() + messages.len() - "]".len();
    body[..end].replace(MARK, "")
}

/// Row L06: the next request is the one before, byte for byte up to the end of its last message, and then what
/// the model and the tools said since; cache marks, which are laid over the bytes, are left out of the comparison.
#[tokio::test]
async fn a_request_begins_with_the_bytes_of_the_one_before() {
    for format in FORMATS {
        let bodies = bodies(format, &story()).await;
        assert_eq!(bodies.len(), 5);
        assert!(bodies.iter().all(|body| body.matches(MARK).count() <= 4), "the API takes no more marks");
        for (n, pair) in bodies.windows(2).enumerate() {
            let (before, after) = (grown(&pair[0]), grown(&pair[1]));
            assert!(after.len() > before.len() && after.starts_with(&before), "{format}, request {}", n + 2);
        }
    }
}

/// A prompt that was not answered and the next one are one message. All before it stays as it is, and what it
/// held, too.
#[tokio::test]
async fn a_prompt_that_was_not_answered_keeps_its_bytes() {
    let mut steps = story();
    steps.extend([ended("model_error"), started("t4", json!("hello?")), Ask]);
    for format in FORMATS {
        let bodies = bodies(format, &steps).await;
        let [.., before, after] = bodies.as_slice() else { panic!("two requests") };
        let (before, after) = (grown(before), grown(after));
        assert!(after.starts_with(before.trim_end_matches(['"', '}', ']'])), "{format}");
        assert!(after.contains("is anybody there?") && after.contains("hello?"), "{format}");
    }
}

#[tokio::test]
async fn a_session_that_is_folded_from_its_log_sends_the_same_bytes() {
    for format in FORMATS {
        let steps = story();
        let live = bodies(format, &steps).await;
        let asks = (0..steps.len()).filter(|at| matches!(steps[*at], Ask));
        for (body, at) in live.iter().zip(asks) {
            assert_eq!(*body, body_after_restart(format, &steps[..at]).await, "{format}");
        }
    }
}

/// After a change of the model each message is written for the new one, and so it is after the change back.
#[tokio::test]
async fn a_change_of_the_model_leaves_no_bytes_of_the_other() {
    let server = Server::start(vec![Reply::json(400, "{}")]).await;
    let mut transcript = Transcript::default();
    for step in story() {
        if let Happens(value) = step {
            transcript.apply(&event(&value));
        }
    }
    let own = model(&server, "anthropic", "own/m");
    let models = [&own, &model(&server, "anthropic", "own/n"), &model(&server, "openai-chat", "own/m")];
    for model in models.into_iter().chain(models) {
        ask(model.as_ref(), &surroundings(), &transcript).await;
    }
    let bodies = text_of(&server);
    assert_eq!(bodies[..3], bodies[3..]);
    assert_eq!([0, 1, 2].map(|n| bodies[n].contains("proof")), [true, false, false], "only for whom it is from");
    transcript.forget_encodings();
    ask(own.as_ref(), &surroundings(), &transcript).await;
    assert_eq!(text_of(&server)[6], bodies[0], "what is forgotten is made anew, the same");
}

/// A session so long that its older messages go out joined.
#[derive(Clone, Default)]
struct Session {
    log: Vec<Value>,
    transcript: Transcript,
}

impl Session {
    fn happens(&mut self, steps: impl IntoIterator<Item = Step>) {
        for step in steps {
            if let Happens(value) = step {
                self.transcript.apply(&event(&value));
                self.log.push(value);
            }
        }
    }

    /// Turns with a prompt and an answer that no other turn has.
    fn grow(&mut self, turns: std::ops::Range<usize>) {
        for n in turns {
            let long = |who: &str| format!("{who} {} ", self.log.len()).repeat(LONG);
            let thinking = json!({"type": "thinking", "thinking": "hm", "signature": "proof"});
            let answer = json!([thinking, {"type": "text", "text": long("answer")}]);
            let started = started(&format!("t{n}"), json!(long("prompt")));
            self.happens([started, said("own/m", answer), ended("completed")]);
        }
    }

    fn rewind(&mut self, turn: usize) {
        self.happens([Happens(json!({"type": "session.rewound", "toTurnId": format!("t{turn}")}))]);
    }

    /// Asks, and asks once more as if agentd had just been started.
    async fn ask(&self, model: &dyn Model) {
        let mut folded = Transcript::default();
        self.log.iter().for_each(|value| folded.apply(&event(value)));
        for transcript in [&self.transcript, &folded] {
            ask(model, &surroundings(), transcript).await;
        }
    }
}

/// Whatever a long session does, its request is the one that would be made of its log.
#[tokio::test]
async fn joined_messages_are_those_of_the_log() {
    for (format, second) in FORMATS.into_iter().zip(FORMATS.into_iter().cycle().skip(1)) {
        let server = Server::start(vec![Reply::json(400, "{}")]).await;
        let own = model(&server, format, "own/m");
        let mut session = Session::default();
        for turns in [0..6, 6..12, 12..13] {
            session.grow(turns);
            session.ask(own.as_ref()).await;
        }
        for other in [model(&server, format, "own/n"), model(&server, second, "own/m")] {
            session.ask(other.as_ref()).await;
            session.ask(own.as_ref()).await;
        }
        session.transcript.forget_encodings();
        session.ask(own.as_ref()).await;
        let mut fork = session.clone();
        fork.rewind(7);
        fork.happens([started("x", json!("unanswered")), ended("model_error"), started("y", json!("merged"))]);
        fork.ask(own.as_ref()).await;
        session.rewind(4);
        session.grow(4..14);
        session.ask(own.as_ref()).await;
        fork.happens([said("own/m", json!([{"type": "text", "text": "at last"}])), ended("completed")]);
        fork.grow(8..15);
        fork.ask(own.as_ref()).await;
        let bodies = text_of(&server);
        for (n, pair) in bodies.chunks(2).enumerate() {
            assert!(pair[0] == pair[1], "{format}, request {n}");
        }
        let last = &bodies[bodies.len() - 1];
        assert!(last.len() > 2 << 20, "long enough to be joined");
        assert!(serde_json::from_str::<&RawValue>(last).is_ok(), "{format}");
    }
}

proptest! {
    /// A number that a model wrote comes back from the log as it was; else a restart would change the bytes.
    #[test]
    fn numbers_come_back_from_the_log_as_they_were(bits in any::<u64>()) {
        let number = f64::from_bits(bits);
        prop_assume!(number.is_finite());
        let text = Value::from(number).to_string();
        let again: Value = serde_json::from_str(&text).expect("a number");
        prop_assert_eq!(again.to_string(), text);
    }
}
