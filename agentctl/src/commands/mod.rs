//! The commands, one file each. Called by `main` with the arguments and the daemon that they mean.

mod attach;
mod chat;
mod config;
mod daemon;
mod doctor;
mod export;
mod logs;
mod ls;
mod models;
mod pending;
mod place;
mod respond;
mod rpc;
mod run;
mod schema;
mod send;
mod session;
mod status;
mod wait;

use crate::args::{Cli, Command};
use crate::failure::{Failure, Outcome};
use crate::start::{self, Target};
use clap::CommandFactory;
use std::io::{self, Read, Write};

/// Runs a command.
pub fn run(command: Command, target: &Target) -> Outcome {
    match command {
        Command::Chat(args) => chat::run(args, target),
        Command::Run(args) => run::run(args, target),
        Command::Ls(args) => ls::run(&args, target),
        Command::Attach(args) => attach::run(&args, target),
        Command::Send(args) => send::run(args, target),
        Command::Wait(args) => wait::run(&args, target),
        Command::Cancel(args) => session::cancel(args, target),
        Command::Pending(args) => pending::run(&args, target),
        Command::Allow(args) => respond::allow(&args, target),
        Command::Deny(args) => respond::deny(args, target),
        Command::Logs(args) => logs::run(&args, target),
        Command::Export(args) => export::run(&args, target),
        Command::Close(args) => session::close(&args, target),
        Command::Rm(args) => session::remove(&args, target),
        Command::Fork(args) => session::fork(args, target),
        Command::Rewind(args) => session::rewind(args, target),
        Command::Search(args) => session::search(args, target),
        Command::Tasks(args) => session::tasks(&args, target),
        Command::Models(args) => models::run(&args, target),
        Command::Config(args) => config::run(args, target),
        Command::Status(args) => status::run(&args, target),
        Command::Start => daemon::start(target),
        Command::Stop(args) => daemon::stop(&args, target),
        Command::Restart(args) => daemon::restart(&args, target),
        Command::Doctor => doctor::run(target),
        Command::Rpc(args) => rpc::run(&args, target),
        Command::Schema => schema::run(),
        Command::Completions(args) => {
            let mut script = Vec::new();
            clap_complete::generate(args.shell, &mut Cli::command(), "agentctl", &mut script);
            io::stdout().write_all(&script)?;
            Ok(0)
        }
        Command::Detach { program } => Err(start::detach(&program)),
    }
}

/// A text argument, where `-` means standard input.
fn text_or_stdin(argument: &str) -> Result<String, Failure> {
    if argument != "-" {
        return Ok(argument.to_owned());
    }
    let mut text = String::new();
    let read = io::stdin().read_to_string(&mut text);
    read.map_err(|error| Failure::new(format!("cannot read standard input: {error}")))?;
    Ok(text)
}

/// Prints a line to standard output.
fn print(line: &str) -> Result<(), Failure> {
    let mut out = io::stdout().lock();
    out.write_all(line.as_bytes())?;
    out.write_all(b"\n")?;
    Ok(out.flush()?)
}

/// Prints a value as JSON in one line.
fn print_json(value: &impl serde::Serialize) -> Result<(), Failure> {
    print(&serde_json::to_string(value).map_err(|error| Failure::new(error.to_string()))?)
}

/// Prints a value as indented JSON.
fn print_pretty(value: &impl serde::Serialize) -> Result<(), Failure> {
    print(&serde_json::to_string_pretty(value).map_err(|error| Failure::new(error.to_string()))?)
}
