//! One line that is being typed at a question, with a cursor. It draws itself as text; it reads no key by itself.

use crate::render::escape::{Before, is_hidden, sign};
use crate::render::fold::columns;
use crate::render::style::Style;

/// The line.
#[derive(Debug, Default, PartialEq, Eq)]
pub struct Typed {
    text: Vec<char>,
    /// The character that the cursor is on.
    at: usize,
}

/// What a key press comes to.
#[derive(Debug, PartialEq, Eq)]
pub enum Step {
    /// There is more to type.
    More,
    /// Escape: nothing is to come of it.
    Back,
    /// Enter.
    Done(String),
}

impl Typed {
    /// A line to change.
    pub fn of(text: &str) -> Self {
        let text: Vec<char> = text.chars().collect();
        Self { at: text.len(), text }
    }

    /// Whether nothing is typed.
    pub fn is_empty(&self) -> bool {
        self.text.is_empty()
    }

    /// What is typed.
    pub fn text(&self) -> String {
        self.text.iter().collect()
    }

    /// Takes in a key press, several, or a paste.
    pub fn press(&mut self, pressed: &str) -> Step {
        self.press_line(pressed).0
    }

    /// The same, with what follows the line's end.
    pub fn press_line<'a>(&mut self, pressed: &'a str) -> (Step, &'a str) {
        let mut chars = pressed.chars();
        while let Some(c) = chars.next() {
            match c {
                '\u{1b}' if chars.as_str().is_empty() => return (Step::Back, ""),
                '\u{1b}' => self.escape(&sequence(&mut chars)),
                '\r' | '\n' => return (Step::Done(self.text()), chars.as_str()),
                '\u{7f}' | '\u{8}' if self.at > 0 => {
                    self.at -= 1;
                    self.text.remove(self.at);
                }
                '\u{1}' => self.at = 0,
                '\u{5}' => self.at = self.text.len(),
                '\u{b}' => self.text.truncate(self.at),
                '\u{15}' => {
                    self.text.drain(..self.at);
                    self.at = 0;
                }
                '\u{17}' => self.rub_word(),
                c if c.is_control() => {}
                c => self.insert(c),
            }
        }
        (Step::More, "")
    }

    fn escape(&mut self, sequence: &str) {
        match sequence {
            "\r" | "\n" => self.insert('\n'),
            "[D" | "OD" => self.at = self.at.saturating_sub(1),
            "[C" | "OC" => self.at = (self.at + 1).min(self.text.len()),
            "[H" | "OH" | "[1~" => self.at = 0,
            "[F" | "OF" | "[4~" => self.at = self.text.len(),
            "[3~" if self.at < self.text.len() => {
                self.text.remove(self.at);
            }
            _ => {} // another function key
        }
    }

    fn insert(&mut self, c: char) {
        self.text.insert(self.at, c);
        self.at += 1;
    }

    fn rub_word(&mut self) {
        let before = self.text.get(..self.at).unwrap_or_default();
        let end = before.iter().rposition(|c| *c != ' ').map_or(0, |at| at + 1);
        let start = before.get(..end).unwrap_or_default().iter().rposition(|c| *c == ' ').map_or(0, |at| at + 1);
        self.text.drain(start..self.at);
        self.at = start;
    }

    /// The line with its cursor, in at most `width` columns: the part around the cursor if it is longer.
    pub fn shown(&self, style: Style, width: usize) -> String {
        let cells = self.cells();
        let mut start = self.at.min(cells.len().saturating_sub(1));
        let mut used = 0;
        let room = width.saturating_sub(2);
        // backwards from the cursor as far as there is room, but for a third of it, which is for what follows
        while let Some(cell) = start.checked_sub(1).and_then(|before| cells.get(before)) {
            used += wide(cell);
            if used > room - room / 3 && wide_from(&cells, start) + used > room {
                break;
            }
            start -= 1;
        }
        let mut out = if start > 0 { style.dim("…") } else { String::new() };
        let mut left = room;
        for (at, cell) in cells.iter().enumerate().skip(start) {
            let Some(rest) = left.checked_sub(wide(cell)) else {
                out.push_str(&style.dim("…"));
                break;
            };
            left = rest;
            out.push_str(&if at == self.at { style.sign(cell) } else { cell.clone() });
        }
        out
    }

    /// What each character is shown as, and a blank at the end for the cursor.
    fn cells(&self) -> Vec<String> {
        let mut before = Before::default();
        let cell = |c: &char| {
            let shown = match *c {
                '\n' => "⏎".to_owned(),
                '\t' => "→".to_owned(),
                c if is_hidden(c, before) => sign(c),
                c => c.to_string(),
            };
            before = before.then(*c);
            shown
        };
        let cells: Vec<String> = self.text.iter().map(cell).collect();
        cells.into_iter().chain(std::iter::once(" ".to_owned())).collect()
    }
}

/// What follows an escape character.
fn sequence(chars: &mut std::str::Chars<'_>) -> String {
    let mut out = String::new();
    for c in chars {
        out.push(c);
        let starts = out.len() == 1 && matches!(c, '[' | 'O');
        if !starts && (out.len() == 1 || matches!(c, '@'..='~')) {
            break;
        }
    }
    out
}

fn wide(cell: &str) -> usize {
    cell.chars().map(columns).sum()
}

fn wide_from(cells: &[String], start: usize) -> usize {
    cells.iter().skip(start).map(|cell| wide(cell)).sum()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn typed(keys: &[&str]) -> (Typed, Step) {
        let mut line = Typed::default();
        let mut step = Step::More;
        for key in keys {
            step = line.press(key);
        }
        (line, step)
    }

    #[test]
    fn keys_edit_the_line() {
        let left = "\u{1b}[D";
        let table: &[(&[&str], &str)] = &[
            (&["usx", "\u{7f}", "e b", "\u{1b}[A", "un", "\n"], "use bun"),
            (&["bc", "\u{1}", "a", "\u{5}", "d\n"], "abcd"),
            (&["abd", left, "c", "\r"], "abcd"),
            (&["abxc", left, left, "\u{1b}[3~", "\n"], "abc"),
            (&["abxc", "\u{1b}[D\u{1b}[D\u{1b}[3~\n"], "abc"),
            (&["drop this one", "\u{17}", "\u{17}", "it\n"], "drop it"),
            (&["a b", left, "\u{b}", "\n"], "a "),
            (&["a b", left, "\u{15}", "\n"], "b"),
            (&["a", "\u{1b}\n", "b\n"], "a\nb"),
            (&["\u{7f}\u{7f}", left, "\u{1b}[C", "ü\n"], "ü"),
        ];
        for (keys, text) in table {
            assert_eq!(typed(keys).1, Step::Done((*text).to_owned()), "{keys:?}");
        }
        assert_eq!(typed(&["a", "\u{1b}"]).1, Step::Back);
    }

    #[test]
    fn the_part_around_the_cursor_is_shown() {
        let mut line = Typed::of("rm\u{202e} x");
        assert_eq!(line.shown(Style::PLAIN, 40), "rm<U+202E> x ");
        line = Typed::of(&"0123456789".repeat(10));
        for _ in 0..=110 {
            let shown = line.shown(Style::PLAIN, 20);
            assert!(shown.chars().count() <= 20, "{shown}");
            let at = line.shown(Style { colour: true }, 20);
            assert!(at.contains("\u{1b}[7m"), "the cursor is seen: {at}");
            line.press("\u{1b}[D");
        }
        assert!(line.shown(Style::PLAIN, 20).starts_with("0123"));
    }
}
