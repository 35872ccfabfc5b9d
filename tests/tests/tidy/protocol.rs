//! The protocol's three faces say the same: the code, the committed schema, and the page for people.

use crate::source::Repository;
use proto::ErrorKind;
use proto::methods::METHOD_NAMES;
use proto::schema::protocol_schema;
use serde_json::Value;
use std::collections::BTreeSet;

/// Whether the committed schema is the code's.
pub fn check_snapshot(repository: &Repository) -> Vec<String> {
    let committed = repository.read("proto/schema.json").unwrap_or_default();
    compare_snapshot(&committed, &protocol_schema())
}

fn compare_snapshot(committed: &str, schema: &Value) -> Vec<String> {
    match serde_json::from_str::<Value>(committed) {
        Ok(committed) if committed == *schema => Vec::new(),
        Ok(_) => vec!["proto/schema.json is not what the code says".to_owned()],
        Err(error) => vec![format!("proto/schema.json: {error}")],
    }
}

/// Whether the page names every method, event, error, field and constant of the code, and no other
/// method, event or error.
pub fn check_page(repository: &Repository) -> Vec<String> {
    let page = repository.read("proto/PROTOCOL.md").unwrap_or_default();
    compare_page(&page, &protocol_schema())
}

fn compare_page(page: &str, schema: &Value) -> Vec<String> {
    let mut complaints = Vec::new();
    let methods: BTreeSet<String> = METHOD_NAMES.iter().map(|name| (*name).to_owned()).collect();
    complaints.extend(differences("method", &methods, &names(page, "## 3.")));
    complaints.extend(differences("event", &events(schema).map(|(name, _)| name).collect(), &names(page, "## 4.")));
    let errors: BTreeSet<String> =
        ErrorKind::ALL.iter().map(|kind| format!("{} {}", kind.code(), kind.word())).collect();
    complaints.extend(differences("error", &errors, &error_rows(page)));
    for (name, method) in schema["methods"].as_object().into_iter().flatten() {
        let shapes = [resolve(schema, &method["params"]), resolve(schema, &method["result"])];
        complaints.extend(missing_fields(page, schema, name, &shapes));
    }
    for (name, event) in events(schema) {
        complaints.extend(missing_fields(page, schema, &name, &[event]));
    }
    let words = words(page);
    for (shape, name) in shape_words(schema) {
        if !words.contains(name.as_str()) {
            complaints.push(format!("the page lacks `{name}` of {shape}"));
        }
    }
    complaints
}

fn differences(what: &str, code: &BTreeSet<String>, page: &BTreeSet<String>) -> Vec<String> {
    let lacks = code.difference(page).map(|name| format!("the page lacks the {what} `{name}`"));
    let invents = page.difference(code).map(|name| format!("the code has no {what} `{name}`"));
    lacks.chain(invents).collect()
}

/// The rows of the tables in a section.
fn rows<'a>(page: &'a str, heading: &str) -> impl Iterator<Item = &'a str> {
    let section = page.split("\n## ").find(|section| section.starts_with(heading.trim_start_matches("## ")));
    section.unwrap_or_default().lines().filter(|line| line.starts_with("| `") || line.starts_with("| -"))
}

/// The names in backticks in the first cells of a section's tables.
fn names(page: &str, heading: &str) -> BTreeSet<String> {
    let first = |row: &str| {
        row.split('|').nth(1).unwrap_or_default().split('`').skip(1).step_by(2).map(str::to_owned).collect::<Vec<_>>()
    };
    rows(page, heading).flat_map(first).collect()
}

/// Code and kind of each error in the table.
fn error_rows(page: &str) -> BTreeSet<String> {
    let both = |row: &str| {
        let cells: Vec<&str> = row.split('|').map(|cell| cell.trim().trim_matches('`')).collect();
        Some(format!("{} {}", cells.get(1)?, cells.get(2)?))
    };
    rows(page, "## 5.").filter(|row| !row.starts_with("| --")).filter_map(both).collect()
}

