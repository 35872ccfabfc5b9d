//! Write: a whole file, new or in the place of one that was read. Changes no other file, and leaves the old
//! one if the new one can't be written.

use super::checkpoint;
use super::diff;
use super::input::{parse, schema};
use super::paths::{Place, locate, shown};
use super::read_state::Knowledge;
use super::text_file::{self, Loaded};
use super::tool::{FileChange, PromptOptions, Tool, ToolContext, ToolOutput, ToolVerdict, with_absolute_path};
use super::zones;
use crate::policy::Subject;
use futures::future::BoxFuture;
use proto::event::ToolKind;
use proto::permission::Preview;
use schemars::JsonSchema;
use serde::Deserialize;
use serde_json::Value;

#[derive(Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
struct Input {
    /// The file: absolute, or relative to the session's folder.
    file_path: String,
    /// All of its new content.
    content: String,
}

/// The tool.
pub(super) struct Write;

/// What a call would do.
struct Plan {
    place: Place,
    name: String,
    /// The file as it is, and its text.
    before: Option<(Loaded, String)>,
    after: String,
    bytes: Vec<u8>,
}

impl Plan {
    fn diff(&self) -> String {
        diff::unified(&self.name, self.before.as_ref().map(|(_, text)| text.as_str()), &self.after)
    }
}

impl Tool for Write {
    fn name(&self) -> &str {
        "Write"
    }

    fn prompt(&self, _options: &PromptOptions) -> String {
        "Writes a whole file: a new one, with the folders above it, or in the place of one that exists. One that \
         exists must have been read as a whole before, and must not have changed since. To change a part of a file, \
         use Edit."
            .to_owned()
    }

    fn input_schema(&self) -> Value {
        schema::<Input>()
    }

    fn kind(&self) -> ToolKind {
        ToolKind::Edit
    }

    fn validate(&self, input: &Value, context: &ToolContext) -> Result<(), String> {
        plan(parse(input)?, context).map(|_| ())
    }

    fn check_permission(&self, _input: &Value, _context: &ToolContext) -> ToolVerdict {
        zones::place_decides()
    }

    fn subject(&self, input: &Value, context: &ToolContext) -> Subject {
        zones::written(parse::<Input>(input).map(|input| input.file_path), context)
    }

    fn observable_input(&self, input: &Value, context: &ToolContext) -> Option<Value> {
        with_absolute_path(input, context)
    }

    fn classifier_input(&self, input: &Value) -> String {
        let text = input.get("content").and_then(Value::as_str).unwrap_or_default();
        format!("{}: {text}", self.title(input))
    }

    fn title(&self, input: &Value) -> String {
        super::tool::title("Write", input, "file_path")
    }

    fn preview(&self, input: &Value, context: &ToolContext) -> Option<Preview> {
        let plan = plan(parse(input).ok()?, context).ok()?;
        Some(Preview::Diff { diff: plan.diff() })
    }

    fn call(&self, input: Value, context: ToolContext) -> BoxFuture<'_, ToolOutput> {
        Box::pin(super::tool::off_the_runtime(context.cancel.clone(), move || {
            write(plan(parse(&input)?, &context)?, &context)
        }))
    }
}

fn plan(input: Input, context: &ToolContext) -> Result<Plan, String> {
    let place = locate(&input.file_path, context)?;
    let before = text_file::load_if_exists(&place.real)?;
    let name = shown(&place.path, context);
    let Some(loaded) = before else {
        let bytes = input.content.clone().into_bytes();
        return Ok(Plan { place, name, before: None, after: input.content, bytes });
    };
    let Some(old) = text_file::decode(&loaded.bytes) else {
        return Err(format!("{name} is a binary file; replace it with a command in Bash"));
    };
    if loaded.is_read_only() {
        return Err(text_file::read_only(&name));
    }
    match context.files.knowledge(&place.real, &loaded.bytes) {
        Knowledge::Whole => {}
        Knowledge::Unread => return Err(format!("{name} exists and has not been read yet; Read it first")),
        Knowledge::Changed => return Err(format!("{name} has changed since it was read; Read it again first")),
        Knowledge::Partial(_) => {
            return Err(format!(
                "only a part of {name} has been read; Read the rest first, or change that part with Edit"
            ));
        }
    }
    let bytes =
        text_file::encode(&input.content, old.encoding, old.bom).map_err(|character| unencodable(&name, character))?;
    Ok(Plan { place, name, before: Some((loaded, old.text)), after: input.content, bytes })
}

/// The sentence for a character that a file's encoding has no form for.
pub(super) fn unencodable(name: &str, character: char) -> String {
    format!(
        "{name} is not UTF-8: its characters are single bytes, so it can't hold the character `{character}`; leave it out, or convert the file first"
    )
}

