//! Grep's results as lines of text, as ripgrep writes them, up to a limit. Called by the search.

use super::OutputMode;
use crate::base::text::head;
use crate::tools::search_walk::CANCELLED;
use crate::tools::tool::ToolOutput;
use grep_matcher::Matcher as _;
use grep_regex::RegexMatcher;
use grep_searcher::{Searcher, Sink, SinkContext, SinkFinish, SinkMatch};
use std::io;
use tokio_util::sync::CancellationToken;

/// Longer lines are cut: they are generated code or data.
const MAX_LINE_CHARS: usize = 500;

/// What to show, and how.
pub(super) struct Layout {
    pub mode: OutputMode,
    pub numbers: bool,
    /// Whether each line names its file.
    pub paths: bool,
    pub only_matching: bool,
    /// Lines or entries to skip first.
    pub skip: usize,
    /// Lines or entries to show.
    pub limit: usize,
}

/// Takes the matches of one file after the other.
pub(super) struct Collector {
    layout: Layout,
    matcher: RegexMatcher,
    cancel: CancellationToken,
    lines: Vec<String>,
    /// How many lines there were, those skipped included.
    seen: usize,
    file: String,
    /// Where the current file began.
    before: (usize, usize),
    matches_in_file: u64,
    binary: bool,
    files: u64,
    matches: u64,
    unread: Vec<String>,
    gap: bool,
}

impl Collector {
    pub fn new(layout: Layout, matcher: RegexMatcher, cancel: CancellationToken) -> Self {
        Self {
            layout,
            matcher,
            cancel,
            lines: Vec::new(),
            seen: 0,
            file: String::new(),
            before: (0, 0),
            matches_in_file: 0,
            binary: false,
            files: 0,
            matches: 0,
            unread: Vec::new(),
            gap: false,
        }
    }

    pub fn start_file(&mut self, name: &str) {
        name.clone_into(&mut self.file);
        self.before = (self.lines.len(), self.seen);
        self.matches_in_file = 0;
        self.binary = false;
        self.gap = !self.lines.is_empty();
    }

    pub fn end_file(&mut self) {
        if self.binary {
            self.forget_file();
        } else if self.matches_in_file > 0 {
            self.files += 1;
            self.matches += self.matches_in_file;
            match self.layout.mode {
                OutputMode::Content => {}
                OutputMode::FilesWithMatches => self.push(self.file.clone()),
                OutputMode::Count => self.push(format!("{}:{}", self.file, self.matches_in_file)),
            }
        }
    }

    /// The file could not be searched to its end.
    pub fn skip_file(&mut self, why: &str) {
        self.forget_file();
        self.unread.push(format!("{}: {why}", self.file));
    }

    fn forget_file(&mut self) {
        self.lines.truncate(self.before.0);
        self.seen = self.before.1;
    }

    /// Whether there is more than will be shown: one more than the limit was found.
    pub fn is_full(&self) -> bool {
        self.seen > self.layout.skip.saturating_add(self.layout.limit)
    }

    fn push(&mut self, line: String) {
        self.seen += 1;
        if self.seen > self.layout.skip && self.lines.len() < self.layout.limit {
            self.lines.push(line);
        }
    }

    /// One line of output. `:` follows what stands before a match, `-` what stands before its context.
    fn push_line(&mut self, number: Option<u64>, bytes: &[u8], mark: char) {
        let mut line = String::new();
        if self.layout.paths {
            line.push_str(&self.file);
            line.push(mark);
        }
        if let Some(number) = number.filter(|_| self.layout.numbers) {
            line.push_str(&number.to_string());
            line.push(mark);
        }
        let text = String::from_utf8_lossy(bytes);
        let text = text.trim_end_matches(['\n', '\r']);
        let cut = head(text, MAX_LINE_CHARS);
        line.push_str(cut);
        if cut.len() < text.len() {
            line.push_str(" [… line cut]");
        }
        self.push(line);
    }

    fn push_parts(&mut self, number: Option<u64>, bytes: &[u8]) {
        let mut parts = Vec::new();
        // The matcher's own error type is empty.
        let _ = self.matcher.find_iter(bytes, |found| {
            parts.push((found.start(), found.end()));
            true
        });
        for (start, end) in parts.into_iter().filter(|(start, end)| start < end) {
            let above = bytes.get(..start).unwrap_or_default().iter().filter(|byte| **byte == b'\n').count() as u64;
            self.push_line(number.map(|number| number + above), bytes.get(start..end).unwrap_or_default(), ':');
        }
    }

