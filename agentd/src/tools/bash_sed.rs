//! `sed -i` on one file, as the edit that it is (row B07): for the question to a person the new content is worked out by
//! `sed` without `-i`, so a diff can be shown; what was allowed is then written as it was shown, and no process runs.
//! Called by Bash. Only plain lines are taken on; every other one is shown as the command that it is.

use super::checkpoint::{self, sha256};
use super::diff;
use super::paths::{Place, locate, shown};
use super::text_file;
use super::tool::{FileChange, Simulated, ToolContext, ToolOutput};
use crate::process::{CommandSpec, End, Limits, search_path};
use proto::permission::Preview;
use serde::{Deserialize, Serialize};
use serde_json::Value;
use std::path::{Path, PathBuf};
use std::time::Duration;

/// The field that only permission adds to an input: the schema of Bash does not know it, so none that a model, a hook or
/// a person writes gets this far.
pub(super) const FIELD: &str = "_simulatedSedEdit";

/// How long `sed` may take over a file.
const PATIENCE: Duration = Duration::from_secs(5);
/// A file longer than this is shown as a command: nobody reads such a diff.
const MAX_BYTES: usize = 4 << 20;

/// An edit that was shown.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub(super) struct SedEdit {
    /// The file, all links followed.
    file_path: PathBuf,
    /// What it is to hold.
    new_content: String,
    /// The SHA-256 of what it held when it was shown.
    before_sha256: String,
}

/// A line `sed -i … SCRIPT FILE`.
#[derive(Debug, PartialEq, Eq)]
struct Line {
    /// `-E`, `-n` and the like.
    options: Vec<String>,
    script: String,
    file: String,
}

/// What a line would do, as an edit; `None` if it is not such a line, or changes nothing.
pub(super) async fn simulate(input: &Value, context: &ToolContext) -> Option<Simulated> {
    let line = parse(input.get("command")?.as_str()?)?;
    let place = locate(&line.file, context).ok()?;
    let before = text_file::load(&place.real).ok().filter(|loaded| loaded.bytes.len() <= MAX_BYTES)?;
    let old = std::str::from_utf8(&before.bytes).ok()?.to_owned();
    let new_content = run(&line, context).await.filter(|new| *new != old)?;
    let diff = diff::unified(&shown(&place.path, context), Some(&old), &new_content);
    let edit = SedEdit { file_path: place.real, new_content, before_sha256: sha256(&before.bytes) };
    let mut input = input.clone();
    input.as_object_mut()?.insert(FIELD.to_owned(), serde_json::to_value(edit).ok()?);
    Some(Simulated { preview: Preview::Diff { diff }, input })
}

/// The edit that an input holds, taken out of it.
pub(super) fn take(input: &mut Value) -> Option<Result<SedEdit, String>> {
    let edit = input.as_object_mut()?.remove(FIELD)?;
    Some(serde_json::from_value(edit).map_err(|error| format!("{FIELD} is not as agentd writes it: {error}")))
}

/// Writes what was shown.
pub(super) fn apply(edit: SedEdit, context: &ToolContext) -> Result<ToolOutput, String> {
    let place = Place { path: edit.file_path.clone(), real: edit.file_path };
    let name = shown(&place.path, context);
    let before = text_file::load(&place.real)?;
    if sha256(&before.bytes) != edit.before_sha256 {
        return Err(format!("{name} has changed since the person was asked; nothing was changed. Read it again first"));
    }
    let old = String::from_utf8_lossy(&before.bytes).into_owned();
    let (diff, bytes) = (diff::unified(&name, Some(&old), &edit.new_content), edit.new_content.into_bytes());
    let checkpoint = checkpoint::keep(&context.checkpoints_dir, Some(&before), &bytes)?;
    text_file::save(&place.real, &bytes, Some(&before))?;
    // What sed does to a file is known no better than before: who has read it reads it again to edit it.
    let summary = diff::counts(&diff);
    let file_change = Some(FileChange { path: place.real, diff, checkpoint: Some(checkpoint) });
    Ok(ToolOutput { file_change, ..ToolOutput::text("(no output)", summary) })
}

/// What `sed` without `-i` prints; `None` if it fails or is not text.
async fn run(line: &Line, context: &ToolContext) -> Option<String> {
    // As the shell looks it up; that it is the system's own is a part of what makes the line an edit.
    let folders = search_path(&context.env).split(':').filter(|folder| folder.starts_with('/'));
    let program = folders.map(|folder| format!("{folder}/sed")).find(|file| Path::new(file).is_file())?;
    let argv = [program].into_iter().chain(line.options.iter().cloned()).chain([
        "-e".to_owned(),
        line.script.clone(),
        "--".to_owned(),
        line.file.clone(),
    ]);
    let spec = CommandSpec {
        session_id: context.session_id.clone(),
        tool_call_id: context.tool_call_id.clone(),
        argv: argv.collect(),
        cwd: context.cwd.clone(),
        env: context.env.clone(),
        outputs_dir: context.outputs_dir.clone(),
    };
    let running = context.processes.start(&spec).ok()?;
    let output = running.output_path().to_owned();
    let limits = Limits { timeout: PATIENCE, grace: context.kill_grace, cancel: context.cancel.clone() };
    let finished = running.follow(&limits, &|_| {}).await;
    let printed = std::fs::read(&output);
    let _ = std::fs::remove_file(&output);
    let succeeded = matches!(finished.ok()?.end, End::Exited(status) if status.success());
    String::from_utf8(printed.ok()?).ok().filter(|_| succeeded)
}

