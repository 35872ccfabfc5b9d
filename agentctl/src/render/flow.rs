//! Running text that is wrapped at words while it comes in: a word that turns out too long for its row is taken back and
//! written in the next one. Used by `screen` on a terminal, which then knows where the cursor stands.

use super::fold::columns;

/// Columns between two tab stops.
const TAB: usize = 8;

/// Where the text stands.
#[derive(Debug, Default)]
pub struct Flow {
    /// Columns of the row that are filled.
    pub column: usize,
    /// The word at the row's end, with the colour sequences in it.
    word: String,
    word_columns: usize,
    /// How far the rows of this line after the first are indented.
    indentation: usize,
    /// Whether only blanks and a list mark have come of this line.
    leads: Leads,
    in_sequence: bool,
}

#[derive(Debug, Default, Clone, Copy, PartialEq, Eq)]
enum Leads {
    #[default]
    Blanks,
    Mark,
    Text,
}

impl Flow {
    /// The text with what wraps it to `width` columns.
    pub fn wrap(&mut self, text: &str, width: usize) -> String {
        let mut out = String::with_capacity(text.len() + 16);
        for c in text.chars() {
            match c {
                _ if self.in_sequence || c == '\u{1b}' => {
                    self.in_sequence = c != 'm';
                    self.word.push(c);
                    out.push(c);
                }
                '\n' => {
                    out.push('\n');
                    *self = Self::default();
                }
                ' ' | '\t' => self.blank(c, width, &mut out),
                _ => self.letter(c, width, &mut out),
            }
        }
        out
    }

    fn blank(&mut self, c: char, width: usize, out: &mut String) {
        if self.leads == Leads::Mark {
            self.indentation += 2;
            self.leads = Leads::Text;
        }
        let columns = if c == '\t' { TAB - self.column % TAB } else { 1 };
        if self.leads == Leads::Blanks {
            self.indentation += columns;
        }
        self.end_word();
        if self.column + columns <= width {
            self.column += columns;
            out.push(c);
        } else {
            self.next_row(width, out); // the break stands in for the blank
        }
    }

    fn letter(&mut self, c: char, width: usize, out: &mut String) {
        self.leads = match self.leads {
            Leads::Blanks if matches!(c, '-' | '*' | '•') => Leads::Mark,
            _ => Leads::Text,
        };
        let columns = columns(c);
        if columns == 2 {
            self.end_word(); // such scripts break anywhere
        }
        if self.column + columns > width {
            let word = std::mem::take(&mut self.word);
            let taken_back = std::mem::take(&mut self.word_columns);
            if taken_back > 0 && taken_back + self.row_start(width) + columns <= width && taken_back < self.column {
                out.push_str(&format!("\u{1b}[{taken_back}D\u{1b}[K"));
                self.next_row(width, out);
                out.push_str(&word);
                self.column += taken_back;
                (self.word, self.word_columns) = (word, taken_back);
            } else {
                self.next_row(width, out);
            }
        }
        self.word.push(c);
        self.word_columns += columns;
        self.column += columns;
        out.push(c);
    }

    fn end_word(&mut self) {
        self.word.clear();
        self.word_columns = 0;
    }

    fn row_start(&self, width: usize) -> usize {
        if self.indentation * 2 > width { 0 } else { self.indentation }
    }

    fn next_row(&mut self, width: usize, out: &mut String) {
        self.column = self.row_start(width);
        out.push('\n');
        out.extend(std::iter::repeat_n(' ', self.column));
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// What a terminal shows of some parts, of the sequences that are used here.
    fn seen(parts: &[&str], width: usize) -> Vec<String> {
        let mut flow = Flow::default();
        let written: String = parts.iter().map(|part| flow.wrap(part, width)).collect();
        let mut rows = vec![Vec::new()];
        let mut rest = written.as_str();
        while let Some(c) = rest.chars().next() {
            rest = &rest[c.len_utf8()..];
            match c {
                '\n' => rows.push(Vec::new()),
                '\u{1b}' => {
                    let end = rest.find(char::is_alphabetic).unwrap();
                    if &rest[end..=end] == "D" {
                        let back: usize = rest[1..end].parse().unwrap();
                        let row = rows.last_mut().unwrap();
                        row.truncate(row.len() - back);
                    }
                    rest = &rest[end + 1..];
                }
                c => rows.last_mut().unwrap().push(c),
            }
        }
        let rows: Vec<String> = rows.into_iter().map(|row| row.into_iter().collect()).collect();
        assert_eq!(rows.last().unwrap().chars().map(columns).sum::<usize>(), flow.column, "the cursor is known");
        rows
    }

    #[test]
    fn words_that_come_in_parts_wrap_as_whole_ones() {
        let table: &[(&[&str], &[&str])] = &[
            (&["one two three"], &["one two ", "three"]),
            (&["one two t", "hr", "ee four"], &["one two ", "three four"]),
            (&["one two th three"], &["one two th", "three"]),
            (&["- a item t", "hat goes on"], &["- a item ", "  that ", "  goes on"]),
            (&["  deep words"], &["  deep ", "  words"]),
            (&["abcdefghijklmn"], &["abcdefghij", "klmn"]),
            (&["a abcdefghijklmn"], &["a ", "abcdefghij", "klmn"]),
            (&["one\ntwo three"], &["one", "two three"]),
            (&["\u{1b}[2mone two th\u{1b}[0m", "\u{1b}[2mree\u{1b}[0m"], &["one two ", "three"]),
            (&["世界世界世界"], &["世界世界世", "界"]),
        ];
        for (parts, rows) in table {
            assert_eq!(seen(parts, 10), *rows, "{parts:?}");
        }
    }

    #[test]
    fn the_narrowest_terminal_shows_everything() {
        for width in 1..8 {
            let rows = seen(&["- ab cdefg ", "hi"], width);
            assert_eq!(rows.concat().replace(' ', ""), "-abcdefghi", "{width}");
        }
    }
}
