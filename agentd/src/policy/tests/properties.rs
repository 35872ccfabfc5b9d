//! What holds for every policy and every call.

use super::*;
use proptest::prelude::*;

const TIGHT: [&str; 12] = [
    "Bash",
    "Bash(git *)",
    "Bash(rm *)",
    "Bash(make)",
    "Read(secret/**)",
    "Edit(/src/**)",
    "Edit",
    "Read",
    "*",
    "Edit(//etc/**)",
    "Bash(* x)",
    "Tool(a:b)",
];

fn mode() -> impl Strategy<Value = Mode> {
    prop::sample::select(Mode::ALL.to_vec())
}

fn some_rules() -> impl Strategy<Value = Vec<SourcedRule>> {
    prop::collection::vec(prop::sample::select(TIGHT.to_vec()), 0..4).prop_map(|texts| rules(&texts))
}

fn some_policy() -> impl Strategy<Value = Policy> {
    (mode(), some_rules(), some_rules(), some_rules(), any::<bool>(), any::<bool>()).prop_map(
        |(mode, deny, ask, allow, loose_protected, headless)| Policy {
            rules: Rules { deny, ask, allow }.into(),
            loose_protected,
            headless,
            ..policy(mode)
        },
    )
}

fn some_file() -> impl Strategy<Value = FileUse> {
    let paths = ["/w/src/a.rs", "/w/secret/key", "/etc/passwd", "/w/.git/config", "/data/x"];
    let zones = [Zone::Inside, Zone::System, Zone::Outside, Zone::Protected, Zone::Secret, Zone::Critical];
    let accesses = [Access::Look, Access::Read, Access::Write, Access::Remove];
    let one = (prop::sample::select(paths.to_vec()), prop::sample::select(accesses.to_vec()));
    (one, prop::sample::select(zones.to_vec()), any::<bool>())
        .prop_map(|((path, access), zone, below)| FileUse { below, ..file(path, access, zone) })
}

fn some_command() -> impl Strategy<Value = CommandUse> {
    let texts = ["git status", "rm x", "make", "make x", "echo a > b", "find . -delete"];
    let classes = [Class::ReadOnly, Class::Edits, Class::Unknown];
    let one = (prop::sample::select(texts.to_vec()), prop::sample::select(classes.to_vec()));
    let files = || prop::collection::vec(some_file(), 0..3);
    (one, (files(), files()), any::<bool>(), any::<bool>(), any::<bool>()).prop_map(
        |((text, class), (files, named), unknown, removes, hidden)| CommandUse {
            files,
            named,
            hidden,
            unknown_path: unknown.then(|| "$x".to_owned()),
            removes_unknown: unknown && removes,
            ..command(text, class)
        },
    )
}

fn some_call() -> impl Strategy<Value = Given> {
    let own = prop::sample::select(checks().to_vec());
    let lines = (prop::collection::vec(some_command(), 0..4), any::<bool>()).prop_map(|(parts, refused)| {
        let mut given = Given::line(parts);
        if let Subject::Commands(commands) = &mut given.subject {
            commands.refused = refused.then(|| "odd".to_owned());
        }
        given
    });
    let files = prop::collection::vec(some_file(), 1..3)
        .prop_map(|files| Given { subject: Subject::Files(files), ..Given::new("Edit", reads()) });
    let plain = own.prop_map(|own| Given { input: json!({"a": "b"}), ..Given::new("Tool", own) });
    prop_oneof![lines, files, plain]
}

fn with(policy: &Policy, change: impl FnOnce(&mut Rules)) -> Policy {
    let mut rules = (*policy.rules).clone();
    change(&mut rules);
    Policy { rules: rules.into(), ..policy.clone() }
}

