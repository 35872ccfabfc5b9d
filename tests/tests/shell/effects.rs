//! The corpus against bash: what its lines are said to do is what they do.

use crate::judge::sandbox;
use tests::shell::corpus::{Class, Line, all};

/// Every line that is said to only read was run, and only read.
#[test]
fn lines_that_only_read_do_only_that() {
    let lines: Vec<Line> = all().into_iter().filter(|line| line.class == Class::ReadOnly).collect();
    let commands: Vec<&str> = lines.iter().map(|line| line.cmd.as_str()).collect();
    let seen = sandbox().run(&commands);
    let wrong: Vec<String> = commands
        .iter()
        .zip(&seen)
        .filter(|(_, seen)| !seen.effects.is_empty() || seen.late)
        .map(|(line, seen)| format!("{line:?}: {:?}{}", seen.effects, if seen.late { ", took too long" } else { "" }))
        .collect();
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
}

/// The sandbox sees what lines do, so that seeing nothing means something.
#[test]
fn effects_are_seen() {
    let lines = [
        "> pwn",
        "echo x >> a.txt",
        "rm a.txt",
        "mkdir x",
        "mv b.txt c.txt",
        "chmod +x nums.txt",
        "touch a.txt",
        "ln -s a b",
        "truncate -s 0 data.csv",
        "exec 3<>/dev/tcp/192.0.2.1/80",
        "(sleep 0.05; > pwn) &",
        "git branch x",
        "kill -9 $$",
        "sort -o pwn deps.txt",
        "cd vendor/lib && git commit --allow-empty -m x",
        "cp hex.txt d.txt",
        "bash -c '> pwn'",
        "trap '> pwn' EXIT",
    ];
    for (line, seen) in lines.iter().zip(sandbox().run(&lines)) {
        assert!(!seen.effects.is_empty(), "{line}: nothing was seen of it, but {seen:?}");
    }
    let lines = [
        "ls > /dev/null",
        "cat <<< x | cat",
        "printf '%s' {1..30000} | wc -c",
        "cat <<< \"$(seq 30000)\"",
        "nosuch",
        "ls -l",
    ];
    for (line, seen) in lines.iter().zip(sandbox().run(&lines)) {
        assert!(seen.effects.is_empty(), "{line}: {seen:?}");
    }
    let seen = sandbox().run(&["./pwn.sh", "ls", "sleep 60"]);
    assert_eq!(seen.iter().map(|seen| seen.late).collect::<Vec<_>>(), [false, false, true]);
    assert_eq!((seen[0].execs[0].path.as_str(), seen[1].execs[0].path.as_str()), ("./pwn.sh", "/usr/bin/ls"));
}
