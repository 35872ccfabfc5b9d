//! Commands with a structure: groups, branches, loops. Part of the parser.

use super::simple::name_length;
use super::{Parsed, Parser};
use crate::shell::ast::{Compound, List, Stage, Word};

impl Parser<'_> {
    /// A compound command or a definition with `function`, with its redirections, if one begins here.
    pub(super) fn compound(&mut self) -> Parsed<Option<Stage>> {
        let start = self.cursor.at();
        if self.take_reserved("function") {
            self.blanks();
            let length =
                self.cursor.rest().bytes().take_while(|b| b.is_ascii_alphanumeric() || b"_-".contains(b)).count();
            let name = self.cursor.rest().get(..length).unwrap_or("").to_owned();
            self.cursor.skip(length);
            return self.function(name, start).map(Some);
        }
        let Some(body) = self.deeper(Self::body)? else { return Ok(None) };
        let mut redirects = Vec::new();
        loop {
            self.blanks();
            match self.redirect()? {
                Some(redirect) => redirects.push(redirect),
                None => return Ok(Some(Stage::Compound { body, redirects })),
            }
        }
    }

    fn body(&mut self) -> Parsed<Option<Compound>> {
        let start = self.cursor.at();
        let found = if self.cursor.take("((") {
            let parts = self.arithmetic("))")?;
            Compound::Arithmetic { text: self.cursor.since(start).to_owned(), parts }
        } else if self.cursor.take("(") {
            let list = self.full_list()?;
            self.expect(")")?;
            Compound::Subshell(list)
        } else if self.take_reserved("[[") {
            let tests = self.condition()?;
            Compound::Condition { text: self.cursor.since(start).to_owned(), tests }
        } else if self.take_reserved("{") {
            let list = self.full_list()?;
            self.expect_reserved("}")?;
            Compound::Group(list)
        } else if self.take_reserved("if") {
            self.branches()?
        } else if self.take_reserved("for") {
            self.loop_over(start)?
        } else if self.at_reserved("while") || self.at_reserved("until") {
            let until = self.at_reserved("until");
            self.cursor.skip("while".len());
            let condition = self.full_list()?;
            Compound::While { condition, until, body: self.loop_body()? }
        } else if self.take_reserved("case") {
            self.case()?
        } else {
            return Ok(None);
        };
        Ok(Some(found))
    }

    fn branches(&mut self) -> Parsed<Compound> {
        let mut branches = Vec::new();
        loop {
            let condition = self.full_list()?;
            self.expect_reserved("then")?;
            branches.push((condition, self.full_list()?));
            if self.take_reserved("elif") {
                continue;
            }
            let otherwise = if self.take_reserved("else") { Some(self.full_list()?) } else { None };
            self.expect_reserved("fi")?;
            return Ok(Compound::If { branches, otherwise });
        }
    }

    fn loop_body(&mut self) -> Parsed<List> {
        self.expect_reserved("do")?;
        let body = self.full_list()?;
        self.expect_reserved("done")?;
        Ok(body)
    }

    fn loop_over(&mut self, start: usize) -> Parsed<Compound> {
        self.blanks();
        if self.cursor.take("((") {
            let mut parts = Vec::new();
            for end in [";", ";", "))"] {
                parts.push(self.arithmetic(end)?);
            }
            let text = self.cursor.since(start).to_owned();
            self.end_of_header()?;
            return Ok(Compound::ArithmeticFor { text, parts, body: self.loop_body()? });
        }
        let length = name_length(self.cursor.rest().as_bytes());
        let name = self.cursor.rest().get(..length).unwrap_or("").to_owned();
        self.cursor.skip(length);
        if name.is_empty() || !matches!(self.cursor.peek(), Some(' ' | '\t' | '\n' | ';')) {
            return Err(self.unexpected());
        }
        self.blanks();
        let words = if self.take_reserved("in") { Some(self.words()?) } else { None };
        let text = self.cursor.since(start).trim_end().to_owned();
        self.end_of_header()?;
        Ok(Compound::For { text, name, words, body: self.loop_body()? })
    }

    fn words(&mut self) -> Parsed<Vec<Word>> {
        let mut words = Vec::new();
        loop {
            self.blanks();
            match self.word()? {
                Some(word) => words.push(word),
                None => return Ok(words),
            }
        }
    }

    /// What may stand before `do`.
    fn end_of_header(&mut self) -> Parsed<()> {
        self.blanks();
        if self.cursor.peek() == Some(';') {
            self.cursor.skip(1);
        }
        self.lines().map(drop)
    }

    fn case(&mut self) -> Parsed<Compound> {
        self.blanks();
        let subject = self.word()?.ok_or_else(|| self.unexpected())?;
        self.lines()?;
        self.expect_reserved("in")?;
        let mut arms = Vec::new();
        loop {
            self.lines()?;
            if self.take_reserved("esac") {
                return Ok(Compound::Case { subject, arms });
            }
            self.cursor.take("(");
            let mut patterns = Vec::new();
            loop {
                self.blanks();
                patterns.push(self.word()?.ok_or_else(|| self.unexpected())?);
                self.blanks();
                if !self.cursor.take("|") {
                    break;
                }
            }
            self.expect(")")?;
            arms.push((patterns, self.list()?));
            let more = self.cursor.take(";;&") || self.cursor.take(";;") || self.cursor.take(";&");
            self.lines()?;
            if !more && !self.at_reserved("esac") {
                return Err(self.unexpected());
            }
        }
    }
}
