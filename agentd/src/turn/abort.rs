//! Aborts on three levels: the turn, the siblings of one message, a single call (rows I01–I05). A value:
//! it says what an abort means and how far it reaches. Used by the machine; stops nothing itself.

use proto::event::ToolCause;

/// Why something is to stop.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum AbortReason {
    /// A person sent another prompt in the turn's place.
    Interrupt,
    /// A person wants the turn to stop.
    UserAbort,
    /// A person said no to a call, and wants the turn to stop by that.
    Rejected,
    /// A call stopped itself for a reason of its own.
    Tool,
    /// A parallel call failed.
    SiblingError,
    /// The model's answer became void.
    Fallback,
    /// agentd is about to stop.
    Restart,
    /// The session's log can't be written.
    StorageFailed,
}

impl AbortReason {
    /// The cause that a call's end names.
    #[must_use]
    pub fn cause(self) -> ToolCause {
        match self {
            Self::Interrupt => ToolCause::UserInterrupted,
            Self::UserAbort | Self::Rejected | Self::Tool | Self::StorageFailed => ToolCause::UserAbort,
            Self::SiblingError => ToolCause::SiblingError,
            Self::Fallback => ToolCause::StreamingFallback,
            Self::Restart => ToolCause::Restart,
        }
    }

    /// Whether a running call with this behaviour is stopped. Only a prompt that interrupts waits for calls that
    /// are better not cut (rows I06–I08).
    #[must_use]
    pub fn stops_call(self, blocks_interrupt: bool) -> bool {
        !(self == Self::Interrupt && blocks_interrupt)
    }
}

/// The levels above the calls of one message, with the first reason for which each was aborted.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct AbortTree {
    turn: Option<AbortReason>,
    siblings: Option<AbortReason>,
    discarded: bool,
}

impl AbortTree {
    /// Why the turn is to stop.
    #[must_use]
    pub fn turn(&self) -> Option<AbortReason> {
        self.turn
    }

    /// Why calls of this message that have not started must not.
    #[must_use]
    pub fn siblings(&self) -> Option<AbortReason> {
        self.turn.or(self.siblings)
    }

    /// Aborts the turn and with it all below. The first reason is kept.
    pub fn abort_turn(&mut self, reason: AbortReason) {
        self.turn.get_or_insert(reason);
    }

    /// Aborts the calls of this message; the turn lives on (row I03).
    pub fn abort_siblings(&mut self) {
        self.siblings.get_or_insert(AbortReason::SiblingError);
    }

    /// The calls of this message are void: nothing of them reaches the turn any more (row F07).
    pub fn discard(&mut self) {
        self.siblings.get_or_insert(AbortReason::Fallback);
        self.discarded = true;
    }

    /// A call aborted itself. Aborts the turn too if that bubbles, and says whether it did.
    pub fn abort_call(&mut self, reason: AbortReason) -> bool {
        let reaches = bubbles(reason, self.turn.is_some(), self.discarded);
        if reaches {
            self.abort_turn(reason);
        }
        reaches
    }

    /// The tree for the next message: what concerned the siblings is over.
    #[must_use]
    pub fn next_message(&self) -> Self {
        Self { turn: self.turn, ..Self::default() }
    }
}

/// Whether the abort of a call reaches the turn (row I04): not if a sibling's failure was the reason, not if
/// the turn is aborted already, not if the call was discarded.
#[must_use]
pub fn bubbles(reason: AbortReason, turn_aborted: bool, discarded: bool) -> bool {
    reason != AbortReason::SiblingError && !turn_aborted && !discarded
}

#[cfg(test)]
mod tests {
    use super::*;

    const ALL: [AbortReason; 8] = [
        AbortReason::Interrupt,
        AbortReason::UserAbort,
        AbortReason::Rejected,
        AbortReason::Tool,
        AbortReason::SiblingError,
        AbortReason::Fallback,
        AbortReason::Restart,
        AbortReason::StorageFailed,
    ];

    /// Rows I04, F07: the truth table of what a call's abort reaches.
    #[test]
    fn a_calls_abort_bubbles_but_for_three_cases() {
        for reason in ALL {
            for (turn_aborted, discarded) in [(false, false), (false, true), (true, false), (true, true)] {
                let expected = reason != AbortReason::SiblingError && !turn_aborted && !discarded;
                assert_eq!(bubbles(reason, turn_aborted, discarded), expected, "{reason:?} {turn_aborted} {discarded}");
            }
        }
    }

    /// Rows I01, I03: an abort reaches down, and up only if it bubbles.
    #[test]
    fn aborts_reach_down_and_not_up() {
        let mut tree = AbortTree::default();
        tree.abort_siblings();
        assert_eq!((tree.turn(), tree.siblings()), (None, Some(AbortReason::SiblingError)));
        assert!(!tree.abort_call(AbortReason::SiblingError));
        assert_eq!(tree.turn(), None);
        assert!(tree.abort_call(AbortReason::Tool));
        assert_eq!((tree.turn(), tree.siblings()), (Some(AbortReason::Tool), Some(AbortReason::Tool)));
    }

    /// Row F07: a discarded call reaches nobody.
    #[test]
    fn what_was_discarded_does_not_bubble() {
        let mut tree = AbortTree::default();
        tree.discard();
        assert!(!tree.abort_call(AbortReason::Rejected));
        assert_eq!(tree.turn(), None);
        assert_eq!(tree.next_message().siblings(), None);
    }

    /// Row I02: the first reason is kept, on every level.
    #[test]
    fn the_first_reason_is_kept() {
        for first in ALL {
            for later in ALL {
                let mut tree = AbortTree::default();
                tree.abort_turn(first);
                tree.abort_turn(later);
                tree.abort_siblings();
                assert!(!tree.abort_call(later));
                assert_eq!((tree.turn(), tree.siblings()), (Some(first), Some(first)));
                assert_eq!(tree.next_message().turn(), Some(first));
            }
        }
    }

    /// Rows I06, I07, I08: only an interrupting prompt waits, and only for calls that block.
    #[test]
    fn which_abort_stops_which_call() {
        for reason in ALL {
            assert!(reason.stops_call(false));
            assert_eq!(reason.stops_call(true), reason != AbortReason::Interrupt, "{reason:?}");
        }
    }
}
