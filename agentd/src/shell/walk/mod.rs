//! The walk over the tree of a line: in the order in which bash runs it, with what is known of variables and of the
//! folder at each place. Called by the analysis. Every simple command it meets becomes one of the analysis.

mod assign;
mod condition;
mod flow;
mod known;
mod paths;
mod piped;
mod redirects;
mod simple;
mod verdict;

use super::analysis::{Class, Command, Doing, Listed, PathUse, World};
use super::ast::List;
use super::names;
use super::printed::Output;
use super::state::{State, Value};

/// So many commands are walked, loops and branches counted as often as they are.
const STEPS: usize = 400;
/// So many words are expanded, loops and branches counted as often as they are.
const WORDS: usize = 8_000;
/// Texts that run within texts.
const SCRIPTS: usize = 4;

/// What was found, or why the line is refused as a whole.
pub(super) type Walked<T> = Result<T, String>;

/// See the module.
pub(super) struct Walk<'a> {
    world: World<'a>,
    pub(super) state: State,
    /// What is known if the last command failed, where that makes a difference.
    failed: Option<State>,
    commands: Vec<Command>,
    steps: usize,
    words: usize,
    scripts: usize,
    /// Why what is looked at right now may do anything.
    harm: Option<String>,
    /// What is known where bash may have given up on the line of the text, to go on with the next.
    stopped: Option<State>,
    /// Whether what is looked at right now may not happen: how many reasons there are.
    unsure: usize,
    /// Whether it is the body of a function.
    in_function: bool,
    /// Whether a stream may be closed.
    closed: bool,
    /// What is known where each enclosing loop may be left or begun again.
    exits: Vec<Vec<State>>,
    /// Whether what the last list of a substitution prints is a number.
    pub(super) number_output: bool,
    /// Whether the elements that are read have texts as keys.
    keyed: bool,
    /// What comes down the pipe to the command that is looked at right now.
    piped: Option<Output>,
    /// What the last command or pipeline prints.
    pub(super) printed: Option<Output>,
    /// What a `read` that decides on a loop gets.
    feed: Option<Output>,
    /// Whether commands have the input of such a loop.
    shared: bool,
    /// Whether one of them may have taken a part of it.
    loose: bool,
    /// Whether names are taken to be plain.
    trusting: bool,
    /// Names that are.
    listed: Vec<Listed>,
}

/// Walks a line that begins in the folder of `world`.
pub(super) fn walk(text: &str, list: &List, world: World<'_>) -> Walked<Vec<Command>> {
    let mut walk = Walk { closed: closes(text), ..started(world) };
    walk.lines(list)?;
    Ok(walk.commands)
}

/// As [`walk`], if the names that are given back are plain.
pub(super) fn walk_if_plain(text: &str, list: &List, world: World<'_>) -> Walked<(Vec<Command>, Vec<Listed>)> {
    let mut walk = Walk { trusting: true, closed: closes(text), ..started(world) };
    walk.lines(list)?;
    Ok((walk.commands, walk.listed))
}

fn started(world: World<'_>) -> Walk<'_> {
    Walk {
        world,
        state: State::new(Some(world.cwd.to_owned())),
        failed: None,
        commands: Vec::new(),
        steps: 0,
        words: 0,
        scripts: 0,
        harm: None,
        stopped: None,
        unsure: 0,
        in_function: false,
        closed: false,
        exits: Vec::new(),
        number_output: false,
        keyed: false,
        piped: None,
        printed: None,
        feed: None,
        shared: false,
        loose: false,
        trusting: false,
        listed: Vec::new(),
    }
}

/// Whether a text may close a stream: `>&-`, `3>&1-`.
fn closes(text: &str) -> bool {
    let mut ends = text.split('&').skip(1).map(|rest| rest.trim_start_matches(|c: char| c.is_ascii_digit()));
    ends.any(|rest| rest.starts_with(['-', '"', '\'', '$', '\\']))
}

impl Walk<'_> {
    /// Notes that what is looked at may do anything.
    pub(super) fn harm(&mut self, why: String) {
        self.harm.get_or_insert(why);
    }

    /// The home folder, if the line has not set another one.
    pub(super) fn home(&self) -> Option<String> {
        match self.state.get("HOME") {
            None => Some(self.world.home.to_owned()),
            Some(Value::Exact(home)) => Some(home.clone()),
            Some(_) => None,
        }
    }

    /// Sets a variable of the line.
    pub(super) fn assign(&mut self, name: &str, value: Value) {
        if !names::is_own(name) {
            self.harm(format!("it sets `{name}`, which programs or the shell may obey"));
        }
        let value = match self.unsure {
            0 => value,
            _ => self.state.get(name).map_or_else(Value::any, |old| old.join(&value)),
        };
        self.state.set(name, value);
    }

    /// Looks at what may not happen: what it sets may also stay as it was.
    pub(super) fn perhaps<T>(&mut self, walk: impl FnOnce(&mut Self) -> Walked<T>) -> Walked<T> {
        self.unsure += 1;
        let result = walk(self);
        self.unsure -= 1;
        result
    }

    /// What was looked at last may have failed before it began, where `before` is known, as well as at its end.
    fn may_have_failed(&mut self, before: State) {
        self.failed = match self.failed.take() {
            Some(failed) => Some(failed.join(&before)),
            None => (before != self.state).then(|| before.join(&self.state)),
        };
    }

    /// Bash may give up right here.
    pub(super) fn may_stop(&mut self) {
        let state = self.state.clone();
        self.may_have_stopped(&state);
    }

    /// Bash may have given up anywhere after `before`: on what was looked at last, and on the line with it.
    pub(super) fn may_have_stopped(&mut self, before: &State) {
        let state = self.take_state();
        self.state = state.join(before);
        self.stopped = Some(match self.stopped.take() {
            Some(stopped) => stopped.join(&self.state),
            None => self.state.clone(),
        });
    }

    /// Takes what was noted and leaves a clean sheet.
    fn take_harm(&mut self) -> Option<String> {
        self.harm.take()
    }

    /// Adds what is no command of its own but does something: the words of a loop, redirections of a group.
    fn note(&mut self, text: &str, paths: Vec<PathUse>, class: Class) {
        let harm = self.take_harm();
        let class = if harm.is_some() { Class::Unknown } else { class };
        if class == Class::ReadOnly && paths.is_empty() {
            return;
        }
        let why = harm.unwrap_or_else(|| match class {
            Class::ReadOnly => "it only reads".to_owned(),
            _ => "it changes files".to_owned(),
        });
        self.commands.push(Command {
            text: text.to_owned(),
            program: None,
            plain: text.to_owned(),
            forms: vec![text.to_owned()],
            class,
            doing: Doing::Read,
            why,
            paths,
            named: Vec::new(),
            hidden: false,
        });
    }

    /// One more command.
    fn step(&mut self) -> Walked<()> {
        self.spend(1)
    }

    /// Words, or work as long as that of so many words.
    pub(super) fn spend_words(&mut self, words: usize) -> Walked<()> {
        self.words += words;
        if self.words > WORDS {
            return Err(format!("the line takes more than {WORDS} words to follow"));
        }
        Ok(())
    }

    /// Work as long as that of so many commands; too much is refused.
    pub(super) fn spend(&mut self, steps: usize) -> Walked<()> {
        self.steps += steps;
        if self.steps > STEPS {
            return Err(format!("the line takes more than {STEPS} steps to follow"));
        }
        Ok(())
    }
}
