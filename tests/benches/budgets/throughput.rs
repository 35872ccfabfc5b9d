//! 200 sessions that loop over Bash `true` at one time: commands a second, against those of as many
//! `bash -c true` as two cores can run without agentd, one after the other on each core.

use super::figures::{Report, Samples};
use super::proc_fs;
use serde_json::json;
use std::path::Path;
use std::process::Stdio;
use std::sync::Barrier;
use std::thread;
use std::time::{Duration, Instant};
use tests::{Client, Daemon, Home, ModelServer, Reply};

const SESSIONS: usize = 200;
/// Calls of each session, one after the other, each after a request.
const ROUNDS: usize = 5;
/// Runs, each followed by a bare one, so that a change of the machine's mood hits both.
const REPETITIONS: usize = 3;

pub fn measure(report: &mut Report) {
    let (mut ours, mut bare, mut cpu) = (Vec::new(), Vec::new(), Vec::new());
    for _ in 0..REPETITIONS {
        let (rate, spent) = sessions();
        ours.push(rate);
        cpu.push(spent);
        bare.push(bare_rate());
    }
    let (ours, bare) = (Samples::new(ours), Samples::new(bare));
    report.add("200 sessions in tool loops: commands a second", &ours, "");
    report.add("`bash -c true` on both cores: commands a second", &bare, "");
    report.add(
        "throughput: per cent of the bare rate",
        format!("{:.0}", 100.0 * ours.median() / bare.median()),
        "≥ 60",
    );
    report.add("200 sessions in tool loops: CPU ms a command, shells included", Samples::new(cpu), "");
}

/// Commands a second of all sessions together, and CPU milliseconds of each with its share of agentd.
fn sessions() -> (f64, f64) {
    let model = ModelServer::start();
    model.answer_with(|request| {
        match request.messages().iter().filter(|message| message["role"] == "assistant").count() {
            done if done < ROUNDS => Reply::calls(&format!("t{done}"), "Bash", &json!({"command": "true"})),
            _ => Reply::says("done"),
        }
    });
    let daemon = Daemon::builder().model(&model).settings(&json!({"permissions": {"allow": ["Bash"]}})).start();
    let client = Client::connect(&daemon);
    let ids: Vec<String> = (0..SESSIONS)
        .map(|_| {
            let created = client.call_ok("session/create", &json!({"cwd": daemon.workspace()}));
            created["session"]["id"].as_str().expect("an id").to_owned()
        })
        .collect();
    let before = proc_fs::cpu_with_children(daemon.pid());
    let start = Instant::now();
    let turns: Vec<(&String, String)> = ids.iter().map(|session| (session, client.prompt(session, "go"))).collect();
    for (session, turn) in turns {
        let end = client.call_ok("turn/wait", &json!({"sessionId": session, "turnId": turn}));
        assert_eq!(end["reason"], "completed", "{end}");
    }
    let spent = start.elapsed();
    let cpu = proc_fs::cpu_with_children(daemon.pid()) - before;
    (rate(SESSIONS * ROUNDS, spent), cpu / to_f64(SESSIONS * ROUNDS))
}

/// Commands a second without agentd.
fn bare_rate() -> f64 {
    let cores = thread::available_parallelism().map_or(2, usize::from);
    let each = SESSIONS * ROUNDS / cores;
    let ready = Barrier::new(cores + 1);
    // With the variables that agentd's shells have: Cargo's own would cost a shell more.
    let home = Home::new();
    let spent = thread::scope(|scope| {
        let loops: Vec<_> = (0..cores)
            .map(|_| {
                scope.spawn(|| {
                    ready.wait();
                    for _ in 0..each {
                        // By its whole path: a name that is to be looked up costs a fork of this large process.
                        let mut command = home.command(Path::new("/bin/bash"));
                        let output = command.args(["-c", "true"]).stdin(Stdio::null()).output();
                        assert!(output.expect("bash runs").status.success());
                    }
                })
            })
            .collect();
        ready.wait();
        let start = Instant::now();
        for one in loops {
            one.join().expect("bash runs");
        }
        start.elapsed()
    });
    rate(each * cores, spent)
}

fn rate(count: usize, spent: Duration) -> f64 {
    to_f64(count) / spent.as_secs_f64()
}

fn to_f64(count: usize) -> f64 {
    f64::from(u32::try_from(count).expect("a small count"))
}
