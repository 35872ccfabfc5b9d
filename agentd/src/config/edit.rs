//! Edits of the text of a settings file that keep everything else as it is: comments, order, indentation, line ends,
//! trailing commas and a byte order mark. Called by `remember`. Pure.

use jsonc_parser::cst::{CstArray, CstInputValue, CstNode, CstObject, CstObjectProp, CstRootNode};
use jsonc_parser::{CollectOptions, ParseOptions, parse_to_ast, parse_to_serde_value};
use serde_json::Value;

const MARK: char = '\u{feff}';

/// Adds an entry to the list at a path, creating what is missing; none if an entry that is `same` is there.
///
/// # Errors
/// A sentence on the place that is in the way; the caller names the file.
pub(super) fn add(
    text: &str,
    path: &[&str],
    entry: &str,
    same: impl Fn(&str) -> bool,
) -> Result<Option<String>, String> {
    let Some((list, parents)) = path.split_last() else { return Ok(None) };
    change(text, |root| {
        let list = list_in(&object_at(root, parents)?, list)?;
        let there = list.elements().iter().any(|element| {
            let text = element.as_string_lit().and_then(|literal| literal.decoded_value().ok());
            text.is_some_and(|text| same(&text))
        });
        if there {
            return Ok(false);
        }
        if list.elements().is_empty() || list.children().iter().any(CstNode::is_newline) {
            list.ensure_multiline();
        }
        list.append(CstInputValue::String(entry.to_owned()));
        Ok(true)
    })
}

/// Sets the value at a path, creating what is missing; null removes it. None if it is so already.
///
/// # Errors
/// As [`add`].
pub(super) fn set(text: &str, path: &[&str], value: &Value) -> Result<Option<String>, String> {
    let Some((key, parents)) = path.split_last() else { return Ok(None) };
    change(text, |root| {
        if value.is_null() && !exists(root, path) {
            return Ok(false);
        }
        let object = object_at(root, parents)?;
        match property(&object, key) {
            Some(property) if value.is_null() => property.remove(),
            Some(property) if value_of(&property).as_ref() == Some(value) => return Ok(false),
            Some(property) => property.set_value(input(value)),
            None => drop(object.append(key, input(value))),
        }
        Ok(true)
    })
}

fn change(text: &str, edit: impl FnOnce(&CstRootNode) -> Result<bool, String>) -> Result<Option<String>, String> {
    let (mark, body) = match text.strip_prefix(MARK) {
        Some(body) => (Some(MARK), body),
        None => (None, text),
    };
    let options = ParseOptions::default();
    let root = CstRootNode::parse(body, &options).map_err(|error| {
        let (line, column) = (error.line_display(), error.column_display());
        format!("line {line}, column {column}: {}: correct the file first", error.kind())
    })?;
    // Of two values the one that was edited might not be the one that counts.
    let tree = parse_to_ast(body, &CollectOptions::default(), &options).ok().and_then(|parsed| parsed.value);
    if let Some(double) = tree.and_then(|tree| super::doubles::value(body, &tree).1.into_iter().next()) {
        return Err(double.shown(body));
    }
    if !edit(&root)? {
        return Ok(None);
    }
    let changed = root.to_string();
    // What can't be read back must not be written.
    CstRootNode::parse(&changed, &options).map_err(|error| format!("it can't be edited ({error}): do it by hand"))?;
    Ok(Some(mark.into_iter().collect::<String>() + &changed))
}

/// The property of that name.
fn property(object: &CstObject, key: &str) -> Option<CstObjectProp> {
    object.properties().into_iter().find(|property| property.decoded_name().as_deref() == Some(key))
}

fn value_of(property: &CstObjectProp) -> Option<Value> {
    parse_to_serde_value(&property.value()?.to_string(), &ParseOptions::default()).ok()
}

fn exists(root: &CstRootNode, path: &[&str]) -> bool {
    let mut at = root.object_value();
    for (depth, key) in path.iter().enumerate() {
        let Some(found) = at.and_then(|object| property(&object, key)) else { return false };
        if depth + 1 == path.len() {
            return true;
        }
        at = found.object_value();
    }
    false
}

fn object_at(root: &CstRootNode, path: &[&str]) -> Result<CstObject, String> {
    let mut object = root.object_value_or_create().ok_or("line 1: an object is expected: correct the file first")?;
    for key in path {
        let found = match property(&object, key) {
            Some(property) => property,
            None => object.append(key, CstInputValue::Object(Vec::new())),
        };
        object = found.object_value().ok_or_else(|| format!("{key}: an object is expected: correct the file first"))?;
    }
    Ok(object)
}

fn list_in(object: &CstObject, key: &str) -> Result<CstArray, String> {
    let found = match property(object, key) {
        Some(property) => property,
        None => object.append(key, CstInputValue::Array(Vec::new())),
    };
    found.array_value().ok_or_else(|| format!("{key}: a list is expected: correct the file first"))
}

