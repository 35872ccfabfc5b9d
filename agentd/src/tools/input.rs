//! Inputs of tools: from the model's JSON to a typed value, and from the type to the schema that the model
//! is shown. Called by every tool. Knows no tool.

use super::schema_check;
use schemars::JsonSchema;
use schemars::generate::SchemaSettings;
use serde::de::DeserializeOwned;
use serde_json::{Map, Value};
use std::any::TypeId;
use std::collections::BTreeMap;
use std::sync::{Arc, Mutex, PoisonError};

/// The JSON Schema of an input, as providers take it: one object, nothing referenced, nothing but what the
/// model needs.
pub(super) fn schema<T: JsonSchema>() -> Value {
    let settings = SchemaSettings::draft2020_12().with(|settings| {
        settings.meta_schema = None;
        settings.inline_subschemas = true;
    });
    let mut schema = settings.into_generator().into_root_schema_for::<T>().to_value();
    if let Value::Object(root) = &mut schema {
        root.remove("title");
        root.remove("description");
    }
    for property in properties_mut(&mut schema) {
        simplify(property);
    }
    schema
}

/// The typed input.
///
/// # Errors
/// One sentence that names the field and what is expected.
pub(super) fn parse<T: JsonSchema + DeserializeOwned + 'static>(input: &Value) -> Result<T, String> {
    let input = plain(input)?;
    schema_check::check(&input, &known_schema::<T>())?;
    serde_path_to_error::deserialize(input)
        .map_err(|error| format!("the field `{}` is not valid: {}", error.path(), error.inner()))
}

/// The schema of an input, made once for each type: to make it costs more than to check an input by it.
fn known_schema<T: JsonSchema + 'static>() -> Arc<Value> {
    static KNOWN: Mutex<BTreeMap<TypeId, Arc<Value>>> = Mutex::new(BTreeMap::new());
    let mut known = KNOWN.lock().unwrap_or_else(PoisonError::into_inner);
    Arc::clone(known.entry(TypeId::of::<T>()).or_insert_with(|| Arc::new(schema::<T>())))
}

/// The input as it is read: a field that is null counts as absent, and 1.0 is the whole number that JSON Schema takes
/// it for.
fn plain(input: &Value) -> Result<Value, String> {
    match input {
        Value::Object(fields) => {
            let given = fields.iter().filter(|(_, value)| !value.is_null());
            Ok(Value::Object(given.map(|(name, value)| (name.clone(), whole(value))).collect()))
        }
        other => Err(format!("the input must be a JSON object, not {}", schema_check::kind_of(other))),
    }
}

/// A number without a fraction as a whole one; anything else as it is.
fn whole(value: &Value) -> Value {
    /// Beyond it a float no longer stands for one whole number.
    const EXACT: f64 = 9_007_199_254_740_992.0;
    match value.as_f64().filter(|number| value.is_f64() && number.fract() == 0.0 && number.abs() <= EXACT) {
        // The text of such a number has no point and no exponent.
        Some(number) => format!("{number:.0}").parse::<i64>().map_or_else(|_| value.clone(), Value::from),
        None => value.clone(),
    }
}

fn properties_mut(schema: &mut Value) -> impl Iterator<Item = &mut Value> {
    schema.get_mut("properties").and_then(Value::as_object_mut).into_iter().flat_map(|map| map.values_mut())
}

/// An optional field is one that may be absent: that it may also be null needs no saying. Formats such as
/// `uint64` mean nothing to a model.
fn simplify(property: &mut Value) {
    let Value::Object(fields) = property else { return };
    fields.remove("format");
    fields.remove("default");
    if let Some(Value::Array(types)) = fields.get("type") {
        let mut real = types.iter().filter(|kind| *kind != "null").cloned();
        if let (Some(kind), None) = (real.next(), real.next()) {
            fields.insert("type".to_owned(), kind);
        }
    }
    if let Some(Value::Array(choices)) = fields.get_mut("enum") {
        choices.retain(|choice| !choice.is_null());
    }
    if let Some(Value::Array(options)) = fields.remove("anyOf") {
        let real = options.into_iter().find(|option| option.get("type").is_none_or(|kind| kind != "null"));
        if let Some(Value::Object(inner)) = real {
            for (name, value) in inner {
                fields.entry(name).or_insert(value);
            }
        }
    }
    flatten_choices(fields);
}

