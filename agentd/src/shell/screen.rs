//! What is refused before anything is read: lines that are too long, and characters that a person does not see or that
//! a terminal obeys. Called by the analysis. Never changes the line.

/// The longest line that is looked at, in characters.
pub(super) const LONGEST: usize = 10_000;
/// So many blanks in a row hide what follows.
const PADDING: usize = 100;

/// Why a line is not looked at.
pub(super) fn refusal(line: &str) -> Option<String> {
    if line.len() > LONGEST && line.chars().count() > LONGEST {
        return Some(format!("the line is longer than {LONGEST} characters"));
    }
    let mut blanks = 0;
    for character in line.chars() {
        if unseen(character) {
            return Some(format!("the line holds U+{:04X}, a character that is not seen", u32::from(character)));
        }
        blanks = if character == ' ' || character == '\t' { blanks + 1 } else { 0 };
        if blanks > PADDING {
            return Some(format!("the line holds more than {PADDING} blanks in a row, which hide what follows"));
        }
    }
    line.trim().is_empty().then(|| "the line is empty".to_owned())
}

/// Control characters but tab and newline; blanks other than those of ASCII; characters without width, also those that
/// turn the direction of text, and tags.
fn unseen(character: char) -> bool {
    if matches!(character, ' '..='~' | '\t' | '\n') {
        return false;
    }
    character.is_control()
        || character.is_whitespace()
        || matches!(u32::from(character),
            0x00AD | 0x034F | 0x061C | 0x115F | 0x1160 | 0x17B4 | 0x17B5 | 0x180B..=0x180F
            | 0x200B..=0x200F | 0x2028..=0x202F | 0x205F..=0x206F | 0x2800 | 0x3164 | 0xFE00..=0xFE0F | 0xFEFF
            | 0xFFA0 | 0xFFF0..=0xFFFB | 0x1BCA0..=0x1BCA3 | 0x1D173..=0x1D17A | 0xE0000..=0xE0FFF)
        || is_private(u32::from(character))
}

fn is_private(code: u32) -> bool {
    matches!(code, 0xE000..=0xF8FF | 0xF_0000..=0x10_FFFF) || code & 0xFFFE == 0xFFFE
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_not_seen_is_refused() {
        for line in [
            "ls\r\npwd",
            "ls\0x",
            "ls \x08",
            "ls\u{a0}-la",
            "a\u{2060}b",
            "ca\u{200d}t",
            "x\u{202e}y",
            "",
            " ",
            "\u{1b}[1m",
        ] {
            assert!(refusal(line).is_some(), "{line:?}");
        }
        assert!(refusal(&format!("ls{};x", " ".repeat(400))).is_some());
        assert!(refusal(&"x".repeat(LONGEST + 1)).is_some());
        for line in ["ls", "rg '日本語'", "echo '✓ done'", "ls\n\tpwd", "echo é"] {
            assert_eq!(refusal(line), None, "{line:?}");
        }
    }
}
