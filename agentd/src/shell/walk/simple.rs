//! Simple commands. Part of the walk.

use super::condition::is_asked_whether_empty;
use super::verdict::Verdict;
use super::{Walk, Walked};
use crate::shell::analysis::{Access, Class, Command, Doing};
use crate::shell::ast::{AndOr, List, Part, Redirect, Simple, Stage, Word};
use crate::shell::expand::Expanded;

/// The words of a command that are judged.
const WORDS: usize = 500;
/// Programs that run a text.
const SHELLS: [&str; 5] = ["bash", "dash", "ksh", "sh", "zsh"];

impl Walk<'_> {
    pub(super) fn simple(&mut self, simple: &Simple) -> Walked<()> {
        self.step()?;
        let outer = self.take_harm();
        let at = self.commands.len();
        let words = self.words(simple)?;
        let mut class = Class::ReadOnly;
        let mut paths = Vec::new();
        for redirect in &simple.redirects {
            // For a program they are expanded in its own process.
            let found = self.perhaps(|this| this.redirect(redirect))?;
            class = class.max(found.class);
            paths.extend(found.paths);
        }
        let before = simple.redirects.iter().any(|r| r.may_fail(self.closed)).then(|| self.state.clone());
        if read_from_changes(simple, &words) {
            self.harm("it changes what the commands after it read".to_owned());
        }
        let kept = self.assignments(simple, &words)?;
        let read_from = simple.redirects.iter().any(|redirect| redirect.is_input() && !redirect.is_quieting());
        if read_from {
            self.piped = None;
        }
        let verdict = match simple.words.first() {
            None => Verdict::harmless(),
            Some(word) if !is_static(word) => {
                Verdict::unknown(format!("what `{}` runs is not known before it runs", word.text))
            }
            Some(_) => self.verdict(&words)?,
        };
        if let Some(before) = before {
            self.may_have_failed(before);
        }
        class = class.max(verdict.class);
        let harm = self.harm.take();
        if harm.is_some() {
            class = Class::Unknown;
        }
        let why = match (harm, class == verdict.class) {
            (Some(harm), _) => harm,
            (None, true) => verdict.why.clone(),
            (None, false) => "its redirections change files".to_owned(),
        };
        let reads = verdict.paths.iter().any(|used| used.access == Access::Read);
        paths.extend(verdict.paths.iter().cloned());
        let command = command(simple, &words, &kept, verdict);
        let named = if class == Class::Unknown { self.named(&words) } else { Vec::new() };
        let hidden = class == Class::Unknown && is_hidden(simple, &words);
        self.commands.insert(at, Command { class, why, paths, named, hidden, ..command });
        self.number_output =
            simple.redirects.iter().all(|r| r.text.starts_with('<')) && super::known::prints_number(&words);
        let piped = self.piped.take();
        if self.shared && !read_from && piped.is_none() {
            self.takes_input(simple, &words, reads);
        }
        let quiet = simple.redirects.iter().all(Redirect::is_quieting) && simple.assignments.is_empty();
        self.printed = if quiet { self.printed_by(piped.as_ref(), &words) } else { None };
        self.harm = outer;
        Ok(())
    }

    /// The words after expansion.
    fn words(&mut self, simple: &Simple) -> Walked<Vec<Expanded>> {
        let mut words = Vec::new();
        self.keyed = declares_map(&simple.words);
        for word in &simple.words {
            words.extend(self.expand(word)?);
        }
        self.keyed = false;
        // No function has the name of a builtin: its definition is refused.
        if is_asked_whether_empty(&simple.words) {
            self.take_harm();
        }
        if words.len() > WORDS {
            self.harm(format!("it has more than {WORDS} words"));
            words.truncate(WORDS);
        }
        Ok(words)
    }

    /// The assignments, and the texts of those that a rule is to see.
    fn assignments<'a>(&mut self, simple: &'a Simple, words: &[Expanded]) -> Walked<Vec<&'a str>> {
        let mut kept = Vec::new();
        for assignment in &simple.assignments {
            if simple.words.is_empty() {
                self.lasting(assignment)?;
                kept.push(assignment.text.as_str());
            } else if !self.perhaps(|this| this.passing(assignment, words.first().and_then(Expanded::exact)))? {
                kept.push(assignment.text.as_str());
            }
        }
        Ok(kept)
    }

    /// A list in a shell of its own whose output is used; whether that is a number.
    pub(in crate::shell) fn substitution(&mut self, list: &List) -> Walked<bool> {
        let state = self.state.clone();
        let failed = self.failed.take();
        let exits = std::mem::take(&mut self.exits);
        let harm = self.harm.take();
        let stopped = self.stopped.take();
        let unsure = std::mem::take(&mut self.unsure);
        self.number_output = false;
        self.list(list)?;
        self.harm = harm;
        self.exits = exits;
        self.failed = failed;
        (self.stopped, self.unsure) = (stopped, unsure);
        self.state = state;
        let alone = matches!(list.0.as_slice(), [AndOr { first, rest, background: false, .. }]
            if rest.is_empty() && matches!(first.stages.last(), Some(Stage::Simple(_))));
        self.number_output &= alone;
        self.printed = self.printed.take().filter(|_| alone);
        Ok(self.number_output)
    }
}

