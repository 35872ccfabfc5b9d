//! What a command with known words does: functions, builtins, programs, and what they run in turn. Part of the walk.

use super::simple::shown;
use super::{SCRIPTS, Walk, Walked, closes, piped};
use crate::shell::analysis::{Access, Class, Doing, PathUse};
use crate::shell::builtins::{self, Effect};
use crate::shell::expand::Expanded;
use crate::shell::printed::Kind;
use crate::shell::programs::{self, Arg, Judgement, Known};
use crate::shell::{names, parse};

/// Folders whose programs are those that a name alone would run.
const FOLDERS: [&str; 3] = ["/bin", "/usr/bin", "/usr/local/bin"];
/// What runs another command in the same way, so that rules look through it.
const STRIPPED: [&str; 9] = ["timeout", "nice", "nohup", "stdbuf", "command", "builtin", "noglob", "env", "xargs"];
/// Programs that obey files of the folder in which they run.
const OBEYING: [&str; 1] = ["git"];
/// Builtins of which there are programs too.
const ALSO_PROGRAMS: [&str; 8] = ["echo", "printf", "test", "[", "true", "false", "pwd", "kill"];
/// What runs the command that is among its words, after options that aren't told apart here. Rules that tighten look at
/// every word on that may be its first.
const FRONTS: [&str; 47] = [
    "builtin",
    "bunx",
    "busybox",
    "bwrap",
    "choom",
    "chroot",
    "chrt",
    "command",
    "doas",
    "env",
    "eval",
    "exec",
    "fakeroot",
    "firejail",
    "flock",
    "ionice",
    "linux32",
    "linux64",
    "ltrace",
    "nice",
    "nohup",
    "npx",
    "nsenter",
    "parallel",
    "pkexec",
    "pnpx",
    "prlimit",
    "rlwrap",
    "run0",
    "runuser",
    "script",
    "setarch",
    "setsid",
    "stdbuf",
    "strace",
    "su",
    "sudo",
    "systemd-run",
    "taskset",
    "time",
    "timeout",
    "toybox",
    "trap",
    "unbuffer",
    "unshare",
    "watch",
    "xvfb-run",
];
/// Words after such a front that are looked at.
const FRONT_WORDS: usize = 8;
/// Commands that run commands, one within the other.
const WRAPPERS: usize = 8;

/// What was found of a command.
pub(super) struct Verdict {
    pub class: Class,
    pub doing: Doing,
    pub why: String,
    pub paths: Vec<PathUse>,
    pub program: Option<String>,
    /// How many words are left out of the plain text.
    pub stripped: usize,
    /// The texts of the commands that it runs.
    pub inner: Vec<String>,
}

impl Verdict {
    pub fn harmless() -> Self {
        Self {
            class: Class::ReadOnly,
            doing: Doing::Other,
            why: "it changes only the shell of the line".to_owned(),
            paths: Vec::new(),
            program: None,
            stripped: 0,
            inner: Vec::new(),
        }
    }

    pub fn unknown(why: String) -> Self {
        Self { class: Class::Unknown, why, ..Self::harmless() }
    }
}

/// Who looks a name up.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Lookup {
    /// The shell: functions, builtins, programs.
    Shell,
    /// `command` and `builtin`: no functions.
    Builtin,
    /// A program: programs only.
    Program,
}

