//! Edit: one replacement in a file that was read. Changes no other byte of it, and leaves the old file if
//! the new one can't be written.

use super::checkpoint;
use super::diff;
use super::edit_text::{self, Edited, Refusal};
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
use std::ops::RangeInclusive;

#[derive(Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
struct Input {
    /// The file: absolute, or relative to the session's folder.
    file_path: String,
    /// The text to replace, exactly as it is in the file, without line numbers. Empty to make a new file.
    old_string: String,
    /// The text to put in its place.
    new_string: String,
    /// Replace every occurrence (false if absent).
    replace_all: Option<bool>,
}

/// The tool.
pub(super) struct Edit;

/// What a call would do.
struct Plan {
    place: Place,
    name: String,
    bytes: Vec<u8>,
    change: Change,
}

enum Change {
    New { text: String },
    Existing { loaded: Box<Loaded>, before: String, edited: Edited, knows_all: bool },
}

impl Plan {
    fn diff(&self) -> String {
        match &self.change {
            Change::New { text } => diff::unified(&self.name, None, text),
            Change::Existing { before, edited, .. } => diff::unified(&self.name, Some(before), &edited.text),
        }
    }

    fn before(&self) -> Option<&Loaded> {
        match &self.change {
            Change::New { .. } => None,
            Change::Existing { loaded, .. } => Some(loaded),
        }
    }
}

impl Tool for Edit {
    fn name(&self) -> &str {
        "Edit"
    }

    fn prompt(&self, _options: &PromptOptions) -> String {
        "Replaces a text in a file by another. The file must have been read before (at least the lines that change) \
         and must not have changed since. old_string must be in the file exactly once, white space included: take in \
         more of the lines around it to make it unique, or set replace_all. The file's line ends, encoding and mode \
         are kept. With an empty old_string a new file is made."
            .to_owned()
    }

    fn input_schema(&self) -> Value {
        schema::<Input>()
    }

    fn kind(&self) -> ToolKind {
        ToolKind::Edit
    }

    fn validate(&self, input: &Value, context: &ToolContext) -> Result<(), String> {
        plan(&parse(input)?, context).map(|_| ())
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
        let text = input.get("new_string").and_then(Value::as_str).unwrap_or_default();
        format!("{}: {text}", self.title(input))
    }

    fn title(&self, input: &Value) -> String {
        super::tool::title("Edit", input, "file_path")
    }

    fn preview(&self, input: &Value, context: &ToolContext) -> Option<Preview> {
        let plan = plan(&parse(input).ok()?, context).ok()?;
        Some(Preview::Diff { diff: plan.diff() })
    }

    fn call(&self, input: Value, context: ToolContext) -> BoxFuture<'_, ToolOutput> {
        Box::pin(super::tool::off_the_runtime(context.cancel.clone(), move || {
            edit(plan(&parse(&input)?, &context)?, &context)
        }))
    }
}

fn plan(input: &Input, context: &ToolContext) -> Result<Plan, String> {
    if input.old_string == input.new_string {
        return Err("`new_string` is the same as `old_string`; give a text that differs".to_owned());
    }
    let place = locate(&input.file_path, context)?;
    let loaded = text_file::load_if_exists(&place.real)?;
    let name = shown(&place.path, context);
    match loaded {
        None if input.old_string.is_empty() => {
            let text = input.new_string.clone();
            Ok(Plan { place, name, bytes: text.clone().into_bytes(), change: Change::New { text } })
        }
        None => Err(format!("{name} does not exist; find it with Glob, or give an empty `old_string` to make it")),
        Some(_) if input.old_string.is_empty() => Err(format!(
            "{name} exists already, so `old_string` can't be empty; give the text to replace, or use Write to replace all of it"
        )),
        Some(loaded) => plan_change(input, place, loaded, context),
    }
}

