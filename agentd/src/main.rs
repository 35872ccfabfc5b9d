//! The `agentd` program: becomes a tool's process if asked, else hands its arguments over to the daemon;
//! nothing else.

use std::process::ExitCode;

fn main() -> ExitCode {
    // First: a child on its way to a tool must not start what the daemon needs.
    agentd::process::run_if_asked(std::env::args_os());
    agentd::daemon::run(std::env::args_os())
}
