//! `demo/guide`: a model that needs no network and says so. It shows agentd off by driving the real
//! tools in a scratch folder. Made by `catalog`. Its answer is a function of the transcript alone, so it
//! goes on after a restart; `script` decides, `past` reads, this file streams.

mod past;
mod script;
#[cfg(test)]
mod tests;

use super::call_ids::CallIds;
use super::{Model, ModelRequest, ModelStream};
use crate::turn::model_event::{BlockKind, ModelEvent};
use futures::stream::{self, StreamExt};
use past::Past;
use proto::content::MessageBlock;
use proto::event::DeltaKind;
use script::Answer;
use std::time::Duration;

/// Its name.
pub(super) const ID: &str = "demo/guide";

/// How much of a text comes at once, so that a client has something to stream.
const DELTA_CHARS: usize = 24;

/// The built-in model.
pub(super) struct Demo;

impl Model for Demo {
    fn stream(&self, request: ModelRequest) -> ModelStream {
        let past = Past::of(&request);
        let mut ids = CallIds::of(&request.messages);
        let steps = steps(script::answer(&past), past.answers(), &mut ids);
        Box::pin(stream::iter(steps).then(|step| async move {
            if !step.pause.is_zero() {
                tokio::time::sleep(step.pause).await;
            }
            step.event
        }))
    }

    fn id(&self) -> &str {
        ID
    }

    fn context_window(&self) -> u64 {
        0
    }
}

/// An event and how long it takes to come.
struct Step {
    pause: Duration,
    event: ModelEvent,
}

fn at_once(event: ModelEvent) -> Step {
    Step { pause: Duration::ZERO, event }
}

fn steps(answer: Answer, number: usize, ids: &mut CallIds) -> Vec<Step> {
    let mut steps = Vec::new();
    let reason = if answer.calls.is_empty() { "end_turn" } else { "tool_use" };
    say(&answer, &mut steps);
    for (at, (name, input)) in answer.calls.into_iter().enumerate() {
        let index = at.saturating_add(1);
        let id = ids.claim(&format!("demo_{number}_{index}"));
        let name = name.to_owned();
        let kind = BlockKind::ToolUse { id: id.clone(), name: name.clone() };
        steps.push(at_once(ModelEvent::BlockStarted { index, kind }));
        let text = input.to_string();
        steps.push(at_once(ModelEvent::Delta { index, kind: DeltaKind::ToolInput, text }));
        let block = MessageBlock::ToolUse { id, name, input };
        steps.push(at_once(ModelEvent::BlockDone { index, block }));
    }
    steps.push(at_once(ModelEvent::Stopped { reason: reason.to_owned() }));
    steps
}

fn say(answer: &Answer, steps: &mut Vec<Step>) {
    let index = 0;
    steps.push(at_once(ModelEvent::BlockStarted { index, kind: BlockKind::Text }));
    let delta = |text: String| ModelEvent::Delta { index, kind: DeltaKind::Text, text };
    let mut whole = answer.text.clone();
    let chars: Vec<char> = answer.text.chars().collect();
    for part in chars.chunks(DELTA_CHARS) {
        steps.push(at_once(delta(part.iter().collect())));
    }
    for number in answer.count.clone() {
        let text = format!("{number}\n");
        whole.push_str(&text);
        steps.push(Step { pause: script::COUNT_PAUSE, event: delta(text) });
    }
    steps.push(at_once(ModelEvent::BlockDone { index, block: MessageBlock::Text { text: whole } }));
}
