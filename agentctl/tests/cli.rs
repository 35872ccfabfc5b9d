//! The binary as a shell sees it, without a daemon: usage, help, exit codes, and the words of a start that
//! fails. What needs a daemon is in the end-to-end tests.

#![allow(clippy::unwrap_used)] // the helpers of these tests fail as the tests themselves do

use std::fs;
use std::os::unix::fs::PermissionsExt;
use std::path::Path;
use std::process::{Command, Output, Stdio};
use std::sync::{Mutex, PoisonError};
use tempfile::TempDir;

/// Held while a program is written and while one is started: a child that is being started has a copy of
/// every open file, and a program that is open for writing cannot be run.
static PROGRAMS: Mutex<()> = Mutex::new(());

/// agentctl in a place of its own, with no agentd beside it and none on PATH.
struct Place {
    dir: TempDir,
}

impl Place {
    fn new() -> Self {
        let dir = tempfile::tempdir().unwrap();
        fs::set_permissions(dir.path(), fs::Permissions::from_mode(0o700)).unwrap();
        let _programs = PROGRAMS.lock().unwrap_or_else(PoisonError::into_inner);
        fs::copy(env!("CARGO_BIN_EXE_agentctl"), dir.path().join("agentctl")).unwrap();
        Self { dir }
    }

    fn path(&self) -> &Path {
        self.dir.path()
    }

    /// Puts a program in agentd's place.
    fn fake_agentd(&self, script: &str) {
        let path = self.path().join("agentd");
        let _programs = PROGRAMS.lock().unwrap_or_else(PoisonError::into_inner);
        fs::write(&path, format!("#!/bin/sh\n{script}\n")).unwrap();
        fs::set_permissions(&path, fs::Permissions::from_mode(0o755)).unwrap();
    }

    #[allow(clippy::disallowed_methods)] // a test runs the program under test
    fn run(&self, args: &[&str]) -> Output {
        let programs = PROGRAMS.lock().unwrap_or_else(PoisonError::into_inner);
        let child = Command::new(self.path().join("agentctl"))
            .args(args)
            .env_clear()
            .env("PATH", self.path())
            .env("HOME", self.path())
            .env("AGENTD_SOCKET", self.path().join("agentd.sock"))
            .env("AGENTD_STATE_DIR", self.path().join("state"))
            .stdin(Stdio::null())
            .stdout(Stdio::piped())
            .stderr(Stdio::piped())
            .spawn()
            .unwrap();
        drop(programs);
        child.wait_with_output().unwrap()
    }

    /// Runs and expects an exit code; returns both outputs.
    fn expect(&self, args: &[&str], code: i32) -> (String, String) {
        let output = self.run(args);
        let texts = (String::from_utf8(output.stdout).unwrap(), String::from_utf8(output.stderr).unwrap());
        assert_eq!(output.status.code(), Some(code), "{args:?}: {texts:?}");
        texts
    }
}

#[test]
fn a_wrong_command_line_exits_2_and_says_what_is_wrong() {
    let place = Place::new();
    let table: &[&[&str]] = &[
        &[],
        &["nonsense"],
        &["run"],
        &["run", "hi", "--timeout", "soon"],
        &["run", "hi", "--max-turns", "0"],
        &["run", "hi", "--mode", "yolo"],
        &["run", "hi", "--output", "xml"],
        &["run", "hi", "--session", "a", "--continue"],
        &["run", ""],
        &["run", "-"],
        &["allow", "r", "--remember", "forever"],
        &["rm"],
        &["rpc", "session/list", "{"],
        &["rpc", "session/list", "7"],
        &["completions", "tcsh"],
        &["config", "set", "key"],
        &["config", "set", "key", "1", "--scope", "managed"],
        &["explain"],
        &["explain", "Bash"],
        &["trust", "--no", "--show"],
        &["allow", "r", "--rule", "Bash(x)"],
    ];
    for args in table {
        let (out, err) = place.expect(args, 2);
        assert_eq!(out, "", "{args:?}");
        assert!(!err.is_empty(), "{args:?}");
    }
}

