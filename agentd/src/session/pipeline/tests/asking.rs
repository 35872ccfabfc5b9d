//! Questions: who answers, what becomes of it, and that what runs is what was shown.

use super::*;
use crate::session::hooks::{CallView, PermissionSaid};

/// A PermissionRequest hook that says what it is told to.
struct Hook(PermissionSaid);

impl Hooks for Hook {
    fn has_permission_request(&self) -> bool {
        true
    }

    fn permission_request<'a>(
        &'a self,
        call: CallView<'a>,
        request: &'a PermissionRequest,
    ) -> BoxFuture<'a, PermissionSaid> {
        assert_eq!((call.input, call.tool), (&request.input, request.tool.as_str()));
        Box::pin(async { self.0.clone() })
    }
}

fn bench(said: PermissionSaid) -> Bench {
    let mut bench = Bench::new(StandIn::gives(said_x()).asks());
    bench.hooks = Arc::new(Hook(said));
    bench
}

fn said_x() -> ToolOutput {
    said("x")
}

fn yes() -> PermissionSaid {
    PermissionSaid::Allow { reason: "it is late".into(), updated_input: None }
}

fn no() -> PermissionSaid {
    PermissionSaid::Deny { reason: "not on Fridays".into(), stops_turn: false }
}

/// Row P13: with nobody there a question is never opened. A PermissionRequest hook decides; without one, or if it says
/// nothing, the call is denied, and the model is told why.
#[tokio::test]
async fn with_nobody_there_a_hook_decides_or_it_is_no() {
    for (hook, status) in [
        (None, ToolStatus::Denied),
        (Some(PermissionSaid::Pass), ToolStatus::Denied),
        (Some(no()), ToolStatus::Denied),
        (Some(yes()), ToolStatus::Completed),
    ] {
        let mut bench = Bench::new(StandIn::gives(said_x()).asks());
        bench.on_ask = OnAsk::Deny;
        let silent = hook.as_ref().is_none_or(|said| *said == PermissionSaid::Pass);
        if let Some(hook) = hook.clone() {
            bench.hooks = Arc::new(Hook(hook));
        }
        let told = bench.run(input("x")).await;
        assert_eq!((told.outcome.status, told.asked.len()), (status, 0), "{hook:?}");
        if silent {
            assert!(told.text.contains("nobody is there to ask") && told.text.contains("may change something"));
        } else if status == ToolStatus::Denied {
            assert_eq!(told.text, "Not allowed by a hook: not on Fridays. Nothing was run.");
        }
        match status {
            ToolStatus::Completed => {
                let reason = &told.started[0].1;
                assert_eq!((reason.kind, reason.layer), (ReasonType::Hook, 13));
            }
            _ => assert!(told.started.is_empty()),
        }
    }
}

/// Row P13: with people there the hook is asked beside them; the question is open all the while.
#[tokio::test]
async fn a_hook_may_answer_before_the_person() {
    let told = bench(yes()).run(input("x")).await;
    assert_eq!((told.asked.len(), told.by_hook.len(), told.text.as_str()), (1, 1, "x"));
    assert_eq!(told.started[0].1.detail, "allowed by a hook: it is late");
    let told = bench(no()).run(input("x")).await;
    assert_eq!(told.text, "Not allowed by a hook: not on Fridays. Nothing was run.");
    let mut person = bench(PermissionSaid::Pass);
    person.answer = Some(Answer::Allow { updated_input: None, reason: by_person() });
    let told = person.run(input("x")).await;
    assert_eq!((told.by_hook.len(), told.text.as_str()), (0, "x"));
}

/// A hook's yes does not get past a rule that denies, and what it writes is validated.
#[tokio::test]
async fn a_hook_s_yes_is_no_more_than_a_person_s() {
    let changed = PermissionSaid::Allow { reason: String::new(), updated_input: Some(input("y")) };
    let told = bench(changed).run(input("x")).await;
    assert_eq!(told.started[0].0, input("y"));
    let broken = PermissionSaid::Allow { reason: String::new(), updated_input: Some(json!({})) };
    let told = bench(broken).run(input("x")).await;
    assert!(told.started.is_empty() && told.text.contains("must be a string"), "{}", told.text);
}

/// Row P18: what a person sends along with a no reaches the model with it.
#[tokio::test]
async fn a_no_may_carry_pictures() {
    let picture = ContentBlock::Image { media_type: "image/png".into(), data: "AAAA".into() };
    let mut bench = Bench::new(StandIn::gives(said_x()).asks());
    let content = vec![picture.clone()];
    bench.answer =
        Some(Answer::Deny { text: "The person did not allow this call: so".into(), content, stops_turn: false });
    let told = bench.run(input("x")).await;
    assert_eq!(told.outcome.content.len(), 2);
    assert_eq!((told.outcome.content.last(), told.outcome.status), (Some(&picture), ToolStatus::Denied));
}

/// The question holds all that is shown; what is unusual in it is told, and nothing of it is changed.
#[tokio::test]
async fn a_question_shows_all() {
    let mut bench = Bench::new(StandIn::gives(said_x()).asks());
    bench.answer = Some(Answer::Allow { updated_input: None, reason: by_person() });
    let told = bench.run(input("a\u{200b}b")).await;
    let request = &told.asked[0];
    assert_eq!(request.input, input("a\u{200b}b"));
    assert_eq!(request.cwd, bench.dir.path().display().to_string());
    assert_eq!(request.notes, ["text holds characters that can't be seen (1): U+200B"]);
    assert_eq!(bench.run(input("ab")).await.asked[0].notes, Vec::<String>::new());
}

/// A tool whose title changes each time it is asked for stands for a file that changes while the question is open.
#[tokio::test]
async fn what_has_changed_since_it_was_shown_is_not_run() {
    let mut tool = StandIn::gives(said_x()).asks();
    tool.moves = true;
    let mut bench = Bench::new(tool);
    bench.answer = Some(Answer::Allow { updated_input: None, reason: by_person() });
    let told = bench.run(input("x")).await;
    assert!(told.started.is_empty() && told.outcome.is_error, "{}", told.text);
    assert!(told.text.contains("since the person was asked"), "{}", told.text);
}

/// A rule that denies counts against a call that was allowed before the rule was there.
#[tokio::test]
async fn a_rule_that_came_meanwhile_denies() {
    let mut bench = Bench::new(StandIn::gives(said_x()).asks());
    bench.answer = Some(Answer::Allow { updated_input: None, reason: by_person() });
    bench.policy_later = Some(denying());
    let told = bench.run(input("x")).await;
    assert_eq!((told.asked.len(), told.started.len()), (1, 0));
    assert!(told.text.contains("denied by the rule StandIn"), "{}", told.text);
}
