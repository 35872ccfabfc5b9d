//! Shells that are started ahead: they run lines as `bash -c` does, only for those that they were started for, and
//! are gone when they are not needed. In a program of its own: it looks at all children of the process.
#![allow(clippy::unwrap_used, clippy::panic, clippy::indexing_slicing)] // a test may stop at what it did not expect

use agentd::base::environment::Environment;
use agentd::process::{CommandSpec, End, Limits, Processes, Running, ShellSpec};
use proptest::prelude::*;
use std::collections::BTreeMap;
use std::path::PathBuf;
use std::process::ExitStatus;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::Duration;
use tokio_util::sync::CancellationToken;

/// These tests count the children of the process, so they take turns.
static ALONE: Mutex<()> = Mutex::new(());

struct Kit {
    _alone: MutexGuard<'static, ()>,
    root: tempfile::TempDir,
    processes: Arc<Processes>,
}

impl Kit {
    fn new() -> Self {
        Self::of(Processes::new(PathBuf::from(env!("CARGO_BIN_EXE_agentd"))))
    }

    fn of(processes: Processes) -> Self {
        let alone = ALONE.lock().unwrap_or_else(PoisonError::into_inner);
        let root = tempfile::tempdir().unwrap();
        std::fs::create_dir_all(root.path().join("work/sub")).unwrap();
        std::fs::write(root.path().join("work/f"), "one\ntwo\n").unwrap();
        Self { _alone: alone, root, processes: Arc::new(processes) }
    }

    fn work(&self) -> PathBuf {
        self.root.path().canonicalize().unwrap().join("work")
    }

    fn spec(&self) -> ShellSpec {
        let path = Environment::of_process().get("PATH").unwrap().to_owned();
        let variables = BTreeMap::from([("PATH".to_owned(), path), ("MINE".to_owned(), "a 'b' $c".to_owned())]);
        ShellSpec {
            session_id: format!("ses_{}", self.root.path().display()).into(),
            shell: "/bin/bash".to_owned(),
            cwd: self.work(),
            env: Arc::new(Environment::from(variables)),
            outputs_dir: self.root.path().join("out it's"),
        }
    }

    /// Has a shell started ahead, and returns its id once it is there.
    async fn ahead(&self, spec: &ShellSpec) -> u32 {
        self.ahead_by(|| self.processes.prepare(spec)).await
    }

    async fn ahead_by(&self, prepare: impl FnOnce()) -> u32 {
        let before = children();
        prepare();
        loop {
            if let Some(pid) = children().into_iter().find(|pid| !before.contains(pid)) {
                return pid;
            }
            tokio::task::yield_now().await;
        }
    }

    /// What a line gives out and how it ends, in a shell that was started with it.
    async fn plain(&self, line: &str) -> (String, ExitStatus) {
        let ShellSpec { session_id, shell, cwd, env, outputs_dir } = self.spec();
        let argv = vec![shell, "-c".to_owned(), line.to_owned()];
        let spec = CommandSpec { session_id, tool_call_id: "call_1".into(), argv, cwd, env, outputs_dir };
        result(self.processes.start(&spec).unwrap()).await
    }

    /// The same in one that was started ahead.
    async fn waited(&self, line: &str) -> (String, ExitStatus) {
        let pid = self.ahead(&self.spec()).await;
        let running = self.run(&self.spec(), line).await;
        assert_eq!(running.pid(), pid, "{line}: the waiting shell is the one that runs");
        result(running).await
    }

    /// The same, or in a shell of its own where the line may not be alike: what comes out is what counts.
    async fn with_one_waiting(&self, line: &str) -> (String, ExitStatus) {
        self.ahead(&self.spec()).await;
        result(self.run(&self.spec(), line).await).await
    }

    async fn run(&self, spec: &ShellSpec, line: &str) -> Running {
        self.processes.run_line(spec, &"call_1".into(), line).await.unwrap()
    }
}

async fn result(running: Running) -> (String, ExitStatus) {
    let (pid, path) = (running.pid().to_string(), running.output_path().to_owned());
    let limits =
        Limits { timeout: Duration::from_secs(60), grace: Duration::ZERO, cancel: CancellationToken::default() };
    let finished = running.follow(&limits, &|_| {}).await.unwrap();
    let output = String::from_utf8_lossy(&std::fs::read(&path).unwrap()).replace(&pid, "PID");
    std::fs::remove_file(&path).unwrap();
    let End::Exited(status) = finished.end else { panic!("{:?}", finished.end) };
    (output, status)
}

fn children() -> Vec<u32> {
    let tasks = std::fs::read_dir("/proc/self/task").unwrap();
    let lists = tasks.map(|task| std::fs::read_to_string(task.unwrap().path().join("children")).unwrap_or_default());
    let all = lists.flat_map(|list| list.split_whitespace().map(|pid| pid.parse().unwrap()).collect::<Vec<u32>>());
    all.filter(|pid| is_alive(*pid)).collect()
}

