//! Words to what the command sees of them. Part of the expansion of words.

use super::parameter::Content;
use super::{Expanded, brace};
use crate::shell::ast::{Part, Word};
use crate::shell::printed::{Kind, Words};
use crate::shell::programs::Arg;
use crate::shell::walk::{Walk, Walked};

/// More of a word that is put together is not kept.
const LONGEST: usize = 1024;
/// Stands for the text of a word that is one of many.
const OF_MANY: &str = "…";
/// A word with braces takes as long as so many words.
const BRACES: usize = 50;
/// Characters that make a pattern.
const WILD: [char; 3] = ['*', '?', '['];

impl Walk<'_> {
    /// A word among the words of a command.
    pub(in crate::shell) fn expand(&mut self, word: &Word) -> Walked<Vec<Expanded>> {
        self.spend_words(1)?;
        if let [Part::Text(text)] = word.parts.as_slice()
            && !text.starts_with('~')
            && !text.contains(['*', '?', '[', '{', '='])
        {
            return Ok(vec![Expanded::literal(text)]);
        }
        if brace::has_brace(&word.parts) {
            self.spend_words(BRACES)?;
        }
        let Some(words) = brace::expand(&word.parts) else { return self.odd_braces(word) };
        self.spend(words.len() / 4)?;
        let single = words.len() == 1;
        let mut all = Vec::new();
        for parts in words {
            let mut building = Building::default();
            self.gather(&parts, Quoting::None, &mut building)?;
            let text = single.then_some(word.text.as_str());
            all.extend(building.finish(text.unwrap_or(OF_MANY)));
        }
        Ok(all)
    }

    /// A word that stays one: a value, a target, text of a here-document.
    pub(in crate::shell) fn expand_one(&mut self, word: &Word) -> Walked<Expanded> {
        self.expand_parts(&word.parts, &word.text)
    }

    pub(in crate::shell) fn expand_parts(&mut self, parts: &[Part], text: &str) -> Walked<Expanded> {
        self.spend_words(1)?;
        let mut building = Building { single: true, ..Building::default() };
        self.gather(parts, Quoting::None, &mut building)?;
        Ok(building.finish(text).pop().unwrap_or_else(|| Expanded::literal("")))
    }

    /// Walks what is substituted in a text whose value does not matter.
    pub(in crate::shell) fn walk_parts(&mut self, parts: &[Part]) -> Walked<()> {
        self.expand_parts(parts, "").map(drop)
    }

    /// Braces that bash may read in another way: only what is before them is sure.
    fn odd_braces(&mut self, word: &Word) -> Walked<Vec<Expanded>> {
        self.walk_parts(&word.parts)?;
        let prefix = match word.parts.first() {
            Some(Part::Text(text)) => text.split(['{', '~', '*', '?', '[']).next().unwrap_or(""),
            _ => "",
        };
        Ok(vec![Expanded { text: word.text.clone(), ..Expanded::of(Arg::Many(prefix.to_owned())) }])
    }

    fn gather(&mut self, parts: &[Part], quoting: Quoting, to: &mut Building) -> Walked<()> {
        for (index, part) in parts.iter().enumerate() {
            match part {
                Part::Text(text) if quoting == Quoting::None => {
                    let more = parts.len() > index + 1;
                    let closes = text.contains(']') || more;
                    self.bare(text, index == 0 && to.is_empty(), more, to, closes);
                }
                Part::Text(text) | Part::Quoted(text) => to.quoted(text),
                Part::Double(inner) => {
                    to.quoted("");
                    self.gather(inner, Quoting::Double, to)?;
                }
                Part::Parameter(parameter) => {
                    let content = self.parameter(parameter)?;
                    to.content(content, quoting);
                }
                Part::Command(list) => {
                    let number = self.substitution(list)?;
                    let printed = self.printed.clone().and_then(|output| self.taken(&output));
                    let content =
                        if number { Content::Count } else { printed.map_or_else(Content::any, Content::Printed) };
                    to.content(content, quoting);
                }
                Part::Arithmetic(expression) => {
                    let value = self.arithmetic(expression)?;
                    to.content(value.map_or(Content::Number, |n| Content::Exact(n.to_string())), Quoting::Double);
                }
                Part::Process(list) => {
                    self.substitution(list)?;
                    to.pipe = true;
                    to.unknown("/dev/fd/", true);
                }
                Part::Array(words) => {
                    for word in words {
                        self.element(word)?;
                    }
                    to.unknown("", false);
                }
            }
        }
        Ok(())
    }

    /// Text without quotes: `~`, and patterns.
    fn bare(&mut self, text: &str, first: bool, more: bool, to: &mut Building, closes: bool) {
        let mut text = text;
        let mut tilde = first && text.starts_with('~');
        if !to.single
            && first
            && let Some((name, value)) = text.split_once('=')
            && crate::shell::names::is_name(name)
            && value.contains('~')
        {
            // Bash expands `~` in what looks like an assignment.
            let before = value.split('~').next().unwrap_or("");
            to.quoted(&format!("{name}={before}"));
            to.unknown("", false);
            return;
        }
        if to.single && text.contains(":~") {
            to.unknown("", false);
            return;
        }
        if tilde {
            let end = text.find('/').unwrap_or(text.len());
            let name = text.get(..end).unwrap_or("");
            let whole = end < text.len() || !more;
            tilde = whole && name == "~";
            match (tilde, self.home()) {
                (true, Some(home)) => to.quoted(&home),
                _ => to.unknown("", false),
            }
            text = text.get(end..).unwrap_or("");
        }
        to.bare(text, closes);
    }
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Quoting {
    None,
    Double,
}