proptest! {
    /// Row P01: what is denied stays denied, whatever allow rules, hooks, classifiers and people's rules are added.
    #[test]
    fn a_deny_is_never_undone(policy in some_policy(), given in some_call(), allow in some_rules()) {
        let denying = with(&policy, |rules| rules.deny.extend(testing::rules(&["Bash", "Edit", "Tool"])));
        let more = with(&denying, |rules| rules.allow.extend(allow.clone()));
        let more = Policy { session: allow, mode: Mode::BypassPermissions, loose_protected: true, ..more };
        let call = Call { hook: Some(HookSays::Allow("x")), classifier: Classifier::Allows, answer: Some(HookAnswer::Allow("x")), ..given.call() };
        let found = decide(&more, call);
        prop_assert_eq!(outcome(&found), ("deny", 1));
    }

    /// Row P02: a deny or ask rule more makes no decision milder, in any mode.
    #[test]
    fn a_rule_that_tightens_never_loosens(policy in some_policy(), given in some_call(), more in some_rules(), hook in any::<bool>()) {
        let hook = hook.then_some(HookSays::Allow("x"));
        let before = decide(&policy, Call { hook, ..given.call() });
        let denied = decide(&with(&policy, |rules| rules.deny.extend(more.clone())), Call { hook, ..given.call() });
        let asked = decide(&with(&policy, |rules| rules.ask.extend(more)), Call { hook, ..given.call() });
        prop_assert!(denied.verdict >= before.verdict, "{:?} {:?}", before, denied);
        prop_assert!(asked.verdict >= before.verdict, "{:?} {:?}", before, asked);
    }

    /// Row P08: an allow rule more makes no decision stricter, and changes none that a rule or a safety check made.
    #[test]
    fn an_allow_rule_changes_only_what_the_mode_decides(policy in some_policy(), given in some_call(), more in some_rules()) {
        let before = given.decide(&Policy { headless: false, ..policy.clone() });
        let after = given.decide(&with(&Policy { headless: false, ..policy }, |rules| rules.allow.extend(more)));
        prop_assert!(after.verdict <= before.verdict);
        if before.reason.layer < 8 {
            prop_assert_eq!(after.verdict, before.verdict);
        }
    }

    /// Row P17: a hook's allow never beats a rule, a safety check or the tool's own word.
    #[test]
    fn a_hook_s_allow_beats_nothing_but_the_mode(policy in some_policy(), given in some_call()) {
        let before = given.decide(&Policy { headless: false, ..policy.clone() });
        let after = decide(&Policy { headless: false, ..policy }, Call { hook: Some(HookSays::Allow("x")), ..given.call() });
        prop_assert!(after.verdict <= before.verdict);
        if before.reason.layer < 9 {
            prop_assert_eq!(after.verdict, before.verdict, "{:?}", before);
        }
    }

    /// Row B06: a line is never milder than any of its commands, and a command more never makes it milder.
    #[test]
    fn merging_is_monotone(policy in some_policy(), parts in prop::collection::vec(some_command(), 1..4), more in some_command()) {
        let policy = Policy { headless: false, ..policy };
        let whole = Given::line(parts.clone()).decide(&policy);
        let longer = Given::line(parts.iter().cloned().chain([more]).collect()).decide(&policy);
        prop_assert!(longer.verdict >= whole.verdict);
        for part in parts {
            prop_assert!(whole.verdict >= Given::line(vec![part]).decide(&policy).verdict);
        }
    }

    /// Row P16: a reason is never empty, and the trace ends with it.
    #[test]
    fn a_reason_is_never_empty(policy in some_policy(), given in some_call()) {
        let (decision, steps) = explain(&policy, given.call());
        prop_assert!(!decision.reason.detail.trim().is_empty());
        prop_assert!((1..=13).contains(&decision.reason.layer));
        prop_assert_eq!(steps.len(), usize::from(decision.reason.layer));
        prop_assert_eq!(&steps.last().unwrap().detail, &decision.reason.detail);
    }
}

proptest! {
    /// What is offered with a question lets the same call run, and is offered only where that helps.
    #[test]
    fn what_is_offered_is_enough(policy in some_policy(), given in some_call()) {
        let policy = Policy { headless: false, ..policy };
        let offered = suggest(&policy, &given.call(), &given.decide(&policy));
        if !offered.is_empty() {
            let rule = |one: Suggested| SourcedRule { rule: one.rule, source: Source::session("/w".into()) };
            prop_assert!(offered.len() <= 5);
            let after = given.decide(&Policy { session: offered.into_iter().map(rule).collect(), ..policy });
            prop_assert_eq!(after.verdict, Verdict::Allow);
        }
    }

    /// Any text of a command can be a rule that is read back to the letter, and speaks of that command.
    #[test]
    fn any_command_can_be_a_rule(text in "[a-z*:(){}\\\\ \"'$;|\u{e9}]{1,20}") {
        let text = text.trim();
        if let Ok(rule) = Rule::of_command(text) {
            prop_assert_eq!(Rule::parse(&rule.to_string()).unwrap(), rule.clone());
            let policy = Policy { session: vec![SourcedRule { rule, source: Source::session("/w".into()) }], ..policy(Mode::Default) };
            prop_assert_eq!(Given::line(vec![command(text, Class::Unknown)]).decide(&policy).verdict, Verdict::Allow);
        } else {
            prop_assert!(text.is_empty());
        }
    }

    /// No text makes parsing panic, and what is parsed is written as it was.
    #[test]
    fn any_text_is_a_rule_or_an_error(text in "\\PC{0,30}", tool in prop::sample::select(vec!["Bash", "Read", "WebFetch", "Skill", "X"])) {
        let _ = Rule::parse(&text);
        if let Ok(rule) = Rule::parse(&format!("{tool}({text})")) {
            prop_assert_eq!(rule.to_string(), format!("{tool}({text})"));
            let _ = [Behaviour::Deny, Behaviour::Ask, Behaviour::Allow].map(|behaviour| rule.warnings(behaviour));
        }
    }
}
