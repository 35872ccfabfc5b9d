//! Documents: that they are there, and that their links lead somewhere.

use crate::source::{Repository, Text};
use std::path::Path;

/// Each document with a line that it must have.
const DOCUMENTS: &[(&str, &str)] = &[
    ("README.md", "# agentd"),
    ("ARCHITECTURE.md", "# "),
    ("CHANGELOG.md", "## Unreleased"),
    ("CONTRIBUTING.md", "# "),
    ("proto/PROTOCOL.md", "# "),
    ("LICENSE-MIT", ""),
    ("LICENSE-APACHE", ""),
];

/// Documents that are missing, or lack the line.
pub fn check_present(repository: &Repository) -> Vec<String> {
    let missing = |(path, line): &(&str, &str)| {
        let text = repository.read(path);
        let found = text.is_some_and(|text| text.lines().any(|found| found.starts_with(line)));
        (!found).then(|| format!("{path} is not there, or has no line that starts with `{line}`"))
    };
    DOCUMENTS.iter().filter_map(missing).collect()
}

/// Relative links that lead nowhere.
pub fn check_links(repository: &Repository) -> Vec<String> {
    let files = repository.text_files().into_iter().filter(|file| file.path.ends_with(".md"));
    files.flat_map(|file| broken_links(&file, |path| repository.root.join(path).exists())).collect()
}

fn broken_links(file: &Text, exists: impl Fn(&str) -> bool) -> Vec<String> {
    let folder = Path::new(&file.path).parent().unwrap_or(Path::new(""));
    let mut broken = Vec::new();
    for (at, line) in file.text.lines().enumerate() {
        for target in line.split("](").skip(1).filter_map(|rest| rest.split(')').next()) {
            let path = target.split('#').next().unwrap_or_default();
            let outside = path.is_empty() || path.contains("://") || path.starts_with("mailto:");
            if !outside && !exists(&folder.join(path).to_string_lossy()) {
                broken.push(format!("{}:{}: the link to {target} leads nowhere", file.path, at + 1));
            }
        }
    }
    broken
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_broken_link_is_found() {
        let text = "[a](there.md) [b](gone.md#x)\n[c](https://example.com) [d](#here) ![e](img/x.png)\n".to_owned();
        let file = Text { path: "docs/x.md".to_owned(), text };
        let broken = broken_links(&file, |path| path == "docs/there.md");
        assert_eq!(broken.len(), 2, "{broken:?}");
    }

    #[test]
    fn a_missing_document_is_found() {
        let nowhere = Repository { root: "/nonexistent".into() };
        assert_eq!(check_present(&nowhere).len(), DOCUMENTS.len());
    }
}
