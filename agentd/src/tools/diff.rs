//! Changes of files as unified diffs, for people. Pure. Called by Write and Edit.

use similar::TextDiff;
use std::time::Duration;

/// A longer diff is cut: people don't read it, and every event carries it.
const MAX_DIFF_CHARS: usize = 200_000;
/// Past this a coarser, still correct diff is good enough.
const PATIENCE: Duration = Duration::from_millis(500);

/// The unified diff of a file called `name`. `before` is `None` if it does not exist yet.
pub(super) fn unified(name: &str, before: Option<&str>, after: &str) -> String {
    let old_name =
        if before.is_some() { format!("a/{}", name.trim_start_matches('/')) } else { "/dev/null".to_owned() };
    let new_name = format!("b/{}", name.trim_start_matches('/'));
    // Only a line feed ends a line: a CR within one would break the diff's own lines in two.
    let old: Vec<&str> = before.unwrap_or_default().split_inclusive('\n').collect();
    let new: Vec<&str> = after.split_inclusive('\n').collect();
    let diff = TextDiff::configure().timeout(PATIENCE).newline_terminated(true).diff_slices(&old, &new);
    let text = diff.unified_diff().context_radius(3).header(&old_name, &new_name).to_string();
    let cut = crate::base::text::head(&text, MAX_DIFF_CHARS);
    if cut.len() == text.len() { text } else { format!("{cut}\n[diff cut: {} bytes in all]\n", text.len()) }
}

/// How many lines a diff adds and removes, such as `+3 -1`.
pub(super) fn counts(diff: &str) -> String {
    let body = || diff.lines().skip(2);
    let added = body().filter(|line| line.starts_with('+')).count();
    let removed = body().filter(|line| line.starts_with('-')).count();
    format!("+{added} -{removed}")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_change_and_a_new_file() {
        let diff = unified("src/a.rs", Some("a\nb\n"), "a\nc\n");
        assert_eq!(diff, "--- a/src/a.rs\n+++ b/src/a.rs\n@@ -1,2 +1,2 @@\n a\n-b\n+c\n");
        assert_eq!(counts(&diff), "+1 -1");
        let diff = unified("a", None, "x\n");
        assert_eq!(diff, "--- /dev/null\n+++ b/a\n@@ -0,0 +1 @@\n+x\n");
        assert_eq!(counts(&diff), "+1 -0");
    }

    #[test]
    fn a_line_is_what_a_line_feed_ends() {
        let diff = unified("a", Some("1\r2\r3\n"), "1\rx\r3\n");
        assert_eq!(diff, "--- a/a\n+++ b/a\n@@ -1 +1 @@\n-1\r2\r3\n+1\rx\r3\n");
        assert_eq!(counts(&diff), "+1 -1");
        let diff = unified("a", Some("1\r\n2"), "1\r\n3");
        let end = "\n\\ No newline at end of file\n";
        assert_eq!(diff, format!("--- a/a\n+++ b/a\n@@ -1,2 +1,2 @@\n 1\r\n-2{end}+3{end}"));
    }
}
