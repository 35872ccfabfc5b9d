//! The table of mechanisms: which test shows which row. The rows and their words are written by hand in
//! `tests/MECHANISMS.md`; the tests in its last column come from the doc lines of the tests themselves, so the page
//! can't tell of a test that is not there.

use crate::source::{Repository, Text};
use std::collections::BTreeMap;
use std::fs;

/// The page.
const PAGE: &str = "tests/MECHANISMS.md";
/// Set to write the last column in place of checking it.
const UPDATE: &str = "UPDATE_MECHANISMS";
const ROW: &str = "/// Row ";
const ROWS: &str = "/// Rows ";

/// A test that names rows.
#[derive(Debug, PartialEq, Eq)]
struct Shown {
    rows: Vec<String>,
    path: String,
    name: String,
}

/// What is wrong with the page: a row without a test, a test of a row that is not there, a column that is out of date.
pub fn check(repository: &Repository) -> Vec<String> {
    let rust = repository.text_files().into_iter().filter(|file| file.path.ends_with(".rs"));
    let shown: Vec<Shown> =
        rust.filter(|file| !file.path.ends_with("tidy/mechanisms.rs")).flat_map(|file| shown_by(&file)).collect();
    let page = repository.read(PAGE).unwrap_or_default();
    let (written, complaints) = fill(&page, &shown);
    #[allow(clippy::disallowed_methods)] // whoever runs the test asks for the update by it
    let update = std::env::var_os(UPDATE).is_some();
    if update {
        fs::write(repository.root.join(PAGE), &written).expect("the page can be written");
    } else if written != page {
        let stale = format!("{PAGE} is out of date: run `{UPDATE}=1 cargo test -p tests --test tidy`");
        return complaints.into_iter().chain([stale]).collect();
    }
    complaints
}

/// The tests of a file whose doc comment begins with rows.
fn shown_by(file: &Text) -> Vec<Shown> {
    let mut found = Vec::new();
    let mut lines = file.text.lines().map(str::trim);
    while let Some(line) = lines.next() {
        let Some(rest) = line.strip_prefix(ROW).or_else(|| line.strip_prefix(ROWS)) else { continue };
        let Some((ids, _)) = rest.split_once(':') else { continue };
        let rows: Vec<String> = ids.split(',').map(|id| id.trim().to_owned()).collect();
        if !rows.iter().all(|id| is_id(id)) {
            continue;
        }
        let name = lines.by_ref().take_while(|line| !line.is_empty()).find_map(function_name);
        found.extend(name.map(|name| Shown { rows, path: file.path.clone(), name }));
    }
    found
}

/// A letter and two digits.
fn is_id(text: &str) -> bool {
    matches!(text.as_bytes(), [letter, tens, ones] if letter.is_ascii_uppercase() && tens.is_ascii_digit() && ones.is_ascii_digit())
}

fn function_name(line: &str) -> Option<String> {
    let line = line.strip_prefix("async ").unwrap_or(line);
    let rest = line.strip_prefix("fn ")?;
    rest.split_once('(').map(|(name, _)| name.to_owned())
}

/// The page with its last column, and what is missing.
fn fill(page: &str, shown: &[Shown]) -> (String, Vec<String>) {
    let mut by_row: BTreeMap<&str, Vec<&Shown>> = BTreeMap::new();
    for test in shown {
        for row in &test.rows {
            by_row.entry(row).or_default().push(test);
        }
    }
    let mut complaints = Vec::new();
    let mut lines = Vec::new();
    for line in page.lines() {
        let cells: Vec<&str> = line.split('|').map(str::trim).collect();
        match cells.as_slice() {
            ["", id, mechanism, _, ""] if is_id(id) => {
                let tests = by_row.remove(id).unwrap_or_default();
                if tests.is_empty() {
                    complaints.push(format!("no test names row {id}: begin its doc comment with `Row {id}: `"));
                }
                let links: Vec<String> =
                    tests.iter().map(|test| format!("[{}](../{})", test.name, test.path)).collect();
                lines.push(format!("| {id} | {mechanism} | {} |", links.join("<br>")));
            }
            _ => lines.push(line.to_owned()),
        }
    }
    for (row, tests) in by_row {
        complaints.extend(
            tests
                .iter()
                .map(|test| format!("{}: `{}` names row {row}, which {PAGE} does not have", test.path, test.name)),
        );
    }
    (lines.join("\n") + "\n", complaints)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn tests_are_found_by_their_doc_lines() {
        let text = "    /// Rows C01, C02: both.\n    /// More words.\n    #[test]\n    fn one() {}\n\n/// Row X: none.\nfn two() {}\n\
                    /// Row L03: it is.\n#[tokio::test]\nasync fn three() {}\n";
        let found = shown_by(&Text { path: "a.rs".to_owned(), text: text.to_owned() });
        let names: Vec<(&str, Vec<&str>)> =
            found.iter().map(|test| (test.name.as_str(), test.rows.iter().map(String::as_str).collect())).collect();
        assert_eq!(names, [("one", vec!["C01", "C02"]), ("three", vec!["L03"])]);
    }

    #[test]
    fn a_row_without_a_test_and_a_test_without_a_row_are_found() {
        let test = |row: &str| Shown { rows: vec![row.to_owned()], path: "a.rs".to_owned(), name: "it".to_owned() };
        let page = "| row | what | tests |\n| C01 | gate | old |\n| C02 | stages | |\n";
        let (written, complaints) = fill(page, &[test("C01"), test("Z99")]);
        assert_eq!(written, "| row | what | tests |\n| C01 | gate | [it](../a.rs) |\n| C02 | stages |  |\n");
        assert_eq!(complaints.len(), 2, "{complaints:?}");
    }
}
