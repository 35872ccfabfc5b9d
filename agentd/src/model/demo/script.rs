//! What the demonstration says and does next. Pure: the past in, the next answer out.

use super::past::{Done, Past};
use crate::base::text;
use serde_json::{Value, json};
use std::ops::Range;
use std::time::Duration;

/// The pause before each number of the slow answer.
pub(super) const COUNT_PAUSE: Duration = Duration::from_millis(500);

const FOLDER: &str = "agentd-tour";
const NOTES: &str = "agentd-tour/notes.txt";
const TODO: &str = "[ ] watch an agent edit a file";
const DONE: &str = "[x] watch an agent edit a file";
const NOTES_TEXT: &str = "Notes of the tour\n\n[ ] watch an agent edit a file\nSessions outlive their clients.\nNothing that changes the world runs unasked.\n";
/// What the `edit` prompt writes at the end of a line, or takes away if it is there.
const MARK: &str = " (edited by demo/guide)";

/// An answer of the model.
#[derive(Debug, Default)]
pub(super) struct Answer {
    /// What it says.
    pub(super) text: String,
    /// Numbers that follow the text slowly.
    pub(super) count: Range<u32>,
    /// Tools that it then calls.
    pub(super) calls: Vec<(&'static str, Value)>,
}

fn say(text: impl Into<String>) -> Answer {
    Answer { text: text.into(), ..Answer::default() }
}

fn call(text: impl Into<String>, tool: &'static str, input: Value) -> Answer {
    Answer { text: text.into(), calls: vec![(tool, input)], ..Answer::default() }
}

/// The next answer.
pub(super) fn answer(past: &Past) -> Answer {
    let prompt = past.prompt.to_lowercase();
    let words: Vec<&str> = prompt.split(|c: char| !(c.is_alphanumeric() || matches!(c, '-' | '_' | '/'))).collect();
    let has = |word: &str| words.contains(&word);
    if has("tour") || has("edit") {
        let Some(folder) = &past.folder else {
            return say(
                "I am a demonstration, and I can't tell which folder this session works in, so I leave its files alone.",
            );
        };
        return if has("tour") { tour(past, folder) } else { edit(past, &path(folder, &past.prompt)) };
    }
    if has("count") || has("slow") || has("slowly") {
        let text = "I count to 30, two numbers a second. Cancel me at any time, in `agentctl chat` with Ctrl-C.\n\n";
        return Answer { count: 1..31, ..say(text) };
    }
    say(guide(&past.prompt))
}

fn guide(prompt: &str) -> String {
    format!(
        "This is a demonstration: `demo/guide` is built into agentd, needs no network and is not a language model, \
         so I can't really answer \"{}\".\n\n\
         What I can show you, with the real tools:\n\
         - `take the tour`: I write, find, read, search and edit a file in ./{FOLDER}, and run a command; you are asked before anything changes\n\
         - `edit {NOTES}`: one small edit, with your permission\n\
         - `count slowly`: a long answer, to try cancelling\n\n\
         To work with a real model, do one of these and start a new session:\n\
         - set ANTHROPIC_API_KEY or OPENAI_API_KEY\n\
         - start a local server: Ollama, LM Studio or llama.cpp are found on their usual ports\n\
         - name a provider of your own in ~/.config/agentd/settings.json, under `providers`, and choose it as `model`\n\n\
         `agentctl models` lists what is there.",
        text::one_line(prompt, 80)
    )
}

/// The tour: one round after the other, told apart by what was already called.
fn tour(past: &Past, folder: &str) -> Answer {
    let notes = format!("{folder}/{NOTES}");
    let Some(write) = past.last("Write") else {
        return call(
            format!(
                "Welcome to the tour. I am a demonstration, not a language model, but the tools are the real ones. \
                 I work in {folder}/{FOLDER} only.\n\nFirst I write a file. That changes something, so you are asked."
            ),
            "Write",
            json!({"file_path": notes, "content": NOTES_TEXT}),
        );
    };
    if write.denied() {
        return say(format!(
            "{}, so nothing was written, and the tour ends here. That is how it should be: I can't change anything unless you let me.",
            write.refusal("write a file")
        ));
    }
    let Some(read) = past.last("Read") else {
        let how = if write.failed && write.text.contains("not been read") {
            "The file is there already, from an earlier tour, and nobody may write over what they have not read. I have a look."
                .to_owned()
        } else if write.failed {
            format!("That did not work ({}). I have a look at what is there.", write.first_line())
        } else {
            "The file is there.".to_owned()
        };
        return look(&how, folder, &notes);
    };
    if read.failed && write.failed {
        return say(format!(
            "I could not write {notes} ({}), so the tour ends here. Start it in a folder that you may write to.",
            write.first_line()
        ));
    }
    if read.failed {
        return say(format!(
            "I could not read {notes} ({}), so the tour ends here. Remove {folder}/{FOLDER} and try again.",
            read.first_line()
        ));
    }
    let Some(edit) = past.last("Edit") else {
        return tour_edit(past, &read.text, notes);
    };
    match past.last("Bash") {
        None => call(
            if edit.failed {
                format!("{} Now a command.", no_edit(edit))
            } else {
                "Edited. Now a command, which counts the lines.".to_owned()
            },
            "Bash",
            json!({"command": format!("wc -l {NOTES}"), "description": "Count the lines of the notes"}),
        ),
        Some(bash) => say(farewell(past, edit, bash, folder)),
    }
}

fn look(how: &str, folder: &str, notes: &str) -> Answer {
    Answer {
        text: format!("{how} Finding, reading and searching only look, so nobody is asked, and they run side by side."),
        calls: vec![
            ("Glob", json!({"pattern": "**/*.txt", "path": format!("{folder}/{FOLDER}")})),
            ("Read", json!({"file_path": notes})),
            ("Grep", json!({"pattern": "agent", "path": format!("{folder}/{FOLDER}"), "output_mode": "content"})),
        ],
        ..Answer::default()
    }
}

fn tour_edit(past: &Past, read: &str, notes: String) -> Answer {
    // A second tour finds the first one's edit and takes it back.
    let (old, new) = if read.contains(TODO) { (TODO, DONE) } else { (DONE, TODO) };
    let found = past.last("Grep").map_or("nothing", Done::first_line);
    call(
        format!(
            "The search says: {}\n\nNow I edit one line. You are asked again, and see what would change.",
            text::one_line(found, 120)
        ),
        "Edit",
        json!({"file_path": notes, "old_string": old, "new_string": new}),
    )
}

fn no_edit(edit: &Done) -> String {
    if edit.denied() {
        format!("{}, so the file is as it was.", edit.refusal("edit the file"))
    } else {
        format!("The edit did not work: {}.", text::one_line(edit.first_line(), 200))
    }
}

fn farewell(past: &Past, edit: &Done, bash: &Done, folder: &str) -> String {
    let edited = if edit.failed { no_edit(edit) } else { format!("In {NOTES} the first box is changed.") };
    let counted = if bash.denied() {
        format!("{}, so the command did not run.", bash.refusal("run the command"))
    } else if bash.failed {
        format!("The command failed: {}.", text::one_line(bash.first_line(), 200))
    } else {
        format!("`wc -l` says: {}", text::one_line(&bash.text, 120))
    };
    let found = past.last("Glob").filter(|glob| !glob.failed).map_or("", Done::first_line);
    let found = if found.is_empty() { String::new() } else { format!("I found {}. ", text::one_line(found, 200)) };
    format!(
        "That was the tour. {found}{edited} {counted}\n\n\
         Everything is in this session's log: leave with /quit, come back with `agentctl chat --continue`, and it is all still there. \
         Remove {folder}/{FOLDER} when you like. For a real model, set ANTHROPIC_API_KEY or OPENAI_API_KEY, or start a local server."
    )
}

/// The file that a prompt names, made absolute.
fn path(folder: &str, prompt: &str) -> String {
    let word = prompt
        .split_whitespace()
        .map(|word| word.trim_matches(|c: char| "`'\"()[]<>,;:!?".contains(c)).trim_end_matches('.'))
        .find(|word| word.contains('/') || word.trim_start_matches('.').contains('.'));
    match word {
        Some(absolute) if absolute.starts_with('/') => absolute.to_owned(),
        Some(relative) => format!("{folder}/{}", relative.trim_start_matches("./")),
        None => format!("{folder}/{NOTES}"),
    }
}

/// The `edit` prompt: read the file, or write it first where there is none, then change one line.
fn edit(past: &Past, file: &str) -> Answer {
    if let Some(edit) = past.last("Edit") {
        return say(if edit.failed {
            no_edit(edit)
        } else {
            format!("Done: I changed one line of {file}. I am only a demonstration; ask me again and I take it back.")
        });
    }
    let read = || json!({"file_path": file});
    match (past.last("Read"), past.last("Write"), past.calls.last()) {
        (None, _, _) => call(format!("I am a demonstration. I read {file} first; an edit needs that."), "Read", read()),
        (_, Some(write), Some(last)) if last.tool == "Write" => {
            if write.denied() {
                say(format!("{}, so {file} was not written.", write.refusal("write it")))
            } else if write.failed {
                say(format!("I could not write {file}: {}.", text::one_line(write.first_line(), 200)))
            } else {
                call("Written. I read it back.", "Read", read())
            }
        }
        (Some(done), write, _) if done.failed => {
            if write.is_some() || done.denied() {
                return say(format!("I could not read {file}: {}.", text::one_line(done.first_line(), 200)));
            }
            call(
                "There is no such file yet, so I write one. You are asked.",
                "Write",
                json!({"file_path": file, "content": NOTES_TEXT}),
            )
        }
        (Some(done), _, _) => change(file, &done.text),
    }
}

fn change(file: &str, shown: &str) -> Answer {
    let Some(line) = unique_line(shown) else {
        return say(format!("I found no line in {file} that I could change without doubt, so I leave it as it is."));
    };
    let new = line.strip_suffix(MARK).map_or_else(|| format!("{line}{MARK}"), str::to_owned);
    call(
        "Now one small edit. You are asked, and see what would change.",
        "Edit",
        json!({"file_path": file, "old_string": line, "new_string": new}),
    )
}

/// The first line of a file, as Read shows it with numbers, that stands in it only once.
fn unique_line(shown: &str) -> Option<&str> {
    let lines: Vec<&str> = shown.lines().filter_map(without_number).collect();
    let whole = lines.join("\n");
    lines.into_iter().find(|line| !line.trim().is_empty() && whole.matches(line).count() == 1)
}

/// `     7→text` or `7\ttext` without its number; none for a line that has none, such as a note below the file.
fn without_number(line: &str) -> Option<&str> {
    let rest = line.trim_start().trim_start_matches(|c: char| c.is_ascii_digit());
    if rest.len() == line.trim_start().len() {
        return None;
    }
    rest.strip_prefix('→').or_else(|| rest.strip_prefix('\t')).or_else(|| rest.strip_prefix(": "))
}
