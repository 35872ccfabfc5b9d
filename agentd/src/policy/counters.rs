//! How often the classifier of mode `auto` has said no: after too many a person is asked. A value that the session
//! keeps; a decision changes it by [`Counters::after`].

use super::decide::{Decision, Verdict};
use proto::permission::ReasonType;

/// Denials in a row (claude-facts B.7).
const MAX_IN_A_ROW: u32 = 3;
/// Denials in all.
const MAX_TOTAL: u32 = 20;

/// Denials by the classifier.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct Counters {
    /// Since the last call that was allowed.
    pub in_a_row: u32,
    /// In the session.
    pub total: u32,
}

impl Counters {
    /// The counters after a decision in mode `auto`: what is allowed ends the row (rows P10, P12).
    #[must_use]
    pub fn after(self, decision: &Decision) -> Self {
        match (decision.verdict, decision.reason.kind) {
            (Verdict::Allow, _) => self.after_allow(),
            (Verdict::Deny, ReasonType::Classifier) => {
                Self { in_a_row: self.in_a_row.saturating_add(1), total: self.total.saturating_add(1) }
            }
            (Verdict::Deny | Verdict::Ask, _) => self,
        }
    }

    /// The counters after a person's yes.
    #[must_use]
    pub fn after_allow(self) -> Self {
        Self { in_a_row: 0, ..self }
    }

    /// Whether people are to be asked in the classifier's place.
    #[must_use]
    pub fn is_exhausted(self) -> bool {
        self.in_a_row >= MAX_IN_A_ROW || self.total >= MAX_TOTAL
    }
}
