//! Names of files that one command prints for `xargs` behind it in a pipe. Part of the walk.

use crate::shell::expand::Expanded;

/// What is known of the lines that come down a pipe.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub(super) enum Names {
    /// Nothing.
    #[default]
    Unknown,
    /// Each names something below the folder, but one with a blank in it is taken for several.
    Lines,
    /// Names of what is below the folder, each with a NUL byte behind it.
    Whole,
}

/// Programs that tell of a file how large or of what kind it is, and nothing of what is in it.
const TELLING: [&str; 12] =
    ["wc", "ls", "stat", "file", "du", "basename", "dirname", "md5sum", "sha1sum", "sha256sum", "cksum", "realpath"];
/// Expressions of `find` that choose, and print nothing of their own.
const CHOOSING: [&str; 16] = [
    "-name",
    "-iname",
    "-path",
    "-type",
    "-maxdepth",
    "-mindepth",
    "-size",
    "-mtime",
    "-mmin",
    "-newer",
    "-not",
    "-o",
    "-a",
    "-print",
    "-print0",
    "-empty",
];

/// What is known of the output of a command that gets `input`.
pub(super) fn output(input: Names, words: &[Expanded]) -> Names {
    let exact: Option<Vec<&str>> = words.iter().map(Expanded::exact).collect();
    let Some(exact) = exact else { return Names::Unknown };
    let below = |words: &[&str]| words.iter().all(|word| !word.starts_with('/') && !word.contains(".."));
    let plain = |words: &[&str], options: &[&str]| {
        below(words) && words.iter().all(|word| !word.starts_with('-') || options.contains(word))
    };
    match exact.as_slice() {
        ["find", rest @ ..] if plain(rest, &CHOOSING) => {
            if rest.last() == Some(&"-print0") {
                Names::Whole
            } else {
                Names::Lines
            }
        }
        ["git", "ls-files", rest @ ..] if plain(rest, &["-z", "--"]) => {
            if rest.contains(&"-z") {
                Names::Whole
            } else {
                Names::Lines
            }
        }
        ["git", "diff", "--name-only", rest @ ..] if plain(rest, &["--cached", "--staged", "--"]) => Names::Lines,
        ["git", "grep", "-l", rest @ ..] if plain(rest, &["-i", "-w", "-e", "--"]) => Names::Lines,
        ["rg" | "grep", option, rest @ ..] if lists(option) && plain(rest, &["-i", "-w", "-e", "--"]) => Names::Lines,
        ["rg", "--files", rest @ ..] if plain(rest, &[]) => Names::Lines,
        ["ls", rest @ ..] if plain(rest, &["-1", "-t", "-r", "-d"]) => Names::Lines,
        // What only leaves lines out, or puts them in another order.
        ["grep", rest @ ..]
            if input == Names::Lines && rest.len() < 3 && plain(rest, &["-v", "-E", "-i", "-F", "-vE"]) =>
        {
            input
        }
        ["sort" | "uniq"] if input == Names::Lines => input,
        ["head" | "tail", "-n", count] | ["head" | "tail", count] if input == Names::Lines && is_count(count) => input,
        _ => Names::Unknown,
    }
}

/// Options of grep and ripgrep with which only the names of files are printed.
fn lists(option: &str) -> bool {
    let letters = option.strip_prefix('-').unwrap_or_default();
    letters.contains('l') && letters.chars().all(|letter| "rlinwEF".contains(letter))
}

fn is_count(word: &str) -> bool {
    let digits = word.strip_prefix('-').unwrap_or(word);
    !digits.is_empty() && digits.bytes().all(|byte| byte.is_ascii_digit())
}

/// Whether what `xargs` hands on are names below the folder, or such that nothing is shown of a file that is elsewhere.
pub(super) fn are_below(input: Names, words: &[Expanded], runs: &[Expanded]) -> bool {
    let Some(program) = runs.first().and_then(Expanded::exact) else { return false };
    let own = words.iter().skip(1).map_while(|word| word.exact().filter(|word| *word != program));
    let own: Vec<&str> = own.collect();
    let known = |word: &&str| {
        // Lines as they are.
        ["-d", "\\n", "-d\\n"].contains(word)
            || word.chars().all(|letter| "-0rtnLPI{}%".contains(letter) || letter.is_ascii_digit())
    };
    let whole = own.iter().any(|word| ["-0", "-0r", "-r0"].contains(word));
    own.iter().all(known)
        && stays(words)
        && match input {
            Names::Unknown => false,
            Names::Lines => !whole && TELLING.contains(&program),
            Names::Whole => whole,
        }
}

/// Whether the command that `find` runs gets names below the folders that are written, and nothing behind them that
/// leads elsewhere.
pub(super) fn are_found(words: &[Expanded]) -> bool {
    stays(words)
}

fn stays(words: &[Expanded]) -> bool {
    words.iter().all(|word| word.exact().is_some_and(|word| !word.contains("..")))
}
