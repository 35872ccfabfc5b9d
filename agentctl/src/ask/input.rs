//! The input of a call as a text that a person can change, and back. A part of `ask`; it opens no editor.

use crate::render::diff;
use crate::render::style::Style;
use proto::permission::PermissionRequest;
use serde_json::{Map, Value};
use similar::TextDiff;

/// The one field that is edited in place of the whole input, with the suffix that an editor knows it by.
const FIELDS: [(&str, &str, &str); 2] = [("Bash", "command", ".sh"), ("ExitPlanMode", "plan", ".md")];

/// An input as a text.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Draft {
    /// The text.
    pub text: String,
    /// A file's suffix, for an editor.
    pub suffix: &'static str,
    /// The field that it is; none if it is the whole input, as JSON.
    field: Option<&'static str>,
}

impl Draft {
    /// The text of an input.
    pub fn of(tool: &str, input: &Value) -> Self {
        let field = FIELDS.iter().find(|(name, ..)| *name == tool);
        let text = field.and_then(|(_, field, _)| input.get(field)?.as_str());
        match (field, text) {
            (Some((_, field, suffix)), Some(text)) => Self { text: text.to_owned(), suffix, field: Some(field) },
            _ => {
                let text = serde_json::to_string_pretty(input).unwrap_or_default();
                Self { text, suffix: ".json", field: None }
            }
        }
    }

    /// The same with another text. An editor ends a file with a line break that nobody typed.
    pub fn with(&self, text: &str) -> Self {
        let text = match text.strip_suffix('\n') {
            Some(text) if !self.text.ends_with('\n') => text,
            _ => text,
        };
        Self { text: text.to_owned(), ..self.clone() }
    }

    /// The input that has this text.
    pub fn input(&self, before: &Value) -> Result<Value, String> {
        match self.field {
            Some(_) if self.text.trim().is_empty() => Err("nothing is left of it; [n] says no".to_owned()),
            Some(field) => {
                let mut fields = before.as_object().cloned().unwrap_or_else(Map::new);
                fields.insert(field.to_owned(), Value::String(self.text.clone()));
                Ok(Value::Object(fields))
            }
            None => match serde_json::from_str::<Value>(&self.text) {
                Ok(input) if input.is_object() => Ok(input),
                Ok(_) => Err("the input must be a JSON object".to_owned()),
                Err(error) => Err(format!("this is no JSON: {error}")),
            },
        }
    }
}

/// What a person has changed of the input of a request, for their own eyes.
pub fn changed(request: &PermissionRequest, new: &Value, style: Style) -> Vec<String> {
    let (before, after) = (Draft::of(&request.tool, &request.input), Draft::of(&request.tool, new));
    let (before, after) = (format!("{}\n", before.text), format!("{}\n", after.text));
    let diff = TextDiff::from_lines(&before, &after).unified_diff().context_radius(3).to_string();
    diff::exact_lines(&diff, style)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::render::request::tests::request;
    use serde_json::json;

    #[test]
    fn a_command_is_edited_as_itself_and_the_rest_stays() {
        let input = json!({"command": "rm -rf x", "timeout": 5});
        let draft = Draft::of("Bash", &input);
        assert_eq!((draft.text.as_str(), draft.suffix), ("rm -rf x", ".sh"));
        assert_eq!(draft.with("rm x\n").input(&input), Ok(json!({"command": "rm x", "timeout": 5})));
        assert!(draft.with(" \n").input(&input).is_err());
        let several = Draft::of("Bash", &json!({"command": "cat <<E\nE\n"}));
        assert_eq!(several.with("cat <<F\nF\n").text, "cat <<F\nF\n", "a line break of its own stays");
    }

    #[test]
    fn any_other_input_is_edited_as_json() {
        let input = json!({"file_path": "/a", "content": "x"});
        let draft = Draft::of("Write", &input);
        assert_eq!(draft.suffix, ".json");
        assert_eq!(draft.input(&input), Ok(input.clone()));
        assert!(draft.with("{").input(&input).unwrap_err().contains("no JSON"));
        assert!(draft.with("[]").input(&input).unwrap_err().contains("object"));
        assert_eq!(Draft::of("Bash", &json!({"command": 5})).suffix, ".json", "a command that is none");
    }

    #[test]
    fn what_changed_is_shown_with_every_character() {
        let mut asked = request("make", None);
        asked.input = json!({"command": "make\nmake install"});
        let shown = changed(&asked, &json!({"command": "make\nmake check\u{200b}"}), Style::PLAIN);
        assert_eq!(shown, ["  @@ -1,2 +1,2 @@", "   make", "  -make install", "  +make check<U+200B>"]);
    }
}