/// Documented choices come as `oneOf` of constants; a plain `enum` says the same in fewer words.
fn flatten_choices(fields: &mut Map<String, Value>) {
    let Some(Value::Array(options)) = fields.get("oneOf") else { return };
    let choices: Option<Vec<Value>> = options.iter().map(|option| option.get("const").cloned()).collect();
    if let Some(choices) = choices {
        fields.remove("oneOf");
        fields.insert("type".to_owned(), Value::from("string"));
        fields.insert("enum".to_owned(), Value::Array(choices));
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde::Deserialize;
    use serde_json::json;

    #[derive(Debug, Deserialize, JsonSchema, PartialEq)]
    #[serde(rename_all = "snake_case")]
    enum Shape {
        /// Round.
        Round,
        /// Square.
        Square,
    }

    /// Not for the model.
    #[derive(Debug, Deserialize, JsonSchema, PartialEq)]
    #[serde(deny_unknown_fields)]
    struct Input {
        /// What it is called.
        name: String,
        /// How many.
        #[schemars(range(min = 1))]
        count: Option<u64>,
        #[serde(rename = "-i")]
        flag: Option<bool>,
        /// Which form.
        shape: Option<Shape>,
    }

    #[test]
    fn the_schema_is_one_plain_object() {
        assert_eq!(
            schema::<Input>(),
            json!({
                "type": "object",
                "properties": {
                    "name": {"description": "What it is called.", "type": "string"},
                    "count": {"description": "How many.", "type": "integer", "minimum": 1},
                    "-i": {"type": "boolean"},
                    "shape": {"description": "Which form.", "type": "string", "enum": ["round", "square"]},
                },
                "additionalProperties": false,
                "required": ["name"],
            })
        );
    }

    #[test]
    fn a_good_input_parses_and_null_counts_as_absent() {
        let input: Input = parse(&json!({"name": "a", "count": 2, "-i": null, "shape": "round"})).unwrap();
        assert_eq!(input, Input { name: "a".into(), count: Some(2), flag: None, shape: Some(Shape::Round) });
        for count in [json!(2.0), json!(2e0)] {
            assert_eq!(parse::<Input>(&json!({"name": "a", "count": count})).unwrap().count, Some(2));
        }
    }

    #[test]
    fn each_mistake_names_its_field_and_what_is_expected() {
        for (input, message) in [
            (json!("x"), "the input must be a JSON object, not the string \"x\""),
            (json!({}), "the field `name` is missing; it must be a string"),
            (json!({"name": 5}), "the field `name` must be a string, not the number 5"),
            (
                json!({"name": "a", "count": "5"}),
                "the field `count` must be a whole number of at least 1, not the string \"5\"",
            ),
            (
                json!({"name": "a", "count": 0}),
                "the field `count` must be a whole number of at least 1, not the number 0",
            ),
            (
                json!({"name": "a", "count": -1}),
                "the field `count` must be a whole number of at least 1, not the number -1",
            ),
            (
                json!({"name": "a", "count": 1.5}),
                "the field `count` must be a whole number of at least 1, not the number 1.5",
            ),
            (
                json!({"name": "a", "count": 1e30}),
                "the field `count` is not valid: invalid type: floating point `1e+30`, expected u64",
            ),
            (json!({"name": "a", "-i": 1}), "the field `-i` must be true or false, not the number 1"),
            (
                json!({"name": "a", "shape": "oval"}),
                "the field `shape` must be one of \"round\", \"square\", not the string \"oval\"",
            ),
            (json!({"name": "a", "x": 1}), "the field `x` is unknown; the fields are `name`, `count`, `-i`, `shape`"),
        ] {
            assert_eq!(parse::<Input>(&input).unwrap_err(), message);
        }
    }
}