/// Whether `exec` gives the shell another input, or another stream.
fn read_from_changes(simple: &Simple, words: &[Expanded]) -> bool {
    matches!(words, [only] if only.exact() == Some("exec")) && simple.redirects.iter().any(Redirect::is_input)
}

/// `declare -A` and the like.
fn declares_map(words: &[Word]) -> bool {
    let declares = |word: &Word| matches!(word.text.as_str(), "declare" | "typeset" | "local");
    words.first().is_some_and(declares) && words.get(1).is_some_and(|word| word.text == "-A")
}

/// Whether a word is the same whatever happens before it.
fn is_static(word: &Word) -> bool {
    let plain = |part: &Part| match part {
        Part::Text(text) => {
            !text.contains(['*', '?', '{', '~']) && (!text.contains('[') || matches!(text.as_str(), "["))
        }
        Part::Quoted(_) => true,
        Part::Double(inner) => inner.iter().all(|part| matches!(part, Part::Quoted(_))),
        _ => false,
    };
    !word.parts.is_empty() && word.parts.iter().all(plain)
}

/// The texts of a command.
fn command(simple: &Simple, words: &[Expanded], kept: &[&str], verdict: Verdict) -> Command {
    let text_of = |from: usize| words.iter().skip(from).map(shown).collect::<Vec<_>>().join(" ");
    let with_kept = |text: String| match (kept.is_empty(), text.is_empty()) {
        (true, _) => text,
        (false, true) => kept.join(" "),
        (false, false) => format!("{} {text}", kept.join(" ")),
    };
    let plain =
        if words.is_empty() && kept.is_empty() { simple.text.clone() } else { with_kept(text_of(verdict.stripped)) };
    let mut forms = vec![plain.clone()];
    let without = verdict.inner.iter().cloned().chain([text_of(0), simple.text.clone()]);
    for form in without {
        if !form.is_empty() && !forms.contains(&form) {
            forms.push(form);
        }
    }
    Command {
        text: simple.text.clone(),
        program: verdict.program,
        plain,
        forms,
        class: Class::Unknown,
        doing: if simple.words.is_empty() { Doing::Other } else { verdict.doing },
        why: String::new(),
        paths: Vec::new(),
        named: Vec::new(),
        hidden: false,
    }
}

/// Whether what a command runs is not in its words.
fn is_hidden(simple: &Simple, words: &[Expanded]) -> bool {
    let unknown = |word: &Expanded| word.exact().is_none();
    let name = words.first().and_then(Expanded::exact).map(|name| name.rsplit('/').next().unwrap_or(name));
    match name {
        Some("eval") => words.iter().any(unknown),
        Some(shell) if SHELLS.contains(&shell) => {
            words.iter().any(|word| word.exact() == Some("-c")) && words.iter().any(unknown)
        }
        _ => simple.words.first().is_some_and(|word| !is_static(word)),
    }
}

/// A word as rules see it.
pub(super) fn shown(word: &Expanded) -> &str {
    word.exact().unwrap_or(&word.text)
}
