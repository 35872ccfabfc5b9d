//! The ordered layers 1 to 9, for one unit of a call. A layer that denies ends it; one that asks is kept, since a
//! later one may still deny; one that allows ends it only where none has asked. Called by `decide`.

use super::broad::is_broad;
use super::decide::{Call, HookSays, Policy, Verdict};
use super::judge::{About, Rank, Unit, only_reads};
use super::matching::{Matching, Tightens, may_speak_of_lines};
use super::source::SourcedRule;
use super::trace::{Outcome, Steps};
use proto::permission::{DecisionReason, ReasonType};
use proto::session::Mode;

/// What became of a unit.
#[derive(Debug, Clone)]
pub(super) struct Walked {
    pub verdict: Verdict,
    pub reason: DecisionReason,
    pub steps: Steps,
}

/// Takes a unit through the layers.
pub(super) fn walk(policy: &Policy, call: &Call<'_>, unit: &Unit<'_>) -> Walked {
    let matching = Matching { call, places: &policy.places, mode: policy.mode };
    let mut layers = Layers { policy, call, unit, matching, steps: Steps::default(), asked: None };
    let (verdict, reason) = layers.decide();
    let mut steps = layers.steps;
    steps.set(reason.layer, verdict.into(), &reason.detail);
    Walked { verdict, reason, steps }
}

struct Layers<'a> {
    policy: &'a Policy,
    call: &'a Call<'a>,
    unit: &'a Unit<'a>,
    matching: Matching<'a>,
    steps: Steps,
    asked: Option<DecisionReason>,
}

