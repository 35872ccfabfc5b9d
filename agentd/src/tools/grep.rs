//! Grep: lines by a regular expression, on ripgrep's own crates. Only reads.

use super::input::{parse, schema};
use super::paths::{Place, locate};
use super::tool::{PromptOptions, Tool, ToolContext, ToolOutput, ToolVerdict};
use super::zones;
use crate::policy::Subject;
use crate::shell::Access;
use futures::future::BoxFuture;
use proto::event::ToolKind;
use schemars::JsonSchema;
use serde::Deserialize;
use serde_json::Value;

mod output;
mod search;

/// Lines or entries without a `head_limit`.
const DEFAULT_LIMIT: u64 = 250;

#[derive(Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
struct Input {
    /// The regular expression, in Rust's syntax (as ripgrep): literal braces need a backslash.
    pattern: String,
    /// The file or folder to search (the session's folder if absent).
    path: Option<String>,
    /// Only files whose path matches this pattern, such as `*.rs` or `src/**/*.{ts,tsx}`; `!` before it leaves them out.
    glob: Option<String>,
    /// Only files of this type, such as `rust`, `py` or `js`.
    #[serde(rename = "type")]
    file_type: Option<String>,
    /// What to show: matching lines, paths of files with a match (if absent), or how many matches each file has.
    output_mode: Option<OutputMode>,
    /// Lines to show after each match (output_mode content).
    #[serde(rename = "-A")]
    after: Option<u64>,
    /// Lines to show before each match (output_mode content).
    #[serde(rename = "-B")]
    before: Option<u64>,
    /// Lines to show before and after each match (output_mode content).
    #[serde(rename = "-C")]
    around: Option<u64>,
    /// The same as -C.
    context: Option<u64>,
    /// Show line numbers (output_mode content; true if absent).
    #[serde(rename = "-n")]
    numbers: Option<bool>,
    /// Ignore letter case.
    #[serde(rename = "-i")]
    ignore_case: Option<bool>,
    /// Show only the matching parts of lines (output_mode content).
    #[serde(rename = "-o")]
    only_matching: Option<bool>,
    /// How many lines or entries to show at most (250 if absent; 0 for all).
    head_limit: Option<u64>,
    /// How many lines or entries to skip first.
    offset: Option<u64>,
    /// Let the expression match across lines, with `.` matching line ends too.
    multiline: Option<bool>,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
enum OutputMode {
    /// Matching lines.
    Content,
    /// Paths of files with a match.
    FilesWithMatches,
    /// How many matches each file has.
    Count,
}

impl Input {
    fn mode(&self) -> OutputMode {
        self.output_mode.unwrap_or(OutputMode::FilesWithMatches)
    }

    fn root(&self, context: &ToolContext) -> Result<Place, String> {
        locate(self.path.as_deref().unwrap_or("."), context)
    }
}

/// The tool.
pub(super) struct Grep;

impl Tool for Grep {
    fn name(&self) -> &str {
        "Grep"
    }

    fn prompt(&self, _options: &PromptOptions) -> String {
        "Searches the contents of files for a regular expression, as ripgrep does. Hidden files are included; files \
         that .gitignore names, binary files and the folders of version control systems are not. Results are sorted by \
         path. Use it rather than grep or rg in Bash."
            .to_owned()
    }

    fn input_schema(&self) -> Value {
        schema::<Input>()
    }

    fn kind(&self) -> ToolKind {
        ToolKind::Search
    }

    fn read_only(&self, _input: &Value) -> bool {
        true
    }

    fn concurrency_safe(&self, _input: &Value) -> bool {
        true
    }

    fn blocks_interrupt(&self, _input: &Value) -> bool {
        false
    }

    fn classifier_input(&self, input: &Value) -> String {
        self.title(input)
    }

    fn validate(&self, input: &Value, context: &ToolContext) -> Result<(), String> {
        let input: Input = parse(input)?;
        let root = input.root(context)?;
        search::matcher(&input)?;
        search::walk(&input, &root).map(|_| ())
    }

    fn check_permission(&self, _input: &Value, _context: &ToolContext) -> ToolVerdict {
        zones::place_decides()
    }

    fn subject(&self, input: &Value, context: &ToolContext) -> Subject {
        zones::subject(parse::<Input>(input).and_then(|input| input.root(context)), Access::Read, true, context)
    }

    fn title(&self, input: &Value) -> String {
        super::tool::title("Grep", input, "pattern")
    }

    fn call(&self, input: Value, context: ToolContext) -> BoxFuture<'_, ToolOutput> {
        Box::pin(super::tool::off_the_runtime(context.cancel.clone(), move || {
            let input: Input = parse(&input)?;
            search::run(&input, &context)
        }))
    }
}

#[cfg(test)]
mod tests;