impl Walk<'_> {
    pub(super) fn verdict(&mut self, words: &[Expanded]) -> Walked<Verdict> {
        self.looked_up(words, Lookup::Shell, 0)
    }

    fn looked_up(&mut self, words: &[Expanded], lookup: Lookup, depth: usize) -> Walked<Verdict> {
        let Some((name, arguments)) = words.split_first() else { return Ok(Verdict::harmless()) };
        let Some(written) = name.exact() else {
            return Ok(Verdict::unknown(format!("what `{}` runs is not known before it runs", name.text)));
        };
        if depth > WRAPPERS {
            return Ok(Verdict::unknown("too many commands run one another".to_owned()));
        }
        if lookup == Lookup::Shell
            && let Some(sure) = self.state.function(written)
        {
            self.state.forget();
            self.may_stop();
            if sure {
                let why = "it runs a function of the line".to_owned();
                return Ok(Verdict { why, program: Some(written.to_owned()), ..Verdict::harmless() });
            }
        }
        let args: Vec<Arg> = arguments.iter().map(|word| word.arg.clone()).collect();
        let internal = lookup != Lookup::Program;
        if internal && self.declares_list(written, arguments) {
            return Ok(Verdict::unknown("a value that may be the text of a list is evaluated".to_owned()));
        }
        if internal && written == "local" && !self.in_function {
            return Ok(Verdict::unknown("local fails outside a function, so that nothing is set".to_owned()));
        }
        let (judgement, effects) = if internal && builtins::is_builtin(written) {
            builtins::judge(written, &args)
        } else {
            (self.program(written, &args), Vec::new())
        };
        let through = internal && matches!(written, "command" | "builtin");
        let next = if through { Lookup::Builtin } else { Lookup::Program };
        let mut verdict = self.judged(judgement, words, next, depth)?;
        self.apply(effects, arguments);
        verdict.program = Some(written.to_owned());
        let base = written.rsplit('/').next().unwrap_or(written);
        if base != written {
            let rest: Vec<&str> = std::iter::once(base).chain(arguments.iter().map(shown)).collect();
            verdict.inner.push(rest.join(" "));
        }
        if verdict.class == Class::Unknown && FRONTS.contains(&base) {
            verdict.inner.extend(behind_front(arguments));
        }
        Ok(verdict)
    }

    /// A program by name or by its place in a folder of the system.
    fn program(&self, written: &str, args: &[Arg]) -> Judgement {
        let name = match written.rsplit_once('/') {
            None => written,
            Some((folder, name)) if FOLDERS.contains(&folder) => name,
            Some(_) => return Judgement::Unknown(format!("`{written}` is no program of the system's folders")),
        };
        let (folder, args) = match self.chosen_folder(name, args) {
            Some(rest) => (Some(self.world.cwd), rest),
            None => (self.state.folder(), args),
        };
        if OBEYING.contains(&name) && folder != Some(self.world.cwd) {
            return Judgement::Unknown(format!("{name} runs in another folder, whose configuration may run programs"));
        }
        if ALSO_PROGRAMS.contains(&name) {
            return builtins::judge(name, args).0;
        }
        programs::judge(name, args)
    }

    /// The words after `-C` and the folder of the session, in which git runs then. `--no-pager` before it makes no
    /// difference where no pager is asked for.
    fn chosen_folder<'a>(&self, name: &str, args: &'a [Arg]) -> Option<&'a [Arg]> {
        let args = match args.split_first() {
            Some((Arg::Literal(option), rest)) if matches!(option.as_str(), "--no-pager" | "-P") => rest,
            _ => args,
        };
        let [Arg::Literal(option), Arg::Literal(folder), rest @ ..] = args else { return None };
        let here = match folder.as_str() {
            "." | "./" => self.state.folder() == Some(self.world.cwd),
            whole => whole.strip_suffix('/').unwrap_or(whole) == self.world.cwd,
        };
        (name == "git" && option == "-C" && here && !self.world.cwd.is_empty()).then_some(rest)
    }

    fn judged(&mut self, judgement: Judgement, words: &[Expanded], next: Lookup, depth: usize) -> Walked<Verdict> {
        let name = words.first().map_or("", shown);
        match judgement {
            Judgement::Known(known) if may_connect(words, &known) => {
                Ok(Verdict::unknown(format!("{name} may take a word that isn't known for a network address")))
            }
            Judgement::Known(known) => {
                let mut verdict = self.known(words, &known, name);
                verdict.paths.extend(self.named_by_option(words));
                Ok(verdict)
            }
            Judgement::Unknown(why) => Ok(Verdict::unknown(why)),
            Judgement::Script(text) => self.script(&text),
            Judgement::Runs { argv, does } => {
                let outer = self.known(words, &does, name);
                let mut inner_words = again(words, &argv);
                match name {
                    "xargs" if does.paths.is_empty() => self.hands_on(words, &mut inner_words),
                    "find" if piped::stays(words) => {
                        let solid = finds_files(words);
                        for word in inner_words.iter_mut().skip(1) {
                            (word.tame, word.solid) = (true, solid);
                        }
                    }
                    _ => {}
                }
                let mut inner = self.looked_up(&inner_words, next, depth + 1)?;
                if name == "find" {
                    inner.paths.extend(named_by_find(words, &inner.paths));
                }
                Ok(around(outer, inner, words, &inner_words))
            }
        }
    }

    /// Which file an option among the words may name, if there may be such an option: a name for which a pattern stands
    /// is none if no name in the folder is.
    fn named_by_option(&mut self, words: &[Expanded]) -> Option<PathUse> {
        let first = options_that_name(words).next()?.clone();
        let patterns = options_that_name(words).all(|word| word.tame && word.pattern.is_some());
        match self.state.folder().map(str::to_owned) {
            Some(folder) if patterns && self.trusting => {
                self.looks_for_options(folder);
                None
            }
            _ => self.uses(&Expanded::of(first.arg), Access::Read, &first.text).pop(),
        }
    }

    fn known(&self, words: &[Expanded], known: &Known, name: &str) -> Verdict {
        let paths = known.paths.iter().flat_map(|path| self.uses_of(words, path)).collect();
        let why = match known.class {
            Class::ReadOnly => format!("{name} only reads"),
            Class::Unknown => format!("{name} may run files of its own beside the commands on its line"),
            Class::Edits => format!("{name} changes files"),
        };
        Verdict { class: known.class, doing: known.doing, why, paths, ..Verdict::harmless() }
    }

    /// A text that another shell runs: it knows nothing of this one but the folder.
    fn script(&mut self, text: &str) -> Walked<Verdict> {
        self.spend(text.len() / 200)?;
        if self.scripts >= SCRIPTS {
            return Ok(Verdict::unknown("too many texts are run as lines".to_owned()));
        }
        let list = match parse::parse(text) {
            Ok(list) => list,
            Err(why) => return Ok(Verdict::unknown(format!("the line that it runs is not understood: {why}"))),
        };
        let mut inside = crate::shell::state::State::new(None);
        inside.folders.clone_from(&self.state.folders);
        let state = std::mem::replace(&mut self.state, inside);
        let harm = self.harm.take();
        let exits = std::mem::take(&mut self.exits);
        let (failed, stopped) = (self.failed.take(), self.stopped.take());
        let (unsure, in_function) = (std::mem::take(&mut self.unsure), std::mem::take(&mut self.in_function));
        self.closed |= closes(text);
        self.scripts += 1;
        let result = self.lines(&list);
        self.scripts -= 1;
        (self.state, self.harm, self.exits) = (state, harm, exits);
        (self.failed, self.stopped, self.unsure, self.in_function) = (failed, stopped, unsure, in_function);
        result?;
        let why = "it runs a line whose commands are judged on their own".to_owned();
        Ok(Verdict { why, ..Verdict::harmless() })
    }

    fn apply(&mut self, effects: Vec<Effect>, arguments: &[Expanded]) {
        for effect in effects {
            match effect {
                Effect::Assign(name, value) => self.assign(&name, value),
                Effect::Map(name) => {
                    // One that is another kind of array already stays it.
                    let map = matches!(self.state.get(&name), None | Some(crate::shell::state::Value::Map));
                    if !map {
                        self.harm(format!("what the keys of `{name}` are is not known"));
                    }
                    self.assign(
                        &name,
                        if map { crate::shell::state::Value::Map } else { crate::shell::state::Value::any() },
                    );
                }
                Effect::Export(name, value) => {
                    let exact = value.as_ref().and_then(|v| {
                        if let crate::shell::state::Value::Exact(t) = v { Some(t.clone()) } else { None }
                    });
                    if !names::is_setting(&name, exact.as_deref()) {
                        self.harm(format!("programs would see `{name}`, which they may obey"));
                    }
                    if let Some(value) = value {
                        self.state.set(&name, value);
                    }
                }
                Effect::Leave => self.leaves(),
                Effect::Folder { physical } => self.change_folder(arguments, physical),
            }
        }
    }
}

