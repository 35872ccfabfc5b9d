//! A command that writes 50 MB: how far agentd's memory grows, and how long the call takes.

use super::figures::{Report, Samples};
use super::proc_fs;
use serde_json::json;
use tests::{Client, Daemon, ModelServer, Reply, fake_program};

const BYTES: usize = 50_000_000;
const REPETITIONS: usize = 5;

pub fn measure(report: &mut Report) {
    let mut growths = Vec::new();
    let mut times = Vec::new();
    for _ in 0..REPETITIONS {
        let model = ModelServer::start();
        let daemon = Daemon::builder().model(&model).settings(&json!({"permissions": {"allow": ["Bash"]}})).start();
        let command = format!("{} {BYTES}", fake_program("spew").display());
        model.reply(Reply::calls("t1", "Bash", &json!({"command": command}))).reply(Reply::says("done"));
        let client = Client::connect(&daemon);
        let session = client.session(&daemon.workspace());
        proc_fs::reset_peak(daemon.pid());
        let before = proc_fs::memory(daemon.pid()).resident;
        let events = client.run(&session, "spew");
        growths.push((proc_fs::peak(daemon.pid()) - before) / 1024.0);
        let ended = events.iter().find(|event| event.kind == "tool.ended").expect("the call has ended");
        times.push(ended.body["durationMs"].as_f64().expect("a duration"));
    }
    report.add("50 MB of output: MiB of growth, at the peak", Samples::new(growths), "≤ 16");
    report.add("50 MB of output: ms of the call", Samples::new(times), "");
}
