//! Grep's walk through the files and its search in each. Called by the tool alone.

use super::output::{Collector, Layout};
use super::{Input, OutputMode};
use crate::tools::paths::{Place, shown};
use crate::tools::search_walk;
use crate::tools::tool::{ToolContext, ToolOutput};
use grep_regex::{RegexMatcher, RegexMatcherBuilder};
use grep_searcher::{BinaryDetection, Searcher, SearcherBuilder};
use ignore::WalkBuilder;
use ignore::overrides::OverrideBuilder;
use ignore::types::TypesBuilder;
use std::fs::File;
use std::io;
use std::os::unix::fs::FileExt as _;
use std::path::Path;

/// The largest file that is held in memory, which a search across lines needs.
const MAX_MULTILINE_BYTES: usize = 64 << 20;

/// The compiled expression.
///
/// # Errors
/// It is not valid; the sentence shows where.
pub(super) fn matcher(input: &Input) -> Result<RegexMatcher, String> {
    let multiline = input.multiline.unwrap_or(false);
    let mut builder = RegexMatcherBuilder::new();
    builder.case_insensitive(input.ignore_case.unwrap_or(false)).multi_line(true).dot_matches_new_line(multiline);
    if !multiline {
        builder.line_terminator(Some(b'\n'));
    }
    builder.build(&input.pattern).map_err(|error| {
        let hint = if (input.pattern.contains("\\n") || input.pattern.contains('\n')) && !multiline {
            "; to match across lines, set `multiline`"
        } else {
            ""
        };
        format!("the field `pattern` is not a valid regular expression: {error}{hint}")
    })
}

/// The walk through the files that may match.
///
/// # Errors
/// The glob is not valid, or the type is unknown.
pub(super) fn walk(input: &Input, root: &Place) -> Result<WalkBuilder, String> {
    let mut builder = search_walk::builder(&root.real, true);
    if let Some(globs) = &input.glob {
        let mut overrides = OverrideBuilder::new(&root.real);
        for glob in split_globs(globs) {
            overrides.add(glob).map_err(|error| format!("the field `glob` is not a valid pattern: {error}"))?;
        }
        let overrides =
            overrides.build().map_err(|error| format!("the field `glob` is not a valid pattern: {error}"))?;
        builder.overrides(overrides);
    }
    if let Some(name) = &input.file_type {
        let mut types = TypesBuilder::new();
        types.add_defaults().select(name);
        let types = types.build().map_err(|_| {
            format!(
                "the field `type` names an unknown type of file, `{name}`; use a name such as `rust` or `py`, or `glob`"
            )
        })?;
        builder.types(types);
    }
    Ok(builder)
}

/// Several patterns may be given, with blanks or commas between them; braces keep theirs.
fn split_globs(globs: &str) -> Vec<&str> {
    let mut depth = 0_usize;
    let separates = |c: char| {
        match c {
            '{' | '[' => depth += 1,
            '}' | ']' => depth = depth.saturating_sub(1),
            _ => {}
        }
        depth == 0 && (c == ',' || c.is_whitespace())
    };
    globs.split(separates).filter(|glob| !glob.is_empty()).collect()
}

/// Searches.
///
/// # Errors
/// One sentence: what is wrong with the input, or that the search was cancelled.
pub(super) fn run(input: &Input, context: &ToolContext) -> Result<ToolOutput, String> {
    let root = input.root(context)?;
    if !root.real.exists() {
        return Err(format!("{} does not exist; find files with Glob", shown(&root.path, context)));
    }
    let matcher = matcher(input)?;
    let mut searcher = searcher(input);
    let single_file = root.real.is_file();
    let mut collector = Collector::new(layout(input, single_file), matcher.clone(), context.cancel.clone());
    search_walk::for_each_file(&walk(input, &root)?, &root, context, |path| {
        let below = path.strip_prefix(&root.real).unwrap_or(path);
        let name = if single_file { shown(&root.path, context) } else { shown(&root.path.join(below), context) };
        collector.start_file(name.trim_start_matches("./"));
        match open_text(path)
            .and_then(|file| file.map_or(Ok(()), |file| searcher.search_file(&matcher, &file, &mut collector)))
        {
            Ok(()) => collector.end_file(),
            // Unreadable, or too large to search across its lines: as if it were not there, but said.
            Err(error) => collector.skip_file(&error.to_string()),
        }
        Ok(!collector.is_full())
    })?;
    collector.finish()
}

/// Opens a file, unless its beginning tells that it is binary. UTF-16 is text, and the searcher knows it.
fn open_text(path: &Path) -> io::Result<Option<File>> {
    let file = File::open(path)?;
    let mut start = [0; 1024];
    let read = file.read_at(&mut start, 0)?;
    let start = start.get(..read).unwrap_or_default();
    let is_utf16 = start.starts_with(b"\xFF\xFE") || start.starts_with(b"\xFE\xFF");
    Ok((is_utf16 || !start.contains(&0)).then_some(file))
}

fn layout(input: &Input, single_file: bool) -> Layout {
    Layout {
        mode: input.mode(),
        numbers: input.numbers.unwrap_or(true),
        paths: !single_file,
        only_matching: input.only_matching.unwrap_or(false),
        skip: usize::try_from(input.offset.unwrap_or(0)).unwrap_or(usize::MAX),
        limit: match input.head_limit.unwrap_or(super::DEFAULT_LIMIT) {
            0 => usize::MAX,
            limit => usize::try_from(limit).unwrap_or(usize::MAX),
        },
    }
}

fn searcher(input: &Input) -> Searcher {
    let around = input.around.or(input.context);
    let lines = |own: Option<u64>| match input.mode() {
        OutputMode::Content if input.only_matching != Some(true) => {
            usize::try_from(own.or(around).unwrap_or(0)).unwrap_or(usize::MAX)
        }
        OutputMode::Content | OutputMode::FilesWithMatches | OutputMode::Count => 0,
    };
    SearcherBuilder::new()
        .line_number(true)
        .multi_line(input.multiline.unwrap_or(false))
        .before_context(lines(input.before))
        .after_context(lines(input.after))
        .binary_detection(BinaryDetection::quit(0))
        .heap_limit(Some(MAX_MULTILINE_BYTES))
        .build()
}
