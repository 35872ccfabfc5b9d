//! Commands whose output surely is one whole number. Part of the walk.

use crate::shell::expand::Expanded;

/// Whether a command prints one whole number and nothing else.
pub(super) fn prints_number(words: &[Expanded]) -> bool {
    let exact: Option<Vec<&str>> = words.iter().map(Expanded::exact).collect();
    let Some(exact) = exact else { return false };
    match exact.as_slice() {
        ["wc", "-l" | "-c" | "-w" | "-m"] | ["nproc"] | ["date", "+%s"] | ["id", "-u" | "-g"] => true,
        // A zero in front would make it octal.
        ["echo", number] => {
            crate::shell::state::is_plain_number(number) && (!number.starts_with(['0', '-']) || number.len() == 1)
        }
        ["git", "rev-list", "--count", revision] => !revision.starts_with('-'),
        // With one file no name is printed; but `-r` in the pattern's place would print the names of all.
        ["grep", options @ .., pattern, file] => !pattern.starts_with('-') && !file.starts_with('-') && counts(options),
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

#[cfg(test)]
mod tests {
    use crate::shell::{World, analyse};

    #[test]
    fn a_count_is_a_number_only_where_no_word_but_the_first_ones_is_an_option() {
        let read_only = |line: &str| analyse(line, World { cwd: "/w", home: "/h" }).is_read_only();
        for count in ["grep -c x a", "grep -ci -w x a", "wc -l", "git rev-list --count HEAD"] {
            assert!(read_only(&format!("[[ $({count}) -gt 3 ]]")), "{count}");
        }
        // The names of files would be evaluated, which may run commands.
        for names in
            ["grep -c -r a", "grep -c -R a", "grep -c --recursive a", "grep -cr x a", "grep -c x a b", "grep -c x -r"]
        {
            assert!(!read_only(&format!("[[ $({names}) -gt 3 ]]")), "{names}");
            assert!(!read_only(&format!("echo $(($({names}) + 1))")), "{names}");
        }
    }
}