fn write(plan: Plan, context: &ToolContext) -> Result<ToolOutput, String> {
    if context.cancel.is_cancelled() {
        return Err("the write was cancelled; nothing was changed".to_owned());
    }
    let (name, diff) = (&plan.name, plan.diff());
    let before = plan.before.as_ref().map(|(loaded, _)| loaded);
    let checkpoint = checkpoint::keep(&context.checkpoints_dir, before, &plan.bytes)?;
    text_file::save(&plan.place.real, &plan.bytes, before)?;
    context.files.saw_whole(&plan.place.real, &plan.bytes);
    let (text, summary) = match (&plan.before, diff.is_empty()) {
        (None, _) => (format!("Created {name}."), "created".to_owned()),
        (Some(_), true) => (format!("{name} already had this content."), "unchanged".to_owned()),
        (Some(_), false) => (format!("Wrote {name}."), diff::counts(&diff)),
    };
    let changed = plan.before.is_none() || !diff.is_empty();
    let file_change = changed.then_some(FileChange { path: plan.place.real, diff, checkpoint: Some(checkpoint) });
    Ok(ToolOutput { file_change, ..ToolOutput::text(text, summary) })
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::tools::read::Read;
    use crate::tools::testing::{Scratch, assert_error, assert_ok};
    use serde_json::json;

    fn write(scratch: &Scratch, path: &str, content: &str) -> ToolOutput {
        scratch.run(&Write, json!({"file_path": path, "content": content}))
    }

    #[test]
    fn a_new_file_with_new_folders() {
        let scratch = Scratch::new();
        let output = write(&scratch, "a/b/c.txt", "one\ntwo\n");
        assert_eq!(assert_ok(&output), "Created a/b/c.txt.");
        assert_eq!(scratch.read("a/b/c.txt"), b"one\ntwo\n");
        let change = output.file_change.unwrap();
        assert_eq!(change.path, scratch.path("a/b/c.txt"));
        assert_eq!(change.diff, "--- /dev/null\n+++ b/a/b/c.txt\n@@ -0,0 +1,2 @@\n+one\n+two\n");
        assert_eq!(assert_ok(&write(&scratch, "a/b/c.txt", "three\n")), "Wrote a/b/c.txt.", "it knows what it wrote");
    }

    #[test]
    fn an_existing_file_must_have_been_read_whole_and_unchanged() {
        let scratch = Scratch::new();
        scratch.write("f", "1\n2\n3\n");
        assert!(assert_error(&write(&scratch, "f", "x")).contains("Read it first"));
        assert_ok(&scratch.run(&Read, json!({"file_path": "f", "limit": 2})));
        assert!(assert_error(&write(&scratch, "f", "x")).contains("Read the rest first"));
        assert_ok(&scratch.run(&Read, json!({"file_path": "f", "offset": 3})));
        scratch.write("f", "1\n2\n4\n");
        assert!(assert_error(&write(&scratch, "f", "x")).contains("Read it again first"));
        assert_eq!(scratch.read("f"), b"1\n2\n4\n");
        assert_ok(&scratch.run(&Read, json!({"file_path": "f"})));
        let output = write(&scratch, "f", "x\n");
        assert_ok(&output);
        assert_eq!(output.summary, "+1 -3");
        assert_eq!(scratch.read("f"), b"x\n");
    }

    #[test]
    fn the_encoding_stays() {
        let scratch = Scratch::new();
        for (before, content, after) in [
            (&b"\xEF\xBB\xBFa"[..], "é", &b"\xEF\xBB\xBF\xC3\xA9"[..]),
            (b"\xFF\xFEa\0", "bé", b"\xFF\xFEb\0\xE9\0"),
            (b"\xE9", "éé", b"\xE9\xE9"),
        ] {
            scratch.write("f", before);
            assert_ok(&scratch.run(&Read, json!({"file_path": "f"})));
            assert_ok(&write(&scratch, "f", content));
            assert_eq!(scratch.read("f"), after);
        }
        assert!(assert_error(&write(&scratch, "f", "→")).contains("can't hold the character `→`"));
        assert_eq!(scratch.read("f"), b"\xE9\xE9");
    }

    #[test]
    fn a_read_only_file_stays() {
        let scratch = Scratch::new();
        let path = scratch.write("f", "old");
        std::fs::set_permissions(&path, std::os::unix::fs::PermissionsExt::from_mode(0o444)).unwrap();
        assert_ok(&scratch.run(&Read, json!({"file_path": "f"})));
        assert!(assert_error(&write(&scratch, "f", "x")).contains("f is read-only"));
        assert_eq!(scratch.read("f"), b"old");
    }

    #[test]
    fn folders_and_binary_files_are_refused() {
        let scratch = Scratch::new();
        scratch.write("dir/f", "");
        scratch.write("bin", b"a\0b");
        assert!(assert_error(&write(&scratch, "dir", "x")).contains("is a folder"));
        assert!(assert_error(&write(&scratch, "bin", "x")).contains("binary file"));
        assert!(assert_error(&write(&scratch, "bin/f", "x")).contains("a file, not a folder"));
    }

    #[test]
    fn the_preview_shows_the_change_and_makes_none() {
        let scratch = Scratch::new();
        let input = json!({"file_path": "f", "content": "x\n"});
        let preview = Write.preview(&input, &scratch.context());
        assert_eq!(preview, Some(Preview::Diff { diff: "--- /dev/null\n+++ b/f\n@@ -0,0 +1 @@\n+x\n".to_owned() }));
        assert!(!scratch.path("f").exists());
    }
}
