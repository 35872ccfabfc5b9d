//! Streams that keep no rule.

use super::*;
use crate::model::http::Decoder;
use proptest::collection::vec;
use proptest::prelude::*;
use std::collections::{HashSet, VecDeque};

/// Any item, with few ids so that they meet.
fn any_item() -> impl Strategy<Value = Value> {
    prop_oneof![
        Just(json!({"type": "message", "id": "a", "content": [{"type": "output_text", "text": "x"}]})),
        Just(json!({"type": "message", "content": 7})),
        Just(json!({"type": "reasoning", "id": "b", "summary": [{"text": "x"}], "encrypted_content": "e"})),
        Just(json!({"type": "reasoning", "summary": []})),
        Just(json!({"type": "function_call", "id": "a", "call_id": "c", "name": "Read", "arguments": "{\"a\":"})),
        Just(json!({"type": "function_call", "call_id": "d", "name": "Read", "arguments": {"a": 1}})),
        Just(json!({"type": "function_call", "status": "incomplete"})),
        Just(json!({"type": "new"})),
        Just(Value::Null),
    ]
}

/// Any event, right or wrong.
fn any_event() -> impl Strategy<Value = Value> {
    let place = prop_oneof![Just(Value::Null), (0_u64..3).prop_map(Value::from)];
    let kind = prop_oneof![
        Just("output_text"),
        Just("refusal"),
        Just("reasoning_summary_text"),
        Just("reasoning_text"),
        Just("function_call_arguments"),
    ];
    let at = |event: Value, place: Value| {
        let mut event = event;
        event["output_index"] = place;
        event
    };
    prop_oneof![
        4 => (place.clone(), any_item()).prop_map(move |(place, item)| at(added(0, item), place)),
        4 => (place.clone(), any_item()).prop_map(move |(place, item)| at(done(0, item), place)),
        4 => (place.clone(), kind).prop_map(move |(place, kind)| at(delta(kind, 0, "x"), place)),
        1 => place.prop_map(move |place| {
            at(json!({"type": "response.function_call_arguments.done", "arguments": "{}"}), place)
        }),
        1 => Just(json!({"type": "response.reasoning_summary_part.added"})),
        1 => vec(any_item(), 0..4).prop_map(|output| ended("completed", json!({"output": output, "usage": 3}))),
        1 => Just(ended("incomplete", json!({}))),
        1 => Just(json!({"type": "error"})),
        1 => Just(json!([1])),
    ]
}

proptest! {
    #[test]
    fn whatever_comes_there_is_one_end_and_no_block_twice(events in vec(any_event(), 0..30), done: bool) {
        let mut decoder = decode::Decode::new(Arc::new(endpoint("http://127.0.0.1:1")), CallIds::default());
        let mut out = VecDeque::new();
        for event in events {
            decoder.event("message", &event.to_string(), &mut out);
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
