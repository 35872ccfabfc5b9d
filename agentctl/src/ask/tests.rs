//! What which key does at a question.

use super::*;
use crate::render::Screen;
use crate::render::request::tests::request;
use crate::render::transcript::Detail;
use proto::permission::Suggestion;
use serde_json::json;

fn asking() -> Ask {
    let mut request = request("make", None);
    request.suggestions = vec![Suggestion::one("Bash", "Bash(make:*)", RuleScope::Local)];
    Ask { queue: VecDeque::from([request]), can_leave: true, ..Ask::default() }
}

/// What the last of some keys comes to; those before it come to nothing yet.
fn answer(ask: &mut Ask, keys: &[&str]) -> PermissionRespondParams {
    let (last, before) = keys.split_last().unwrap();
    for key in before {
        assert_eq!(ask.press(key), None, "{key:?}");
    }
    match ask.press(last) {
        Some(Pressed::Answer(answer)) => *answer,
        other => panic!("{last:?} comes to {other:?}"),
    }
}

#[test]
fn a_key_is_an_answer() {
    let yes = answer(&mut asking(), &["y"]);
    assert_eq!((yes.decision, yes.remember, yes.updated_input), (PermissionDecision::Allow, None, None));
    let always = answer(&mut asking(), &["a", "l"]);
    let rule = Remember::one(RuleScope::Local, "Bash(make:*)");
    assert_eq!((always.decision, always.remember), (PermissionDecision::Allow, Some(rule)));
    let no = answer(&mut asking(), &["n"]);
    assert_eq!((no.decision, no.message, no.stop), (PermissionDecision::Deny, None, None));
}

#[test]
fn neither_a_paste_nor_another_key_is_an_answer() {
    for pressed in ["yes please", "yy", "\n", "\u{1b}[A", " ", "d", "q", "\u{4}", "v", ""] {
        assert_eq!(asking().press(pressed), None, "{pressed:?}");
    }
}

#[test]
fn leaving_is_no_answer() {
    let mut ask = asking();
    for (pressed, leaves) in [("d", true), ("q", true), ("\u{4}", true), ("dd", false), ("y", false), ("", false)] {
        assert_eq!(ask.leaves(pressed), leaves, "{pressed:?}");
    }
    ask.press("e");
    assert!(!ask.leaves("d"), "a letter of the reason");
    assert!(ask.leaves("\u{4}"));
    ask.can_leave = false;
    assert!(!ask.leaves("\u{4}"));
}

#[test]
fn always_needs_a_rule_to_remember() {
    let mut ask = asking();
    ask.queue.front_mut().unwrap().suggestions.clear();
    assert_eq!(ask.press("a"), None);
    assert!(!ask.question_keys().concat().contains("[a]"));
    assert_eq!(ask.press("s"), None, "no scope is asked for");
}

#[test]
fn a_reason_goes_to_the_model_and_the_turn_goes_on() {
    let denied = answer(&mut asking(), &["e", "usx", "\u{7f}", "e b", "\u{1b}[A", "un", "\n"]);
    assert_eq!((denied.decision, denied.stop), (PermissionDecision::Deny, Some(false)));
    assert_eq!(denied.message.as_deref(), Some("use bun"));
    let plain = answer(&mut asking(), &["e", " ", "\n"]);
    assert_eq!((plain.message, plain.stop), (None, None));
}

#[test]
fn escape_goes_back_to_the_keys() {
    for keys in [["e", "y", "\u{1b}", "y"], ["a", "r", "\u{1b}", "s"], ["a", "x", "\u{1b}", "y"]] {
        assert_eq!(answer(&mut asking(), &keys).decision, PermissionDecision::Allow, "{keys:?}");
    }
}

#[test]
fn an_edited_input_is_what_runs() {
    let paper = crate::render::screen::tests::Paper::default();
    let screen = Screen::new(Box::new(paper.clone()), Box::new(paper.clone()), true, false);
    let detail = Detail { prompts: true, thinking: true, questions: false, totals: true };
    let mut transcript = Transcript::new(screen, detail);
    let mut ask = asking();
    assert_eq!(ask.press("i"), Some(Pressed::Edit));
    ask.edit_here(ask.draft().unwrap());
    for key in ["y", "\u{1b}[D", " -n"] {
        assert_eq!(ask.press(key), None);
    }
    let Some(Pressed::Edited(draft)) = ask.press("\n") else { panic!("it was edited") };
    ask.edited(&draft, &mut transcript).unwrap();
    assert!(paper.read().contains("-make\n  +make -ny"), "{}", paper.read());
    assert!(ask.question_keys().concat().contains("[y] as edited"));
    assert_eq!(ask.asked().unwrap().input, json!({"command": "make -ny"}), "it is what is explained");
    assert_eq!(answer(&mut ask, &["y"]).updated_input, Some(json!({"command": "make -ny"})));
    assert!(!ask.question_keys().concat().contains("[a]"), "the rule that is offered is for what was asked");
    assert_eq!(ask.press("a"), None);
    assert_eq!(answer(&mut ask, &["s", "n"]).updated_input, None);
    ask.edited(&draft.with("make"), &mut transcript).unwrap();
    assert_eq!(answer(&mut ask, &["y"]).updated_input, None, "as it was asked");
    assert!(answer(&mut ask, &["a", "s"]).remember.is_some());
}

#[test]
fn a_plan_that_was_edited_can_still_be_approved_with_its_edits() {
    let mut ask = asking();
    let plan = "# Move it".to_owned();
    ask.queue.front_mut().unwrap().preview = Some(Preview::Plan { plan });
    ask.edited = Some(json!({"plan": "# Leave it"}));
    assert!(ask.question_keys().concat().contains("[a] and accept edits"));
    let always = answer(&mut ask, &["a", "s"]);
    assert_eq!((always.remember.is_some(), always.updated_input), (true, Some(json!({"plan": "# Leave it"}))));
}

#[test]
fn of_lines_that_come_at_once_none_is_lost() {
    let mut ask = Ask { prompt: Some(Typed::of("on")), ..Ask::default() };
    let said = ask.press("e\n/cancel\rtw\u{1b}\no\nthr");
    let lines = ["one", "/cancel", "tw\no"].map(str::to_owned).to_vec();
    assert_eq!(said, Some(Pressed::Said(lines)));
    assert_eq!(ask.press("ee\n"), Some(Pressed::Said(vec!["three".to_owned()])));
    assert_eq!(ask.press("\n\u{1b}"), Some(Pressed::Said(vec![String::new()])));
    assert_eq!(ask.unsent(), "");
}

#[test]
fn the_keys_fit_a_plain_terminal() {
    let mut ask = asking();
    ask.edited = Some(json!({"command": "x"}));
    ask.rest = vec!["more".to_owned()];
    for line in ask.question_keys() {
        assert!(line.chars().count() < 80, "{line}");
    }
}
