//! The commands, one file each. Called by `main` with the arguments and the daemon that they mean.

mod attach;
mod chat;
mod config;
mod daemon;
mod doctor;
mod explain;
mod export;
mod logs;
mod ls;
mod models;
mod pending;
mod place;
mod respond;
mod resume;
mod rewind;
mod rpc;
mod run;
mod schema;
mod send;
mod session;
mod status;
mod trust;
mod wait;

pub use place::model_name;
pub use run::output_schema;

use crate::args::{Cli, Command};
use crate::failure::{Failure, Outcome};
use crate::start::{self, Target};
use clap::CommandFactory;
use proto::frame::MAX_FRAME_BYTES;
use std::io::{self, Read, Write};
use std::path::Path;

/// Runs a command.
pub fn run(command: Command, target: &Target) -> Outcome {
    match command {
        Command::Chat(args) => chat::run(args, target),
        Command::Run(args) => run::run(args, target),
        Command::Ls(args) => ls::run(&args, target),
        Command::Attach(args) => attach::run(&args, target),
        Command::Send(args) => send::run(args, target),
        Command::Resume(args) => resume::run(&args, target),
        Command::Wait(args) => wait::run(&args, target),
        Command::Cancel(args) => session::cancel(args, target),
        Command::Pending(args) => pending::run(&args, target),
        Command::Allow(args) => respond::allow(args, target),
        Command::Deny(args) => respond::deny(args, target),
        Command::Explain(args) => explain::run(args, target),
        Command::Trust(args) => trust::run(&args, target),
        Command::Logs(args) => logs::run(&args, target),
        Command::Export(args) => export::run(&args, target),
        Command::Close(args) => session::close(&args, target),
        Command::Rm(args) => session::remove(&args, target),
        Command::Fork(args) => session::fork(args, target),
        Command::Rewind(args) => rewind::run(&args, target),
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
    let unread = |error: &dyn std::fmt::Display| Failure::new(format!("cannot read standard input: {error}"));
    let mut bytes = Vec::new();
    let most = MAX_FRAME_BYTES as u64;
    io::stdin().take(most + 1).read_to_end(&mut bytes).map_err(|error| unread(&error))?;
    if bytes.len() > MAX_FRAME_BYTES {
        return Err(too_long());
    }
    String::from_utf8(bytes).map_err(|_| unread(&"it is not UTF-8"))
}

/// A folder as agentd takes it: absolute, without links; this one if none is given.
fn folder(given: Option<&Path>) -> Result<String, Failure> {
    let dir = given.unwrap_or(Path::new("."));
    let dir = std::fs::canonicalize(dir)
        .map_err(|error| Failure::new(format!("cannot use the folder {}: {error}", dir.display())))?;
    dir.into_os_string()
        .into_string()
        .map_err(|dir| Failure::new(format!("cannot use the folder {}: its name is not UTF-8", dir.to_string_lossy())))
}

/// A prompt that agentd can take.
fn prompt(argument: &str) -> Result<String, Failure> {
    let prompt = text_or_stdin(argument)?;
    if prompt.trim().is_empty() {
        return Err(Failure::usage("the prompt is empty; give one, or - to read it from standard input"));
    }
    if fits_a_frame(&prompt) { Ok(prompt) } else { Err(too_long()) }
}

/// What a request holds beside its prompt takes less than this.
const REST_OF_REQUEST_BYTES: usize = 64 << 10;

fn fits_a_frame(prompt: &str) -> bool {
    let most = MAX_FRAME_BYTES - REST_OF_REQUEST_BYTES;
    serde_json::to_string(prompt).is_ok_and(|json| json.len() <= most)
}

fn too_long() -> Failure {
    let most = MAX_FRAME_BYTES >> 20;
    Failure::usage(format!("the text is longer than agentd takes ({most} MiB); put it into a file and name that"))
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

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_prompt_is_measured_as_it_travels() {
        let most = MAX_FRAME_BYTES - REST_OF_REQUEST_BYTES - 2; // less its quotes
        for (prompt, fits) in [
            ("x".repeat(most), true),
            ("x".repeat(most + 1), false),
            ("\"".repeat(most / 2), true),
            ("\"".repeat(most / 2 + 1), false),
            ("\u{1}".repeat(most / 6 + 1), false),
        ] {
            assert_eq!(fits_a_frame(&prompt), fits, "{} bytes", prompt.len());
        }
    }
}
