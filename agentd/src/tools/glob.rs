//! Glob: files by the pattern of their path, newest first. Only reads folders.

use super::input::{parse, schema};
use super::paths::{Place, locate, shown};
use super::search_walk;
use super::tool::{PromptOptions, Tool, ToolContext, ToolOutput, ToolVerdict};
use super::zones;
use crate::policy::Subject;
use crate::shell::Access;
use futures::future::BoxFuture;
use globset::{GlobBuilder, GlobMatcher};
use proto::event::ToolKind;
use schemars::JsonSchema;
use serde::Deserialize;
use serde_json::Value;
use std::path::PathBuf;
use std::time::SystemTime;

const MAX_RESULTS: usize = 100;

#[derive(Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
struct Input {
    /// The pattern, such as `**/*.rs` or `src/{a,b}/*.ts`. `*` stays within a folder, `**` crosses folders.
    pattern: String,
    /// The folder to search (the session's folder if absent).
    path: Option<String>,
}

/// The tool.
pub(super) struct Glob;

impl Tool for Glob {
    fn name(&self) -> &str {
        "Glob"
    }

    fn prompt(&self, _options: &PromptOptions) -> String {
        format!(
            "Finds files whose path matches a pattern, such as `**/*.rs`. The newest come first, at most {MAX_RESULTS}. \
             Hidden and ignored files are included; the folders of version control systems are not."
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

    fn classifier_input(&self, input: &Value) -> String {
        self.title(input)
    }

    fn validate(&self, input: &Value, context: &ToolContext) -> Result<(), String> {
        Search::new(&parse(input)?, context).map(|_| ())
    }

    fn check_permission(&self, _input: &Value, _context: &ToolContext) -> ToolVerdict {
        zones::place_decides()
    }

    fn subject(&self, input: &Value, context: &ToolContext) -> Subject {
        zones::subject(
            parse(input).and_then(|input| Search::new(&input, context)).map(|search| search.root),
            Access::Read,
            true,
            context,
        )
    }

    fn title(&self, input: &Value) -> String {
        super::tool::title("Glob", input, "pattern")
    }

    fn call(&self, input: Value, context: ToolContext) -> BoxFuture<'_, ToolOutput> {
        Box::pin(super::tool::off_the_runtime(context.cancel.clone(), move || {
            let input: Input = parse(&input)?;
            Search::new(&input, &context)?.run(&context)
        }))
    }
}

struct Search {
    root: Place,
    /// The pattern below `root`.
    pattern: String,
    matcher: GlobMatcher,
}

impl Search {
    fn new(input: &Input, context: &ToolContext) -> Result<Self, String> {
        let (fixed, pattern) = split_fixed(&input.pattern);
        let base = input.path.as_deref().unwrap_or(".");
        let start = if fixed.is_empty() { base.to_owned() } else { format!("{}/{fixed}", base.trim_end_matches('/')) };
        let root = if fixed.starts_with('/') || fixed == "~" || fixed.starts_with("~/") { fixed } else { &start };
        let root = locate(root, context)?;
        let matcher = GlobBuilder::new(pattern)
            .literal_separator(true)
            .build()
            .map_err(|error| format!("the field `pattern` is not a valid pattern: {}", error.kind()))?
            .compile_matcher();
        Ok(Self { root, pattern: pattern.to_owned(), matcher })
    }

    fn run(&self, context: &ToolContext) -> Result<ToolOutput, String> {
        if !self.root.real.is_dir() {
            return Err(format!(
                "{} is not a folder; give the `path` of one that exists",
                shown(&self.root.path, context)
            ));
        }
        let mut found: Vec<(SystemTime, PathBuf)> = Vec::new();
        search_walk::for_each_file(&search_walk::builder(&self.root.real, false), &self.root, context, |path| {
            let relative = path.strip_prefix(&self.root.real).unwrap_or(path);
            if self.matcher.is_match(relative) {
                let modified = std::fs::metadata(path).and_then(|m| m.modified()).unwrap_or(SystemTime::UNIX_EPOCH);
                found.push((modified, relative.to_owned()));
            }
            Ok(true)
        })?;
        found.sort_by(|(a_time, a), (b_time, b)| b_time.cmp(a_time).then_with(|| a.cmp(b)));
        Ok(self.output(&found, context))
    }

