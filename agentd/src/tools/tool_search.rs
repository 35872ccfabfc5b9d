//! ToolSearch: finds tools that the model was not told of yet. Made by the session's toolset for the tools of a turn; what
//! it found goes to the session's log as `discovered`, and from there into the model's next request. Only reads.

use super::input::{parse, schema};
use super::registry::{Registered, Registry};
use super::tool::{PromptOptions, Tool, ToolContext, ToolOutput, ToolVerdict};
use crate::base::text::one_line;
use futures::future::BoxFuture;
use proto::event::ToolKind;
use schemars::JsonSchema;
use serde::Deserialize;
use serde_json::{Value, json};
use std::sync::Arc;

/// Its name.
pub const TOOL_SEARCH: &str = "ToolSearch";

const DEFAULT_RESULTS: usize = 5;
const SELECT: &str = "select:";

/// How much a word counts, by where it is found.
const IN_NAME: u32 = 10;
const INSIDE_NAME: u32 = 5;
const IN_HINT: u32 = 4;
const IN_TEXT: u32 = 2;

#[derive(Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
struct Input {
    /// `select:Name1,Name2` for tools by name, or words to look for; a word after `+` must be found.
    query: String,
    /// How many tools to give at most (5 if absent).
    #[schemars(range(min = 1))]
    max_results: Option<usize>,
}

/// The tool.
pub struct ToolSearch {
    deferred: Vec<Deferred>,
    /// Tools that the model can call without searching.
    loaded: Vec<String>,
}

/// A tool that can be found.
struct Deferred {
    entry: Arc<Registered>,
    name: String,
    description: String,
    /// The words of its name, in lower case.
    name_words: Vec<String>,
    /// Its hint and its text, in lower case.
    hint: String,
    text: String,
}

impl ToolSearch {
    /// For the deferred tools of a registry; `None` if it has none.
    #[must_use]
    pub fn over(tools: &Registry, options: &PromptOptions) -> Option<Self> {
        let (deferred, loaded): (Vec<_>, Vec<_>) = tools.entries().partition(|entry| entry.is_deferred());
        let deferred: Vec<Deferred> = deferred.into_iter().map(|entry| Deferred::new(entry, options)).collect();
        let loaded = loaded.iter().map(|entry| entry.tool().name().to_owned()).collect();
        (!deferred.is_empty()).then_some(Self { deferred, loaded })
    }

    fn find(&self, input: &Input) -> Found<'_> {
        match input.query.trim().strip_prefix(SELECT) {
            Some(names) => self.select(names),
            None => {
                let limit = input.max_results.unwrap_or(DEFAULT_RESULTS);
                Found { tools: self.look_for(&input.query, limit), remarks: Vec::new() }
            }
        }
    }

    fn select(&self, names: &str) -> Found<'_> {
        let mut found = Found { tools: Vec::new(), remarks: Vec::new() };
        for name in names.split(',').map(str::trim).filter(|name| !name.is_empty()) {
            match self.deferred.iter().find(|tool| tool.name == name) {
                Some(tool) if found.tools.iter().any(|known| known.name == tool.name) => {}
                Some(tool) => found.tools.push(tool),
                None if self.loaded.iter().any(|loaded| loaded == name) => {
                    found.remarks.push(format!("{name} needs no search: call it."));
                }
                None => found.remarks.push(format!("There is no tool {name}.")),
            }
        }
        found
    }

    /// The best first; of equals the first by name.
    fn look_for(&self, query: &str, limit: usize) -> Vec<&Deferred> {
        let query = query.to_lowercase();
        let words: Vec<(&str, bool)> = query
            .split(|c: char| c.is_whitespace() || c == ',')
            .map(|word| word.strip_prefix('+').map_or((word, false), |word| (word, true)))
            .filter(|(word, _)| !word.is_empty())
            .collect();
        let mut found: Vec<(u32, &Deferred)> = self
            .deferred
            .iter()
            .filter(|tool| words.iter().all(|(word, needed)| !needed || tool.weight(word) > 0))
            .map(|tool| (words.iter().map(|(word, _)| tool.weight(word)).sum(), tool))
            .filter(|(weight, _)| *weight > 0)
            .collect();
        found.sort_by_key(|(weight, _)| std::cmp::Reverse(*weight));
        found.into_iter().take(limit).map(|(_, tool)| tool).collect()
    }

    fn names(&self) -> String {
        self.deferred.iter().map(|tool| tool.name.as_str()).collect::<Vec<_>>().join(", ")
    }
}

