//! What no file may hold: trailing space, words for unfinished work, paths of one machine.

use crate::source::{Text, repository};

/// Written in two halves, so that this file passes its own check.
const UNFINISHED: &[&str] =
    &[concat!("todo", "!("), concat!("unimplemented", "!("), concat!("FIX", "ME"), concat!("XX", "X:")];

/// Everything in a file that should not be there.
pub fn check(file: &Text) -> Vec<String> {
    let root = repository().root.to_string_lossy().into_owned();
    let mut complaints = Vec::new();
    for (at, line) in file.text.lines().enumerate() {
        let mut complain = |what: &str| complaints.push(format!("{}:{}: {what}", file.path, at + 1));
        if line.ends_with([' ', '\t', '\r']) {
            complain("space at the end of the line");
        }
        for word in UNFINISHED.iter().filter(|word| line.contains(**word)) {
            complain(&format!("`{word}`: finish it, or open an issue"));
        }
        if line.contains(&root) {
            complain("a path of this machine");
        }
    }
    if !file.text.is_empty() && (!file.text.ends_with('\n') || file.text.ends_with("\n\n")) {
        complaints.push(format!("{}: does not end with one line break", file.path));
    }
    complaints
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn unclean_text_is_found() {
        let root = repository().root.to_string_lossy().into_owned();
        let bad = ["x \n", "x\t\n", "x", "x\n\n", &format!("{}\n", UNFINISHED[2]), &format!("see {root}/x\n")];
        for text in bad {
            assert_eq!(check(&Text { path: "x.md".to_owned(), text: text.to_owned() }).len(), 1, "{text:?}");
        }
        assert_eq!(check(&Text { path: "x.md".to_owned(), text: "x\n".to_owned() }), Vec::<String>::new());
    }
}
