//! Results that are too large for the model: the whole goes to a file, the model gets a note with its path
//! and a part (seed rows G01–G03). Called by every tool whose result has no limit of its own.

use super::tool::{ToolContext, ToolOutput};
use crate::base::limits::{MAX_RESULT_CHARS, PREVIEW_CHARS};
use crate::base::text::{head, tail};
use crate::process::create_output_file;
use proto::content::ContentBlock;
use std::io::{self, Read as _, Seek as _, Write as _};
use std::path::{Path, PathBuf};

/// Characters of a failure that the model sees, from both ends: errors are found at either.
const FAILURE_CHARS: usize = 10_000;
/// Bytes of a character, at most.
const MAX_CHAR_BYTES: usize = 4;

/// A text cut down for the model.
#[derive(Debug, PartialEq, Eq)]
pub(super) struct Fitted {
    pub text: String,
    /// The file with the whole, if the model does not see it all.
    pub whole: Option<PathBuf>,
}

/// A success with this text; if it is too large, the whole is in a file.
pub(super) fn success(text: String, summary: String, context: &ToolContext) -> ToolOutput {
    if head(&text, MAX_RESULT_CHARS).len() == text.len() {
        return ToolOutput::text(text, summary);
    }
    match persist(&text, context) {
        Ok(path) => ToolOutput {
            content: vec![ContentBlock::text(note(&path, text.len() as u64, head(&text, PREVIEW_CHARS)))],
            summary,
            persisted_path: Some(path),
            ..ToolOutput::default()
        },
        Err(error) => {
            let cut = head(&text, MAX_RESULT_CHARS);
            ToolOutput::text(
                format!(
                    "{cut}\n\n[The result was cut here: it is larger, and could not be written to a file: {error}]"
                ),
                summary,
            )
        }
    }
}

/// What the model is told of a file of output that a command wrote. The whole stays where it is.
///
/// # Errors
/// The file can't be read.
pub(super) fn fit_file(path: &Path, failed: bool) -> io::Result<Fitted> {
    let mut file = std::fs::File::open(path)?;
    let size = file.metadata()?.len();
    let limit = if failed { FAILURE_CHARS } else { MAX_RESULT_CHARS };
    if size <= (limit * MAX_CHAR_BYTES) as u64 {
        let mut bytes = Vec::new();
        (&mut file).take((limit * MAX_CHAR_BYTES) as u64).read_to_end(&mut bytes)?;
        let text = String::from_utf8_lossy(&bytes);
        if head(&text, limit).len() == text.len() {
            return Ok(Fitted { text: text.into_owned(), whole: None });
        }
    }
    let text = if failed {
        let half = FAILURE_CHARS / 2;
        let (start, end) = (start_of(&mut file, half)?, end_of(&mut file, half)?);
        format!("{start}\n\n[… the middle is left out: {size} bytes in all, in {} …]\n\n{end}", path.display())
    } else {
        note(path, size, &start_of(&mut file, PREVIEW_CHARS)?)
    };
    Ok(Fitted { text, whole: Some(path.to_owned()) })
}

fn note(path: &Path, size: u64, preview: &str) -> String {
    format!(
        "The output is too large to show ({size} bytes). All of it is in {}; use Read with offset and limit, or Grep, on that file.\n\n\
         The first {PREVIEW_CHARS} characters:\n{preview}",
        path.display()
    )
}

fn start_of(file: &mut std::fs::File, chars: usize) -> io::Result<String> {
    file.rewind()?;
    let mut bytes = Vec::new();
    file.take((chars * MAX_CHAR_BYTES) as u64).read_to_end(&mut bytes)?;
    Ok(head(&String::from_utf8_lossy(&bytes), chars).to_owned())
}

fn end_of(file: &mut std::fs::File, chars: usize) -> io::Result<String> {
    let size = file.metadata()?.len();
    let wanted = (chars * MAX_CHAR_BYTES) as u64;
    file.seek(io::SeekFrom::Start(size.saturating_sub(wanted)))?;
    let mut bytes = Vec::new();
    file.take(wanted).read_to_end(&mut bytes)?;
    Ok(tail(&String::from_utf8_lossy(&bytes), chars).to_owned())
}

/// Writes a text to a new, private file named after the call.
fn persist(text: &str, context: &ToolContext) -> io::Result<PathBuf> {
    let (mut file, path) = create_output_file(&context.outputs_dir, context.tool_call_id.as_str())?;
    file.write_all(text.as_bytes())?;
    Ok(path)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::tools::testing::{Scratch, text_of};
    use std::os::unix::fs::PermissionsExt as _;

    #[test]
    fn the_limit_itself_is_inline_and_one_more_goes_to_a_private_file() {
        let scratch = Scratch::new();
        let context = scratch.context();
        let output = success("é".repeat(MAX_RESULT_CHARS), String::new(), &context);
        assert_eq!(output.persisted_path, None);
        assert_eq!(text_of(&output).chars().count(), MAX_RESULT_CHARS);

        let text = "é".repeat(MAX_RESULT_CHARS + 1);
        let output = success(text.clone(), String::new(), &context);
        let path = output.persisted_path.clone().unwrap();
        assert_eq!(path, context.outputs_dir.join("call_test.txt"));
        assert_eq!(std::fs::read_to_string(&path).unwrap(), text);
        assert_eq!(std::fs::metadata(&path).unwrap().permissions().mode() & 0o777, 0o600);
        let told = text_of(&output);
        assert!(told.contains(path.to_str().unwrap()) && told.ends_with(&format!("\n{}", "é".repeat(PREVIEW_CHARS))));

        let again = success(text, String::new(), &context);
        assert_eq!(again.persisted_path, Some(context.outputs_dir.join("call_test-2.txt")), "ids may repeat");
    }

    #[test]
    fn a_failure_shows_both_ends() {
        let scratch = Scratch::new();
        let path = scratch.write("out", format!("BEGIN{}END", "x".repeat(50_000)));
        let fitted = fit_file(&path, true).unwrap();
        assert!(fitted.text.starts_with("BEGIN") && fitted.text.ends_with("END"));
        assert!(fitted.text.chars().count() < FAILURE_CHARS + 500);
        assert_eq!(fitted.whole.as_deref(), Some(path.as_path()));
    }

    #[test]
    fn a_file_at_the_limit_is_shown_whole() {
        let scratch = Scratch::new();
        for (length, whole) in [(MAX_RESULT_CHARS, true), (MAX_RESULT_CHARS + 1, false)] {
            let path = scratch.write("out", "€".repeat(length));
            assert_eq!(fit_file(&path, false).unwrap().whole.is_none(), whole, "{length}");
        }
    }
}
