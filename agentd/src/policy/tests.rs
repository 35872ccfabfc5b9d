//! The decision as a whole: tables over layers, verdicts and modes. Properties are in `properties`, the parts of lines in
//! `lines`.

mod lines;
mod offers;
mod properties;

use super::testing::{places, rule, rules};
use super::*;
use crate::shell::{Access, Class};
use proto::permission::ReasonType;
use proto::session::Mode;
use serde_json::{Value, json};

/// A call of Bash or another tool, ready to be decided with any policy.
#[derive(Debug)]
pub(super) struct Given {
    pub tool: &'static str,
    pub input: Value,
    pub subject: Subject,
    pub own: OwnCheck,
}

impl Given {
    fn new(tool: &'static str, own: OwnCheck) -> Self {
        Self { tool, input: json!({}), subject: Subject::Fields, own }
    }

    /// A line of these commands.
    pub fn line(parts: Vec<CommandUse>) -> Self {
        let line = parts.iter().map(|part| part.text.as_str()).collect::<Vec<_>>().join("; ");
        let input = json!({"command": line});
        let subject = Subject::Commands(Commands { line, parts, refused: None });
        Self { tool: "Bash", input, subject, own: reads() }
    }

    /// A call of a file tool.
    pub fn file(tool: &'static str, path: &str, access: Access, zone: Zone) -> Self {
        let subject = Subject::Files(vec![file(path, access, zone)]);
        Self { tool, input: json!({"file_path": path}), subject, own: reads() }
    }

    pub fn call(&self) -> Call<'_> {
        Call::new(self.tool, &self.input, &self.subject, &self.own)
    }

    pub fn decide(&self, policy: &Policy) -> Decision {
        decide(policy, self.call())
    }

    /// The verdict and its layer.
    fn outcome(&self, policy: &Policy) -> (&'static str, u8) {
        outcome(&self.decide(policy))
    }
}

pub(super) fn outcome(decision: &Decision) -> (&'static str, u8) {
    let verdict = match decision.verdict {
        Verdict::Allow => "allow",
        Verdict::Ask => "ask",
        Verdict::Deny => "deny",
    };
    (verdict, decision.reason.layer)
}

pub(super) fn reads() -> OwnCheck {
    OwnCheck::Reads("nothing against it".to_owned())
}

pub(super) fn file(path: &str, access: Access, zone: Zone) -> FileUse {
    FileUse { path: path.into(), real: path.into(), below: false, access, zone }
}

/// A command of which nothing but its class is known.
pub(super) fn command(text: &str, class: Class) -> CommandUse {
    CommandUse {
        text: text.to_owned(),
        plain: text.to_owned(),
        forms: vec![text.to_owned()],
        class,
        why: format!("{text} is as it is"),
        files: Vec::new(),
        unknown_path: None,
        removes_unknown: false,
        named: Vec::new(),
        hidden: false,
    }
}

pub(super) fn policy(mode: Mode) -> Policy {
    Policy { mode, places: places(), ..Policy::default() }
}

pub(super) fn with_rules(mode: Mode, deny: &[&str], ask: &[&str], allow: &[&str]) -> Policy {
    let rules = Rules { deny: rules(deny), ask: rules(ask), allow: rules(allow) };
    Policy { rules: rules.into(), ..policy(mode) }
}

fn checks() -> [OwnCheck; 6] {
    let text = || "why".to_owned();
    [
        OwnCheck::Reads(text()),
        OwnCheck::Edits(text()),
        OwnCheck::Unsure(text()),
        OwnCheck::Unsafe(text()),
        OwnCheck::Forbidden(text()),
        OwnCheck::NeedsPerson(text()),
    ]
}

