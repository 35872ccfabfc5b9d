//! Where output goes: running text, lines aside, and on a terminal a few live lines below them that are
//! redrawn in place. Written by `transcript` and `ask`. It knows no event and escapes nothing.

use super::flow::Flow;
use super::fold::{columns, fold};
use super::style::Style;
use crate::terminal;
use std::io::{self, Write};

/// The two outputs and the state of the cursor.
pub struct Screen {
    text: Box<dyn Write>,
    aside: Box<dyn Write>,
    /// Whether both outputs are seen as one, so that a line aside has to end a text line first.
    joined: bool,
    /// Whether live lines can be drawn.
    live: bool,
    /// Whether text is shown while it grows.
    streams: bool,
    /// Colours of the lines aside.
    style: Style,
    /// Whether the text's last line is open.
    open: bool,
    /// Where the text stands, where it is wrapped.
    flow: Flow,
    /// How many live lines stand below the cursor's start.
    drawn: usize,
}

impl Screen {
    /// Everything on standard output: `chat`, `attach`, `logs`.
    pub fn stdout() -> Self {
        let fancy = terminal::stdout_is_terminal() && terminal::wants_colour();
        Self::new(Box::new(io::stdout()), Box::new(io::stdout()), true, fancy)
    }

    /// Text on standard output, the rest on standard error: `run`. A program that reads the text gets each
    /// message whole: of one that breaks off and is made anew it could not tell which half is void.
    pub fn split() -> Self {
        let (out, err) = (terminal::stdout_is_terminal(), terminal::stderr_is_terminal());
        let screen =
            Self::new(Box::new(io::stdout()), Box::new(io::stderr()), out && err, err && terminal::wants_colour());
        if out { screen } else { screen.whole_messages() }
    }

    /// The same, but text is shown only once it is whole.
    pub fn whole_messages(mut self) -> Self {
        self.streams = false;
        self
    }

    /// No text, the rest on standard error: where standard output is for a program.
    pub fn aside_only() -> Self {
        let fancy = terminal::stderr_is_terminal() && terminal::wants_colour();
        Self::new(Box::new(io::sink()), Box::new(io::stderr()), false, fancy)
    }

    /// Two outputs of the caller's own; `fancy` turns on colours and live lines.
    pub fn new(text: Box<dyn Write>, aside: Box<dyn Write>, joined: bool, fancy: bool) -> Self {
        let style = Style { colour: fancy };
        Self { text, aside, joined, live: fancy, streams: true, style, open: false, flow: Flow::default(), drawn: 0 }
    }

    /// The colours of the lines aside.
    pub fn style(&self) -> Style {
        self.style
    }

    /// Whether live lines can be drawn.
    pub fn is_live(&self) -> bool {
        self.live
    }

    /// Whether text is shown while it grows.
    pub fn streams(&self) -> bool {
        self.streams
    }

    /// Writes a part of the running text.
    pub fn text(&mut self, text: &str) -> io::Result<()> {
        if text.is_empty() {
            return Ok(());
        }
        self.erase()?;
        if self.wraps() {
            let wrapped = self.flow.wrap(text, row_width());
            self.text.write_all(wrapped.as_bytes())?;
        } else {
            self.text.write_all(text.as_bytes())?;
        }
        self.text.flush()?;
        self.open = !text.ends_with('\n');
        Ok(())
    }

    /// Whether the text is seen on the terminal that the live lines are on.
    fn wraps(&self) -> bool {
        self.live && self.joined
    }

    /// Ends the text's line if it is open.
    pub fn end_text(&mut self) -> io::Result<()> {
        if self.open {
            self.text("\n")?;
        }
        Ok(())
    }

    /// Writes whole lines aside.
    pub fn line(&mut self, line: &str) -> io::Result<()> {
        self.erase()?;
        if self.joined {
            self.end_text()?;
        }
        if self.live {
            let width = row_width();
            for row in line.split('\n').flat_map(|line| fold(line, width)) {
                self.aside.write_all(row.as_bytes())?;
                self.aside.write_all(b"\n")?;
            }
        } else {
            self.aside.write_all(line.as_bytes())?;
            self.aside.write_all(b"\n")?;
        }
        self.aside.flush()
    }

    /// Shows live lines in place of those before, each cut to the terminal's width; below an open line of the text.
    pub fn draw(&mut self, lines: &[String]) -> io::Result<()> {
        if !self.live {
            return Ok(());
        }
        self.erase()?;
        if lines.is_empty() {
            return Ok(());
        }
        let cut: Vec<String> = lines.iter().map(|line| fit(line, row_width())).collect();
        let below = if self.is_above() { "\n" } else { "" };
        self.aside.write_all(format!("{below}{}", cut.join("\n")).as_bytes())?;
        self.aside.flush()?;
        self.drawn = cut.len();
        Ok(())
    }

