//! Lists, pipelines, branches and loops. Part of the walk.

use super::{Walk, Walked};
use crate::shell::analysis::{Class, Command};
use crate::shell::ast::{AndOr, Compound, Joint, List, Part, Pipeline, Redirect, Stage, Word};
use crate::shell::builtins;
use crate::shell::expand::Expanded;
use crate::shell::printed::{Kind, Output, Words};
use crate::shell::programs::{self, Arg};
use crate::shell::state::{State, Value};

/// A loop over so many known words is walked once for each.
const UNROLLED: usize = 8;
/// A round of a loop takes as long as so many words.
const ROUND: usize = 20;
/// Rounds after which what is known within a loop must no longer change.
const ROUNDS: usize = 8;

impl Walk<'_> {
    /// A whole text. If bash gives up on one of its lines, it goes on with the next.
    pub(super) fn lines(&mut self, list: &List) -> Walked<()> {
        for step in &list.0 {
            self.settle();
            if step.begins_line
                && let Some(stopped) = self.stopped.take()
            {
                let state = self.take_state();
                self.state = state.join(&stopped);
            }
            self.step_of_list(step)?;
        }
        Ok(())
    }

    pub(super) fn list(&mut self, list: &List) -> Walked<()> {
        for step in &list.0 {
            self.settle();
            self.step_of_list(step)?;
        }
        Ok(())
    }

    fn step_of_list(&mut self, step: &AndOr) -> Walked<()> {
        if step.background {
            self.apart(|this| this.and_or(step))?;
            self.state.set("!", Value::Count);
            return Ok(());
        }
        self.and_or(step)
    }

    /// From here on it makes no difference whether the last command failed.
    fn settle(&mut self) {
        if let Some(failed) = self.failed.take() {
            let state = self.take_state();
            self.state = state.join(&failed);
        }
    }

    pub(super) fn take_state(&mut self) -> State {
        std::mem::replace(&mut self.state, State::new(None))
    }

    /// Runs `walk` as in a shell of its own.
    fn apart<T>(&mut self, walk: impl FnOnce(&mut Self) -> Walked<T>) -> Walked<T> {
        let state = self.state.clone();
        let exits = std::mem::take(&mut self.exits);
        let stopped = self.stopped.take();
        let unsure = std::mem::take(&mut self.unsure);
        let result = walk(self);
        self.state = state;
        self.failed = None;
        (self.exits, self.stopped, self.unsure) = (exits, stopped, unsure);
        result
    }

    fn and_or(&mut self, step: &AndOr) -> Walked<()> {
        self.pipeline(&step.first)?;
        for (joint, pipeline) in &step.rest {
            let yes = self.take_state();
            let no = self.failed.take().unwrap_or_else(|| yes.clone());
            self.state = if *joint == Joint::And { yes.clone() } else { no.clone() };
            self.pipeline(pipeline)?;
            let after_yes = self.take_state();
            let after_no = self.failed.take().unwrap_or_else(|| after_yes.clone());
            let (good, bad) = match joint {
                Joint::And => (after_yes, no.join(&after_no)),
                Joint::Or => (yes.join(&after_yes), after_no),
            };
            self.failed = (good != bad).then_some(bad);
            self.state = good;
        }
        Ok(())
    }

    fn pipeline(&mut self, pipeline: &Pipeline) -> Walked<()> {
        self.number_output = false;
        self.printed = None;
        let outer = self.piped.take();
        if let [only] = pipeline.stages.as_slice() {
            self.stage(only)?;
        } else {
            let shared = self.shared;
            for stage in &pipeline.stages {
                self.piped = self.printed.take();
                self.apart(|this| this.stage(stage))?;
                // What comes after it reads the pipe.
                self.shared = false;
            }
            self.shared = shared;
        }
        self.piped = outer;
        if pipeline.negated
            && let Some(failed) = self.failed.take()
        {
            let state = self.take_state();
            self.failed = Some(state);
            self.state = failed;
        }
        Ok(())
    }

    fn stage(&mut self, stage: &Stage) -> Walked<()> {
        match stage {
            Stage::Simple(simple) => return self.simple(simple),
            Stage::Compound { body, redirects } => {
                let outer = self.take_harm();
                let piped = self.piped.take();
                let opened = self.redirects_of(redirects)?;
                let input =
                    if opened.is_some() || !redirects.iter().any(Redirect::is_input) { opened.or(piped) } else { None };
                let before = redirects.iter().any(|r| r.may_fail(self.closed)).then(|| self.state.clone());
                self.fed(body, input)?;
                if let Some(before) = before {
                    self.may_have_failed(before);
                }
                self.harm = outer;
            }
            Stage::Function { name, body, text } => self.function(name, body, text)?,
        }
        self.printed = None;
        Ok(())
    }

    /// The redirections of a group or a loop, as a command of its own; what is known of what is read through them.
    fn redirects_of(&mut self, redirects: &[Redirect]) -> Walked<Option<Output>> {
        let mut opened = None;
        for redirect in redirects {
            self.printed = None;
            let found = self.perhaps(|this| this.redirect(redirect))?;
            self.note(&redirect.text, found.paths, found.class);
            if redirect.is_substitution() && redirects.len() == 1 {
                opened = self.printed.take();
            }
        }
        Ok(opened)
    }

    /// A definition: what it would do is walked as if it ran anywhere. A call is then a command that only forgets.
    fn function(&mut self, name: &str, body: &Stage, text: &str) -> Walked<()> {
        self.step()?;
        // What comes before it in the line may run in it, as the body of another function, and be judged by the name.
        let base = name.rsplit('/').next().unwrap_or(name);
        let stands_for_more =
            builtins::is_builtin(base) || programs::is_known(base) || base == "command_not_found_handle";
        if stands_for_more {
            self.harm(format!("the function `{name}` takes the place of something else"));
            self.note(text, Vec::new(), Class::ReadOnly);
        }
        self.state.define(name);
        let outside = std::mem::replace(&mut self.in_function, true);
        let walked = self.apart(|this| {
            this.state.forget();
            this.stage(body)
        });
        self.in_function = outside;
        walked
    }

    pub(super) fn compound(&mut self, body: &Compound) -> Walked<()> {
        match body {
            Compound::Group(list) => self.list(list),
            Compound::Subshell(list) => self.apart(|this| this.list(list)),
            Compound::If { branches, otherwise } => self.branches(branches, otherwise.as_ref()),
            Compound::While { condition, until, body } => self.while_loop(condition, *until, body, None),
            Compound::For { text, name, words, body } => self.for_words(text, name, words.as_deref(), body),
            Compound::ArithmeticFor { text, parts, body } => self.arithmetic_for(text, parts, body),
            Compound::Case { subject, arms } => self.case(subject, arms),
            Compound::Condition { text, tests } => self.condition(text, tests),
            Compound::Arithmetic { text, parts } => {
                self.arithmetic(parts)?;
                self.note(text, Vec::new(), Class::ReadOnly);
                Ok(())
            }
        }
    }

    /// `while` and `until`; `feed` is what a `read` in the condition gets.
    pub(super) fn while_loop(
        &mut self,
        condition: &List,
        until: bool,
        body: &List,
        feed: Option<&Output>,
    ) -> Walked<()> {
        self.until_stable(|this| {
            this.feed = feed.cloned();
            this.list(condition)?;
            this.feed = None;
            let yes = this.take_state();
            let no = this.failed.take().unwrap_or_else(|| yes.clone());
            let (inside, after) = if until { (no, yes) } else { (yes, no) };
            this.state = inside;
            this.list(body)?;
            Ok(after)
        })
    }

    fn branches(&mut self, branches: &[(List, List)], otherwise: Option<&List>) -> Walked<()> {
        let mut ends: Option<State> = None;
        for (condition, body) in branches {
            self.list(condition)?;
            let no = self.failed.take().unwrap_or_else(|| self.state.clone());
            self.list(body)?;
            self.settle();
            let end = self.take_state();
            ends = Some(match ends {
                Some(other) => other.join(&end),
                None => end,
            });
            self.state = no;
        }
        if let Some(otherwise) = otherwise {
            self.list(otherwise)?;
            self.settle();
        }
        if let Some(ends) = ends {
            self.state = ends.join(&self.state);
        }
        Ok(())
    }

    fn case(&mut self, subject: &Word, arms: &[(Vec<Word>, List)]) -> Walked<()> {
        self.expand_one(subject)?;
        for (patterns, _) in arms {
            for pattern in patterns {
                self.perhaps(|this| this.walk_parts(&pattern.parts))?;
            }
        }
        self.note(&subject.text, Vec::new(), Class::ReadOnly);
        // An arm may be reached after another one, so each begins with what all before it may have left.
        for (_, body) in arms {
            let before = self.state.clone();
            self.list(body)?;
            self.settle();
            let after = self.take_state();
            self.state = before.join(&after);
        }
        Ok(())
    }

    /// Walks a round of a loop until nothing more changes; `round` leaves what is known after a whole round, and gives
    /// back what is known where the loop ends.
    fn until_stable(&mut self, round: impl Fn(&mut Self) -> Walked<State>) -> Walked<()> {
        let commands = self.commands.len();
        let mut start = self.state.clone();
        for _ in 0..ROUNDS {
            self.spend_words(ROUND + 4 * start.len())?;
            self.commands.truncate(commands);
            self.exits.push(Vec::new());
            let after = round(self)?;
            self.settle();
            let mut next = start.clone().join(&self.state);
            let left = self.exits.pop().unwrap_or_default();
            for state in &left {
                next = next.join(state);
            }
            if next == start {
                self.state = left.iter().fold(after, State::join);
                return Ok(());
            }
            start = next;
            self.state = start.clone();
        }
        Err("what a loop does to the variables of the line is not understood".to_owned())
    }

    fn arithmetic_for(&mut self, text: &str, parts: &[Vec<Part>], body: &List) -> Walked<()> {
        let [first, condition, step] = parts else { return Err(format!("`{text}` is not understood")) };
        self.arithmetic(first)?;
        self.note(text, Vec::new(), Class::ReadOnly);
        self.until_stable(|this| {
            this.arithmetic(condition)?;
            let after = this.state.clone();
            this.list(body)?;
            this.settle();
            this.arithmetic(step)?;
            this.note(text, Vec::new(), Class::ReadOnly);
            Ok(after)
        })
    }

    fn for_words(&mut self, text: &str, name: &str, words: Option<&[Word]>, body: &List) -> Walked<()> {
        let mut values = Vec::new();
        for word in words.unwrap_or_default() {
            values.extend(self.expand(word)?);
        }
        let exact: Option<Vec<&str>> = values.iter().map(Expanded::exact).collect();
        let together = if words.is_some() { common(&values) } else { Value::any() };
        // Without any word the variable stays what it was.
        let none =
            words.is_none() || values.iter().all(|value| matches!(value.arg, Arg::Many(_)) && value.pattern.is_none());
        let before = none.then(|| self.state.clone());
        self.assign(name, together.clone());
        self.note(text, Vec::new(), Class::ReadOnly);
        let commands = self.commands.len();
        self.until_stable(|this| {
            let after = this.state.clone();
            this.state.set(name, together.clone());
            this.list(body)?;
            Ok(after)
        })?;
        if let Some(before) = before {
            let state = self.take_state();
            self.state = state.join(&before);
        }
        match exact {
            Some(exact) if words.is_some() && (1..=UNROLLED).contains(&exact.len()) => {
                self.unrolled(name, &exact, body, commands)
            }
            _ => Ok(()),
        }
    }

    /// Walks the body once for each word, from what is known in every round.
    fn unrolled(&mut self, name: &str, values: &[&str], body: &List, commands: usize) -> Walked<()> {
        let end = self.state.clone();
        let mut merged: Option<Vec<Command>> = None;
        for value in values {
            self.spend_words(ROUND + 4 * end.len())?;
            self.commands.truncate(commands);
            self.state = end.clone();
            self.state.set(name, Value::Exact((*value).to_owned()));
            self.exits.push(Vec::new());
            self.list(body)?;
            self.exits.pop();
            self.failed = None;
            let round = self.commands.split_off(commands);
            merged = Some(match merged {
                None => round,
                Some(all) => merge(all, round),
            });
        }
        self.commands.extend(merged.unwrap_or_default());
        self.state = end;
        Ok(())
    }

    /// `break`, `continue`, `return` and `exit`: what is known here may be what is known after a loop.
    pub(super) fn leaves(&mut self) {
        let state = self.state.clone();
        for exits in &mut self.exits {
            exits.push(state.clone());
        }
    }
}

