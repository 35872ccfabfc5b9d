//! What can be remembered with a yes. Pure. Called by `person`.

use super::permission::Decided;
use super::shown::can_be_remembered;
use crate::policy::Suggested;
use crate::tools::ExitPlanMode;
use proto::permission::{RuleScope, Suggestion};

/// Rules that would have made this question needless: first, for the parts of a line, those parts to the letter, then
/// what `policy` takes for the narrowest useful ones. A question that a rule, a hook or a safety check wants comes again,
/// so nothing is offered. What a folder that is not trusted allows does not count: there it is the session, or the
/// user's own settings. `scopes` is where a rule would count at all.
pub(super) fn of(decided: &Decided, tool: &str, scopes: &[RuleScope]) -> Vec<Suggestion> {
    if scopes.is_empty() {
        return Vec::new();
    }
    let trusted = scopes.contains(&RuleScope::Local);
    if tool == ExitPlanMode::NAME {
        return vec![Suggestion::one("yes, and accept edits of files in this session", "Edit", RuleScope::Session)];
    }
    if !can_be_remembered(&decided.decision) {
        return Vec::new();
    }
    let [exact, useful] = &decided.offers;
    let edits = useful.iter().find(|offer| offer.session_only);
    let (exact, useful) = (texts(exact), texts(useful));
    let mut suggestions = in_places(&exact, "this command", trusted);
    if let Some(edits) = edits {
        let label = format!("allow {} in this session", useful.join(", "));
        suggestions.push(in_session(&useful, if useful.len() > 1 { &label } else { &edits.label }));
    } else if useful != exact {
        suggestions.extend(in_places(&useful, &useful.join(", "), trusted));
    }
    suggestions
}

/// Where a rule can be remembered: what a folder that is not trusted allows does not count, and nothing does beside the
/// managed settings where these say so.
pub(super) fn scopes(trusted: bool, managed_only: bool) -> Vec<RuleScope> {
    match trusted {
        _ if managed_only => Vec::new(),
        true => vec![RuleScope::Session, RuleScope::Local, RuleScope::Project, RuleScope::User],
        false => vec![RuleScope::Session, RuleScope::User],
    }
}

fn texts(offers: &[Suggested]) -> Vec<String> {
    offers.iter().map(|offer| offer.rule.to_string()).collect()
}

fn in_session(rules: &[String], label: &str) -> Suggestion {
    let further = if rules.len() > 1 { rules.to_vec() } else { Vec::new() };
    let rule = rules.first().cloned().unwrap_or_default();
    Suggestion { label: label.to_owned(), rule, rules: further, scope: RuleScope::Session }
}

fn in_places(rules: &[String], what: &str, trusted: bool) -> Vec<Suggestion> {
    let Some(first) = rules.first() else { return Vec::new() };
    let further = if rules.len() > 1 { rules.to_vec() } else { Vec::new() };
    let what = if rules.len() > 1 && what == "this command" { "these commands" } else { what };
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

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn where_a_rule_counts_is_told() {
        assert_eq!(scopes(false, false), [RuleScope::Session, RuleScope::User]);
        assert_eq!(scopes(true, false).len(), 4);
        assert_eq!(scopes(true, true), []);
    }
}
