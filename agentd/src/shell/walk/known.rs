//! Commands whose output surely is one whole number. Part of the walk.

use crate::shell::expand::Expanded;

/// Whether a command prints one whole number and nothing else.
pub(super) fn prints_number(words: &[Expanded]) -> bool {
    let exact: Option<Vec<&str>> = words.iter().map(Expanded::exact).collect();
    let Some(exact) = exact else { return false };
    match exact.as_slice() {
        ["wc", "-l" | "-c" | "-w" | "-m"] | ["nproc"] | ["date", "+%s"] | ["id", "-u" | "-g"] => true,
        ["echo", number] => crate::shell::state::is_plain_number(number),
        ["git", "rev-list", "--count", revision] => !revision.starts_with('-'),
        // With one file no name is printed.
        ["grep", options @ .., _pattern, file] => !file.starts_with('-') && counts(options),
        _ => false,
    }
}

/// Only options of grep with which a count is printed.
fn counts(options: &[&str]) -> bool {
    let short = |option: &&str| {
        option.strip_prefix('-').is_some_and(|o| !o.is_empty() && o.chars().all(|c| "ciEFPwxvs".contains(c)))
    };
    !options.is_empty() && options.iter().all(short) && options.iter().any(|option| option.contains('c'))
}
