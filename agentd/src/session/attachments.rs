//! The files that a prompt names, read once when it is sent: what the model is told must not change
//! when the file does.

use proto::content::{ContentBlock, LineRange, Prompt};
use proto::{ErrorKind, RpcError};
use std::path::Path;

/// A longer file is refused: it would have to be held in memory to give a part of it.
const FILE_BYTES: u64 = 64 << 20;
/// Characters of one file; the rest is for the Read tool.
const FILE_CHARS: usize = 100_000;

/// Whether a prompt names files.
#[must_use]
pub fn names_files(prompt: &Prompt) -> bool {
    matches!(prompt, Prompt::Blocks(blocks) if blocks.iter().any(|block| matches!(block, ContentBlock::File { .. })))
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