fn outcomes(policy: &Policy) -> [(&'static str, u8); 6] {
    checks().map(|own| Given::new("Tool", own).outcome(policy))
}

/// Rows T14, P03, P04, P07, P09, P11: what each mode makes of each opinion of a tool, where no rule speaks. A tool that
/// needs a person asks in every mode, also in bypass, where nothing else that is plain is asked; dontAsk turns the
/// question into a denial.
#[test]
fn modes_and_checks() {
    let expected = |mode: Mode| match mode {
        Mode::Default => [("allow", 9), ("ask", 9), ("ask", 9), ("ask", 6), ("deny", 3), ("ask", 4)],
        Mode::AcceptEdits => [("allow", 9), ("allow", 9), ("ask", 9), ("ask", 6), ("deny", 3), ("ask", 4)],
        Mode::Auto => [("allow", 9), ("allow", 12), ("ask", 9), ("ask", 6), ("deny", 3), ("ask", 4)],
        Mode::Plan => [("allow", 9), ("deny", 7), ("deny", 7), ("deny", 7), ("deny", 3), ("ask", 4)],
        Mode::DontAsk => [("allow", 9), ("deny", 11), ("deny", 11), ("deny", 11), ("deny", 3), ("deny", 11)],
        Mode::BypassPermissions => [("allow", 7), ("allow", 7), ("allow", 7), ("ask", 6), ("deny", 3), ("ask", 4)],
    };
    for mode in Mode::ALL {
        assert_eq!(outcomes(&policy(mode)), expected(mode), "{mode:?}");
    }
}

/// Rows P01, P02, P21: a deny is never undone, and an ask never skipped, whatever else is said; an ask makes nothing
/// milder that was denied without it.
#[test]
fn deny_beats_ask_beats_allow_in_every_mode() {
    for mode in Mode::ALL {
        for own in checks() {
            let given = Given::new("Tool", own.clone());
            let asked = given.outcome(&with_rules(mode, &[], &["Tool"], &["Tool"]));
            let expected = match (&own, mode) {
                (OwnCheck::Forbidden(_), _) => ("deny", 3),
                (OwnCheck::Reads(_) | OwnCheck::NeedsPerson(_), Mode::Plan) => ("ask", 2),
                (_, Mode::Plan) => ("deny", 7),
                (_, Mode::DontAsk) => ("deny", 11),
                _ => ("ask", 2),
            };
            assert_eq!(asked, expected, "{mode:?} {own:?}");
            assert_eq!(given.outcome(&with_rules(mode, &["Tool"], &["Tool"], &["Tool"])), ("deny", 1));
        }
    }
}

/// Row P08: an allow rule lets a call run, but not past a safety check, a tool's need of a person or its denial.
#[test]
fn an_allow_rule_lets_a_call_run_but_not_past_a_safety_check() {
    let found = outcomes(&with_rules(Mode::Default, &[], &[], &["Tool"]));
    assert_eq!(found, [("allow", 8), ("allow", 8), ("allow", 8), ("ask", 6), ("deny", 3), ("ask", 4)]);
}

/// Row P17: a hook's allow takes the place of a person's yes, in dontAsk too; rules, safety checks and mode
/// plan hold (contradiction C6).
#[test]
fn a_hook_s_allow_removes_the_question_and_nothing_else() {
    let expected = |mode: Mode| match mode {
        Mode::Default => [("allow", 9), ("allow", 9), ("allow", 9), ("ask", 6), ("deny", 3), ("ask", 4)],
        Mode::AcceptEdits => [("allow", 9), ("allow", 9), ("allow", 9), ("ask", 6), ("deny", 3), ("ask", 4)],
        Mode::Auto => [("allow", 9), ("allow", 12), ("allow", 9), ("ask", 6), ("deny", 3), ("ask", 4)],
        Mode::Plan => [("allow", 9), ("deny", 7), ("deny", 7), ("deny", 7), ("deny", 3), ("ask", 4)],
        Mode::DontAsk => [("allow", 9), ("allow", 9), ("allow", 9), ("deny", 11), ("deny", 3), ("deny", 11)],
        Mode::BypassPermissions => [("allow", 7), ("allow", 7), ("allow", 7), ("ask", 6), ("deny", 3), ("ask", 4)],
    };
    for mode in Mode::ALL {
        let found = checks().map(|own| {
            let given = Given::new("Tool", own);
            outcome(&decide(&policy(mode), Call { hook: Some(HookSays::Allow("fine")), ..given.call() }))
        });
        assert_eq!(found, expected(mode), "{mode:?}");
    }
}

#[test]
fn a_hook_s_ask_adds_a_question_in_every_mode() {
    for mode in Mode::ALL {
        let given = Given::new("Tool", reads());
        let found = decide(&policy(mode), Call { hook: Some(HookSays::Ask("look")), ..given.call() });
        assert_eq!(outcome(&found), if mode == Mode::DontAsk { ("deny", 11) } else { ("ask", 2) }, "{mode:?}");
        assert!(found.reason.detail.contains("look"));
    }
}

/// Row P06: what other programs obey is not changed unasked in any mode, and critical removals and secrets are asked
/// about too; a setting lets bypass change protected paths, and nothing else (contradiction C4).
#[test]
fn safety_checks_ask_in_bypass_too() {
    let cases = [
        ("/w/.git/config", Access::Write, Zone::Protected, true),
        ("/w/.git", Access::Remove, Zone::Protected, true),
        ("/w", Access::Remove, Zone::Critical, false),
        ("/home/me/.ssh/id_rsa", Access::Read, Zone::Secret, false),
    ];
    for (path, access, zone, loosened) in cases {
        let given = Given::file("Edit", path, access, zone);
        let mut bypass = with_rules(Mode::BypassPermissions, &[], &[], &["Edit", "Read", "Edit(//**)"]);
        let decision = given.decide(&bypass);
        assert_eq!(outcome(&decision), ("ask", 6), "{path}");
        assert_eq!(decision.reason.kind, ReasonType::SafetyCheck);
        assert!(decision.reason.detail.contains(path), "{decision:?}");
        bypass.loose_protected = true;
        assert_eq!(given.outcome(&bypass), if loosened { ("allow", 7) } else { ("ask", 6) }, "{path}");
        let loose = Policy { mode: Mode::AcceptEdits, ..bypass };
        assert_eq!(given.outcome(&loose), ("ask", 6), "{path}: only bypass is loosened");
    }
}

/// Where a file is and what is done to it decide, where no rule speaks.
#[test]
fn zones_and_modes() {
    for (access, zone, default, edits, bypass) in [
        (Access::Read, Zone::Inside, ("allow", 9), ("allow", 9), ("allow", 7)),
        (Access::Read, Zone::System, ("allow", 9), ("allow", 9), ("allow", 7)),
        (Access::Read, Zone::Outside, ("ask", 9), ("ask", 9), ("allow", 7)),
        (Access::Look, Zone::Outside, ("allow", 9), ("allow", 9), ("allow", 7)),
        (Access::Look, Zone::Secret, ("ask", 6), ("ask", 6), ("ask", 6)),
        (Access::Write, Zone::Inside, ("ask", 9), ("allow", 9), ("allow", 7)),
        (Access::Remove, Zone::Inside, ("ask", 9), ("allow", 9), ("allow", 7)),
        (Access::Write, Zone::System, ("ask", 9), ("ask", 9), ("allow", 7)),
        (Access::Write, Zone::Outside, ("ask", 9), ("ask", 9), ("allow", 7)),
        (Access::Remove, Zone::Outside, ("ask", 9), ("ask", 9), ("allow", 7)),
        (Access::Write, Zone::Secret, ("ask", 6), ("ask", 6), ("ask", 6)),
    ] {
        let given = Given::file("Any", "/p", access, zone.clone());
        let found =
            [Mode::Default, Mode::AcceptEdits, Mode::BypassPermissions].map(|mode| given.outcome(&policy(mode)));
        assert_eq!(found, [default, edits, bypass], "{access:?} {zone:?}");
    }
}

/// Row P12: in auto, edits inside run by the fast path and reads by the safe list, the classifier decides what else
/// would be asked, one that is unavailable denies, and after three denials in a row, or twenty in all, a person is asked.
#[test]
fn auto_asks_its_classifier_and_after_too_many_denials_a_person() {
    let given = Given::new("Tool", OwnCheck::Unsure("why".to_owned()));
    let decide_with = |counters: Counters, classifier: Classifier<'_>| {
        let auto = Policy { counters, ..policy(Mode::Auto) };
        decide(&auto, Call { classifier, ..given.call() })
    };
    let fresh = Counters::default();
    assert_eq!(outcome(&decide_with(fresh, Classifier::NotAsked)), ("ask", 9));
    assert_eq!(outcome(&decide_with(fresh, Classifier::Allows)), ("allow", 12));
    assert_eq!(outcome(&decide_with(fresh, Classifier::Unavailable)), ("deny", 12));
    let blocked = decide_with(fresh, Classifier::Blocks("it pushes"));
    assert_eq!(outcome(&blocked), ("deny", 12));
    assert!(blocked.reason.detail.contains("it pushes"));
    let mut counters = fresh;
    for _ in 0..3 {
        assert_eq!(outcome(&decide_with(counters, Classifier::Blocks("no"))), ("deny", 12));
        counters = counters.after(&blocked);
    }
    let asked = decide_with(counters, Classifier::Blocks("no"));
    assert_eq!((outcome(&asked), asked.reason.kind), (("ask", 12), ReasonType::Classifier));
    assert_eq!(outcome(&decide_with(Counters { in_a_row: 0, total: 19 }, Classifier::Blocks("no"))), ("deny", 12));
    assert_eq!(outcome(&decide_with(Counters { in_a_row: 0, total: 20 }, Classifier::Blocks("no"))), ("ask", 12));
}

