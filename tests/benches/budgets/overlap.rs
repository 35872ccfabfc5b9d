//! Tools that run while the model still streams: four read-only calls of one second each, streamed half a
//! second apart, in a stream of 2.5 s. How much later than the ideal does the next request come?
//!
//! A call is `cat` of a named pipe that this program writes to one second after `cat` has opened it.

use super::figures::{Report, Samples, ms_between};
use nix::sys::stat::Mode;
use nix::unistd::mkfifo;
use serde_json::json;
use std::fs::OpenOptions;
use std::io::Write;
use std::path::PathBuf;
use std::thread;
use std::time::{Duration, Instant};
use tests::{Client, Daemon, ModelServer, Reply};

const CALLS: usize = 4;
const REPETITIONS: usize = 8;
const APART: Duration = Duration::from_millis(500);
const CALL: Duration = Duration::from_secs(1);

pub fn measure(report: &mut Report) {
    let late = Samples::new((0..REPETITIONS).map(|_| once()));
    report.add("overlapped calls: ms after the ideal end", &late, "≤ 5");
}

/// Milliseconds from the moment at which the stream and all calls could be over to the next request.
fn once() -> f64 {
    let model = ModelServer::start();
    let daemon = Daemon::with_model(&model);
    let mut reply = Reply::new();
    for n in 0..CALLS {
        let pipe = daemon.workspace().join(format!("pipe{n}"));
        mkfifo(&pipe, Mode::S_IRUSR | Mode::S_IWUSR).expect("a named pipe");
        thread::spawn(move || answer(&pipe));
        let call = json!({"command": format!("cat pipe{n}")});
        reply = reply.tool(&format!("t{n}"), "Bash", &call).gate(&format!("g{n}"));
    }
    model.reply(reply).reply(Reply::says("done"));
    let client = Client::connect(&daemon);
    let session = client.session(&daemon.workspace());
    client.prompt(&session, "read them");
    model.wait_at("g0");
    let start = Instant::now();
    for n in 0..CALLS {
        // The stream ends one second after the last call.
        let half_seconds = if n + 1 < CALLS { n + 1 } else { CALLS + 1 };
        sleep_until(start + APART * u32::try_from(half_seconds).expect("a small count"));
        model.open(&format!("g{n}"));
    }
    let next = model.wait_for_request(2);
    client.events_until("turn.ended");
    assert!(next.tool_results().iter().all(|(_, text)| text.contains("pong")), "{:?}", next.tool_results());
    let last_call = start + APART * u32::try_from(CALLS - 1).expect("a small count") + CALL;
    let stream = model.ended_at(1).expect("the stream has ended");
    ms_between(stream.max(last_call), next.arrived)
}

/// Waits until the pipe has a reader, and gives it something after one second.
fn answer(pipe: &PathBuf) {
    let mut writer = OpenOptions::new().write(true).open(pipe).expect("the pipe is there");
    sleep_until(Instant::now() + CALL);
    writer.write_all(b"pong\n").expect("the reader waits");
}

fn sleep_until(end: Instant) {
    thread::sleep(end.saturating_duration_since(Instant::now()));
}
