//! Builtins about the shell itself: the folder, options, jobs, and `command`.

use super::{Effect, Judged, harmless, literal, literals, looked_at, unknown, with};
use crate::shell::analysis::{Class, Doing};
use crate::shell::programs::{Arg, Judgement, Known};

/// Options of `set` that only make a line stop earlier or read nothing.
const SET: [&str; 12] = ["-e", "+e", "-u", "+u", "-eu", "-ue", "-f", "-euo", "-eo", "-uo", "-o", "+o"];
const SET_NAMES: [&str; 4] = ["pipefail", "errexit", "nounset", "noglob"];

pub(super) fn judge(name: &str, args: &[Arg]) -> Judged {
    let words = literals(args);
    match (name, words.as_deref()) {
        ("cd", _) => cd(args),
        ("pwd", Some([] | ["-P" | "-L"])) => harmless(),
        ("command", _) if matches!(args.first().and_then(literal), Some("-v" | "-V")) => harmless(),
        ("type", _) | ("help", _) => harmless(),
        ("command" | "builtin", _) => wrapped(args),
        ("kill", Some(["-l" | "-L", ..])) => harmless(),
        // It is only asked whether the processes are there.
        ("kill", Some(["-0", rest @ ..])) if rest.iter().all(|id| is_job(id)) => harmless(),
        ("kill", None) if matches!(args, [Arg::Literal(zero), Arg::One(_)] if zero == "-0") => harmless(),
        ("ulimit", Some(options)) if options.iter().all(|o| limit_shown(o)) => harmless(),
        ("umask", Some([] | ["-S"])) | ("hash", Some([] | ["-r"])) => harmless(),
        // Its redirections stay, which are judged as those of any command.
        ("exec", Some([])) => harmless(),
        // `-x` runs a command, also among other letters.
        ("jobs", Some(words)) if options_are(words, "lnprs") => harmless(),
        // `-p` sets a variable, also among other letters.
        ("wait", Some(words)) if options_are(words, "fn") => harmless(),
        ("wait", None) if args.iter().all(is_no_option) => harmless(),
        ("dirs", Some([])) => harmless(),
        ("shift", Some([])) => harmless(),
        ("shift", Some([count])) if crate::shell::state::is_plain_number(count) => harmless(),
        ("break" | "continue", Some([])) | ("exit" | "return", Some([])) => with(vec![Effect::Leave]),
        ("break" | "continue" | "exit" | "return", Some([number])) if crate::shell::state::is_plain_number(number) => {
            with(vec![Effect::Leave])
        }
        ("exit" | "return", None) if matches!(args, [Arg::One(_) | Arg::Many(_)]) => with(vec![Effect::Leave]),
        ("set", _) if args.first().and_then(literal) == Some("--") => harmless(),
        ("set", Some(options)) => set(options),
        ("trap", Some(["-", ..])) => harmless(),
        ("shopt", Some(["-q" | "-p", names @ ..])) if !names.iter().any(|name| name.starts_with('-')) => harmless(),
        ("shopt", Some([] | ["-p" | "-s" | "-u" | "-q"])) => harmless(),
        _ => unknown(&format!("`{name}` is not harmless in this form")),
    }
}

/// Whether a word is the number of a process or names a job.
fn is_job(word: &str) -> bool {
    let digits = word.strip_prefix('%').unwrap_or(word);
    !digits.is_empty() && digits.bytes().all(|byte| byte.is_ascii_digit())
}

/// `cd`; where it leads is worked out by the walk.
fn cd(args: &[Arg]) -> Judged {
    let (options, target) = match args.split_last() {
        Some((last, before)) if !literal(last).is_some_and(|w| w.starts_with('-') && w.len() > 1) => {
            (before, Some(last))
        }
        _ => (args, None),
    };
    let mut physical = false;
    for option in options {
        match literal(option) {
            Some("-P") => physical = true,
            Some("-L") => physical = false,
            Some("--") => {}
            _ => return unknown("the words of cd are not understood"),
        }
    }
    let paths = target.filter(|target| literal(target) != Some("-")).map(looked_at).into_iter().collect();
    (Judgement::Known(Known { class: Class::ReadOnly, doing: Doing::Other, paths }), vec![Effect::Folder { physical }])
}