    /// Between two groups of lines that don't touch.
    fn close_gap(&mut self) {
        if std::mem::take(&mut self.gap) && !self.lines.is_empty() && self.lines.len() < self.layout.limit {
            self.lines.push("--".to_owned());
        }
    }

    pub fn finish(mut self) -> Result<ToolOutput, String> {
        let more = self.is_full();
        let shown = self.lines.len();
        if !self.unread.is_empty() {
            let first = self.unread.iter().take(5).cloned().collect::<Vec<_>>().join("\n");
            self.lines.push(format!("\n[{} files could not be searched, such as\n{first}]", self.unread.len()));
        }
        if more {
            let next = self.layout.skip + self.layout.limit;
            self.lines.push(format!("\n[There is more; go on with offset {next}, or search for less]"));
        }
        if shown == 0 && self.seen > 0 {
            let word = if self.layout.mode == OutputMode::Content { "line" } else { "file" };
            let all = counted(self.seen as u64, false, word);
            self.lines.push(format!("[There is no more: {all} in all]"));
        } else if self.seen == 0 {
            self.lines.insert(0, "No match.".to_owned());
        }
        let summary = match self.layout.mode {
            _ if self.seen == 0 => "no match".to_owned(),
            OutputMode::Content => counted(shown as u64, more, "line"),
            OutputMode::FilesWithMatches => counted(self.files, more, "file"),
            OutputMode::Count => {
                format!("{} in {}", counted(self.matches, more, "match"), counted(self.files, more, "file"))
            }
        };
        Ok(ToolOutput::text(self.lines.join("\n"), summary))
    }
}

/// `1 line`, `2 lines`, `2+ matches`; with `more` there were further ones.
fn counted(count: u64, more: bool, word: &str) -> String {
    let plus = if more { "+" } else { "" };
    let ending = match word {
        _ if count == 1 && !more => "",
        "match" => "es",
        _ => "s",
    };
    format!("{count}{plus} {word}{ending}")
}

impl Sink for Collector {
    type Error = io::Error;

    fn matched(&mut self, searcher: &Searcher, found: &SinkMatch<'_>) -> Result<bool, io::Error> {
        if self.cancel.is_cancelled() {
            return Err(io::Error::new(io::ErrorKind::Interrupted, CANCELLED));
        }
        let mut count = 0;
        let _ = self.matcher.find_iter(found.bytes(), |_| {
            count += 1;
            true
        });
        match self.layout.mode {
            OutputMode::FilesWithMatches => {
                self.matches_in_file += 1;
                // A binary file is told by what comes before its first match, as ripgrep does.
                return Ok(false);
            }
            OutputMode::Count => self.matches_in_file += found.lines().count() as u64,
            OutputMode::Content => {
                self.matches_in_file += count;
                if searcher.after_context() + searcher.before_context() > 0 {
                    self.close_gap();
                }
                if self.layout.only_matching {
                    self.push_parts(found.line_number(), found.bytes());
                } else {
                    let first = found.line_number();
                    for (below, line) in found.lines().enumerate() {
                        self.push_line(first.map(|number| number + below as u64), line, ':');
                    }
                }
            }
        }
        Ok(!self.is_full())
    }

    fn context(&mut self, _searcher: &Searcher, context: &SinkContext<'_>) -> Result<bool, io::Error> {
        self.close_gap();
        self.push_line(context.line_number(), context.bytes(), '-');
        Ok(!self.is_full())
    }

    fn context_break(&mut self, _searcher: &Searcher) -> Result<bool, io::Error> {
        self.gap = true;
        Ok(true)
    }

    fn binary_data(&mut self, _searcher: &Searcher, _offset: u64) -> Result<bool, io::Error> {
        self.binary = true;
        Ok(false)
    }

    fn finish(&mut self, _searcher: &Searcher, finish: &SinkFinish) -> Result<(), io::Error> {
        self.binary |= finish.binary_byte_offset().is_some();
        Ok(())
    }
}
