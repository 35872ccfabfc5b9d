//! Lines that want to be slow, deep or large come back, and none passes that is over the limits.

use crate::judge::judge;
use std::sync::mpsc::channel;
use tests::PATIENCE;
use tests::shell::adversarial::lines;

/// No line keeps the analysis for ever, and none that is left open passes.
#[test]
fn lines_that_want_to_be_slow_come_back() {
    let lines = lines();
    let count = lines.len();
    let (sender, came_back) = channel();
    std::thread::spawn(move || {
        for (name, line) in lines {
            let passes = judge(&line).is_some();
            assert!(sender.send((name, passes)).is_ok());
        }
    });
    let mut last = "none".to_owned();
    for _ in 0..count {
        let (name, passes) = came_back.recv_timeout(PATIENCE).unwrap_or_else(|_| panic!("the line after {last} hangs"));
        assert!(!(passes && name.contains(" open ")), "{name} passes");
        last = name;
    }
}

#[test]
fn what_is_over_the_limits_is_asked_for() {
    let over = [
        ("10,001 characters", format!("ls {}", "a".repeat(9_998))),
        ("51 commands", vec!["ls"; 51].join("; ")),
        ("33 levels", format!("{}ls{}", "( ".repeat(33), " )".repeat(33))),
    ];
    for (name, line) in &over {
        assert!(judge(line).is_none(), "{name}");
    }
    let under = [
        ("9,990 characters", format!("ls {}", "a".repeat(9_987))),
        ("50 commands", vec!["ls"; 50].join("; ")),
        ("10 levels", format!("{}ls{}", "( ".repeat(10), " )".repeat(10))),
    ];
    for (name, line) in &under {
        assert!(judge(line).is_some(), "{name} are asked for");
    }
}