/// `command name …` and `builtin name …`.
fn wrapped(args: &[Arg]) -> Judged {
    let args = match args.split_first() {
        Some((first, rest)) if literal(first) == Some("--") => rest,
        _ => args,
    };
    match args.first().map(literal) {
        Some(Some(name)) if !name.starts_with('-') => {
            let does = Known { class: Class::ReadOnly, doing: Doing::Other, paths: Vec::new() };
            (Judgement::Runs { argv: args.to_vec(), does }, Vec::new())
        }
        None => harmless(),
        _ => unknown("an option of command is not understood"),
    }
}

/// Whether a word is no option of `wait`: a number, or one that is written out.
fn is_no_option(word: &Arg) -> bool {
    let (Arg::Literal(text) | Arg::One(text) | Arg::Many(text)) = word;
    text.starts_with(|first: char| first.is_ascii_digit() || first == '%')
}

/// Whether each word that may be an option holds these letters only.
fn options_are(words: &[&str], letters: &str) -> bool {
    words.iter().filter_map(|word| word.strip_prefix('-')).all(|given| given.chars().all(|c| letters.contains(c)))
}

/// Whether an option of `ulimit` has no value: what is attached to its last letter is a limit to set, as in
/// `-cunlimited`.
fn limit_shown(option: &str) -> bool {
    let Some(letters) = option.strip_prefix('-') else { return false };
    let mut shown = letters.trim_start_matches(['H', 'S', 'a']).chars();
    !letters.is_empty() && shown.next().is_none_or(|letter| letter.is_ascii_alphabetic()) && shown.next().is_none()
}

fn set(options: &[&str]) -> Judged {
    let known = |option: &&str| SET.contains(option) || SET_NAMES.contains(option);
    let named =
        options.iter().filter(|o| o.ends_with('o')).count() == options.iter().filter(|o| SET_NAMES.contains(o)).count();
    let begins = options.first().is_some_and(|option| option.starts_with(['-', '+']));
    if begins && named && options.iter().all(known) {
        harmless()
    } else {
        unknown("an option of set is not harmless, or the environment is shown")
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn known(line: &str) -> bool {
        let mut words = line.split_ascii_whitespace();
        let name = words.next().unwrap();
        let args: Vec<Arg> = words.map(|word| Arg::Literal(word.to_owned())).collect();
        !matches!(judge(name, &args).0, Judgement::Unknown(_))
    }

    #[test]
    fn forms_that_are_harmless() {
        for line in [
            "cd src",
            "cd",
            "cd -",
            "cd -P src",
            "cd -- src",
            "pwd -P",
            "command -v x",
            "type -a x",
            "help cd",
            "kill -l",
            "kill -0 12 %1",
            "ulimit -a",
            "ulimit -n",
            "umask",
            "wait",
            "jobs",
            "jobs -lr %1",
            "wait -n",
            "wait -fn 12",
            "ulimit -a",
            "ulimit -Hn",
            "ulimit -SHa",
            "shift 2",
            "break",
            "exit 1",
            "set -e",
            "set -euo pipefail",
            "set -o pipefail",
            "set +e",
            "set -- a b",
            "shopt",
            "shopt -q nullglob",
            "trap - EXIT",
            "command ls",
            "exec",
            "hash -r",
        ] {
            assert!(known(line), "{line}");
        }
    }

    #[test]
    fn forms_that_are_not() {
        for line in [
            "command -p ls",
            "kill 1",
            "kill -0 -9 1",
            "kill -0 a",
            "kill -0 1 -s",
            "ulimit -n 10",
            "umask 077",
            "hash -p a b",
            "jobs -x ls",
            "jobs -lx ls",
            "jobs -xx ls",
            "wait -p x",
            "wait -np x",
            "wait -fnp x",
            "ulimit -cunlimited",
            "ulimit -n 100",
            "ulimit -Sc0",
            "set",
            "set -x",
            "shopt -s expand_aliases",
            "shopt -q -s expand_aliases",
            "exec ls",
            "eval ls",
            "source x",
            "trap x EXIT",
            "alias a=b",
            "pushd x",
            "fc",
            "enable -n ls",
            "set -o xtrace",
            "set pipefail",
            "readonly x",
            "suspend",
            "dirs -c",
            "cd -P -x src",
        ] {
            assert!(!known(line), "{line}");
        }
    }
}
