//! Stage E: what the model gets to see of a result: pictures within bounds, text within the tool's limit, the rest in
//! a file of the session. Knows nothing of the other calls of the round: that is `deliver`'s.

use super::CallJob;
use crate::base::limits::{FAILURE_CHARS, MAX_IMAGE_BYTES, PREVIEW_CHARS};
use crate::base::text::head;
use crate::tools::{Fitted, Part, Tool, ToolOutput, put_away};
use proto::content::ContentBlock;
use serde_json::Value;
use std::path::Path;
use std::sync::Arc;

/// Fits a result to the tool's own limit (rows T10, X12, G03); beside it the bytes of the whole (X10).
pub(super) async fn fit(job: &CallJob, tool: &Arc<dyn Tool>, mut output: ToolOutput) -> (ToolOutput, u64) {
    let bytes = whole_size(&output).await;
    output.content = output.content.into_iter().map(bounded).collect();
    output.new_messages = output.new_messages.into_iter().map(bounded).collect();
    let limit = tool.max_result_chars();
    // A tool that has put the whole into a file itself has also chosen what is shown of it.
    if output.persisted_path.is_some() || !is_longer(&output.content, limit) {
        return (output, bytes);
    }
    let part = match output.is_error {
        true => Part::Ends(FAILURE_CHARS.min(limit)),
        false => Part::Start(PREVIEW_CHARS.min(limit)),
    };
    let text = text_of(&output.content);
    let (dir, call) = (job.context.outputs_dir.clone(), job.context.tool_call_id.clone());
    let fitted = written(move || put_away(&text, part, &dir, &call)).await;
    output.content = with_text(output.content, fitted.text);
    output.persisted_path = fitted.whole;
    (output, bytes)
}

/// Writes a file where that holds nobody up.
pub(super) async fn written(work: impl FnOnce() -> Fitted + Send + 'static) -> Fitted {
    let lost = || Fitted { text: "[The result was lost: agentd is stopping]".to_owned(), whole: None };
    tokio::task::spawn_blocking(work).await.unwrap_or_else(|_| lost())
}

/// The textual blocks as one text.
pub(super) fn text_of(content: &[ContentBlock]) -> String {
    content.iter().filter_map(text_in).collect::<Vec<_>>().join("\n")
}

/// Characters of the textual blocks. Pictures are not text.
pub(super) fn chars_of(content: &[ContentBlock]) -> usize {
    content.iter().filter_map(text_in).map(|text| text.chars().count()).sum()
}

/// The blocks with this text first and no other; pictures and the names of resources stay.
pub(super) fn with_text(content: Vec<ContentBlock>, text: String) -> Vec<ContentBlock> {
    let others = content.into_iter().filter_map(|block| match block {
        ContentBlock::Text { .. } => None,
        ContentBlock::Resource { uri, mime_type, text: Some(_), data } => {
            Some(ContentBlock::Resource { uri, mime_type, text: None, data })
        }
        other => Some(other),
    });
    std::iter::once(ContentBlock::text(text)).chain(others).collect()
}

/// The extension of the file that a call is about, in lower case.
pub(super) fn file_extension(input: &Value) -> Option<String> {
    let path = ["file_path", "notebook_path"].iter().find_map(|field| input.get(field)?.as_str())?;
    Some(head(Path::new(path).extension()?.to_str()?, 20).to_lowercase())
}

fn text_in(block: &ContentBlock) -> Option<&str> {
    match block {
        ContentBlock::Text { text } | ContentBlock::Resource { text: Some(text), .. } => Some(text),
        ContentBlock::Image { .. } | ContentBlock::File { .. } | ContentBlock::Resource { .. } => None,
    }
}

fn is_longer(content: &[ContentBlock], limit: usize) -> bool {
    // No text has more characters than bytes: most need no counting.
    let bytes: usize = content.iter().filter_map(text_in).map(str::len).sum();
    bytes > limit && chars_of(content) > limit
}

/// A block whose bytes are too many for a model is said to be.
fn bounded(block: ContentBlock) -> ContentBlock {
    let (what, bytes) = match &block {
        ContentBlock::Image { media_type, data } => (media_type.clone(), decoded_len(data)),
        ContentBlock::Resource { uri, data: Some(data), .. } => (uri.clone(), decoded_len(data)),
        _ => return block,
    };
    if bytes <= MAX_IMAGE_BYTES {
        return block;
    }
    let limit = MAX_IMAGE_BYTES >> 20;
    ContentBlock::text(format!(
        "[Left out: {what}, {bytes} bytes; at most {limit} MiB can be shown, so make it smaller]"
    ))
}

/// The bytes that a text of base64 stands for.
fn decoded_len(base64: &str) -> usize {
    base64.trim_end_matches('=').len() * 3 / 4
}

async fn whole_size(output: &ToolOutput) -> u64 {
    let file = match &output.persisted_path {
        Some(path) => tokio::fs::metadata(path).await.ok(),
        None => None,
    };
    let size = |block: &ContentBlock| match block {
        ContentBlock::Image { data, .. } | ContentBlock::Resource { data: Some(data), text: None, .. } => {
            decoded_len(data)
        }
        other => text_in(other).map_or(0, str::len),
    };
    file.map_or_else(|| output.content.iter().map(size).sum::<usize>() as u64, |file| file.len())
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    #[test]
    fn a_picture_is_no_text_and_is_bounded() {
        let picture = |bytes: usize| ContentBlock::Image {
            media_type: "image/png".to_owned(),
            data: "A".repeat(bytes.div_ceil(3) * 4),
        };
        let fits = picture(MAX_IMAGE_BYTES - 3);
        assert_eq!(chars_of(std::slice::from_ref(&fits)), 0);
        assert_eq!(bounded(fits.clone()), fits);
        let ContentBlock::Text { text } = bounded(picture(MAX_IMAGE_BYTES + 3)) else { panic!("it is too large") };
        assert!(text.contains("image/png") && text.contains("at most 5 MiB"), "{text}");
    }

    #[test]
    fn a_new_text_leaves_the_other_blocks() {
        let picture = ContentBlock::Image { media_type: "image/png".to_owned(), data: "AAAA".to_owned() };
        let resource = |text: Option<&str>| ContentBlock::Resource {
            uri: "a:b".to_owned(),
            mime_type: None,
            text: text.map(str::to_owned),
            data: None,
        };
        let content = vec![picture.clone(), ContentBlock::text("one"), resource(Some("two"))];
        assert_eq!(text_of(&content), "one\ntwo");
        assert_eq!(with_text(content, "note".into()), [ContentBlock::text("note"), picture, resource(None)]);
    }

    #[test]
    fn the_extension_is_that_of_the_file() {
        for (input, extension) in [
            (json!({"file_path": "/a/B.RS"}), Some("rs")),
            (json!({"notebook_path": "x.ipynb"}), Some("ipynb")),
            (json!({"file_path": "Makefile"}), None),
            (json!({"file_path": 5}), None),
            (json!("broken"), None),
        ] {
            assert_eq!(file_extension(&input).as_deref(), extension, "{input}");
        }
    }
}
