//! Unified diffs as coloured lines. Used for `file.changed` and for the preview of a question.

use super::escape::visible;
use super::exact;
use super::style::Style;

/// The lines of a diff that was approved or not asked about, escaped and indented, at most `limit` of them.
pub fn lines(diff: &str, style: Style, limit: usize) -> Vec<String> {
    let total = diff.lines().count();
    let mut shown = painted(diff, style, |line| visible(line).into_owned());
    if total > limit {
        shown.truncate(limit);
        shown.push(style.dim(&format!("  … {} more lines", total - limit)));
    }
    shown
}

/// All lines of a diff that is to be approved, with every character shown.
pub fn exact_lines(diff: &str, style: Style) -> Vec<String> {
    painted(diff, style, |line| {
        let (sign, text) = line.split_at_checked(1).unwrap_or(("", line));
        format!("{sign}{}", exact::line(text, style))
    })
}

fn painted(diff: &str, style: Style, shown: impl Fn(&str) -> String) -> Vec<String> {
    // in the first lines only: further down a removed line may start with -- too
    let head = diff.split('\n').take_while(|line| line.starts_with("---") || line.starts_with("+++")).count();
    let paint = |(at, line): (usize, &str)| {
        let shown = format!("  {}", shown(line));
        match line.as_bytes().first() {
            _ if at < head => style.dim(&shown),
            Some(b'+') => style.green(&shown),
            Some(b'-') => style.red(&shown),
            Some(b'@') => style.cyan(&shown),
            _ => shown,
        }
    };
    diff.split_terminator('\n').enumerate().map(paint).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_diff_is_cut_and_says_so() {
        let diff = "--- a\n+++ a\n@@ -1,2 +1,2 @@\n-old\n+new\n same\n";
        assert_eq!(lines(diff, Style::PLAIN, 9).len(), 6);
        let cut = lines(diff, Style::PLAIN, 4);
        assert_eq!(cut.last().map(String::as_str), Some("  … 2 more lines"));
    }

    #[test]
    fn a_diff_cannot_hide_anything() {
        let shown = exact_lines("+a\u{202e}b\u{1b}[8m\u{200b}\r\n-\tc \n \nüx", Style::PLAIN);
        assert_eq!(shown, ["  +a<U+202E>b^[[8m<U+200B>^M", "  -→   c⟨1 blank⟩", "   ", "  üx"]);
    }

    #[test]
    fn signs_are_coloured() {
        let style = Style { colour: true };
        let shown = lines("+a\n-b\n c", style, 9);
        assert_eq!(shown, ["\u{1b}[32m  +a\u{1b}[0m", "\u{1b}[31m  -b\u{1b}[0m", "   c"]);
    }
}
