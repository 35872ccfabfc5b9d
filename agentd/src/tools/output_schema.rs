//! The schema of a turn's answer: of any draft of JSON Schema up to 2020-12, every keyword checked. Called by
//! StructuredOutput; `schema_check` is for inputs, in the words that models know of tools. Reads no file and no network: a
//! reference that leads out of the schema is an error.

use boon::{Compiler, ErrorKind, SchemaIndex, Schemas, UrlLoader, ValidationError};
use serde_json::Value;
use std::error::Error;

/// Where the schema lies for the compiler; it only has to be absolute.
const PLACE: &str = "schema:///schema.json";
/// Mistakes that one message tells of.
const MAX_MISTAKES: usize = 5;

/// A compiled schema.
pub struct OutputSchema {
    schemas: Schemas,
    root: SchemaIndex,
}

/// Loads nothing.
struct Closed;

impl UrlLoader for Closed {
    fn load(&self, url: &str) -> Result<Value, Box<dyn Error>> {
        Err(format!("{url} is outside of the schema: put what it refers to into `$defs`").into())
    }
}

impl OutputSchema {
    /// Compiles a schema.
    ///
    /// # Errors
    /// What is wrong with it, and where.
    pub fn compile(schema: &Value) -> Result<Self, String> {
        let mut compiler = Compiler::new();
        compiler.use_loader(Box::new(Closed));
        compiler.add_resource(PLACE, schema.clone()).map_err(|error| said(&error))?;
        let mut schemas = Schemas::new();
        let root = compiler.compile(PLACE, &mut schemas).map_err(|error| said(&error))?;
        Ok(Self { schemas, root })
    }

    /// Whether a value fits.
    ///
    /// # Errors
    /// The places that don't, each with what is expected there.
    pub fn check(&self, value: &Value) -> Result<(), String> {
        self.schemas.validate(value, self.root).map_err(|error| mistakes(&error))
    }
}

fn said(error: &boon::CompileError) -> String {
    match error {
        boon::CompileError::ValidationError { src, .. } => mistakes(src),
        boon::CompileError::LoadUrlError { src, .. } => src.to_string(),
        other => other.to_string().replace(PLACE, ""),
    }
}

/// The mistakes at the leaves: what is above them only says that there is one below.
fn mistakes(error: &ValidationError<'_, '_>) -> String {
    let mut found = Vec::new();
    collect(error, &mut found);
    let left_out = found.len().saturating_sub(MAX_MISTAKES);
    found.truncate(MAX_MISTAKES);
    let mut text = found.join("; ");
    if left_out > 0 {
        text.push_str(&format!("; and {left_out} more"));
    }
    text
}

fn collect(error: &ValidationError<'_, '_>, found: &mut Vec<String>) {
    if error.causes.is_empty() {
        let place = error.instance_location.to_string();
        let place = if place.is_empty() { "the value itself".to_owned() } else { format!("`{place}`") };
        let mistake = match &error.kind {
            ErrorKind::FalseSchema => format!("{place}: nothing is allowed here"),
            kind => format!("{place}: {kind}"),
        };
        if !found.contains(&mistake) {
            found.push(mistake);
        }
    }
    error.causes.iter().for_each(|cause| collect(cause, found));
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    fn schema() -> OutputSchema {
        OutputSchema::compile(&json!({
            "type": "object",
            "properties": {
                "name": {"type": "string", "minLength": 2},
                "items": {"type": "array", "items": {"$ref": "#/$defs/item"}},
            },
            "required": ["name"],
            "additionalProperties": false,
            "$defs": {"item": {"anyOf": [{"type": "integer"}, {"enum": ["none"]}]}},
        }))
        .unwrap()
    }

    #[test]
    fn each_mistake_has_its_path() {
        assert_eq!(schema().check(&json!({"name": "ab", "items": [1, "none"]})), Ok(()));
        for (value, expected) in [
            (json!({}), "the value itself: missing properties 'name'"),
            (json!({"name": 5}), "`/name`: want string, but got number"),
            (json!({"name": "ab", "x": 1}), "the value itself: additionalProperties 'x' not allowed"),
            (
                json!({"name": "ab", "items": [1, "some"]}),
                "`/items/1`: want integer, but got string; `/items/1`: value must be 'none'",
            ),
            (json!([]), "the value itself: want object, but got array"),
        ] {
            assert_eq!(schema().check(&value).unwrap_err(), expected);
        }
        let many = OutputSchema::compile(&json!({"items": {"type": "string"}})).unwrap();
        assert!(many.check(&json!([1, 2, 3, 4, 5, 6, 7])).unwrap_err().ends_with("; and 2 more"));
    }

    #[test]
    fn what_is_no_schema_is_refused() {
        for (schema, expected) in [
            (json!({"type": "strin"}), "/type"),
            (json!({"properties": 5}), "/properties"),
            (json!({"pattern": "("}), "("),
            (json!({"$ref": "#/$defs/missing"}), "missing"),
            (json!({"$schema": "https://example.com/own"}), "outside of the schema"),
            (json!("text"), "want"),
        ] {
            let Err(error) = OutputSchema::compile(&schema) else { panic!("{schema} is refused") };
            assert!(error.contains(expected), "{schema}: {error}");
        }
    }

    #[test]
    fn nothing_outside_is_read() {
        let file = tempfile::NamedTempFile::new().unwrap();
        std::fs::write(file.path(), "{}").unwrap();
        for reference in [format!("file://{}", file.path().display()), "http://127.0.0.1:9/x".to_owned()] {
            let Err(error) = OutputSchema::compile(&json!({"$ref": reference})) else { panic!("{reference} is read") };
            assert!(error.contains("is outside of the schema"), "{error}");
        }
    }
}
