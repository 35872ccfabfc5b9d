//! Text from models and tools, made safe to show: whatever could move the cursor, hide or reorder what
//! a person reads is shown as a visible sign instead. Everything that `render` prints goes through here.

use std::borrow::Cow;
use std::fmt::Write;

/// For running text: line breaks and tabs stay; control characters and those that reorder text do not.
pub fn visible(text: &str) -> Cow<'_, str> {
    escape(text, |c| !matches!(c, '\n' | '\t') && (c.is_control() || reorders(c)))
}

/// For what a person is asked to approve: invisible characters show too.
pub fn visible_strict(text: &str) -> Cow<'_, str> {
    escape(text, |c| !matches!(c, '\n' | '\t') && (c.is_control() || reorders(c) || hides(c)))
}

/// For one line: line breaks show as a sign.
pub fn one_line(text: &str) -> String {
    visible_strict(text.trim_end()).replace('\n', "⏎").replace('\t', " ")
}

fn reorders(c: char) -> bool {
    matches!(c, '\u{61c}' | '\u{200e}' | '\u{200f}' | '\u{2028}'..='\u{202e}' | '\u{2066}'..='\u{206f}')
}

fn hides(c: char) -> bool {
    matches!(c,
        '\u{ad}' | '\u{34f}' | '\u{115f}' | '\u{1160}' | '\u{17b4}' | '\u{17b5}' | '\u{180b}'..='\u{180f}'
        | '\u{200b}'..='\u{200d}' | '\u{2060}'..='\u{2065}' | '\u{3164}' | '\u{fe00}'..='\u{fe0e}' | '\u{feff}'
        | '\u{ffa0}' | '\u{fff9}'..='\u{fffb}' | '\u{e0000}'..='\u{e0fff}')
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
            push_sign(&mut out, c);
        }
    }
    Cow::Owned(out)
}

fn push_sign(out: &mut String, c: char) {
    let code = u32::from(c);
    match char::from_u32(code ^ 0x40) {
        Some(caret) if c.is_ascii_control() => {
            out.push('^');
            out.push(caret);
        }
        _ => {
            let _ = write!(out, "<U+{code:04X}>"); // a String takes every write
        }
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
    fn what_is_approved_hides_nothing() {
        let table = [
            ("rm\u{200b} -rf", "rm<U+200B> -rf"),
            ("a\u{feff}b\u{ad}c", "a<U+FEFF>b<U+00AD>c"),
            ("tag\u{e0041}", "tag<U+E0041>"),
            ("zwj\u{200d}", "zwj<U+200D>"),
        ];
        for (text, shown) in table {
            assert_eq!(visible_strict(text), shown);
        }
    }

    #[test]
    fn a_title_stays_on_its_line() {
        assert_eq!(one_line("git commit -m 'a\nb'\tx\n"), "git commit -m 'a⏎b' x");
    }

    #[test]
    fn no_output_ever_holds_a_control_character() {
        for code in 0..=0x10_ffff_u32 {
            if let Some(c) = char::from_u32(code) {
                let text = format!("a{c}b");
                let harmful = |c: char| (c.is_control() && !matches!(c, '\n' | '\t')) || reorders(c);
                assert!(!visible(&text).contains(harmful), "{code:x}");
                assert!(!one_line(&text).contains(char::is_control), "{code:x}");
            }
        }
    }
}
