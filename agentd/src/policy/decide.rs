//! The decision: numbered layers in a fixed order, the first that speaks decides. This version has
//! layers 1–4, 6–9 and 11; 5, 10, 12 and 13 belong to parts that are not built yet.

use super::rule::{Match, Rule};
use proto::permission::{DecisionReason, ReasonType};
use proto::session::Mode;
use serde_json::Value;

/// Rules and mode as they are when a call is decided.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Policy {
    /// The session's mode.
    pub mode: Mode,
    /// What never runs.
    pub deny: Vec<Rule>,
    /// What is asked.
    pub ask: Vec<Rule>,
    /// What runs unasked, with the name of the source.
    pub allow: Vec<(Rule, &'static str)>,
}

/// A call that is to be decided.
#[derive(Debug, Clone, Copy)]
pub struct Call<'a> {
    /// The tool.
    pub tool: &'a str,
    /// Its input.
    pub input: &'a Value,
    /// What the tool itself thinks of it.
    pub own: &'a OwnCheck,
    /// What a hook said of it.
    pub hook: Option<HookSays<'a>>,
}

/// What a hook said of a call, with its reason. A hook's denial is final and never gets here.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum HookSays<'a> {
    /// No question is needed. It takes the place of a person's yes, and of nothing else.
    Allow(&'a str),
    /// A question is.
    Ask(&'a str),
}

/// What a tool thinks of a call, with one sentence for people.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum OwnCheck {
    /// It only reads, inside the session's folders.
    Reads(String),
    /// It changes files inside the session's folders.
    Edits(String),
    /// A person should look at it.
    Unsure(String),
    /// It is itself a question to a person: no mode and no rule answers it.
    NeedsPerson(String),
    /// No mode lets it run without a person.
    Unsafe(String),
    /// It can't be allowed.
    Forbidden(String),
}

/// The outcome, with its reason.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Verdict {
    /// The call runs.
    Allow(DecisionReason),
    /// A person is asked.
    Ask(DecisionReason),
    /// The call does not run.
    Deny(DecisionReason),
}

/// Decides a call.
#[must_use]
pub fn decide(policy: &Policy, call: Call<'_>) -> Verdict {
    match with_hook(decide_before_mode(policy, call), call.hook) {
        Verdict::Ask(reason) if policy.mode == Mode::DontAsk => Verdict::Deny(DecisionReason {
            detail: format!("mode dontAsk denies what would be asked: {}", reason.detail),
            ..because(ReasonType::Mode, 11, String::new())
        }),
        verdict => verdict,
    }
}

/// A hook removes the question that nothing but the mode wants, and adds one in every mode; deny and ask rules and
/// safety checks hold.
fn with_hook(verdict: Verdict, hook: Option<HookSays<'_>>) -> Verdict {
    match (verdict, hook) {
        (Verdict::Ask(reason), Some(HookSays::Allow(why))) if reason.kind == ReasonType::Mode => {
            Verdict::Allow(because(ReasonType::Hook, 9, format!("allowed by a hook: {why}")))
        }
        (Verdict::Allow(_), Some(HookSays::Ask(why))) => {
            Verdict::Ask(because(ReasonType::Hook, 2, format!("a hook wants a question: {why}")))
        }
        (verdict, _) => verdict,
    }
}

