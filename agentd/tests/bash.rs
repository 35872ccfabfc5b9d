//! Bash against real processes, started through the real helper. Everything here ends by an event of the
//! command itself, never by waiting a while.
#![allow(clippy::unwrap_used, clippy::panic, clippy::indexing_slicing)] // a test may stop at what it did not expect

use agentd::base::environment::Environment;
use agentd::process::Processes;
use agentd::tools::{Progress, Registry, ToolContext, ToolOutput};
use proto::event::ToolCause;
use serde_json::{Value, json};
use std::collections::BTreeMap;
use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex};
use std::time::Duration;
use tokio_util::sync::CancellationToken;

struct Kit {
    root: tempfile::TempDir,
    context: ToolContext,
    progress: Arc<Mutex<Vec<Progress>>>,
}

impl Kit {
    fn new() -> Self {
        Self::with_env(&[])
    }

    fn with_env(extra: &[(&str, &str)]) -> Self {
        let root = tempfile::tempdir().unwrap();
        let cwd = root.path().canonicalize().unwrap();
        let path = Environment::of_process().get("PATH").unwrap().to_owned();
        let mut variables = BTreeMap::from([("PATH".to_owned(), path)]);
        variables.extend(extra.iter().map(|(name, value)| ((*name).to_owned(), (*value).to_owned())));
        let progress: Arc<Mutex<Vec<Progress>>> = Arc::default();
        let sink = Arc::clone(&progress);
        // Sessions must differ: these tests run side by side, and processes are found by their names.
        let session = format!("ses_{}", cwd.display());
        let context = ToolContext {
            session_id: session.into(),
            tool_call_id: "call/../1".into(),
            root: cwd.clone(),
            cwd,
            additional_directories: Arc::from([]),
            env: Arc::new(Environment::from(variables)),
            outputs_dir: root.path().join("state/outputs"),
            checkpoints_dir: root.path().join("state/checkpoints"),
            files: Arc::default(),
            processes: Arc::new(Processes::new(PathBuf::from(env!("CARGO_BIN_EXE_agentd")))),
            cancel: CancellationToken::new(),
            progress: Arc::new(move |part| sink.lock().unwrap().push(part)),
            bash: agentd::config::BashSettings::default(),
            kill_grace: Duration::from_millis(200),
            user_modified: false,
            hidden: None,
            trusted: false,
        };
        Self { root, context, progress }
    }

    /// Cancels the call as soon as its output holds this word.
    fn cancel_at(&mut self, word: &'static str) {
        let cancel = self.context.cancel.clone();
        self.context.progress = Arc::new(move |part: Progress| {
            if part.text.contains(word) {
                cancel.cancel();
            }
        });
    }

    async fn run(&self, input: Value) -> ToolOutput {
        let tool = Registry::builtin().get("Bash").unwrap();
        if let Err(message) = tool.validate(&input, &self.context) {
            return ToolOutput::error(message);
        }
        tool.call(input, self.context.clone()).await
    }

    async fn command(&self, command: &str) -> ToolOutput {
        self.run(json!({"command": command})).await
    }

    fn outputs(&self) -> Vec<PathBuf> {
        let dir = std::fs::read_dir(self.root.path().join("state/outputs"));
        dir.map(|entries| entries.map(|entry| entry.unwrap().path()).collect()).unwrap_or_default()
    }

    /// The processes that a command wrote down in a file, one id a line.
    fn pids(&self, file: &str) -> Vec<u32> {
        let text = std::fs::read_to_string(self.context.cwd.join(file)).unwrap();
        text.lines().map(|line| line.trim().parse().unwrap()).collect()
    }
}

/// A test that failed must not leave processes behind.
impl Drop for Kit {
    fn drop(&mut self) {
        for process in self.context.processes.list(None) {
            let pid = nix::unistd::Pid::from_raw(process.pid.try_into().unwrap());
            let _ = nix::sys::signal::kill(pid, nix::sys::signal::Signal::SIGKILL);
        }
    }
}

fn text(output: &ToolOutput) -> String {
    proto::content::plain_text(&output.content)
}

/// Whether a process is there and not just waiting to be reaped.
fn is_alive(pid: &u32) -> bool {
    let stat = std::fs::read_to_string(format!("/proc/{pid}/stat")).unwrap_or_default();
    stat.rsplit_once(") ").is_some_and(|(_, rest)| !rest.starts_with('Z'))
}

