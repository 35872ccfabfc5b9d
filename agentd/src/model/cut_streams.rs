//! Recorded answers, cut after every single byte: what was not complete never runs, each answer has one end, and the
//! transcript stays one that every provider takes. A recording is one line of the table.

use super::call_ids::CallIds;
use super::endpoint::{Endpoint, for_tests};
use super::http::{Decoder, decode};
use super::{anthropic, openai_chat, openai_responses};
use crate::event::{Message, Transcript, UserBlock};
use crate::turn::model_event::{FaultKind, ModelEvent};
use crate::turn::{CallTraits, Effect, Input, Machine, ToolOutcome, ToolTraits, TurnSettings};
use bytes::Bytes;
use futures::{StreamExt, stream};
use proto::content::{ContentBlock, MessageBlock};
use proto::event::{Event, ToolKind};
use proto::ids::ToolCallId;
use serde_json::{Value, json};
use std::collections::VecDeque;
use std::sync::Arc;

/// A recorded answer: thinking, text, two parallel calls, usage.
struct Recording {
    name: &'static str,
    sse: &'static str,
    decoder: fn(Arc<Endpoint>, CallIds) -> Box<dyn Decoder>,
    /// The event that completes the answer.
    last: &'static str,
}

const RECORDINGS: [Recording; 3] = [
    Recording {
        name: "anthropic",
        sse: include_str!("recordings/anthropic.sse"),
        decoder: anthropic::decoder,
        last: r#""message_stop""#,
    },
    Recording {
        name: "openai-chat",
        sse: include_str!("recordings/openai-chat.sse"),
        decoder: openai_chat::decoder,
        last: r#""finish_reason":"tool_calls""#,
    },
    Recording {
        name: "openai-responses",
        sse: include_str!("recordings/openai-responses.sse"),
        decoder: openai_responses::decoder,
        last: r#""type":"response.completed""#,
    },
];

/// How a connection ends where the answer is cut.
#[derive(Debug, Clone, Copy, PartialEq)]
enum End {
    /// The body ends as if that were all.
    Clean,
    /// The connection is lost.
    Lost,
}

impl Recording {
    /// The bytes. A file ends with one line break, a stream with an empty line.
    fn bytes(&self) -> Vec<u8> {
        format!("{}\n", self.sse).into_bytes()
    }

    /// How many bytes it takes until the answer is complete.
    fn complete_at(&self) -> usize {
        let at = self.sse.find(self.last).unwrap_or_else(|| panic!("{} is in {}", self.last, self.name));
        let after = &self.sse[at..];
        at + after.find("\n\n").map_or(after.len() + 1, |end| end + 2)
    }

    async fn events(&self, chunks: Vec<Bytes>, end: End) -> Vec<ModelEvent> {
        let lost = (end == End::Lost).then(|| Err(std::io::Error::other("connection reset")));
        let body = reqwest::Body::wrap_stream(stream::iter(chunks.into_iter().map(Ok).chain(lost)));
        let endpoint = Arc::new(for_tests("mine", "m", "http://127.0.0.1:1", "key"));
        let decoder = (self.decoder)(Arc::clone(&endpoint), CallIds::default());
        decode(endpoint, hyper::Response::new(body).into(), decoder).collect().await
    }

    async fn cut(&self, at: usize, end: End) -> Vec<ModelEvent> {
        self.events(vec![Bytes::copy_from_slice(&self.bytes()[..at])], end).await
    }
}

/// The blocks that were given out as complete, in their order.
fn blocks(events: &[ModelEvent]) -> Vec<MessageBlock> {
    let done = events.iter().filter_map(|event| match event {
        ModelEvent::BlockDone { block, .. } => Some(block.clone()),
        _ => None,
    });
    done.collect()
}

fn calls(blocks: &[MessageBlock]) -> Vec<(String, Value)> {
    let call = |block: &MessageBlock| match block {
        MessageBlock::ToolUse { id, input, .. } => Some((id.clone(), input.clone())),
        _ => None,
    };
    blocks.iter().filter_map(call).collect()
}

fn is_end(event: &ModelEvent) -> bool {
    matches!(event, ModelEvent::Stopped { .. } | ModelEvent::Fault(_))
}

