//! What an exit code means. Pure. Called by Bash.

/// Programs for which exit code 1 says "no" rather than "failed".
const ONE_MEANS_NO: [&str; 8] = ["grep", "rg", "egrep", "fgrep", "find", "diff", "test", "["];
/// Sub-commands of git of that kind.
const GIT_ONE_MEANS_NO: [&str; 2] = ["diff", "grep"];

/// Whether a command with this exit code failed. For some programs 1 only means that nothing was found, or
/// that two things differ; it is the last program of the line that gives the code.
pub(super) fn is_failure(command: &str, code: i32) -> bool {
    match code {
        0 => false,
        1 => !one_means_no(command),
        _ => true,
    }
}

fn one_means_no(command: &str) -> bool {
    let Some(words) = last_simple_command(command) else { return false };
    let mut words = words.iter().map(String::as_str).skip_while(|word| is_assignment(word));
    let Some(program) = words.next() else { return false };
    match program.rsplit('/').next().unwrap_or(program) {
        "git" => words.next().is_some_and(|word| GIT_ONE_MEANS_NO.contains(&word)),
        name => ONE_MEANS_NO.contains(&name),
    }
}

fn is_assignment(word: &str) -> bool {
    let name = word.split_once('=').map(|(name, _)| name);
    name.is_some_and(|name| !name.is_empty() && name.chars().all(|c| c.is_ascii_alphanumeric() || c == '_'))
}

/// The words of the last simple command of a line. `None` where that can't be told without a real parser.
fn last_simple_command(command: &str) -> Option<Vec<String>> {
    let mut words: Vec<String> = Vec::new();
    let mut word: Option<String> = None;
    let mut chars = command.trim_end().chars();
    while let Some(c) = chars.next() {
        match c {
            '\'' => {
                let text = word.get_or_insert_default();
                loop {
                    match chars.next()? {
                        '\'' => break,
                        c => text.push(c),
                    }
                }
            }
            '"' => {
                let text = word.get_or_insert_default();
                loop {
                    match chars.next()? {
                        '"' => break,
                        '\\' => text.push(chars.next()?),
                        '`' => return None,
                        c => text.push(c),
                    }
                }
            }
            '\\' => word.get_or_insert_default().push(chars.next()?),
            ';' | '|' | '&' | '\n' => {
                word = None;
                words.clear();
            }
            '`' | '(' | ')' | '<' | '#' | '{' | '}' => return None,
            c if c.is_whitespace() => words.extend(word.take()),
            c => word.get_or_insert_default().push(c),
        }
    }
    words.extend(word);
    Some(words)
}

/// What killed a process, such as `SIGKILL`.
pub(super) fn signal_name(number: i32) -> String {
    nix::sys::signal::Signal::try_from(number).map_or_else(|_| format!("signal {number}"), |signal| signal.to_string())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn one_is_no_failure_for_what_searches_and_compares() {
        for command in [
            "grep x f",
            "rg x",
            "/usr/bin/grep -q x f",
            "cat f | grep x",
            "cd a && grep x f",
            "make; diff a b",
            "LC_ALL=C grep x f",
            "git diff --exit-code",
            "git grep x",
            "test -f x",
            "[ -f x ]",
            "find . -name x",
            "echo 'a;b' | egrep \"x|y\"",
            "grep 'a' f\n",
            "grep -E 'a|b;c' f",
        ] {
            assert!(!is_failure(command, 1), "{command}");
            assert!(is_failure(command, 2), "{command}");
        }
    }

    #[test]
    fn one_is_a_failure_for_all_else() {
        for command in [
            "false",
            "grep x f && make",
            "grep x f; exit 1",
            "git commit",
            "git",
            "sudo grep x f",
            "",
            "make # grep x",
            "echo $(grep x f)",
            "grep x f)",
            "echo `grep x`",
            "X=1",
            "grep 'x",
            "diff <(a) <(b)",
        ] {
            assert!(is_failure(command, 1), "{command}");
        }
        assert!(!is_failure("false", 0));
    }

    #[test]
    fn signals_have_names() {
        assert_eq!(signal_name(9), "SIGKILL");
        assert_eq!(signal_name(64), "signal 64");
    }
}
