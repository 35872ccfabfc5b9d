//! The clock: the only place that asks the system for the time. Wall time is for display, monotonic
//! time for durations.

use proto::ids::Timestamp;
use std::time::{Duration, Instant, SystemTime};

/// The wall time, as the protocol writes it.
#[must_use]
#[allow(clippy::disallowed_methods)] // this is the clock
pub fn now() -> Timestamp {
    humantime::format_rfc3339_millis(SystemTime::now()).to_string()
}

/// Whether a moment that a file system wrote down lies further back than that. One in the future does not.
#[must_use]
#[allow(clippy::disallowed_methods)] // this is the clock
pub fn is_past(moment: SystemTime, by: Duration) -> bool {
    SystemTime::now().duration_since(moment).is_ok_and(|past| past > by)
}

/// A running stopwatch. Jumps of the wall clock don't touch it.
#[derive(Debug, Clone, Copy)]
pub struct Stopwatch(Instant);

impl Stopwatch {
    /// Starts one.
    #[must_use]
    #[allow(clippy::disallowed_methods)] // this is the clock
    pub fn start() -> Self {
        Self(Instant::now())
    }

    /// The time since the start.
    #[must_use]
    pub fn elapsed(&self) -> Duration {
        self.0.elapsed()
    }

    /// The time since the start in whole milliseconds.
    #[must_use]
    pub fn elapsed_ms(&self) -> u64 {
        u64::try_from(self.0.elapsed().as_millis()).unwrap_or(u64::MAX)
    }
}
