//! Here-documents. Their bodies begin after the newline that ends the line of their marker. Part of the parser.

use super::{Parsed, Parser};
use crate::shell::ast::{Part, RedirectKind};
use std::cell::OnceCell;
use std::rc::Rc;

/// A here-document whose body is not read yet.
pub(super) struct Pending {
    delimiter: String,
    /// Whether its body stands for itself.
    quoted: bool,
    strip: bool,
    body: Rc<OnceCell<Vec<Part>>>,
}

impl Parser<'_> {
    /// The marker, after `<<` or `<<-`.
    pub(super) fn marker(&mut self) -> Parsed<RedirectKind> {
        let strip = self.cursor.take("-");
        self.blanks();
        let word = self.word()?.ok_or_else(|| self.unexpected())?;
        let mut delimiter = String::new();
        let mut quoted = false;
        for part in &word.parts {
            match part {
                Part::Text(text) => delimiter.push_str(text),
                Part::Quoted(text) => {
                    quoted = true;
                    delimiter.push_str(text);
                }
                Part::Double(parts) => {
                    quoted = true;
                    for part in parts {
                        let Part::Quoted(text) = part else { return Err(odd_marker(&word.text)) };
                        delimiter.push_str(text);
                    }
                }
                _ => return Err(odd_marker(&word.text)),
            }
        }
        if delimiter.is_empty() || delimiter.contains('\n') || word.text.contains("$'") || word.text.contains("$\"") {
            return Err(odd_marker(&word.text));
        }
        self.budget.documents += 1;
        let body = Rc::new(OnceCell::new());
        self.pending.push(Pending { delimiter, quoted, strip, body: Rc::clone(&body) });
        Ok(RedirectKind::Here(body))
    }

    /// The bodies that begin here, just after a newline.
    pub(super) fn bodies(&mut self) -> Parsed<()> {
        for pending in std::mem::take(&mut self.pending) {
            let text = self.body_of(&pending)?;
            let parts =
                if pending.quoted { vec![Part::Quoted(text)] } else { self.inner(&text, |body| body.here_text())? };
            if pending.body.set(parts).is_err() {
                return Err("a here-document is read twice".to_owned());
            }
        }
        Ok(())
    }

    fn body_of(&mut self, pending: &Pending) -> Parsed<String> {
        let mut text = String::new();
        loop {
            let rest = self.cursor.rest();
            if rest.is_empty() {
                return Err(format!("the here-document up to `{}` has no end", pending.delimiter));
            }
            let line = rest.split('\n').next().unwrap_or("");
            let kept = if pending.strip { line.trim_start_matches('\t') } else { line };
            if kept == pending.delimiter {
                self.cursor.skip(line.len() + usize::from(rest.len() > line.len()));
                return Ok(text);
            }
            // In a substitution bash 5.2 takes both for the end that they are not: `E(x` and, behind a continued line, `E`.
            if kept.ends_with('\\') {
                return Err("a line of a here-document is continued on the next one".to_owned());
            }
            if kept.starts_with(pending.delimiter.as_str()) {
                return Err(format!("a line of a here-document begins with its marker `{}`", pending.delimiter));
            }
            text.push_str(kept);
            text.push('\n');
            self.cursor.skip(line.len() + 1);
        }
    }
}

fn odd_marker(word: &str) -> String {
    format!("`{word}` is no marker of a here-document that is understood")
}