    fn output(&self, found: &[(SystemTime, PathBuf)], context: &ToolContext) -> ToolOutput {
        if found.is_empty() {
            let hint = if self.pattern.contains('/') {
                String::new()
            } else {
                format!("; to search the folders below too, use `**/{}`", self.pattern)
            };
            return ToolOutput::text(format!("No file matches{hint}."), "no files");
        }
        let lines = found.iter().take(MAX_RESULTS).map(|(_, path)| shown(&self.root.path.join(path), context));
        let mut text = lines.collect::<Vec<_>>().join("\n");
        if found.len() > MAX_RESULTS {
            text.push_str(&format!("\n\n[{MAX_RESULTS} of {} files; use a narrower pattern or path]", found.len()));
        }
        let summary = format!("{} file{}", found.len(), if found.len() == 1 { "" } else { "s" });
        ToolOutput::text(text, summary)
    }
}

/// The folders at the start of a pattern that hold no wildcard, and the rest: only what is below them needs
/// to be searched.
fn split_fixed(pattern: &str) -> (&str, &str) {
    let special = pattern.find(['*', '?', '[', '{', '\\']).unwrap_or(pattern.len());
    match pattern.get(..special).and_then(|fixed| fixed.rfind('/')) {
        Some(0) => ("/", pattern.get(1..).unwrap_or_default()),
        Some(at) => (pattern.get(..at).unwrap_or_default(), pattern.get(at + 1..).unwrap_or_default()),
        None => ("", pattern),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::policy::Verdict;
    use crate::tools::testing::{Scratch, assert_error, assert_ok, decided};
    use serde_json::json;
    use std::fs::File;
    use std::time::Duration;

    /// Each file is older than the one before.
    fn tree(names: &[&str]) -> Scratch {
        let scratch = Scratch::new();
        for (age, name) in names.iter().enumerate() {
            let path = scratch.write(name, "");
            let time = SystemTime::UNIX_EPOCH + Duration::from_secs(1_000_000 - age as u64);
            File::open(path).unwrap().set_modified(time).unwrap();
        }
        scratch
    }

    #[test]
    fn patterns() {
        let scratch =
            tree(&["z.rs", "src/a.rs", "src/deep/b.rs", "src/c.ts", ".hidden/d.rs", ".git/e.rs", "ignored/f.rs"]);
        scratch.write(".gitignore", "ignored\n");
        let absolute = format!("{}/**/*.ts", scratch.path("src").display());
        for (input, expected) in [
            (json!({"pattern": "**/*.rs"}), "z.rs\nsrc/a.rs\nsrc/deep/b.rs\n.hidden/d.rs\nignored/f.rs"),
            (json!({"pattern": "*.rs"}), "z.rs"),
            (json!({"pattern": "src/*.rs"}), "src/a.rs"),
            (json!({"pattern": "*.rs", "path": "src"}), "src/a.rs"),
            (json!({"pattern": "src/**/*.{rs,ts}"}), "src/a.rs\nsrc/deep/b.rs\nsrc/c.ts"),
            (json!({"pattern": "src/a.rs"}), "src/a.rs"),
            (json!({"pattern": "./src/[ab].rs"}), "src/a.rs"),
            (json!({"pattern": absolute}), "src/c.ts"),
            (json!({"pattern": "*.ts"}), "No file matches; to search the folders below too, use `**/*.ts`."),
        ] {
            assert_eq!(assert_ok(&scratch.run(&Glob, input.clone())), expected, "{input}");
        }
    }

    #[test]
    fn home_is_known_by_its_sign() {
        let scratch = tree(&["a"]);
        let home = crate::base::paths::home(&scratch.context().env);
        for pattern in ["~/*.none", "~/**/*.none"] {
            let search = Search::new(&Input { pattern: pattern.to_owned(), path: None }, &scratch.context()).unwrap();
            assert_eq!(search.root.path, home.join(""), "{pattern}");
        }
    }

    #[test]
    fn mistakes_are_explained() {
        let scratch = tree(&["a"]);
        assert!(
            assert_error(&scratch.run(&Glob, json!({"pattern": "a[", "path": "."}))).contains("not a valid pattern")
        );
        assert!(assert_error(&scratch.run(&Glob, json!({"pattern": "*", "path": "none"}))).contains("is not a folder"));
        assert!(assert_error(&scratch.run(&Glob, json!({"pattern": "*", "path": "a"}))).contains("is not a folder"));
    }

    #[test]
    fn a_hundred_at_most() {
        let names: Vec<String> = (0..101).map(|number| format!("{number:03}")).collect();
        let scratch = tree(&names.iter().map(String::as_str).collect::<Vec<_>>());
        let output = scratch.run(&Glob, json!({"pattern": "*"}));
        let text = assert_ok(&output);
        assert!(
            text.starts_with("000\n001\n")
                && text.ends_with("099\n\n[100 of 101 files; use a narrower pattern or path]")
        );
        assert_eq!(output.summary, "101 files");
    }

    #[test]
    fn outside_asks_and_a_cancelled_search_says_so() {
        let scratch = tree(&["a"]);
        let context = scratch.context();
        for (input, allowed) in [
            (json!({"pattern": "*"}), true),
            (json!({"pattern": "/etc/*"}), true),
            (json!({"pattern": "/home/*"}), false),
            (json!({"pattern": "../**"}), false),
            (json!({"pattern": "*", "path": "/"}), false),
        ] {
            assert_eq!(decided(&Glob, &input, &context).verdict == Verdict::Allow, allowed, "{input}");
        }
        scratch.cancel.cancel();
        assert!(assert_error(&scratch.run(&Glob, json!({"pattern": "*"}))).contains("cancelled"));
    }
}