fn input(value: &Value) -> CstInputValue {
    match value {
        Value::Null => CstInputValue::Null,
        Value::Bool(value) => CstInputValue::Bool(*value),
        Value::Number(value) => CstInputValue::Number(value.to_string()),
        Value::String(value) => CstInputValue::String(value.clone()),
        Value::Array(items) => CstInputValue::Array(items.iter().map(input).collect()),
        Value::Object(fields) => {
            CstInputValue::Object(fields.iter().map(|(key, value)| (key.clone(), input(value))).collect())
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    fn allow(text: &str, rule: &str) -> String {
        let changed = add(text, &["permissions", "allow"], rule, |there| there == rule).unwrap();
        changed.unwrap_or_else(|| text.to_owned())
    }

    #[test]
    fn a_rule_is_added_and_everything_else_is_kept() {
        let table = [
            ("", "{\n  \"permissions\": {\n    \"allow\": [\n      \"N\"\n    ]\n  }\n}\n"),
            ("{}\n", "{\n  \"permissions\": {\n    \"allow\": [\n      \"N\"\n    ]\n  }\n}\n"),
            ("{\"permissions\": {\"allow\": [\"A\"]}}", "{\"permissions\": {\"allow\": [\"A\", \"N\"]}}"),
            (
                "{\n\t// mine\n\t\"model\": \"m\", /* x */\n\t\"permissions\": {\n\t\t\"allow\": [\n\t\t\t\"A\", // a\n\t\t],\n\t},\n}\n",
                "{\n\t// mine\n\t\"model\": \"m\", /* x */\n\t\"permissions\": {\n\t\t\"allow\": [\n\t\t\t\"A\", // a\n\t\t\t\"N\",\n\t\t],\n\t},\n}\n",
            ),
            (
                "{\r\n    \"permissions\": {\r\n        \"allow\": [\r\n            \"A\"\r\n        ]\r\n    }\r\n}\r\n",
                "{\r\n    \"permissions\": {\r\n        \"allow\": [\r\n            \"A\",\r\n            \"N\"\r\n        ]\r\n    }\r\n}\r\n",
            ),
            (
                "\u{feff}{\n  \"permissions\": {\"deny\": [\"D\"]}\n}",
                "\u{feff}{\n  \"permissions\": {\n    \"deny\": [\"D\"],\n    \"allow\": [\n      \"N\"\n    ]\n  }\n}",
            ),
            (
                "{\"permissions\": {\"allow\": [\"A\", \"\\u004e\"]}}",
                "{\"permissions\": {\"allow\": [\"A\", \"\\u004e\"]}}",
            ),
        ];
        for (before, after) in table {
            let once = allow(before, "N");
            assert_eq!(once, after, "{before:?}");
            assert_eq!(allow(&once, "N"), once, "a second time");
        }
    }

    #[test]
    fn any_text_comes_back_as_the_rule_that_it_was() {
        for rule in
            ["Bash(echo \"a\\b\")", "Bash(a\nb\tc)", "Edit(/é/\u{202e}x)", "Bash(// no comment /* */)", "Bash(\u{1})"]
        {
            let text = allow("{\n  // kept\n}\n", rule);
            let value: Value = jsonc_parser::parse_to_serde_value(&text, &ParseOptions::default()).unwrap();
            assert_eq!(value, json!({"permissions": {"allow": [rule]}}), "{text}");
            assert!(text.contains("// kept"));
        }
    }

    #[test]
    fn what_cannot_be_edited_is_left_alone_with_the_line() {
        for (text, expected) in [
            ("{\n  \"a\": [\n", "line 2"),
            ("[1]", "an object is expected"),
            ("{\"permissions\": 3}", "permissions: an object is expected"),
            ("{\"permissions\": {\"allow\": {}}}", "allow: a list is expected"),
            (
                "{\"permissions\": {\"allow\": [\"A\"],\n \"allow\": [\"B\"]}}",
                "line 2: permissions.allow: the key stands twice in its object; the later one counts: remove one",
            ),
            ("{\"a\": {\"b\": 1, \"b\": 1}}", "line 1: a.b: the key stands twice"),
        ] {
            let error = add(text, &["permissions", "allow"], "N", |_| false).unwrap_err();
            assert!(error.contains(expected), "{text}: {error}");
        }
    }

    #[test]
    fn values_are_set_replaced_and_removed() {
        let table = [
            ("{\n  \"a\": 1, // one\n  \"b\": 2\n}\n", vec!["a"], json!(3), "{\n  \"a\": 3, // one\n  \"b\": 2\n}\n"),
            ("{}", vec!["t", "bash", "ms"], json!(5), "{\n  \"t\": {\n    \"bash\": {\n      \"ms\": 5\n    }\n  }\n}"),
            ("{\n  \"a\": 1,\n  \"b\": 2\n}\n", vec!["a"], Value::Null, "{\n  \"b\": 2\n}\n"),
        ];
        for (before, path, value, after) in table {
            assert_eq!(set(before, &path, &value).unwrap().as_deref(), Some(after), "{before:?}");
            assert_eq!(set(after, &path, &value).unwrap(), None, "a second time");
        }
        assert_eq!(set("{\"x\": {}}", &["x", "y", "z"], &Value::Null).unwrap(), None);
    }
}
