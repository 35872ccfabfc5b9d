//! Patterns of commands and names: `npm run build` to the letter, `npm run *` from a word on, `*` anywhere. Called by
//! `rule`. What a line's commands are is `shell`'s business.

/// Programs that run what their arguments say, so that a pattern over the arguments allows anything.
const RUN_OTHERS: [&str; 4] = ["watch", "setsid", "ionice", "flock"];
/// What makes `find` run or change something.
const FIND_ACTS: [&str; 9] =
    ["-exec", "-execdir", "-ok", "-okdir", "-delete", "-fprint", "-fprint0", "-fprintf", "-fls"];

/// A pattern of a command.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct CommandPattern {
    /// The texts between the stars; one if there is no star.
    pieces: Vec<String>,
    /// Whether arguments may follow, from a word's end on: `a *` and `a:*`. These are not among the pieces.
    arguments: bool,
}

impl CommandPattern {
    /// Parses a pattern. `\*` is a star, `\\` a backslash.
    ///
    /// # Errors
    /// What to write, if it is nothing but `:*`.
    pub(super) fn parse(text: &str) -> Result<Self, String> {
        let text = text.trim();
        let prefix = text.strip_suffix(":*").or_else(|| text.strip_suffix(" *"));
        if prefix.is_some_and(|prefix| prefix.trim().is_empty()) {
            return Err("it speaks of no command; name the tool alone to speak of all".to_owned());
        }
        Ok(Self { pieces: pieces(prefix.unwrap_or(text)), arguments: prefix.is_some() })
    }

    /// Whether a command fits, to the letter.
    pub(crate) fn fits(&self, command: &str) -> bool {
        self.any_of(&self.pieces, command)
    }

    /// Whether a command fits, whatever the blanks and line ends in it are.
    pub(crate) fn fits_loosely(&self, command: &str) -> bool {
        let pieces: Vec<String> = self.pieces.iter().map(|piece| squeezed(piece)).collect();
        self.any_of(&pieces, squeezed(command).trim())
    }

    fn any_of(&self, pieces: &[String], command: &str) -> bool {
        fits(pieces, command) || (self.arguments && fits(&with_arguments(pieces), command))
    }

    /// Whether it is one whole command.
    pub(crate) fn is_exact(&self) -> bool {
        self.pieces.len() == 1 && !self.arguments
    }

    /// Whether the command that it allows may be run for it: what runs other commands is allowed by its whole text only.
    pub(crate) fn may_allow(&self, command: &str) -> bool {
        self.is_exact() || !runs_others(command)
    }

    /// Whether it is a pattern of something that is only allowed by its whole text.
    pub(super) fn is_never_allowed(&self) -> bool {
        let first = self.pieces.first().and_then(|piece| piece.split(' ').next()).unwrap_or_default();
        !self.is_exact() && RUN_OTHERS.contains(&first)
    }

    /// The first words that every fitting command begins with; the last may be cut.
    pub(crate) fn beginning(&self) -> &str {
        self.pieces.first().map_or("", String::as_str)
    }
}

/// The pattern of exactly this text.
pub(crate) fn literal(text: &str) -> String {
    text.replace('\\', r"\\").replace('*', r"\*")
}

fn with_arguments(pieces: &[String]) -> Vec<String> {
    let mut pieces = pieces.to_vec();
    if let Some(last) = pieces.last_mut() {
        last.push(' ');
    }
    pieces.push(String::new());
    pieces
}

/// One blank for any run of blanks and line ends.
fn squeezed(text: &str) -> String {
    let mut squeezed = String::with_capacity(text.len());
    for letter in text.chars() {
        match letter.is_whitespace() {
            true if squeezed.ends_with(' ') => {}
            true => squeezed.push(' '),
            false => squeezed.push(letter),
        }
    }
    squeezed
}

fn runs_others(command: &str) -> bool {
    let mut words = command.split_whitespace();
    let program = words.next().map_or("", |word| word.rsplit('/').next().unwrap_or(word));
    RUN_OTHERS.contains(&program) || (program == "find" && words.any(|word| FIND_ACTS.contains(&word)))
}

/// The texts between the stars of a pattern in which `\*` is no star.
fn pieces(pattern: &str) -> Vec<String> {
    let mut pieces = vec![String::new()];
    let mut letters = pattern.chars().peekable();
    while let Some(letter) = letters.next() {
        match letter {
            '*' => pieces.push(String::new()),
            letter => {
                let escapes = letter == '\\' && letters.peek().is_some_and(|next| matches!(next, '*' | '\\'));
                let letter = if escapes { letters.next().unwrap_or(letter) } else { letter };
                if let Some(piece) = pieces.last_mut() {
                    piece.push(letter);
                }
            }
        }
    }
    pieces
}

fn fits(pieces: &[String], text: &str) -> bool {
    let Some((first, rest)) = pieces.split_first() else { return text.is_empty() };
    let Some(mut left) = text.strip_prefix(first.as_str()) else { return false };
    let Some((last, between)) = rest.split_last() else { return left.is_empty() };
    for piece in between {
        let Some(at) = left.find(piece.as_str()) else { return false };
        left = left.get(at + piece.len()..).unwrap_or_default();
    }
    left.ends_with(last.as_str())
}

/// Whether a text fits a pattern in which `*` stands for any characters.
#[must_use]
pub fn wildcard(pattern: &str, text: &str) -> bool {
    let pieces: Vec<String> = pattern.split('*').map(str::to_owned).collect();
    fits(&pieces, text)
}
