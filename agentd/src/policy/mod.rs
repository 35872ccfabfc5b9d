//! L1: permission as a pure function of rules, mode and what the tool thinks of the call. Asking is an
//! effect of the caller; nothing here waits. Called by the session's pipeline.

mod decide;
mod rule;

pub use decide::{Call, HookSays, OwnCheck, Policy, Verdict, decide};
pub use rule::{Rule, RuleError, wildcard};
