//! The text of one settings file: JSON with comments in, the values that fit and the errors out. Called by `files`.
//! A file that can't be parsed still gives its deny and ask rules: a slip must not open what was closed. Pure.

use super::doubles;
use super::salvage;
use super::sift::{Owner, Problem, Step, place, sift};
use jsonc_parser::ast;
use jsonc_parser::common::Ranged;
use jsonc_parser::{CollectOptions, ParseOptions, parse_to_ast, parse_to_serde_value};
use proto::methods::SettingsError;
use serde_json::{Map, Value, json};

/// What one file says.
#[derive(Debug, Default, PartialEq)]
pub(super) struct Content {
    /// The values that fit.
    pub(super) values: Map<String, Value>,
    /// What is wrong.
    pub(super) errors: Vec<SettingsError>,
    /// How much of it was understood.
    pub(super) state: State,
    /// Whether the file is the user's own and closed to others, so that it may hold secrets.
    pub(super) private: bool,
}

/// How much of a file was understood.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub(super) enum State {
    /// All of it, but for single values.
    #[default]
    Whole,
    /// There is nothing in it.
    Empty,
    /// It can't be read or parsed.
    Broken,
}

/// Reads the bytes of a file.
pub(super) fn read(shown: &str, bytes: Vec<u8>, owner: Owner) -> Content {
    match String::from_utf8(bytes) {
        Ok(text) => parse(shown, &text, owner),
        Err(invalid) => {
            let text = String::from_utf8_lossy(invalid.as_bytes()).into_owned();
            broken(shown, &text, "is not UTF-8".to_owned())
        }
    }
}

/// A file that can't be read at all.
pub(super) fn unreadable(shown: &str, why: String) -> Content {
    Content { errors: vec![error(shown, why)], state: State::Broken, ..Content::default() }
}

/// Parses the text of a file.
pub(super) fn parse(shown: &str, text: &str, owner: Owner) -> Content {
    let text = text.strip_prefix('\u{feff}').unwrap_or(text);
    let parsed: Value = match parse_to_serde_value(text, &ParseOptions::default()) {
        Ok(value) => value,
        Err(error) => {
            let (line, column) = (error.line_display(), error.column_display());
            return broken(shown, text, format!("line {line}, column {column}: {}", error.kind()));
        }
    };
    let tree = parse_to_ast(text, &CollectOptions::default(), &ParseOptions::default()).ok();
    let tree = tree.and_then(|tree| tree.value);
    let (joined, doubles) = tree.as_ref().map(|tree| doubles::value(text, tree)).unwrap_or_default();
    let parsed = if doubles.is_empty() { parsed } else { joined };
    let file = match parsed {
        Value::Object(file) => file,
        // An empty file.
        Value::Null => return Content { state: State::Empty, ..Content::default() },
        _ => return broken(shown, text, "line 1: an object is expected".to_owned()),
    };
    let (values, problems) = sift(file, owner);
    let mut errors: Vec<SettingsError> = doubles.iter().map(|double| error(shown, double.shown(text))).collect();
    errors.extend(problems.iter().map(|problem| located(shown, text, tree.as_ref(), problem)));
    Content { values, errors, ..Content::default() }
}

pub(super) fn error(shown: &str, message: String) -> SettingsError {
    SettingsError { file: shown.to_owned(), message }
}

fn broken(shown: &str, text: &str, why: String) -> Content {
    let (deny, ask) = (salvage::rules(text, "deny"), salvage::rules(text, "ask"));
    let kept = match (deny.is_empty(), ask.is_empty()) {
        (true, true) => "",
        (false, true) => "; only its deny rules count",
        (true, false) => "; only its ask rules count",
        (false, false) => "; only its deny and ask rules count",
    };
    let mut values = Map::new();
    if !kept.is_empty() {
        let saved = Map::from_iter([("permissions".to_owned(), json!({"deny": deny, "ask": ask}))]);
        (values, _) = sift(saved, Owner::Agentd);
    }
    let errors = vec![error(shown, format!("{why}: correct the file{kept}"))];
    Content { values, errors, state: State::Broken, ..Content::default() }
}

fn located(shown: &str, text: &str, tree: Option<&ast::Value<'_>>, problem: &Problem) -> SettingsError {
    let line = tree.and_then(|tree| line_of(text, tree, &problem.path));
    let line = line.map(|line| format!("line {line}: ")).unwrap_or_default();
    error(shown, format!("{line}{}: {}", place(&problem.path), problem.message))
}

/// The line on which a value begins, or the key that names it.
fn line_of(text: &str, tree: &ast::Value<'_>, path: &[Step]) -> Option<usize> {
    let mut at = tree;
    let mut start = tree.range().start;
    for step in path {
        match step {
            Step::Key(key) => {
                // Of a key that stands twice the later one counts.
                let property =
                    at.as_object()?.properties.iter().rev().find(|property| property.name.as_str() == key.as_str())?;
                start = property.range().start;
                at = &property.value;
            }
            Step::Item(item) => {
                // What was taken for a list of one has no entries.
                let Some(found) = at.as_array().and_then(|list| list.elements.get(*item)) else { break };
                at = found;
                start = at.range().start;
            }
        }
    }
    Some(text.get(..start)?.matches('\n').count().saturating_add(1))
}
