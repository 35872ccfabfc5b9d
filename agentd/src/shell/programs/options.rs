//! A table of a program's harmless options, and how its words are read by it. Called by the files of programs. It
//! never holds what is harmful: a word that no table names is refused, and so are abbreviations, since what they stand
//! for depends on options that the table doesn't name.
//!
//! A table is two texts. Short options are written as for `getopt`: a letter alone is an option without a value, `x:`
//! takes one (attached, or the next word), `x?` takes one only if it is attached, `x@` takes the path of a file that is
//! read, and `#` stands for `-5` and the like. Long options are words: `all`, `width=`, `color?`, `files0-from=@`.

use super::super::analysis::{Access, Class, Doing};
use super::{Arg, Judgement, Known, PathArg};

/// The harmless uses of a program.
#[derive(Debug, Clone, Copy)]
pub(super) struct Options {
    short: &'static str,
    long: &'static str,
    class: Class,
    doing: Doing,
    operands: Operands,
    most: usize,
    permutes: bool,
    dashes_end: bool,
    no_option_harms: bool,
    follows: Follows,
    dashed_values: bool,
    dashed_values_of: &'static [&'static str],
    instead_of_text: &'static [&'static str],
    more: Option<&'static Options>,
}

/// What a program's operands are.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Operands {
    /// No paths.
    Text,
    /// Paths; without any, this one.
    Paths(Access, Option<&'static str>),
    /// A text, then paths; without any, this one.
    TextThenPaths(Access, Option<&'static str>),
}

/// When a program follows the links below a folder that it reads.
#[derive(Debug, Clone, Copy)]
enum Follows {
    /// With one of these options.
    With(&'static [&'static str]),
    /// Always but with one of these.
    Without(&'static [&'static str]),
}

/// Words as the program reads them.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub(super) struct Parsed {
    /// The options in order.
    pub(super) options: Vec<Found>,
    /// What is left.
    pub(super) operands: Vec<Arg>,
    /// How many operands stand before `--`; all, if there is no `--`.
    pub(super) before_end: usize,
    /// Values of options that are paths to read, and words of which any part may be such a path.
    pub(super) files: Vec<Arg>,
}

/// An option that was found.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Found {
    /// Its name as in the table: `k`, `key`, or `#`.
    pub(super) name: &'static str,
    /// Its value, if it has one.
    pub(super) value: Option<Arg>,
}

/// What an option takes.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Takes {
    Nothing,
    Value,
    Attached,
    File,
}

/// A table of these harmless options; operands are text, as many as there are, and harmless too.
pub(super) const fn options(short: &'static str, long: &'static str) -> Options {
    Options {
        short,
        long,
        class: Class::ReadOnly,
        doing: Doing::Other,
        operands: Operands::Text,
        most: usize::MAX,
        permutes: true,
        dashes_end: true,
        no_option_harms: false,
        follows: Follows::With(&[]),
        dashed_values: true,
        dashed_values_of: &[],
        instead_of_text: &[],
        more: None,
    }
}

impl Options {
    /// Operands are files whose content is read.
    pub(super) const fn reads(mut self) -> Self {
        self.operands = Operands::Paths(Access::Read, None);
        self.doing = Doing::Read;
        self
    }

    /// Operands are paths of which only names, sizes and the like are seen; without any, the current folder.
    pub(super) const fn lists(mut self) -> Self {
        self.operands = Operands::Paths(Access::Look, Some("."));
        self.doing = Doing::List;
        self
    }

    /// Operands are paths that are used so.
    pub(super) const fn paths(mut self, access: Access) -> Self {
        self.operands = Operands::Paths(access, None);
        self
    }

