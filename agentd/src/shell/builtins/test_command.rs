//! `test` and `[`. Builtins. Only `-v` and `-R` evaluate what they are given.

use super::{Judged, harmless, literal, literals, looked_at, looks, unknown};
use crate::shell::names;
use crate::shell::programs::Arg;

/// Tests of one text, and of one path.
const OF_TEXT: [&str; 3] = ["-n", "-z", "-t"];
const OF_PATH: [&str; 20] = [
    "-a", "-b", "-c", "-d", "-e", "-f", "-g", "-h", "-k", "-p", "-r", "-s", "-u", "-w", "-x", "-G", "-L", "-N", "-O",
    "-S",
];
const BINARY: [&str; 14] = ["=", "==", "!=", "<", ">", "-eq", "-ne", "-lt", "-le", "-gt", "-ge", "-nt", "-ot", "-ef"];

pub(super) fn test(args: &[Arg]) -> Judged {
    // A number that may be missing is no operator, and what is left is none where it is not.
    if args.iter().any(|arg| matches!(arg, Arg::Many(text) if !text.starts_with(|first: char| first.is_ascii_digit())))
    {
        return unknown("how many words a test has is not known, which may evaluate one of them");
    }
    match args {
        [] | [_] => harmless(),
        [first, operator, second] if literal(operator).is_some_and(|o| BINARY.contains(&o)) => {
            compared(first, operator, second)
        }
        [not, rest @ ..] if literal(not) == Some("!") => test(rest),
        [operator, operand] => unary(operator, operand),
        _ => joined(args),
    }
}

fn compared(first: &Arg, operator: &Arg, second: &Arg) -> Judged {
    match literal(operator) {
        Some("-nt" | "-ot" | "-ef") => looks(vec![looked_at(first), looked_at(second)]),
        _ => harmless(),
    }
}

fn unary(operator: &Arg, operand: &Arg) -> Judged {
    match literal(operator) {
        Some(operator) if OF_TEXT.contains(&operator) => harmless(),
        Some(operator) if OF_PATH.contains(&operator) => looks(vec![looked_at(operand)]),
        Some("-v") if literal(operand).is_some_and(names::is_name) => harmless(),
        _ => unknown("what is tested is not known, which may evaluate it"),
    }
}

/// Tests joined by `-a` and `-o`, which bash tells apart only from what all words are.
fn joined(args: &[Arg]) -> Judged {
    let Some(words) = literals(args) else {
        return unknown("a test of many words is not understood unless all are known");
    };
    if words.iter().any(|word| matches!(*word, "-v" | "-R" | "-o")) && words.contains(&"-v") || words.contains(&"-R") {
        return unknown("a test of variables among others is not understood");
    }
    let after = args.iter().zip(args.iter().skip(1));
    let paths = after.filter(|(operator, _)| literal(operator).is_some_and(|o| OF_PATH.contains(&o)));
    looks(paths.map(|(_, operand)| looked_at(operand)).collect())
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::shell::programs::Judgement;

    fn judged(line: &str) -> bool {
        let words: Vec<Arg> = line
            .split(' ')
            .map(|word| match word {
                "ONE" => Arg::One(String::new()),
                "MANY" => Arg::Many(String::new()),
                word => Arg::Literal(word.to_owned()),
            })
            .collect();
        matches!(test(&words).0, Judgement::Known(_))
    }

    #[test]
    fn tests_that_evaluate_nothing() {
        for line in [
            "-f a",
            "! -d a",
            "-n ONE",
            "ONE = x",
            "ONE -eq ONE",
            "x",
            "ONE",
            "-v name",
            "-f a -a -r b",
            "-f ONE",
            "! ONE = x",
        ] {
            assert!(judged(line), "{line}");
        }
    }

    #[test]
    fn tests_that_may_evaluate() {
        for line in [
            "-v a[$(x)]",
            "-v ONE",
            "ONE x",
            "MANY",
            "-f MANY",
            "-f a -a -v b[0]",
            "ONE ONE ONE",
            "-R x",
            "-n ONE -a ONE ONE",
        ] {
            assert!(!judged(line), "{line}");
        }
    }
}
