//! Rules that are offered with a question: the narrowest useful ones, together with which the same call would run.
//! Called by the session when a person is asked.

use super::decide::{Call, Decision, Policy, Verdict};
use super::judge::{About, Rank, Unit, judge_file, units};
use super::matching::{Matching, redirects};
use super::rule::Rule;
use super::source::{Source, SourcedRule};
use super::subject::{CommandUse, FileUse, Subject};
use crate::base::text::one_line;
use crate::shell::{Access, Class};
use proto::permission::ReasonType;
use std::path::Path;

/// Rules that one answer may write (claude-facts B.1).
const MAX_RULES: usize = 5;
/// Characters of a rule in a label.
const SHOWN_CHARS: usize = 80;
/// Programs whose first argument names what they do: `git push`, `cargo test`.
const WITH_VERBS: [&str; 16] = [
    "cargo", "docker", "dotnet", "gh", "git", "go", "helm", "kubectl", "npm", "pip", "pnpm", "podman", "poetry",
    "rustup", "uv", "yarn",
];
/// Verbs after which the next word says what is run.
const RUNS_NEXT: [&str; 4] = ["compose", "dlx", "run", "x"];
/// Words with which anything can be run, or much be lost: such a command is offered to the letter.
const EXACT: [&str; 19] = [
    "alias", "api", "bash", "clean", "config", "delete", "env", "eval", "exec", "node", "perl", "python", "python3",
    "reset", "rm", "ruby", "sh", "sudo", "xargs",
];

/// A rule that can be remembered with a yes.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Suggested {
    /// The rule.
    pub rule: Rule,
    /// What to show.
    pub label: String,
    /// Whether it is for the session only: edits are, everywhere.
    pub session_only: bool,
}

/// The rules which, all together, let the same call run next time, at most five; none where a rule, a hook or a safety
/// check wants the question, which comes again anyway.
#[must_use]
pub fn suggest(policy: &Policy, call: &Call<'_>, decision: &Decision) -> Vec<Suggested> {
    if decision.verdict != Verdict::Ask || !matches!(decision.reason.kind, ReasonType::Mode | ReasonType::Classifier) {
        return Vec::new();
    }
    let asked = super::decide::asked_by_mode(policy, call);
    let units = units(call, &policy.places);
    let mut rules: Vec<Suggested> = Vec::new();
    for unit in units.iter().zip(asked).filter_map(|(unit, asked)| asked.then_some(unit)) {
        let matching = Matching { call, places: &policy.places, mode: policy.mode };
        for rule in of_unit(call, unit, matching) {
            if !rules.iter().any(|known| known.rule == rule.rule) {
                rules.push(rule);
            }
        }
    }
    match rules.len() > MAX_RULES || !suffice(policy, call, &rules) {
        true => of_line(call).into_iter().filter(|rule| suffice(policy, call, std::slice::from_ref(rule))).collect(),
        false => rules,
    }
}

/// The same for a line of commands, each to the letter; none where that would not do.
#[must_use]
pub fn suggest_exactly(policy: &Policy, call: &Call<'_>, decision: &Decision) -> Vec<Suggested> {
    if !matches!(call.subject, Subject::Commands(_)) || suggest(policy, call, decision).is_empty() {
        return Vec::new();
    }
    let asked = super::decide::asked_by_mode(policy, call);
    let units = units(call, &policy.places);
    let asked = units.iter().zip(asked).filter_map(|(unit, asked)| asked.then_some(unit));
    let rules = asked.map(|unit| match unit.about {
        About::Command { part, .. } => Rule::of_command(&part.plain).ok().map(lasting),
        _ => of_line(call),
    });
    let Some(mut rules) = rules.collect::<Option<Vec<Suggested>>>() else { return Vec::new() };
    rules.dedup();
    if rules.len() <= MAX_RULES && suffice(policy, call, &rules) { rules } else { Vec::new() }
}

/// Whether the call would run with these rules.
fn suffice(policy: &Policy, call: &Call<'_>, rules: &[Suggested]) -> bool {
    let source = Source::session(policy.places.folder.clone());
    let more = rules.iter().map(|one| SourcedRule { rule: one.rule.clone(), source: source.clone() });
    let session = policy.session.iter().cloned().chain(more).collect();
    super::decide::decide(&Policy { session, ..policy.clone() }, *call).verdict == Verdict::Allow
}