    /// The first operand is a text that is looked for, the others are files; without any file, `default` is read.
    /// With one of the options `instead`, all operands are files.
    pub(super) const fn searches(mut self, instead: &'static [&'static str], default: Option<&'static str>) -> Self {
        self.operands = Operands::TextThenPaths(Access::Read, default);
        self.instead_of_text = instead;
        self.doing = Doing::Search;
        self
    }

    /// The first operand is a text that names are compared with, the others are folders of which names, sizes and the
    /// like are seen; without any folder, `default`.
    pub(super) const fn finds(mut self, default: Option<&'static str>) -> Self {
        self.operands = Operands::TextThenPaths(Access::Look, default);
        self.doing = Doing::Search;
        self
    }

    /// With one of these options the links below a folder are followed.
    pub(super) const fn follows_with(mut self, options: &'static [&'static str]) -> Self {
        self.follows = Follows::With(options);
        self
    }

    /// The links below a folder are followed, but with one of these options.
    pub(super) const fn follows_without(mut self, options: &'static [&'static str]) -> Self {
        self.follows = Follows::Without(options);
        self
    }

    /// What the program is for.
    pub(super) const fn doing(mut self, doing: Doing) -> Self {
        self.doing = doing;
        self
    }

    /// The program changes the paths among its operands.
    pub(super) const fn edits(mut self, access: Access) -> Self {
        self.class = Class::Edits;
        self.operands = Operands::Paths(access, None);
        self
    }

    /// There are no more operands than this.
    pub(super) const fn at_most(mut self, operands: usize) -> Self {
        self.most = operands;
        self
    }

    /// From the first operand on, no word is an option.
    pub(super) const fn options_first(mut self) -> Self {
        self.permutes = false;
        self
    }

    /// `--` is a word like another.
    pub(super) const fn dashes_do_not_end(mut self) -> Self {
        self.dashes_end = false;
        self
    }

    /// The program's whole list of options was read, and none writes, runs or connects: a word that isn't known, as a
    /// bare `*`, may then be any of them. Only the listed ones are accepted in plain sight all the same.
    pub(super) const fn no_option_harms(mut self) -> Self {
        self.no_option_harms = true;
        self
    }

    /// The options of another table are harmless too, where this one doesn't list the same.
    pub(super) const fn with(mut self, more: &'static Options) -> Self {
        self.more = Some(more);
        self
    }

    /// A value in a word of its own never begins with `-`. For programs where it is hard to be sure which options take
    /// the next word, so that none is taken for a value that is an option.
    pub(super) const fn no_dashed_values(mut self) -> Self {
        self.dashed_values = false;
        self
    }

    /// As [`Self::no_dashed_values`], but for the values of these options.
    pub(super) const fn dashed_values_of(mut self, options: &'static [&'static str]) -> Self {
        self.dashed_values_of = options;
        self.no_dashed_values()
    }

    /// Judges a use of `name`.
    pub(super) fn judge(&self, name: &str, args: &[Arg]) -> Judgement {
        if let [Arg::Literal(only)] = args
            && matches!(only.as_str(), "--version" | "--help")
        {
            return known(Class::ReadOnly, Doing::Other, Vec::new());
        }
        match self.parse(name, args) {
            Ok(parsed) => known(self.class, self.doing, self.paths_of(&parsed)),
            Err(why) => Judgement::Unknown(why),
        }
    }

    /// Reads words as `name` would.
    ///
    /// # Errors
    /// A sentence that names the word that isn't known to be harmless.
    pub(super) fn parse(&self, name: &str, args: &[Arg]) -> Result<Parsed, String> {
        let mut parsed = Parsed::default();
        let mut words = args.iter();
        let mut ended = None;
        // Of a word that may be many, there may be none.
        let mut operand_seen = false;
        while let Some(word) = words.next() {
            if ended.is_some() || (!self.permutes && operand_seen) || is_operand(word) {
                operand_seen |= !matches!(word, Arg::Many(_));
                parsed.operands.push(word.clone());
            } else if self.dashes_end && matches!(word, Arg::Literal(text) if text == "--") {
                ended = Some(parsed.operands.len());
            } else {
                self.option(name, word, &mut words, &mut parsed)?;
            }
        }
        parsed.before_end = ended.unwrap_or(parsed.operands.len());
        self.count(name, &parsed)?;
        Ok(parsed)
    }

    fn count(&self, name: &str, parsed: &Parsed) -> Result<(), String> {
        let uncounted = parsed.operands.iter().any(|operand| matches!(operand, Arg::Many(_)));
        if self.most != usize::MAX && (parsed.operands.len() > self.most || uncounted) {
            let what = if self.most == 0 { "operands".to_owned() } else { format!("more than {} of them", self.most) };
            return Err(format!("{name} with {what} is not known to be harmless"));
        }
        Ok(())
    }

    /// Reads a word that is an option or may be one, with its value.
    fn option<'a>(
        &self,
        name: &str,
        word: &Arg,
        rest: &mut impl Iterator<Item = &'a Arg>,
        parsed: &mut Parsed,
    ) -> Result<(), String> {
        let found = match word {
            Arg::Literal(text) => self.read_option(text, true, parsed),
            Arg::One(text) => self.read_option(text, false, parsed),
            Arg::Many(_) => None,
        };
        match found {
            Some(Takes::Nothing | Takes::Attached) => Ok(()),
            Some(takes @ (Takes::Value | Takes::File)) => {
                let value = rest.next().cloned();
                if let Some(Arg::Many(_)) = value {
                    self.anything(name, &shown(word), parsed)?;
                }
                let dashed = |found: &Found| self.dashed_values || self.dashed_values_of.contains(&found.name);
                let may_be_dashed = parsed.options.last().is_some_and(dashed);
                if let Some(value) = value.as_ref().filter(|value| !may_be_dashed && !is_operand(value)) {
                    return Err(refused(name, value));
                }
                parsed.value(takes, value);
                Ok(())
            }
            None if matches!(word, Arg::Literal(_)) => Err(refused(name, word)),
            None if self.no_option_harms && word_is(word, "") => {
                parsed.operands.push(word.clone());
                Ok(())
            }
            None => self.anything(name, &shown(word), parsed),
        }
    }

    /// A word that may be any option with any value.
    fn anything(&self, name: &str, word: &str, parsed: &mut Parsed) -> Result<(), String> {
        if !self.no_option_harms || self.most != usize::MAX {
            return Err(format!("{name} with {word} is not known to be harmless: the word may become any option"));
        }
        parsed.files.push(Arg::Many(String::new()));
        Ok(())
    }

    /// Reads an option; says whether its value must be in the next word. `None` if it isn't known to be harmless.
    /// `whole` is whether the word ends where its text ends.
    fn read_option(&self, text: &str, whole: bool, parsed: &mut Parsed) -> Option<Takes> {
        let body = text.strip_prefix('-')?;
        match body.strip_prefix('-') {
            Some(long) => self.read_long(long, whole, parsed),
            None if body.is_empty() => None,
            None => self.read_short(body, whole, parsed),
        }
    }

    fn read_long(&self, text: &str, whole: bool, parsed: &mut Parsed) -> Option<Takes> {
        let (name, value) = match text.split_once('=') {
            Some((name, value)) => (name, Some(value)),
            None if whole => (text, None),
            None => return None,
        };
        let (name, takes) = self.long_option(name)?;
        if value.is_some() && takes == Takes::Nothing {
            return None;
        }
        parsed.options.push(Found { name, value: None });
        match (value, takes) {
            (Some(value), _) => {
                parsed.value(takes, Some(word(value, whole)));
                Some(Takes::Nothing)
            }
            (None, Takes::Attached) => Some(Takes::Nothing),
            (None, takes) => Some(takes),
        }
    }

    fn read_short(&self, body: &str, whole: bool, parsed: &mut Parsed) -> Option<Takes> {
        if whole && self.takes_numbers() && body.bytes().all(|byte| byte.is_ascii_digit()) {
            parsed.options.push(Found { name: "#", value: Some(Arg::Literal(body.to_owned())) });
            return Some(Takes::Nothing);
        }
        for (at, letter) in body.char_indices() {
            let (name, takes) = self.short_option(letter)?;
            let rest = body.get(at + letter.len_utf8()..)?;
            parsed.options.push(Found { name, value: None });
            match takes {
                Takes::Nothing => {}
                Takes::Value | Takes::File if rest.is_empty() && whole => return Some(takes),
                Takes::Attached if rest.is_empty() && whole => return Some(Takes::Nothing),
                // The empty value of `-n"$x"` would be the next word, were `$x` empty.
                Takes::Value | Takes::File if rest.is_empty() => return None,
                takes => {
                    parsed.value(takes, Some(word(rest, whole)));
                    return Some(Takes::Nothing);
                }
            }
        }
        whole.then_some(Takes::Nothing)
    }

    fn short_option(&self, letter: char) -> Option<(&'static str, Takes)> {
        if !letter.is_ascii_graphic() || matches!(letter, ':' | '?' | '@' | '#') {
            return None;
        }
        let Some(at) = self.short.find(letter) else { return self.more?.short_option(letter) };
        let takes = match self.short.as_bytes().get(at + 1) {
            Some(b':') => Takes::Value,
            Some(b'?') => Takes::Attached,
            Some(b'@') => Takes::File,
            _ => Takes::Nothing,
        };
        Some((self.short.get(at..=at)?, takes))
    }

    fn takes_numbers(&self) -> bool {
        self.short.contains('#') || self.more.is_some_and(Options::takes_numbers)
    }

    fn long_option(&self, name: &str) -> Option<(&'static str, Takes)> {
        let own = self.long.split_ascii_whitespace().find_map(|entry| {
            let listed = entry.trim_end_matches(['=', '?', '@']);
            (listed == name && !name.is_empty()).then(|| {
                let takes = match entry.strip_prefix(listed) {
                    Some("=") => Takes::Value,
                    Some("?") => Takes::Attached,
                    Some("=@") => Takes::File,
                    _ => Takes::Nothing,
                };
                (listed, takes)
            })
        });
        own.or_else(|| self.more?.long_option(name))
    }

    /// The paths among the words.
    pub(super) fn paths_of(&self, parsed: &Parsed) -> Vec<PathArg> {
        let mut paths: Vec<PathArg> = parsed.files.iter().filter_map(|file| used(file, Access::Read)).collect();
        let (access, default, skipped) = match self.operands {
            Operands::Text => return paths,
            Operands::Paths(access, default) => (access, default, 0),
            Operands::TextThenPaths(access, default) => {
                (access, default, usize::from(!parsed.has(self.instead_of_text)))
            }
        };
        // A first word that may be none or many, or an option that names a file, is no mere text.
        let is_text = parsed.operands.first().is_some_and(|first| match first {
            Arg::Literal(_) => true,
            Arg::One(_) => parsed.before_end == 0 || is_operand(first),
            Arg::Many(_) => false,
        });
        let skipped = if is_text { skipped } else { 0 };
        let operands = parsed.operands.get(skipped..).unwrap_or_default();
        let follows = self.follows_links(parsed);
        let of = |operand: &Arg| used(operand, access).map(|path| PathArg { follows, ..path });
        paths.extend(operands.iter().filter_map(of));
        if let Some(default) = default.filter(|_| operands.is_empty()) {
            paths.extend(of(&Arg::Literal(default.to_owned())));
        }
        paths
    }

    /// Whether links below folders are followed.
    pub(super) fn follows_links(&self, parsed: &Parsed) -> bool {
        match self.follows {
            Follows::With(options) => parsed.has(options),
            Follows::Without(options) => !parsed.has(options),
        }
    }
}