/// Whether a path of a program that connects for some may be such a one: nothing is known of it, not even that it is a
/// name in the folder.
fn may_connect(words: &[Expanded], known: &Known) -> bool {
    let written = words.first().and_then(Expanded::exact).unwrap_or_default();
    let name = written.rsplit('/').next().unwrap_or(written);
    let unknown = |arg: &Arg| matches!(arg, Arg::One(prefix) | Arg::Many(prefix) if prefix.is_empty());
    let tame = |arg: &Arg| {
        let mut alike = words.iter().filter(|word| word.is(arg)).peekable();
        alike.peek().is_some() && alike.all(|word| word.tame)
    };
    programs::CONNECTING.contains(&name) && known.paths.iter().any(|path| unknown(&path.arg) && !tame(&path.arg))
}

/// Words of a program of which an option names a file that may be such an option, and the file elsewhere: they may hold
/// a slash.
fn options_that_name(words: &[Expanded]) -> impl Iterator<Item = &Expanded> {
    /// Options without a value, behind which `--` surely ends the options.
    const ALONE: &str = "-l -c -w -n -r -i -rn -h -s -sh -sch -hs -a -o -v -q -E -F -L -H";
    let written = words.first().and_then(Expanded::exact).unwrap_or_default();
    let name = written.rsplit('/').next().unwrap_or(written);
    let exact = |at: usize| words.get(at).and_then(Expanded::exact);
    let ends = |at: usize| {
        let alone = |text: &str| !text.starts_with('-') || ALONE.split(' ').any(|option| option == text);
        exact(at) == Some("--") && exact(at - 1).is_some_and(alone)
    };
    let end = match programs::READING_BY_OPTION.contains(&name) {
        true => (1..words.len()).find(|at| ends(*at)).unwrap_or(words.len()),
        false => 0,
    };
    words.iter().take(end).skip(1).filter(|word| {
        let unknown = matches!(&word.arg, Arg::One(prefix) | Arg::Many(prefix) if prefix.is_empty());
        // A slash at the end alone makes a folder of it.
        let flat = |pattern: &String| !pattern.trim_end_matches('/').contains('/');
        // Names that a command prints are looked at, and none of them begins as an option.
        let printed = matches!(word.printed, Some((Kind::Names, _)));
        unknown && !printed && !word.pattern.as_ref().is_some_and(flat)
    })
}

