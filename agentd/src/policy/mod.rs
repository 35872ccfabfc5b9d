//! L1: permission as a pure function of rules, mode and what the tool thinks of the call. Asking is an
//! effect of the caller; nothing here waits. Called by the session's pipeline.

mod broad;
mod counters;
mod decide;
mod judge;
mod layers;
mod matcher;
mod matching;
mod places;
mod rule;
mod source;
mod subject;
mod suggest;
mod trace;

#[cfg(test)]
pub(crate) mod testing;
#[cfg(test)]
mod tests;

pub use counters::Counters;
pub use decide::{
    Call, Classifier, Decision, HookAnswer, HookSays, OwnCheck, PartDecision, Policy, Verdict, decide, explain,
};
pub use matcher::Matcher;
pub use places::Places;
pub use rule::{Behaviour, Rule, RuleError, wildcard};
pub use source::{Rules, Source, SourceKind, SourcedRule};
pub use subject::{CommandUse, Commands, FileUse, Subject, Zone};
pub use suggest::{Suggested, suggest, suggest_exactly};
pub use trace::{Outcome, Step};