fn is_alive(pid: u32) -> bool {
    let stat = std::fs::read_to_string(format!("/proc/{pid}/stat")).unwrap_or_default();
    stat.rsplit_once(") ").is_some_and(|(_, rest)| !rest.starts_with('Z'))
}

async fn gone(pid: u32) {
    while is_alive(pid) {
        tokio::task::yield_now().await;
    }
}

const LINES: &[&str] = &[
    "true",
    "false",
    "exit 3",
    "echo \"$0 $- $# $? $_ $SECONDS $SHLVL $BASH_SUBSHELL $LINENO\"",
    "echo \"$BASH_EXECUTION_STRING\"",
    "[ $$ = $BASHPID ] && echo $$",
    "read -r a || echo none; cat; readlink /proc/$$/fd/0; ls /proc/$$/fd; true",
    "read -r _ _ _ ppid pgid sid _ < /proc/$$/stat; echo $pgid $sid",
    "env | sort",
    "declare -p PWD MINE AGENTD_CALL AGENTD_SESSION; declare -p OLDPWD",
    "shopt; set -o; trap; alias; jobs; declare -F; hash",
    "umask; ulimit -a",
    "pwd; cd sub; pwd; cd /; pwd; false",
    "echo a >&2; echo b; echo c >&2",
    "echo one\necho two # three\n\n\tnosuch\necho $LINENO",
    "nosuch",
    "cat <<'E'\n$x 'y'\nE",
    "cat <<E\nx",
    "echo 'it'\\''s' \"$MINE\" $'\\x01\\x7f' € 😀",
    "set -euo pipefail; false; echo not",
    "set -e; (exit 4) || true; cat f | grep two; ! true",
    "set -u; echo $x; echo not",
    "set -v\necho a\necho b",
    "set -n\necho not",
    "set -t; echo a; echo b",
    "set -C; echo x > new; echo y > new",
    "set -m; true; echo ${-//[!m]}",
    "set -o posix; ${x?bad}; echo not",
    "${x?bad}; echo not",
    "readonly a=1; a=2; echo not",
    "((1/0)); echo on",
    "return 3",
    "break; continue",
    "exec echo a",
    "exec > /dev/null; echo not",
    "exec 2>&-; nosuch",
    "exec 3<f; read -r line <&3; echo $line",
    "trap 'echo bye $?' EXIT; exit 4",
    "trap 'echo bye $?; pwd' EXIT; cd sub; false",
    "trap 'echo err' ERR; false; ! true; true",
    "trap 'echo usr' USR1; kill -USR1 $$; echo after",
    "trap 'echo return' RETURN; f() { :; }; f",
    "kill -9 $$",
    "kill -TERM $$",
    "f() { echo \"${FUNCNAME[*]} ${BASH_SOURCE[*]} ${BASH_LINENO[*]}\"; return 5; }; f",
    "set() { echo mine; }; exit() { echo mine; }; true",
    "shopt -s expand_aliases extglob\nalias x='echo al'\nx !(f)",
    "(exit 7); echo $?; (sleep 0; echo late) & wait $!; echo $?",
    "false | true; echo ${PIPESTATUS[*]}",
    "caller; echo $BASH_COMMAND; history",
    "set -- a b; echo $# $1; shift; echo $*",
    "echo a \\",
    "  \t\n echo x \n\n",
    "# only a comment",
    "unset BASH_EXECUTION_STRING AGENTD_CALL; echo \"${AGENTD_CALL-none}\"",
    "{ sh -c 'kill -9 $$'; } 2>/dev/null; echo $?",
    "echo )",
    "echo a\n)",
    "echo 'open",
    "{ echo a",
    "case x in",
];