/// What a search gave.
struct Found<'a> {
    tools: Vec<&'a Deferred>,
    remarks: Vec<String>,
}

impl Deferred {
    fn new(entry: &Arc<Registered>, options: &PromptOptions) -> Self {
        let (tool, description) = (entry.tool(), entry.tool().prompt(options));
        Self {
            name: tool.name().to_owned(),
            name_words: words_of(tool.name()),
            hint: tool.search_hint().to_lowercase(),
            text: description.to_lowercase(),
            description,
            entry: Arc::clone(entry),
        }
    }

    fn weight(&self, word: &str) -> u32 {
        let name = self.name.to_lowercase();
        let in_name = match () {
            () if name == word || self.name_words.iter().any(|own| own == word) => IN_NAME,
            () if name.contains(word) => INSIDE_NAME,
            () => 0,
        };
        let hinted = if self.hint.contains(word) { IN_HINT } else { 0 };
        let told = if self.text.contains(word) { IN_TEXT } else { 0 };
        in_name + hinted + told
    }
}

/// The words of a name such as `mcp__github__createIssue`, in lower case.
fn words_of(name: &str) -> Vec<String> {
    let mut words = vec![String::new()];
    let mut after_lower = false;
    for letter in name.chars() {
        let starts = !letter.is_alphanumeric() || (letter.is_uppercase() && after_lower);
        if starts {
            words.push(String::new());
        }
        if letter.is_alphanumeric()
            && let Some(word) = words.last_mut()
        {
            word.extend(letter.to_lowercase());
        }
        after_lower = letter.is_lowercase() || letter.is_ascii_digit();
    }
    words.retain(|word| !word.is_empty());
    words
}

impl Tool for ToolSearch {
    fn name(&self) -> &str {
        TOOL_SEARCH
    }

    fn prompt(&self, _options: &PromptOptions) -> String {
        format!(
            "Finds tools that you were not told of yet: until one was found by this, it can't be called. What is found \
             comes with its description and the schema of its input, and can be called from then on. The tools: {}.",
            self.names()
        )
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

    fn validate(&self, input: &Value, _context: &ToolContext) -> Result<(), String> {
        let input: Input = parse(input)?;
        let query = input.query.trim();
        if query.strip_prefix(SELECT).unwrap_or(query).trim().is_empty() {
            return Err("the field `query` is empty; give names after `select:`, or words to look for".to_owned());
        }
        Ok(())
    }

    fn check_permission(&self, _input: &Value, _context: &ToolContext) -> ToolVerdict {
        ToolVerdict::Allow { detail: "it only looks through the list of tools".to_owned() }
    }

    fn classifier_input(&self, input: &Value) -> String {
        self.title(input)
    }

    fn title(&self, input: &Value) -> String {
        super::tool::title(TOOL_SEARCH, input, "query")
    }

    fn call(&self, input: Value, _context: ToolContext) -> BoxFuture<'_, ToolOutput> {
        Box::pin(async move {
            match parse::<Input>(&input) {
                Ok(input) => self.report(&self.find(&input)),
                Err(message) => ToolOutput::error(message),
            }
        })
    }
}

impl ToolSearch {
    fn report(&self, found: &Found<'_>) -> ToolOutput {
        let mut parts = found.remarks.clone();
        if found.tools.is_empty() {
            parts.push(format!("No tool was found. The tools that can be found: {}.", self.names()));
        }
        let whole: Vec<String> = found.tools.iter().map(|tool| described(tool, &tool.description)).collect();
        // Schemas come with the next request too, so what is too long is told in brief.
        if whole.iter().map(String::len).sum::<usize>() <= self.max_result_chars() {
            parts.extend(whole);
        } else {
            parts.extend(found.tools.iter().map(|tool| format!("{}: {}", tool.name, one_line(&tool.description, 200))));
        }
        let count = found.tools.len();
        let summary = format!("{count} tool{}", if count == 1 { "" } else { "s" });
        ToolOutput {
            discovered: found.tools.iter().map(|tool| tool.name.clone()).collect(),
            ..ToolOutput::text(parts.join("\n"), summary)
        }
    }
}

