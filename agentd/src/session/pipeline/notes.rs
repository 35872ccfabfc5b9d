//! What is unusual in a question to a person: characters that can't be seen, texts that are not in the order in which
//! they run, blanks that push something out of sight. It only tells; what is shown stays as it is, to the byte. Pure.

use serde_json::Value;

/// Notes of one question; more of them would hide each other.
const MAX_NOTES: usize = 12;
/// Different characters that one note names.
const MAX_NAMED: usize = 6;
/// Blanks in the middle of a line that may push the rest of it out of sight.
const LONG_BLANK: usize = 40;
/// Empty lines in a row that may push the rest of a text out of sight.
const MANY_LINES: usize = 20;

/// A kind of unusual character.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Kind {
    Control,
    Invisible,
    Direction,
    Blank,
}

impl Kind {
    fn name(self) -> &'static str {
        match self {
            Self::Control => "control characters",
            Self::Invisible => "characters that can't be seen",
            Self::Direction => "marks that change the direction of text",
            Self::Blank => "unusual blanks",
        }
    }

    fn of(letter: char) -> Option<Self> {
        match letter {
            '\n' | '\t' => None,
            '\u{61c}' | '\u{200e}' | '\u{200f}' | '\u{202a}'..='\u{202e}' | '\u{2066}'..='\u{2069}' => {
                Some(Self::Direction)
            }
            letter if letter.is_control() => Some(Self::Control),
            '\u{ad}'
            | '\u{34f}'
            | '\u{115f}'
            | '\u{1160}'
            | '\u{17b4}'
            | '\u{17b5}'
            | '\u{180b}'..='\u{180f}'
            | '\u{200b}'..='\u{200d}'
            | '\u{2060}'..='\u{2065}'
            | '\u{206a}'..='\u{206f}'
            | '\u{2800}'
            | '\u{3164}'
            | '\u{feff}'
            | '\u{ffa0}'
            | '\u{fff9}'..='\u{fffb}'
            | '\u{1d173}'..='\u{1d17a}'
            | '\u{e0000}'..='\u{e0fff}' => Some(Self::Invisible),
            letter if letter != ' ' && letter.is_whitespace() => Some(Self::Blank),
            _ => None,
        }
    }
}

/// A script whose letters look like those of others.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Script {
    Latin,
    Greek,
    Cyrillic,
    Armenian,
    Cherokee,
}

impl Script {
    fn of(letter: char) -> Option<Self> {
        match letter {
            'a'..='z' | 'A'..='Z' | '\u{c0}'..='\u{24f}' | '\u{1e00}'..='\u{1eff}' | '\u{ff21}'..='\u{ff5a}' => {
                Some(Self::Latin)
            }
            '\u{370}'..='\u{3ff}' | '\u{1f00}'..='\u{1fff}' => Some(Self::Greek),
            '\u{400}'..='\u{52f}' | '\u{1c80}'..='\u{1c8f}' => Some(Self::Cyrillic),
            '\u{530}'..='\u{58f}' => Some(Self::Armenian),
            '\u{13a0}'..='\u{13ff}' | '\u{ab70}'..='\u{abbf}' => Some(Self::Cherokee),
            _ => None,
        }
    }
}

/// What is unusual in the texts of an input, one sentence each.
pub(super) fn of_input(input: &Value) -> Vec<String> {
    let mut notes = Vec::new();
    walk("", input, &mut notes);
    notes.truncate(MAX_NOTES);
    notes
}

fn walk(place: &str, value: &Value, notes: &mut Vec<String>) {
    if notes.len() >= MAX_NOTES {
        return;
    }
    match value {
        Value::String(text) => notes.extend(of_text(place, text)),
        Value::Array(items) => items.iter().for_each(|item| walk(place, item, notes)),
        Value::Object(fields) => {
            for (name, value) in fields {
                notes.extend(of_text("the name of a field", name));
                walk(if place.is_empty() { name } else { place }, value, notes);
            }
        }
        Value::Null | Value::Bool(_) | Value::Number(_) => {}
    }
}

