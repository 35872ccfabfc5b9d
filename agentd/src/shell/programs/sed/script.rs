//! The script language of sed, read to its end to be sure that no command writes a file or runs a program. Called for
//! sed. It accepts GNU sed's grammar, and refuses what other readings of a script would take for something else.

use std::iter::Peekable;
use std::str::Chars;

/// The files that a script reads with `r` and `R`.
///
/// # Errors
/// A sentence that names the command that is not known to be harmless.
pub(super) fn files_read(script: &str) -> Result<Vec<String>, String> {
    let files = Reader::new(script, Classes::Nested).script()?;
    // Where a `[:class:]` is followed by the delimiter, implementations disagree on where the pattern ends.
    Reader::new(script, Classes::Flat).script()?;
    Ok(files)
}

/// How a `[…]` in a pattern is read.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Classes {
    /// `[[:alpha:]/]` is one.
    Nested,
    /// It ends at the first `]` that isn't its first character.
    Flat,
}

struct Reader<'a> {
    chars: Peekable<Chars<'a>>,
    classes: Classes,
    files: Vec<String>,
}

impl<'a> Reader<'a> {
    fn new(script: &'a str, classes: Classes) -> Self {
        Self { chars: script.chars().peekable(), classes, files: Vec::new() }
    }

    fn script(mut self) -> Result<Vec<String>, String> {
        loop {
            self.skip(|next| next == ';' || next.is_ascii_whitespace());
            if self.chars.peek().is_none() {
                return Ok(self.files);
            }
            if self.address()? {
                self.blanks();
                if self.chars.next_if_eq(&',').is_some() {
                    self.blanks();
                    if !self.address()? {
                        return Err("sed: no address after a comma".to_owned());
                    }
                    self.blanks();
                }
            }
            if self.chars.next_if_eq(&'!').is_some() {
                self.blanks();
            }
            self.command()?;
        }
    }

    /// Reads an address, if there is one.
    fn address(&mut self) -> Result<bool, String> {
        match self.chars.peek().copied() {
            Some('/') => self.pattern_address(),
            Some('\\') => {
                self.chars.next();
                self.pattern_address()
            }
            Some('$') => {
                self.chars.next();
                Ok(true)
            }
            Some(digit) if digit.is_ascii_digit() => {
                self.number();
                self.blanks();
                if self.chars.next_if_eq(&'~').is_some() {
                    self.blanks();
                    self.number();
                }
                Ok(true)
            }
            Some('+' | '~') => {
                self.chars.next();
                self.blanks();
                self.number();
                Ok(true)
            }
            _ => Ok(false),
        }
    }

    fn pattern_address(&mut self) -> Result<bool, String> {
        let delimiter = self.delimiter()?;
        self.delimited(delimiter, Part::Pattern)?;
        self.skip(|next| matches!(next, 'I' | 'M' | ' ' | '\t'));
        Ok(true)
    }

    fn command(&mut self) -> Result<(), String> {
        let Some(command) = self.chars.next() else { return Err("sed: an address without a command".to_owned()) };
        match command {
            '{' => Ok(()),
            '}' | '=' | 'd' | 'D' | 'F' | 'g' | 'G' | 'h' | 'H' | 'n' | 'N' | 'p' | 'P' | 'x' | 'z' => self.end(),
            'l' | 'L' | 'q' | 'Q' => {
                self.blanks();
                self.number();
                self.end()
            }
            'b' | 't' | 'T' | ':' | 'v' => self.label(command),
            'a' | 'i' | 'c' => self.text(command),
            'r' | 'R' => self.file(),
            '#' => {
                self.skip(|next| next != '\n');
                Ok(())
            }
            's' => self.substitute(),
            'y' => {
                let delimiter = self.delimiter()?;
                self.delimited(delimiter, Part::Text)?;
                self.delimited(delimiter, Part::Text)?;
                self.end()
            }
            'w' | 'W' => Err(format!("sed's command {command} writes a file")),
            'e' => Err("sed's command e runs a program".to_owned()),
            other => Err(format!("sed's command {other} is not known")),
        }
    }

    /// The end of a command without further words.
    fn end(&mut self) -> Result<(), String> {
        self.blanks();
        match self.chars.peek() {
            None | Some('\n' | ';' | '}' | '#') => Ok(()),
            Some(other) => Err(format!("sed: {other} behind a command is not understood")),
        }
    }

