//! The working folder of one thread, so that a child can be started in a folder without a word between fork and exec:
//! a child begins where the thread stands that starts it. Called by `launch`.

use nix::fcntl::{OFlag, open};
use nix::sched::{CloneFlags, unshare};
use nix::sys::stat::Mode;
use nix::unistd::{chdir, fchdir};
use std::cell::OnceCell;
use std::io;
use std::path::Path;

thread_local! {
    /// Whether this thread has a folder of its own. Where that is forbidden (some containers), it never has.
    static IS_OWN: OnceCell<bool> = const { OnceCell::new() };
}

/// Whether this thread can stand in another folder than the rest of the process; makes it so.
pub(super) fn is_possible() -> bool {
    IS_OWN.with(|is_own| *is_own.get_or_init(|| unshare(CloneFlags::CLONE_FS).is_ok()))
}

/// Does something with this thread standing in a folder, and goes back. Only after `is_possible` said yes.
pub(super) fn within<T>(folder: &Path, work: impl FnOnce() -> io::Result<T>) -> io::Result<T> {
    let back = open(".", OFlag::O_PATH | OFlag::O_DIRECTORY | OFlag::O_CLOEXEC, Mode::empty())?;
    chdir(folder)?;
    let done = work();
    if let Err(error) = fchdir(&back) {
        // agentd names every file by its whole path, so it may as well stand there.
        tracing::warn!(%error, "a thread could not go back to its folder");
    }
    done
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_this_thread_moves_and_it_comes_back() {
        if !is_possible() {
            return;
        }
        let dir = tempfile::tempdir().unwrap();
        let folder = dir.path().canonicalize().unwrap();
        let before = std::env::current_dir().unwrap();
        let (seen, elsewhere) = within(&folder, || {
            let other = std::thread::spawn(|| std::fs::read_link("/proc/self/cwd").unwrap());
            Ok((std::fs::read_link("/proc/thread-self/cwd").unwrap(), other.join().unwrap()))
        })
        .unwrap();
        assert_eq!(seen, folder);
        assert_eq!(elsewhere, before, "the process stands where it stood");
        assert_eq!(std::env::current_dir().unwrap(), before);
        assert!(within(&folder.join("gone"), || Ok(())).is_err());
        assert_eq!(std::env::current_dir().unwrap(), before);
    }
}
