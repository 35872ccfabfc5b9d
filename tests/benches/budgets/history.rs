//! What a turn costs as a session grows: agentd's CPU for turns that each read a file of 60 KB, early and late in a
//! session, beside that of a bare client that posts as many bytes. The kernel's copy of a long request is the same
//! for both, and is no doing of agentd's.

use super::bare_post;
use super::figures::{Report, Samples, ms_between};
use super::proc_fs::{self, Cpu};
use super::sink::{self, Served, Sink};
use serde_json::json;
use std::fs;
use std::ops::Range;
use std::path::Path;
use std::process::Command;
use tests::{Client, Daemon};

const TURNS: usize = 300;
/// Turns at either end that are compared.
const ENDS: usize = 30;
/// Requests of a turn: one that calls Read, one that has its result.
const REQUESTS: usize = 2;
const LINE: &str = "0123456789 abcdefghij klmnopqrst uvwxyz ABCDEFGHIJ KLMNOPQRST\n";

/// CPU milliseconds of some turns.
struct Spent {
    /// Of each turn, exact.
    each: Samples,
    /// Of all of them.
    sum: Sum,
}

/// CPU milliseconds in all.
#[derive(Clone, Copy)]
struct Sum {
    /// By user and system time, as the kernel's ticks found it: to 10 ms.
    parts: Cpu,
    exact: f64,
}

pub fn measure(report: &mut Report) {
    let folder = tempfile::tempdir().expect("a temporary folder");
    let sink = sink(folder.path());
    let daemon = daemon(&sink);
    let client = Client::connect(&daemon);
    let created = client.call_ok("session/create", &json!({"cwd": daemon.workspace()}));
    let session = created["session"]["id"].as_str().expect("an id");
    let first = turns(&client, &daemon, session, 0..ENDS);
    turns(&client, &daemon, session, ENDS..TURNS - ENDS);
    let last = turns(&client, &daemon, session, TURNS - ENDS..TURNS);
    let served = sink.served();
    let ends = [&served[..ENDS * REQUESTS], &served[(TURNS - ENDS) * REQUESTS..]];
    let bare = ends.map(post_bare);
    tell_cpu(report, [&first, &last], bare);
    let gaps = |served: &[Served]| {
        Samples::new(served.chunks(REQUESTS).map(|turn| ms_between(turn[0].ended, turn[1].arrived)))
    };
    report.add("last byte → next request, turns 1 to 30: ms", gaps(ends[0]), "≤ 5");
    report.add("last byte → next request, turns 271 to 300: ms", gaps(ends[1]), "≤ 5");
    let resident = proc_fs::memory(daemon.pid()).resident / 1024.0;
    let length = f64::from(u32::try_from(served[served.len() - 1].length).expect("a few MB")) / 1048.576 / 1000.0;
    report.add("after 300 such turns: MiB resident, MiB of a request", format!("{resident:.1}, {length:.1}"), "");
}

/// A model that reads a file of its own in each turn.
fn sink(folder: &Path) -> Sink {
    for n in 0..TURNS {
        fs::write(folder.join(format!("file{n}")), LINE.repeat(60_000 / LINE.len())).expect("a file");
    }
    let folder = folder.to_owned();
    Sink::start(move |n| match n % REQUESTS {
        0 => {
            let turn = n / REQUESTS;
            sink::reads(&format!("t{turn}"), &folder.join(format!("file{turn}")).display().to_string())
        }
        _ => sink::says("read"),
    })
}

fn daemon(sink: &Sink) -> Daemon {
    let provider = json!({"api": "anthropic", "baseUrl": format!("http://{}", sink.address())});
    let settings = json!({
        "providers": {"sink": provider}, "model": "sink/m1", "permissions": {"allow": ["Read"]},
    });
    Daemon::builder().settings(&settings).start()
}

fn turns(client: &Client, daemon: &Daemon, session: &str, numbers: Range<usize>) -> Spent {
    let (before, exact) = (proc_fs::cpu(daemon.pid()), proc_fs::cpu_of_threads(daemon.pid()));
    let each = numbers.map(|_| {
        let before = proc_fs::cpu_of_threads(daemon.pid());
        let turn = client.prompt(session, "read the next one");
        let end = client.call_ok("turn/wait", &json!({"sessionId": session, "turnId": turn}));
        assert_eq!(end["reason"], "completed", "{end}");
        proc_fs::cpu_of_threads(daemon.pid()) - before
    });
    let each = Samples::new(each);
    let (after, exact) = (proc_fs::cpu(daemon.pid()), proc_fs::cpu_of_threads(daemon.pid()) - exact);
    let parts = Cpu { user: after.user - before.user, system: after.system - before.system };
    Spent { each, sum: Sum { parts, exact } }
}

/// As many bytes, by the bare client, to a server of the same kind.
fn post_bare(requests: &[Served]) -> Sum {
    let sink = Sink::start(|_| sink::says("read"));
    let program = std::env::current_exe().expect("a running program has a path");
    let mut command = Command::new(program);
    command.args([bare_post::ARGUMENT, &sink.address()]);
    let output = command.args(requests.iter().map(|served| served.length.to_string())).output().expect("it runs");
    assert!(output.status.success(), "{output:?}");
    let text = String::from_utf8_lossy(&output.stdout).into_owned();
    let numbers: Vec<f64> = text.split_whitespace().map(|number| number.parse().expect("a number")).collect();
    let [user, system, exact] = numbers[..] else { panic!("three numbers, not {text:?}") };
    Sum { parts: Cpu { user, system }, exact }
}

fn tell_cpu(report: &mut Report, [first, last]: [&Spent; 2], [bare_first, bare_last]: [Sum; 2]) {
    let turns = f64::from(u32::try_from(ENDS).expect("a small count"));
    let a_turn = |sum: Sum| format!("{:.2} / {:.2}", sum.parts.user / turns, sum.parts.system / turns);
    report.add("turns that read 60 KB, 1 to 30: CPU ms", &first.each, "");
    report.add("turns that read 60 KB, 271 to 300: CPU ms", &last.each, "");
    report.add("the same, 1 to 30: CPU ms a turn, user / system", a_turn(first.sum), "");
    report.add("the same, 271 to 300: CPU ms a turn, user / system", a_turn(last.sum), "");
    report.add("a bare client, the same bytes, 1 to 30: CPU ms a turn, user / system", a_turn(bare_first), "");
    report.add("a bare client, the same bytes, 271 to 300: CPU ms a turn, user / system", a_turn(bare_last), "");
    let user = last.sum.parts.user / first.sum.parts.user;
    report.add("turns that read 60 KB: user CPU ratio, last to first", format!("{user:.2}"), "≤ 1.2");
    let own = [first.sum.exact - bare_first.exact, last.sum.exact - bare_last.exact].map(|sum| sum / turns);
    let what = "turns that read 60 KB: CPU ms a turn over the bare client's, first, last";
    report.add(what, format!("{:.2}, {:.2}", own[0], own[1]), "");
    let what = "turns that read 60 KB: CPU over the bare client's, ratio of last to first";
    report.add(what, format!("{:.2}", own[1] / own[0]), "≤ 1.2");
}
