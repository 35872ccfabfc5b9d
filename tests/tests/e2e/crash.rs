//! `kill -9` at random moments: every durable event that a client saw is there after the restart, with
//! the same number and the same bytes; no tool ran twice; a turn that was cut goes on when asked.
//! `AGENTD_KILL_ROUNDS` sets how often.

use serde_json::{Value, json};
use std::collections::BTreeMap;
use std::fs;
use std::hash::{BuildHasher, RandomState};
use std::sync::atomic::{AtomicUsize, Ordering};
use tests::model::Request;
use tests::{Client, Daemon, Event, ModelServer, Reply};

const ROUNDS: usize = 20;
/// Tool rounds of a turn.
const STEPS: usize = 6;

#[test]
fn nothing_that_was_seen_is_lost_and_nothing_runs_twice() {
    let rounds = std::env::var("AGENTD_KILL_ROUNDS").map_or(ROUNDS, |rounds| rounds.parse().unwrap());
    let model = ModelServer::start();
    model.answer_with(script());
    let mut daemon = Daemon::builder().model(&model).settings(&json!({"permissions": {"allow": ["Bash"]}})).start();
    let session = Client::connect(&daemon).session(&daemon.workspace());
    let mut seen: BTreeMap<u64, String> = BTreeMap::new();
    for round in 0..rounds {
        let client = Client::connect(&daemon);
        client.leave();
        client.attach(&session, seen.last_key_value().map_or(0, |(seq, _)| *seq));
        start_or_resume(&client, &session);
        let random = usize::try_from(RandomState::new().hash_one(round) % 1_000_000).unwrap();
        let moment = random % 60;
        let mut left = moment;
        let mut events = client.events_while("until the moment", |event| {
            left = left.saturating_sub(1);
            left > 0 && event.kind != "turn.ended"
        });
        // Not always right after an announcement.
        (0..random / 60).for_each(|_| std::hint::spin_loop());
        daemon.kill9();
        client.wait_closed();
        events.extend(client.events_so_far());
        daemon.start_again();
        remember(&mut seen, &events);
        hold(&daemon, &session, &seen, &format!("round {round}, killed after {moment} events"));
    }
    finish(&daemon, &session);
}

/// A turn of some tool calls, each of which leaves a line of its own in a file.
fn script() -> impl Fn(&Request) -> Reply + Send + Sync + 'static {
    let next = AtomicUsize::new(0);
    move |request| {
        let messages = request.messages();
        let is_prompt = |message: &Value| message["role"] == "user" && message["content"][0]["type"] != "tool_result";
        let prompt = messages.iter().rposition(is_prompt).unwrap();
        let rounds = messages[prompt..].iter().filter(|message| message["role"] == "assistant").count();
        if rounds >= STEPS {
            return Reply::says("done with all of it");
        }
        let number = next.fetch_add(1, Ordering::SeqCst);
        let run = json!({"command": format!("echo t{number} >> runs")});
        Reply::new().text("one more ").text("step").tool(&format!("t{number}"), "Bash", &run)
    }
}

fn start_or_resume(client: &Client, session: &str) {
    let info = client.call_ok("session/get", &json!({"sessionId": session}));
    match info["session"]["status"].as_str().unwrap() {
        "interrupted" => client.call_ok("turn/resume", &json!({"sessionId": session})),
        "idle" => client.call_ok("turn/start", &json!({"sessionId": session, "prompt": "go"})),
        status => panic!("after a restart the session is {status}"),
    };
}

fn remember(seen: &mut BTreeMap<u64, String>, events: &[Event]) {
    for event in events {
        if let Some(seq) = event.seq {
            let before = seen.insert(seq, event.raw.clone());
            assert!(before.is_none_or(|before| before == event.raw), "event {seq} came in two forms");
        }
    }
}

/// What must be true after every restart.
fn hold(daemon: &Daemon, session: &str, seen: &BTreeMap<u64, String>, when: &str) {
    let reader = Client::connect(daemon);
    let last = reader.attach(session, 0)["replayTo"].as_u64().unwrap();
    let log = reader.events_while("for the replay", |event| event.seq != Some(last));
    let numbers: Vec<u64> = log.iter().filter_map(|event| event.seq).collect();
    assert_eq!(numbers, (1..=last).collect::<Vec<_>>(), "{when}: the log has a gap");
    for (seq, bytes) in seen {
        let there = log.iter().find(|event| event.seq == Some(*seq)).map(|event| &event.raw);
        assert_eq!(there, Some(bytes), "{when}: event {seq} is not what a client saw");
    }
    let runs = fs::read_to_string(daemon.workspace().join("runs")).unwrap_or_default();
    for event in log.iter().filter(|event| event.kind == "tool.ended") {
        let id = event.text("toolCallId");
        let count = runs.lines().filter(|line| *line == id).count();
        let expected = if event.text("status") == "completed" { 1..=1 } else { 0..=1 };
        assert!(expected.contains(&count), "{when}: {id} ran {count} times; {}", event.body);
    }
    one_end_each(&log, "turn.started", "turn.ended", "turnId", when);
    one_end_each(&log, "tool.queued", "tool.ended", "toolCallId", when);
}

/// After a restart nothing is open: whatever began has ended exactly once.
fn one_end_each(log: &[Event], began: &str, ended: &str, id: &str, when: &str) {
    let ids = |kind: &str| {
        let mut ids: Vec<&str> = log.iter().filter(|event| event.kind == kind).map(|event| event.text(id)).collect();
        ids.sort_unstable();
        ids
    };
    assert_eq!(ids(began), ids(ended), "{when}: {began} and {ended}");
}

fn finish(daemon: &Daemon, session: &str) {
    let client = Client::connect(daemon);
    let last = client.call_ok("session/get", &json!({"sessionId": session}))["session"]["lastSeq"].as_u64().unwrap();
    client.attach(session, last);
    start_or_resume(&client, session);
    assert_eq!(client.events_until("turn.ended").last().unwrap().text("reason"), "completed");
}
