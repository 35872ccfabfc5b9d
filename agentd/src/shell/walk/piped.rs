//! What one command prints for another to read: for `xargs` behind it in a pipe, for a `read` that a loop begins with, as
//! the words of a substitution. Part of the walk.

use super::paths::absolute;
use super::{Walk, Walked};
use crate::shell::analysis::{Bare, Listed};
use crate::shell::ast::{Compound, Simple};
use crate::shell::expand::Expanded;
use crate::shell::printed::{self, Kind, Output, Words};
use crate::shell::programs::Arg;
use crate::shell::state::Value;

impl Walk<'_> {
    /// What is known of the output of a command.
    pub(super) fn printed_by(&self, input: Option<&Output>, words: &[Expanded]) -> Option<Output> {
        let folder = self.state.folder().filter(|folder| {
            let below = folder.strip_prefix(self.world.cwd);
            below.is_some_and(|rest| rest.is_empty() || rest.starts_with('/'))
        });
        let mut output = printed::of(input, words, folder.unwrap_or("/"))?;
        let of_names = matches!(output.kind, Kind::Names | Kind::Past);
        if input.is_none_or(|input| input.root != output.root) && of_names {
            output.root = absolute(folder?, &output.root);
        }
        Some(output)
    }

    /// An output, taken apart at blanks.
    pub(in crate::shell) fn taken(&mut self, output: &Output) -> Option<Words> {
        if output.whole {
            return None;
        }
        if output.kind != Kind::Names {
            return Some(output.words());
        }
        if !self.trusting {
            return Some(Words { kind: Kind::Past, prefix: String::new(), one: false });
        }
        self.lists(output);
        Some(output.words())
    }

    /// Notes that names are taken to be plain.
    fn lists(&mut self, output: &Output) {
        let (folder, hints, whole) = (output.root.clone(), output.hints.clone(), output.whole);
        let bare = if output.prefix.is_empty() { output.bare } else { Bare::No };
        let listed = Listed { folder, hints, tracked: output.tracked, bare, whole };
        if !self.listed.contains(&listed) {
            self.listed.push(listed);
        }
    }

    /// The words that `xargs` appends or puts in.
    pub(super) fn hands_on(&mut self, words: &[Expanded], inner: &mut [Expanded]) {
        let Some(output) = self.piped.clone() else { return };
        let Some(program) = inner.first().and_then(Expanded::exact) else { return };
        let own: Vec<&str> =
            words.iter().skip(1).map_while(|word| word.exact().filter(|word| *word != program)).collect();
        let known = |word: &&str| {
            // Lines as they are.
            ["-d", "\\n", "-d\\n"].contains(word)
                || word.chars().all(|letter| "-0rtnLPI{}%".contains(letter) || letter.is_ascii_digit())
        };
        let whole = own.iter().any(|word| ["-0", "-0r", "-r0"].contains(word));
        let of_names = matches!(output.kind, Kind::Names | Kind::Past);
        if !own.iter().all(known) || !stays(words) || whole != output.whole || !of_names {
            return;
        }
        let words = match self.taken(&output) {
            None if output.prefix.is_empty() && self.trusting => {
                self.lists(&output);
                output.words()
            }
            None if output.prefix.is_empty() => return,
            None => output.words(),
            Some(words) => words,
        };
        // Of names in the past it isn't even known that they are no options.
        if words.kind != Kind::Names {
            return;
        }
        for word in inner.iter_mut().skip(1) {
            word.tame = true;
            if let Arg::One(begins) | Arg::Many(begins) = &mut word.arg
                && begins.is_empty()
            {
                begins.clone_from(&words.prefix);
            }
        }
    }

    /// A compound command that reads this.
    pub(super) fn fed(&mut self, body: &Compound, input: Option<Output>) -> Walked<()> {
        let Compound::While { condition, until, body: inner } = body else { return self.compound(body) };
        let Some(input) = input else { return self.compound(body) };
        let (state, at) = (self.state.clone(), self.commands.len());
        let outer = (self.shared, self.loose);
        (self.shared, self.loose) = (true, false);
        self.while_loop(condition, *until, inner, Some(&input))?;
        if self.loose {
            self.commands.truncate(at);
            (self.state, self.failed) = (state, None);
            self.while_loop(condition, *until, inner, None)?;
        }
        self.shared = outer.0;
        self.loose |= outer.1;
        Ok(())
    }

    /// A command that may read what the loop around it reads.
    pub(super) fn takes_input(&mut self, simple: &Simple, words: &[Expanded], reads: bool) {
        let exact: Option<Vec<&str>> = words.iter().map(Expanded::exact).collect();
        let (whole, name) = match exact.as_deref() {
            Some(["read", "-r", name] | ["read", name]) if !name.starts_with('-') => (false, *name),
            Some(["read", "-r", "-d", "", name] | ["read", "-d", "", "-r", name]) => (true, *name),
            _ => {
                let several = words.iter().any(|word| matches!(word.arg, Arg::Many(_)));
                self.loose |= printed::may_take_input(words, reads && !several);
                return;
            }
        };
        let as_it_is = simple.assignments.iter().all(|assignment| assignment.text == "IFS=");
        let feed = self.feed.clone().filter(|output| as_it_is && output.whole == whole);
        let words = feed.and_then(|output| self.taken(&Output { whole: false, ..output }));
        match words {
            Some(words) => self.state.set(name, Value::Printed(Words { one: true, ..words })),
            // A line is taken as a whole, if a line is what it takes.
            None => self.loose |= self.feed.as_ref().is_some_and(|output| output.whole != whole),
        }
    }
}

/// Whether the command that gets names below a folder has nothing behind them that leads elsewhere.
pub(super) fn stays(words: &[Expanded]) -> bool {
    words.iter().all(|word| word.exact().is_some_and(|word| !word.contains("..")))
}