fn decide_before_mode(policy: &Policy, call: Call<'_>) -> Verdict {
    if let Some(verdict) = by_tightening_rules(policy, call) {
        return verdict;
    }
    match call.own {
        OwnCheck::Forbidden(detail) => return Verdict::Deny(because(ReasonType::Tool, 3, detail)),
        OwnCheck::NeedsPerson(detail) => return Verdict::Ask(because(ReasonType::Tool, 4, detail)),
        OwnCheck::Unsafe(detail) => return Verdict::Ask(because(ReasonType::SafetyCheck, 6, detail)),
        OwnCheck::Reads(_) | OwnCheck::Edits(_) | OwnCheck::Unsure(_) => {}
    }
    if policy.mode == Mode::BypassPermissions {
        return Verdict::Allow(because(ReasonType::Mode, 7, "mode bypassPermissions"));
    }
    let reads = matches!(call.own, OwnCheck::Reads(_));
    if policy.mode == Mode::Plan && !reads {
        let detail = "mode plan only reads: finish the plan, then the person changes the mode";
        return Verdict::Deny(because(ReasonType::Mode, 7, detail));
    }
    let allowed =
        policy.allow.iter().find(|(rule, _)| !rule.is_glob() && rule.matches(call.tool, call.input) == Match::Yes);
    if let Some((rule, source)) = allowed {
        return Verdict::Allow(DecisionReason {
            source: Some((*source).to_owned()),
            ..by_rule(8, rule, format!("allowed by the rule {rule}"))
        });
    }
    match call.own {
        OwnCheck::Reads(detail) => Verdict::Allow(because(ReasonType::Tool, 9, detail)),
        OwnCheck::Edits(_) if policy.mode == Mode::AcceptEdits => {
            Verdict::Allow(because(ReasonType::Mode, 9, "mode acceptEdits"))
        }
        OwnCheck::Edits(detail)
        | OwnCheck::Unsure(detail)
        | OwnCheck::NeedsPerson(detail)
        | OwnCheck::Unsafe(detail)
        | OwnCheck::Forbidden(detail) => Verdict::Ask(because(ReasonType::Mode, 9, detail)),
    }
}

/// Layers 1 and 2. A deny rule whose pattern can't be judged asks, in every mode: it never widens anything.
fn by_tightening_rules(policy: &Policy, call: Call<'_>) -> Option<Verdict> {
    let find = |rules: &'_ [Rule], wanted: Match| {
        rules.iter().find(|rule| rule.matches(call.tool, call.input) == wanted).cloned()
    };
    if let Some(rule) = find(&policy.deny, Match::Yes) {
        return Some(Verdict::Deny(by_rule(1, &rule, format!("denied by the rule {rule}"))));
    }
    if let Some(rule) = find(&policy.ask, Match::Yes) {
        return Some(Verdict::Ask(by_rule(2, &rule, format!("the rule {rule} wants a question"))));
    }
    let unclear = find(&policy.deny, Match::Unclear).or_else(|| find(&policy.ask, Match::Unclear))?;
    let detail = format!("the rule {unclear} may speak of this call: patterns in rules are not understood yet");
    Some(Verdict::Ask(by_rule(2, &unclear, detail)))
}

fn because(kind: ReasonType, layer: u8, detail: impl AsRef<str>) -> DecisionReason {
    DecisionReason { kind, layer, detail: detail.as_ref().to_owned(), rule: None, source: None }
}

