//! `[[ … ]]`. Part of the parser.

use super::word::Until;
use super::{Parsed, Parser};
use crate::shell::ast::{Part, Test, Word};

/// Tests of one word.
const UNARY: &str = "abcdefghknoprstuvwxzGLNORS";
/// Tests of two words, beside `<` and `>`.
const BINARY: [&str; 13] = ["==", "=", "!=", "=~", "-eq", "-ne", "-lt", "-le", "-gt", "-ge", "-nt", "-ot", "-ef"];

impl Parser<'_> {
    /// After `[[`, up to and with `]]`.
    pub(super) fn condition(&mut self) -> Parsed<Vec<Test>> {
        let mut tests = Vec::new();
        let mut open = 0_usize;
        loop {
            // An operand.
            self.lines()?;
            while self.take_reserved("!") {
                self.lines()?;
            }
            if self.cursor.take("(") {
                open += 1;
                continue;
            }
            tests.push(self.test()?);
            // What follows it.
            loop {
                self.lines()?;
                if self.cursor.take(")") {
                    open = open.checked_sub(1).ok_or_else(|| self.unexpected())?;
                } else if self.cursor.take("&&") || self.cursor.take("||") {
                    break;
                } else if open == 0 && self.take_reserved("]]") {
                    return Ok(tests);
                } else {
                    return Err(self.unexpected());
                }
            }
        }
    }

    fn test(&mut self) -> Parsed<Test> {
        let first = self.operand(Until::Word)?;
        self.blanks();
        if let [Part::Text(text)] = first.parts.as_slice()
            && let Some(letter) = text.strip_prefix('-')
            && letter.len() == 1
            && UNARY.contains(letter)
            && !self.at_end_of_test()
        {
            let word = self.operand(Until::Word)?;
            return Ok(Test::Unary(text.clone(), word));
        }
        if self.at_end_of_test() {
            return Ok(Test::Text(first));
        }
        for operator in ["<", ">"] {
            if self.cursor.take(operator) {
                self.blanks();
                return Ok(Test::Binary(first, operator.to_owned(), self.operand(Until::Word)?));
            }
        }
        let operator = BINARY.iter().find(|operator| self.at_reserved(operator));
        let Some(operator) = operator else { return Err(self.unexpected()) };
        self.cursor.skip(operator.len());
        self.blanks();
        let until = if operator.contains('=') { Until::Pattern } else { Until::Word };
        Ok(Test::Binary(first, (*operator).to_owned(), self.operand(until)?))
    }

    fn operand(&mut self, until: Until) -> Parsed<Word> {
        if self.at_reserved("]]") {
            return Err(self.unexpected());
        }
        self.word_until(until)?.ok_or_else(|| self.unexpected())
    }

    fn at_end_of_test(&self) -> bool {
        self.at_reserved("]]") || matches!(self.cursor.peek(), Some('&' | '|' | ')' | '\n') | None)
    }
}