fn alive(pids: &[u32]) -> Vec<u32> {
    pids.iter().copied().filter(is_alive).collect()
}

fn shell_cwd(output: &ToolOutput) -> Option<PathBuf> {
    output.context.as_ref().and_then(|change| change.shell_cwd.as_ref()).map(PathBuf::from)
}

/// Row X16: where a command's `cd` went the next command starts, also through a link, in and out of additional folders.
#[tokio::test]
async fn the_folder_lasts_from_command_to_command() {
    let mut kit = Kit::new();
    let root = kit.context.root.clone();
    let other = tempfile::tempdir().unwrap();
    let other = other.path().canonicalize().unwrap();
    kit.context.additional_directories = Arc::from([other.clone()]);
    std::fs::create_dir_all(root.join("a b/it's")).unwrap();
    std::os::unix::fs::symlink("a b", root.join("link")).unwrap();
    for (command, folder) in [
        ("cd 'a b'", "a b"),
        ("cd \"it's\" && false", "a b/it's"),
        ("pwd", "a b/it's"),
        ("cd ../..; cd link", "a b"),
        ("(cd ..)", "a b"),
        ("cd ..; exit 3", "a b"),
        ("cd .. && exec true", "a b"),
        ("set -e; cd ..; cd 'a b'; cd ..", ""),
        ("trap 'echo bye' EXIT; cd link", "a b"),
        ("cd $OLDPWD/..; kill -9 $$", "a b"),
        ("PWD=/; cd ..", ""),
    ] {
        let before = kit.context.cwd.clone();
        let output = kit.command(command).await;
        let expected = if folder.is_empty() { root.clone() } else { root.join(folder) };
        assert_eq!(shell_cwd(&output), (expected != before).then(|| expected.clone()), "{command}: {output:?}");
        kit.context.cwd = expected;
        assert!(text(&kit.command("pwd").await).ends_with(kit.context.cwd.to_str().unwrap()), "{command}");
    }
    let output = kit.command(&format!("cd {}", other.display())).await;
    assert_eq!(shell_cwd(&output), Some(other.clone()));
    kit.context.cwd = other;
    assert_eq!(kit.outputs(), Vec::<PathBuf>::new());
}

#[tokio::test]
async fn outside_the_folders_the_shell_does_not_stay() {
    let mut kit = Kit::new();
    let told = kit.command("cd /; pwd").await;
    let reset = format!("/\n\nThe shell's folder was reset to {}: / is not in", kit.context.root.display());
    assert!(text(&told).starts_with(&reset), "{}", text(&told));
    assert_eq!(told.context, None);
    let output = kit.command("mkdir gone && cd gone && rmdir ../gone").await;
    assert_eq!((shell_cwd(&output), output.is_error), (None, false), "a folder that is gone is nobody's");
    let reset = format!("The shell's folder was reset to {}: where", kit.context.root.display());
    assert!(text(&output).contains(&reset), "{}", text(&output));

    kit.context.cwd = kit.context.root.join("gone");
    let output = kit.command("pwd").await;
    let root = kit.context.root.display().to_string();
    assert!(text(&output).starts_with(&format!("{root}\n\nThe command ran in {root}: the shell's folder ")));
    assert_eq!(shell_cwd(&output), Some(kit.context.root.clone()), "the next command starts there too");
}

/// A tree that does not want to end: it ignores TERM, starts anew what is ended, leaves its session, its
/// parent and its environment, and holds the output open. Each process writes down its id; `ready` follows.
fn stubborn(dir: &Path) {
    use std::os::unix::fs::PermissionsExt as _;
    let path = dir.join("stubborn");
    let body = r#"#!/bin/bash
trap '' TERM HUP INT
export here=$(dirname "$0")
stay='trap "" TERM HUP INT; echo $$ >> "$here/pids"; while :; do sleep 1000; done'
(setsid bash -c "$stay" &)
(setsid env -i here="$here" PATH="$PATH" bash -c "$stay" &)
(bash -c "$stay" > /dev/null 2>&1 &)
echo $$ >> "$here/pids"
until [ "$(wc -l < "$here/pids")" -ge 4 ]; do :; done
echo ready
while :; do sleep 1000; done
"#;
    std::fs::write(&path, body).unwrap();
    std::fs::set_permissions(&path, std::fs::Permissions::from_mode(0o755)).unwrap();
}

