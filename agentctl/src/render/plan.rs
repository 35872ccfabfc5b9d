//! Markdown on a terminal: headings, lists, code and emphasis get colours in place of their marks; every other
//! character shows. Used for a plan that is to be approved. It lays out nothing.

use super::exact;
use super::style::Style;

/// The lines of a plan.
pub fn lines(plan: &str, style: Style) -> Vec<String> {
    let mut in_code = false;
    let mut out = Vec::new();
    for line in plan.trim_end().split('\n') {
        let shown = exact::line(line.trim_end_matches('\r'), style);
        let is_fence = line.trim_start().starts_with("```");
        let painted = match heading(&shown) {
            _ if is_fence => style.dim(&shown),
            _ if in_code => style.cyan(&shown),
            Some(heading) => style.bold(heading),
            None => spans(&bullet(&shown), style),
        };
        in_code ^= is_fence;
        out.push(format!("  {painted}"));
    }
    out
}

fn heading(line: &str) -> Option<&str> {
    let rest = line.trim_start_matches('#');
    let depth = line.len() - rest.len();
    rest.strip_prefix(' ').filter(|_| (1..=6).contains(&depth))
}

fn bullet(line: &str) -> String {
    let (indentation, rest) = line.split_at(line.len() - line.trim_start_matches(' ').len());
    match rest.strip_prefix("- ").or_else(|| rest.strip_prefix("* ")) {
        Some(rest) => format!("{indentation}• {rest}"),
        None => line.to_owned(),
    }
}

/// Paints `code` and **strong**. A mark without its partner stays.
fn spans(line: &str, style: Style) -> String {
    let mut out = String::new();
    let mut rest = line;
    while let Some(at) = rest.find(['`', '*']) {
        let (before, marked) = rest.split_at(at);
        out.push_str(before);
        let mark = if marked.starts_with("**") { "**" } else { marked.get(..1).unwrap_or_default() };
        let inner = marked.get(mark.len()..).and_then(|inner| inner.split_once(mark));
        match inner {
            Some((inner, after)) if !inner.is_empty() && mark != "*" => {
                out.push_str(&if mark == "`" { style.cyan(inner) } else { style.bold(inner) });
                rest = after;
            }
            _ => {
                out.push_str(mark);
                rest = marked.get(mark.len()..).unwrap_or_default();
            }
        }
    }
    out.push_str(rest);
    out
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn marks_become_colours() {
        let style = Style { colour: true };
        let table = [
            ("# Title", "  \u{1b}[1mTitle\u{1b}[0m"),
            ("  - a **b** `c`", "    • a \u{1b}[1mb\u{1b}[0m \u{1b}[36mc\u{1b}[0m"),
            ("2 * 3 ** 4 ` 5", "  2 * 3 ** 4 ` 5"),
            ("#hash", "  #hash"),
            ("a\u{202e}", "  a\u{1b}[7m<U+202E>\u{1b}[27m"),
        ];
        for (line, shown) in table {
            assert_eq!(lines(line, style), [shown]);
        }
    }

    #[test]
    fn code_is_left_alone() {
        let shown = lines("```sh\n# no heading\n- `x`\n```\n# heading\n", Style::PLAIN);
        assert_eq!(shown, ["  ```sh", "  # no heading", "  - `x`", "  ```", "  heading"]);
    }
}
