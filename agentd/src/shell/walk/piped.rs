//! What one command prints for another to read: for `xargs` behind it in a pipe, for a `read` that a loop begins with, as
//! the words of a substitution. Part of the walk.

use super::paths::absolute;
use super::{Walk, Walked};
use crate::shell::analysis::{Bare, Listed, Tracked};
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
            let folder = if output.root.starts_with('/') { "" } else { folder? };
            output.root = absolute(folder, &output.root);
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
            return Some(Words { kind: Kind::Past, prefix: String::new(), one: false, sure: false });
        }
        self.lists(output);
        Some(output.words())
    }

    /// Notes that names are taken to be plain.
    fn lists(&mut self, output: &Output) {
        let (folder, hints, whole) = (output.root.clone(), output.hints.clone(), output.whole);
        let bare = if output.prefix.is_empty() { output.bare } else { Bare::No };
        self.note_listed(Listed { folder, hints, tracked: output.tracked, bare, whole });
    }

    /// Notes that no name in a folder is taken to be an option.
    pub(super) fn looks_for_options(&mut self, folder: String) {
        let (hints, tracked, bare) = (Vec::new(), Tracked::No, Bare::Options);
        self.note_listed(Listed { folder, hints, tracked, bare, whole: true });
    }

    fn note_listed(&mut self, listed: Listed) {
        if !self.listed.contains(&listed) {
            self.listed.push(listed);
        }
    }

    /// The words that `xargs` appends or puts in.
    pub(super) fn hands_on(&mut self, words: &[Expanded], inner: &mut [Expanded]) {
        let Some(output) = self.piped.clone() else { return };
        let Some(how) = Handing::of(words) else { return };
        let of_names = matches!(output.kind, Kind::Names | Kind::Past);
        if !stays(words) || how.whole != output.whole || !of_names {
            return;
        }
        let written = words.get(how.command..).unwrap_or_default();
        let words = match self.taken(&output) {
            None if self.trusting && (output.prefix.is_empty() || output.tracked != Tracked::No) => {
                self.lists(&output);
                output.words()
            }
            // An index may hold what leads out of the folder.
            None if output.tracked != Tracked::No => return,
            None => Words { prefix: output.prefix.clone(), ..output.words() },
            Some(words) => words,
        };
        // Of names in the past it isn't even known that they are no options.
        if words.kind != Kind::Names {
            return;
        }
        for (at, word) in inner.iter_mut().enumerate().skip(1) {
            if !written.get(at).is_none_or(|written| how.keeps_name(written)) {
                continue;
            }
            (word.tame, word.printed) = (true, Some((Kind::Names, false)));
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
            Some(words) => {
                // At the end of what there is to read it is empty. `ls` parts folders by empty lines.
                let mut failed = self.state.clone();
                failed.set(name, Value::Printed(Words { one: true, ..words.clone() }));
                self.failed = Some(failed);
                let sure = self.feed.as_ref().is_some_and(|output| output.bare != Bare::All);
                self.state.set(name, Value::Printed(Words { one: true, sure, ..words }));
            }
            // A line is taken as a whole, if a line is what it takes.
            None => self.loose |= self.feed.as_ref().is_some_and(|output| output.whole != whole),
        }
    }
}

/// How `xargs` takes words and hands them on.
struct Handing<'a> {
    /// Whether there is a NUL byte behind each.
    whole: bool,
    /// What stands for them in the words of its command.
    sign: Option<&'a str>,
    /// Where its command begins.
    command: usize,
}

impl<'a> Handing<'a> {
    /// By its own words, if each of them is known.
    fn of(words: &'a [Expanded]) -> Option<Self> {
        let mut how = Self { whole: false, sign: None, command: 0 };
        let mut own = words.iter().map_while(Expanded::exact).enumerate().skip(1);
        let is_number = |text: &str| !text.is_empty() && text.bytes().all(|byte| byte.is_ascii_digit());
        while let Some((at, word)) = own.next() {
            match word {
                "-0" | "-0r" | "-r0" => how.whole = true,
                "-r" | "-t" => {}
                // Lines as they are.
                "-d" => drop(own.next().filter(|(_, end)| *end == "\\n")?),
                "-d\\n" => {}
                "-I" => how.sign = Some(own.next().filter(|(_, sign)| is_sign(sign))?.1),
                "-n" | "-L" | "-P" => drop(own.next().filter(|(_, count)| is_number(count))?),
                _ => match (word.get(..2), word.get(2..)) {
                    (Some("-I"), Some(sign)) if is_sign(sign) => how.sign = Some(sign),
                    (Some("-n" | "-L" | "-P"), Some(count)) if is_number(count) => {}
                    _ if word.starts_with('-') => return None,
                    _ => {
                        how.command = at;
                        break;
                    }
                },
            }
        }
        Some(how)
    }

    /// Whether a name that is put in leads nowhere else by what it is put between: it may be `.`, begin with a point, or
    /// with the folder that it is in.
    fn keeps_name(&self, word: &Expanded) -> bool {
        let Some((before, after)) = self.sign.and_then(|sign| word.exact()?.split_once(sign)) else { return true };
        let again = self.sign.is_some_and(|sign| after.contains(sign));
        (before.is_empty() || before.ends_with('/')) && !again && !after.contains("./") && !after.ends_with('.')
    }
}

/// `{}` and `%`, which are in no option.
fn is_sign(text: &str) -> bool {
    matches!(text, "{}" | "%")
}

/// Whether the command that gets names below a folder has nothing behind them that leads elsewhere.
pub(super) fn stays(words: &[Expanded]) -> bool {
    words.iter().all(|word| word.exact().is_some_and(|word| !word.contains("..")))
}
