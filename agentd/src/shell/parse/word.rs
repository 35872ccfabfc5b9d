//! Words: quotes, and where substitutions begin. Part of the parser.

use super::{Parsed, Parser};
use crate::shell::ast::{List, Part, Stage, Word};

/// Characters that end a word.
const META: &str = " \t\n;&|<>()";

/// Where a text without quotes ends.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(super) enum Until {
    /// At a metacharacter.
    Word,
    /// At a blank, with parentheses that match: patterns within `[[`.
    Pattern,
    /// At the `}` of `${`, or at one of these before it.
    Brace { quoted: bool, also: Option<char> },
}

impl Parser<'_> {
    /// A word, if one begins here.
    pub(super) fn word(&mut self) -> Parsed<Option<Word>> {
        self.word_until(Until::Word)
    }

    pub(super) fn word_until(&mut self, until: Until) -> Parsed<Option<Word>> {
        let start = self.cursor.at();
        let parts = if self.cursor.rest().starts_with("<(") || self.cursor.rest().starts_with(">(") {
            self.cursor.skip(1);
            let list = self.parenthesised()?;
            if self.cursor.peek().is_some_and(|c| !META.contains(c)) {
                return Err("a process substitution within a word is not understood".to_owned());
            }
            vec![Part::Process(list)]
        } else {
            self.text_until(until)?
        };
        let text = self.cursor.since(start);
        if text.is_empty() {
            return Ok(None);
        }
        if text.contains('\n') && !self.pending.is_empty() {
            return Err("a word goes over the line before which a here-document begins".to_owned());
        }
        if self.cursor.rest().starts_with("<(") || self.cursor.rest().starts_with(">(") {
            return Err("a process substitution within a word is not understood".to_owned());
        }
        if matches!(self.cursor.peek(), Some('<' | '>')) && is_descriptor(text) {
            return Err("a redirection that sets a variable is not understood".to_owned());
        }
        Ok(Some(Word { text: text.to_owned(), parts }))
    }

    /// Text with its quotes and substitutions, up to what ends it.
    pub(super) fn text_until(&mut self, until: Until) -> Parsed<Vec<Part>> {
        let mut parts = Vec::new();
        let mut open = 0_usize;
        while let Some(next) = self.cursor.peek() {
            let ends = match until {
                Until::Word => META.contains(next),
                Until::Pattern => {
                    if next == '(' {
                        open += 1;
                    }
                    let closes = next == ')' && open > 0;
                    open -= usize::from(closes);
                    matches!(next, ' ' | '\t' | '\n') || next == ')' && !closes || open == 0 && "&|;".contains(next)
                }
                Until::Brace { also, .. } => next == '}' || also == Some(next),
            };
            if ends {
                break;
            }
            self.piece(next, until, &mut parts)?;
        }
        if open > 0 { Err(self.unexpected()) } else { Ok(parts) }
    }

    fn piece(&mut self, next: char, until: Until, parts: &mut Vec<Part>) -> Parsed<()> {
        let quoted = matches!(until, Until::Brace { quoted: true, .. });
        match next {
            '\\' => {
                self.cursor.skip(1);
                match self.cursor.bump() {
                    // What comes before may be the number of a redirection.
                    Some('\n') if !parts.is_empty() && matches!(self.cursor.peek(), Some('<' | '>')) => {
                        return Err("a line that is continued before a redirection is not understood".to_owned());
                    }
                    Some('\n') => {}
                    Some(escaped) if quoted && !"$`\"\\}".contains(escaped) => {
                        return Err("a backslash within `${…}` in quotes is not understood".to_owned());
                    }
                    Some(escaped) => push_quoted(parts, escaped),
                    None => return Err("the line ends with a backslash".to_owned()),
                }
            }
            '<' | '>' if until != Until::Word && self.cursor.byte(1) == Some(b'(') => {
                return Err("a process substitution within a word is not understood".to_owned());
            }
            '\'' if quoted => return Err("a quote within `${…}` in quotes is not understood".to_owned()),
            '\'' => {
                self.cursor.skip(1);
                parts.push(Part::Quoted(self.single()?));
            }
            '"' => {
                self.cursor.skip(1);
                parts.push(self.double()?);
            }
            '`' => parts.push(Part::Command(self.backticks(quoted)?)),
            '$' => {
                let part = self.dollar(quoted)?;
                parts.push(part);
            }
            _ => {
                self.cursor.bump();
                push_text(parts, next);
            }
        }
        Ok(())
    }

    /// Up to the closing `'`.
    fn single(&mut self) -> Parsed<String> {
        let rest = self.cursor.rest();
        let length = rest.find('\'').ok_or("a single quote is not closed")?;
        self.cursor.skip(length + 1);
        Ok(rest.get(..length).unwrap_or("").to_owned())
    }

    /// Up to the closing `"`.
    fn double(&mut self) -> Parsed<Part> {
        self.deeper(|this| {
            let parts = this.quoted_text(Some('"'))?;
            this.expect("\"")?;
            Ok(Part::Double(parts))
        })
    }

    /// The body of a here-document.
    pub(super) fn here_text(&mut self) -> Parsed<Vec<Part>> {
        self.quoted_text(None)
    }

    fn quoted_text(&mut self, end: Option<char>) -> Parsed<Vec<Part>> {
        let mut parts = Vec::new();
        while let Some(next) = self.cursor.peek() {
            if Some(next) == end {
                break;
            }
            match next {
                '\\' => {
                    self.cursor.skip(1);
                    match self.cursor.bump() {
                        Some('\n') => {}
                        Some(escaped) if "$`\\".contains(escaped) || Some(escaped) == end => {
                            push_quoted(&mut parts, escaped);
                        }
                        Some(other) => {
                            push_quoted(&mut parts, '\\');
                            push_quoted(&mut parts, other);
                        }
                        None => push_quoted(&mut parts, '\\'),
                    }
                }
                '`' => parts.push(Part::Command(self.backticks(end.is_some())?)),
                '$' if matches!(self.cursor.byte(1), Some(b'\'' | b'"')) => {
                    self.cursor.skip(1);
                    push_quoted(&mut parts, '$');
                }
                '$' => parts.push(self.dollar(true)?),
                _ => {
                    self.cursor.bump();
                    push_quoted(&mut parts, next);
                }
            }
        }
        Ok(parts)
    }

    /// What `$` begins.
    pub(super) fn dollar(&mut self, quoted: bool) -> Parsed<Part> {
        self.cursor.skip(1);
        match self.cursor.peek() {
            Some('\'') if !quoted => {
                self.cursor.skip(1);
                self.ansi_c().map(Part::Quoted)
            }
            // A text that could be translated, for which there are no translations.
            Some('"') if !quoted => {
                self.cursor.skip(1);
                self.double()
            }
            Some('(') if self.cursor.byte(1) == Some(b'(') => {
                self.cursor.skip(2);
                self.deeper(|this| this.arithmetic("))")).map(Part::Arithmetic)
            }
            Some('(') => self.parenthesised().map(Part::Command),
            Some('[') => Err("`$[…]` is not understood".to_owned()),
            Some('{') => {
                self.cursor.skip(1);
                self.deeper(|this| this.braced(quoted))
            }
            _ => {
                let part = self.bare_parameter().unwrap_or_else(|| Part::Quoted("$".to_owned()));
                // Bash takes a continued line together first, so that more belongs to it: `$\` and `(id)`, `$x\` and `y`.
                if self.cursor.rest().starts_with("\\\n") {
                    return Err("a line that is continued behind a `$` is not understood".to_owned());
                }
                Ok(part)
            }
        }
    }

    /// `(list)`, with its own here-documents.
    pub(super) fn parenthesised(&mut self) -> Parsed<List> {
        self.deeper(|this| {
            let outer = std::mem::take(&mut this.pending);
            let start = this.cursor.at();
            let documents = this.budget.documents;
            this.expect("(")?;
            let list = this.list()?;
            // Bash prints what it read here and reads that again, where a body may come at another place.
            let documents = this.budget.documents - documents;
            if documents > 1 || documents == 1 && !is_one_pipeline(&list) {
                return Err("a here-document among other commands of a substitution is not understood".to_owned());
            }
            if !this.pending.is_empty() || !outer.is_empty() && this.cursor.since(start).contains('\n') {
                return Err("a here-document goes over the end of a substitution".to_owned());
            }
            this.expect(")")?;
            this.pending = outer;
            Ok(list)
        })
    }

    /// `` `…` ``, which bash reads after it took one level of backslashes away.
    pub(super) fn backticks(&mut self, quoted: bool) -> Parsed<List> {
        self.cursor.skip(1);
        let mut text = String::new();
        loop {
            match self.cursor.bump() {
                None => return Err("a backtick is not closed".to_owned()),
                Some('`') => break,
                Some('\\') => match self.cursor.bump() {
                    None => return Err("a backtick is not closed".to_owned()),
                    Some(escaped) if "$`\\".contains(escaped) || quoted && escaped == '"' => text.push(escaped),
                    Some(other) => text.extend(['\\', other]),
                },
                Some(other) => text.push(other),
            }
        }
        self.inner(&text, |inside| inside.script())
    }

    /// `$'…'`.
    fn ansi_c(&mut self) -> Parsed<String> {
        let mut text = String::new();
        loop {
            match self.cursor.bump() {
                None => return Err("a single quote is not closed".to_owned()),
                Some('\'') => return Ok(text),
                Some('\\') => text.push(self.escape()?),
                Some(other) => text.push(other),
            }
        }
    }

    fn escape(&mut self) -> Parsed<char> {
        let escaped = self.cursor.bump().ok_or("a single quote is not closed")?;
        let code = match escaped {
            'a' => 7,
            'b' => 8,
            'e' | 'E' => 27,
            'f' => 12,
            'n' => 10,
            'r' => 13,
            't' => 9,
            'v' => 11,
            '\\' | '\'' | '"' | '?' => u32::from(escaped),
            'x' => self.digits(16, 2),
            'u' => self.digits(16, 4),
            'U' => self.digits(16, 8),
            '0'..='7' => self.octal(escaped),
            _ => return Err(format!("`\\{escaped}` in `$'…'` is not understood")),
        };
        match char::from_u32(code) {
            // A byte above ASCII is only a part of a character, and a code above it depends on the locale.
            Some(character) if character.is_ascii() && code != 0 => Ok(character),
            _ => Err("a character in `$'…'` is not understood".to_owned()),
        }
    }

    fn octal(&mut self, first: char) -> u32 {
        let mut code = first.to_digit(8).unwrap_or(0);
        for _ in 0..2 {
            match self.cursor.peek().and_then(|c| c.to_digit(8)) {
                Some(digit) => {
                    self.cursor.skip(1);
                    code = code * 8 + digit;
                }
                None => break,
            }
        }
        code
    }

    fn digits(&mut self, radix: u32, most: usize) -> u32 {
        let mut code = 0_u32;
        for _ in 0..most {
            match self.cursor.peek().and_then(|c| c.to_digit(radix)) {
                Some(digit) => {
                    self.cursor.skip(1);
                    code = code.saturating_mul(radix).saturating_add(digit);
                }
                None => break,
            }
        }
        code
    }
}

pub(super) fn push_text(parts: &mut Vec<Part>, character: char) {
    if let Some(Part::Text(text)) = parts.last_mut() {
        text.push(character);
    } else {
        parts.push(Part::Text(character.to_string()));
    }
}

pub(super) fn push_quoted(parts: &mut Vec<Part>, character: char) {
    if let Some(Part::Quoted(text)) = parts.last_mut() {
        text.push(character);
    } else {
        parts.push(Part::Quoted(character.to_string()));
    }
}

/// Whether there is nothing but simple commands joined by `|`.
fn is_one_pipeline(list: &List) -> bool {
    let simple = |stage: &Stage| matches!(stage, Stage::Simple(_));
    matches!(list.0.as_slice(), [step] if !step.background && step.rest.is_empty() && step.first.stages.iter().all(simple))
}

/// `{name}` before a redirection.
fn is_descriptor(text: &str) -> bool {
    text.starts_with('{') && text.ends_with('}')
}
