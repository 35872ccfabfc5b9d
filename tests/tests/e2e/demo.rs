//! A fresh machine: no key, no model, no daemon. `agentctl chat` starts one and shows it off.

use std::fs;
use tests::{Agentctl, Home, Pty, binary};

#[test]
fn the_tour_edits_a_file_after_asking() {
    let home = Home::new();
    let mut chat = Pty::start(&home, &binary("agentctl"), &["chat", "take the tour"]);
    chat.expect("demo/guide");
    chat.expect("agentd-tour/notes.txt");
    chat.expect("[y] yes");
    let notes = home.workspace().join("agentd-tour/notes.txt");
    assert!(!notes.exists(), "nothing is written before the answer");
    chat.send("y");
    // The diff of the edit, then the question.
    chat.expect("[x] watch an agent edit a file");
    chat.expect("[y] yes");
    assert!(fs::read_to_string(&notes).unwrap().contains("[ ] watch"));
    chat.send("y");
    chat.expect("wc -l");
    chat.expect("That was the tour.");
    chat.expect("› ");
    assert!(fs::read_to_string(&notes).unwrap().contains("[x] watch"));
    chat.send("/quit\r");
    chat.expect("the session stays");
    assert_eq!(chat.wait(), Some(0));
    let agentctl = Agentctl::new(&home);
    assert!(agentctl.ok(&["ls"]).contains("take the tour"));
    agentctl.ok(&["stop"]);
}

#[test]
fn ctrl_c_cancels_a_turn_and_a_second_one_leaves() {
    let home = Home::new();
    let mut chat = Pty::start(&home, &binary("agentctl"), &["chat", "count slowly"]);
    chat.expect("I count to 30");
    chat.send("\u{3}");
    chat.expect("› ");
    chat.send("what are you?\r");
    chat.expect("This is a demonstration");
    chat.expect("› ");
    chat.send("\u{3}");
    chat.expect("Ctrl-C again");
    chat.expect("› ");
    chat.send("\u{3}");
    assert_eq!(chat.wait(), Some(0));
    Agentctl::new(&home).ok(&["stop"]);
}

#[test]
fn a_question_can_be_left_open_and_answered_later() {
    let home = Home::new();
    let agentctl = Agentctl::new(&home);
    for (key, back) in [("d", &["chat", "take the tour"][..]), ("\u{4}", &["chat", "--session", "@last"])] {
        let mut chat = Pty::start(&home, &binary("agentctl"), back);
        chat.expect("[d] leave, it waits");
        chat.send(key);
        chat.expect("the session stays; come back with");
        assert_eq!(chat.wait(), Some(0));
        assert!(agentctl.ok(&["ls"]).contains("waiting"));
        assert!(agentctl.ok(&["pending"]).contains("notes.txt"));
    }
    let mut chat = Pty::start(&home, &binary("agentctl"), &["chat", "--session", "@last"]);
    chat.expect("[y] yes");
    chat.send("y");
    chat.expect("[x] watch an agent edit a file");
    chat.expect("[d] leave");
    chat.send("q");
    assert_eq!(chat.wait(), Some(0));
    assert!(home.workspace().join("agentd-tour/notes.txt").exists());
    agentctl.ok(&["stop", "--now"]);
}

#[test]
fn a_change_of_mode_is_told_once() {
    let home = Home::new();
    let mut chat = Pty::start(&home, &binary("agentctl"), &["chat"]);
    chat.expect("› ");
    chat.send("/mode plan\r");
    chat.expect("plan mode");
    chat.expect("› ");
    chat.send("what are you?\r");
    let turn = chat.expect("This is a demonstration");
    assert!(!turn.contains("mode is now"), "{turn}");
    chat.expect("› ");
    chat.send("/quit\r");
    assert_eq!(chat.wait(), Some(0));
    Agentctl::new(&home).ok(&["stop"]);
}

#[test]
fn of_lines_that_come_at_once_each_is_taken_in_order() {
    let home = Home::new();
    let mut chat = Pty::start(&home, &binary("agentctl"), &["chat"]);
    chat.expect("› ");
    chat.send("/mode acceptEdits\r/mode plan\r/permissions\rwhat are you?\r");
    chat.expect("acceptEdits mode");
    chat.expect("plan mode");
    chat.expect("mode plan; /mode lists them");
    let turn = chat.expect("This is a demonstration");
    assert!(!turn.contains("mode is now"), "{turn}");
    chat.expect("› ");
    chat.send("/quit\r");
    assert_eq!(chat.wait(), Some(0));
    Agentctl::new(&home).ok(&["stop"]);
}

#[test]
fn any_prompt_is_answered_plainly() {
    let home = Home::new();
    let agentctl = Agentctl::new(&home);
    let answer = agentctl.ok(&["run", "write me a poem"]);
    assert!(answer.contains("demonstration") && answer.contains("ANTHROPIC_API_KEY"), "{answer}");
    agentctl.ok(&["stop"]);
}

/// What the demonstration says of a call that did not run is what happened to it.
#[test]
fn a_tour_that_may_not_write_says_who_did_not_let_it() {
    let home = Home::new();
    let agentctl = Agentctl::new(&home);
    let alone = agentctl.run(&["run", "take the tour"]);
    assert!(alone.stdout.contains("Nobody was there to ask whether I may write a file"), "{alone:?}");
    let plan = agentctl.run(&["run", "--mode", "plan", "take the tour"]);
    assert!(plan.stdout.contains("I was not allowed to write a file (mode plan only reads"), "{plan:?}");
    for said in [&alone, &plan] {
        assert!(said.code == Some(3) && !said.stdout.contains("You said no"), "{said:?}");
    }
    agentctl.ok(&["stop"]);
}
