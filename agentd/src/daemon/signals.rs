//! Signals: SIGTERM and SIGINT stop agentd, SIGHUP reads the settings again. Watched by `run`.

use super::control::Daemon;
use super::start_error::StartError;
use proto::methods::DaemonReloadResult;
use tokio::signal::unix::{Signal, SignalKind, signal};

/// The signals that agentd listens to.
pub struct Signals {
    terminate: Signal,
    interrupt: Signal,
    hang_up: Signal,
}

impl Signals {
    /// Takes them from now on; none that comes later is lost.
    ///
    /// # Errors
    /// If the system refuses.
    pub fn take() -> Result<Self, StartError> {
        let take = |kind| signal(kind).map_err(StartError::system("taking signals"));
        Ok(Self {
            terminate: take(SignalKind::terminate())?,
            interrupt: take(SignalKind::interrupt())?,
            hang_up: take(SignalKind::hangup())?,
        })
    }

    /// Obeys them for ever.
    pub async fn obey(mut self, daemon: &Daemon) {
        loop {
            tokio::select! {
                _ = self.terminate.recv() => daemon.stop().escalate(),
                _ = self.interrupt.recv() => daemon.stop().escalate(),
                _ = self.hang_up.recv() => {
                    match daemon.assembly().reload(None).await {
                        Ok(told) => log(&told),
                        Err(error) => tracing::error!(error = error.message, "the settings could not be read again"),
                    }
                }
            }
        }
    }
}

/// Nobody waits for an answer to a signal.
fn log(told: &DaemonReloadResult) {
    for error in &told.errors {
        tracing::warn!(file = error.file, "settings: {}", error.message);
    }
    tracing::info!(changed = ?told.changed, errors = told.errors.len(), "read the settings again");
}