/// Whatever the line, the shell that waited for it gives out and ends as one that was started with it.
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_shell_that_waited_runs_a_line_as_bash_does() {
    let kit = Kit::new();
    for line in LINES {
        let (plain, plain_status) = kit.plain(line).await;
        let _ = std::fs::remove_file(kit.work().join("new"));
        let (waited, waited_status) = kit.waited(line).await;
        // The one difference: by what the shell calls the text that it can't parse.
        assert_eq!(waited.replace(": eval: line ", ": -c: line "), plain, "{line}");
        assert_eq!(waited_status, plain_status, "{line}");
        let _ = std::fs::remove_file(kit.work().join("new"));
    }
    assert_eq!(children(), [0; 0]);
    assert_eq!(std::fs::read_dir(kit.spec().outputs_dir).unwrap().count(), 0, "no notes are left");
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_line_that_traces_gets_a_shell_of_its_own() {
    let kit = Kit::new();
    let waiting = kit.ahead(&kit.spec()).await;
    for line in [
        "set -x; echo a; false",
        "set -ex\nfalse",
        "trap 'echo step' DEBUG; true",
        "set -o xtrace; echo a",
        "set -r; cd sub; exit 3",
    ] {
        let running = kit.run(&kit.spec(), line).await;
        assert_ne!(running.pid(), waiting, "{line}");
        assert_eq!(result(running).await, kit.plain(line).await, "{line}");
    }
    kit.processes.let_go(&kit.spec().session_id);
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_line_of_the_largest_size_arrives_whole() {
    let kit = Kit::new();
    let line = format!(": '{}'; echo $(( ${{#BASH_EXECUTION_STRING}} ))", "€\n'\\''".repeat(15_000));
    // Without a locale bash counts bytes.
    assert_eq!(kit.waited(&line).await.0.trim(), line.len().to_string());
}

/// What was approved is what runs: with another folder, variable or shell a new one is started.
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_waiting_shell_is_used_only_for_what_it_was_started_for() {
    let kit = Kit::new();
    let spec = kit.spec();
    let other_env = Arc::new(Environment::from(BTreeMap::from([("MINE".to_owned(), "other".to_owned())])));
    for other in [
        ShellSpec { cwd: kit.work().join("sub"), ..spec.clone() },
        ShellSpec { env: other_env, ..spec.clone() },
        ShellSpec { shell: "/usr/bin/bash".to_owned(), ..spec.clone() },
    ] {
        let waiting = kit.ahead(&spec).await;
        let running = kit.run(&other, "pwd; echo $MINE").await;
        assert_ne!(running.pid(), waiting);
        let (output, _) = result(running).await;
        let mine = other.env.get("MINE").unwrap();
        assert_eq!(output, format!("{}\n{mine}\n", other.cwd.display()));
        gone(waiting).await;
    }
    // Another folder of the same name.
    let waiting = kit.ahead(&spec).await;
    std::fs::rename(kit.work(), kit.root.path().join("moved")).unwrap();
    std::fs::create_dir(kit.work()).unwrap();
    let running = kit.run(&spec, "pwd; ls").await;
    assert_ne!(running.pid(), waiting);
    assert_eq!(result(running).await.0, format!("{}\n", kit.work().display()));
    gone(waiting).await;
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_shell_that_is_not_needed_is_gone() {
    let kit = Kit::new();
    let waiting = kit.ahead(&kit.spec()).await;
    kit.processes.prepare(&kit.spec());
    assert_eq!(children(), [waiting], "one a session");
    assert_eq!(kit.processes.list(None), [], "it is nobody's process yet");
    kit.processes.let_go(&kit.spec().session_id);
    gone(waiting).await;

    let waiting = kit.ahead(&kit.spec()).await;
    assert_eq!(kit.processes.stop_session(&kit.spec().session_id, Duration::ZERO).await, [0; 0]);
    gone(waiting).await;
    let waiting = kit.ahead(&kit.spec()).await;
    assert_eq!(kit.processes.stop_all(Duration::ZERO).await, [0; 0]);
    gone(waiting).await;
}

/// A line that is only likely to come has a shell started while fewer wait than there are processors.
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn on_a_busy_machine_only_needed_shells_are_started() {
    let kit = Kit::new();
    let spec = |n: usize| ShellSpec { session_id: format!("ses_{n}").into(), ..kit.spec() };
    let processors = std::thread::available_parallelism().unwrap().get();
    let mut waiting = Vec::new();
    for n in 0..processors {
        waiting.push(kit.ahead_by(|| kit.processes.prepare_early(&spec(n))).await);
    }
    kit.processes.prepare_early(&spec(processors));
    waiting.push(kit.ahead(&spec(processors + 1)).await);
    waiting.sort_unstable();
    let mut all = children();
    all.sort_unstable();
    assert_eq!(all, waiting, "one for each processor, and the one that is needed");
    assert_eq!(kit.processes.stop_all(Duration::ZERO).await, [0; 0]);
    for pid in waiting {
        gone(pid).await;
    }
}

/// One that somebody else killed is replaced: the line runs, once.
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_dead_shell_is_replaced() {
    let kit = Kit::new();
    let waiting = kit.ahead(&kit.spec()).await;
    let pid = nix::unistd::Pid::from_raw(waiting.try_into().unwrap());
    nix::sys::signal::kill(pid, nix::sys::signal::Signal::SIGKILL).unwrap();
    gone(waiting).await;
    let running = kit.run(&kit.spec(), "echo x >> ran; cat ran").await;
    assert_ne!(running.pid(), waiting);
    assert_eq!(result(running).await.0, "x\n");
}

/// One that takes no more of a long line, as somebody has stopped it, is gone once it is not waited for any longer: no
/// part of the line ran.
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_shell_that_takes_no_orders_ends_with_the_call() {
    let kit = Kit::new();
    let waiting = kit.ahead(&kit.spec()).await;
    // Before that it is a part of this process, which would stop with it.
    while !std::fs::read_to_string(format!("/proc/{waiting}/cmdline")).unwrap().contains("AGENTD_CALL") {
        tokio::task::yield_now().await;
    }
    let pid = nix::unistd::Pid::from_raw(waiting.try_into().unwrap());
    nix::sys::signal::kill(pid, nix::sys::signal::Signal::SIGSTOP).unwrap();
    // More than a pipe holds.
    let line = format!("touch ran # {}", "x".repeat(100_000));
    let (spec, call) = (kit.spec(), "call_1".into());
    {
        let mut run = Box::pin(kit.processes.run_line(&spec, &call, &line));
        for _ in 0..100 {
            assert!(futures::poll!(&mut run).is_pending());
            tokio::task::yield_now().await;
        }
    }
    gone(waiting).await;
    assert!(!kit.work().join("ran").exists());
}

/// The calls that list processes show the line, not how its shell got it.
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_shell_is_listed_by_its_line() {
    let kit = Kit::new();
    kit.ahead(&kit.spec()).await;
    let running = kit.run(&kit.spec(), "mkfifo p; cat p").await;
    let listed = kit.processes.list(None);
    assert_eq!(listed[0].command, "/bin/bash -c mkfifo p; cat p");
    while !kit.work().join("p").exists() {
        tokio::task::yield_now().await;
    }
    std::fs::write(kit.work().join("p"), "through\n").unwrap();
    assert_eq!(result(running).await.0, "through\n");
}

/// Where the system forbids the direct way everything goes through agentd's own program, with the same result.
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn through_the_helper_it_is_the_same() {
    let kit = Kit::of(Processes::through(PathBuf::from(env!("CARGO_BIN_EXE_agentd"))));
    for line in &LINES[..12] {
        let (waited, status) = result(kit.run(&kit.spec(), line).await).await;
        assert_eq!((waited, status), kit.plain(line).await, "{line}");
    }
}

/// Lines of words that matter to a shell, and of any characters at all in quotes.
fn lines() -> impl Strategy<Value = String> {
    let word = prop_oneof![
        Just("true".to_owned()),
        Just("false".to_owned()),
        Just("cd sub".to_owned()),
        Just("pwd".to_owned()),
        Just("exit 3".to_owned()),
        Just("(exit 5)".to_owned()),
        Just("echo $?".to_owned()),
        Just("echo \"$_\"".to_owned()),
        Just("set -e".to_owned()),
        Just("cat f".to_owned()),
        Just("{ echo in; }".to_owned()),
        Just("trap 'echo bye' EXIT".to_owned()),
        "[^\0']{0,40}".prop_map(|text| format!("printf %s '{text}'")),
        // No program has a name of capitals: what one gives out need not be the same twice.
        "[A-Z$\"\\\\;&|<>(){} ]{0,12}",
    ];
    let joint = prop_oneof![Just("; "), Just(" && "), Just(" || "), Just("\n"), Just(" | ")];
    proptest::collection::vec((word, joint), 1..5)
        .prop_map(|parts| parts.into_iter().map(|(word, joint)| word + joint).collect::<String>() + "true")
        .prop_filter("it must not write files or run what lies about", |line| !line.contains(['>', '&', '*']))
}

/// The parts of a pipeline run side by side, so what they say has no order: then its letters are compared, sorted.
fn as_comparable(line: &str, told: &str) -> String {
    if !line.replace("||", "").contains('|') {
        return told.to_owned();
    }
    let mut letters: Vec<char> = told.chars().collect();
    letters.sort_unstable();
    letters.into_iter().collect()
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 96, failure_persistence: None, ..ProptestConfig::default() })]
    #[test]
    fn any_line_runs_alike(line in lines()) {
        let runtime = tokio::runtime::Builder::new_multi_thread().worker_threads(1).enable_all().build().unwrap();
        let kit = Kit::new();
        let (plain, waited) = runtime.block_on(async { (kit.plain(&line).await, kit.with_one_waiting(&line).await) });
        let told = waited.0.replace(": eval: line ", ": -c: line ");
        prop_assert_eq!(as_comparable(&line, &told), as_comparable(&line, &plain.0), "{}", line);
        // After an unclosed quote `bash -c` keeps the code of the commands before; `eval` says 2.
        if plain.0.contains("unexpected EOF while looking for matching") {
            prop_assert_eq!(waited.1.code(), Some(2), "{}", line);
        } else {
            prop_assert_eq!(waited.1, plain.1, "{}", line);
        }
    }
}