fn of_text(place: &str, text: &str) -> Vec<String> {
    if text.bytes().all(|byte| matches!(byte, b'!'..=b'~')) {
        return Vec::new();
    }
    let kinds = [Kind::Control, Kind::Invisible, Kind::Direction, Kind::Blank];
    let mut notes: Vec<String> = kinds.into_iter().filter_map(|kind| of_kind(place, text, kind)).collect();
    if let Some(word) = text.split(|letter: char| !letter.is_alphanumeric()).find(|word| is_mixed(word)) {
        notes.push(format!("{place} has letters of several scripts in one word: {}", spelled(word)));
    }
    if text.lines().any(|line| line.trim().contains(&" ".repeat(LONG_BLANK)) || long_tabs(line)) {
        notes.push(format!("{place} has a long blank within a line: what follows it may be out of sight"));
    }
    if text.trim().contains(&"\n".repeat(MANY_LINES)) {
        notes.push(format!("{place} has many empty lines: what follows them may be out of sight"));
    }
    notes
}

fn of_kind(place: &str, text: &str, kind: Kind) -> Option<String> {
    let mut found: Vec<char> = Vec::new();
    let mut count = 0_usize;
    for letter in text.chars().filter(|letter| Kind::of(*letter) == Some(kind)) {
        count += 1;
        if found.len() < MAX_NAMED && !found.contains(&letter) {
            found.push(letter);
        }
    }
    let names: Vec<String> = found.iter().map(|letter| format!("U+{:04X}", u32::from(*letter))).collect();
    (count > 0).then(|| format!("{place} holds {} ({count}): {}", kind.name(), names.join(", ")))
}

fn long_tabs(line: &str) -> bool {
    line.trim().contains(&"\t".repeat(LONG_BLANK / 8))
}

fn is_mixed(word: &str) -> bool {
    let mut scripts = word.chars().filter_map(Script::of);
    let first = scripts.next();
    scripts.any(|script| Some(script) != first)
}

/// A word with what is no plain letter of it spelled out.
fn spelled(word: &str) -> String {
    let letters = word.chars().take(60).map(|letter| match letter.is_ascii() {
        true => letter.to_string(),
        false => format!("<U+{:04X}>", u32::from(letter)),
    });
    letters.collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    #[test]
    fn what_can_not_be_seen_is_told() {
        for (command, told) in [
            ("ls\u{1b}[8m; rm x", "command holds control characters (1): U+001B"),
            ("ls\r; rm x", "command holds control characters (1): U+000D"),
            ("l\u{200b}s\u{200b}", "command holds characters that can't be seen (2): U+200B"),
            ("ls \u{e0041}", "command holds characters that can't be seen (1): U+E0041"),
            ("ls \u{202e}x", "command holds marks that change the direction of text (1): U+202E"),
            ("ls\u{a0}x", "command holds unusual blanks (1): U+00A0"),
            ("l\u{455} x", "command has letters of several scripts in one word: l<U+0455>"),
        ] {
            assert_eq!(of_input(&json!({"command": command})), [told], "{command:?}");
        }
        let pushed = format!("ls{}; rm x", " ".repeat(80));
        assert!(of_input(&json!({"command": pushed}))[0].contains("out of sight"));
        let pushed = format!("ls{}rm x", "\n".repeat(80));
        assert!(of_input(&json!({"command": pushed}))[0].contains("many empty lines"));
    }

    #[test]
    fn ordinary_texts_are_not_remarked_on() {
        let deep = format!("fn f() {{\n{}x();\n\t\t\t\t\t\ty();\n}}\n\n", " ".repeat(60));
        for text in ["ls -la | grep x\n", "naïve Größe", "привет мир", "日本語 text", "ελληνικά and Latin", &deep, ""]
        {
            assert_eq!(of_input(&json!({"command": text, "timeout": 5})), Vec::<String>::new(), "{text:?}");
        }
    }

    #[test]
    fn notes_are_bounded_and_look_into_lists() {
        let many: Vec<Value> = (0..100).map(|_| json!({"a": "\u{200b}"})).collect();
        assert_eq!(of_input(&json!({"items": many})).len(), MAX_NOTES);
    }
}
