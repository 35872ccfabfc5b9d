//! Which rules speak of a command: `Bash(git *)` of `git status`, and of `cd x && git push` too. Pure. Called by Bash.
//!
//! It is for rules that tighten: a command is taken apart roughly, and one that can't be is spoken of by every rule.
//! Nothing may be allowed by it.

use super::tool::PermissionMatcher;
use crate::policy::wildcard;

/// Words before a command that change how it runs, not what it does.
const WRAPPERS: [&str; 8] = ["timeout", "time", "nice", "nohup", "stdbuf", "command", "builtin", "noglob"];

/// Words of a wrapper itself, at most: its options with their values.
const MAX_WRAPPER_WORDS: usize = 6;

/// Takes a command apart once, for the contents of many rules.
pub(super) fn matcher(command: &str) -> PermissionMatcher {
    let Some(parts) = split(command) else { return Box::new(|_| true) };
    let mut forms = vec![squeezed(command)];
    for part in parts {
        let part = squeezed(&part);
        forms.extend(without_wrappers(&part));
        forms.push(part);
    }
    forms.retain(|form| !form.is_empty());
    Box::new(move |pattern| {
        let pattern = pattern.trim();
        forms.iter().any(|form| fits(pattern, form))
    })
}

/// `a b` is a whole command; `a *` and `a:*` are `a`, alone or with arguments; `*` elsewhere is any text.
fn fits(pattern: &str, command: &str) -> bool {
    let prefix = pattern.strip_suffix(":*").or_else(|| pattern.strip_suffix(" *"));
    match prefix {
        Some(prefix) => wildcard(prefix, command) || wildcard(&format!("{prefix} *"), command),
        None => wildcard(pattern, command),
    }
}

fn squeezed(command: &str) -> String {
    command.split_whitespace().collect::<Vec<_>>().join(" ")
}

/// What a command may be without the assignments and wrappers before it. Which of a wrapper's words belong to it is
/// not known, so each of the next ones may be the command.
fn without_wrappers(command: &str) -> Vec<String> {
    let words: Vec<&str> = command.split(' ').collect();
    let before = |word: &&&str| is_assignment(word) || WRAPPERS.contains(*word);
    let skipped = words.iter().take_while(before).count();
    let wrapped = words.iter().take(skipped).any(|word| WRAPPERS.contains(word));
    let starts = if wrapped { skipped..skipped + MAX_WRAPPER_WORDS } else { skipped..skipped + 1 };
    starts.filter_map(|start| words.get(start..)).map(|rest| rest.join(" ")).collect()
}

fn is_assignment(word: &str) -> bool {
    let Some((name, _)) = word.split_once('=') else { return false };
    let mut letters = name.chars();
    letters.next().is_some_and(|first| first.is_ascii_alphabetic() || first == '_')
        && letters.all(|letter| letter.is_ascii_alphanumeric() || letter == '_')
}

/// The simple commands of a line; `None` where there is more to it than commands side by side.
fn split(command: &str) -> Option<Vec<String>> {
    let mut parts = vec![String::new()];
    let mut quote = None;
    let mut letters = command.chars().peekable();
    while let Some(letter) = letters.next() {
        let next = letters.peek().copied();
        match (quote, letter) {
            // Another command within this one.
            (None | Some('"'), '`') => return None,
            (None | Some('"'), '$') if next == Some('(') => return None,
            (None, '<' | '>') if next == Some('(') => return None,
            (None, '<') if next == Some('<') => return None,
            (None, '(' | ')' | '{' | '}') => return None,
            (None, '\\') | (Some('"'), '\\') => {
                if let Some(part) = parts.last_mut() {
                    part.push(letter);
                    part.extend(letters.next());
                }
                continue;
            }
            (Some(open), _) if letter == open => quote = None,
            (None, '"' | '\'') => quote = Some(letter),
            (None, ';' | '|' | '&' | '\n') => {
                // `2>&1` and `&>` are no ends of a command.
                let redirects =
                    letter == '&' && (next == Some('>') || parts.last().is_some_and(|part| part.ends_with(['>', '<'])));
                if !redirects {
                    parts.push(String::new());
                    continue;
                }
            }
            _ => {}
        }
        parts.last_mut()?.push(letter);
    }
    quote.is_none().then_some(parts)
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Row T13: a command is taken apart once and can be gone before the many patterns of rules are tried.
    #[test]
    fn one_parse_serves_many_patterns() {
        let matches = {
            let command = String::from("cd app && FOO=1 timeout -s KILL 5 npm run build | tee 'a; b' 2>&1");
            matcher(&command)
        };
        for (pattern, expected) in [
            ("npm run build", true),
            ("npm run *", true),
            ("npm run:*", true),
            ("npm:*", true),
            ("npm", false),
            ("npm ru", false),
            ("cd *", true),
            ("cd", false),
            ("tee *", true),
            ("b", false),
            ("* build", true),
            ("np*", true),
            ("git *", false),
            ("rm:*", false),
            ("*", true),
        ] {
            assert_eq!(matches(pattern), expected, "{pattern}");
        }
    }

    #[test]
    fn a_space_before_the_star_is_a_word_boundary() {
        assert!(matcher("ls -l")("ls *") && matcher("ls")("ls *") && matcher("ls")("ls:*"));
        assert!(!matcher("lsof")("ls *") && matcher("lsof")("ls*"));
        assert!(matcher("git push origin main")("git * main") && !matcher("git main")("git * main"));
    }

    #[test]
    fn each_part_of_a_line_is_seen() {
        for command in [
            "true; rm x",
            "true && rm x",
            "false || rm x",
            "ls | rm x",
            "ls |& rm x",
            "sleep 1 & rm x",
            "true\nrm x",
            "A=1 rm x",
            "nohup rm x",
            "time nice -n 5 rm x",
            "  rm   x",
            "rm x # y",
            "rm x 2>&1",
            "rm x &> /dev/null",
        ] {
            assert!(matcher(command)("rm *"), "{command}");
        }
        for command in ["echo 'a; rm x'", "echo \"a && rm x\"", "echo a\\; rm x", "form x"] {
            assert!(!matcher(command)("rm *"), "{command}");
        }
    }

    #[test]
    fn what_can_not_be_taken_apart_is_spoken_of_by_every_rule() {
        for command in [
            "echo $(x)",
            "echo `x`",
            "echo \"$(x)\"",
            "(x)",
            "{ x; }",
            "cat <(x)",
            "cat << EOF",
            "echo 'open",
            "f() { x; }",
        ] {
            assert!(matcher(command)("rm *"), "{command}");
        }
        assert!(!matcher("echo '$(x)'")("rm *"), "no command in single quotes");
    }
}