fn described(tool: &Deferred, description: &str) -> String {
    json!({"name": tool.name, "description": description, "input_schema": tool.entry.schema()}).to_string()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::tools::testing::{Fake, Scratch, assert_error, text_of};

    fn search() -> ToolSearch {
        let fake = |name: &str, hint: &str, text: &str| {
            Fake { hint: hint.to_owned(), text: text.to_owned(), ..Fake::named(name) }.registered()
        };
        let loaded = Fake { always_load: true, ..Fake::named("mcp__git__status") }.registered();
        let (tools, _) = Registry::builtin().with([
            fake("mcp__git__createIssue", "bug report", "Opens an issue."),
            fake("mcp__git__list_issues", "", "Lists what is open."),
            fake("mcp__mail__send", "message letter", "Sends a letter about an issue."),
            loaded,
        ]);
        ToolSearch::over(&tools, &PromptOptions { model: "a/m".to_owned(), ..PromptOptions::default() }).unwrap()
    }

    fn found(query: &str, max_results: Option<u64>) -> Vec<String> {
        let input = json!({"query": query, "max_results": max_results});
        let output = Scratch::new().run(&search(), input);
        assert!(!output.is_error);
        output.discovered
    }

    #[test]
    fn tools_are_found_by_name_hint_and_text_the_best_first() {
        for (query, names) in [
            ("issue", &["mcp__git__createIssue", "mcp__git__list_issues", "mcp__mail__send"][..]),
            ("send", &["mcp__mail__send"]),
            ("bug", &["mcp__git__createIssue"]),
            ("issue +letter", &["mcp__mail__send"]),
            ("+git +issue", &["mcp__git__createIssue", "mcp__git__list_issues"]),
            ("git", &["mcp__git__createIssue", "mcp__git__list_issues"]),
            ("mcp__mail__send", &["mcp__mail__send"]),
            ("quux", &[]),
            (
                "select:mcp__mail__send, mcp__git__list_issues,mcp__mail__send",
                &["mcp__mail__send", "mcp__git__list_issues"],
            ),
            ("select:Bash,absent", &[]),
        ] {
            assert_eq!(found(query, None), names, "{query}");
        }
        assert_eq!(found("issue", Some(1)), ["mcp__git__createIssue"]);
    }

    #[test]
    fn the_answer_tells_how_to_call_what_was_found() {
        let scratch = Scratch::new();
        let run = |query: &str| text_of(&scratch.run(&search(), json!({"query": query})));
        let told: Value = serde_json::from_str(&run("select:mcp__mail__send")).unwrap();
        assert_eq!(told["name"], "mcp__mail__send");
        assert!(told["description"].as_str().unwrap().contains("a letter"));
        assert_eq!(told["input_schema"]["required"], json!(["title"]));
        let remarks = run("select:Bash,absent");
        assert!(remarks.contains("Bash needs no search") && remarks.contains("There is no tool absent"), "{remarks}");
        assert!(remarks.contains("mcp__git__createIssue"), "{remarks}");
    }

    #[test]
    fn the_text_names_what_can_be_found_and_an_empty_query_is_refused() {
        let prompt = search().prompt(&PromptOptions::default());
        assert!(prompt.contains("mcp__git__createIssue, mcp__git__list_issues, mcp__mail__send."), "{prompt}");
        assert!(!prompt.contains("mcp__git__status"), "it is loaded");
        for query in ["", " ", "select:", "select: "] {
            assert!(assert_error(&Scratch::new().run(&search(), json!({"query": query}))).contains("`query` is empty"));
        }
        assert!(ToolSearch::over(&Registry::builtin(), &PromptOptions::default()).is_none());
    }

    #[test]
    fn names_are_taken_apart() {
        assert_eq!(words_of("mcp__git__createIssue2"), ["mcp", "git", "create", "issue2"]);
        assert_eq!(words_of("NotebookEdit"), ["notebook", "edit"]);
    }
}
