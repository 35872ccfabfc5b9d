//! A strict parser for the bash that is understood: every character is accounted for, and whatever is not surely read
//! as bash reads it is refused with one sentence. Called by the analysis. One pass, no recovery, bounded depth.

mod compound;
mod condition;
mod cursor;
mod heredoc;
mod parameter;
mod redirect;
mod simple;
#[cfg(test)]
mod tests;
mod word;

use super::ast::{AndOr, Joint, List, Pipeline};
use cursor::Cursor;
use heredoc::Pending;

/// How deep commands, substitutions and groups may be nested.
const DEPTH: usize = 32;
/// How many simple commands a line may hold.
pub(super) const COMMANDS: usize = 50;

/// What was read, or why the line is refused.
type Parsed<T> = Result<T, String>;

/// Words that end a list where a command could begin.
const CLOSING: [&str; 8] = ["then", "elif", "else", "fi", "do", "done", "esac", "}"];

/// Reads a whole text.
pub(super) fn parse(text: &str) -> Result<List, String> {
    Parser::new(text, Budget { depth: 0, commands: 0, documents: 0 }).script()
}

/// What nested parsers share.
#[derive(Clone, Copy)]
struct Budget {
    depth: usize,
    commands: usize,
    /// Here-documents so far.
    documents: usize,
}

struct Parser<'a> {
    cursor: Cursor<'a>,
    budget: Budget,
    /// Here-documents whose bodies begin after the next newline.
    pending: Vec<Pending>,
}

impl<'a> Parser<'a> {
    fn new(text: &'a str, budget: Budget) -> Self {
        Self { cursor: Cursor::new(text), budget, pending: Vec::new() }
    }

    fn script(&mut self) -> Parsed<List> {
        let list = self.list()?;
        match self.cursor.peek() {
            None if self.pending.is_empty() => Ok(list),
            None => Err("a here-document has no end".to_owned()),
            Some(_) => Err(self.unexpected()),
        }
    }

    /// Runs `read` one level deeper.
    fn deeper<T>(&mut self, read: impl FnOnce(&mut Self) -> Parsed<T>) -> Parsed<T> {
        self.budget.depth += 1;
        if self.budget.depth > DEPTH {
            return Err(format!("the line is nested more than {DEPTH} deep"));
        }
        let result = read(self);
        self.budget.depth -= 1;
        result
    }

    /// Reads another text (the inside of backticks, a body) within the same bounds.
    fn inner<T>(&mut self, text: &str, read: impl FnOnce(&mut Parser<'_>) -> Parsed<T>) -> Parsed<T> {
        self.deeper(|this| {
            let mut parser = Parser::new(text, this.budget);
            let result = read(&mut parser);
            this.budget.commands = parser.budget.commands;
            this.budget.documents = parser.budget.documents;
            result
        })
    }

    fn unexpected(&self) -> String {
        let rest: String = self.cursor.rest().chars().take(12).collect();
        if rest.is_empty() {
            "the line ends where more is expected".to_owned()
        } else {
            format!("`{rest}` is not expected there")
        }
    }

    /// Blanks, continued lines and a comment.
    fn blanks(&mut self) {
        loop {
            match self.cursor.peek() {
                Some(' ' | '\t') => self.cursor.skip(1),
                Some('\\') if self.cursor.byte(1) == Some(b'\n') => self.cursor.skip(2),
                _ => break,
            }
        }
        if self.cursor.peek() == Some('#') {
            while self.cursor.peek().is_some_and(|c| c != '\n') {
                self.cursor.bump();
            }
        }
    }

    /// Blanks and newlines, with the bodies of here-documents; whether there was a newline.
    fn lines(&mut self) -> Parsed<bool> {
        let mut any = false;
        loop {
            self.blanks();
            if self.cursor.peek() != Some('\n') {
                return Ok(any);
            }
            any = true;
            self.cursor.skip(1);
            self.bodies()?;
        }
    }

    /// Commands until the end, a closing word, `)` or `;;`.
    fn list(&mut self) -> Parsed<List> {
        let mut steps = Vec::new();
        let mut begins_line = self.lines()?;
        while !self.at_end_of_list() {
            let mut step = AndOr { begins_line, ..self.and_or()? };
            self.blanks();
            let separated = match self.cursor.peek() {
                Some('&') => {
                    self.cursor.skip(1);
                    step.background = true;
                    true
                }
                Some(';') if !matches!(self.cursor.byte(1), Some(b';' | b'&')) => {
                    self.cursor.skip(1);
                    true
                }
                Some('\n') => true,
                _ => false,
            };
            steps.push(step);
            if !separated {
                break;
            }
            begins_line = self.lines()?;
        }
        Ok(List(steps))
    }

    /// A list that must hold a command.
    fn full_list(&mut self) -> Parsed<List> {
        let list = self.list()?;
        if list.0.is_empty() { Err(self.unexpected()) } else { Ok(list) }
    }

    fn at_end_of_list(&self) -> bool {
        match self.cursor.peek() {
            None | Some(')') => true,
            Some(';') => true,
            _ => CLOSING.iter().any(|word| self.at_reserved(word)),
        }
    }

    /// Whether this reserved word comes next, whole and without quotes.
    fn at_reserved(&self, word: &str) -> bool {
        self.cursor.rest().starts_with(word)
            && self.cursor.byte(word.len()).is_none_or(|byte| b" \t\n;&|<>()".contains(&byte))
            // `[[<(ls)` is one word.
            && !(matches!(self.cursor.byte(word.len()), Some(b'<' | b'>')) && self.cursor.byte(word.len() + 1) == Some(b'('))
    }

    fn take_reserved(&mut self, word: &str) -> bool {
        let found = self.at_reserved(word);
        if found {
            self.cursor.skip(word.len());
        }
        found
    }

    fn expect_reserved(&mut self, word: &str) -> Parsed<()> {
        if self.take_reserved(word) { Ok(()) } else { Err(format!("`{word}` is missing: {}", self.unexpected())) }
    }

    fn expect(&mut self, text: &str) -> Parsed<()> {
        if self.cursor.take(text) { Ok(()) } else { Err(format!("`{text}` is missing: {}", self.unexpected())) }
    }

    fn and_or(&mut self) -> Parsed<AndOr> {
        let first = self.pipeline()?;
        let mut rest = Vec::new();
        loop {
            self.blanks();
            let joint = if self.cursor.take("&&") {
                Joint::And
            } else if self.cursor.take("||") {
                Joint::Or
            } else {
                return Ok(AndOr { first, rest, background: false, begins_line: false });
            };
            self.lines()?;
            rest.push((joint, self.pipeline()?));
        }
    }

    fn pipeline(&mut self) -> Parsed<Pipeline> {
        let mut negated = false;
        loop {
            self.blanks();
            if self.take_reserved("!") {
                negated = !negated;
            } else if self.take_reserved("time") {
                self.blanks();
                if self.take_reserved("-p") {
                    self.blanks();
                }
                if self.cursor.peek() == Some('-') {
                    return Err("`time` with an option is not understood".to_owned());
                }
            } else {
                break;
            }
        }
        let mut stages = vec![self.stage()?];
        loop {
            self.blanks();
            if self.cursor.rest().starts_with("||") || !self.cursor.take("|") {
                return Ok(Pipeline { negated, stages });
            }
            self.cursor.take("&");
            self.lines()?;
            stages.push(self.stage()?);
        }
    }
}
