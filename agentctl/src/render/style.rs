//! Colours, or none. Used by everything that renders; never asked for where NO_COLOR or a pipe says no.

/// Whether and how to colour.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Style {
    /// Whether the reader is a terminal that wants colour.
    pub colour: bool,
}

impl Style {
    /// Text as it is.
    #[cfg(test)]
    pub const PLAIN: Self = Self { colour: false };

    /// Less important.
    pub fn dim(self, text: &str) -> String {
        self.wrap("2", text)
    }

    /// More important.
    pub fn bold(self, text: &str) -> String {
        self.wrap("1", text)
    }

    /// Failed, removed.
    pub fn red(self, text: &str) -> String {
        self.wrap("31", text)
    }

    /// Done, added.
    pub fn green(self, text: &str) -> String {
        self.wrap("32", text)
    }

    /// Waits for a person.
    pub fn yellow(self, text: &str) -> String {
        self.wrap("33", text)
    }

    /// Where we are.
    pub fn cyan(self, text: &str) -> String {
        self.wrap("36", text)
    }

    /// A sign that stands in place of what cannot be shown. It leaves the colours around it as they are.
    pub fn sign(self, text: &str) -> String {
        if self.colour { format!("\u{1b}[7m{text}\u{1b}[27m") } else { text.to_owned() }
    }

    /// A sign that is no warning. It leaves the colours around it as they are.
    pub fn faint(self, text: &str) -> String {
        if self.colour { format!("\u{1b}[2m{text}\u{1b}[22m") } else { text.to_owned() }
    }

    fn wrap(self, code: &str, text: &str) -> String {
        if self.colour && !text.is_empty() { format!("\u{1b}[{code}m{text}\u{1b}[0m") } else { text.to_owned() }
    }
}
