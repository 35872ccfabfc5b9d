//! StructuredOutput: how the model gives a turn's answer as data (row X11). Made for one turn, from the schema that
//! came with its prompt; the call fits the schema or is an error that names the places.

use super::output_schema::OutputSchema;
use super::tool::{PromptOptions, Tool, ToolContext, ToolOutput, ToolVerdict};
use futures::future::BoxFuture;
use proto::event::ToolKind;
use serde_json::{Map, Value, json};

/// The field that holds an answer which is no object: the input of a tool always is one.
const VALUE: &str = "value";

/// The tool.
pub struct StructuredOutput {
    schema: OutputSchema,
    input_schema: Value,
    wrapped: bool,
}

impl StructuredOutput {
    /// Its name.
    pub const NAME: &str = crate::event::OUTPUT_TOOL;

    /// The tool for a schema.
    ///
    /// # Errors
    /// What is wrong with the schema.
    pub fn new(schema: &Value) -> Result<Self, String> {
        let wrapped = schema.get("type").is_none_or(|kind| kind != "object");
        let input_schema = if wrapped { wrap(schema) } else { schema.clone() };
        Ok(Self { schema: OutputSchema::compile(schema)?, input_schema, wrapped })
    }

    fn answer<'a>(&self, input: &'a Value) -> Result<&'a Value, String> {
        match self.wrapped {
            false => Ok(input),
            true => input.get(VALUE).ok_or_else(|| format!("the field `{VALUE}` is missing; it must be the answer")),
        }
    }
}

/// A schema of an object with the answer as its one field. What the answer's schema refers to stays where it is
/// looked for.
fn wrap(schema: &Value) -> Value {
    let mut inner = schema.clone();
    let mut root = Map::new();
    if let Some(fields) = inner.as_object_mut() {
        fields.shift_remove("$schema");
        for name in ["$defs", "definitions"] {
            root.extend(fields.shift_remove(name).map(|definitions| (name.to_owned(), definitions)));
        }
    }
    root.insert("type".to_owned(), json!("object"));
    root.insert("properties".to_owned(), json!({VALUE: inner}));
    root.insert("required".to_owned(), json!([VALUE]));
    root.insert("additionalProperties".to_owned(), json!(false));
    Value::Object(root)
}

impl Tool for StructuredOutput {
    fn name(&self) -> &str {
        Self::NAME
    }

    fn prompt(&self, _options: &PromptOptions) -> String {
        "Gives your final answer as data. Call it exactly once, at the end, when all other work is done: its input is \
         the answer. A call that does not fit the schema is refused with the places that don't; then call it again."
            .to_owned()
    }

    fn input_json_schema(&self) -> Option<Value> {
        Some(self.input_schema.clone())
    }

    fn kind(&self) -> ToolKind {
        ToolKind::Other
    }

    fn read_only(&self, _input: &Value) -> bool {
        true
    }

    fn concurrency_safe(&self, _input: &Value) -> bool {
        true
    }

    fn blocks_interrupt(&self, _input: &Value) -> bool {
        false
    }

    fn validate(&self, input: &Value, _context: &ToolContext) -> Result<(), String> {
        let answer = self.answer(input)?;
        self.schema.check(answer).map_err(|mistakes| format!("the answer does not fit the schema: {mistakes}"))
    }

    fn check_permission(&self, _input: &Value, _context: &ToolContext) -> ToolVerdict {
        ToolVerdict::Allow { detail: "it only gives the answer".to_owned() }
    }

    fn title(&self, _input: &Value) -> String {
        "Answer as data".to_owned()
    }

    fn call(&self, input: Value, _context: ToolContext) -> BoxFuture<'_, ToolOutput> {
        let output = match self.answer(&input) {
            Ok(answer) => ToolOutput {
                structured_output: Some(answer.clone()),
                ..ToolOutput::text("The answer fits the schema and was taken.", "answer taken")
            },
            Err(message) => ToolOutput::error(message),
        };
        Box::pin(futures::future::ready(output))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::tools::testing::{Scratch, assert_error, assert_ok};

    fn number() -> Value {
        json!({"type": "object", "properties": {"n": {"type": "integer"}}, "required": ["n"]})
    }

    /// Row X11: a call that fits the schema gives the answer, any other an error with the path.
    #[test]
    fn an_answer_fits_the_schema() {
        let (tool, scratch) = (StructuredOutput::new(&number()).unwrap(), Scratch::new());
        assert_eq!(tool.input_json_schema(), Some(number()));
        let output = scratch.run(&tool, json!({"n": 5}));
        assert_ok(&output);
        assert_eq!(output.structured_output, Some(json!({"n": 5})));
        let error = assert_error(&scratch.run(&tool, json!({"n": "5"})));
        assert_eq!(error, "the answer does not fit the schema: `/n`: want integer, but got string");
    }

    #[test]
    fn an_answer_need_not_be_an_object() {
        let schema = json!({
            "$schema": "https://json-schema.org/draft/2020-12/schema",
            "type": "array",
            "items": {"$ref": "#/$defs/n"},
            "$defs": {"n": {"type": "integer"}},
        });
        let (tool, scratch) = (StructuredOutput::new(&schema).unwrap(), Scratch::new());
        let shown = tool.input_json_schema().unwrap();
        assert_eq!((&shown["type"], &shown["$defs"]["n"]["type"]), (&json!("object"), &json!("integer")));
        assert_eq!(shown["properties"]["value"], json!({"type": "array", "items": {"$ref": "#/$defs/n"}}));
        assert_eq!(scratch.run(&tool, json!({"value": [1, 2]})).structured_output, Some(json!([1, 2])));
        assert!(assert_error(&scratch.run(&tool, json!({"value": ["x"]}))).contains("`/0`: want integer"));
        assert!(assert_error(&scratch.run(&tool, json!({}))).contains("`value` is missing"));
    }
}