impl Layers<'_> {
    fn decide(&mut self) -> (Verdict, DecisionReason) {
        let tightened = self.by_tightening_rule().or_else(|| self.by_own_check()).or_else(|| self.by_mode());
        if let Some(denied) = tightened {
            return (Verdict::Deny, denied);
        }
        if let Some(asked) = self.asked.take() {
            return (Verdict::Ask, asked);
        }
        if self.policy.mode == Mode::BypassPermissions {
            return (Verdict::Allow, because(ReasonType::Mode, 7, "mode bypassPermissions"));
        }
        if let Some(rule) = self.allow_rule() {
            return (Verdict::Allow, by_rule(8, rule, format!("allowed by the rule {}", rule.rule)));
        }
        self.otherwise()
    }

    /// Layers 1 and 2. A hook's question counts as one that a rule of the person wants.
    fn by_tightening_rule(&mut self) -> Option<DecisionReason> {
        let rules = &self.policy.rules;
        if let Some(rule) = self.matching.tightening(&rules.deny, self.unit, Tightens::Denies) {
            return Some(by_rule(1, rule, format!("denied by the rule {}", rule.rule)));
        }
        if let Some(rule) = self.matching.tightening(&rules.ask, self.unit, Tightens::AsksAlways) {
            self.ask(by_rule(2, rule, format!("the rule {} wants a question", rule.rule)));
        }
        if let Some(HookSays::Ask(why)) = self.call.hook {
            self.ask(because(ReasonType::Hook, 2, &format!("a hook wants a question: {why}")));
        }
        None
    }

    /// Layers 3 to 6.
    fn by_own_check(&mut self) -> Option<DecisionReason> {
        let detail = self.unit.judgement.detail.clone();
        match self.unit.judgement.rank {
            Rank::Forbidden => return Some(because(ReasonType::Tool, 3, &detail)),
            Rank::NeedsPerson => self.ask(because(ReasonType::Tool, 4, &detail)),
            _ => {}
        }
        self.ask_by_content();
        let loosened = self.policy.loose_protected && self.policy.mode == Mode::BypassPermissions;
        match self.unit.judgement.rank {
            Rank::Protected if !loosened => self.ask(because(ReasonType::SafetyCheck, 6, &detail)),
            Rank::Unsafe => self.ask(because(ReasonType::SafetyCheck, 6, &detail)),
            _ => {}
        }
        None
    }

    /// Layer 5. Of a line that is not understood any rule might speak.
    fn ask_by_content(&mut self) {
        let rules = &self.policy.rules;
        if let Some(rule) = self.matching.tightening(&rules.ask, self.unit, Tightens::AsksSome) {
            self.ask(by_rule(5, rule, format!("the rule {} wants a question", rule.rule)));
        } else if let Some(rule) = self.matching.denying_below(&rules.deny, self.unit) {
            let detail = format!("it may read what the rule {} denies; Grep leaves that out", rule.rule);
            self.ask(by_rule(5, rule, detail));
        } else if let Some((file, rule)) = self.matching.named(rules, self.unit) {
            let name = self.policy.places.shown(&file.path);
            let detail = format!("it is not known what it does, and it names {name}, of which {} speaks", rule.rule);
            self.ask(by_rule(5, rule, detail));
        } else if let Some(rule) = self.matching.of_hidden(rules, self.unit) {
            let detail = format!("what it runs is not known before it runs, so the rule {} may speak of it", rule.rule);
            self.ask(by_rule(5, rule, detail));
        } else if let About::Line(commands) = self.unit.about {
            let mut rules = rules.deny.iter().chain(&rules.ask);
            if let Some(rule) = rules.find(|rule| may_speak_of_lines(rule)) {
                let why = commands.refused.as_deref().unwrap_or_default();
                let detail = format!("the line is not understood ({why}), so the rule {} may speak of it", rule.rule);
                self.ask(by_rule(5, rule, detail));
            }
        }
    }

    /// Layer 7, so far as it denies: mode `plan` only reads, whoever would allow more.
    fn by_mode(&self) -> Option<DecisionReason> {
        let reads = matches!(self.unit.judgement.rank, Rank::Reads | Rank::NeedsPerson) || only_reads(self.unit);
        let detail = "mode plan only reads: finish the plan, then the person changes the mode";
        (self.policy.mode == Mode::Plan && !reads).then(|| because(ReasonType::Mode, 7, detail))
    }

    /// Layer 8.
    fn allow_rule(&self) -> Option<&'_ SourcedRule> {
        let all = self.policy.rules.allow.iter().chain(&self.policy.session);
        let rules: Vec<&SourcedRule> =
            all.filter(|rule| self.policy.mode != Mode::Auto || !is_broad(&rule.rule)).collect();
        self.matching.allowing(&rules, self.unit)
    }

    /// Layer 9. In mode `auto` edits are taken by the fast path of layer 12.
    fn otherwise(&self) -> (Verdict, DecisionReason) {
        let detail = self.unit.judgement.detail.as_str();
        match (self.unit.judgement.rank, self.policy.mode, self.call.hook) {
            (Rank::Reads, ..) => (Verdict::Allow, because(ReasonType::Tool, 9, detail)),
            (Rank::Edits, Mode::AcceptEdits, _) => {
                (Verdict::Allow, because(ReasonType::Mode, 9, &format!("mode acceptEdits: {detail}")))
            }
            (Rank::Edits, Mode::Auto, _) => {
                (Verdict::Allow, because(ReasonType::Mode, 12, &format!("mode auto allows edits: {detail}")))
            }
            (.., Some(HookSays::Allow(why))) => {
                (Verdict::Allow, because(ReasonType::Hook, 9, &format!("allowed by a hook: {why}")))
            }
            _ => (Verdict::Ask, because(ReasonType::Mode, 9, detail)),
        }
    }

    fn ask(&mut self, reason: DecisionReason) {
        self.steps.set(reason.layer, Outcome::Ask, &reason.detail);
        self.asked.get_or_insert(reason);
    }
}

pub(super) fn because(kind: ReasonType, layer: u8, detail: &str) -> DecisionReason {
    let detail = if detail.trim().is_empty() { "no reason was given" } else { detail };
    DecisionReason { kind, layer, detail: detail.to_owned(), rule: None, source: None }
}

fn by_rule(layer: u8, rule: &SourcedRule, detail: String) -> DecisionReason {
    DecisionReason {
        rule: Some(rule.rule.to_string()),
        source: Some(rule.source.shown()),
        ..because(ReasonType::Rule, layer, &detail)
    }
}
