//! Keeps what is in memory, API keys among it, from other processes and from core files. Called once by
//! `run`, before any secret is read. What agentd starts itself is not affected: exec resets the first, and
//! the hard limit of the second stays.
//!
//! The umask is left as the user has set it, since tools create files for him; agentd gives an explicit
//! mode to each file of its own.

use nix::sys::prctl;
use nix::sys::resource::{Resource, getrlimit, setrlimit};

/// Hardens this process as far as the kernel allows. A failure is told and no reason not to start.
pub fn harden() {
    if let Err(error) = prctl::set_dumpable(false) {
        tracing::warn!(%error, "other processes of this user can read agentd's memory");
    }
    let no_core = getrlimit(Resource::RLIMIT_CORE).and_then(|(_, hard)| setrlimit(Resource::RLIMIT_CORE, 0, hard));
    if let Err(error) = no_core {
        tracing::warn!(%error, "a crash of agentd could write its memory to a core file");
    }
}