/// Whether `find` names files alone that are no links to its command.
fn finds_files(words: &[Expanded]) -> bool {
    let exact: Vec<&str> = words.iter().filter_map(Expanded::exact).collect();
    let before: Vec<&str> = exact.iter().copied().take_while(|word| *word != "-exec").collect();
    let turns = ["-o", "-or", "!", "-not", ",", "-L", "-H", "-follow"];
    exact.len() == words.len()
        && before.windows(2).any(|pair| pair == ["-type", "f"])
        && !exact.iter().any(|word| turns.contains(word))
}

/// What the command that `find` runs uses, once more for each name that is looked for, since that may tell what it is.
fn named_by_find(words: &[Expanded], used: &[PathUse]) -> Vec<PathUse> {
    let tests = ["-name", "-iname", "-path", "-ipath", "-wholename"];
    let named = words.windows(2).filter_map(|pair| match pair {
        [test, name] if test.exact().is_some_and(|test| tests.contains(&test)) => name.exact(),
        _ => None,
    });
    let again = |name: &str| {
        let text = format!("**/{name}");
        let below = used.iter().filter(|used| used.below && used.pattern.is_none());
        below.map(move |used| PathUse { text: text.clone(), solid: true, ..used.clone() }).collect::<Vec<_>>()
    };
    named.flat_map(again).collect()
}

/// The words that are run in turn, with what is known of how they were written. They stand in the same order, so that a
/// word which was put in or appended gets nothing of another that looks like it.
fn again(words: &[Expanded], argv: &[Arg]) -> Vec<Expanded> {
    let mut rest = words.get(1..).unwrap_or(&[]);
    let mut found = |arg: &Arg| {
        let at = rest.iter().position(|word| word.is(arg))?;
        let word = rest.get(at).cloned();
        rest = rest.get(at + 1..).unwrap_or(&[]);
        word
    };
    let made = |arg: &Arg| match arg {
        Arg::Literal(text) => Expanded::literal(text),
        Arg::One(_) | Arg::Many(_) => Expanded { text: "…".to_owned(), ..Expanded::of(arg.clone()) },
    };
    argv.iter().map(|arg| found(arg).unwrap_or_else(|| made(arg))).collect()
}

/// A command that runs another one.
fn around(outer: Verdict, inner: Verdict, words: &[Expanded], inner_words: &[Expanded]) -> Verdict {
    let start = words.len().saturating_sub(inner_words.len());
    let suffix = words.get(start..) == Some(inner_words);
    let name = words.first().map_or("", shown);
    let before = words.get(1..start).unwrap_or(&[]);
    let strips = suffix
        && STRIPPED.contains(&name)
        && match name {
            "xargs" => before.is_empty(),
            "env" => before.iter().all(is_setting),
            _ => true,
        };
    let mut texts = vec![inner_words.iter().map(shown).collect::<Vec<_>>().join(" ")];
    texts.extend(inner.inner);
    let strict = inner.class >= outer.class;
    Verdict {
        class: outer.class.max(inner.class),
        doing: inner.doing,
        why: if strict { inner.why } else { outer.why },
        paths: outer.paths.into_iter().chain(inner.paths).collect(),
        program: None,
        stripped: if strips { start + inner.stripped } else { 0 },
        inner: texts,
    }
}

/// The commands that the words after a front may be, and those of a text among them.
fn behind_front(arguments: &[Expanded]) -> Vec<String> {
    let mut commands = Vec::new();
    for at in 0..arguments.len().min(FRONT_WORDS) {
        let rest: Vec<&str> = arguments.iter().skip(at).map(shown).collect();
        let Some(first) = rest.first() else { break };
        // `--split-string=rm x`
        let first = match first.strip_prefix("--").and_then(|option| option.split_once('=')) {
            Some((_, value)) => value,
            None => first,
        };
        if first.starts_with('-') {
            continue;
        }
        if first.contains(char::is_whitespace) {
            commands.extend(first.split([';', '&', '|', '\n']).map(|command| command.trim().to_owned()));
        }
        commands.push(rest.join(" "));
    }
    commands
}

fn is_setting(word: &Expanded) -> bool {
    word.exact().and_then(|text| text.split_once('=')).is_some_and(|(name, value)| names::is_setting(name, Some(value)))
}
