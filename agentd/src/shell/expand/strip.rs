//! `${x#pattern}` and `${x%pattern}` of a known value. Part of the expansion of words.

/// Longer values are not looked at.
const LONGEST: usize = 128;

/// What is left of `text`; `None` if the pattern is not understood.
pub(super) fn strip(text: &str, pattern: &str, front: bool, longest: bool) -> Option<String> {
    if text.len() > LONGEST || pattern.len() > LONGEST || pattern.contains(['?', '[', '\\', '(', '~']) {
        return None;
    }
    let mut cuts: Vec<usize> = text.char_indices().map(|(at, _)| at).chain([text.len()]).collect();
    // The shortest piece comes first: of the front that is the first cut, of the end the last one.
    if front == longest {
        cuts.reverse();
    }
    for cut in cuts {
        let (head, tail) = text.split_at_checked(cut)?;
        let (piece, rest) = if front { (head, tail) } else { (tail, head) };
        if matches(piece, pattern) {
            return Some(rest.to_owned());
        }
    }
    Some(text.to_owned())
}

/// Whether the whole text is of this pattern, in which only `*` means something.
fn matches(text: &str, pattern: &str) -> bool {
    let mut pieces = pattern.split('*');
    let Some(mut rest) = text.strip_prefix(pieces.next().unwrap_or("")) else { return false };
    let mut pieces: Vec<&str> = pieces.collect();
    let Some(last) = pieces.pop() else { return rest.is_empty() };
    for piece in pieces {
        match rest.split_once(piece) {
            Some((_, after)) => rest = after,
            None => return false,
        }
    }
    rest.ends_with(last)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn pieces_are_cut_as_bash_does() {
        for (text, pattern, front, longest, expected) in [
            ("src/main.rs", ".rs", false, false, "src/main"),
            ("src/main.rs", "*/", true, true, "main.rs"),
            ("a/b/c", "*/", true, false, "b/c"),
            ("a/b/c", "/*", false, false, "a/b"),
            ("a/b/c", "/*", false, true, "a"),
            ("a.tar.gz", ".*", false, true, "a"),
            ("abc", "x", true, false, "abc"),
            ("abc", "*", true, false, "abc"),
            ("abc", "*", true, true, ""),
        ] {
            assert_eq!(strip(text, pattern, front, longest).as_deref(), Some(expected), "{text} {pattern}");
        }
        assert_eq!(strip("abc", "?", true, false), None);
    }
}
