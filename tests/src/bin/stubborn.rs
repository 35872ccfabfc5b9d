//! A process that does not want to go: it leaves its parent, its session and its group, blocks every
//! signal that can be blocked, and keeps its output open. `stubborn PIDFILE` writes the survivor's pid
//! to the file, and the starter exits only then. Run as a tool's command by the end-to-end tests.

// A test program: it starts itself and has no one to report an error to.
#![allow(clippy::disallowed_methods)]

use nix::sys::signal::SigSet;
use nix::unistd::setsid;
use std::process::{Command, Stdio};
use std::{env, fs, process, thread, time::Duration};

/// Long enough for any test, short enough that a leak ends by itself.
const LIFETIME: Duration = Duration::from_secs(600);

fn main() {
    let arguments: Vec<String> = env::args().skip(1).collect();
    match arguments.iter().map(String::as_str).collect::<Vec<_>>()[..] {
        [pid_file] => {
            let mut middle = again(&["--middle", pid_file]);
            middle.wait().expect("the middle process is a child");
        }
        ["--middle", pid_file] => {
            setsid().expect("a child that leads no group can start a session");
            drop(again(&["--core", pid_file]));
            while !fs::exists(pid_file).unwrap_or(false) {
                thread::yield_now();
            }
        }
        ["--core", pid_file] => {
            SigSet::all().thread_block().expect("signals can be blocked");
            let unfinished = format!("{pid_file}.new");
            fs::write(&unfinished, process::id().to_string()).expect("the pid file can be written");
            fs::rename(unfinished, pid_file).expect("the pid file can be named");
            thread::sleep(LIFETIME);
        }
        _ => process::exit(2),
    }
}

fn again(arguments: &[&str]) -> process::Child {
    let program = env::current_exe().expect("a running program has a path");
    Command::new(program).args(arguments).stdin(Stdio::null()).spawn().expect("it can start itself")
}
