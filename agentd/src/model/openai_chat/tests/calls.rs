//! Tool calls in all the ways in which servers send them, and in ways in which none should.

use super::*;
use crate::model::http::Decoder;
use proptest::collection::vec;
use proptest::prelude::*;
use std::collections::{HashSet, VecDeque};

/// Fragments of calls, chunk by chunk, and the inputs that they give.
type Fragments = (&'static str, Vec<Value>, Vec<Value>);

/// A fragment that names its call.
fn named(index: Option<u64>, id: Option<&str>, arguments: Value) -> Value {
    let mut call = json!({"function": {"name": "Read", "arguments": arguments}});
    if let Some(index) = index {
        call["index"] = json!(index);
    }
    if let Some(id) = id {
        call["id"] = json!(id);
    }
    call
}

/// The arguments of the calls: whole, and in two parts.
const ONE: &str = "{\"n\":1}";
const TWO: &str = "{\"n\":2}";
const HALF: &str = "{\"n\":";

fn two() -> Vec<Value> {
    vec![json!({"n": 1}), json!({"n": 2})]
}

fn one() -> Vec<Value> {
    vec![json!({"n": 1})]
}

fn in_parts() -> Vec<Fragments> {
    let part = |index: u64, arguments: &str| json!({"index": index, "function": {"arguments": arguments}});
    let begin = |index: u64, id: &str| json!({"index": index, "id": id, "function": {"name": "Read"}});
    let unnamed = |arguments: &str| json!([{"function": {"arguments": arguments}}]);
    let again = |arguments: &str| json!([named(Some(0), Some("a"), json!(arguments))]);
    let interleaved = vec![
        json!([begin(0, "a"), begin(1, "b")]),
        json!([part(1, HALF), part(0, HALF)]),
        json!([part(0, "1}"), part(1, "2}")]),
    ];
    let by_id = vec![
        json!([named(None, Some("a"), json!(HALF))]),
        json!([{"id": "a", "function": {"arguments": "1}"}}]),
        json!([named(None, Some("b"), json!(TWO))]),
    ];
    let by_neither = vec![json!([named(None, None, json!(""))]), unnamed(HALF), unnamed("1}")];
    vec![
        ("interleaved by index", interleaved, two()),
        ("by id, no index", by_id, two()),
        ("by neither", by_neither, one()),
        ("name and id in each part", vec![again(HALF), again("1}"), again("")], one()),
        ("broken arguments", vec![again(HALF)], vec![json!(HALF)]),
        ("no arguments", vec![json!([begin(0, "a")])], vec![json!({})]),
        ("null arguments", vec![json!([named(Some(0), Some("a"), Value::Null)])], vec![json!({})]),
    ]
}

fn whole() -> Vec<Fragments> {
    let both = |first: (Option<u64>, Option<&str>), second: (Option<u64>, Option<&str>)| {
        vec![json!([named(first.0, first.1, json!(ONE))]), json!([named(second.0, second.1, json!(TWO))])]
    };
    let at_once = json!([named(Some(0), Some("a"), json!(ONE)), named(Some(1), Some("b"), json!(TWO))]);
    vec![
        ("in one chunk", vec![at_once], two()),
        ("neither index nor id", both((None, None), (None, None)), two()),
        ("the same index, other ids", both((Some(0), Some("a")), (Some(0), Some("b"))), two()),
        ("the same index, no ids", both((Some(0), None), (Some(0), None)), two()),
        ("the same id twice", both((Some(0), Some("a")), (Some(1), Some("a"))), two()),
        ("the same id twice, no index", both((None, Some("a")), (None, Some("a"))), two()),
        ("arguments parsed", vec![json!([named(Some(0), Some("a"), json!({"n": 1}))])], one()),
    ]
}

#[tokio::test]
async fn servers_name_calls_in_many_ways() {
    for (what, fragments, expected) in in_parts().into_iter().chain(whole()) {
        for end in ["tool_calls", "stop", "function_call"] {
            let mut chunks: Vec<Value> = fragments.iter().cloned().map(calls).collect();
            chunks.push(finish(end));
            let events = answer(Reply::stream(done(&chunks))).await;
            let mut ids = HashSet::new();
            let mut inputs = Vec::new();
            for block in blocks(&events) {
                let MessageBlock::ToolUse { id, name, input } = block else { panic!("{what}: {block:?}") };
                assert_eq!(name, "Read", "{what}");
                assert!(!id.is_empty() && ids.insert(id), "{what}: ids differ");
                inputs.push(input);
            }
            assert_eq!(inputs, expected, "{what}");
            assert_eq!(stopped(&events), "tool_use", "{what}");
        }
    }
}

/// Any fragment of a call, with few indices and ids so that they meet.
fn any_fragment() -> impl Strategy<Value = Value> {
    let index = prop_oneof![Just(Value::Null), (0_u64..2).prop_map(Value::from)];
    let id = prop_oneof![Just(Value::Null), Just(json!("a")), Just(json!("b"))];
    let name = prop_oneof![Just(Value::Null), Just(json!("Read"))];
    let arguments = prop_oneof![Just(Value::Null), Just(json!("{\"a\":")), Just(json!("1}")), Just(json!({"a": 1}))];
    (index, id, name, arguments).prop_map(|(index, id, name, arguments)| {
        calls(json!([{"index": index, "id": id, "function": {"name": name, "arguments": arguments}}]))
    })
}

fn any_chunk() -> impl Strategy<Value = Value> {
    prop_oneof![
        4 => any_fragment(),
        1 => Just(chunk(json!({"content": "x"}))),
        1 => Just(chunk(json!({"reasoning": "x"}))),
        1 => Just(usage()),
        1 => prop_oneof![Just("stop"), Just("length"), Just("tool_calls")].prop_map(finish),
        1 => Just(json!({"choices": 3})),
    ]
}

proptest! {
    #[test]
    fn whatever_comes_there_is_one_end_and_no_block_twice(chunks in vec(any_chunk(), 0..20), done: bool) {
        let mut decoder = decode::Decode::new(Arc::new(endpoint("http://127.0.0.1:1")), CallIds::default());
        let mut out = VecDeque::new();
        for chunk in chunks {
            decoder.event("message", &chunk.to_string(), &mut out);
        }
        if done {
            decoder.event("message", "[DONE]", &mut out);
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