    /// Whether an open line of the text stands above the live lines.
    fn is_above(&self) -> bool {
        self.joined && self.open
    }

    /// Takes the live lines away; the cursor is where it was before them.
    pub fn erase(&mut self) -> io::Result<()> {
        if self.drawn > 0 {
            let (rows, column) = if self.is_above() { (self.drawn, self.flow.column) } else { (self.drawn - 1, 0) };
            let up = if rows > 0 { format!("\u{1b}[{rows}A") } else { String::new() };
            let right = if column > 0 { format!("\u{1b}[{column}C") } else { String::new() };
            self.aside.write_all(format!("\r{up}{right}\u{1b}[J").as_bytes())?;
            self.aside.flush()?;
            self.drawn = 0;
        }
        Ok(())
    }
}

impl Drop for Screen {
    fn drop(&mut self) {
        let _ = self.erase(); // best effort: the terminal may be gone
    }
}

/// Columns that are used of a row: a cursor past the last one stands nowhere for certain.
fn row_width() -> usize {
    terminal::width().saturating_sub(1).max(1)
}

/// Cuts a line to a width in columns; colour sequences of ours count nothing and are kept whole.
pub fn fit(line: &str, width: usize) -> String {
    let mut out = String::new();
    let (mut used, mut in_sequence, mut cut) = (0, false, false);
    for c in line.chars() {
        if in_sequence || c == '\u{1b}' {
            in_sequence = c != 'm';
            out.push(c);
            continue;
        }
        if cut || used + columns(c) > width {
            cut = true;
            continue;
        }
        used += columns(c);
        out.push(if c == '\t' { ' ' } else { c });
    }
    out
}

#[cfg(test)]
pub mod tests {
    use super::*;
    use std::sync::{Arc, Mutex};

    /// An output that a test can read.
    #[derive(Clone, Default)]
    pub struct Paper(Arc<Mutex<Vec<u8>>>);

    impl Paper {
        pub fn read(&self) -> String {
            String::from_utf8(self.0.lock().unwrap().clone()).unwrap()
        }
    }

    impl Write for Paper {
        fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
            self.0.lock().unwrap().extend_from_slice(bytes);
            Ok(bytes.len())
        }

        fn flush(&mut self) -> io::Result<()> {
            Ok(())
        }
    }

    #[test]
    fn a_line_aside_ends_an_open_text_line_only_on_one_stream() {
        let both = Paper::default();
        let mut screen = Screen::new(Box::new(both.clone()), Box::new(both.clone()), true, false);
        screen.text("half").unwrap();
        screen.line("note").unwrap();
        screen.text("rest").unwrap();
        screen.end_text().unwrap();
        assert_eq!(both.read(), "half\nnote\nrest\n");

        let (text, aside) = (Paper::default(), Paper::default());
        let mut screen = Screen::new(Box::new(text.clone()), Box::new(aside.clone()), false, false);
        screen.text("half").unwrap();
        screen.line("note").unwrap();
        screen.text(" and half\n").unwrap();
        assert_eq!((text.read().as_str(), aside.read().as_str()), ("half and half\n", "note\n"));
    }

    #[test]
    fn live_lines_are_taken_away_before_anything_else_is_written() {
        let paper = Paper::default();
        let mut screen = Screen::new(Box::new(paper.clone()), Box::new(paper.clone()), true, true);
        screen.draw(&["one".to_owned(), "two".to_owned()]).unwrap();
        screen.line("kept").unwrap();
        assert_eq!(paper.read(), "one\ntwo\r\u{1b}[1A\u{1b}[Jkept\n");
    }

    #[test]
    fn live_lines_stand_below_open_text_and_give_the_cursor_back() {
        let paper = Paper::default();
        let mut screen = Screen::new(Box::new(paper.clone()), Box::new(paper.clone()), true, true);
        screen.text("half").unwrap();
        screen.draw(&["typed".to_owned()]).unwrap();
        screen.text(" a line").unwrap();
        assert_eq!(paper.read(), "half\ntyped\r\u{1b}[1A\u{1b}[4C\u{1b}[J a line");
    }

    #[test]
    fn without_a_terminal_there_are_no_live_lines() {
        let paper = Paper::default();
        let mut screen = Screen::new(Box::new(paper.clone()), Box::new(paper.clone()), true, false);
        screen.draw(&["one".to_owned()]).unwrap();
        assert_eq!(paper.read(), "");
    }

    #[test]
    fn a_line_is_cut_by_columns() {
        let table = [
            ("plain", 3, "pla"),
            ("世界", 3, "世"),
            ("\u{1b}[31mred\u{1b}[0m", 2, "\u{1b}[31mre\u{1b}[0m"),
            ("a\tb", 9, "a b"),
            ("", 4, ""),
        ];
        for (line, width, cut) in table {
            assert_eq!(fit(line, width), cut);
        }
    }
}
