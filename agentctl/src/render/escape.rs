//! Text from models and tools, made safe to show: whatever could move the cursor, hide or reorder what
//! a person reads is shown as a visible sign instead. Everything that `render` prints goes through here.

use std::borrow::Cow;
use unicode_width::UnicodeWidthChar;

/// Blanks in a row that a line may hold; more are counted.
pub const BLANKS: usize = 16;

/// For running text: line breaks and tabs stay; control characters and those that reorder text do not.
pub fn visible(text: &str) -> Cow<'_, str> {
    escape(text, |c| !matches!(c, '\n' | '\t') && (c.is_control() || reorders(c)))
}

/// For one line: line breaks show as a sign, so do invisible characters, and long runs of blanks are counted. What is
/// to be approved character by character goes through `exact`.
pub fn one_line(text: &str) -> String {
    let mut out = String::with_capacity(text.len());
    let mut blanks = 0;
    let mut before = Before::default();
    for c in text.trim_end().chars() {
        if matches!(c, ' ' | '\t') {
            blanks += 1;
        } else {
            push_blanks(&mut out, std::mem::take(&mut blanks));
        }
        match c {
            ' ' | '\t' => {}
            '\n' => out.push('⏎'),
            c if is_hidden(c, before) => out.push_str(&sign(c)),
            c => out.push(c),
        }
        before = before.then(c);
    }
    out
}

fn push_blanks(out: &mut String, count: usize) {
    if count > BLANKS {
        out.push_str(&counted(count, "blanks"));
    } else {
        out.extend(std::iter::repeat_n(' ', count));
    }
}

/// What stands in place of many.
pub fn counted(count: usize, what: &str) -> String {
    format!("⟨{count} {what}⟩")
}

/// What stood before a character: it says whether a mark on it is part of a word.
#[derive(Debug, Clone, Copy)]
pub struct Before {
    base: char,
    marks: u8,
}

impl Default for Before {
    /// A line's start.
    fn default() -> Self {
        Self { base: ' ', marks: 0 }
    }
}

/// Marks that a letter of any script may carry; more are piled up to cover something.
const MARKS: u8 = 3;

impl Before {
    /// The same after a further character.
    pub fn then(self, c: char) -> Self {
        if c.width() == Some(0) {
            Self { base: self.base, marks: self.marks.saturating_add(1) }
        } else {
            Self { base: c, marks: 0 }
        }
    }

    fn takes(self, mark: char) -> bool {
        let is_letter = if mark == '\u{fe0f}' { !self.base.is_ascii() } else { !self.base.is_ascii_punctuation() };
        is_letter && self.base != ' ' && self.marks < MARKS
    }
}

/// Whether a person would not see this character, or not as what it is: a control, one that reorders or hides text,
/// a blank that is no space, a mark that is on no letter.
pub fn is_hidden(c: char, before: Before) -> bool {
    let lone_mark = c.width() == Some(0) && !before.takes(c);
    c.is_control() || reorders(c) || hides(c) || is_odd_blank(c) || lone_mark
}

fn reorders(c: char) -> bool {
    matches!(c, '\u{61c}' | '\u{200e}' | '\u{200f}' | '\u{2028}'..='\u{202e}' | '\u{2066}'..='\u{206f}')
}

fn is_odd_blank(c: char) -> bool {
    (c.is_whitespace() && !matches!(c, ' ' | '\t' | '\n')) || matches!(c, '\u{2800}' | '\u{1d159}')
}

fn hides(c: char) -> bool {
    matches!(c,
        '\u{ad}' | '\u{34f}' | '\u{115f}' | '\u{1160}' | '\u{17b4}' | '\u{17b5}' | '\u{180b}'..='\u{180f}'
        | '\u{200b}'..='\u{200d}' | '\u{2060}'..='\u{2065}' | '\u{3164}' | '\u{fe00}'..='\u{fe0e}' | '\u{feff}'
        | '\u{e000}'..='\u{f8ff}' | '\u{ffa0}' | '\u{fff9}'..='\u{fffb}' | '\u{1bca0}'..='\u{1bca3}'
        | '\u{1d173}'..='\u{1d17a}' | '\u{e0000}'..)
}

fn escape(text: &str, suspect: impl Fn(char) -> bool) -> Cow<'_, str> {
    if !text.contains(&suspect) {
        return Cow::Borrowed(text);
    }
    let mut out = String::with_capacity(text.len() + 16);
    let mut chars = text.chars().peekable();
    while let Some(c) = chars.next() {
        if !suspect(c) {
            out.push(c);
        } else if c == '\r' && chars.peek() == Some(&'\n') {
            // a line break of another system
        } else {
            out.push_str(&sign(c));
        }
    }
    Cow::Owned(out)
}

/// The visible sign of a character: `^[`, `<U+202E>`.
pub fn sign(c: char) -> String {
    let code = u32::from(c);
    match char::from_u32(code ^ 0x40) {
        Some(caret) if c.is_ascii_control() => format!("^{caret}"),
        _ => format!("<U+{code:04X}>"),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn running_text_cannot_drive_the_terminal() {
        let table = [
            ("plain, ünïcode, 世界\n\tindented", "plain, ünïcode, 世界\n\tindented"),
            ("\u{1b}[2Jgone", "^[[2Jgone"),
            ("bell\u{7} del\u{7f} nul\0", "bell^G del^? nul^@"),
            ("dos\r\nlines\rover", "dos\nlines^Mover"),
            ("c1 \u{9b}31m", "c1 <U+009B>31m"),
            ("bidi \u{202e}txt\u{2066}", "bidi <U+202E>txt<U+2066>"),
            ("family \u{1f468}\u{200d}\u{1f469}", "family \u{1f468}\u{200d}\u{1f469}"),
        ];
        for (text, shown) in table {
            assert_eq!(visible(text), shown);
        }
    }

    #[test]
    fn a_title_stays_on_its_line() {
        let padded = format!("true{}; rm -rf x", " ".repeat(300));
        let table = [
            ("git commit -m 'a\nb'\tx\n", "git commit -m 'a⏎b' x"),
            (padded.as_str(), "true⟨300 blanks⟩; rm -rf x"),
            ("rm\u{200b}\u{a0}-rf\r", "rm<U+200B><U+00A0>-rf"),
            ("e\u{301}t\u{e9}", "e\u{301}t\u{e9}"),
        ];
        for (text, shown) in table {
            assert_eq!(one_line(text), shown);
        }
    }

    #[test]
    fn no_output_ever_holds_a_control_character() {
        for code in (0..0x4_0000_u32).chain(0xe_0000..0xe_1000).chain(0xf_ff00..=0x10_0100) {
            if let Some(c) = char::from_u32(code) {
                let text = format!("a{c}b");
                let harmful = |c: char| (c.is_control() && !matches!(c, '\n' | '\t')) || reorders(c);
                assert!(!visible(&text).contains(harmful), "{code:x}");
                assert!(!one_line(&text).contains(char::is_control), "{code:x}");
            }
        }
    }
}
