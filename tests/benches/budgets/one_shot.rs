//! Starting: `agentctl run hi` with agentd up and without, and agentd itself up to its first answer.

use super::figures::{Report, Samples};
use std::io::{BufRead, BufReader, Write};
use std::os::unix::net::UnixStream;
use std::path::Path;
use std::process::{Command, Stdio};
use std::thread;
use std::time::Duration;
use tests::{Agentctl, Daemon, Home, ModelServer, Reply, binary};

const RUNS: usize = 100;
const STARTS: usize = 30;

pub fn measure(report: &mut Report) {
    let model = ModelServer::start();
    model.answer_with(|_| Reply::says("Hello."));
    let daemon = Daemon::with_model(&model);
    let run = |program: &Path, arguments: &[&str]| run_quietly(daemon.home().command(program).args(arguments));
    let truth = Samples::timed(RUNS, || run(Path::new("/bin/true"), &[]));
    let version = Samples::timed(RUNS, || run(&binary("agentctl"), &["--version"]));
    let one_shot = Samples::timed(RUNS, || run(&binary("agentctl"), &["run", "hi"]));
    drop(daemon);
    report.add("`agentctl run hi`, agentd up: ms", &one_shot, "≤ 15");
    report.add("`agentctl --version`: ms", &version, "");
    report.add("`/bin/true`: ms", &truth, "");
    report.add("agentd, start to first answer: ms", cold_agentd(), "≤ 50");
    report.add("`agentctl run hi`, no agentd: ms", cold_run(&model), "");
}

fn run_quietly(command: &mut Command) {
    let status = command.stdin(Stdio::null()).stdout(Stdio::null()).stderr(Stdio::inherit()).status();
    assert!(status.expect("it starts").success());
}

/// agentd's start, until it has answered `daemon/status`.
fn cold_agentd() -> Samples {
    let home = Home::new();
    Samples::new((0..STARTS).map(|_| {
        let mut command = home.command(&binary("agentd"));
        let mut child = None;
        let elapsed = Samples::timed(1, || {
            child = Some(
                command.stdin(Stdio::null()).stdout(Stdio::null()).stderr(Stdio::null()).spawn().expect("it starts"),
            );
            ask(&home.socket());
        });
        stop(&home);
        child.expect("it was started").wait().expect("a child");
        elapsed.median()
    }))
}

/// Tries to connect until somebody listens, and gets one answer.
fn ask(socket: &Path) {
    let stream = loop {
        match UnixStream::connect(socket) {
            Ok(stream) => break stream,
            Err(_) => thread::sleep(Duration::from_micros(200)),
        }
    };
    (&stream).write_all(b"{\"jsonrpc\":\"2.0\",\"id\":1,\"method\":\"daemon/status\"}\n").expect("it reads");
    let mut answer = String::new();
    BufReader::new(&stream).read_line(&mut answer).expect("it answers");
    assert!(answer.contains("\"result\""), "{answer}");
}

/// A prompt that starts agentd first.
fn cold_run(model: &ModelServer) -> Samples {
    let home = Home::new();
    home.use_model(model);
    Samples::new((0..STARTS).map(|_| {
        let elapsed = Samples::timed(1, || run_quietly(home.command(&binary("agentctl")).args(["run", "hi"])));
        stop(&home);
        elapsed.median()
    }))
}

/// Returns when agentd has gone.
fn stop(home: &Home) {
    Agentctl::new(home).ok(&["stop"]);
    while home.processes().iter().any(|process| process.to_string().contains("agentd")) {
        thread::sleep(Duration::from_millis(1));
    }
}
