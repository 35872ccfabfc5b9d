//! The builtins of bash: which uses are harmless, and what they do to the shell of the line. Lists of what is
//! understood; everything else may do anything. One file per group. Called by the walk.

mod output;
mod shell;
mod test_command;
mod variables;

use super::analysis::{Access, Class, Doing};
use super::programs::{Arg, Judgement, Known, PathArg};
use super::state::Value;

/// What a builtin does to the shell of the line.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) enum Effect {
    /// It sets a variable.
    Assign(String, Value),
    /// It makes an array whose keys are texts.
    Map(String),
    /// It exports a variable, perhaps with a new value.
    Export(String, Option<Value>),
    /// It leaves or goes on with a loop, or ends the shell.
    Leave,
    /// `cd` to its argument.
    Folder { physical: bool },
}

type Judged = (Judgement, Vec<Effect>);

/// The builtins of bash 5.2; a name that is one never reaches a program.
const BUILTINS: [&str; 61] = [
    ".",
    ":",
    "[",
    "alias",
    "bg",
    "bind",
    "break",
    "builtin",
    "caller",
    "cd",
    "command",
    "compgen",
    "complete",
    "compopt",
    "continue",
    "declare",
    "dirs",
    "disown",
    "echo",
    "enable",
    "eval",
    "exec",
    "exit",
    "export",
    "false",
    "fc",
    "fg",
    "getopts",
    "hash",
    "help",
    "history",
    "jobs",
    "kill",
    "let",
    "local",
    "logout",
    "mapfile",
    "popd",
    "printf",
    "pushd",
    "pwd",
    "read",
    "readarray",
    "readonly",
    "return",
    "set",
    "shift",
    "shopt",
    "source",
    "suspend",
    "test",
    "times",
    "trap",
    "true",
    "type",
    "typeset",
    "ulimit",
    "umask",
    "unalias",
    "unset",
    "wait",
];

/// Whether bash itself has a command of this name.
pub(super) fn is_builtin(name: &str) -> bool {
    BUILTINS.binary_search(&name).is_ok()
}

/// Judges a builtin by its words after the name.
pub(super) fn judge(name: &str, args: &[Arg]) -> Judged {
    match name {
        ":" | "true" | "false" | "times" => harmless(),
        "echo" => harmless(),
        "printf" => output::printf(args),
        "test" => test_command::test(args),
        "[" => match args.split_last() {
            Some((Arg::Literal(last), args)) if last == "]" => test_command::test(args),
            _ => unknown("a `[` without its `]` is not understood"),
        },
        "read" => variables::read(args),
        "mapfile" | "readarray" => variables::mapfile(args),
        "declare" | "typeset" | "local" | "export" => variables::declare(name, args),
        "unset" => variables::unset(args),
        "getopts" => variables::getopts(args),
        "let" => unknown("let evaluates text as arithmetic, which may run commands"),
        _ => shell::judge(name, args),
    }
}

fn harmless() -> Judged {
    with(Vec::new())
}

fn with(effects: Vec<Effect>) -> Judged {
    (Judgement::Known(Known { class: Class::ReadOnly, doing: Doing::Other, paths: Vec::new() }), effects)
}

fn looks(paths: Vec<PathArg>) -> Judged {
    (Judgement::Known(Known { class: Class::ReadOnly, doing: Doing::Other, paths }), Vec::new())
}

fn looked_at(arg: &Arg) -> PathArg {
    PathArg::new(arg.clone(), Access::Look)
}

fn unknown(why: &str) -> Judged {
    (Judgement::Unknown(why.to_owned()), Vec::new())
}

/// The text of a word that is known.
fn literal(arg: &Arg) -> Option<&str> {
    match arg {
        Arg::Literal(text) => Some(text),
        _ => None,
    }
}

/// The texts, if all words are known.
fn literals(args: &[Arg]) -> Option<Vec<&str>> {
    args.iter().map(literal).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_list_is_sorted() {
        assert!(BUILTINS.is_sorted());
        assert!(is_builtin("cd") && is_builtin("[") && is_builtin("wait") && !is_builtin("ls"));
    }

    #[test]
    fn what_may_do_anything() {
        for name in
            ["eval", "exec", "source", ".", "trap", "alias", "enable", "history", "bind", "let", "compgen", "readonly"]
        {
            let (judgement, _) = judge(name, &[Arg::Literal("x".to_owned())]);
            assert!(matches!(judgement, Judgement::Unknown(_)), "{name}");
        }
    }
}
