//! The limit of open files. Its usual value, 1024, is for programs that call `select`; agentd with as many
//! sessions awake would take no connection any more, not even one that cancels. Called once by `run`.

use nix::sys::resource::{Resource, getrlimit, setrlimit};

/// How many files agentd wants to have open: each connection takes one, and so does each session that is awake.
/// Tools inherit the limit, and some of them close every number below it, so it is not raised without need.
const OPEN_FILES: u64 = 65_536;

/// Raises the limit as far as is needed and allowed. A failure is told and no reason not to start.
pub fn raise() {
    let raised = getrlimit(Resource::RLIMIT_NOFILE).and_then(|(soft, hard)| match wanted_files(soft, hard) {
        Some(wanted) => setrlimit(Resource::RLIMIT_NOFILE, wanted, hard),
        None => Ok(()),
    });
    if let Err(error) = raised {
        tracing::warn!(%error, "the limit of open files could not be raised");
    }
}

/// The limit to set; none if it is high enough or can't be raised.
fn wanted_files(soft: u64, hard: u64) -> Option<u64> {
    let wanted = OPEN_FILES.min(hard);
    (soft < wanted).then_some(wanted)
}

#[cfg(test)]
mod tests {
    use super::{OPEN_FILES, wanted_files};

    #[test]
    fn the_limit_of_files_is_raised_and_never_lowered() {
        assert_eq!(wanted_files(1024, 524_288), Some(OPEN_FILES));
        assert_eq!(wanted_files(1024, 4096), Some(4096));
        assert_eq!(wanted_files(4096, 4096), None);
        assert_eq!(wanted_files(1_048_576, 1_048_576), None);
    }
}
