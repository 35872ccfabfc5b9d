//! What a turn costs as a session grows: agentd's CPU for turns that each read a file of 60 KB.

use super::figures::{Report, Samples, ms_between};
use super::proc_fs;
use serde_json::json;
use std::fs;
use tests::{Client, Daemon, ModelServer, Reply};

const TURNS: usize = 100;
/// Turns at either end that are compared.
const ENDS: usize = 10;
const LINE: &str = "0123456789 abcdefghij klmnopqrst uvwxyz ABCDEFGHIJ KLMNOPQRST\n";

pub fn measure(report: &mut Report) {
    let model = ModelServer::start();
    let daemon = Daemon::with_model(&model);
    let client = Client::connect(&daemon);
    let created = client.call_ok("session/create", &json!({"cwd": daemon.workspace()}));
    let session = created["session"]["id"].as_str().expect("an id");
    let (mut cpu, mut gaps) = (Vec::new(), Vec::new());
    for n in 0..TURNS {
        let file = daemon.workspace().join(format!("file{n}"));
        fs::write(&file, LINE.repeat(60_000 / LINE.len())).expect("a file");
        model.reply(Reply::calls(&format!("t{n}"), "Read", &json!({"file_path": file}))).reply(Reply::says("read"));
        let before = proc_fs::cpu_of_threads(daemon.pid());
        let turn = client.prompt(session, "read the next one");
        let end = client.call_ok("turn/wait", &json!({"sessionId": session, "turnId": turn}));
        assert_eq!(end["reason"], "completed", "{end}");
        cpu.push(proc_fs::cpu_of_threads(daemon.pid()) - before);
        let first = model.ended_at(2 * n + 1).expect("the reply has ended");
        gaps.push(ms_between(first, model.wait_for_request(2 * n + 2).arrived));
    }
    let last_body = model.wait_for_request(2 * TURNS).bytes.len();
    assert!(last_body > TURNS * 50_000, "the last request has {last_body} bytes only");
    let ends = |all: &[f64]| {
        let (first, last) = (all[..ENDS].iter().copied(), all[TURNS - ENDS..].iter().copied());
        (Samples::new(first), Samples::new(last))
    };
    let (first, last) = ends(&cpu);
    report.add("turns that read 60 KB, 1 to 10: CPU ms", &first, "");
    report.add("turns that read 60 KB, 91 to 100: CPU ms", &last, "");
    report.add(
        "turns that read 60 KB: CPU ratio, last to first",
        format!("{:.2}", last.median() / first.median()),
        "≤ 1.2 at 300",
    );
    let (first, last) = ends(&gaps);
    report.add("last byte → next request, turns 1 to 10: ms", &first, "≤ 5");
    report.add("last byte → next request, turns 91 to 100: ms", &last, "≤ 8");
    report.add(
        "after 100 such turns: MiB resident",
        format!("{:.1}", proc_fs::memory(daemon.pid()).resident / 1024.0),
        "",
    );
}