/// Every event with its schema.
fn events(schema: &Value) -> impl Iterator<Item = (String, &Value)> {
    let kinds = ["Event", "Ephemeral"].into_iter();
    let variants = kinds.flat_map(|kind| schema["$defs"][kind]["oneOf"].as_array().into_iter().flatten());
    variants.filter_map(|variant| Some((variant["properties"]["type"]["const"].as_str()?.to_owned(), variant)))
}

fn resolve<'a>(schema: &'a Value, shape: &'a Value) -> &'a Value {
    let target = shape["$ref"].as_str().and_then(|path| path.strip_prefix("#/$defs/"));
    target.map_or(shape, |name| &schema["$defs"][name])
}

/// Fields of a method or event that its row does not name, neither by themselves nor by a shape that has them.
fn missing_fields(page: &str, schema: &Value, name: &str, shapes: &[&Value]) -> Vec<String> {
    let marked = format!("`{name}`");
    let all = rows(page, "## 3.").chain(rows(page, "## 4."));
    let row: String = all.filter(|row| row.split('|').nth(1).is_some_and(|cell| cell.contains(&marked))).collect();
    let words = words(&row);
    let in_a_shape = |field: &str| words.iter().any(|word| !schema["$defs"][*word]["properties"][field].is_null());
    let fields = shapes.iter().flat_map(|shape| shape["properties"].as_object().into_iter().flatten());
    let missing = fields
        .map(|(field, _)| field)
        .filter(|field| *field != "type" && !words.contains(field.as_str()) && !in_a_shape(field));
    missing.map(|field| format!("the row of `{name}` lacks the field `{field}`")).collect()
}

/// Field names and constants of all shapes, with the shape.
fn shape_words(schema: &Value) -> Vec<(String, String)> {
    let mut found = Vec::new();
    for (shape, value) in schema["$defs"].as_object().into_iter().flatten() {
        let mut words = BTreeSet::new();
        collect(value, &mut words);
        found.extend(words.into_iter().map(|word| (shape.clone(), word)));
    }
    found
}

fn collect(shape: &Value, words: &mut BTreeSet<String>) {
    match shape {
        Value::Object(fields) => {
            words.extend(
                fields.get("properties").and_then(Value::as_object).into_iter().flatten().map(|(name, _)| name.clone()),
            );
            let constants = fields
                .get("const")
                .into_iter()
                .chain(fields.get("enum").and_then(Value::as_array).into_iter().flatten());
            words.extend(constants.filter_map(Value::as_str).filter(|word| !word.contains('.')).map(str::to_owned));
            fields.values().for_each(|value| collect(value, words));
        }
        Value::Array(items) => items.iter().for_each(|item| collect(item, words)),
        _ => {}
    }
}

fn words(text: &str) -> BTreeSet<&str> {
    text.split(|char: char| !char.is_ascii_alphanumeric() && char != '_').filter(|word| !word.is_empty()).collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::source::repository;
    use serde_json::json;

    fn complaints(change: impl Fn(String) -> String) -> Vec<String> {
        compare_page(&change(repository().read("proto/PROTOCOL.md").unwrap()), &protocol_schema())
    }

    #[test]
    fn a_page_that_has_drifted_is_found() {
        let faults: &[(&str, &str)] = &[
            ("| `session/rewind`", "| `session/rewound`"),
            ("| `tool.started`", "| `tool.began`"),
            ("| -32012 ", "| -32013 "),
            ("`taskNotFound`", "`noTask`"),
            ("idempotencyKey", "onceKey"),
            ("persistedPath", "savedPath"),
            ("bypassPermissions", "yolo"),
        ];
        for (from, to) in faults {
            let found = complaints(|page| {
                assert!(page.contains(from), "{from} is gone from the page: mend this test");
                page.replace(from, to)
            });
            assert_ne!(found, Vec::<String>::new(), "{from} -> {to}");
        }
    }

    #[test]
    fn a_snapshot_that_has_drifted_is_found() {
        assert_eq!(compare_snapshot("{\"a\": 1}", &json!({"a": 1})).len(), 0);
        assert_eq!(compare_snapshot("{\"a\": 2}", &json!({"a": 1})).len(), 1);
        assert_eq!(compare_snapshot("", &json!({"a": 1})).len(), 1);
    }
}