fn of_unit(call: &Call<'_>, unit: &Unit<'_>, matching: Matching<'_>) -> Vec<Suggested> {
    match unit.about {
        About::File(file) => of_file(file, matching).into_iter().collect(),
        About::Command { part, .. } => of_command(part, matching),
        About::Line(_) => of_line(call).into_iter().collect(),
        About::Host(host) => rule("WebFetch", &format!("domain:{host}")).map(lasting).into_iter().collect(),
        About::Name(name) => rule(call.tool, name).map(lasting).into_iter().collect(),
        About::Call => Rule::parse(call.tool).ok().map(lasting).into_iter().collect(),
    }
}

/// The whole line, to the letter.
fn of_line(call: &Call<'_>) -> Option<Suggested> {
    let Subject::Commands(commands) = call.subject else { return None };
    Rule::of_command(commands.line.trim()).ok().map(lasting)
}

fn of_command(part: &CommandUse, matching: Matching<'_>) -> Vec<Suggested> {
    let by_files = part.class != Class::Unknown && part.unknown_path.is_none() && !part.files.is_empty();
    let asked = part.files.iter().filter(|file| !matching.is_free(file));
    if by_files {
        let rules: Vec<Suggested> = asked.filter_map(|file| of_file(file, matching)).collect();
        // What is removed is not offered as an edit: the command itself is.
        if !part.files.iter().any(|file| file.access == Access::Remove) {
            return rules;
        }
    }
    let beginning = (!redirects(part)).then(|| beginning(&part.plain)).flatten();
    let rule = match beginning {
        Some(beginning) => rule("Bash", &format!("{beginning} *")),
        None if redirects(part) => Rule::of_command(part.text.trim()).ok(),
        None => Rule::of_command(&part.plain).ok(),
    };
    rule.map(lasting).into_iter().collect()
}

/// The program and its verb, where it has verbs and the verb runs nothing that the arguments say.
fn beginning(plain: &str) -> Option<String> {
    let words: Vec<&str> = plain.split(' ').collect();
    let is_plain =
        |word: &&str| word.chars().all(|c| c.is_ascii_alphanumeric() || matches!(c, '-' | '_' | ':' | '.' | '/'));
    let verb = |at: usize| words.get(at).filter(|word| is_plain(word) && !word.starts_with('-')).copied();
    let program = words.first().filter(|program| WITH_VERBS.contains(program));
    let (Some(program), Some(first)) = (program, verb(1)) else { return None };
    let named =
        if RUNS_NEXT.contains(&first) { verb(2).map(|next| format!("{first} {next}")) } else { Some(first.to_owned()) };
    let named = named.filter(|named| !named.split(' ').any(|word| EXACT.contains(&word)))?;
    Some(format!("{program} {named}"))
}

/// An edit is offered for the session and for all files, as people expect it; a read outside for its folder.
fn of_file(file: &FileUse, matching: Matching<'_>) -> Option<Suggested> {
    if judge_file(file, matching.places).rank == Rank::Edits && file.access == Access::Write {
        let label = "allow all edits of files in this session".to_owned();
        return Some(Suggested { rule: Rule::parse("Edit").ok()?, label, session_only: true });
    }
    let tool = if matches!(file.access, Access::Write | Access::Remove) { "Edit" } else { "Read" };
    let folder = |path: &Path| if file.below { Some(path.to_owned()) } else { path.parent().map(Path::to_owned) };
    // Where a link leads elsewhere, a rule on one name would not do.
    let (named, real) = (folder(&file.path)?, folder(&file.real)?);
    (named == real && named.parent().is_some()).then_some(())?;
    let rule = rule(tool, &format!("/{}/**", pattern_of(&named)?))?;
    Some(Suggested { session_only: tool == "Edit", ..lasting(rule) })
}

/// A path as a pattern of itself.
fn pattern_of(path: &Path) -> Option<String> {
    let mut pattern = String::new();
    for letter in path.to_str()?.chars() {
        if matches!(letter, '*' | '?' | '[' | ']' | '{' | '}' | '\\' | '!') {
            pattern.push('\\');
        }
        pattern.push(letter);
    }
    Some(pattern)
}

fn rule(tool: &str, content: &str) -> Option<Rule> {
    Rule::of(tool, content).ok()
}

fn lasting(rule: Rule) -> Suggested {
    let label = format!("allow {} without asking", one_line(&rule.to_string(), SHOWN_CHARS));
    Suggested { rule, label, session_only: false }
}
