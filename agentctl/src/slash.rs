//! What is a slash command and what is a prompt. Used by `chat` and by what is typed while a turn runs.

/// A command with what follows it.
#[derive(Debug, PartialEq, Eq)]
pub struct Slash<'a> {
    /// Its word.
    pub name: &'a str,
    /// What follows the word.
    pub argument: Option<&'a str>,
}

/// The command in a line; none if it is a prompt, as one that starts with a path is.
pub fn parse(line: &str) -> Option<Slash<'_>> {
    let rest = line.trim().strip_prefix('/')?;
    let (name, argument) = rest.split_once(char::is_whitespace).unwrap_or((rest, ""));
    let is_word = !name.is_empty() && name.chars().all(|c| c.is_ascii_alphabetic());
    is_word.then_some(Slash { name, argument: Some(argument.trim()).filter(|argument| !argument.is_empty()) })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_slash_word_is_a_command_and_a_path_is_not() {
        let command = |name, argument| Some(Slash { name, argument });
        let table = [
            ("/help", command("help", None)),
            (" /model  a/b ", command("model", Some("a/b"))),
            ("/nonsense", command("nonsense", None)),
            ("/etc/hosts is odd", None),
            ("/", None),
            ("say /help", None),
        ];
        for (line, parsed) in table {
            assert_eq!(parse(line), parsed, "{line}");
        }
    }
}
