//! The Stop hooks of a turn that is about to end: asked beside the actor, which waits for nothing. Called by the
//! effects; the turn machine decides what their answer means.

use super::actor::Actor;
use super::hooks::{Hooks, StopDecision, StopView};
use super::pipeline::ToolMessage;
use crate::turn::StopVerdict;
use futures::FutureExt as _;
use proto::ids::{SessionId, TurnId};
use std::panic::AssertUnwindSafe;
use std::sync::Arc;
use tokio_util::sync::CancellationToken;

impl Actor {
    /// Asks the hooks; the answer comes as a message. The turn's end stops them.
    pub(super) fn run_stop_hooks(&mut self, active: bool) {
        let state = self.log.state();
        let text = state.turn.as_ref().map(|turn| turn.text.clone()).unwrap_or_default();
        let session_id = state.info.id.clone();
        let Some(turn) = &mut self.running else { return };
        let cancel = CancellationToken::new();
        turn.stop_hooks = Some(cancel.clone().drop_guard());
        let stop = Stop { session_id, turn_id: turn.machine.turn_id().clone(), text, active, cancel };
        let (hooks, messages) = (Arc::clone(&self.services.hooks), self.tool_sender.clone());
        tokio::spawn(async move {
            let verdict = tokio::select! {
                () = stop.cancel.cancelled() => return,
                verdict = ask(hooks.as_ref(), &stop) => verdict,
            };
            // An actor that is gone has no turn to end.
            let _ = messages.send(ToolMessage::StopHooksRan { turn_id: stop.turn_id, verdict }).await;
        });
    }
}

/// What the hooks are asked about.
struct Stop {
    session_id: SessionId,
    turn_id: TurnId,
    text: String,
    active: bool,
    cancel: CancellationToken,
}

/// A hook that panics stops nothing.
async fn ask(hooks: &dyn Hooks, stop: &Stop) -> StopVerdict {
    let Stop { session_id, turn_id, text, active, cancel } = stop;
    let view = StopView { session_id, turn_id, text, again: *active, cancel };
    match AssertUnwindSafe(async { hooks.on_stop(view).await }).catch_unwind().await {
        Ok(StopDecision::Pass) => StopVerdict::Pass,
        Ok(StopDecision::Block { feedback }) => StopVerdict::Block { feedback },
        Ok(StopDecision::Prevent { reason }) => StopVerdict::Prevent { reason },
        Err(_) => {
            tracing::error!(turn = %turn_id, "a Stop hook panicked");
            StopVerdict::Pass
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use futures::future::BoxFuture;

    /// Says the same each time, or panics.
    struct Says(Option<StopDecision>);

    impl Hooks for Says {
        fn on_stop<'a>(&'a self, stop: StopView<'a>) -> BoxFuture<'a, StopDecision> {
            assert_eq!((stop.text, stop.again), ("done", true));
            let decision = self.0.clone();
            Box::pin(async move { decision.unwrap() })
        }
    }

    #[tokio::test]
    async fn what_hooks_say_reaches_the_machine_and_a_panic_stops_nothing() {
        let stop = Stop {
            session_id: "s".into(),
            turn_id: "t".into(),
            text: "done".to_owned(),
            active: true,
            cancel: CancellationToken::new(),
        };
        let block = StopDecision::Block { feedback: "more".to_owned() };
        let prevent = StopDecision::Prevent { reason: "enough".to_owned() };
        for (said, expected) in [
            (Some(StopDecision::Pass), StopVerdict::Pass),
            (Some(block), StopVerdict::Block { feedback: "more".to_owned() }),
            (Some(prevent), StopVerdict::Prevent { reason: "enough".to_owned() }),
            (None, StopVerdict::Pass),
        ] {
            assert_eq!(ask(&Says(said), &stop).await, expected);
        }
    }
}
