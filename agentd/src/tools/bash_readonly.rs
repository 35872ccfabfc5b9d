//! Which commands are known to read only, from a small list, by their text alone. Pure. Called by Bash.
//! Anything that is not understood counts as writing: this saves questions, it is no protection.

use crate::shell::{Access, Analysis, Class, Command, Doing, PathUse, World};

/// Longer lines are not looked at.
const MAX_COMMAND_CHARS: usize = 10_000;

/// A program, or a program and its sub-command, with the options that are known to be harmless.
struct Program {
    words: &'static [&'static str],
    /// Letters of options without a value; they may be joined, as in `-la`.
    letters: &'static str,
    /// Letters of options with a number, in the same word or the next.
    numbers: &'static str,
    /// Long options without a value.
    long: &'static [&'static str],
    /// Long options with a value after `=`.
    valued: &'static [&'static str],
    /// Whether words that are no options may follow.
    operands: bool,
}

const NOTHING: Program = Program { words: &[], letters: "", numbers: "", long: &[], valued: &[], operands: true };

const PROGRAMS: [Program; 11] = [
    Program {
        words: &["ls"],
        letters: "aAbBcCdfFgGhHiklLmnNopqQrRsStuUvxX1Z",
        long: &[
            "--all",
            "--almost-all",
            "--human-readable",
            "--recursive",
            "--reverse",
            "--size",
            "--directory",
            "--color",
        ],
        valued: &["--color", "--sort", "--time", "--format"],
        ..NOTHING
    },
    Program { words: &["pwd"], letters: "LP", operands: false, ..NOTHING },
    Program { words: &["cat"], letters: "AbeEnstTuv", long: &["--number", "--show-all", "--squeeze-blank"], ..NOTHING },
    Program { words: &["head"], letters: "qvz", numbers: "nc", valued: &["--lines", "--bytes"], ..NOTHING },
    Program { words: &["tail"], letters: "qvz", numbers: "nc", valued: &["--lines", "--bytes"], ..NOTHING },
    Program {
        words: &["wc"],
        letters: "clmwL",
        long: &["--lines", "--words", "--bytes", "--chars", "--max-line-length"],
        ..NOTHING
    },
    Program {
        words: &["git", "status"],
        letters: "sbvzu",
        long: &["--short", "--branch", "--porcelain", "--long", "--verbose", "--show-stash", "--ignored"],
        valued: &["--porcelain", "--untracked-files", "--ignored"],
        ..NOTHING
    },
    Program { words: &["git", "log"], letters: "psu", numbers: "n", long: GIT_LONG, valued: GIT_VALUED, ..NOTHING },
    Program { words: &["git", "show"], letters: "psu", long: GIT_LONG, valued: GIT_VALUED, ..NOTHING },
    Program { words: &["git", "diff"], letters: "pswbRz", numbers: "U", long: GIT_LONG, valued: GIT_VALUED, ..NOTHING },
    Program { words: &["git", "branch"], operands: false, ..NOTHING },
];

const GIT_LONG: &[&str] = &[
    "--oneline",
    "--graph",
    "--all",
    "--decorate",
    "--stat",
    "--shortstat",
    "--numstat",
    "--summary",
    "--patch",
    "--no-patch",
    "--name-only",
    "--name-status",
    "--reverse",
    "--merges",
    "--no-merges",
    "--first-parent",
    "--abbrev-commit",
    "--follow",
    "--no-color",
    "--date-order",
    "--topo-order",
    "--branches",
    "--tags",
    "--remotes",
    "--cached",
    "--staged",
    "--ignore-all-space",
    "--ignore-space-change",
    "--exit-code",
    "--no-ext-diff",
    "--no-textconv",
    "--minimal",
    "--merge-base",
    "--word-diff",
];
const GIT_VALUED: &[&str] = &[
    "--max-count",
    "--skip",
    "--since",
    "--until",
    "--after",
    "--before",
    "--author",
    "--committer",
    "--grep",
    "--date",
    "--pretty",
    "--format",
    "--decorate",
    "--color",
    "--unified",
    "--diff-filter",
    "--stat",
];

/// A command that only reads.
#[derive(Debug, PartialEq, Eq)]
pub(super) struct ReadOnly<'a> {
    /// What may be a path among its words.
    pub paths: Vec<&'a str>,
}

/// What is known of a command; `None` unless it surely only reads.
pub(super) fn analyse(command: &str) -> Option<ReadOnly<'_>> {
    let command = command.trim_matches([' ', '\n']);
    let plain = |c: char| c.is_ascii_alphanumeric() || "-_./=:,+@ ".contains(c);
    if command.len() > MAX_COMMAND_CHARS || !command.chars().all(plain) {
        return None;
    }
    let words: Vec<&str> = command.split(' ').filter(|word| !word.is_empty()).collect();
    let program = PROGRAMS.iter().find(|program| words.starts_with(program.words))?;
    let paths = operands(program, words.get(program.words.len()..)?)?;
    Some(ReadOnly { paths })
}

/// The analysis of a line that is not understood otherwise, from the list, if it is on it.
pub(super) fn or_from_list(analysis: Analysis, line: &str, world: World<'_>) -> Analysis {
    let Some(found) = analysis.refused.is_some().then(|| analyse(line)).flatten() else { return analysis };
    let path = |text: &&str| PathUse {
        path: Some(if text.starts_with('/') { (*text).to_owned() } else { format!("{}/{text}", world.cwd) }),
        below: false,
        access: Access::Read,
        text: (*text).to_owned(),
    };
    let words = line.split_whitespace().collect::<Vec<_>>().join(" ");
    let command = Command {
        text: line.trim().to_owned(),
        program: words.split(' ').next().map(str::to_owned),
        plain: words.clone(),
        forms: vec![words],
        class: Class::ReadOnly,
        doing: Doing::Other,
        why: "it is known to read only".to_owned(),
        paths: found.paths.iter().map(path).collect(),
    };
    Analysis { commands: vec![command], refused: None }
}

