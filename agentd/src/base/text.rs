//! Cutting text at character boundaries.

/// The first `chars` characters of a text.
#[must_use]
pub fn head(text: &str, chars: usize) -> &str {
    match text.char_indices().nth(chars) {
        Some((at, _)) => text.get(..at).unwrap_or(text),
        None => text,
    }
}

/// The last `chars` characters of a text.
#[must_use]
pub fn tail(text: &str, chars: usize) -> &str {
    if chars == 0 {
        return "";
    }
    match text.char_indices().nth_back(chars - 1) {
        Some((at, _)) => text.get(at..).unwrap_or(text),
        None => text,
    }
}

/// One line of at most `chars` characters: line breaks become spaces, a cut is shown by `…`.
#[must_use]
pub fn one_line(text: &str, chars: usize) -> String {
    let line = text.split_whitespace().collect::<Vec<_>>().join(" ");
    let cut = head(&line, chars);
    if cut.len() == line.len() { line } else { format!("{}…", head(&line, chars.saturating_sub(1))) }
}

/// A file name made of an identifier that comes from elsewhere: anything but letters, digits, `-` and `_`
/// becomes `_`, at most 100 characters, never empty.
#[must_use]
pub fn file_name(id: &str) -> String {
    let name: String =
        id.chars().take(100).map(|c| if c.is_ascii_alphanumeric() || c == '-' || c == '_' { c } else { '_' }).collect();
    if name.is_empty() { "_".to_owned() } else { name }
}
