//! One tool round trip: from the model's last byte to the next request's head, with Bash `true` under an
//! allow rule, against the bare loop. Both times are taken by the model server.

use super::bare_loop;
use super::figures::{Report, Samples, ms_between};
use super::proc_fs;
use serde_json::json;
use std::fs;
use std::sync::atomic::{AtomicUsize, Ordering};
use tests::{Client, Daemon, Home, ModelServer, Reply};

const ROUNDS: usize = 400;
/// Turns, each followed by a bare loop, so that a change of the machine's mood hits both.
const TURNS: usize = 3;

/// Wall time and CPU of a round, and the requests that were posted.
struct Run {
    gaps: Vec<f64>,
    cpu: f64,
}

pub fn measure(report: &mut Report) {
    let (mut ours, mut bare) = (Vec::new(), Vec::new());
    for _ in 0..TURNS {
        let (run, bodies) = turn(false);
        ours.push(run);
        bare.push(loop_bare(&bodies));
    }
    let attached = turn(true).0;
    let gaps = |runs: &[Run]| Samples::new(runs.iter().flat_map(|run| run.gaps.iter().copied()));
    let cpu = |runs: &[Run]| Samples::new(runs.iter().map(|run| run.cpu)).median();
    let (our_gaps, bare_gaps) = (gaps(&ours), gaps(&bare));
    report.add("round trip, agentd: wall ms", &our_gaps, "");
    report.add("round trip, bare loop: wall ms", &bare_gaps, "");
    report.add("round trip: wall ratio", format!("{:.2}", our_gaps.median() / bare_gaps.median()), "≤ 1.0");
    report.add("round trip, agentd: CPU ms", format!("{:.2}", cpu(&ours)), "");
    report.add("round trip, bare loop: CPU ms", format!("{:.2}", cpu(&bare)), "");
    report.add("round trip: CPU ratio", format!("{:.2}", cpu(&ours) / cpu(&bare)), "≤ 1.2");
    report.add("round trip with a client attached: wall ms", Samples::new(attached.gaps), "");
}

/// One turn of agentd with so many rounds.
fn turn(attached: bool) -> (Run, Vec<Vec<u8>>) {
    let model = scripted();
    let daemon = Daemon::builder().model(&model).settings(&json!({"permissions": {"allow": ["Bash"]}})).start();
    let client = Client::connect(&daemon);
    let created = client.call_ok("session/create", &json!({"cwd": daemon.workspace()}));
    let session = created["session"]["id"].as_str().expect("an id").to_owned();
    if attached {
        client.attach(&session, 0);
        client.leave();
    }
    let before = proc_fs::cpu_with_children(daemon.pid());
    let turn = client.prompt(&session, "go");
    // The wait is the kit's, so a turn may not take longer than its patience.
    let end = client.call_ok("turn/wait", &json!({"sessionId": session, "turnId": turn}));
    assert_eq!(end["reason"], "completed", "{end}");
    let cpu = (proc_fs::cpu_with_children(daemon.pid()) - before) / to_f64(ROUNDS);
    let bodies = model.requests().into_iter().map(|request| request.bytes).collect();
    (Run { gaps: gaps(&model), cpu }, bodies)
}

/// The same requests, by the bare loop.
fn loop_bare(bodies: &[Vec<u8>]) -> Run {
    let model = scripted();
    let folder = tempfile::tempdir().expect("a temporary folder");
    for (n, body) in bodies.iter().enumerate() {
        fs::write(folder.path().join(n.to_string()), body).expect("a file");
    }
    let address = model.url().replace("http://", "");
    let program = std::env::current_exe().expect("a running program has a path");
    // With the variables that agentd's shells have: Cargo's own would cost a shell more.
    let home = Home::new();
    let mut command = home.command(&program);
    let output = command.args([bare_loop::ARGUMENT, &address]).arg(folder.path()).output().expect("it runs");
    assert!(output.status.success(), "{output:?}");
    let cpu: f64 = String::from_utf8_lossy(&output.stdout).trim().parse().expect("milliseconds");
    Run { gaps: gaps(&model), cpu: cpu / to_f64(ROUNDS) }
}

/// A model that calls `true` in each round and then is content.
fn scripted() -> ModelServer {
    let model = ModelServer::start();
    let round = AtomicUsize::new(0);
    model.answer_with(move |_| match round.fetch_add(1, Ordering::Relaxed) {
        n if n < ROUNDS => Reply::calls(&format!("t{n}"), "Bash", &json!({"command": "true"})),
        _ => Reply::says("done"),
    });
    model
}

/// From each reply's last byte to the next request.
fn gaps(model: &ModelServer) -> Vec<f64> {
    let requests = model.requests();
    assert_eq!(requests.len(), ROUNDS + 1);
    let ends = (1..=ROUNDS).map(|n| model.ended_at(n).expect("the reply has ended"));
    ends.zip(&requests[1..]).map(|(end, next)| ms_between(end, next.arrived)).collect()
}

fn to_f64(count: usize) -> f64 {
    f64::from(u32::try_from(count).expect("a small count"))
}