/// The words that are no options, if all options are known to be harmless.
fn operands<'a>(program: &Program, words: &[&'a str]) -> Option<Vec<&'a str>> {
    let mut found = Vec::new();
    let mut words = words.iter();
    let mut options = true;
    while let Some(word) = words.next() {
        match word.strip_prefix('-') {
            Some("-") if options => options = false,
            Some(flags) if options && !flags.is_empty() => option(program, word, flags, &mut words)?,
            _ => found.push(*word),
        }
    }
    (program.operands || found.is_empty()).then_some(found)
}

/// `Some` if the option is harmless; takes the next word where that is its value.
fn option(program: &Program, word: &str, flags: &str, rest: &mut std::slice::Iter<'_, &str>) -> Option<()> {
    if word.starts_with("--") {
        let known = match word.split_once('=') {
            Some((name, value)) => program.valued.contains(&name) && !value.is_empty(),
            None => program.long.contains(&word),
        };
        return known.then_some(());
    }
    if !program.numbers.is_empty() && is_number(flags) {
        return Some(());
    }
    if flags.chars().all(|letter| program.letters.contains(letter)) {
        return Some(());
    }
    let letter = flags.chars().next().filter(|letter| program.numbers.contains(*letter))?;
    let value = match flags.strip_prefix(letter) {
        Some("") => rest.next()?,
        value => value?,
    };
    is_number(value.trim_start_matches(['+', '-'])).then_some(())
}

fn is_number(text: &str) -> bool {
    !text.is_empty() && text.bytes().all(|byte| byte.is_ascii_digit())
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Whether a command surely only reads, and only below the folder it runs in (links aside).
    fn is_read_only(command: &str) -> bool {
        let stays = |path: &&str| !path.starts_with('/') && !path.split(['/', ':']).any(|part| part == "..");
        analyse(command).is_some_and(|found| found.paths.iter().all(stays))
    }

    #[test]
    fn what_only_reads() {
        for command in [
            "ls",
            "ls -la",
            "ls -l src",
            "  ls  -l  \n",
            "ls --color=never",
            "pwd",
            "pwd -P",
            "cat f",
            "cat -n a/b.rs c",
            "cat -- -x",
            "head -5 f",
            "head -n 5 f",
            "head -n5 f",
            "head -c 10 f",
            "tail -n +5 f",
            "tail -20 f",
            "wc -l f",
            "wc",
            "git status",
            "git status -sb",
            "git status --porcelain=v2",
            "git log",
            "git log --oneline -5",
            "git log -n 3 --stat",
            "git log --since=2026-01-01 -- src",
            "git diff",
            "git diff --cached --stat",
            "git diff HEAD -- src/a.rs",
            "git diff main..dev",
            "git show HEAD:src/a.rs",
            "git show --stat abc123",
            "git branch",
            "git diff -U5",
        ] {
            assert!(is_read_only(command), "{command}");
        }
    }

    #[test]
    #[rustfmt::skip] // a table of words reads better than a column
    fn shell_syntax_unknown_programs_and_paths_outside_do_not_pass() {
        for command in [
            "", " ", "rm x", "ls; rm x", "ls && rm x", "ls | tee x", "ls > f", "ls >f", "ls < f",
            "ls & rm x", "ls\nrm x", "ls\rrm x", "ls\trm", "cat $(x)", "cat `x`", "cat $X", "cat ${X}",
            "cat ~/x", "cat *", "cat {a,b}", "cat 'a'", "cat \"a\"", "cat \\a", "ls # x", "ls !x",
            "l\u{0456}s", "/bin/ls", "./ls", "X=1 ls", "LS", "lsx", "FOO=bar", "PATH=. ls", "sudo ls",
            "env ls", "command ls", "cat /etc/shadow", "cat ../x", "cat a/../../x", "cat ..", "ls /",
            "head -n -x f", "head -n", "tail -f x", "tail -F x", "tail --follow x", "tail --pid=1 x",
            "wc --files0-from=x", "ls -I x", "ls --hide=x", "pwd x", "head -nx f",
        ] {
            assert!(!is_read_only(command), "{command:?}");
        }
        assert!(!is_read_only(&format!("cat {}", "a".repeat(MAX_COMMAND_CHARS))));
    }

    #[test]
    #[rustfmt::skip] // a table of words reads better than a column
    fn git_passes_only_with_options_that_are_known() {
        for command in [
            "git", "git log --output=x", "git log --output x", "git diff --output=x", "git diff -o x",
            "git log -o x", "git show --output=/etc/x", "git -c alias.x=!sh x", "git -c core.pager=x log",
            "git -C /x log", "git --git-dir=x log", "git --exec-path=x status", "git -p log",
            "git log --ext-diff", "git diff --ext-diff", "git log --textconv",
            "git diff --no-index /etc/passwd x", "git diff /etc/passwd x", "git branch x", "git branch -D x",
            "git branch -a", "git checkout x", "git commit", "git push", "git fetch", "git stash",
            "git status /x", "git show HEAD:../x", "git log --show-signature", "git log -S x",
            "git difftool", "git  -c x=y status", "git diff --outpu=x",
        ] {
            assert!(!is_read_only(command), "{command:?}");
        }
    }

    #[test]
    fn words_that_may_be_paths_are_given() {
        let found = analyse("cat -n /etc/x ../y").unwrap();
        assert_eq!(found, ReadOnly { paths: vec!["/etc/x", "../y"] });
    }
}
