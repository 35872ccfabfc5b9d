//! The decision: thirteen numbered layers in a fixed order. Layers 1 to 9 judge each unit of a call; the strictest of
//! the units counts for the call; layers 10 to 13 say what becomes of it by mode and by who is there to ask. Called by
//! the session's pipeline and for `permission/explain`. Pure; asking is an effect of the caller.

use super::counters::Counters;
use super::judge::{About, shown, units};
use super::layers::{Walked, because, walk};
use super::matching::{Matching, Tightens};
use super::places::Places;
use super::source::{Rules, SourcedRule};
use super::subject::{FileUse, Subject, Zone};
use super::trace::{Outcome, Step, Steps};
use crate::shell::{Access, Class};
use proto::content::ContentBlock;
use proto::permission::{DecisionReason, ReasonType};
use proto::session::Mode;
use serde_json::Value;
use std::path::Path;
use std::sync::Arc;

/// Rules and mode as they are when a call is decided.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Policy {
    /// The session's mode.
    pub mode: Mode,
    /// The rules of all settings.
    pub rules: Arc<Rules>,
    /// What was allowed for the session.
    pub session: Vec<SourcedRule>,
    /// Where patterns of paths start.
    pub places: Places,
    /// Whether mode `bypassPermissions` may change protected paths unasked (contradiction C4).
    pub loose_protected: bool,
    /// Whether nobody can be asked (row P13).
    pub headless: bool,
    /// Whether only the rules of managed settings count, so that no answer adds one.
    pub managed_only: bool,
    /// What the classifier has denied so far.
    pub counters: Counters,
}

impl Policy {
    /// Whether any deny rule is on reading some paths.
    #[must_use]
    pub fn hides_files(&self) -> bool {
        self.rules.deny.iter().any(|rule| rule.rule.tool() == "Read" && rule.rule.content().is_some())
    }

    /// Whether a deny rule takes a file from what may be read, by its name or by where it leads: searches leave it out.
    #[must_use]
    pub fn hides(&self, path: &Path, real: &Path) -> bool {
        let (path, real) = (path.to_owned(), real.to_owned());
        let file = FileUse { path, real, below: false, access: Access::Read, zone: Zone::Inside };
        let (subject, own) = (Subject::Files(vec![file]), OwnCheck::Reads(String::new()));
        let call = Call::new("Read", &Value::Null, &subject, &own);
        let matching = Matching { call: &call, places: &self.places, mode: self.mode };
        let hidden = |unit| matching.tightening(&self.rules.deny, unit, Tightens::Denies).is_some();
        units(&call, &self.places).iter().any(hidden)
    }
}

/// A call that is to be decided.
#[derive(Debug, Clone, Copy)]
pub struct Call<'a> {
    /// The tool.
    pub tool: &'a str,
    /// Its input.
    pub input: &'a Value,
    /// What it is about.
    pub subject: &'a Subject,
    /// What the tool itself thinks of it, beside what it is about.
    pub own: &'a OwnCheck,
    /// What a PreToolUse hook said of it.
    pub hook: Option<HookSays<'a>>,
    /// What hooks want the model, or people, to see of it.
    pub blocks: &'a [ContentBlock],
    /// What the classifier said of it.
    pub classifier: Classifier<'a>,
    /// What a PermissionRequest hook answered in a person's place.
    pub answer: Option<HookAnswer<'a>>,
}

impl<'a> Call<'a> {
    /// A call of which neither hooks nor the classifier have said anything.
    #[must_use]
    pub fn new(tool: &'a str, input: &'a Value, subject: &'a Subject, own: &'a OwnCheck) -> Self {
        let (hook, classifier, answer) = (None, Classifier::NotAsked, None);
        Self { tool, input, subject, own, hook, blocks: &[], classifier, answer }
    }
}

/// What a hook said of a call, with its reason. A hook's denial is final and never gets here.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum HookSays<'a> {
    /// No question is needed. It takes the place of a person's yes where nothing but the mode wants one.
    Allow(&'a str),
    /// A question is.
    Ask(&'a str),
}

/// What the classifier of mode `auto` said of a call.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub enum Classifier<'a> {
    /// Nothing: there is none, or it has not been asked yet.
    #[default]
    NotAsked,
    /// The call may run.
    Allows,
    /// It should not, with the reason.
    Blocks(&'a str),
    /// It gave no answer.
    Unavailable,
}

/// What a PermissionRequest hook answered, with its reason.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum HookAnswer<'a> {
    /// Yes.
    Allow(&'a str),
    /// No.
    Deny(&'a str),
}

/// What a tool thinks of a call beside what the call is about, with one sentence for people.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum OwnCheck {
    /// It has nothing against it: it only reads, or what it is about decides.
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

/// What becomes of a call, from the least strict on.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Verdict {
    /// It runs.
    Allow,
    /// A person is asked.
    Ask,
    /// It does not run.
    Deny,
}

/// The outcome of a call, with its reason.
#[derive(Debug, Clone, PartialEq)]
pub struct Decision {
    /// What becomes of it.
    pub verdict: Verdict,
    /// Why; its `detail` is the one text that logs, questions and traces show.
    pub reason: DecisionReason,
    /// The commands of a line, each decided by itself. Empty for other calls.
    pub parts: Vec<PartDecision>,
    /// What hooks want to be seen along with a question or a denial (row P18).
    pub blocks: Vec<ContentBlock>,
}

/// The decision on one command of a line.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct PartDecision {
    /// The command as it is written.
    pub text: String,
    /// What it can do.
    pub class: Class,
    /// Why it is of its class.
    pub why: String,
    /// What would become of it alone.
    pub verdict: Verdict,
    /// Why.
    pub reason: DecisionReason,
}

