//! Text that a person is asked to approve, with nothing left out and nothing out of sight: controls, invisible and
//! reordering characters as signs, tabs as arrows, padding counted, lines numbered. Used by `request` and `diff`; it
//! folds no line, the screen does.

use super::escape::{BLANKS, Before, counted, is_hidden, sign};
use super::style::Style;

/// Blanks at a line's start that are shown as they are: deeper code is rare.
const INDENTATION: usize = 40;
/// How a tab is shown: seen, and wide enough that indented code stays readable.
const TAB: &str = "→   ";
/// Empty lines in a row that are shown as they are.
const EMPTY_LINES: usize = 3;

/// The lines of a text, indented, and numbered where there are several.
pub fn block(text: &str, style: Style) -> Vec<String> {
    let text = text.strip_suffix('\n').unwrap_or(text);
    let lines: Vec<&str> = text.split('\n').collect();
    let digits = lines.len().to_string().len();
    let mut out = Vec::new();
    let mut at = 0;
    while let Some(current) = lines.get(at) {
        let empty = lines.iter().skip(at).take_while(|line| line.is_empty()).count();
        if empty > EMPTY_LINES {
            out.push(format!("  {}", style.sign(&counted(empty, "empty lines"))));
            at += empty;
            continue;
        }
        at += 1;
        let shown = line(current, style);
        let number = style.dim(&format!("{at:>digits$} │"));
        out.push(if lines.len() == 1 { format!("  {shown}") } else { format!("  {number} {shown}") });
    }
    out
}

/// One line, which holds no line break.
pub fn line(text: &str, style: Style) -> String {
    let mut out = String::with_capacity(text.len() + 16);
    let (mut blanks, mut before) = (0, Before::default());
    for c in text.chars() {
        if c == ' ' {
            blanks += 1;
            before = Before::default();
            continue;
        }
        let most = if out.is_empty() { INDENTATION } else { BLANKS };
        push_blanks(&mut out, std::mem::take(&mut blanks), most, style);
        match c {
            '\t' => out.push_str(&style.faint(TAB)),
            c if is_hidden(c, before) => out.push_str(&style.sign(&sign(c))),
            c => out.push(c),
        }
        before = before.then(c);
    }
    push_blanks(&mut out, blanks, 0, style); // at the end, none can be seen
    out
}

fn push_blanks(out: &mut String, count: usize, most: usize, style: Style) {
    match count {
        count if count <= most => out.extend(std::iter::repeat_n(' ', count)),
        1 => out.push_str(&style.sign("⟨1 blank⟩")),
        count => out.push_str(&style.sign(&counted(count, "blanks"))),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use unicode_width::UnicodeWidthChar;

    #[test]
    fn no_trick_hides_what_is_approved() {
        let padded = format!("true{}; rm -rf x", " ".repeat(300));
        let indented = format!("{}rm", " ".repeat(41));
        let piled = format!("l{}s", "\u{336}".repeat(5));
        let table: &[(&str, &str)] = &[
            ("plain, ünïcode, 世界, 👩", "plain, ünïcode, 世界, 👩"),
            ("rm\u{200b} -rf", "rm<U+200B> -rf"),
            ("a\u{feff}b\u{ad}c", "a<U+FEFF>b<U+00AD>c"),
            ("tag\u{e0041}", "tag<U+E0041>"),
            ("zwj\u{200d}", "zwj<U+200D>"),
            ("rtl \u{202e}txt\u{2066}", "rtl <U+202E>txt<U+2066>"),
            ("gone\u{1b}[2K\rover\u{8}", "gone^[[2K^Mover^H"),
            ("dos\r", "dos^M"),
            ("c1 \u{9b}31m", "c1 <U+009B>31m"),
            ("nbsp\u{a0}em\u{2003}wide\u{3000}braille\u{2800}", "nbsp<U+00A0>em<U+2003>wide<U+3000>braille<U+2800>"),
            ("line\u{2028}par\u{2029}nel\u{85}", "line<U+2028>par<U+2029>nel<U+0085>"),
            ("a\tb", "a→   b"),
            ("end  ", "end⟨2 blanks⟩"),
            ("end ", "end⟨1 blank⟩"),
            (&padded, "true⟨300 blanks⟩; rm -rf x"),
            (&indented, "⟨41 blanks⟩rm"),
            ("    indented", "    indented"),
            ("e\u{301}", "e\u{301}"),
            ("=\u{338}", "=<U+0338>"),
            (" \u{301}x", " <U+0301>x"),
            (&piled, "l\u{336}\u{336}\u{336}<U+0336><U+0336>s"),
            ("hangul\u{3164}\u{ffa0}\u{115f}", "hangul<U+3164><U+FFA0><U+115F>"),
            ("private\u{e000}\u{100000}", "private<U+E000><U+100000>"),
            ("vs\u{fe0f} ⚠\u{fe0f}\u{fe01}", "vs<U+FE0F> ⚠\u{fe0f}<U+FE01>"),
        ];
        for (text, shown) in table {
            assert_eq!(line(text, Style::PLAIN), *shown);
        }
    }

    #[test]
    fn every_character_takes_room() {
        for code in (0..0x4_0000_u32).chain(0xe_0000..0xe_1000).chain(0xf_ff00..=0x10_0100) {
            let Some(c) = char::from_u32(code).filter(|c| *c != '\n') else { continue };
            let shown = line(&format!("/{c}/"), Style::PLAIN);
            let columns: usize = shown.chars().map(|c| c.width().unwrap_or(0)).sum();
            assert!(columns > 2, "{code:x} is shown as {shown:?}");
        }
    }

    #[test]
    fn signs_stand_out_and_leave_the_colour_around_them() {
        assert_eq!(line("a\u{202e}b", Style { colour: true }), "a\u{1b}[7m<U+202E>\u{1b}[27mb");
    }

    #[test]
    fn lines_are_numbered_where_there_are_several() {
        assert_eq!(block("make\n", Style::PLAIN), ["  make"]);
        assert_eq!(block("make \\\n  all", Style::PLAIN), ["  1 │ make \\", "  2 │   all"]);
        let gap = format!("true{}rm x", "\n".repeat(60));
        assert_eq!(block(&gap, Style::PLAIN), ["   1 │ true", "  ⟨59 empty lines⟩", "  61 │ rm x"]);
    }
}
