//! What rules that tighten see of a command beside the texts of its analysis: the commands that `find` and programs that
//! run others are given, and git without the options in front of its command. Called by `bash_lines`. By text alone.

use crate::shell::{Class, Command};

/// Words of `find` behind which a command stands.
const RUNS: [&str; 4] = ["-exec", "-execdir", "-ok", "-okdir"];
/// Options of git in front of its command that take a word.
const GIT_WITH_VALUE: [&str; 7] =
    ["-C", "-c", "--git-dir", "--work-tree", "--namespace", "--config-env", "--super-prefix"];
/// Programs with the words after which a command stands.
const RUNNERS: [(&str, &[&str]); 8] = [
    ("npm", &["exec", "x"]),
    ("pnpm", &["exec", "dlx"]),
    ("yarn", &["exec", "dlx", "run"]),
    ("bun", &["x"]),
    ("uv", &["run"]),
    ("poetry", &["run"]),
    ("pipenv", &["run"]),
    ("bundle", &["exec"]),
];
/// Programs that run a text, or commands that they read.
const SHELLS: [&str; 9] = ["ash", "bash", "dash", "fish", "ksh", "mksh", "rbash", "sh", "zsh"];
/// Words behind such a runner that are looked at.
const RUNNER_WORDS: usize = 8;

/// Every text of a command that such a rule is compared with.
pub(super) fn forms(command: &Command) -> Vec<String> {
    let mut forms = command.forms.clone();
    for form in &command.forms {
        let words: Vec<&str> = form.split_whitespace().collect();
        let Some((program, arguments)) = words.split_first() else { continue };
        let program = base(program);
        if program == "git" {
            forms.push(joined("git", without_options(arguments)));
        }
        if matches!(program, "find" | "gfind") {
            let starts = arguments.iter().enumerate().filter(|(_, word)| RUNS.contains(word));
            forms.extend(starts.filter_map(|(at, _)| Some(arguments.get(at + 1..)?.join(" "))));
        }
        let runner = RUNNERS.iter().find(|(name, _)| *name == program);
        if let Some(at) = runner.and_then(|(_, runs)| arguments.iter().position(|word| runs.contains(word))) {
            let behind = (at + 1..arguments.len()).take(RUNNER_WORDS);
            let rest = behind.filter_map(|from| arguments.get(from..));
            forms.extend(
                rest.filter(|rest| !rest.iter().take(1).any(|w| w.starts_with('-'))).map(|rest| rest.join(" ")),
            );
        }
    }
    forms
}

/// Whether what a command runs is not in its words, beside what its analysis tells: a shell that reads its commands, and
/// git with a command, or an alias, that isn't known.
pub(super) fn is_hidden(command: &Command) -> bool {
    let of_form = |form: &String| {
        let words: Vec<&str> = form.split_whitespace().collect();
        let Some((program, arguments)) = words.split_first() else { return false };
        match base(program) {
            "git" => {
                let named = without_options(arguments).first();
                named.is_some_and(|word| word.contains(['$', '`', '*', '?', '{']))
                    || arguments.iter().any(|word| word.to_ascii_lowercase().starts_with("alias."))
            }
            shell if SHELLS.contains(&shell) => reads_commands(arguments),
            _ => false,
        }
    };
    command.hidden || (command.class == Class::Unknown && command.forms.iter().any(of_form))
}

/// Whether a shell with these words reads commands from its standard input, or is given a text that isn't known.
fn reads_commands(words: &[&str]) -> bool {
    let short = |word: &str, letter: char| word.starts_with('-') && !word.starts_with("--") && word.contains(letter);
    let Some(at) = words.iter().position(|word| short(word, 'c')) else {
        // `<` and what is behind it are no words of the shell.
        let mut own = words.iter().take_while(|word| !word.starts_with(['<', '>']));
        let file = |word: &&str| matches!(*word, "/dev/stdin" | "/dev/fd/0" | "/proc/self/fd/0");
        return words.iter().any(|word| short(word, 's')) || own.all(|word| word.starts_with(['-', '+']) || file(word));
    };
    words.get(at + 1).is_some_and(|text| {
        text.starts_with(['"', '$', '`']) && words.iter().skip(at + 1).any(|word| word.contains(['$', '`']))
    })
}

/// The words of git from its command on.
pub(super) fn without_options<'w, 'a>(words: &'w [&'a str]) -> &'w [&'a str] {
    let mut rest = words;
    while let Some((word, behind)) = rest.split_first().filter(|(word, _)| word.starts_with('-')) {
        rest = if GIT_WITH_VALUE.contains(word) { behind.get(1..).unwrap_or_default() } else { behind };
    }
    rest
}

fn joined(program: &str, words: &[&str]) -> String {
    std::iter::once(program).chain(words.iter().copied()).collect::<Vec<_>>().join(" ")
}

fn base(program: &str) -> &str {
    program.rsplit('/').next().unwrap_or(program)
}
