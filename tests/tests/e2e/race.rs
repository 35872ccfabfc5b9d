//! Fifty clients at once on a cold machine: one daemon, and each of them is served.

use serde_json::Value;
use tests::{Agentctl, Home};

#[test]
fn fifty_clients_at_once_start_one_daemon() {
    let home = Home::new();
    let agentctl = Agentctl::new(&home);
    let runs: Vec<_> = (0..50).map(|_| agentctl.start(&["rpc", "daemon/status"])).collect();
    let mut pids = Vec::new();
    for run in runs {
        let output = run.wait();
        assert_eq!(output.code, Some(0), "{output:?}");
        let status: Value = serde_json::from_str(&output.stdout).unwrap();
        pids.push(status["pid"].as_u64().unwrap());
    }
    pids.dedup();
    assert_eq!(pids.len(), 1, "one daemon: {pids:?}");
    let left: Vec<String> = home.processes().iter().map(ToString::to_string).collect();
    assert_eq!(left.len(), 1, "{left:?}");
    agentctl.ok(&["stop"]);
}