/// Reads a line of plain and quoted words; `None` for any other.
fn parse(command: &str) -> Option<Line> {
    let mut words = words(command.trim())?.into_iter();
    if words.next()? != "sed" {
        return None;
    }
    let (mut options, mut in_place, mut rest) = (Vec::new(), false, Vec::new());
    for word in words {
        match word.as_str() {
            "-i" | "--in-place" => in_place = true,
            "-E" | "-r" | "-n" | "-z" | "-s" => options.push(word),
            option if option.starts_with('-') => return None,
            _ => rest.push(word),
        }
    }
    let [script, file] = <[String; 2]>::try_from(rest).ok()?;
    in_place.then_some(Line { options, script, file })
}

/// The words of a line, if each is plain or in one kind of quotes that nothing is expanded in.
fn words(line: &str) -> Option<Vec<String>> {
    let mut words = Vec::new();
    let mut rest = line;
    while !rest.is_empty() {
        let (word, after) = if let Some(quoted) = rest.strip_prefix('\'') {
            quoted.split_once('\'')?
        } else if let Some(quoted) = rest.strip_prefix('"') {
            let (word, after) = quoted.split_once('"')?;
            (!word.contains(['$', '`', '\\', '!'])).then_some((word, after))?
        } else {
            let end = rest.find(' ').unwrap_or(rest.len());
            let word = rest.get(..end)?;
            let plain = |c: char| c.is_ascii_alphanumeric() || "_-./,:=%+@".contains(c);
            (word.chars().all(plain) && !word.is_empty()).then_some((word, rest.get(end..)?))?
        };
        if !(after.is_empty() || after.starts_with(' ')) {
            return None;
        }
        words.push(word.to_owned());
        rest = after.trim_start_matches(' ');
    }
    Some(words)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::tools::Tool;
    use crate::tools::bash::Bash;
    use crate::tools::testing::{Scratch, assert_error, assert_ok};
    use serde_json::json;

    #[test]
    fn only_plain_lines_are_taken_on() {
        let line = |options: &[&str], script: &str, file: &str| {
            let options = options.iter().map(|&option| option.to_owned()).collect();
            Some(Line { options, script: script.to_owned(), file: file.to_owned() })
        };
        assert_eq!(parse("sed -i 's/a/b/' f"), line(&[], "s/a/b/", "f"));
        assert_eq!(parse("sed -n -i -E \"s/a b/c/p\"  src/f.rs"), line(&["-n", "-E"], "s/a b/c/p", "src/f.rs"));
        for other in [
            "sed 's/a/b/' f",
            "sed -i.bak 's/a/b/' f",
            "sed -i 's/a/b/' f g",
            "sed -i 's/a/b/'",
            "sed -i 's/a/b/' f; rm x",
            "sed -i 's/a/b/' $f",
            "sed -i \"s/a/$b/\" f",
            "sed -i 's/a/b/' *.rs",
            "sed -i 's/a/b/'x f",
            "sed -i 's/a/b/' f > g",
            "sed -i s/a/b\\ c/ f",
            "sed -i -f script f",
            "sed --expression=x -i f g",
            "/bin/sed -i 's/a/b/' f",
            "sed -i 's/a/b f",
            "",
        ] {
            assert_eq!(parse(other), None, "{other}");
        }
    }

    fn sed(script: &str) -> Value {
        json!({"command": format!("sed -i '{script}' f")})
    }

    /// Row B07: the permission layer's field edits the file, and nothing is spawned; one that a model sends is refused.
    #[tokio::test]
    async fn an_injected_edit_is_written_and_a_sent_one_refused() {
        let scratch = Scratch::new();
        let context = scratch.context();
        scratch.write("f", "one\ntwo\n");
        let simulated = simulate(&sed("s/two/2/"), &context).await.unwrap();
        assert_eq!(
            simulated.preview,
            Preview::Diff { diff: "--- a/f\n+++ b/f\n@@ -1,2 +1,2 @@\n one\n-two\n+2\n".into() }
        );
        assert_eq!(scratch.read("f"), b"one\ntwo\n", "only shown so far");
        assert!(Bash::default().validate(&simulated.input, &context).unwrap_err().contains(FIELD));
        let mut injected = simulated.input.clone();
        // No command at all would do that.
        injected["command"] = json!("false");
        let output = Bash::default().call(injected, context.clone()).await;
        assert_eq!(
            (assert_ok(&output).as_str(), scratch.read("f").as_slice()),
            ("(no output)", b"one\n2\n".as_slice())
        );
        assert!(output.file_change.is_some_and(|change| change.checkpoint.is_some()));
        // The file is another one now.
        let again = Bash::default().call(simulated.input, context).await;
        assert!(assert_error(&again).contains("has changed since the person was asked"));
        assert_eq!(scratch.read("f"), b"one\n2\n");
    }

    #[tokio::test]
    async fn what_changes_nothing_or_fails_is_no_edit() {
        let scratch = Scratch::new();
        scratch.write("f", "one\n");
        for script in ["s/two/2/", "s/one", "q5"] {
            assert!(simulate(&sed(script), &scratch.context()).await.is_none(), "{script}");
        }
        scratch.write("f", b"\xff\xfe");
        assert!(simulate(&sed("s/a/b/"), &scratch.context()).await.is_none());
    }
}
