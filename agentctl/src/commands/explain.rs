//! `agentctl explain`: what would be decided about a call, and why. It runs nothing and asks nobody.

use super::{folder, print, print_pretty};
use crate::args::Explain;
use crate::failure::{Failure, Outcome, code};
use crate::render::escape::one_line;
use crate::render::style::Style;
use crate::render::trace;
use crate::session_ref;
use crate::start::Target;
use crate::terminal;
use proto::methods::{PermissionExplain, PermissionExplainParams, Verdict};
use serde_json::{Map, Value, json};

/// Tools with the field that a plain text is, and what else their input must hold.
const PLAIN: [(&str, &str, &[&str]); 10] = [
    ("Bash", "command", &[]),
    ("Read", "file_path", &[]),
    ("Edit", "file_path", &["old_string", "new_string"]),
    ("Write", "file_path", &["content"]),
    ("Glob", "pattern", &[]),
    ("Grep", "pattern", &[]),
    ("WebFetch", "url", &["prompt"]),
    ("WebSearch", "query", &[]),
    ("Skill", "skill", &[]),
    ("ExitPlanMode", "plan", &[]),
];

/// Runs the command.
pub fn run(args: Explain, target: &Target) -> Outcome {
    let input = input(&args.tool, &args.input.join(" "))?;
    let mut connection = target.connect()?;
    let session = args.session.as_deref().map(|reference| session_ref::resolve(&mut connection, reference));
    let session_id = session.transpose()?.map(|session| session.id);
    let cwd = if session_id.is_none() { Some(folder(args.cwd.as_deref())?) } else { None };
    let params = PermissionExplainParams { session_id, cwd, mode: args.mode, tool: args.tool, input };
    let explained = connection.call::<PermissionExplain>(params)?;
    if args.json {
        print_pretty(&explained)?;
    } else {
        let style = Style { colour: terminal::stdout_is_terminal() && terminal::wants_colour() };
        trace::lines(&explained, style).iter().try_for_each(|line| print(line))?;
    }
    Ok(match explained.decision {
        Verdict::Allow => 0,
        Verdict::Deny => code::DENIED,
        Verdict::Ask => code::WOULD_ASK,
    })
}

/// Whether a word names a tool whose input can be told as a text or as JSON.
pub fn is_tool(word: &str) -> bool {
    word.starts_with("mcp__") || PLAIN.iter().any(|(name, ..)| *name == word)
}

/// A tool's input from what a person typed: JSON, or the one text that matters.
pub fn input(tool: &str, typed: &str) -> Result<Value, Failure> {
    let typed = typed.trim();
    let meant = PLAIN.iter().find(|(name, ..)| *name != tool && name.eq_ignore_ascii_case(tool));
    if let Some((meant, ..)) = meant {
        return Err(Failure::usage(format!("no such tool: {}. Did you mean {meant}?", one_line(tool))));
    }
    if typed.starts_with('{') {
        return match serde_json::from_str(typed) {
            Ok(input) => Ok(input),
            // a group of shell commands looks like an object
            Err(_) if tool == "Bash" => Ok(json!({ "command": typed })),
            Err(error) => Err(Failure::usage(format!("the input is not JSON: {error}"))),
        };
    }
    let Some((_, field, others)) = PLAIN.iter().find(|(name, ..)| *name == tool) else {
        return match typed {
            "" => Ok(json!({})),
            _ => Err(Failure::usage(format!("give the input of {tool} as a JSON object, such as '{{\"name\": 1}}'"))),
        };
    };
    if typed.is_empty() {
        return Err(Failure::usage(format!("say what {tool} would get as its {field}")));
    }
    let mut fields = Map::new();
    fields.insert((*field).to_owned(), json!(typed));
    fields.extend(others.iter().map(|other| ((*other).to_owned(), json!(""))));
    Ok(Value::Object(fields))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_tool_in_other_letters_is_named() {
        for tool in ["bash", "BASH"] {
            let said = input(tool, "ls").unwrap_err().message;
            assert_eq!(said, format!("no such tool: {tool}. Did you mean Bash?"));
        }
    }

    #[test]
    fn what_is_typed_becomes_the_tools_input() {
        let table = [
            ("Bash", "git status; rm x", json!({"command": "git status; rm x"})),
            ("Bash", "{ ls; rm x; }", json!({"command": "{ ls; rm x; }"})),
            ("Bash", "{\"command\": \"ls\", \"timeout\": 5}", json!({"command": "ls", "timeout": 5})),
            ("Edit", "src/x.rs", json!({"file_path": "src/x.rs", "old_string": "", "new_string": ""})),
            ("mcp__a__b", "{\"x\": 1}", json!({"x": 1})),
            ("mcp__a__b", "", json!({})),
        ];
        for (tool, typed, expected) in table {
            assert_eq!(input(tool, typed).unwrap(), expected, "{tool} {typed}");
        }
        for (tool, typed) in [("mcp__a__b", "x"), ("Bash", " "), ("Edit", "{x")] {
            assert_eq!(input(tool, typed).unwrap_err().code, code::USAGE, "{tool} {typed}");
        }
    }
}
