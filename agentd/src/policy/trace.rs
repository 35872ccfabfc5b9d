//! The trace of a decision: what each layer said, in order. Called by `decide` and `layers`.

use super::decide::Verdict;

/// What a layer said.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Outcome {
    /// Nothing: the next one is asked.
    Pass,
    /// The call runs.
    Allow,
    /// A person is asked.
    Ask,
    /// The call does not run.
    Deny,
}

impl Outcome {
    /// The name on the wire.
    #[must_use]
    pub fn name(self) -> &'static str {
        match self {
            Self::Pass => "pass",
            Self::Allow => "allow",
            Self::Ask => "ask",
            Self::Deny => "deny",
        }
    }
}

impl From<Verdict> for Outcome {
    fn from(verdict: Verdict) -> Self {
        match verdict {
            Verdict::Allow => Self::Allow,
            Verdict::Ask => Self::Ask,
            Verdict::Deny => Self::Deny,
        }
    }
}

/// One layer of a trace.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Step {
    /// Its number, 1 to 13.
    pub layer: u8,
    /// What it said.
    pub outcome: Outcome,
    /// Why, one sentence for people.
    pub detail: String,
}

/// What a layer that says nothing has looked at.
const PASSED: [&str; 13] = [
    "no deny rule speaks of it",
    "no ask rule speaks of every call of this tool",
    "the tool itself does not forbid it",
    "the call is no question to a person",
    "no ask rule speaks of what the call is about",
    "nothing protected, critical or secret is touched",
    "the mode alone does not decide",
    "no allow rule speaks of it",
    "it is no mere reading, nor an edit that the mode allows",
    "there is no row of denials to end",
    "the mode is not dontAsk",
    "the mode is not auto, or its classifier has not been asked",
    "people can be asked",
];

/// The steps of one decision, by layer.
#[derive(Debug, Clone, Default)]
pub(super) struct Steps(Vec<Step>);

impl Steps {
    /// Says what a layer said, in place of what was said for it before.
    pub fn set(&mut self, layer: u8, outcome: Outcome, detail: &str) {
        self.0.retain(|step| step.layer != layer);
        self.0.push(Step { layer, outcome, detail: detail.to_owned() });
    }

    /// A step for each layer up to this one.
    pub fn up_to(&self, last: u8) -> Vec<Step> {
        let step = |layer: u8, passed: &str| {
            let said = self.0.iter().find(|step| step.layer == layer).cloned();
            said.unwrap_or_else(|| Step { layer, outcome: Outcome::Pass, detail: passed.to_owned() })
        };
        (1..=last).zip(PASSED).map(|(layer, passed)| step(layer, passed)).collect()
    }
}
