//! Memory of agentd: idle, with 200 sessions before and after a turn each, and with 200 turns under way.

use super::figures::Report;
use super::proc_fs::{self, Memory};
use serde_json::json;
use tests::{Client, Daemon, ModelServer, Reply};

const SESSIONS: u32 = 200;

pub fn measure(report: &mut Report) {
    let model = ModelServer::start();
    model.answer_with(|request| match request.last_user_text().ends_with("wait") {
        true => Reply::new().text("Let me think. ").gate("hold").text("Done."),
        false => Reply::says("Hello."),
    });
    let daemon = Daemon::with_model(&model);
    let client = Client::connect(&daemon);
    client.call_ok("daemon/status", &json!({}));
    let idle = proc_fs::memory(daemon.pid());
    report.add("agentd, idle: MiB resident / proportional / private", mib(idle), "≤ 15");

    let sessions: Vec<String> = (0..SESSIONS).map(|_| create(&client, &daemon)).collect();
    let fresh = proc_fs::memory(daemon.pid());
    let what = "a session without a turn, of 200: KiB resident / private";
    report.add(what, each(idle, fresh), "≤ 100");

    for session in &sessions {
        let turn = client.prompt(session, "hi");
        wait(&client, session, &turn);
    }
    let used = proc_fs::memory(daemon.pid());
    report.add("an idle session after a turn, of 200: KiB resident / private", each(idle, used), "≤ 100");

    let turns: Vec<(&String, String)> =
        sessions.iter().map(|session| (session, client.prompt(session, "wait"))).collect();
    let all = usize::try_from(SESSIONS).expect("a small count") * 2;
    let _ = model.wait_for_request(all);
    let running = proc_fs::memory(daemon.pid());
    report.add("200 turns under way: MiB resident / proportional / private", mib(running), "≤ 150");
    model.open("hold");
    for (session, turn) in &turns {
        wait(&client, session, turn);
    }
    let after = proc_fs::memory(daemon.pid());
    report.add("200 idle sessions after 200 turns at once: MiB resident / proportional / private", mib(after), "");
}

fn create(client: &Client, daemon: &Daemon) -> String {
    let created = client.call_ok("session/create", &json!({"cwd": daemon.workspace()}));
    created["session"]["id"].as_str().expect("an id").to_owned()
}

fn wait(client: &Client, session: &str, turn: &str) {
    let end = client.call_ok("turn/wait", &json!({"sessionId": session, "turnId": turn}));
    assert_eq!(end["reason"], "completed", "{end}");
}

fn mib(memory: Memory) -> String {
    let Memory { resident, proportional, private } = memory;
    format!("{:.1} / {:.1} / {:.1}", resident / 1024.0, proportional / 1024.0, private / 1024.0)
}

fn each(before: Memory, after: Memory) -> String {
    let share = |before: f64, after: f64| (after - before) / f64::from(SESSIONS);
    let resident = share(before.resident, after.resident);
    format!("{resident:.0} / {:.0}", share(before.private, after.private))
}