/// Rows B14, C14: a non-zero exit is a result; codes that only say "no match" are no error, so they stop no other call.
#[tokio::test]
async fn output_exit_codes_and_summaries() {
    for (command, told, summary, is_error) in [
        ("echo a; echo b >&2; echo c", "a\nb\nc", "3 lines", false),
        ("true", "(no output)", "no output", false),
        ("echo out; exit 3", "Exit code 3\nout", "exit code 3", true),
        ("exit 3", "Exit code 3", "exit code 3", true),
        ("grep x /dev/null", "Exit code 1", "exit code 1", false),
        ("false", "Exit code 1", "exit code 1", true),
        ("kill -9 $$", "Killed by SIGKILL", "killed by sigkill", true),
        ("cat", "(no output)", "no output", false),
        ("printf 'a\\xffb'", "a\u{FFFD}b", "1 line", false),
        ("no_such_program", "Exit code 127\n", "exit code 127", true),
    ] {
        let kit = Kit::new();
        let output = kit.command(command).await;
        assert!(text(&output).starts_with(told), "{command}: {}", text(&output));
        assert_eq!((output.summary.as_str(), output.is_error), (summary, is_error), "{command}");
        assert_eq!(kit.outputs(), Vec::<PathBuf>::new(), "{command} leaves no file");
        assert_eq!(kit.context.processes.list(None), [], "{command}");
    }
}

#[tokio::test]
async fn the_process_is_its_own_session_with_nothing_inherited() {
    let leak = std::fs::File::open("/dev/null").unwrap();
    // A descriptor that is not close-on-exec, as one that agentd itself was started with.
    nix::fcntl::fcntl(&leak, nix::fcntl::FcntlArg::F_SETFD(nix::fcntl::FdFlag::empty())).unwrap();
    let kit = Kit::new();
    let command = "read -r _ _ _ ppid pgid sid _ < /proc/$$/stat; [ $pgid = $$ ] && [ $sid = $$ ] && echo own; \
                   ls /proc/$$/fd; grep -E 'Sig(Ign|Blk)' /proc/self/status; pwd; readlink /proc/$$/fd/0";
    let output = kit.command(command).await;
    let told = text(&output);
    // 255 would be bash's own.
    let fds: Vec<&str> = told.lines().filter(|line| line.parse::<u32>().is_ok_and(|fd| fd != 255)).collect();
    assert!(told.starts_with("own\n"), "{told}");
    assert_eq!(fds, ["0", "1", "2"], "{told}");
    let masks: Vec<u64> = told
        .lines()
        .filter_map(|line| line.strip_prefix("SigBlk:").or(line.strip_prefix("SigIgn:")))
        .map(|mask| u64::from_str_radix(mask.trim(), 16).unwrap() & 0x7FFF_FFFF)
        .collect();
    assert_eq!(masks, [0, 0], "{told}");
    assert!(told.ends_with(&format!("{}\n/dev/null", kit.context.cwd.display())), "{told}");
}

#[tokio::test]
async fn the_environment_is_the_clients_less_secrets() {
    let kit = Kit::with_env(&[("MINE", "1"), ("MY_API_KEY", "secret"), ("LD_PRELOAD", "x.so"), ("PAGER", "less")]);
    let told = text(&kit.command("env").await);
    for line in ["MINE=1", "PAGER=cat", "TERM=dumb", "NO_COLOR=1", "GIT_OPTIONAL_LOCKS=0", "AGENTD_CALL=call/../1"] {
        assert!(told.lines().any(|found| found == line), "{line} in {told}");
    }
    assert!(!told.contains("secret") && !told.contains("LD_PRELOAD") && !told.contains("CARGO_PKG"), "{told}");
}

