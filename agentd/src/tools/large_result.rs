//! Results that are too large for the model: the whole goes to a file, the model gets a note with its path
//! and a part (rows G01–G03). Called by the session's pipeline for the results of every tool, and by Bash, whose
//! commands write their output to a file anyway.

use crate::base::limits::{FAILURE_CHARS, MAX_RESULT_CHARS, PREVIEW_CHARS};
use crate::base::text::{head, tail};
use crate::process::create_result_file;
use nix::fcntl::OFlag;
use proto::ids::ToolCallId;
use std::fs::OpenOptions;
use std::io::{self, Read as _, Seek as _, Write as _};
use std::os::unix::fs::OpenOptionsExt as _;
use std::path::{Path, PathBuf};

/// Bytes of a character, at most.
const MAX_CHAR_BYTES: usize = 4;

/// A text cut down for the model.
#[derive(Debug, PartialEq, Eq)]
pub struct Fitted {
    /// What the model is told.
    pub text: String,
    /// The file with the whole, if the model does not see it all.
    pub whole: Option<PathBuf>,
}

/// Which part of a large text the model sees, in characters.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Part {
    /// So many from its start.
    Start(usize),
    /// So many, half from each end: errors are found at either.
    Ends(usize),
}

/// Puts a text into a new, private file of the call. Where there can't be one, the model is told so.
#[must_use]
pub fn put_away(text: &str, part: Part, dir: &Path, call: &ToolCallId) -> Fitted {
    match persist(text, dir, call) {
        Ok(path) => Fitted { text: shorten(text, part, &path), whole: Some(path) },
        Err(error) => {
            let (Part::Start(chars) | Part::Ends(chars)) = part;
            let cut = head(text, chars);
            let why = format!("[The result was cut here: it is larger, and could not be written to a file: {error}]");
            Fitted { text: format!("{cut}\n\n{why}"), whole: None }
        }
    }
}

/// What the model is told of a text that is in a file, whole or as a part of it.
#[must_use]
pub fn shorten(text: &str, part: Part, file: &Path) -> String {
    let size = file.metadata().map_or(text.len() as u64, |metadata| metadata.len());
    match part {
        Part::Start(chars) => start_note(file, size, head(text, chars)),
        Part::Ends(chars) => ends_note(file, size, head(text, chars / 2), tail(text, chars / 2)),
    }
}

/// What the model is told of a file of output that a command wrote. The whole stays where it is.
///
/// # Errors
/// The file can't be read.
pub(super) fn fit_file(path: &Path, failed: bool) -> io::Result<Fitted> {
    // A command could have put something else in the place of its output: it is neither followed nor waited for.
    let flags = OFlag::O_NOFOLLOW | OFlag::O_NONBLOCK;
    let mut file = OpenOptions::new().read(true).custom_flags(flags.bits()).open(path)?;
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
        ends_note(path, size, &start, &end)
    } else {
        start_note(path, size, &start_of(&mut file, PREVIEW_CHARS)?)
    };
    Ok(Fitted { text, whole: Some(path.to_owned()) })
}

fn start_note(path: &Path, size: u64, start: &str) -> String {
    format!(
        "The output is too large to show ({size} bytes). All of it is in {}; use Read with offset and limit, or Grep, on that file.\n\n\
         The first {} characters:\n{start}",
        path.display(),
        start.chars().count()
    )
}

fn ends_note(path: &Path, size: u64, start: &str, end: &str) -> String {
    format!("{start}\n\n[… the middle is left out: {size} bytes in all, in {} …]\n\n{end}", path.display())
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

fn persist(text: &str, dir: &Path, call: &ToolCallId) -> io::Result<PathBuf> {
    let (mut file, path) = create_result_file(dir, call.as_str(), extension(text))?;
    file.write_all(text.as_bytes())?;
    Ok(path)
}

/// By what the text is: programs tell JSON by its name.
fn extension(text: &str) -> &'static str {
    let is_json =
        text.trim_start().starts_with(['{', '[']) && serde_json::from_str::<serde::de::IgnoredAny>(text).is_ok();
    if is_json { "json" } else { "txt" }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::tools::testing::Scratch;
    use std::os::unix::fs::PermissionsExt as _;

    /// Rows G01, G02: the file is named after the call and private; the note has its path and the first 1,000
    /// characters, cut at a character.
    #[test]
    fn a_large_text_goes_to_a_private_file_of_the_call() {
        let dir = tempfile::tempdir().unwrap();
        let outputs = dir.path().canonicalize().unwrap().join("outputs");
        let text = "é".repeat(MAX_RESULT_CHARS + 1);
        let call = "call_test".into();
        let fitted = put_away(&text, Part::Start(PREVIEW_CHARS), &outputs, &call);
        let path = fitted.whole.clone().unwrap();
        assert_eq!(path, outputs.join("call_test.txt"));
        assert_eq!(std::fs::read_to_string(&path).unwrap(), text);
        assert_eq!(std::fs::metadata(&path).unwrap().permissions().mode() & 0o777, 0o600);
        assert_eq!(std::fs::metadata(&outputs).unwrap().permissions().mode() & 0o777, 0o700);
        assert!(fitted.text.contains(path.to_str().unwrap()) && fitted.text.contains("The first 1000 characters"));
        assert!(fitted.text.ends_with(&format!("\n{}", "é".repeat(PREVIEW_CHARS))));

        let again = put_away(&text, Part::Start(PREVIEW_CHARS), &outputs, &call);
        assert_eq!(again.whole, Some(outputs.join("call_test-2.txt")), "ids may repeat");
        let json = put_away(r#"{"a": [1, 2]}"#, Part::Start(4), &outputs, &call);
        assert_eq!(json.whole, Some(outputs.join("call_test.json")));
        let broken = put_away(r#"{"a": [1, 2"#, Part::Start(4), &outputs, &"other".into());
        assert_eq!(broken.whole, Some(outputs.join("other.txt")));
    }

    #[test]
    fn a_text_without_a_file_is_cut_and_says_so() {
        let dir = tempfile::tempdir().unwrap();
        let taken = dir.path().join("taken");
        std::fs::write(&taken, "no folder").unwrap();
        let fitted = put_away(&"€".repeat(50), Part::Start(10), &taken, &"c".into());
        assert_eq!(fitted.whole, None);
        assert!(fitted.text.starts_with(&format!("{}\n\n[The result was cut here", "€".repeat(10))), "{}", fitted.text);
    }

    #[test]
    fn a_failure_shows_both_ends() {
        let scratch = Scratch::new();
        let text = format!("BEGIN{}END", "x".repeat(50_000));
        let path = scratch.write("out", &text);
        let fitted = fit_file(&path, true).unwrap();
        assert!(fitted.text.starts_with("BEGIN") && fitted.text.ends_with("END"));
        assert!(fitted.text.chars().count() < FAILURE_CHARS + 500);
        assert_eq!(fitted.whole.as_deref(), Some(path.as_path()));
        assert_eq!(fitted.text, shorten(&text, Part::Ends(FAILURE_CHARS), &path));
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
