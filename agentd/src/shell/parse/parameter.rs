//! `$x`, `${…}` and arithmetic. Part of the parser.

use super::simple::name_length;
use super::word::{Until, push_text};
use super::{Parsed, Parser};
use crate::shell::ast::{Operation, Parameter, Part, Subscript};

impl Parser<'_> {
    /// After a `$`: the name of a parameter, if there is one.
    pub(super) fn bare_parameter(&mut self) -> Option<Part> {
        let name = self.parameter_name(false)?;
        Some(Part::Parameter(Box::new(Parameter { name, subscript: None, operation: Operation::Plain })))
    }

    fn parameter_name(&mut self, braced: bool) -> Option<String> {
        let rest = self.cursor.rest();
        let digits = rest.bytes().take_while(u8::is_ascii_digit).count();
        let length = match rest.as_bytes().first()? {
            b'0'..=b'9' if braced => digits,
            b'0'..=b'9' | b'@' | b'*' | b'#' | b'?' | b'-' | b'$' | b'!' => 1,
            _ => name_length(rest.as_bytes()),
        };
        let name = rest.get(..length).filter(|name| !name.is_empty())?;
        self.cursor.skip(length);
        Some(name.to_owned())
    }

    /// After `${`, up to and with its `}`.
    pub(super) fn braced(&mut self, quoted: bool) -> Parsed<Part> {
        let length = self.cursor.peek() == Some('#') && self.cursor.byte(1) != Some(b'}');
        let indirect = self.cursor.peek() == Some('!') && self.cursor.byte(1) != Some(b'}');
        if length || indirect {
            self.cursor.skip(1);
        }
        let name = self.parameter_name(true).ok_or_else(|| self.unexpected())?;
        let subscript = if self.cursor.take("[") { Some(self.subscript()?) } else { None };
        let mut operation = if length || indirect { Operation::Plain } else { self.operation(quoted)? };
        if length {
            operation = Operation::Length;
        } else if indirect {
            // Names by a prefix, keys of an array, or the variable that is named by the value.
            self.cursor.take("*");
            self.cursor.take("@");
            operation = Operation::Indirect;
        }
        self.expect("}")?;
        Ok(Part::Parameter(Box::new(Parameter { name, subscript, operation })))
    }

    fn subscript(&mut self) -> Parsed<Subscript> {
        if self.cursor.take("@]") {
            return Ok(Subscript::All);
        }
        if self.cursor.take("*]") {
            return Ok(Subscript::Joined);
        }
        self.deeper(|this| this.arithmetic("]")).map(Subscript::At)
    }

    fn operation(&mut self, quoted: bool) -> Parsed<Operation> {
        let rest = |this: &mut Self, also| this.text_until(Until::Brace { quoted, also });
        let colon = self.cursor.peek() == Some(':') && matches!(self.cursor.byte(1), Some(b'-' | b'=' | b'?' | b'+'));
        self.cursor.skip(usize::from(colon));
        match self.cursor.peek() {
            Some('}') => Ok(Operation::Plain),
            Some(kind @ ('-' | '=' | '?' | '+')) => {
                self.cursor.skip(1);
                let word = rest(self, None)?;
                if quoted && holds_lone_dollar(&word) {
                    return Err("a lone `$` in the word of a quoted `${…}` may begin an expansion".to_owned());
                }
                Ok(Operation::Default { kind, word })
            }
            Some(':') => {
                self.cursor.skip(1);
                self.substring()
            }
            Some(sign @ ('#' | '%')) => {
                self.cursor.skip(1);
                let longest = self.cursor.take(if sign == '#' { "#" } else { "%" });
                Ok(Operation::Strip { front: sign == '#', longest, pattern: rest(self, None)? })
            }
            Some('/') => {
                self.cursor.skip(1);
                if matches!(self.cursor.peek(), Some('/' | '#' | '%')) {
                    self.cursor.skip(1);
                }
                let mut words = vec![rest(self, Some('/'))?];
                if self.cursor.take("/") {
                    words.push(rest(self, None)?);
                }
                Ok(Operation::Change(words))
            }
            Some('^' | ',') => {
                self.cursor.skip(1);
                Ok(Operation::Change(vec![rest(self, None)?]))
            }
            Some('@') => {
                self.cursor.skip(1);
                self.cursor.bump().map(Operation::Transform).ok_or_else(|| self.unexpected())
            }
            _ => Err(self.unexpected()),
        }
    }

    fn substring(&mut self) -> Parsed<Operation> {
        let mut parts = Vec::new();
        let mut current = Vec::new();
        while let Some(next) = self.cursor.peek() {
            match next {
                '}' => {
                    parts.push(current);
                    return Ok(Operation::Substring(parts));
                }
                ':' => {
                    self.cursor.skip(1);
                    parts.push(std::mem::take(&mut current));
                }
                _ => self.arithmetic_piece(next, &mut current)?,
            }
        }
        Err(self.unexpected())
    }

    /// An expression up to and with `end`, whose parentheses match.
    pub(super) fn arithmetic(&mut self, end: &str) -> Parsed<Vec<Part>> {
        let mut parts = Vec::new();
        let mut open = 0_usize;
        while let Some(next) = self.cursor.peek() {
            if open == 0 && self.cursor.take(end) {
                return Ok(parts);
            }
            match next {
                '(' => open += 1,
                ')' if open == 0 => break,
                ')' => open -= 1,
                _ => {}
            }
            self.arithmetic_piece(next, &mut parts)?;
        }
        Err(format!("an arithmetic expression does not end with `{end}`"))
    }

    /// A whole text that is an expression.
    pub(super) fn arithmetic_text(&mut self) -> Parsed<Vec<Part>> {
        let mut parts = Vec::new();
        while let Some(next) = self.cursor.peek() {
            self.arithmetic_piece(next, &mut parts)?;
        }
        Ok(parts)
    }

    fn arithmetic_piece(&mut self, next: char, parts: &mut Vec<Part>) -> Parsed<()> {
        match next {
            '$' => {
                let part = self.dollar(true)?;
                parts.push(part);
            }
            '`' => parts.push(Part::Command(self.backticks(true)?)),
            '\\' | '\'' | '"' | '{' | '}' | ';' => {
                return Err(format!("`{next}` in an arithmetic expression is not understood"));
            }
            _ => {
                self.cursor.bump();
                push_text(parts, next);
            }
        }
        Ok(())
    }
}

/// Whether a `$` that stands for itself is followed by something. In a word within quotes bash 5.2 drops inner quotes
/// before it expands, so that `"$"` and what comes after it are taken together.
fn holds_lone_dollar(word: &[Part]) -> bool {
    let mut flat = word.iter().flat_map(|part| match part {
        Part::Double(inner) => inner.as_slice(),
        part => std::slice::from_ref(part),
    });
    let ends = |part: &Part| matches!(part, Part::Text(text) | Part::Quoted(text) if text.ends_with('$'));
    let mut lone = false;
    flat.any(|part| std::mem::replace(&mut lone, ends(part)))
}