/// What the analysis of a line takes for granted: nothing of the client's makes bash or a program of the line do more
/// than its words say.
#[tokio::test]
async fn nothing_that_redirects_programs_reaches_them() {
    let hostile = [
        ("BASH_ENV", "/evil"),
        ("ENV", "/evil"),
        ("SHELLOPTS", "xtrace"),
        ("BASHOPTS", "extdebug"),
        ("BASH_FUNC_ls%%", "() { touch /evil; }"),
        ("CDPATH", "/evil"),
        ("OLDPWD", "/evil"),
        ("POSIXLY_CORRECT", "1"),
        ("GIT_DIR", "/evil"),
        ("GIT_CONFIG_KEY_0", "core.pager"),
        ("GIT_CONFIG_VALUE_0", "/evil"),
        ("GIT_EXTERNAL_DIFF", "/evil"),
        ("LESSOPEN", "|/evil"),
        ("RIPGREP_CONFIG_PATH", "/evil"),
        ("TAR_OPTIONS", "--to-command=/evil"),
        ("GREP_OPTIONS", "-f/evil"),
    ];
    let kit = Kit::with_env(&hostile);
    let told = text(&kit.command("env -0 | tr '\\0' '\\n'; set -o; shopt; declare -F").await);
    assert!(!told.contains("/evil"), "{told}");
    let is_there = |name: &str| told.lines().any(|line| line.starts_with(&format!("{name}=")));
    for (name, _) in hostile.iter().filter(|(name, _)| !name.starts_with("GIT_CONFIG_")) {
        assert!(!is_there(name), "{name} in {told}");
    }
    assert!(!told.contains("declare -f"), "{told}");
    let options = |line: &str| told.lines().any(|told| told.split_whitespace().collect::<Vec<_>>().join(" ") == line);
    assert!(options("posix off") && options("xtrace off") && options("extdebug off"), "{told}");
    // Neither folder nor file of the client's shell.
    assert!(text(&kit.command("cd -").await).contains("OLDPWD not set"));
}

/// Git's looks leave a repository as it is, whatever is configured in it; its own work goes on.
#[tokio::test]
async fn a_look_by_git_changes_nothing_and_a_commit_works() {
    let kit = Kit::new();
    let make = "git init -q -b main . && git config user.name x && git config user.email x@example.invalid && \
                git config core.fsmonitor 'touch ran; false' && git config log.showSignature true && \
                git config gpg.program ./evil && echo one > a && git add a && git commit -qm one";
    assert!(!kit.command(make).await.is_error);
    let index = kit.context.cwd.join(".git/index");
    // The same content with another time: what makes git want to refresh its index.
    let touch = "rm -f ran; touch -d '2001-01-01' a";
    let before = (kit.command(touch).await.is_error, std::fs::read(&index).unwrap());
    for look in ["git status", "git diff", "git log -p", "git diff --stat", "git describe --always", "git ls-files -m"]
    {
        let output = kit.command(look).await;
        assert!(!output.is_error, "{look}: {}", text(&output));
        assert_eq!((false, std::fs::read(&index).unwrap()), before, "{look}");
    }
    assert!(!kit.context.cwd.join("ran").exists());
    let output =
        kit.command("echo two >> a && git commit -qam two && git status --short -uno && git log --oneline").await;
    assert!(!output.is_error && text(&output).lines().count() == 2, "{}", text(&output));
}

/// Row B08: three pieces of output are three events of progress, all before the result.
#[tokio::test]
async fn pieces_of_output_are_progress_before_the_result() {
    let mut kit = Kit::new();
    let seen: Arc<Mutex<Vec<String>>> = Arc::default();
    let (sink, dir) = (Arc::clone(&seen), kit.context.cwd.clone());
    kit.context.progress = Arc::new(move |part: Progress| {
        let mut seen = sink.lock().unwrap();
        seen.push(part.text);
        std::fs::write(dir.join(format!("seen{}", seen.len())), "").unwrap();
    });
    // Each piece is written once the one before was seen; the call ends once the last was.
    let output = kit.command("for n in 1 2 3; do echo $n; until [ -e seen$n ]; do :; done; done").await;
    assert_eq!(*seen.lock().unwrap(), ["1\n", "2\n", "3\n"]);
    assert_eq!(text(&output), "1\n2\n3");
}

#[tokio::test]
async fn progress_adds_up_to_the_output() {
    let kit = Kit::new();
    let output = kit.command("printf '€%.0s' {1..500}").await;
    let parts = kit.progress.lock().unwrap();
    let joined: String = parts.iter().map(|part| part.text.as_str()).collect();
    assert_eq!(joined, text(&output));
    assert_eq!(parts.last().unwrap().total_bytes, 1500);
    assert_eq!(parts[0].offset, 0);
}

