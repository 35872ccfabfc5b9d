//! What a model is told of a tool, kept so that it is worked out once (rows A01–A03). Called by the session's
//! toolset. Knows no wire format; what differs from request to request is laid over it there.

use super::registry::Registered;
use super::tool::PromptOptions;
use serde_json::Value;
use std::collections::HashMap;
use std::sync::{Arc, Mutex, PoisonError};

/// Kept definitions: servers that come and go must not fill the memory.
const MAX_KEPT: usize = 4096;

/// Keywords of a schema that models can't be held to while they write: the API refuses them in strict tools. The tool
/// checks them itself.
const NOT_STRICT: [&str; 14] = [
    "minimum",
    "maximum",
    "exclusiveMinimum",
    "exclusiveMaximum",
    "multipleOf",
    "minLength",
    "maxLength",
    "pattern",
    "format",
    "minItems",
    "maxItems",
    "uniqueItems",
    "minProperties",
    "maxProperties",
];

/// What a model is told of a tool.
#[derive(Debug, Clone, PartialEq)]
pub struct Definition {
    /// Its name.
    pub name: String,
    /// What it does.
    pub description: String,
    /// The JSON Schema of its input.
    pub input_schema: Value,
    /// Whether the model is held to the schema.
    pub strict: bool,
}

/// Definitions that were worked out, by all that they depend on (contradiction C2): the tool's name, text and schema,
/// the options of the text, and whether strictness is allowed.
#[derive(Default)]
pub(super) struct Definitions {
    kept: Mutex<HashMap<Key, Arc<Definition>>>,
}

#[derive(PartialEq, Eq, Hash)]
struct Key {
    name: String,
    fingerprint: u64,
    options: Arc<PromptOptions>,
    strict: bool,
}

impl Definitions {
    /// The definition of a tool; `strict` where the settings want it and the model can be held to a schema.
    pub(super) fn of(&self, entry: &Registered, options: &Arc<PromptOptions>, strict: bool) -> Arc<Definition> {
        let strict = strict && entry.tool().strict();
        let key = Key {
            name: entry.tool().name().to_owned(),
            fingerprint: entry.fingerprint(),
            options: Arc::clone(options),
            strict,
        };
        // Every change of the map is a single call; there is no half-done state to fear.
        let mut kept = self.kept.lock().unwrap_or_else(PoisonError::into_inner);
        if let Some(known) = kept.get(&key) {
            return Arc::clone(known);
        }
        let mut input_schema = entry.schema().clone();
        if strict {
            simplify(&mut input_schema);
        }
        let definition = Arc::new(Definition {
            name: key.name.clone(),
            description: entry.tool().prompt(options),
            input_schema,
            strict,
        });
        if kept.len() >= MAX_KEPT {
            kept.clear();
        }
        kept.insert(key, Arc::clone(&definition));
        definition
    }
}

/// Takes the keywords out of a schema that a strict tool may not have. A property may well have the name of one.
fn simplify(schema: &mut Value) {
    match schema {
        Value::Object(fields) => {
            fields.retain(|name, _| !NOT_STRICT.contains(&name.as_str()));
            for (name, inner) in fields.iter_mut() {
                match (name.as_str(), inner) {
                    ("properties" | "$defs" | "definitions", Value::Object(named)) => {
                        named.values_mut().for_each(simplify);
                    }
                    ("enum" | "const" | "default" | "examples", _) => {}
                    (_, inner) => simplify(inner),
                }
            }
        }
        Value::Array(items) => items.iter_mut().for_each(simplify),
        _ => {}
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::tools::testing::Fake;
    use serde_json::json;

    fn options(model: &str, tools: &[&str]) -> Arc<PromptOptions> {
        let tools = tools.iter().map(|&tool| tool.to_owned()).collect();
        Arc::new(PromptOptions { model: model.to_owned(), tools, simple: false })
    }

    /// Row A01: a second definition does no work; another text, model, set of tools, schema or strictness does.
    #[test]
    fn a_definition_is_worked_out_once_for_all_that_it_depends_on() {
        let definitions = Definitions::default();
        let fake = Fake::named("Fake");
        let prompts = fake.prompts.clone();
        let entry = Registered::new(Arc::new(fake));
        let before = prompts.get();
        let plain = options("a/m", &["Fake"]);
        let first = definitions.of(&entry, &plain, false);
        assert_eq!(prompts.get(), before + 1);
        assert!(Arc::ptr_eq(&first, &definitions.of(&entry, &options("a/m", &["Fake"]), false)));
        assert_eq!(prompts.get(), before + 1, "the same options, made anew");
        for (options, strict) in
            [(options("a/other", &["Fake"]), false), (options("a/m", &["Fake", "Read"]), false), (plain.clone(), true)]
        {
            definitions.of(&entry, &options, strict);
        }
        assert_eq!(prompts.get(), before + 4);

        let reworded = Registered::new(Arc::new(Fake { text: "other".to_owned(), ..Fake::named("Fake") }));
        assert!(definitions.of(&reworded, &plain, false).description.starts_with("other"));
        let schema = json!({"type": "object", "properties": {"x": {"type": "string"}}});
        let reshaped = Registered::new(Arc::new(Fake { schema: schema.clone(), ..Fake::named("Fake") }));
        assert_eq!(definitions.of(&reshaped, &plain, false).input_schema, schema);
    }

    /// Row A02: a schema that came with the tool passes unchanged, in the order of its fields, odd keywords and all.
    #[test]
    fn a_schema_from_elsewhere_is_passed_on_as_it_is() {
        let schema = json!({"type": "object", "$schema": "x", "z": 1, "properties": {"b": {"format": "uri"}, "a": {}}});
        let entry = Registered::new(Arc::new(Fake { schema: schema.clone(), ..Fake::named("Fake") }));
        let definition = Definitions::default().of(&entry, &options("a/m", &[]), false);
        assert_eq!(definition.input_schema.to_string(), schema.to_string());
    }

    /// Rows T05, A03: the description is what `prompt` says for these options.
    #[test]
    fn the_description_is_the_tools_own_text() {
        let fake = Fake::named("Fake");
        let options = options("a/m", &["Fake", "Read"]);
        let expected = crate::tools::Tool::prompt(&fake, &options);
        assert!(expected.contains("a/m") && expected.contains("Read"), "{expected}");
        let definition = Definitions::default().of(&Registered::new(Arc::new(fake)), &options, false);
        assert_eq!(definition.description, expected);
    }

    #[test]
    fn a_strict_schema_has_no_keyword_that_the_api_refuses() {
        let mut schema = json!({
            "type": "object",
            "properties": {"pattern": {"type": "string", "pattern": "x"}, "n": {"type": "integer", "minimum": 1},
                           "l": {"type": "array", "items": {"type": "string", "maxLength": 2}}},
            "required": ["pattern"],
            "additionalProperties": false,
        });
        simplify(&mut schema);
        assert_eq!(
            schema,
            json!({
                "type": "object",
                "properties": {"pattern": {"type": "string"}, "n": {"type": "integer"},
                               "l": {"type": "array", "items": {"type": "string"}}},
                "required": ["pattern"],
                "additionalProperties": false,
            })
        );
    }
}
