//! Builtins that set variables. Which variables are harmless is decided where the effects are applied.

use super::{Effect, Judged, literal, literals, unknown, with};
use crate::shell::names;
use crate::shell::programs::Arg;
use crate::shell::state::Value;

fn sets<'a>(variables: impl IntoIterator<Item = &'a str>) -> Judged {
    let mut effects = Vec::new();
    for name in variables {
        if !names::is_name(name) {
            return unknown("a variable whose name is not known, or a part of an array, is set");
        }
        effects.push(Effect::Assign(name.to_owned(), Value::any()));
    }
    with(effects)
}

/// `read`: options without and with a value, then names.
pub(super) fn read(args: &[Arg]) -> Judged {
    into_names(args, "ers", "dnNptu", "REPLY")
}

/// `mapfile`; `-C` runs a command, `-O` is arithmetic.
pub(super) fn mapfile(args: &[Arg]) -> Judged {
    into_names(args, "t", "dnsu", "mapfile")
}

fn into_names(args: &[Arg], alone: &str, valued: &str, otherwise: &str) -> Judged {
    let mut rest = args.iter();
    let mut variables = Vec::new();
    while let Some(arg) = rest.next() {
        let Some(word) = literal(arg) else { return unknown("a word of a builtin that sets variables is not known") };
        let Some(options) = word.strip_prefix('-').filter(|_| variables.is_empty()) else {
            variables.push(word);
            continue;
        };
        let mut letters = options.chars();
        while let Some(letter) = letters.next() {
            if letter == 'a' && valued.contains('p') {
                // An array is read into.
                let name = letters.as_str();
                let next = if name.is_empty() { rest.next().and_then(literal) } else { Some(name) };
                let Some(next) = next else { return unknown("the array to read into is not known") };
                variables.push(next);
                break;
            }
            if valued.contains(letter) {
                if letters.as_str().is_empty() && !matches!(rest.next(), Some(Arg::Literal(_) | Arg::One(_))) {
                    return unknown("an option of a builtin has no value that is known");
                }
                break;
            }
            if !alone.contains(letter) {
                return unknown("an option of a builtin that sets variables is not understood");
            }
        }
    }
    if variables.is_empty() && otherwise != "REPLY" {
        // `MAPFILE`, an array that nothing else obeys.
        return with(Vec::new());
    }
    if variables.is_empty() {
        variables.push(otherwise);
    }
    sets(variables)
}

/// `unset`, which evaluates subscripts.
pub(super) fn unset(args: &[Arg]) -> Judged {
    match literals(args) {
        Some(words) => sets(words.into_iter().filter(|word| *word != "-v")),
        None => unknown("which variable is unset is not known"),
    }
}

/// `getopts options name`, with words after it or without. It takes no option but `--`, which moves the name.
pub(super) fn getopts(args: &[Arg]) -> Judged {
    let args = match args {
        [Arg::Literal(end), rest @ ..] if end == "--" => rest,
        _ => args,
    };
    match args {
        [Arg::Literal(options), Arg::Literal(name), ..] if !options.starts_with('-') => sets([name.as_str()]),
        _ => unknown("which variable getopts sets is not known"),
    }
}

/// `declare`, `typeset`, `local`, `export` with assignments.
pub(super) fn declare(command: &str, args: &[Arg]) -> Judged {
    let mut exports = command == "export";
    let mut effects = Vec::new();
    let mut shows = true;
    // Only what is written as `declare -A names`: the walk reads keys by the same rule.
    let map = args.first().and_then(literal) == Some("-A");
    for arg in args {
        match arg {
            Arg::Literal(word) if word.starts_with('-') && effects.is_empty() => match command {
                // Arrays and names in one case; `-i` and `-n` evaluate values, `-p` shows the environment.
                "export" => return unknown("an option of export is not understood"),
                _ if word
                    .get(1..)
                    .is_some_and(|letters| !letters.is_empty() && letters.chars().all(|c| "aAgx".contains(c))) =>
                {
                    exports |= word.contains('x');
                }
                _ => return unknown("an option of declare is not understood"),
            },
            Arg::Literal(word) | Arg::One(word) | Arg::Many(word) => {
                shows = false;
                let exact = literal(arg).is_some();
                let (name, value) = match word.split_once('=') {
                    Some((name, value)) if exact => (name, Some(Value::Exact(value.to_owned()))),
                    Some((name, _)) => (name, Some(Value::any())),
                    None if exact => (word.as_str(), None),
                    None => return unknown("which variable is declared is not known"),
                };
                if !names::is_name(name) {
                    return unknown("a part of an array is declared, whose subscript is evaluated");
                }
                // Bash may not have expanded the braces of a value that comes in several words.
                let again = effects
                    .iter()
                    .any(|effect| matches!(effect, Effect::Assign(n, _) | Effect::Export(n, _) if n == name));
                let value = value.map(|value| if again { Value::any() } else { value });
                effects.push(match exports {
                    _ if map => Effect::Map(name.to_owned()),
                    true => Effect::Export(name.to_owned(), value),
                    // Declared without a value a variable is empty or as it was.
                    false => Effect::Assign(name.to_owned(), value.unwrap_or_else(Value::any)),
                });
            }
        }
    }
    if shows { unknown("it shows the variables of the environment, which may be secret") } else { with(effects) }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::shell::programs::Judgement;

    fn words(line: &str) -> Vec<Arg> {
        line.split_ascii_whitespace().map(|word| Arg::Literal(word.to_owned())).collect()
    }

    fn names_set(judged: &Judged) -> Vec<&str> {
        judged.1.iter().map(|effect| if let Effect::Assign(name, _) = effect { name.as_str() } else { "?" }).collect()
    }

    #[test]
    fn read_names_its_variables() {
        assert_eq!(names_set(&read(&words("-r line"))), ["line"]);
        assert_eq!(names_set(&read(&words("-rd x a b"))), ["a", "b"]);
        assert_eq!(names_set(&read(&words("-ra parts"))), ["parts"]);
        assert_eq!(names_set(&read(&words("-p prompt -t 5"))), ["REPLY"]);
        assert_eq!(names_set(&mapfile(&words("-t lines"))), ["lines"]);
        for judged in
            [read(&words("a[0]")), read(&words("-i x y")), mapfile(&words("-C x -c 1 y")), unset(&words("-f x"))]
        {
            assert!(matches!(judged.0, Judgement::Unknown(_)));
        }
    }

    #[test]
    fn getopts_names_its_variable() {
        assert_eq!(names_set(&getopts(&words("ab: option -a"))), ["option"]);
        assert_eq!(names_set(&getopts(&words("-- ab option -a"))), ["option"]);
        assert!(matches!(getopts(&words("-x ab option")).0, Judgement::Unknown(_)));
    }

    #[test]
    fn declarations_name_their_variables() {
        assert_eq!(names_set(&declare("local", &words("x=1 y"))), ["x", "y"]);
        assert_eq!(
            declare("export", &words("LANG=C")).1,
            [Effect::Export("LANG".to_owned(), Some(Value::Exact("C".to_owned())))]
        );
        for judged in [
            declare("declare", &words("-p")),
            declare("declare", &words("-i x=1")),
            declare("declare", &[]),
            declare("export", &words("-n x")),
        ] {
            assert!(matches!(judged.0, Judgement::Unknown(_)));
        }
    }
}