/// A whole recording holds what the table promises.
#[tokio::test]
async fn a_recording_is_whole() {
    for recording in &RECORDINGS {
        let whole = recording.cut(recording.bytes().len(), End::Clean).await;
        let inputs: Vec<Value> = calls(&blocks(&whole)).into_iter().map(|(_, input)| input).collect();
        let expected = [json!({"file_path": "/a/ü"}), json!({"file_path": "/b", "limit": 10})];
        assert_eq!(inputs, expected, "{}", recording.name);
        assert_eq!(whole.last(), Some(&ModelEvent::Stopped { reason: "tool_use".to_owned() }), "{}", recording.name);
        assert!(whole.iter().any(|event| matches!(event, ModelEvent::Usage(usage) if usage.output_tokens == 97)));
    }
}

/// Whatever of an answer comes through: there is one end, which says what it was; only whole blocks are given out; the
/// calls that run are those that were whole, each once; and the next request is a valid one.
#[tokio::test]
async fn a_stream_that_is_cut_after_any_byte_does_no_harm() {
    for recording in &RECORDINGS {
        let bytes = recording.bytes();
        let all = blocks(&recording.cut(bytes.len(), End::Clean).await);
        let mut before = Vec::new();
        for at in 0..=bytes.len() {
            // Both ends where they could differ: at the end of a line and beside it.
            let at_break = bytes[at.saturating_sub(2)..bytes.len().min(at + 1)].contains(&b'\n');
            for end in if at_break { &[End::Lost, End::Clean][..] } else { &[End::Lost] } {
                let events = recording.cut(at, *end).await;
                let what = format!("{}, cut at {at}, {end:?}", recording.name);
                assert_right(&events, &all, at >= recording.complete_at(), &what);
                let given = calls(&blocks(&events));
                if events != before {
                    assert_harmless(&events, &given, &what);
                }
                before = events;
            }
        }
    }
}

fn assert_right(events: &[ModelEvent], all: &[MessageBlock], complete: bool, what: &str) {
    let given = blocks(events);
    assert_eq!(events.iter().filter(|event| is_end(event)).count(), 1, "{what}");
    match events.last() {
        Some(ModelEvent::Stopped { reason }) => assert!(complete && reason == "tool_use" && given == all, "{what}"),
        Some(ModelEvent::Fault(fault)) => {
            assert!(!complete && fault.kind == FaultKind::Truncated, "{what}: {fault:?}");
            assert_eq!(given, all[..given.len()], "{what}");
        }
        other => panic!("{what}: it ends with {other:?}"),
    }
}

fn assert_harmless(events: &[ModelEvent], whole_calls: &[(String, Value)], what: &str) {
    for pace in [Pace::Fast, Pace::Slow] {
        let mut turn = Turn::run(events.to_vec(), pace);
        assert_eq!(turn.started, whole_calls, "{what}, {pace:?}");
        assert_valid(&turn.transcript);
        turn.apply(json!({"type": "turn.started", "turnId": "u", "prompt": "more"}));
        assert_valid(&turn.transcript);
    }
}

#[tokio::test]
async fn a_stream_that_comes_byte_by_byte_gives_the_same_events() {
    for recording in &RECORDINGS {
        let bytes = recording.bytes().into_iter().map(|byte| Bytes::from(vec![byte])).collect();
        let whole = recording.cut(recording.bytes().len(), End::Clean).await;
        assert_eq!(recording.events(bytes, End::Clean).await, whole, "{}", recording.name);
    }
}

/// When the tools of a turn end.
#[derive(Debug, Clone, Copy, PartialEq)]
enum Pace {
    /// As soon as they start, while the model still speaks.
    Fast,
    /// Once the model has ended.
    Slow,
}

/// A turn whose first answer is given and whose later ones are a word.
struct Turn {
    machine: Machine,
    transcript: Transcript,
    answers: VecDeque<Vec<ModelEvent>>,
    pace: Pace,
    running: VecDeque<ToolCallId>,
    started: Vec<(String, Value)>,
    asks: usize,
    ended: bool,
}

/// Both tools read.
struct Tools;