fn plan_change(input: &Input, place: Place, loaded: Loaded, context: &ToolContext) -> Result<Plan, String> {
    let name = shown(&place.path, context);
    let Some(old) = text_file::decode(&loaded.bytes) else {
        return Err(format!("{name} is a binary file; change it with a command in Bash"));
    };
    if loaded.is_read_only() {
        return Err(text_file::read_only(&name));
    }
    let knowledge = context.files.knowledge(&place.real, &loaded.bytes);
    let seen = match &knowledge {
        Knowledge::Unread => return Err(format!("{name} has not been read yet; Read it first")),
        Knowledge::Changed => return Err(format!("{name} has changed since it was read; Read it again first")),
        Knowledge::Whole => None,
        Knowledge::Partial(lines) => Some(lines),
    };
    let all = input.replace_all.unwrap_or(false);
    let edited = edit_text::replace(&old.text, &input.old_string, &input.new_string, all)
        .map_err(|refusal| explain(&refusal, &name))?;
    if let Some(unseen) = seen.and_then(|seen| edited.places.iter().find(|place| !is_seen(place, seen))) {
        return Err(format!(
            "the text is in lines {} to {} of {name}, which have not been read; Read them first",
            unseen.start(),
            unseen.end()
        ));
    }
    let bytes = text_file::encode(&edited.text, old.encoding, old.bom)
        .map_err(|character| super::write::unencodable(&name, character))?;
    let change = Change::Existing { loaded: Box::new(loaded), before: old.text, edited, knows_all: seen.is_none() };
    Ok(Plan { place, name, bytes, change })
}

fn is_seen(place: &RangeInclusive<u64>, seen: &[RangeInclusive<u64>]) -> bool {
    seen.iter().any(|range| range.contains(place.start()) && range.contains(place.end()))
}

fn explain(refusal: &Refusal, name: &str) -> String {
    match refusal {
        Refusal::NotFound => format!(
            "`old_string` is not in {name}; copy it exactly from the file, white space included and line numbers left out"
        ),
        Refusal::Ambiguous(lines) => {
            let first: Vec<String> = lines.iter().take(10).map(u64::to_string).collect();
            format!(
                "`old_string` is in {name} {} times (lines {}{}); add lines around it to make it unique, or set `replace_all`",
                lines.len(),
                first.join(", "),
                if lines.len() > first.len() { ", …" } else { "" }
            )
        }
    }
}

fn edit(plan: Plan, context: &ToolContext) -> Result<ToolOutput, String> {
    if context.cancel.is_cancelled() {
        return Err("the edit was cancelled; nothing was changed".to_owned());
    }
    let (name, diff, path) = (&plan.name, plan.diff(), &plan.place.real);
    let checkpoint = checkpoint::keep(&context.checkpoints_dir, plan.before(), &plan.bytes)?;
    let (text, summary) = match &plan.change {
        Change::New { .. } => {
            text_file::save(path, &plan.bytes, None)?;
            context.files.saw_whole(path, &plan.bytes);
            (format!("Created {name}."), "created".to_owned())
        }
        Change::Existing { loaded, edited, knows_all, .. } => {
            text_file::save(path, &plan.bytes, Some(loaded))?;
            if *knows_all {
                context.files.saw_whole(path, &plan.bytes);
            } else {
                let changes: Vec<(u64, i64)> =
                    edited.places.iter().map(|place| (*place.end(), edited.growth)).collect();
                context.files.edited(path, &loaded.bytes, &plan.bytes, &changes);
            }
            (told(name, edited), diff::counts(&diff))
        }
    };
    let file_change = Some(FileChange { path: plan.place.real, diff, checkpoint: Some(checkpoint) });
    Ok(ToolOutput { file_change, ..ToolOutput::text(text, summary) })
}

/// What the model is told of an edit.
fn told(name: &str, edited: &Edited) -> String {
    let count = edited.places.len();
    let lines: Vec<String> = edited.places.iter().take(10).map(|place| place.start().to_string()).collect();
    let (plural, more) = (if count == 1 { "" } else { "s" }, if count > lines.len() { ", …" } else { "" });
    format!("Edited {name}: {count} replacement{plural} (line {}{more}).", lines.join(", "))
}

#[cfg(test)]
mod tests;
