//! What can be remembered with a yes. Pure. Called by `person`.

use super::permission::Decided;
use super::shown::can_be_remembered;
use crate::policy::{CommandUse, Rule, Subject, Verdict};
use crate::tools::ExitPlanMode;
use proto::permission::{MAX_RULES, RuleScope, Suggestion};

/// Rules that would have made this question needless: for the parts of a line, those parts to the letter; for an edit,
/// edits in this session. A question that a rule, a hook or a safety check wants comes again, so nothing is offered.
/// What a folder that is not trusted allows does not count: there it is the session, or the user's own settings.
pub(super) fn of(decided: &Decided, tool: &str, trusted: bool) -> Vec<Suggestion> {
    if tool == ExitPlanMode::NAME {
        return vec![Suggestion::one("yes, and accept edits of files in this session", "Edit", RuleScope::Session)];
    }
    if !can_be_remembered(&decided.decision) {
        return Vec::new();
    }
    match &decided.subject {
        Subject::Commands(commands) => {
            let refused = commands.refused.as_ref().map(|_| commands.line.as_str());
            let asked = decided.decision.parts.iter().zip(&commands.parts);
            let asked = asked.filter(|(part, _)| part.verdict != Verdict::Allow).map(|(_, part)| plain(part));
            let texts: Vec<&str> = refused.map_or_else(|| asked.collect(), |line| vec![line]);
            in_places(&rules(texts.iter().map(|text| Rule::of_command(text).ok())), "this command", trusted)
        }
        Subject::Files(_) if matches!(tool, "Edit" | "Write" | "NotebookEdit") => {
            vec![Suggestion::one("allow all edits of files in this session", "Edit", RuleScope::Session)]
        }
        Subject::Host(host) => {
            let rule = Rule::of(tool, &format!("domain:{host}")).ok();
            in_places(&rules(std::iter::once(rule)), host, trusted)
        }
        Subject::Name(name) => in_places(&rules(std::iter::once(Rule::of(tool, name).ok())), name, trusted),
        Subject::Files(_) | Subject::Fields => {
            vec![Suggestion::one(format!("allow {tool} in this session"), tool, RuleScope::Session)]
        }
    }
}

fn plain(part: &CommandUse) -> &str {
    if part.plain.is_empty() { &part.text } else { &part.plain }
}

/// All of them, or none: a part that no rule can allow is asked about again anyway.
fn rules(rules: impl Iterator<Item = Option<Rule>>) -> Vec<String> {
    let Some(rules) = rules.collect::<Option<Vec<Rule>>>() else { return Vec::new() };
    let mut texts: Vec<String> = Vec::new();
    for text in rules.iter().map(ToString::to_string) {
        if !texts.contains(&text) {
            texts.push(text);
        }
    }
    if texts.len() > MAX_RULES { Vec::new() } else { texts }
}

fn in_places(rules: &[String], what: &str, trusted: bool) -> Vec<Suggestion> {
    let Some(first) = rules.first() else { return Vec::new() };
    let further = if rules.len() > 1 { rules.to_vec() } else { Vec::new() };
    let what = if rules.len() > 1 { "these commands" } else { what };
    let suggestion = |scope, place: &str| Suggestion {
        label: format!("allow {what} {place}"),
        rule: first.clone(),
        rules: further.clone(),
        scope,
    };
    match trusted {
        true => vec![suggestion(RuleScope::Local, "in this folder from now on")],
        false => vec![
            suggestion(RuleScope::Session, "in this session"),
            suggestion(RuleScope::User, "in every folder from now on"),
        ],
    }
}
