//! Long lines, folded at words to the terminal's width. Used by `screen`; nothing is cut and nothing is added but
//! indentation.

use unicode_width::UnicodeWidthChar;

/// How far a line goes on below itself, at most.
const MOST_INDENTATION: usize = 24;

/// A line as rows of at most `width` columns; rows after the first are indented as the line is, and two more.
/// Colour sequences of ours count nothing.
pub fn fold(line: &str, width: usize) -> Vec<String> {
    let indentation = line.chars().take_while(|c| *c == ' ').count().min(MOST_INDENTATION) + 2;
    let indentation = if indentation * 2 > width { 0 } else { indentation };
    let mut rows = Vec::new();
    let mut row = Row::default();
    let mut in_sequence = false;
    for c in line.chars() {
        if in_sequence || c == '\u{1b}' {
            in_sequence = c != 'm';
            row.text.push(c);
            continue;
        }
        let columns = columns(c);
        // twice, where the word that goes to the next row fills that one too
        for _ in 0..2 {
            if row.columns + columns > width && c != ' ' {
                rows.push(row.split(indentation));
            }
        }
        row.push(c, columns);
    }
    rows.push(row.text);
    rows
}

/// How many columns a character takes where it stands in a row.
pub fn columns(c: char) -> usize {
    if c == '\t' { 1 } else { c.width().unwrap_or(0) }
}

/// A row that is being filled.
#[derive(Default)]
struct Row {
    text: String,
    columns: usize,
    /// Where its last word starts: in bytes, and in columns.
    word: Option<(usize, usize)>,
    after_blank: bool,
    has_word: bool,
}

impl Row {
    fn push(&mut self, c: char, columns: usize) {
        if self.after_blank && c != ' ' && self.has_word {
            self.word = Some((self.text.len(), self.columns));
        }
        self.after_blank = c == ' ';
        self.has_word |= c != ' ';
        self.text.push(c);
        self.columns += columns;
    }

    /// Takes the row without its last word, which starts the next one; a word as long as a row is broken.
    fn split(&mut self, indentation: usize) -> String {
        let starts_word = self.after_blank && self.has_word;
        let (bytes, columns) = match self.word {
            Some(word) if !starts_word => word,
            _ => (self.text.len(), self.columns),
        };
        let rest = self.text.split_off(bytes);
        let full = std::mem::take(&mut self.text);
        let columns = self.columns - columns + indentation;
        let text = format!("{}{rest}", " ".repeat(indentation));
        *self = Self { text, columns, word: None, after_blank: false, has_word: !rest.is_empty() };
        full
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn lines_fold_at_words_and_nothing_is_lost() {
        let table: &[(&str, usize, &[&str])] = &[
            ("short", 10, &["short"]),
            ("", 10, &[""]),
            ("one two three", 8, &["one two ", "  three"]),
            ("one two three", 7, &["one two ", "  three"]),
            ("  let it be", 10, &["  let it ", "    be"]),
            ("abcdefghijkl", 6, &["abcdef", "  ghij", "  kl"]),
            ("a bcdefghijkl", 6, &["a ", "  bcde", "  fghi", "  jkl"]),
            ("\u{1b}[31mone two\u{1b}[0m three", 7, &["\u{1b}[31mone two\u{1b}[0m ", "  three"]),
            ("世界世界", 5, &["世界", "  世", "  界"]),
        ];
        for (line, width, rows) in table {
            assert_eq!(fold(line, *width), *rows, "{line:?}");
            let letters = |text: &str| text.replace(' ', "");
            assert_eq!(letters(&fold(line, *width).concat()), letters(line));
        }
    }

    #[test]
    fn the_narrowest_terminal_is_wide_enough() {
        for width in 0..6 {
            assert_eq!(fold("ab cd", width).concat().replace(' ', ""), "abcd", "{width}");
        }
    }
}
