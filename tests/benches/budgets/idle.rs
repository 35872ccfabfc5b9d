//! What 20 idle sessions cost: CPU and wake-ups of agentd while nothing happens.

use super::figures::Report;
use super::proc_fs;
use std::thread;
use std::time::Duration;
use tests::{Client, Daemon, ModelServer, Reply};

const SESSIONS: usize = 20;
/// Longer than threads that are no longer needed stay.
const SETTLE: Duration = Duration::from_secs(12);
const WATCH: Duration = Duration::from_secs(10);

pub fn measure(report: &mut Report) {
    let model = ModelServer::start();
    model.answer_with(|_| Reply::says("Hello."));
    let daemon = Daemon::with_model(&model);
    let client = Client::connect(&daemon);
    for _ in 0..SESSIONS {
        let session = client.session(&daemon.workspace());
        client.run(&session, "hi");
    }
    thread::sleep(SETTLE);
    let before = (proc_fs::cpu_of_threads(daemon.pid()), proc_fs::sleeps(daemon.pid()));
    thread::sleep(WATCH);
    let after = (proc_fs::cpu_of_threads(daemon.pid()), proc_fs::sleeps(daemon.pid()));
    let seconds = WATCH.as_secs_f64();
    let percent = (after.0 - before.0) / (seconds * 1000.0) * 100.0;
    report.add("20 idle sessions, one client attached to all: CPU %", format!("{percent:.4}"), "< 0.1");
    let wakes = (after.1 - before.1) / seconds;
    report.add("20 idle sessions: wake-ups a second", format!("{wakes:.2}"), "< 1");
}