#[test]
fn help_and_version_need_no_daemon() {
    let place = Place::new();
    let (help, _) = place.expect(&["--help"], 0);
    for command in
        ["chat", "run", "resume", "ls", "attach", "pending", "allow", "explain", "trust", "doctor", "completions"]
    {
        assert!(help.contains(&format!("\n  {command} ")), "{command}");
    }
    assert!(!help.contains("__detach"));
    let (help, _) = place.expect(&["run", "--help"], 0);
    assert!(help.contains("124 timed out"), "{help}");
    let (help, _) = place.expect(&["explain", "--help"], 0);
    assert!(help.contains("5 a person would be asked") && help.contains("'git status; rm x'"), "{help}");
    let (version, _) = place.expect(&["--version"], 0);
    assert_eq!(version.trim(), format!("agentctl {}", env!("CARGO_PKG_VERSION")));
}

#[test]
fn the_schema_is_json_and_names_every_method() {
    let (schema, _) = Place::new().expect(&["schema"], 0);
    let schema: serde_json::Value = serde_json::from_str(&schema).unwrap();
    assert!(schema["methods"]["turn/start"]["params"].is_object());
    assert!(schema["notifications"]["session/event"].is_object());
}

#[test]
fn completions_come_for_each_shell() {
    let place = Place::new();
    for shell in ["bash", "zsh", "fish", "elvish", "powershell"] {
        let (script, _) = place.expect(&["completions", shell], 0);
        assert!(script.contains("stream-json") || script.contains("stream"), "{shell}");
    }
}

#[test]
fn without_agentd_the_message_says_where_it_was_looked_for() {
    let place = Place::new();
    for args in [&["ls"][..], &["run", "hi"], &["start"], &["chat", "hi"]] {
        let (out, err) = place.expect(args, 1);
        assert_eq!(out, "");
        assert!(err.starts_with("agentctl: no agentd found, neither as "), "{err}");
        assert_eq!(err.lines().count(), 1, "{err}");
    }
}

#[test]
fn status_and_stop_start_nothing() {
    let place = Place::new();
    place.fake_agentd("touch \"$0.started\"");
    let (_, err) = place.expect(&["status"], 1);
    assert!(err.starts_with("agentctl: agentd does not run at "), "{err}");
    let (out, _) = place.expect(&["stop"], 0);
    assert_eq!(out, "agentd does not run\n");
    place.expect(&["doctor"], 1);
    assert!(!place.path().join("agentd.started").exists());
}

#[test]
fn an_agentd_that_ends_at_once_is_quoted() {
    let place = Place::new();
    place.fake_agentd("echo 'agentd: the state folder is full' >&2; exit 1");
    let (_, err) = place.expect(&["ls"], 1);
    assert!(err.starts_with("agentctl: agentd ended at once: the state folder is full (log: "), "{err}");
}

#[test]
fn agentd_is_started_with_absolute_paths_in_a_session_of_its_own() {
    let place = Place::new();
    place.fake_agentd(
        "echo \"$@ in $PWD\" >&2; read -r pid name state ppid pgrp session rest < /proc/$$/stat; \
                       [ \"$session\" = \"$$\" ] && echo leader >&2; exit 1",
    );
    let (_, err) = place.expect(&["ls"], 1);
    assert!(err.contains("ended at once: leader"), "{err}");
    let log = fs::read_to_string(place.path().join("state/agentd.log")).unwrap();
    let (socket, state) = (place.path().join("agentd.sock"), place.path().join("state"));
    assert!(log.contains(&format!("--socket {} --state-dir {} in /", socket.display(), state.display())), "{log}");
    let mode = fs::metadata(&state).unwrap().permissions().mode();
    assert_eq!(mode & 0o777, 0o700);
}

#[test]
fn a_socket_that_nobody_serves_is_a_daemon_that_does_not_run() {
    let place = Place::new();
    drop(std::os::unix::net::UnixListener::bind(place.path().join("agentd.sock")).unwrap());
    let (_, err) = place.expect(&["status"], 1);
    assert!(err.contains("agentctl start"), "{err}");
}

#[test]
fn doctor_names_a_remedy_for_all_that_fails() {
    let place = Place::new();
    fs::set_permissions(place.path(), fs::Permissions::from_mode(0o755)).unwrap();
    let (out, _) = place.expect(&["doctor"], 1);
    let failed: Vec<&str> = out.lines().filter(|line| line.starts_with("fail")).collect();
    assert_eq!(failed.len(), 3, "{out}");
    for remedy in ["install agentd", "chmod 700", "so install it"] {
        assert!(failed.iter().any(|line| line.contains(remedy)), "{remedy}: {out}");
    }
    assert!(!out.contains('\u{1b}'));
}
