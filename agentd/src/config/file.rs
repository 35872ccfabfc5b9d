//! One settings file: JSON with comments in, the values that fit and the errors out. Called by `loader`.
//! A file that can't be parsed still gives its deny rules: a slip must not open what was closed.

use super::sift::{Owner, Problem, Step, place, sift};
use jsonc_parser::ast;
use jsonc_parser::common::Ranged;
use jsonc_parser::{CollectOptions, ParseOptions, parse_to_ast, parse_to_serde_value};
use proto::methods::SettingsError;
use serde_json::{Map, Value, json};
use std::io::{ErrorKind, Read};
use std::path::Path;

/// No settings file is longer; what is longer is something else.
const MAX_BYTES: u64 = 4 << 20;

/// What one file says.
#[derive(Debug, Default)]
pub(super) struct Layer {
    /// The values that fit.
    pub(super) values: Map<String, Value>,
    /// What is wrong.
    pub(super) errors: Vec<SettingsError>,
}

/// Reads a file; one that does not exist says nothing.
pub(super) fn read(path: &Path, owner: Owner) -> Layer {
    let shown = path.display().to_string();
    let failed = |why: String| Layer { values: Map::new(), errors: vec![error(&shown, why)] };
    let file = match crate::base::files::open_plain(path) {
        Ok(file) => file,
        Err(error) if matches!(error.kind(), ErrorKind::NotFound | ErrorKind::NotADirectory) => {
            return Layer::default();
        }
        Err(error) if error.kind() == ErrorKind::PermissionDenied => {
            return failed(format!("can't be read ({error}): correct its permissions"));
        }
        Err(error) => return failed(format!("can't be read ({error})")),
    };
    let mut bytes = Vec::new();
    match file.take(MAX_BYTES.saturating_add(1)).read_to_end(&mut bytes) {
        Err(error) => return failed(format!("can't be read ({error})")),
        Ok(length) if u64::try_from(length).is_ok_and(|length| length > MAX_BYTES) => {
            return failed(format!("is longer than {MAX_BYTES} bytes: it is no settings file"));
        }
        Ok(_) => {}
    }
    match String::from_utf8(bytes) {
        Ok(text) => parse(&shown, &text, owner),
        Err(invalid) => {
            let text = String::from_utf8_lossy(invalid.as_bytes()).into_owned();
            broken(&shown, &text, "is not UTF-8".to_owned())
        }
    }
}

/// Parses the text of a file.
pub(super) fn parse(shown: &str, text: &str, owner: Owner) -> Layer {
    let text = text.strip_prefix('\u{feff}').unwrap_or(text);
    let parsed: Value = match parse_to_serde_value(text, &ParseOptions::default()) {
        Ok(value) => value,
        Err(error) => {
            let (line, column) = (error.line_display(), error.column_display());
            return broken(shown, text, format!("line {line}, column {column}: {}", error.kind()));
        }
    };
    let file = match parsed {
        Value::Object(file) => file,
        // An empty file.
        Value::Null => return Layer::default(),
        _ => return broken(shown, text, "line 1: an object is expected".to_owned()),
    };
    let (values, problems) = sift(file, owner);
    Layer { values, errors: located(shown, text, &problems) }
}

fn error(shown: &str, message: String) -> SettingsError {
    SettingsError { file: shown.to_owned(), message }
}

fn broken(shown: &str, text: &str, why: String) -> Layer {
    let deny = salvage_deny(text);
    let kept = if deny.is_empty() { "" } else { "; only its deny rules count" };
    let mut values = Map::new();
    if !deny.is_empty() {
        values.insert("permissions".to_owned(), json!({"deny": deny}));
    }
    Layer { values, errors: vec![error(shown, format!("{why}: correct the file{kept}"))] }
}

fn located(shown: &str, text: &str, problems: &[Problem]) -> Vec<SettingsError> {
    if problems.is_empty() {
        return Vec::new();
    }
    let tree =
        parse_to_ast(text, &CollectOptions::default(), &ParseOptions::default()).ok().and_then(|tree| tree.value);
    problems
        .iter()
        .map(|problem| {
            let line = tree.as_ref().and_then(|tree| line_of(text, tree, &problem.path));
            let line = line.map(|line| format!("line {line}: ")).unwrap_or_default();
            error(shown, format!("{line}{}: {}", place(&problem.path), problem.message))
        })
        .collect()
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
                at = at.as_array()?.elements.get(*item)?;
                start = at.range().start;
            }
        }
    }
    Some(text.get(..start)?.matches('\n').count().saturating_add(1))
}

/// The entries of every list that follows a key `deny`, as far as they can be read.
fn salvage_deny(text: &str) -> Vec<String> {
    const KEY: &str = "\"deny\"";
    let mut rules = Vec::new();
    for (at, _) in text.match_indices(KEY) {
        let rest = text.get(at.saturating_add(KEY.len())..).unwrap_or_default();
        let Some(rest) = skip_blank(rest).strip_prefix(':') else { continue };
        let Some(mut rest) = skip_blank(rest).strip_prefix('[') else { continue };
        loop {
            rest = skip_blank(rest);
            rest = rest.strip_prefix(',').map_or(rest, skip_blank);
            let mut strings = serde_json::Deserializer::from_str(rest).into_iter::<String>();
            let Some(Ok(rule)) = strings.next() else { break };
            rules.push(rule);
            rest = rest.get(strings.byte_offset()..).unwrap_or_default();
        }
    }
    rules
}

/// The text after white space and comments.
fn skip_blank(text: &str) -> &str {
    let mut rest = text.trim_start();
    loop {
        let end = if rest.starts_with("//") {
            rest.find('\n')
        } else if rest.starts_with("/*") {
            rest.find("*/").map(|at| at.saturating_add(2))
        } else {
            return rest;
        };
        rest = rest.get(end.unwrap_or(rest.len())..).unwrap_or_default().trim_start();
    }
}
