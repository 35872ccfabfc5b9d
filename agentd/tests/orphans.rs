//! agentd as the parent of what its tools leave behind. One test, in a program of its own: to adopt orphans
//! concerns the whole process.
#![allow(clippy::unwrap_used)] // a test may stop at what it did not expect

use agentd::base::environment::Environment;
use agentd::process::{CommandSpec, End, Limits, Processes, ShellSpec};
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::time::Duration;
use tokio_util::sync::CancellationToken;

fn spec(command: &str, dir: &Path) -> CommandSpec {
    CommandSpec {
        // Its own on each run, or it would find what a failed run left behind.
        session_id: format!("ses_{}", dir.display()).into(),
        tool_call_id: "call_1".into(),
        argv: vec!["/bin/sh".to_owned(), "-c".to_owned(), command.to_owned()],
        cwd: dir.to_owned(),
        env: Arc::new(Environment::of_process()),
        outputs_dir: dir.join("outputs"),
    }
}

fn own_children() -> Vec<u32> {
    let tasks = std::fs::read_dir("/proc/self/task").unwrap();
    let lists = tasks.map(|task| std::fs::read_to_string(task.unwrap().path().join("children")).unwrap_or_default());
    lists.flat_map(|list| list.split_whitespace().map(|pid| pid.parse().unwrap()).collect::<Vec<u32>>()).collect()
}

fn is_alive(pid: u32) -> bool {
    let stat = std::fs::read_to_string(format!("/proc/{pid}/stat")).unwrap_or_default();
    stat.rsplit_once(") ").is_some_and(|(_, rest)| !rest.starts_with('Z'))
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn orphans_are_adopted_listed_ended_and_reaped() {
    let dir = tempfile::tempdir().unwrap();
    let processes = Arc::new(Processes::new(PathBuf::from(env!("CARGO_BIN_EXE_agentd"))));
    processes.adopt_orphans().unwrap();
    let limits = Limits {
        timeout: Duration::from_secs(60),
        grace: Duration::from_millis(100),
        cancel: CancellationToken::new(),
    };

    // Many that end at once, beside commands whose exit codes must not be taken from those who wait for them.
    for code in 0..20 {
        let command = format!("(sh -c true &) ; (sh -c 'exit 7' &) ; exit {code}");
        let running = processes.start(&spec(&command, dir.path())).unwrap();
        let finished = running.follow(&limits, &|_| {}).await.unwrap();
        assert!(matches!(finished.end, End::Exited(status) if status.code() == Some(code)), "{:?}", finished.end);
    }

    // One that left its parent, its session, its output and its environment, and has a child that did the same
    // while it was still known.
    let command =
        "setsid sh -c 'sleep 1000 & echo $! > pid; exec sleep 1000' > /dev/null 2>&1 & until [ -s pid ]; do :; done";
    let running = processes.start(&spec(command, dir.path())).unwrap();
    let finished = running.follow(&limits, &|_| {}).await.unwrap();
    assert_eq!(finished.survivors.len(), 2, "{finished:?}");
    assert_eq!(processes.list(None).len(), 2);
    assert_eq!(processes.stop_all(Duration::from_secs(5)).await, [0; 0]);
    assert_eq!(processes.list(None).len(), 0);

    // One that hid altogether: it is nobody's, but it is still a child of agentd.
    let command =
        "(env -i setsid sh -c 'echo $$ > hidden; exec sleep 1000' > /dev/null 2>&1 &); until [ -s hidden ]; do :; done";
    let running = processes.start(&spec(command, dir.path())).unwrap();
    running.follow(&limits, &|_| {}).await.unwrap();
    let hidden = std::fs::read_to_string(dir.path().join("hidden")).unwrap();
    assert!(own_children().contains(&hidden.trim().parse().unwrap()));
    assert_eq!(processes.stop_all(Duration::from_secs(5)).await, [0; 0]);

    // Shells that are let go of while they are being started, as by a turn that ends just before agentd does.
    let CommandSpec { session_id, cwd, env, outputs_dir, .. } = spec("", dir.path());
    let shell = ShellSpec { session_id, shell: "/bin/bash".to_owned(), cwd, env, outputs_dir };
    for _ in 0..20 {
        processes.prepare(&shell);
        processes.let_go(&shell.session_id);
        assert_eq!(processes.stop_all(Duration::from_secs(5)).await, [0; 0]);
        assert_eq!(own_children().into_iter().filter(|pid| is_alive(*pid)).collect::<Vec<_>>(), [0; 0]);
    }

    while !own_children().is_empty() {
        tokio::task::yield_now().await;
    }
}