/// What is known of a variable that goes over these words.
fn common(values: &[Expanded]) -> Value {
    match values {
        [Expanded { arg: Arg::Literal(text), .. }] => Value::Exact(text.clone()),
        [Expanded { printed: Some((Kind::Numbers, _)), .. }] => Value::Number,
        [Expanded { arg: Arg::One(prefix) | Arg::Many(prefix), printed: Some((kind, _)), .. }] => {
            Value::Printed(Words { kind: *kind, prefix: prefix.clone(), one: true, sure: true })
        }
        [Expanded { arg: Arg::One(prefix) | Arg::Many(prefix), tame, pattern, .. }] => {
            Value::Unknown { prefix: prefix.clone(), tame: *tame, pattern: pattern.clone() }
        }
        _ if !values.is_empty()
            && values.iter().all(|v| v.exact().is_some_and(crate::shell::state::is_plain_number)) =>
        {
            Value::Number
        }
        _ => Value::any(),
    }
}

/// The commands of two rounds of one body, each with the strictest of what was found.
fn merge(mut all: Vec<Command>, round: Vec<Command>) -> Vec<Command> {
    let same = all.len() == round.len() && all.iter().zip(&round).all(|(one, two)| one.text == two.text);
    if !same {
        all.extend(round);
        return all;
    }
    for (one, two) in all.iter_mut().zip(round) {
        if two.class > one.class {
            one.class = two.class;
            one.why = two.why;
        }
        for path in two.paths {
            if !one.paths.contains(&path) {
                one.paths.push(path);
            }
        }
        for form in two.forms.into_iter().chain([two.plain]) {
            if !one.forms.contains(&form) {
                one.forms.push(form);
            }
        }
    }
    all
}
