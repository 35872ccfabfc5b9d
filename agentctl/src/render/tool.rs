//! One tool call: its title, the tail of its output while it runs, and how it ended. Held by `transcript`.

use super::escape::{one_line, visible};
use super::replaced;
use super::style::Style;
use crate::duration;
use proto::content::{ContentBlock, plain_text};
use proto::event::{ToolCause, ToolStatus};
use proto::permission::DecisionReason;
use serde_json::Value;

/// Lines of output that are shown while a call runs.
const TAIL_LINES: usize = 4;
/// Bytes of output that are kept for them.
const TAIL_BYTES: usize = 8 * 1024;
/// What the model reads before the reason of a denial; a person knows it from the word alone.
const DENIAL: &str = "The person did not allow this call: ";
/// Lines of its output that are shown of a call that failed.
const FAILURE_LINES: usize = 6;

/// A call that has not ended.
pub struct ToolCall {
    name: String,
    title: String,
    /// The model's input.
    asked: Value,
    /// Who wrote the input that runs, where that is not the model.
    changed: Option<String>,
    /// Whether it has left the queue.
    pub started: bool,
    /// Whether its title stands in the output already.
    pub announced: bool,
    tail: String,
    /// Where the next part of the output starts, to tell what a second attach repeats.
    seen: u64,
}

impl ToolCall {
    /// A call in the queue.
    pub fn new(name: &str, title: &str, asked: &Value) -> Self {
        let title = title.strip_prefix(name).unwrap_or(title);
        Self {
            name: one_line(name),
            title: one_line(title.trim_start_matches([':', ' '])),
            asked: asked.clone(),
            changed: None,
            started: false,
            announced: false,
            tail: String::new(),
            seen: 0,
        }
    }

    /// Takes in what runs: it is what is shown from here on.
    pub fn starts(&mut self, runs: &Value, decision: &DecisionReason) {
        self.started = true;
        if replaced::differs(&self.asked, runs) {
            self.title = replaced::title(&self.title, &self.asked, runs);
            self.changed = Some(replaced::by(decision));
        }
    }

    /// `● Bash  cargo test`, and who changed it.
    pub fn headline(&self, style: Style) -> String {
        let line = format!("{} {}  {}", style.cyan("●"), style.bold(&self.name), self.title);
        let changed = self.changed.as_ref().map(|changed| style.dim(&format!("  ({changed})")));
        format!("{}{}", line.trim_end(), changed.unwrap_or_default())
    }

    /// Takes in a part of the output.
    pub fn output(&mut self, offset: u64, text: &str) {
        let end = offset + text.len() as u64;
        if end <= self.seen {
            return;
        }
        let known = usize::try_from(self.seen.saturating_sub(offset)).unwrap_or(usize::MAX);
        self.tail.push_str(text.get(known..).unwrap_or(text));
        self.seen = end;
        if self.tail.len() > 2 * TAIL_BYTES {
            let cut = (self.tail.len() - TAIL_BYTES..self.tail.len()).find(|at| self.tail.is_char_boundary(*at));
            self.tail.drain(..cut.unwrap_or(0));
        }
    }

    /// The headline and the last lines of the output.
    pub fn live_lines(&self, style: Style) -> Vec<String> {
        let lines: Vec<&str> = self.tail.lines().collect();
        let tail = lines.get(lines.len().saturating_sub(TAIL_LINES)..).unwrap_or_default();
        let mut out = vec![self.headline(style)];
        out.extend(tail.iter().map(|line| style.dim(&format!("  │ {}", visible(overwritten(line))))));
        out
    }

    /// How it ended, in one line, and what a failure said.
    pub fn result_lines(&self, end: &ToolEnd<'_>, style: Style) -> Vec<String> {
        let name = if end.name_it { format!("{} {}: ", self.name, self.title) } else { String::new() };
        let summary = one_line(end.summary.strip_prefix(DENIAL).unwrap_or(end.summary));
        let took = if end.duration_ms >= 1000 {
            style.dim(&format!(" ({})", duration::show(end.duration_ms)))
        } else {
            String::new()
        };
        let (sign, word) = match end.status {
            ToolStatus::Completed if end.is_error => (style.red("✗"), ""),
            ToolStatus::Completed => (style.green("✓"), ""),
            ToolStatus::Failed => (style.red("✗"), ""),
            ToolStatus::Denied => (style.yellow("⊘"), "denied"),
            ToolStatus::Cancelled => (style.yellow("⊘"), cancelled(end.cause)),
        };
        let said = match (word.is_empty(), summary.is_empty()) {
            (true, _) => summary,
            (false, true) => word.to_owned(),
            (false, false) => format!("{word}: {summary}"),
        };
        let mut out = vec![format!("  {sign} {name}{said}{took}")];
        if end.status == ToolStatus::Failed || (end.status == ToolStatus::Completed && end.is_error) {
            out.extend(failure_lines(end.content, end.summary, style));
        }
        out
    }
}

/// What is told of the end of a call.
pub struct ToolEnd<'a> {
    /// How it ended.
    pub status: ToolStatus,
    /// Whether the model is told of an error.
    pub is_error: bool,
    /// What the model is told.
    pub content: &'a [ContentBlock],
    /// One line for people.
    pub summary: &'a str,
    /// How long it ran.
    pub duration_ms: u64,
    /// What cut it short.
    pub cause: Option<ToolCause>,
    /// Whether other output came between its headline and this.
    pub name_it: bool,
}

