//! Unified diffs as coloured lines. Used for `file.changed` and for the preview of a question.

use super::escape::{visible, visible_strict};
use super::style::Style;

/// The lines of a diff, escaped and indented, at most `limit` of them. `strict` shows invisible characters.
pub fn lines(diff: &str, style: Style, limit: usize, strict: bool) -> Vec<String> {
    let total = diff.lines().count();
    let mut out: Vec<String> = diff.lines().take(limit).map(|line| coloured(line, style, strict)).collect();
    if total > limit {
        out.push(style.dim(&format!("  … {} more lines", total - limit)));
    }
    out
}

fn coloured(line: &str, style: Style, strict: bool) -> String {
    let shown = if strict { visible_strict(line) } else { visible(line) };
    let shown = format!("  {shown}");
    match line.as_bytes().first() {
        _ if line.starts_with("+++") || line.starts_with("---") => style.dim(&shown),
        Some(b'+') => style.green(&shown),
        Some(b'-') => style.red(&shown),
        Some(b'@') => style.cyan(&shown),
        _ => shown,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_diff_is_cut_and_says_so() {
        let diff = "--- a\n+++ a\n@@ -1,2 +1,2 @@\n-old\n+new\n same\n";
        assert_eq!(lines(diff, Style::PLAIN, 9, false).len(), 6);
        let cut = lines(diff, Style::PLAIN, 4, false);
        assert_eq!(cut.last().map(String::as_str), Some("  … 2 more lines"));
    }

    #[test]
    fn a_diff_cannot_hide_anything() {
        let shown = lines("+a\u{202e}b\u{1b}[8m\u{200b}", Style::PLAIN, 9, true);
        assert_eq!(shown, ["  +a<U+202E>b^[[8m<U+200B>"]);
    }

    #[test]
    fn signs_are_coloured() {
        let style = Style { colour: true };
        let shown = lines("+a\n-b\n c", style, 9, false);
        assert_eq!(shown, ["\u{1b}[32m  +a\u{1b}[0m", "\u{1b}[31m  -b\u{1b}[0m", "   c"]);
    }
}
