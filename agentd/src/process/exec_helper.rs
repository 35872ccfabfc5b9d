//! What runs as `agentd __exec PROGRAM ARGS…` between the spawn of a child and its real program, where the system
//! forbids to start that directly (see `launch`). Called by `main` before anything else. It opens nothing, starts no thread and reads no setting.

use nix::sys::signal::{SaFlags, SigAction, SigHandler, SigSet, Signal, sigaction};
use std::ffi::OsString;
use std::io::Write as _;
use std::os::unix::process::CommandExt as _;

/// The argument that asks for the helper.
pub(super) const HELPER_ARGUMENT: &str = "__exec";
/// What a shell says when it can't run a program.
const CANT_RUN: i32 = 127;

/// Becomes `PROGRAM ARGS…` if the arguments are `agentd __exec PROGRAM ARGS…`: in a session of its own, with
/// only the three standard descriptors, default signals and the rest of its environment as it is. Returns
/// only if it was not asked.
pub fn run_if_asked(args: impl IntoIterator<Item = OsString>) {
    let mut args = args.into_iter().skip(1);
    if args.next().is_none_or(|first| first != HELPER_ARGUMENT) {
        return;
    }
    let Some(program) = args.next() else { std::process::exit(CANT_RUN) };
    // It fails only for a group leader, which a fresh child never is.
    let _ = nix::unistd::setsid();
    close_inherited();
    reset_signals();
    #[allow(clippy::disallowed_methods)] // this is the process module; it replaces itself and starts nothing
    let error = std::process::Command::new(&program).args(args).exec();
    let _ = writeln!(std::io::stderr(), "agentd: can't run {}: {error}", program.display());
    std::process::exit(CANT_RUN)
}

/// Closes every descriptor but the standard three. agentd opens all of its own close-on-exec; this holds
/// for those that it was started with.
fn close_inherited() {
    let Ok(entries) = std::fs::read_dir("/proc/self/fd") else { return };
    let numbers: Vec<i32> = entries
        .filter_map(|entry| entry.ok()?.file_name().to_str()?.parse().ok())
        .filter(|number| *number > 2)
        .collect();
    for number in numbers {
        let _ = nix::unistd::close(number);
    }
}

/// Ignored and blocked signals survive exec; a tool must not inherit agentd's.
fn reset_signals() {
    let default = SigAction::new(SigHandler::SigDfl, SaFlags::empty(), SigSet::empty());
    for signal in Signal::iterator().filter(|signal| !matches!(signal, Signal::SIGKILL | Signal::SIGSTOP)) {
        // SAFETY: this installs no handler, and the process has one thread.
        #[allow(unsafe_code)] // there is no safe form of sigaction
        let _ = unsafe { sigaction(signal, &default) };
    }
    let _ = SigSet::empty().thread_set_mask();
}
