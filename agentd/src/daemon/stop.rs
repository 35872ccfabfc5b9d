//! How far agentd is on its way to the end. Asked for by signals and by `daemon/shutdown`; followed by `run`.

use proto::methods::ShutdownMode;
use tokio::sync::watch;

/// The stages; a later one is never taken back.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub enum Stage {
    /// It runs.
    Running,
    /// Running turns may end; nothing new starts.
    Draining,
    /// Everything is interrupted.
    Now,
}

/// The stage, shared by who asks and who follows.
#[derive(Debug)]
pub struct Stop(watch::Sender<Stage>);

impl Default for Stop {
    fn default() -> Self {
        Self(watch::Sender::new(Stage::Running))
    }
}

impl Stop {
    /// What a client asks for.
    pub fn request(&self, mode: ShutdownMode) {
        self.advance(|_| match mode {
            ShutdownMode::Drain => Stage::Draining,
            ShutdownMode::Now => Stage::Now,
        });
    }

    /// What a signal asks for: the first one drains, a further one ends the wait.
    pub fn escalate(&self) {
        self.advance(|stage| if stage == Stage::Running { Stage::Draining } else { Stage::Now });
    }

    /// Waits for a stage or a later one.
    pub async fn reached(&self, wanted: Stage) {
        // The sender lives in `self`, so the wait can't fail.
        let _ = self.0.subscribe().wait_for(|stage| *stage >= wanted).await;
    }

    fn advance(&self, next: impl FnOnce(Stage) -> Stage) {
        self.0.send_if_modified(|stage| {
            let later = next(*stage).max(*stage);
            let changed = later != *stage;
            *stage = later;
            changed
        });
    }
}

#[cfg(test)]
mod tests {
    use super::{Stage, Stop};
    use futures::FutureExt;
    use proto::methods::ShutdownMode;

    #[test]
    fn a_second_signal_ends_the_wait() {
        let stop = Stop::default();
        assert_eq!(stop.reached(Stage::Draining).now_or_never(), None);
        stop.escalate();
        assert_eq!(stop.reached(Stage::Draining).now_or_never(), Some(()));
        assert_eq!(stop.reached(Stage::Now).now_or_never(), None);
        stop.escalate();
        assert_eq!(stop.reached(Stage::Now).now_or_never(), Some(()));
    }

    #[test]
    fn a_stop_is_not_slowed_down_again() {
        let stop = Stop::default();
        stop.request(ShutdownMode::Now);
        stop.request(ShutdownMode::Drain);
        assert_eq!(stop.reached(Stage::Now).now_or_never(), Some(()));
    }
}
