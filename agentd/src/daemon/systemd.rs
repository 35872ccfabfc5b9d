//! systemd: the socket that it hands over, and what it is told. Called by `run`. Without systemd all of
//! this does nothing.

use super::start_error::StartError;
use listenfd::ListenFd;
use sd_notify::NotifyState;
use std::os::unix::net::UnixListener;

/// The socket that systemd opened for agentd, if it did. Call it before any thread is started, since it takes
/// the variables out of the environment.
///
/// # Errors
/// If what was handed over is not one Unix stream socket.
pub fn activated_socket() -> Result<Option<UnixListener>, StartError> {
    let mut handed_over = ListenFd::from_env();
    if handed_over.len() > 1 {
        let count = handed_over.len();
        let message =
            format!("systemd handed {count} sockets over, where one is served; give its unit one ListenStream=");
        return Err(StartError::Usage(message));
    }
    handed_over.take_unix_listener(0).map_err(|error| {
        StartError::Usage(format!(
            "the socket of systemd can't be served: {error}; give its unit ListenStream= with a path"
        ))
    })
}

/// Tells that clients can connect.
pub fn tell_ready() {
    tell(&[NotifyState::Ready, NotifyState::Status("serving")]);
}

/// Tells that the end has begun.
pub fn tell_stopping() {
    tell(&[NotifyState::Stopping, NotifyState::Status("waiting for running turns to end")]);
}

/// Pets the watchdog for ever, where systemd has set one. It stops when the runtime is stuck, which is
/// what the watchdog is for.
pub async fn pet_watchdog() {
    let Some(limit) = sd_notify::watchdog_enabled() else { return std::future::pending().await };
    loop {
        tell(&[NotifyState::Watchdog]);
        tokio::time::sleep(limit / 2).await;
    }
}

fn tell(state: &[NotifyState<'_>]) {
    if let Err(error) = sd_notify::notify(state) {
        tracing::warn!(%error, "systemd could not be told of agentd's state");
    }
}
