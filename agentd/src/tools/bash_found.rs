//! What `find` removes: all below a folder, or only what its tests on names let through. Called by `bash_lines`. By text
//! alone, looks nothing up.

use super::bash_lines::MAX_WRAPPER_WORDS;
use crate::shell::{Access, Command, PathUse};
use std::borrow::Cow;

/// Words of `find` that leave nothing out, and those of them that take a word.
const TAKES_ALL: [&str; 14] = [
    "-delete",
    "-depth",
    "-d",
    "-xdev",
    "-mount",
    "-print",
    "-print0",
    "-follow",
    "-mindepth",
    "-maxdepth",
    "-type",
    "-true",
    "(",
    ")",
];
const WITH_VALUE: [&str; 3] = ["-mindepth", "-maxdepth", "-type"];
/// Tests on names by a pattern.
const NAMES: [&str; 6] = ["-name", "-iname", "-path", "-ipath", "-wholename", "-iwholename"];
const NOT: [&str; 2] = ["!", "-not"];
const OR: [&str; 2] = ["-o", "-or"];

/// The uses of paths of a command. Where `find` hands names on to a command that removes them, and its tests let only
/// some names through, these stand for what is removed, in place of all that is below.
pub(super) fn narrowed(command: &Command) -> Vec<Cow<'_, PathUse>> {
    let all = || command.paths.iter();
    let found = |used: &PathUse| used.access == Access::Remove && used.below && used.pattern.is_none();
    let named = |used: &PathUse| found(used) && used.text.starts_with("**/");
    if !all().any(named) || !narrows(&command.plain) {
        return all().map(Cow::Borrowed).collect();
    }
    let by_name = |used: &PathUse| PathUse { text: used.text.trim_end_matches(['/', '*']).to_owned(), ..used.clone() };
    all()
        .filter(|used| !found(used) || named(used))
        .map(|used| if named(used) { Cow::Owned(by_name(used)) } else { Cow::Borrowed(used) })
        .collect()
}

/// Whether each alternative of the tests in front of `-exec` lets only some names through.
fn narrows(text: &str) -> bool {
    let words: Vec<&str> = text.split_whitespace().map(unescaped).take_while(|word| *word != "-exec").collect();
    let outer_not = words.windows(2).any(|pair| matches!(pair, [not, "("] if NOT.contains(not)));
    !outer_not && !words.contains(&",") && words.split(|word| OR.contains(word)).all(has_narrow_test)
}

fn has_narrow_test(words: &[&str]) -> bool {
    words.iter().enumerate().any(|(at, word)| {
        let negated = at.checked_sub(1).and_then(|before| words.get(before)).is_some_and(|before| NOT.contains(before));
        NAMES.contains(word) && !negated && words.get(at + 1).is_some_and(|pattern| is_narrow(pattern))
    })
}

/// Whether a pattern wants some letter or digit of its own: `*.o`, but not `*`, `./*`, `.*` or `[!x]*`.
fn is_narrow(pattern: &str) -> bool {
    let mut in_class = false;
    pattern.chars().any(|letter| {
        in_class = match letter {
            '[' => true,
            ']' => false,
            _ => in_class,
        };
        letter.is_alphanumeric() && !in_class
    })
}

fn unescaped(word: &str) -> &str {
    word.trim_start_matches('\\')
}

/// Where `find -delete` starts, if it leaves nothing out, or all but something.
pub(super) fn swept_folders(text: &str) -> Vec<&str> {
    let words: Vec<&str> = text.split_whitespace().collect();
    let is_find = |word: &&str| word.rsplit('/').next() == Some("find");
    let Some(at) = words.iter().take(MAX_WRAPPER_WORDS).position(is_find) else { return Vec::new() };
    let arguments = words.get(at + 1..).unwrap_or_default();
    let is_option = |word: &&&str| matches!(**word, "-H" | "-L" | "-P");
    let options = arguments.iter().take_while(is_option).count();
    let arguments = arguments.get(options..).unwrap_or_default();
    let starts = arguments.iter().take_while(|word| !word.starts_with(['-', '(', '!', '\\'])).count();
    let (starts, tests) = arguments.split_at(starts);
    let tests: Vec<&str> = tests.iter().map(|word| unescaped(word)).collect();
    let takes_all = tests.iter().enumerate().all(|(at, word)| {
        let before = at.checked_sub(1).and_then(|before| tests.get(before));
        let any_name = |test: &str, pattern: &str| NAMES.contains(&test) && !is_narrow(pattern);
        TAKES_ALL.contains(word)
            || before.is_some_and(|before| WITH_VALUE.contains(before) || any_name(before, word))
            || tests.get(at + 1).is_some_and(|next| any_name(word, next))
    });
    let all_but = tests.iter().any(|word| NOT.contains(word));
    match tests.contains(&"-delete") && (takes_all || all_but) {
        true if starts.is_empty() => vec!["."],
        true => starts.to_vec(),
        false => Vec::new(),
    }
}