    /// A label. Where it ends is told differently, so that only a plain one is accepted.
    fn label(&mut self, command: char) -> Result<(), String> {
        self.blanks();
        self.skip(|next| next.is_ascii_alphanumeric() || matches!(next, '_' | '.' | '-'));
        self.end().map_err(|_| format!("sed: the label of {command} is not understood"))
    }

    /// The text of `a`, `i` and `c`, to the end of the line.
    fn text(&mut self, command: char) -> Result<(), String> {
        self.blanks();
        if self.chars.next_if_eq(&'\\').is_some() {
            self.blanks();
            if self.chars.next_if_eq(&'\n').is_none() && self.chars.peek() == Some(&'\\') {
                // Whether the text goes on behind `i\\` depends on how many there are.
                return Err(format!("sed: where the text of {command} ends is not understood"));
            }
        } else if matches!(self.chars.peek(), None | Some('\n')) {
            return Err(format!("sed: {command} without a text"));
        }
        loop {
            match self.chars.next() {
                None | Some('\n') => return Ok(()),
                Some('\\') => {
                    self.chars.next();
                }
                Some(_) => {}
            }
        }
    }

    fn file(&mut self) -> Result<(), String> {
        self.blanks();
        let mut path = String::new();
        while let Some(next) = self.chars.next_if(|next| *next != '\n') {
            path.push(next);
        }
        if path.is_empty() {
            return Err("sed: r without a file".to_owned());
        }
        if path != "/dev/stdin" {
            self.files.push(path);
        }
        Ok(())
    }

    fn substitute(&mut self) -> Result<(), String> {
        let delimiter = self.delimiter()?;
        self.delimited(delimiter, Part::Pattern)?;
        self.delimited(delimiter, Part::Text)?;
        self.skip(|next| matches!(next, ' ' | '\t' | 'g' | 'p' | 'i' | 'I' | 'm' | 'M') || next.is_ascii_digit());
        match self.chars.peek() {
            None | Some('\n' | ';' | '}' | '#') => Ok(()),
            Some('w') => Err("sed's flag w of s writes a file".to_owned()),
            Some('e') => Err("sed's flag e of s runs a program".to_owned()),
            Some(other) => Err(format!("sed's flag {other} of s is not known")),
        }
    }

    fn delimiter(&mut self) -> Result<char, String> {
        match self.chars.next() {
            Some(delimiter) if delimiter.is_ascii() && !matches!(delimiter, '\n' | '\\') => Ok(delimiter),
            _ => Err("sed: a pattern without a usable delimiter".to_owned()),
        }
    }

    /// Reads to the delimiter, behind it.
    fn delimited(&mut self, delimiter: char, part: Part) -> Result<(), String> {
        let open = || format!("sed: a {delimiter} is missing");
        loop {
            match self.chars.next().ok_or_else(open)? {
                '\n' => return Err(open()),
                next if next == delimiter => return Ok(()),
                '\\' => {
                    self.chars.next().ok_or_else(open)?;
                }
                '[' if part == Part::Pattern => self.class()?,
                _ => {}
            }
        }
    }

    /// Reads a `[…]` behind its bracket.
    fn class(&mut self) -> Result<(), String> {
        self.chars.next_if_eq(&'^');
        self.chars.next_if_eq(&']');
        // The sign that ends the name within `[: :]`, `[. .]` and `[= =]`.
        let mut name: Option<char> = None;
        let mut last = ' ';
        loop {
            let next = self.chars.next().filter(|next| *next != '\n').ok_or("sed: a ] is missing")?;
            match (next, name) {
                (']', Some(sign)) if last == sign => {
                    name = None;
                    last = ' ';
                    continue;
                }
                (']', None) => return Ok(()),
                ('.' | ':' | '=', None) if last == '[' && self.classes == Classes::Nested => {
                    name = Some(next);
                    last = ' ';
                    continue;
                }
                _ => {}
            }
            // Of two signs in a row the second ends nothing.
            last = if name.is_some() && next == last { ' ' } else { next };
        }
    }

    fn number(&mut self) {
        self.skip(|next| next.is_ascii_digit());
    }

    fn blanks(&mut self) {
        self.skip(|next| matches!(next, ' ' | '\t'));
    }

