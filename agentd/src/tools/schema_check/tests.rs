//! Values against schemas: what passes, and the sentence for what does not.

use super::*;
use serde_json::json;

fn message(schema: &Value, value: Value) -> String {
    check(&value, schema).unwrap_err()
}

#[test]
fn each_kind_of_mistake_names_the_field_and_what_is_expected() {
    let schema = json!({
        "type": "object",
        "properties": {
            "title": {"type": "string", "minLength": 1, "maxLength": 5},
            "labels": {"type": "array", "items": {"type": "string"}, "maxItems": 2, "uniqueItems": true},
            "owner": {"type": "object", "properties": {"id": {"type": "integer", "minimum": 1}}, "required": ["id"],
                      "additionalProperties": false},
            "state": {"enum": ["open", "closed"]},
            "ratio": {"type": "number", "exclusiveMinimum": 0, "maximum": 1},
            "key": {"type": "string", "pattern": "^[A-Z]+-[0-9]+$"},
            "due": {"type": ["string", "null"]},
            "who": {"anyOf": [{"type": "string"}, {"type": "null"}]},
            "version": {"const": 2},
        },
        "required": ["title"],
    });
    let good = json!({
        "title": "t", "labels": ["a", "b"], "owner": {"id": 1.0}, "state": "open", "ratio": 0.5, "key": "AB-12",
        "due": null, "who": null, "version": 2.0, "further": [1],
    });
    assert_eq!(check(&good, &schema), Ok(()));
    for (change, expected) in [
        (
            json!({"title": ""}),
            "the field `title` must be a string of at least 1 and at most 5 characters, not the string \"\"",
        ),
        (json!({"labels": "a"}), "the field `labels` must be a list of at most 2 items, not the string \"a\""),
        (json!({"labels": ["a", 1]}), "the field `labels[1]` must be a string, not the number 1"),
        (json!({"labels": ["a", "b", "c"]}), "the field `labels` must be a list of at most 2 items, not a list"),
        (json!({"labels": ["a", "a"]}), "the field `labels[1]` is in the list twice; give each item once"),
        (json!({"owner": {}}), "the field `owner.id` is missing; it must be a whole number of at least 1"),
        (json!({"owner": {"id": 0}}), "the field `owner.id` must be a whole number of at least 1, not the number 0"),
        (
            json!({"owner": {"id": 1.5}}),
            "the field `owner.id` must be a whole number of at least 1, not the number 1.5",
        ),
        (json!({"owner": {"id": 1, "x": 1}}), "the field `owner.x` is unknown; the fields are `id`"),
        (json!({"state": "ajar"}), "the field `state` must be one of \"open\", \"closed\", not the string \"ajar\""),
        (json!({"ratio": 0}), "the field `ratio` must be a number of more than 0 and at most 1, not the number 0"),
        (json!({"key": "ab"}), "the field `key` must be a string that matches ^[A-Z]+-[0-9]+$, not the string \"ab\""),
        (json!({"due": 5}), "the field `due` must be a string or null, not the number 5"),
        (json!({"who": 5}), "the field `who` must be a string or null, not the number 5"),
        (json!({"version": 3}), "the field `version` must be exactly 2, not the number 3"),
    ] {
        let mut value = good.clone();
        value.as_object_mut().unwrap().extend(change.as_object().unwrap().clone());
        assert_eq!(message(&schema, value), expected);
    }
    assert_eq!(
        message(&schema, json!({})),
        "the field `title` is missing; it must be a string of at least 1 and at most 5 characters"
    );
    assert_eq!(message(&schema, json!([])), "the input must be an object, not a list");
}

#[test]
fn references_and_combinations_are_followed() {
    let schema = json!({
        "$defs": {
            "node": {"type": "object", "properties": {"next": {"$ref": "#/$defs/node"}, "name": {"type": "string"}},
                     "required": ["name"]},
        },
        "type": "object",
        "properties": {
            "list": {"$ref": "#/$defs/node"},
            "shape": {"oneOf": [
                {"type": "object", "properties": {"radius": {"type": "number"}}, "required": ["radius"]},
                {"type": "string"},
            ]},
            "both": {"allOf": [{"type": "integer"}, {"minimum": 5}]},
            "overlap": {"oneOf": [{"type": "integer"}, {"type": "number"}]},
            "odd": {"not": {"type": "string"}},
            "nothing": false,
        },
        "patternProperties": {"^x-": {"type": "integer"}},
        "additionalProperties": {"type": "boolean"},
    });
    let good = json!({"list": {"name": "a", "next": {"name": "b"}}, "shape": {"radius": 1}, "both": 5, "overlap": 1.5,
                      "odd": 1, "x-n": 1, "further": true});
    assert_eq!(check(&good, &schema), Ok(()));
    for (value, expected) in [
        (json!({"list": {"name": "a", "next": {}}}), "the field `list.next.name` is missing; it must be a string"),
        (json!({"shape": {}}), "the field `shape.radius` is missing; it must be a number"),
        (json!({"shape": 1}), "the field `shape` must be an object or a string, not the number 1"),
        (json!({"both": 4}), "the field `both` must be a number of at least 5, not the number 4"),
        (json!({"overlap": 1}), "the field `overlap` fits several of the allowed forms; give exactly one"),
        (json!({"odd": "x"}), "the field `odd` has a form that is not allowed: a string"),
        (json!({"nothing": 1}), "the field `nothing` is not allowed here; leave it out"),
        (json!({"x-n": "1"}), "the field `x-n` must be a whole number, not the string \"1\""),
        (json!({"further": 1}), "the field `further` must be true or false, not the number 1"),
    ] {
        assert_eq!(message(&schema, value), expected);
    }
}

#[test]
fn a_schema_that_is_odd_or_goes_in_a_circle_lets_values_pass() {
    for schema in [
        json!({"$ref": "#"}),
        json!({"$ref": "https://elsewhere.example/schema"}),
        json!({"allOf": [{"$ref": "#"}]}),
        json!(true),
        json!({}),
        json!("nonsense"),
        json!({"type": 5, "properties": [], "required": "x", "items": 5, "pattern": "(?<look>ahead)(?=x)"}),
    ] {
        assert_eq!(check(&json!({"a": [1, "x"]}), &schema), Ok(()), "{schema}");
        assert_eq!(check(&json!("x"), &schema), Ok(()), "{schema}");
    }
}