fn cancelled(cause: Option<ToolCause>) -> &'static str {
    match cause {
        Some(ToolCause::SiblingError) => "cancelled since a parallel call failed",
        Some(ToolCause::UserInterrupted) => "cancelled by a new prompt",
        Some(ToolCause::Timeout) => "timed out",
        Some(ToolCause::StreamingFallback) => "void, as another model takes over",
        Some(ToolCause::Restart) => "cut by a restart of agentd",
        Some(ToolCause::UserAbort) | None => "cancelled",
    }
}

fn failure_lines(content: &[ContentBlock], summary: &str, style: Style) -> Vec<String> {
    let text = plain_text(content);
    let text = text.trim().trim_start_matches("<tool_use_error>").trim_end_matches("</tool_use_error>");
    let lines: Vec<&str> = text.lines().filter(|line| !line.trim().is_empty()).collect();
    if lines.len() <= 1 && text.trim().starts_with(summary.trim_end_matches('…')) {
        return Vec::new(); // the summary has said it
    }
    let from = lines.len().saturating_sub(FAILURE_LINES);
    let shown = lines.get(from..).unwrap_or_default();
    shown.iter().map(|line| style.dim(&format!("    {}", visible(overwritten(line))))).collect()
}

/// What is seen of a line that a progress bar wrote over and over.
fn overwritten(line: &str) -> &str {
    line.trim_end_matches('\r').rsplit('\r').next().unwrap_or_default()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn end(status: ToolStatus, summary: &str) -> ToolEnd<'_> {
        let is_error = status != ToolStatus::Completed;
        ToolEnd { status, is_error, content: &[], summary, duration_ms: 5, cause: None, name_it: false }
    }

    #[test]
    fn the_tools_name_stands_once() {
        for (title, line) in [
            ("cargo test", "● Bash  cargo test"),
            ("Bash cargo test", "● Bash  cargo test"),
            ("Bash: cargo test", "● Bash  cargo test"),
            ("", "● Bash"),
            ("echo 'a\nb' \u{1b}[0m", "● Bash  echo 'a⏎b' ^[[0m"),
        ] {
            assert_eq!(ToolCall::new("Bash", title, &Value::Null).headline(Style::PLAIN), line);
        }
    }

    #[test]
    fn ends_are_told_in_a_line() {
        let call = ToolCall::new("Bash", "x", &Value::Null);
        let table = [
            (end(ToolStatus::Completed, "12 lines"), "  ✓ 12 lines"),
            (end(ToolStatus::Failed, "exit code 1"), "  ✗ exit code 1"),
            (end(ToolStatus::Denied, ""), "  ⊘ denied"),
            (end(ToolStatus::Denied, "The person did not allow this call: use bun"), "  ⊘ denied: use bun"),
            (ToolEnd { cause: Some(ToolCause::Timeout), ..end(ToolStatus::Cancelled, "") }, "  ⊘ timed out"),
            (ToolEnd { duration_ms: 1500, ..end(ToolStatus::Completed, "ok") }, "  ✓ ok (1.5 s)"),
            (ToolEnd { name_it: true, ..end(ToolStatus::Completed, "ok") }, "  ✓ Bash x: ok"),
        ];
        for (end, line) in table {
            assert_eq!(call.result_lines(&end, Style::PLAIN), [line]);
        }
    }

    #[test]
    fn a_failure_shows_the_end_of_its_output() {
        let text: Vec<String> = (1..=9).map(|n| format!("line {n}")).collect();
        let content = [ContentBlock::text(text.join("\n"))];
        let end = ToolEnd { content: &content, ..end(ToolStatus::Failed, "exit code 1") };
        let lines = ToolCall::new("Bash", "x", &Value::Null).result_lines(&end, Style::PLAIN);
        assert_eq!(lines.len(), 1 + FAILURE_LINES);
        assert_eq!(lines.last().map(String::as_str), Some("    line 9"));
    }

    #[test]
    fn what_the_summary_says_is_not_said_again() {
        for (summary, text) in
            [("no such file", "no such file"), ("no such…", "<tool_use_error>no such file</tool_use_error>")]
        {
            let content = [ContentBlock::text(text)];
            let end = ToolEnd { content: &content, ..end(ToolStatus::Failed, summary) };
            let lines = ToolCall::new("Read", "x", &Value::Null).result_lines(&end, Style::PLAIN);
            assert_eq!(lines, [format!("  ✗ {summary}")]);
        }
    }

    #[test]
    fn the_tail_is_short_and_what_comes_twice_counts_once() {
        let mut call = ToolCall::new("Bash", "x", &Value::Null);
        call.output(0, "a\nb\n");
        call.output(2, "b\nc\n10%\r20%");
        let lines = call.live_lines(Style::PLAIN);
        assert_eq!(lines.get(1..).unwrap(), ["  │ a", "  │ b", "  │ c", "  │ 20%"]);
        call.output(0, "a\n");
        assert_eq!(call.live_lines(Style::PLAIN).len(), 5);
    }

    #[test]
    fn a_flood_of_output_keeps_memory_flat() {
        let mut call = ToolCall::new("Bash", "x", &Value::Null);
        let part = "ü".repeat(5_000);
        for n in 0..100 {
            call.output(n * part.len() as u64, &part);
        }
        assert!(call.tail.len() <= 2 * TAIL_BYTES + part.len());
    }
}