/// A word while its parts come in.
#[derive(Default)]
struct Building {
    /// What is known from the beginning.
    exact: String,
    /// Whether something came that is not known; then `exact` is only the beginning.
    open: bool,
    /// Whether it is a pattern.
    pattern: bool,
    /// Whether what is not known may leave the folder.
    wild: bool,
    /// Whether it may become any number of any words.
    many: bool,
    /// Whether it stays one word whatever is in it.
    single: bool,
    /// Whether there were quotes: then it is a word even if empty.
    quotes: bool,
    pipe: bool,
    /// Words that are complete before this one, of a value that was split.
    before: Vec<String>,
    /// What comes after the first wildcard.
    tail: String,
    /// The pattern that what is not known fits, if it is no more than a name for which one stands.
    fits: Option<String>,
    /// Whether something came that is not known, and is no wildcard.
    vague: bool,
    /// Whether the known beginning is that of words of which there may be none.
    hollow: bool,
    /// What a command printed, of which it is.
    named: Option<(Kind, bool)>,
    /// Whether there were names of files among that.
    of_names: bool,
    /// Whether it may become any number of words that begin alike.
    spread: bool,
    /// Whether no more than one.
    named_one: bool,
}

impl Building {
    fn is_empty(&self) -> bool {
        self.exact.is_empty() && !self.open && !self.quotes
    }

    fn quoted(&mut self, text: &str) {
        self.quotes = true;
        // Behind a wildcard, what stands in quotes is no pattern.
        self.vague |= self.open && text.contains(['*', '?', '[', '\\']);
        self.push(text);
    }

    fn push(&mut self, text: &str) {
        if self.exact.len() + self.tail.len() + text.len() > LONGEST && !self.exact.is_empty() {
            self.open = true;
            self.wild = true;
            return;
        }
        if !text.is_empty() {
            self.fits = None;
            self.follows(text.starts_with(|letter: char| letter.is_alphanumeric() || letter == '.'));
        }
        if self.open { self.tail.push_str(text) } else { self.exact.push_str(text) }
    }

    /// Something comes after what is there. If that may be nothing, the word begins with it, and only if it is `plain`
    /// this makes neither an option of it nor a path that begins elsewhere.
    fn follows(&mut self, plain: bool) {
        if std::mem::take(&mut self.hollow) && !plain {
            self.exact.clear();
            self.wild = true;
        }
    }

    fn bare(&mut self, text: &str, closes: bool) {
        let wild = text.find(|c| WILD.contains(&c) && (c != '[' || closes));
        match wild {
            Some(at) if !self.single => {
                self.push(text.get(..at).unwrap_or(""));
                // `.*` may be `..`.
                self.wild |= self.open || matches!(self.exact.rsplit('/').next(), Some("." | ".."));
                self.follows(at > 0);
                self.fits = None;
                self.open = true;
                self.pattern = true;
                self.tail.push_str(text.get(at..).unwrap_or(""));
            }
            _ => self.push(text),
        }
    }

    fn unknown(&mut self, prefix: &str, tame: bool) {
        self.follows(false);
        self.push(prefix);
        self.open = true;
        self.vague = true;
        self.fits = None;
        self.wild |= !tame;
    }

    fn content(&mut self, content: Content, quoting: Quoting) {
        let splits = quoting == Quoting::None && !self.single;
        match content {
            Content::Exact(text) if quoting == Quoting::Double => self.push(&text),
            Content::Exact(text) if !splits => self.push(&text),
            Content::Exact(text) => self.split(&text),
            Content::Number => self.unknown("", true),
            Content::Count => self.count(splits),
            Content::List(items) if !self.single && self.exact.is_empty() && !self.open => self.list(items, splits),
            Content::List(_) | Content::Many => {
                self.many |= !self.single;
                self.unknown("", false);
            }
            Content::Printed(words) => self.printed(&words, splits),
            Content::Unknown { prefix, tame, pattern } => {
                let alone = self.exact.is_empty() && !self.open;
                self.many |= splits;
                self.unknown(&prefix, tame);
                self.fits = pattern.filter(|_| alone);
            }
        }
    }