impl Parsed {
    /// Whether one of these options is there.
    pub(super) fn has(&self, names: &[&str]) -> bool {
        self.options.iter().any(|option| names.contains(&option.name))
    }

    /// The values of one of these options.
    pub(super) fn values<'a>(&'a self, names: &'a [&str]) -> impl Iterator<Item = &'a Arg> {
        self.options.iter().filter(|option| names.contains(&option.name)).filter_map(|option| option.value.as_ref())
    }

    fn value(&mut self, takes: Takes, value: Option<Arg>) {
        if takes == Takes::File {
            self.files.extend(value.clone());
        }
        if let Some(option) = self.options.last_mut() {
            option.value = value;
        }
    }
}

/// A command that does no more than this.
pub(super) fn known(class: Class, doing: Doing, paths: Vec<PathArg>) -> Judgement {
    Judgement::Known(Known { class, doing, paths })
}

/// A command that may do anything because of this word.
pub(super) fn refused(name: &str, word: &Arg) -> String {
    format!("{name} {} is not known to be harmless", shown(word))
}

/// A path that is used so; none for standard input.
pub(super) fn used(arg: &Arg, access: Access) -> Option<PathArg> {
    let stdin = access <= Access::Read && matches!(arg, Arg::Literal(text) if text == "-");
    (!stdin).then(|| PathArg::new(arg.clone(), access))
}

/// A word as a sentence names it.
pub(super) fn shown(word: &Arg) -> String {
    match word {
        Arg::Literal(text) => text.clone(),
        Arg::One(prefix) | Arg::Many(prefix) => format!("{prefix}…"),
    }
}

/// Whether the word surely is no option.
fn is_operand(word: &Arg) -> bool {
    match word {
        Arg::Literal(text) => text == "-" || !text.starts_with('-'),
        Arg::One(prefix) | Arg::Many(prefix) => !prefix.is_empty() && !prefix.starts_with('-'),
    }
}

fn word_is(word: &Arg, beginning: &str) -> bool {
    matches!(word, Arg::One(prefix) | Arg::Many(prefix) if prefix == beginning)
}

fn word(text: &str, whole: bool) -> Arg {
    if whole { Arg::Literal(text.to_owned()) } else { Arg::One(text.to_owned()) }
}