/// The classifier is asked in a person's place only where nothing but the mode wants a question.
#[test]
fn the_classifier_does_not_stand_over_rules_and_safety_checks() {
    let allows = |policy: &Policy, given: &Given| {
        outcome(&decide(policy, Call { classifier: Classifier::Allows, ..given.call() }))
    };
    let given = Given::new("Tool", OwnCheck::Unsure("why".to_owned()));
    assert_eq!(allows(&with_rules(Mode::Auto, &[], &["Tool"], &[]), &given), ("ask", 2));
    assert_eq!(allows(&policy(Mode::Auto), &Given::new("Tool", OwnCheck::Unsafe("why".to_owned()))), ("ask", 6));
    assert_eq!(allows(&policy(Mode::Default), &given), ("ask", 9), "there is no classifier in other modes");
}

/// Row P10: an allow ends the row of denials in auto; the sum of them stays.
#[test]
fn an_allow_ends_the_row_of_denials() {
    let allowed = Given::new("Tool", reads()).decide(&policy(Mode::Auto));
    let before = Counters { in_a_row: 2, total: 7 };
    assert_eq!(before.after(&allowed), Counters { in_a_row: 0, total: 7 });
    let asked = Given::new("Tool", OwnCheck::Unsure("why".to_owned())).decide(&policy(Mode::Auto));
    assert_eq!(before.after(&asked), before);
    let ruled = Given::new("Tool", reads()).decide(&with_rules(Mode::Auto, &["Tool"], &[], &[]));
    assert_eq!(before.after(&ruled), before, "a rule's denial is not the classifier's");
}

