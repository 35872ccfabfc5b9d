//! The files that a prompt names, read once when it is sent: what the model is told must not change
//! when the file does.

use crate::tools::{FileState, ReadState};
use base64::Engine;
use base64::prelude::BASE64_STANDARD;
use proto::content::{ContentBlock, LineRange, Prompt};
use proto::{ErrorKind, RpcError};
use std::path::{Path, PathBuf};

/// A longer file is refused: it would have to be held in memory to give a part of it.
const FILE_BYTES: u64 = 64 << 20;
/// Characters of one file; the rest is for the Read tool.
const FILE_CHARS: usize = 100_000;

/// Changed files that are named; a switch of branches changes many.
const CHANGES_TOLD: usize = 20;

/// Whether a prompt names files.
#[must_use]
pub fn names_files(prompt: &Prompt) -> bool {
    matches!(prompt, Prompt::Blocks(blocks) if blocks.iter().any(|block| matches!(block, ContentBlock::File { .. })))
}

/// Checks a prompt before it is written down: what no model takes would be sent again with each later prompt,
/// and the session could not go on.
///
/// # Errors
/// `InvalidParams` if there is nothing in it, or an image is none.
pub fn check(prompt: &Prompt) -> Result<(), RpcError> {
    let invalid = |message: String| Err(RpcError::new(ErrorKind::InvalidParams, message).with("field", "prompt"));
    let blocks = match prompt {
        Prompt::Text(_) => [].as_slice(),
        Prompt::Blocks(blocks) => blocks,
    };
    let only_text = blocks.iter().all(|block| matches!(block, ContentBlock::Text { .. }));
    if only_text && prompt.plain_text().trim().is_empty() {
        return invalid("prompt: empty; say what is to be done".to_owned());
    }
    for block in blocks {
        let ContentBlock::Image { media_type, data } = block else { continue };
        if !media_type.starts_with("image/") {
            return invalid(format!("prompt: {media_type:?} is no media type of an image, such as image/png"));
        }
        if data.is_empty() || BASE64_STANDARD.decode(data).is_err() {
            return invalid("prompt: the data of an image must be its bytes in base64".to_owned());
        }
    }
    Ok(())
}

/// The contents of the prompt's files, as text blocks in their order. Reads files: call it where blocking
/// is allowed.
///
/// # Errors
/// `InvalidPath` naming the file that can't be read as text.
pub fn expand(prompt: &Prompt, cwd: &Path) -> Result<Vec<ContentBlock>, RpcError> {
    let Prompt::Blocks(blocks) = prompt else { return Ok(Vec::new()) };
    blocks
        .iter()
        .filter_map(|block| match block {
            ContentBlock::File { path, range } => Some(read(&cwd.join(path), range.as_ref())),
            ContentBlock::Text { .. } | ContentBlock::Image { .. } | ContentBlock::Resource { .. } => None,
        })
        .collect()
}

/// What the model is told of files that changed since it read them, if any did (row L14). Looks at files: call
/// it where blocking is allowed.
#[must_use]
pub fn changed_files(files: &ReadState) -> Option<ContentBlock> {
    let changes = files.take_changes();
    if changes.is_empty() {
        return None;
    }
    let line = |(path, state): &(PathBuf, FileState)| match state {
        FileState::Changed => format!("- {:?} has changed", path.display().to_string()),
        FileState::Gone => format!("- {:?} is not there any more", path.display().to_string()),
    };
    let more = changes.len().saturating_sub(CHANGES_TOLD);
    let mut lines: Vec<String> = changes.iter().take(CHANGES_TOLD).map(line).collect();
    lines.extend((more > 0).then(|| format!("- and {more} more")));
    Some(ContentBlock::text(format!(
        "<system-reminder>\nSince you read them:\n{}\nRead a file again before you rely on what you know of it or change \
         it.\n</system-reminder>",
        lines.join("\n")
    )))
}

fn read(path: &Path, range: Option<&LineRange>) -> Result<ContentBlock, RpcError> {
    let text = crate::base::files::read_text(path, FILE_BYTES).map_err(|error| {
        let message = format!("can't read {} of the prompt: {error}; name a text file", path.display());
        RpcError::new(ErrorKind::InvalidPath, message).with("path", path.display().to_string())
    })?;
    let part = match range {
        None => text,
        Some(range) => {
            let first = usize::try_from(range.start.max(1) - 1).unwrap_or(usize::MAX);
            let count = usize::try_from((range.end + 1).saturating_sub(range.start.max(1))).unwrap_or(usize::MAX);
            text.lines().skip(first).take(count).collect::<Vec<_>>().join("\n")
        }
    };
    let cut = crate::base::text::head(&part, FILE_CHARS);
    let note = if cut.len() < part.len() { "\n[cut here: read the rest with the Read tool]" } else { "" };
    Ok(ContentBlock::text(format!("<file path={:?}>\n{cut}{note}\n</file>", path.display().to_string())))
}

#[cfg(test)]
mod tests {
    use super::check;
    use proto::content::Prompt;
    use serde_json::{Value, json};

    fn is_taken(prompt: Value) -> bool {
        check(&serde_json::from_value::<Prompt>(prompt).unwrap()).is_ok()
    }

    #[test]
    fn a_prompt_holds_something_that_a_model_takes() {
        let image = |media_type: &str, data: &str| json!({"type": "image", "mediaType": media_type, "data": data});
        let text = |text: &str| json!({"type": "text", "text": text});
        let file = json!({"type": "file", "path": "a"});
        for good in [json!("a"), json!([text("a")]), json!([image("image/png", "aGk="), text("")]), json!([file])] {
            assert!(is_taken(good.clone()), "{good}");
        }
        for bad in [
            json!(""),
            json!(" \n"),
            json!([]),
            json!([text(""), text(" ")]),
            json!([text("look"), image("text/plain", "aGk=")]),
            json!([text("look"), image("image/png", "!!!")]),
            json!([text("look"), image("image/png", "")]),
        ] {
            assert!(!is_taken(bad.clone()), "{bad}");
        }
    }
}