impl ToolTraits for Tools {
    fn traits(&self, tool: &str, _: &Value) -> CallTraits {
        CallTraits {
            title: tool.to_owned(),
            kind: ToolKind::Read,
            read_only: true,
            concurrency_safe: true,
            blocks_interrupt: false,
            runs_command: false,
        }
    }
}

fn outcome() -> Box<ToolOutcome> {
    Box::new(ToolOutcome { content: vec![ContentBlock::text("read")], ..ToolOutcome::default() })
}

impl Turn {
    /// Runs a turn to its end.
    fn run(answer: Vec<ModelEvent>, pace: Pace) -> Self {
        let settings =
            TurnSettings { max_concurrency: 10, retries: 1, ..TurnSettings::new("t".into(), "mine/m".to_owned()) };
        let (running, started) = (VecDeque::new(), Vec::new());
        let mut turn = Self {
            machine: Machine::new(settings),
            transcript: Transcript::default(),
            answers: VecDeque::from([answer]),
            pace,
            running,
            started,
            asks: 0,
            ended: false,
        };
        turn.apply(json!({"type": "turn.started", "turnId": "t", "prompt": "go"}));
        turn.step(Input::Begin);
        while !turn.ended {
            let id = turn.running.pop_front().expect("a turn that has not ended waits for something");
            turn.step(Input::ToolEnded { id, outcome: outcome() });
        }
        turn
    }

    fn apply(&mut self, event: Value) {
        self.transcript.apply(&serde_json::from_value(event).expect("an event"));
    }

    fn step(&mut self, input: Input) {
        let mut asked = None;
        for effect in self.machine.step(input, &Tools) {
            match effect {
                Effect::Append(event) => self.append(&event),
                Effect::CallModel { .. } => asked = Some(self.ask()),
                Effect::StartTool { id, input, .. } => {
                    self.started.push((id.as_str().to_owned(), input));
                    self.running.push_back(id);
                }
                Effect::End { reason, .. } => {
                    self.ended = true;
                    self.apply(json!({
                        "type": "turn.ended", "turnId": "t", "reason": reason, "usage": {}, "durationMs": 1,
                    }));
                }
                _ => {}
            }
        }
        if self.pace == Pace::Fast {
            self.end_tools();
        }
        for event in asked.into_iter().flatten() {
            self.step(Input::Model(event));
        }
    }

    fn append(&mut self, event: &Event) {
        // As it comes back from the log.
        self.apply(serde_json::to_value(event).expect("JSON"));
    }

    fn end_tools(&mut self) {
        while let Some(id) = self.running.pop_front() {
            self.step(Input::ToolEnded { id, outcome: outcome() });
        }
    }

    fn ask(&mut self) -> Vec<ModelEvent> {
        self.asks += 1;
        assert!(self.asks < 10, "the turn goes on for ever");
        assert_valid(&self.transcript);
        let done = ModelEvent::BlockDone { index: 0, block: MessageBlock::Text { text: "done".to_owned() } };
        let content = vec![done, ModelEvent::Stopped { reason: "end_turn".to_owned() }];
        self.answers.pop_front().unwrap_or(content)
    }
}

/// What every provider asks of messages: they begin with the person, roles alternate, each call has its one
/// result in the next message, in call order, and no result is without a call.
fn assert_valid(transcript: &Transcript) {
    let messages = transcript.messages();
    let mut open: Vec<String> = Vec::new();
    for (at, message) in messages.iter().enumerate() {
        match message.as_ref() {
            Message::User(blocks) => {
                assert!(at % 2 == 0 && !blocks.is_empty(), "{messages:?}");
                let results = blocks.iter().filter_map(|block| match block {
                    UserBlock::ToolResult { tool_use_id, .. } => Some(tool_use_id.clone()),
                    UserBlock::Content(_) => None,
                });
                assert_eq!(results.collect::<Vec<_>>(), std::mem::take(&mut open), "{messages:?}");
            }
            Message::Assistant { content, .. } => {
                assert!(at % 2 == 1 && !content.is_empty(), "{messages:?}");
                open = calls(content).into_iter().map(|(id, _)| id).collect();
            }
        }
    }
    assert!(open.is_empty(), "{open:?} have no results: {messages:?}");
}
