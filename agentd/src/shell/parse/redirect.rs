//! Redirections. Part of the parser.

use super::{Parsed, Parser};
use crate::shell::ast::{Part, Redirect, RedirectKind, Word};

impl Parser<'_> {
    /// A redirection, if one begins here.
    pub(super) fn redirect(&mut self) -> Parsed<Option<Redirect>> {
        let start = self.cursor.at();
        let rest = self.cursor.rest();
        let digits = rest.bytes().take_while(u8::is_ascii_digit).count();
        let operator = rest.as_bytes().get(digits..).unwrap_or(&[]);
        let begins = match operator {
            [b'&', b'>', ..] => digits == 0,
            // A process substitution is a word.
            [b'<' | b'>', b'(', ..] => digits > 0,
            [b'<' | b'>', ..] => true,
            _ => false,
        };
        if !begins {
            return Ok(None);
        }
        self.cursor.skip(digits);
        let kind = self.redirect_kind(digits > 0)?;
        Ok(Some(Redirect { text: self.cursor.since(start).to_owned(), kind }))
    }

    fn redirect_kind(&mut self, numbered: bool) -> Parsed<RedirectKind> {
        if self.cursor.take("<<<") {
            return Ok(RedirectKind::HereString(self.target()?));
        }
        if self.cursor.take("<<") {
            return self.marker();
        }
        if self.cursor.take("<&") {
            return Ok(RedirectKind::Duplicate { target: self.target()?, file: false });
        }
        if self.cursor.take(">&") {
            return Ok(RedirectKind::Duplicate { target: self.target()?, file: !numbered });
        }
        for operator in ["&>>", "&>", ">>", ">|", "<>", ">"] {
            if self.cursor.take(operator) {
                return Ok(RedirectKind::Write(self.target()?));
            }
        }
        self.expect("<")?;
        Ok(RedirectKind::Read(self.target()?))
    }

    fn target(&mut self) -> Parsed<Word> {
        self.blanks();
        let word = self.word()?.ok_or_else(|| self.unexpected())?;
        // `{fd}>file` makes a variable.
        if let Some(Part::Text(text)) = word.parts.first()
            && text.starts_with('{')
        {
            return Err(format!("the target `{}` of a redirection is not understood", word.text));
        }
        Ok(word)
    }
}
