//! Simple commands and definitions of functions. Part of the parser.

use super::{CLOSING, COMMANDS, Parsed, Parser};
use crate::shell::ast::{AssignedValue, Assignment, Part, Simple, Stage, Word};

/// Builtins whose arguments bash reads as assignments.
const DECLARING: [&str; 5] = ["declare", "typeset", "local", "export", "readonly"];
/// Words that begin what is not understood.
const NOT_UNDERSTOOD: [&str; 4] = ["select", "coproc", "in", "!"];

impl Parser<'_> {
    pub(super) fn stage(&mut self) -> Parsed<Stage> {
        self.blanks();
        if let Some(word) = NOT_UNDERSTOOD.iter().chain(&CLOSING).find(|word| self.at_reserved(word)) {
            return Err(format!("`{word}` is not understood there"));
        }
        match self.compound()? {
            Some(stage) => Ok(stage),
            None => self.simple(),
        }
    }

    fn simple(&mut self) -> Parsed<Stage> {
        self.budget.commands += 1;
        if self.budget.commands > COMMANDS {
            return Err(format!("the line holds more than {COMMANDS} commands"));
        }
        let start = self.cursor.at();
        let mut end = start;
        let mut simple = Simple::default();
        loop {
            self.blanks();
            if let Some(redirect) = self.redirect()? {
                simple.redirects.push(redirect);
            } else if let Some(assignment) = self.assignment_of(&simple)? {
                simple.assignments.push(assignment);
            } else if let Some(word) = self.argument(&simple)? {
                simple.words.push(word);
            } else {
                break;
            }
            end = self.cursor.at();
            if self.cursor.peek() == Some('(') {
                return self.function_after(&simple, start);
            }
        }
        self.blanks();
        if self.cursor.peek() == Some('(') {
            return self.function_after(&simple, start);
        }
        if end == start {
            return Err(self.unexpected());
        }
        let taken = self.cursor.since(start);
        simple.text = taken.get(..end - start).unwrap_or(taken).to_owned();
        Ok(Stage::Simple(simple))
    }

    /// `name ()`, already before the `(`.
    fn function_after(&mut self, simple: &Simple, start: usize) -> Parsed<Stage> {
        let alone = simple.assignments.is_empty() && simple.redirects.is_empty();
        match simple.words.as_slice() {
            [Word { parts, .. }] if alone => match parts.as_slice() {
                [Part::Text(name)] => self.function(name.clone(), start),
                _ => Err(self.unexpected()),
            },
            _ => Err(self.unexpected()),
        }
    }

    /// The rest of a definition after its name.
    pub(super) fn function(&mut self, name: String, start: usize) -> Parsed<Stage> {
        if !is_function_name(&name) {
            return Err(format!("`{name}` is no name for a function that is understood"));
        }
        self.blanks();
        if self.cursor.take("(") {
            self.blanks();
            self.expect(")")?;
        }
        self.lines()?;
        match self.deeper(Self::compound)? {
            Some(body @ Stage::Compound { .. }) => {
                let text = self.cursor.since(start).to_owned();
                Ok(Stage::Function { name, body: Box::new(body), text })
            }
            _ => Err(self.unexpected()),
        }
    }

    fn assignment_of(&mut self, simple: &Simple) -> Parsed<Option<Assignment>> {
        if simple.words.is_empty() { self.assignment() } else { Ok(None) }
    }

    /// A word, of which builtins that declare take arrays too.
    fn argument(&mut self, simple: &Simple) -> Parsed<Option<Word>> {
        let start = self.cursor.at();
        let declares = simple.words.first().is_some_and(|word| DECLARING.contains(&word.text.as_str()));
        if declares
            && let Some(head) = self.assignment_head()
            && self.cursor.byte(head.length) == Some(b'(')
        {
            let name = self.cursor.rest().get(..head.length).unwrap_or("").to_owned();
            self.cursor.skip(head.length);
            let words = self.array()?;
            let text = self.cursor.since(start).to_owned();
            return Ok(Some(Word { text, parts: vec![Part::Quoted(name), Part::Array(words)] }));
        }
        self.word()
    }

    fn assignment(&mut self) -> Parsed<Option<Assignment>> {
        let Some(head) = self.assignment_head() else { return Ok(None) };
        let start = self.cursor.at();
        let rest = self.cursor.rest();
        let name = rest.get(..head.name).unwrap_or("").to_owned();
        let subscript = head.subscript.and_then(|(from, to)| rest.get(from..to)).map(str::to_owned);
        let subscript = subscript.map(|text| self.inner(&text, |inside| inside.arithmetic_text())).transpose()?;
        self.cursor.skip(head.length);
        let value = if self.cursor.peek() == Some('(') {
            AssignedValue::Array(self.array()?)
        } else {
            AssignedValue::Scalar(self.word()?.unwrap_or_default())
        };
        let text = self.cursor.since(start).to_owned();
        Ok(Some(Assignment { text, name, subscript, append: head.append, value }))
    }

    fn assignment_head(&self) -> Option<Head> {
        let bytes = self.cursor.rest().as_bytes();
        let name = name_length(bytes);
        if name == 0 {
            return None;
        }
        let mut at = name;
        let mut subscript = None;
        if bytes.get(at) == Some(&b'[') {
            let plain = |byte: &&u8| byte.is_ascii_alphanumeric() || b"_$@*+- ".contains(byte) && **byte != b' ';
            let inside = bytes.get(at + 1..)?.iter().take_while(plain).count();
            subscript = Some((at + 1, at + 1 + inside));
            at += inside + 1;
            if bytes.get(at) != Some(&b']') {
                return None;
            }
            at += 1;
        }
        let append = bytes.get(at) == Some(&b'+');
        at += usize::from(append);
        (bytes.get(at) == Some(&b'=')).then_some(Head { name, subscript, append, length: at + 1 })
    }

    /// `(words)`.
    fn array(&mut self) -> Parsed<Vec<Word>> {
        self.deeper(|this| {
            this.expect("(")?;
            let mut words = Vec::new();
            loop {
                this.lines()?;
                if this.cursor.take(")") {
                    return Ok(words);
                }
                words.push(this.word()?.ok_or_else(|| this.unexpected())?);
            }
        })
    }
}

/// Where the parts of `name[subscript]+=` are.
struct Head {
    name: usize,
    subscript: Option<(usize, usize)>,
    append: bool,
    length: usize,
}

/// The length of the name of a variable at the start.
pub(super) fn name_length(bytes: &[u8]) -> usize {
    if bytes.first().is_none_or(u8::is_ascii_digit) {
        return 0;
    }
    bytes.iter().take_while(|byte| byte.is_ascii_alphanumeric() || **byte == b'_').count()
}

fn is_function_name(name: &str) -> bool {
    name.starts_with(|c: char| c.is_ascii_alphabetic() || c == '_')
        && name.chars().all(|c| c.is_ascii_alphanumeric() || c == '_' || c == '-')
}