/// Row B09: 30,000 characters are told, one more goes to a file.
#[tokio::test]
async fn the_limit_is_inline_and_one_more_goes_to_a_file() {
    let kit = Kit::new();
    let output = kit.command("printf 'x%.0s' {1..30000}").await;
    assert_eq!((text(&output).len(), output.persisted_path), (30_000, None));
    assert_eq!(kit.outputs(), Vec::<PathBuf>::new());

    let output = kit.command("printf 'x%.0s' {1..30001}").await;
    let path = output.persisted_path.clone().unwrap();
    assert_eq!(path.file_name().unwrap(), "call____1.txt", "a hostile id stays in the folder");
    assert_eq!(std::fs::metadata(&path).unwrap().len(), 30_001);
    assert!(text(&output).contains(path.to_str().unwrap()) && text(&output).len() < 2_000);
    assert!(!output.is_error);

    let output = kit.command("echo BEGIN; printf 'x%.0s' {1..30001}; echo END; exit 1").await;
    let told = text(&output);
    assert!(told.starts_with("Exit code 1\nBEGIN\n") && told.ends_with("xEND"), "both ends");
    assert!(told.len() < 11_000);
    assert!(output.persisted_path.unwrap().ends_with("call____1-2.txt"));
}

#[tokio::test]
async fn a_background_child_holds_nobody_up_and_is_stopped_with_its_session() {
    let kit = Kit::new();
    let output = kit.command("sleep 1000 & echo started").await;
    let told = text(&output);
    assert!(!output.is_error && told.starts_with("started\n\n1 process goes on in the background: pid "), "{told}");
    let listed = kit.context.processes.list(Some(&kit.context.session_id));
    assert_eq!(listed.len(), 1);
    let process = &listed[0];
    assert_eq!(process.command, "sleep 1000");
    assert_eq!(process.tool_call_id, Some("call/../1".into()));
    assert!(told.contains(&format!("pid {}.", process.pid)), "{told}");
    assert!(process.rss_bytes > 0 && process.started_at.ends_with('Z'));
    assert_eq!(kit.context.processes.list(Some(&"other".into())), []);
    assert_eq!(kit.context.processes.stop_session(&"other".into(), Duration::ZERO).await, [0; 0]);
    assert!(is_alive(&process.pid));

    assert_eq!(kit.context.processes.stop_session(&kit.context.session_id, Duration::from_secs(5)).await, [0; 0]);
    assert!(!is_alive(&process.pid));
    assert_eq!(kit.context.processes.list(None), []);
}

/// Row B13: a command that runs longer than its `timeout` is ended, and the result says so.
#[tokio::test]
async fn a_timeout_stops_the_command_and_keeps_its_output() {
    let kit = Kit::new();
    let output = kit.run(json!({"command": "echo before; sleep 1000", "timeout": 300})).await;
    let told = text(&output);
    assert!(told.starts_with("before\n\nThe command was stopped since it ran longer than 300ms."), "{told}");
    assert_eq!((output.cause, output.is_error), (Some(ToolCause::Timeout), true));
    assert_eq!(output.still_running, [0; 0]);
    assert_eq!(kit.context.processes.list(None), []);
}

#[tokio::test]
async fn a_timeout_is_held_to_the_settings() {
    let mut kit = Kit::new();
    kit.context.bash.max_timeout_ms = 200;
    let output = kit.run(json!({"command": "sleep 1000", "timeout": 600_000})).await;
    assert_eq!(output.cause, Some(ToolCause::Timeout));
}

/// Row B12: cancel ends the whole tree, also what ignores SIGTERM and has left its group.
#[tokio::test]
async fn cancel_ends_a_stubborn_tree() {
    let mut kit = Kit::new();
    stubborn(&kit.context.cwd);
    kit.cancel_at("ready");
    let output = kit.command("./stubborn").await;
    let pids = kit.pids("pids");
    assert_eq!(pids.len(), 4);
    assert_eq!(alive(&pids), [0; 0]);
    let told = text(&output);
    assert!(told.starts_with("ready\n\nThe command was stopped before it ended; it may have changed things"), "{told}");
    assert_eq!((output.cause, output.still_running), (Some(ToolCause::UserAbort), Vec::new()));
    assert_eq!(kit.context.processes.list(None), []);
}

#[tokio::test]
async fn who_sheds_every_mark_is_remembered_once_its_parent_is_gone() {
    let mut kit = Kit::new();
    kit.cancel_at("ready");
    let command = r#"env -i setsid sh -c 'trap "" TERM; exec > /dev/null 2>&1; echo $$ > pids; while :; do sleep 1000; done' &
        until [ -s pids ]; do :; done; echo ready; sleep 1000"#;
    let output = kit.command(command).await;
    assert_eq!(output.cause, Some(ToolCause::UserAbort), "{output:?}");
    assert_eq!(alive(&kit.pids("pids")), [0; 0]);
}

