//! agentctl, the command-line client of agentd: reads the arguments, runs the command, turns its outcome
//! into an exit code. It holds no state of its own; whatever matters is in the daemon.

mod args;
mod ask;
mod commands;
mod connect;
mod duration;
mod editor;
mod environment;
mod failure;
mod follow;
mod history;
mod live;
mod paths;
mod prompt;
mod render;
mod session_ref;
mod slash;
mod start;
mod terminal;
mod transport;
mod turns;

use clap::Parser;
use environment::Environment;
use std::io::Write;
use std::process::ExitCode;

fn main() -> ExitCode {
    let cli = args::Cli::parse();
    let outcome =
        start::target(cli.socket, Environment::of_process()).and_then(|target| commands::run(cli.command, &target));
    let failure = match outcome {
        Ok(code) => return ExitCode::from(code),
        Err(failure) => failure,
    };
    if !failure.message.is_empty() {
        let mut message = failure.message.trim_end().replace('\n', " ");
        message = render::escape::one_line(&message);
        let _ = writeln!(std::io::stderr(), "agentctl: {message}"); // nowhere else to tell
    }
    ExitCode::from(failure.code)
}