/// In auto, allow rules that leave nothing to judge are set aside.
#[test]
fn broad_allow_rules_are_set_aside_in_auto() {
    for (allow, line, kept) in [
        ("Bash", "make x", false),
        ("Bash(python *)", "python x.py", false),
        ("Bash(python3:*)", "python3 x.py", false),
        ("Bash(pyth*)", "python x.py", false),
        ("Bash(* x)", "make x", false),
        ("Bash(npm run *)", "npm run x", false),
        ("Bash(make:*)", "make x", false),
        ("Bash(python x.py)", "python x.py", true),
        ("Bash(git push *)", "git push x", true),
        ("Bash(npm test *)", "npm test x", true),
    ] {
        let given = Given::line(vec![command(line, Class::Unknown)]);
        let found = [Mode::Default, Mode::Auto].map(|mode| given.outcome(&with_rules(mode, &[], &[], &[allow])).0);
        assert_eq!(found, ["allow", if kept { "allow" } else { "ask" }], "{allow}");
    }
    let agent =
        Given { subject: Subject::Name("Explore".to_owned()), ..Given::new("Agent", OwnCheck::Unsure("x".to_owned())) };
    assert_eq!(agent.outcome(&with_rules(Mode::Auto, &[], &[], &["Agent(Explore)"])), ("ask", 9));
    assert_eq!(agent.outcome(&with_rules(Mode::Default, &[], &[], &["Agent(Explore)"])), ("allow", 8));
}

/// Row P13: with nobody to ask, a PermissionRequest hook answers, and without one the call is denied, with the reason
/// for which it would have been asked.
#[test]
fn headless_a_hook_answers_or_the_call_is_denied() {
    let given = Given::new("Tool", OwnCheck::Unsure("it may do harm".to_owned()));
    let headless = Policy { headless: true, ..policy(Mode::Default) };
    let answered = |answer| decide(&headless, Call { answer, ..given.call() });
    let denied = answered(None);
    assert_eq!((outcome(&denied), denied.reason.kind), (("deny", 13), ReasonType::Headless));
    assert!(denied.reason.detail.contains("it may do harm"), "{denied:?}");
    let allowed = answered(Some(HookAnswer::Allow("fine")));
    assert_eq!((outcome(&allowed), allowed.reason.kind), (("allow", 13), ReasonType::Hook));
    assert_eq!(outcome(&answered(Some(HookAnswer::Deny("no")))), ("deny", 13));
    let denied = Policy { headless: true, ..with_rules(Mode::Default, &["Tool"], &[], &[]) };
    let found = decide(&denied, Call { answer: Some(HookAnswer::Allow("fine")), ..given.call() });
    assert_eq!(outcome(&found), ("deny", 1), "a denial is no question");
    // In auto the classifier is heard before it matters that nobody is there.
    let auto = Policy { headless: true, ..policy(Mode::Auto) };
    let heard = |classifier| outcome(&decide(&auto, Call { classifier, ..given.call() }));
    assert_eq!(heard(Classifier::Allows), ("allow", 12));
    assert_eq!(heard(Classifier::Blocks("no")), ("deny", 12));
    assert_eq!(heard(Classifier::NotAsked), ("deny", 13));
    assert_eq!(Given::new("Tool", reads()).outcome(&headless), ("allow", 9));
}

