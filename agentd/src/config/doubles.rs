//! Keys that stand twice in one object of a settings file. JSON leaves open what they mean; here the later one counts,
//! but a rule that tightens is never lost. Called by `file`, and by `edit`, which leaves such a file alone. Pure.

use super::files::tightening;
use super::sift::{Step, place};
use jsonc_parser::ast;
use jsonc_parser::common::Ranged;
use jsonc_parser::{ParseOptions, parse_to_serde_value};
use serde_json::{Map, Value, json};

/// A key that stands twice.
#[derive(Debug, PartialEq, Eq)]
pub(super) struct Double {
    /// Its place, such as `permissions.deny`.
    place: String,
    /// Where the later one begins, in bytes.
    start: usize,
    /// What becomes of the two.
    meaning: &'static str,
}

impl Double {
    /// The line and what is wrong, for people.
    pub(super) fn shown(&self, text: &str) -> String {
        let line = text.get(..self.start).unwrap_or_default().matches('\n').count().saturating_add(1);
        format!("line {line}: {}: the key stands twice in its object; {}: remove one", self.place, self.meaning)
    }
}

/// The value of the syntax tree of a text, and the keys that stand twice in it.
pub(super) fn value(text: &str, tree: &ast::Value<'_>) -> (Value, Vec<Double>) {
    let mut reader = Reader { text, path: Vec::new(), doubles: Vec::new() };
    let value = reader.value(tree);
    (value, reader.doubles)
}

struct Reader<'a> {
    text: &'a str,
    path: Vec<Step>,
    doubles: Vec<Double>,
}

impl Reader<'_> {
    fn value(&mut self, tree: &ast::Value<'_>) -> Value {
        match tree {
            ast::Value::Object(object) => Value::Object(self.object(object)),
            ast::Value::Array(list) => {
                let items = list.elements.iter().enumerate();
                Value::Array(items.map(|(at, item)| self.within(Step::Item(at), item)).collect())
            }
            leaf => {
                let range = leaf.range();
                let text = self.text.get(range.start..range.end).unwrap_or_default();
                parse_to_serde_value(text, &ParseOptions::default()).unwrap_or_default()
            }
        }
    }

    fn within(&mut self, step: Step, tree: &ast::Value<'_>) -> Value {
        self.path.push(step);
        let value = self.value(tree);
        self.path.pop();
        value
    }

    fn object(&mut self, object: &ast::Object<'_>) -> Map<String, Value> {
        let mut fields = Map::new();
        for property in &object.properties {
            let key = property.name.as_str().to_owned();
            let later = self.within(Step::Key(key.clone()), &property.value);
            let value = match fields.remove(&key) {
                None => later,
                Some(earlier) => {
                    self.path.push(Step::Key(key.clone()));
                    let at = place(&self.path);
                    self.path.pop();
                    let (value, meaning) = both(&at, earlier, later);
                    self.doubles.push(Double { place: at, start: property.range().start, meaning });
                    value
                }
            };
            fields.insert(key, value);
        }
        fields
    }
}

/// What two values of one key mean together.
fn both(place: &str, earlier: Value, later: Value) -> (Value, &'static str) {
    match place {
        "permissions" => {
            let kept = earlier.as_object().map(tightening_of).unwrap_or_default();
            let value = match later {
                Value::Object(later) => joined(kept, later),
                _ => kept,
            };
            (Value::Object(value), "the later one counts, and of the earlier one what tightens")
        }
        "permissions.deny" | "permissions.ask" => (entries(earlier, later), "the entries of both count"),
        _ => (later, "the later one counts"),
    }
}

/// What tightens of an object of permissions.
fn tightening_of(permissions: &Map<String, Value>) -> Map<String, Value> {
    let whole = Map::from_iter([("permissions".to_owned(), Value::Object(permissions.clone()))]);
    match tightening(&whole).remove("permissions") {
        Some(Value::Object(kept)) => kept,
        _ => Map::new(),
    }
}

fn joined(mut earlier: Map<String, Value>, later: Map<String, Value>) -> Map<String, Value> {
    for (key, value) in later {
        let value = match (key.as_str(), earlier.remove(&key)) {
            ("deny" | "ask", Some(before)) => entries(before, value),
            _ => value,
        };
        earlier.insert(key, value);
    }
    earlier
}

/// The entries of both; what is no list is an entry that is told of and asks.
fn entries(earlier: Value, later: Value) -> Value {
    let list = |value| match value {
        Value::Array(items) => items,
        Value::Null => Vec::new(),
        entry => vec![entry],
    };
    json!([list(earlier), list(later)].concat())
}