#[tokio::test]
async fn a_call_that_was_cancelled_before_it_began_runs_nothing() {
    let kit = Kit::new();
    kit.context.cancel.cancel();
    let output = kit.command("touch ran").await;
    assert_eq!(output.cause, Some(ToolCause::UserAbort));
    assert!(!kit.context.cwd.join("ran").exists());
}

#[tokio::test]
async fn a_tree_left_behind_is_found_and_ended_with_everything() {
    let kit = Kit::new();
    stubborn(&kit.context.cwd);
    let output = kit.command("./stubborn & until grep -q ready state/outputs/*.txt; do :; done").await;
    let (pids, told) = (kit.pids("pids"), text(&output));
    for pid in &pids {
        assert!(told.contains(&pid.to_string()), "{pid} in {told}");
    }
    assert_eq!(kit.context.processes.stop_all(Duration::from_millis(100)).await, [0; 0]);
    assert_eq!(alive(&pids), [0; 0]);
}

#[tokio::test]
async fn what_an_earlier_agentd_left_of_a_session_is_ended() {
    let kit = Kit::new();
    kit.command("setsid sleep 1000 & echo $! > pid").await;
    let pids = kit.pids("pid");
    let next = Processes::new(PathBuf::from(env!("CARGO_BIN_EXE_agentd")));
    assert_eq!(next.stop_session(&"ses_other".into(), Duration::ZERO).await, [0; 0]);
    assert_eq!(alive(&pids), pids);
    assert_eq!(next.stop_session(&kit.context.session_id, Duration::from_secs(5)).await, [0; 0]);
    assert_eq!(alive(&pids), [0; 0]);
}

#[tokio::test]
async fn a_polite_tree_may_end_by_itself() {
    let mut kit = Kit::new();
    kit.context.kill_grace = Duration::from_secs(60);
    kit.cancel_at("ready");
    let output = kit.command("trap 'echo bye; exit' TERM; echo ready; while :; do sleep 1000; done").await;
    assert!(text(&output).contains("bye\n\nThe command was stopped"), "{}", text(&output));
}

#[tokio::test]
async fn a_stopped_process_is_ended_too() {
    let mut kit = Kit::new();
    kit.context.kill_grace = Duration::from_secs(60);
    kit.cancel_at("ready");
    let output = kit.command("(echo ready; kill -STOP $BASHPID) & wait").await;
    assert_eq!(output.still_running, [0; 0]);
}

#[tokio::test]
async fn a_dropped_call_takes_its_group_with_it() {
    let mut kit = Kit::new();
    let (ready, mut is_ready) = tokio::sync::mpsc::channel(8);
    kit.context.progress = Arc::new(move |_| {
        let _ = ready.try_send(());
    });
    tokio::select! {
        _ = kit.command("echo $$ > pid; echo; sleep 1000") => panic!("it sleeps"),
        _ = is_ready.recv() => {}
    }
    let pids = kit.pids("pid");
    while !alive(&pids).is_empty() {
        tokio::task::yield_now().await;
    }
}

#[tokio::test]
async fn bad_input_is_refused_by_name() {
    let kit = Kit::new();
    for (input, message) in [
        (json!({}), "`command` is missing"),
        (json!({"command": ""}), "`command` is empty"),
        (json!({"command": "a\0b"}), "NUL"),
        (json!({"command": "true", "timeout": 0}), "`timeout` must be a whole number of at least 1"),
        (json!({"command": "true", "_simulatedSedEdit": {}}), "`_simulatedSedEdit` is unknown"),
        (json!({"command": "true", "run_in_background": true}), "not supported yet"),
    ] {
        let output = kit.run(input).await;
        assert!(output.is_error && text(&output).contains(message), "{}", text(&output));
    }
    let input = json!({"command": "true", "dangerouslyDisableSandbox": true, "run_in_background": false});
    assert!(!kit.run(input).await.is_error);
}

#[tokio::test]
async fn a_folder_that_is_gone_is_named() {
    let mut kit = Kit::new();
    kit.context.root = kit.context.root.join("gone");
    kit.context.cwd = kit.context.root.clone();
    let output = kit.command("true").await;
    assert!(output.is_error && text(&output).contains("gone does not exist any more"), "{}", text(&output));
}