/// Decides a call.
#[must_use]
pub fn decide(policy: &Policy, call: Call<'_>) -> Decision {
    explain(policy, call).0
}

/// Decides a call and says what each layer up to the deciding one said.
#[must_use]
pub fn explain(policy: &Policy, call: Call<'_>) -> (Decision, Vec<Step>) {
    let units = units(&call, &policy.places);
    let mut parts = Vec::new();
    let mut walked = Vec::with_capacity(units.len());
    for unit in &units {
        let mut one = walk(policy, &call, unit);
        if let About::Command { part, .. } = unit.about {
            let (text, why) = (part.text.clone(), part.why.clone());
            let (verdict, reason) = (one.verdict, one.reason.clone());
            parts.push(PartDecision { text, class: part.class, why, verdict, reason });
        }
        if units.len() > 1 && one.verdict != Verdict::Allow {
            let text = shown(unit.about, call.tool, &policy.places);
            one.reason.detail = format!("{text}: {}", one.reason.detail);
        }
        walked.push(one);
    }
    let Walked { verdict, reason, mut steps } = strictest(walked);
    let (verdict, reason) = transformed(policy, &call, verdict, reason, &mut steps);
    steps.set(reason.layer, verdict.into(), &reason.detail);
    let steps = steps.up_to(reason.layer);
    let blocks = if verdict == Verdict::Allow { Vec::new() } else { call.blocks.to_vec() };
    (Decision { verdict, reason, parts, blocks }, steps)
}

/// Of each unit whether nothing but the mode wants a question.
pub(super) fn asked_by_mode(policy: &Policy, call: &Call<'_>) -> Vec<bool> {
    let asked = |one: Walked| one.verdict == Verdict::Ask && one.reason.kind == ReasonType::Mode;
    units(call, &policy.places).iter().map(|unit| asked(walk(policy, call, unit))).collect()
}

/// The strictest of the units; of equal ones the one whose layer comes first. Where all may run, each reason counts.
fn strictest(walked: Vec<Walked>) -> Walked {
    let several = walked.len() > 1;
    let details: Vec<String> = walked.iter().map(|one| one.reason.detail.clone()).collect();
    let rank = |one: &Walked| (one.verdict, std::cmp::Reverse(one.reason.layer));
    let worst = walked.into_iter().reduce(|worst, one| if rank(&one) > rank(&worst) { one } else { worst });
    let mut worst = worst.unwrap_or_else(nothing);
    if worst.verdict == Verdict::Allow && several {
        worst = all_allowed(worst, details);
    }
    worst
}

/// There is always a unit; without one a person is asked.
fn nothing() -> Walked {
    let reason = because(ReasonType::Tool, 9, "it is not known what the call is about");
    Walked { verdict: Verdict::Ask, reason, steps: Steps::default() }
}

fn all_allowed(first: Walked, mut details: Vec<String>) -> Walked {
    details.dedup();
    match details.len() {
        0 | 1 => first,
        _ => Walked {
            reason: DecisionReason {
                kind: ReasonType::Subcommand,
                detail: format!("each part may run: {}", details.join("; ")),
                ..first.reason
            },
            ..first
        },
    }
}

/// Layers 10 to 13: what becomes of the strictest verdict.
fn transformed(
    policy: &Policy,
    call: &Call<'_>,
    verdict: Verdict,
    reason: DecisionReason,
    steps: &mut Steps,
) -> (Verdict, DecisionReason) {
    if verdict != Verdict::Ask {
        return (verdict, reason);
    }
    if policy.mode == Mode::DontAsk {
        let detail = format!("mode dontAsk denies what would be asked: {}", reason.detail);
        return (Verdict::Deny, DecisionReason { kind: ReasonType::Mode, layer: 11, detail, ..reason });
    }
    let (verdict, reason) = match policy.mode == Mode::Auto && reason.kind == ReasonType::Mode {
        true => classified(policy, call, reason),
        false => (verdict, reason),
    };
    if verdict != Verdict::Ask || !policy.headless {
        return (verdict, reason);
    }
    steps.set(reason.layer, Outcome::Ask, &reason.detail);
    match call.answer {
        Some(HookAnswer::Allow(why)) => {
            (Verdict::Allow, because(ReasonType::Hook, 13, &format!("a hook answered yes in a person's place: {why}")))
        }
        Some(HookAnswer::Deny(why)) => {
            (Verdict::Deny, because(ReasonType::Hook, 13, &format!("a hook answered no in a person's place: {why}")))
        }
        None => {
            let detail = format!("nobody is there to ask: {}", reason.detail);
            (Verdict::Deny, DecisionReason { kind: ReasonType::Headless, layer: 13, detail, ..reason })
        }
    }
}

/// Layer 12: the classifier in a person's place, until it has said no too often.
fn classified(policy: &Policy, call: &Call<'_>, reason: DecisionReason) -> (Verdict, DecisionReason) {
    let say = |detail: String| because(ReasonType::Classifier, 12, &detail);
    if policy.counters.is_exhausted() {
        let Counters { in_a_row, total } = policy.counters;
        let row = format!("the classifier has denied {in_a_row} calls in a row and {total} in all");
        return (Verdict::Ask, say(format!("{row}: {}", reason.detail)));
    }
    match call.classifier {
        Classifier::NotAsked => (Verdict::Ask, reason),
        Classifier::Allows => (Verdict::Allow, say(format!("the classifier allows it ({})", reason.detail))),
        Classifier::Blocks(why) => (Verdict::Deny, say(format!("the classifier blocks it: {why}"))),
        Classifier::Unavailable => {
            (Verdict::Deny, say(format!("the classifier did not answer ({}); try again later", reason.detail)))
        }
    }
}
