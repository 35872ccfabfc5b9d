//! L1: permission as a pure function of rules, mode and what the tool thinks of the call. Asking is an
//! effect of the caller; nothing here waits. Called by the session's pipeline.

mod decide;
mod rule;
mod source;
mod subject;

pub use decide::{Call, HookSays, OwnCheck, Policy, Verdict, decide};
pub use rule::{Rule, RuleError, wildcard};
pub use source::{Rules, Source, SourceKind, SourcedRule};
pub use subject::{CommandUse, Commands, FileUse, Subject, Zone};