    fn skip(&mut self, accepted: impl Fn(char) -> bool) {
        while self.chars.next_if(|next| accepted(*next)).is_some() {}
    }
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Part {
    /// A regular expression.
    Pattern,
    /// A replacement, or the signs of `y`.
    Text,
}

#[cfg(test)]
mod tests {
    use super::files_read;

    #[test]
    fn harmless_scripts_are_read_to_their_end() {
        for script in [
            "",
            "p",
            "$=",
            "1,20p",
            "$!N;P;D",
            "1!G;h;$!d",
            ":a;N;$!ba;s/\\n/ /g",
            "/alpha/{p;q}",
            "s/we/ew/g",
            "s/write/w/",
            "y/abc/xyz/",
            "s,/,\\,,g",
            "s|a/b|w e|2p",
            "\\,a,d",
            "/a/I,/b/M p",
            "0~3d",
            "2,+3!p",
            "1,~4p",
            "s/[/]/w /",
            "s/[^/]*$//",
            "s/[]/w]/x/",
            "s/[^]/w]/x/",
            "/[[:space:]]/d",
            "a hello; w pwn",
            "a\\\nw pwn",
            "a\\\none\\\nw pwn",
            "i\\  w x",
            "c\\\ntext\np",
            "#n\np # w pwn",
            "# w pwn",
            "l 5;p",
            "q5",
            "/x/{s/a/b/;s/c/d/}",
            "n;d",
            "s/a/b/ ; p",
            "s/\\(a\\)/\\1w/",
            "s/a/b\\\nw c/",
            "v 4.2",
            "b end;p;:end",
            "1{/a/d\n}",
            "/start/,/end/{//!d}",
            "s/a/\\/w b/",
            "$!{h;d};x;G",
            "F;z",
            "s/x/\u{e9}/",
            "/é/p",
            "s/[a[.-.]]/b/2",
            "s/a\\\nb/c/",
            "a\\",
        ] {
            assert!(files_read(script).is_ok(), "{script}: {:?}", files_read(script));
        }
    }

    #[test]
    fn writing_and_running_is_found_wherever_it_hides() {
        for script in [
            "w pwn",
            "W pwn",
            "w/dev/stdout",
            "e",
            "1e touch pwn",
            "s/a/b/w pwn",
            "s/a/b/gw pwn",
            "s/a/b/we",
            "s/a/b/e",
            "s/a/b/ge",
            "s/a/b/ e",
            "s/a/b/ w pwn",
            "/a/w pwn",
            "/a/!w pwn",
            "$!{w pwn\n}",
            "{p;w pwn\n}",
            "p;w pwn",
            "p\nw pwn",
            "a x\nw pwn",
            "a\\\nx\nw pwn",
            "a\\\nx\\\\\nw pwn",
            "# x\nw pwn",
            "1,/a/w pwn",
            "\\,a,w pwn",
            "s,a,b,w pwn",
            "sxaxbxw pwn",
            "/[/]/w pwn",
            "/[/w]/w pwn",
            "s/a\\/b/c/w pwn",
            "y/a/b/;w p",
            "/a/I w pwn",
            "/a/,+1w p",
            "0~2w p",
            "1!w p",
            "bx;w p",
            ":a;w p",
            "ta\nw p",
            "b};w p",
            "q;e",
            "l1;e",
            "s/[[:alpha:]/b/]/x/w p",
            "s/[a]/b/w p",
            "s/[]]/b/w p",
            "s/[^]]/b/w p",
            "s/[\\]/b/w p",
            "$e",
            "1~2e",
            "{{e}}",
            "r x\ne",
            "a",
            "s/a/b",
            "s/a",
            "/a",
            "s/a/b/x",
            "pp",
            "k",
            "1,",
            "s\u{e9}a\u{e9}b\u{e9}",
            ":a w p",
            "b a w p",
            "M",
            "s/a/b/\re",
            "i\\\\\ns/a/b/e",
            "a \\\\\np",
            "c\\ \\\np",
        ] {
            assert!(files_read(script).is_err(), "{script}");
        }
    }

    #[test]
    fn files_that_are_read_are_told() {
        assert_eq!(files_read("r a.txt;p\nR b}\nr /dev/stdin").unwrap(), ["a.txt;p", "b}"]);
        assert_eq!(files_read("/x/r /etc/shadow").unwrap(), ["/etc/shadow"]);
    }
}