fn by_rule(layer: u8, rule: &Rule, detail: String) -> DecisionReason {
    DecisionReason { rule: Some(rule.to_string()), ..because(ReasonType::Rule, layer, detail) }
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    fn outcome(policy: &Policy, own: &OwnCheck) -> (&'static str, u8) {
        outcome_with(policy, own, None)
    }

    fn outcome_with(policy: &Policy, own: &OwnCheck, hook: Option<HookSays<'_>>) -> (&'static str, u8) {
        let input = json!({"command": "make"});
        match decide(policy, Call { tool: "Bash", input: &input, own, hook }) {
            Verdict::Allow(reason) => ("allow", reason.layer),
            Verdict::Ask(reason) => ("ask", reason.layer),
            Verdict::Deny(reason) => ("deny", reason.layer),
        }
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

    /// Rows T14, P04: a tool that needs a person asks in every mode, also in bypass, where nothing else that is
    /// plain is asked; dontAsk turns the question into a denial.
    #[test]
    fn modes_and_checks() {
        let expected = |mode: Mode| match mode {
            Mode::Default | Mode::Auto => [("allow", 9), ("ask", 9), ("ask", 9), ("ask", 6), ("deny", 3), ("ask", 4)],
            Mode::AcceptEdits => [("allow", 9), ("allow", 9), ("ask", 9), ("ask", 6), ("deny", 3), ("ask", 4)],
            Mode::Plan => [("allow", 9), ("deny", 7), ("deny", 7), ("ask", 6), ("deny", 3), ("ask", 4)],
            Mode::DontAsk => [("allow", 9), ("deny", 11), ("deny", 11), ("deny", 11), ("deny", 3), ("deny", 11)],
            Mode::BypassPermissions => [("allow", 7), ("allow", 7), ("allow", 7), ("ask", 6), ("deny", 3), ("ask", 4)],
        };
        for mode in Mode::ALL {
            let policy = Policy { mode, ..Policy::default() };
            let found = checks().map(|own| outcome(&policy, &own));
            assert_eq!(found, expected(mode), "{mode:?}");
        }
    }

    /// A deny is never undone, and an ask never skipped, whatever else is said (rows P01, P02).
    #[test]
    fn deny_beats_ask_beats_allow_in_every_mode() {
        let rule = || Rule::parse("Bash").unwrap();
        for mode in Mode::ALL {
            for own in checks() {
                let mut policy = Policy { mode, allow: vec![(rule(), "user")], ..Policy::default() };
                policy.ask.push(rule());
                let asked = outcome(&policy, &own);
                assert_eq!(asked, if mode == Mode::DontAsk { ("deny", 11) } else { ("ask", 2) });
                policy.deny.push(rule());
                assert_eq!(outcome(&policy, &own), ("deny", 1));
            }
        }
    }

    #[test]
    fn a_pattern_that_is_not_understood_tightens_and_never_widens() {
        let rule = || Rule::parse("Bash(ma*)").unwrap();
        let bypass = |policy: Policy| Policy { mode: Mode::BypassPermissions, ..policy };
        let deny = Policy { deny: vec![rule()], ..Policy::default() };
        assert_eq!(outcome(&bypass(deny), &checks()[2]), ("ask", 2));
        let allow = Policy { allow: vec![(rule(), "user")], ..Policy::default() };
        assert_eq!(outcome(&allow, &checks()[2]), ("ask", 9));
    }

    #[test]
    fn an_allow_rule_lets_a_call_run_but_not_past_a_safety_check() {
        let policy = Policy { allow: vec![(Rule::parse("Bash(make)").unwrap(), "user")], ..Policy::default() };
        assert_eq!(outcome(&policy, &checks()[2]), ("allow", 8));
        assert_eq!(outcome(&policy, &checks()[3]), ("ask", 6));
        assert_eq!(outcome(&policy, &checks()[5]), ("ask", 4));
    }

    /// Row P17: a hook's allow takes the place of a person's yes, in dontAsk too; rules, safety checks and mode
    /// plan hold (contradiction C6).
    #[test]
    fn a_hook_s_allow_removes_the_question_and_nothing_else() {
        let allow = Some(HookSays::Allow("fine"));
        let expected = |mode: Mode| match mode {
            Mode::Default | Mode::Auto | Mode::AcceptEdits => {
                [("allow", 9), ("allow", 9), ("allow", 9), ("ask", 6), ("deny", 3), ("ask", 4)]
            }
            Mode::Plan => [("allow", 9), ("deny", 7), ("deny", 7), ("ask", 6), ("deny", 3), ("ask", 4)],
            Mode::DontAsk => [("allow", 9), ("allow", 9), ("allow", 9), ("deny", 11), ("deny", 3), ("deny", 11)],
            Mode::BypassPermissions => [("allow", 7), ("allow", 7), ("allow", 7), ("ask", 6), ("deny", 3), ("ask", 4)],
        };
        for mode in Mode::ALL {
            let policy = Policy { mode, ..Policy::default() };
            assert_eq!(checks().map(|own| outcome_with(&policy, &own, allow)), expected(mode), "{mode:?}");
        }
        let rule = || Rule::parse("Bash").unwrap();
        let asked = Policy { ask: vec![rule()], ..Policy::default() };
        let denied = Policy { deny: vec![rule()], ..Policy::default() };
        for own in checks() {
            assert_eq!(outcome_with(&asked, &own, allow), ("ask", 2));
            assert_eq!(outcome_with(&denied, &own, allow), ("deny", 1));
        }
    }

    #[test]
    fn a_hook_s_ask_adds_a_question_in_every_mode() {
        for mode in Mode::ALL {
            let policy = Policy { mode, ..Policy::default() };
            let found = outcome_with(&policy, &checks()[0], Some(HookSays::Ask("look")));
            assert_eq!(found, if mode == Mode::DontAsk { ("deny", 11) } else { ("ask", 2) }, "{mode:?}");
        }
    }
}