/// Row P18: what a hook wants to be seen goes along with a question and a denial.
#[test]
fn a_hook_s_blocks_go_along() {
    let picture = proto::content::ContentBlock::text("as a picture");
    let blocks = [picture];
    let given = Given::new("Tool", OwnCheck::Unsure("why".to_owned()));
    let of = |policy: &Policy| decide(policy, Call { blocks: &blocks, ..given.call() }).blocks;
    assert_eq!(of(&policy(Mode::Default)), blocks);
    assert_eq!(of(&policy(Mode::DontAsk)), blocks);
    assert_eq!(of(&policy(Mode::BypassPermissions)), []);
}

/// Row P15: the reason names the rule with the kind and file of its source, of several the first in the order of
/// sources (contradiction C5).
#[test]
fn the_reason_names_the_source() {
    let given = Given::new("Tool", OwnCheck::Unsure("why".to_owned()));
    let kinds = [
        SourceKind::Managed,
        SourceKind::CommandLine,
        SourceKind::Command,
        SourceKind::Session,
        SourceKind::User,
        SourceKind::Project,
        SourceKind::Local,
    ];
    for (at, kind) in kinds.into_iter().enumerate() {
        let allow = kinds.iter().skip(at).rev().map(|kind| rule("Tool", *kind)).collect();
        let policy = Policy { rules: Rules { allow, ..Rules::default() }.into(), ..policy(Mode::Default) };
        let reason = given.decide(&policy).reason;
        let name = kind.name();
        assert_eq!(reason.source.as_deref(), Some(format!("{name} (/w/.claude/{name}.json)").as_str()));
        assert_eq!(reason.rule.as_deref(), Some("Tool"));
        let listed = |text: &str| kinds.iter().skip(at).rev().map(|kind| rule(text, *kind)).collect::<Vec<_>>();
        let read = Given::file("Read", "/data/x", Access::Read, Zone::Outside);
        let by = |rules: Rules, given: &Given| {
            given.decide(&Policy { rules: rules.into(), ..policy.clone() }).reason.source.unwrap()
        };
        let source = format!("{name} (/w/.claude/{name}.json)");
        assert_eq!(by(Rules { deny: listed("Tool"), ..Rules::default() }, &given), source);
        assert_eq!(by(Rules { ask: listed("Tool"), ..Rules::default() }, &given), source);
        assert_eq!(by(Rules { allow: listed("Read(//data/**)"), ..Rules::default() }, &read), source);
    }
    let session = vec![SourcedRule { rule: Rule::parse("Tool").unwrap(), source: Source::session("/w".into()) }];
    let remembered = Policy { session, ..policy(Mode::Default) };
    assert_eq!(given.decide(&remembered).reason.source.as_deref(), Some("session"));
}

/// Rows P16, P21: each outcome has a reason that says something, and a trace with one step for each layer up to the one
/// that decided, whose word is the last.
#[test]
fn every_outcome_has_a_reason_and_a_trace() {
    let policies = Mode::ALL.into_iter().flat_map(|mode| {
        let plain = policy(mode);
        let headless = Policy { headless: true, ..plain.clone() };
        let lists: [[&[&str]; 3]; 4] =
            [[&["Tool"], &[], &[]], [&[], &["Tool"], &[]], [&[], &[], &["Tool"]], [&[], &["Tool(a:*)"], &[]]];
        let ruled = lists.map(|[deny, ask, allow]| with_rules(mode, deny, ask, allow));
        [plain, headless].into_iter().chain(ruled)
    });
    for policy in policies {
        for own in checks().into_iter().chain([OwnCheck::Unsure(String::new())]) {
            let given = Given { input: json!({"a": "b"}), ..Given::new("Tool", own) };
            let (decision, steps) = explain(&policy, given.call());
            assert_eq!(decision, decide(&policy, given.call()));
            assert!(!decision.reason.detail.trim().is_empty());
            let layers: Vec<u8> = steps.iter().map(|step| step.layer).collect();
            assert_eq!(layers, (1..=decision.reason.layer).collect::<Vec<_>>(), "{steps:?}");
            assert!(steps.iter().all(|step| !step.detail.trim().is_empty()));
            let last = steps.last().unwrap();
            assert_eq!((last.outcome, &last.detail), (decision.verdict.into(), &decision.reason.detail));
        }
    }
}