    /// A number of no sign, or nothing, which without quotes is no word.
    fn count(&mut self, splits: bool) {
        let alone = self.is_empty();
        self.spread |= splits && alone;
        self.named_one = true;
        self.unknown(if alone { "0" } else { "" }, true);
        self.hollow = alone;
    }

    /// Words that a command printed. Names of files stay below their folder at the start of a word or behind a slash.
    fn printed(&mut self, words: &Words, splits: bool) {
        let of_names = matches!(words.kind, Kind::Names | Kind::Past);
        let alone = self.exact.is_empty() && !self.open;
        let behind = if self.open { &self.tail } else { &self.exact };
        let stays = alone || !of_names || behind.ends_with('/');
        let sure = words.one && words.sure && matches!(words.kind, Kind::Names | Kind::Numbers);
        let loose = words.kind == Kind::Past && splits;
        // Words after the first begin otherwise, and of names in the past there may be several in one.
        self.many |= splits && !words.one && !alone || loose;
        self.spread |= splits && alone && !sure;
        self.named_one = words.one;
        self.of_names |= of_names;
        let plain = |letter: char| letter.is_alphanumeric() || "._-/+@=".contains(letter);
        let first =
            self.named.is_none() && !self.open && self.exact.chars().all(plain) && (alone || words.one || !splits);
        self.named = first.then_some((words.kind, words.one && alone));
        self.unknown(if alone { &words.prefix } else { "" }, stays);
        self.hollow = alone && !words.sure;
    }

    /// The elements of an array; the last may go on.
    fn list(&mut self, mut items: Vec<String>, splits: bool) {
        let odd = |item: &String| item.is_empty() || item.contains([' ', '\t', '\n', '*', '?', '[', '\\']);
        if splits && items.iter().any(odd) {
            self.many = true;
            return;
        }
        match items.pop() {
            Some(last) => {
                self.before.extend(items);
                self.quoted(&last);
            }
            None => self.many = true,
        }
    }

    /// A value without quotes, which bash splits at blanks.
    fn split(&mut self, text: &str) {
        // In a value it would take the special meaning of what comes after it.
        if text.contains('\\') {
            self.many = true;
            self.unknown("", false);
            return;
        }
        if !text.contains([' ', '\t', '\n']) {
            let closes = text.contains(']');
            self.bare(text, closes || text.contains('['));
            return;
        }
        let alone = self.is_empty() && self.before.is_empty();
        if !alone || text.contains(WILD) || text.ends_with([' ', '\t', '\n']) {
            self.many = true;
            self.unknown("", false);
            return;
        }
        let mut words: Vec<String> =
            text.split([' ', '\t', '\n']).filter(|word| !word.is_empty()).map(str::to_owned).collect();
        if let Some(last) = words.pop() {
            self.before = words;
            self.push(&last);
        }
    }

    fn finish(self, text: &str) -> Vec<Expanded> {
        if self.many {
            let arg = Arg::Many(String::new());
            let printed =
                self.named.filter(|named| self.exact.is_empty() && named.0 == Kind::Past && self.tail.is_empty());
            return vec![Expanded { text: text.to_owned(), printed, ..Expanded::of(arg) }];
        }
        let mut words: Vec<Expanded> = self.before.iter().map(|word| Expanded::literal(word)).collect();
        if !self.open {
            if !self.exact.is_empty() || self.quotes || self.single {
                let text = if text == OF_MANY { self.exact.clone() } else { text.to_owned() };
                words.push(Expanded { text, ..Expanded::of(Arg::Literal(self.exact)) });
            }
            return words;
        }
        let leaves = self.tail.contains("..") || self.pattern && self.tail.contains("/.");
        // A name may be `.`, and with another point behind it `..`.
        let leaves = leaves || self.of_names && (self.tail.contains("./") || self.tail.ends_with('.'));
        let stays = !self.wild && !leaves;
        let past = matches!(self.named, Some((Kind::Past, _)));
        let printed = self.named.filter(|_| stays && self.tail.is_empty() && !self.pattern);
        let several = self.spread && (!self.named_one || self.tail.is_empty());
        let spelled = (self.pattern && !self.vague).then(|| format!("{}{}", self.exact, self.tail));
        let pattern = spelled.or(self.fits);
        let arg = if self.pattern || several { Arg::Many(self.exact) } else { Arg::One(self.exact) };
        words.push(Expanded {
            arg,
            text: text.to_owned(),
            tame: stays && !past,
            pipe: self.pipe,
            pattern,
            solid: false,
            printed,
        });
        words
    }
}
