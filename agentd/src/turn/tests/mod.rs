//! The turn machine as tables: inputs in, effects out. No clock, no task.

use super::model_event::{BlockKind, Fault, FaultKind, ModelEvent};
use super::*;
use proto::content::{ContentBlock, MessageBlock};
use proto::event::{DeltaKind, Ephemeral, Event, ToolCause, ToolKind, ToolStatus};
use proto::ids::ToolCallId;
use proto::session::Usage;
use serde_json::{Value, json};

mod fallback;
mod interrupt;
mod transitions;
mod turns;

/// `Read` reads and can be cut; `Fetch` reads and is better not cut; anything else may write.
struct Tools;

impl ToolTraits for Tools {
    fn traits(&self, tool: &str, _input: &Value) -> CallTraits {
        let reads = matches!(tool, "Read" | "Fetch");
        CallTraits {
            title: tool.to_owned(),
            kind: ToolKind::Other,
            read_only: reads,
            concurrency_safe: reads,
            blocks_interrupt: tool != "Read",
            runs_command: tool == "Bash",
        }
    }
}

/// A machine with its effects so far, each as one short word.
struct Turn {
    machine: Machine,
    log: Vec<String>,
}

impl Turn {
    fn new() -> Self {
        Self::with(|_| {})
    }

    fn with(change: impl FnOnce(&mut TurnSettings)) -> Self {
        let mut settings =
            TurnSettings { max_concurrency: 10, retries: 10, ..TurnSettings::new("t".into(), "test/model".into()) };
        change(&mut settings);
        let mut turn = Self { machine: Machine::new(settings), log: Vec::new() };
        turn.step(Input::Begin);
        assert_eq!(turn.take(), ["call"]);
        turn
    }

    fn step(&mut self, input: Input) {
        let effects = self.machine.step(input, &Tools);
        self.log.extend(effects.iter().map(word));
    }

    fn take(&mut self) -> Vec<String> {
        std::mem::take(&mut self.log)
    }

    fn model(&mut self, event: ModelEvent) {
        self.step(Input::Model(event));
    }

    fn says(&mut self, index: usize, text: &str) {
        self.model(ModelEvent::BlockStarted { index, kind: BlockKind::Text });
        self.model(ModelEvent::Delta { index, kind: DeltaKind::Text, text: text.to_owned() });
        self.model(ModelEvent::BlockDone { index, block: MessageBlock::Text { text: text.to_owned() } });
    }

    fn calls(&mut self, index: usize, id: &str, name: &str) {
        let block = MessageBlock::ToolUse { id: id.to_owned(), name: name.to_owned(), input: json!({}) };
        self.model(ModelEvent::BlockDone { index, block });
    }

    fn stops(&mut self, reason: &str) {
        self.model(ModelEvent::Stopped { reason: reason.to_owned() });
    }

    fn faults(&mut self, kind: FaultKind) {
        self.model(ModelEvent::Fault(Fault { kind, message: "It failed.".to_owned() }));
    }

    fn runs(&mut self, id: &str) {
        self.step(Input::ToolStarted { id: id.into() });
    }

    fn ends(&mut self, id: &str) {
        self.ends_with(id, |_| {});
    }

    fn ends_with(&mut self, id: &str, change: impl FnOnce(&mut ToolOutcome)) {
        let mut outcome = ToolOutcome { content: vec![ContentBlock::text("ok")], ..ToolOutcome::default() };
        change(&mut outcome);
        self.step(Input::ToolEnded { id: id.into(), outcome: Box::new(outcome) });
    }
}

fn word(effect: &Effect) -> String {
    match effect {
        Effect::Append(Event::ToolQueued { tool_call_id, tool, .. }) => format!("queued {tool_call_id} {tool}"),
        Effect::Append(Event::ToolEnded { tool_call_id, status, cause: None, .. }) => {
            format!("ended {tool_call_id} {status:?}")
        }
        Effect::Append(Event::ToolEnded { tool_call_id, status, cause: Some(cause), .. }) => {
            format!("ended {tool_call_id} {status:?} {cause:?}")
        }
        Effect::Append(Event::MessageCompleted { content, stop_reason, .. }) => {
            format!("message {} {stop_reason}", content.len())
        }
        Effect::Append(Event::MessageTombstoned { reason, .. }) => format!("tombstone {reason}"),
        Effect::Append(Event::TurnContinued { reason, .. }) => format!("continue {reason:?}"),
        Effect::Append(Event::Notice { .. }) => "notice".to_owned(),
        Effect::Append(Event::ModelSwitched { from, to, .. }) => format!("model {from} to {to}"),
        Effect::Append(Event::SessionUpdated { changed }) => format!("changed {}", Value::Object(changed.clone())),
        Effect::Append(other) => format!("append {other:?}"),
        Effect::Announce(Ephemeral::MessageDelta { offset, text, .. }) => format!("delta {offset} {text}"),
        Effect::Announce(Ephemeral::UsageUpdated { usage }) => format!("usage {}", usage.output_tokens),
        Effect::Announce(other) => format!("announce {other:?}"),
        Effect::CallModel { after_ms: 0, .. } => "call".to_owned(),
        Effect::CallModel { after_ms, .. } => format!("call after {after_ms}"),
        Effect::SwitchModel { model } => format!("switch to {model}"),
        Effect::Compact => "compact".to_owned(),
        Effect::RunStopHooks { active } => format!("stop hooks {active}"),
        Effect::StopModel => "stop model".to_owned(),
        Effect::StartTool { id, .. } => format!("start {id}"),
        Effect::StopTool { id, cause } => format!("stop {id} {cause:?}"),
        Effect::End { reason, error: None, .. } => format!("END {reason:?}"),
        Effect::End { reason, error: Some(error), .. } => format!("END {reason:?} {}", error.kind),
    }
}
