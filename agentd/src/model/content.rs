//! What the wire formats share in writing content. Pure.

use proto::content::ContentBlock;
use serde_json::{Value, json};
use std::borrow::Cow;

/// Stands for a message of which nothing can be sent; no format takes an empty one.
pub(super) const NOTHING: &str = "(nothing)";
/// Stands for the result of a tool that printed nothing.
pub(super) const NO_OUTPUT: &str = "(no output)";

/// A piece of content as all formats know it.
pub(super) enum Part<'a> {
    Text(Cow<'a, str>),
    Image { media_type: &'a str, data: &'a str },
}

/// The piece for a block. Files are read before a request is made; one that is still a name is sent as one.
pub(super) fn part(block: &ContentBlock) -> Part<'_> {
    match block {
        ContentBlock::Text { text } => Part::Text(Cow::Borrowed(text)),
        ContentBlock::Image { media_type, data } => Part::Image { media_type, data },
        ContentBlock::File { path, range: None } => Part::Text(Cow::Owned(format!("File: {path}"))),
        ContentBlock::File { path, range: Some(range) } => {
            Part::Text(Cow::Owned(format!("File: {path}, lines {} to {}", range.start, range.end)))
        }
        ContentBlock::Resource { mime_type: Some(media_type), data: Some(data), .. }
            if media_type.starts_with("image/") =>
        {
            Part::Image { media_type, data }
        }
        ContentBlock::Resource { uri, text: Some(text), .. } => {
            Part::Text(Cow::Owned(format!("<resource uri=\"{uri}\">\n{text}\n</resource>")))
        }
        ContentBlock::Resource { uri, .. } => Part::Text(Cow::Owned(format!("Resource: {uri}"))),
    }
}

/// The text of a result where the format has no field for its being an error.
pub(super) fn result_text(mut text: String, is_error: bool) -> String {
    /// How far into the text its own word of an error may stand.
    const START: usize = 40;
    if text.is_empty() {
        NO_OUTPUT.clone_into(&mut text);
    }
    if is_error && !text.get(..START).unwrap_or(&text).to_lowercase().contains("error") {
        text = format!("Error: {text}");
    }
    text
}

/// The input of a call as it goes back to a model: always an object. Broken JSON is wrapped, under the
/// key that Anthropic's documentation gives for it.
pub(super) fn call_input(input: &Value) -> Value {
    match input {
        Value::Object(_) => input.clone(),
        Value::Null => json!({}),
        other => json!({"INVALID_JSON": other}),
    }
}

/// The input of a call as the model wrote it: nothing is an empty object, what is no object stays text.
pub(super) fn parse_input(raw: &str) -> Value {
    if raw.trim().is_empty() {
        return json!({});
    }
    match serde_json::from_str(raw) {
        Ok(object @ Value::Object(_)) => object,
        Ok(Value::Null) => json!({}),
        Ok(_) | Err(_) => Value::String(raw.to_owned()),
    }
}
