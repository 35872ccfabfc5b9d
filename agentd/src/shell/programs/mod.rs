//! Which uses of a program are harmless: per program a list of harmless options, never a list of bad ones. One file
//! per program or family. Called by the walk over a line, with words as they are after expansion.

mod archives;
mod awk;
mod binaries;
mod changes;
mod containers;
mod files;
mod find;
mod git;
mod jq;
mod network;
mod options;
mod processes;
mod search;
mod sed;
mod services;
mod shells;
mod system;
mod text;
mod versions;
mod viewers;
mod wrappers;
mod xargs;

use super::analysis::{Access, Class, Doing};
use options::Options;

/// A word of a command after expansion, as far as it is known.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Arg {
    /// Exactly this word.
    Literal(String),
    /// Exactly one word that begins with this text, which may be empty: `"$x"`, `src/$"x"`.
    One(String),
    /// Any number of words, each of which begins with this text, which may be empty: `*.rs`, `src/*`, `$x`.
    Many(String),
}

/// What is known of a command.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Judgement {
    /// It does no more than this.
    Known(Known),
    /// It runs another command, and does itself no more than `does`.
    Runs {
        /// The other command's words, its name first.
        argv: Vec<Arg>,
        /// Beside that.
        does: Known,
    },
    /// It runs this text as a bash line, and does itself nothing.
    Script(String),
    /// It may do anything: why, one sentence.
    Unknown(String),
}

/// What a command does, and no more.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Known {
    /// `ReadOnly` or `Edits`.
    pub class: Class,
    /// What it is for.
    pub doing: Doing,
    /// The paths that it uses.
    pub paths: Vec<PathArg>,
}

/// A path among the words of a command.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct PathArg {
    /// The path; of a word that is not known to its end, its beginning.
    pub arg: Arg,
    /// What is done to it.
    pub access: Access,
    /// Whether links below it are followed, if it is a folder.
    pub follows: bool,
}

impl PathArg {
    /// A path whose links below are not followed.
    pub fn new(arg: Arg, access: Access) -> Self {
        Self { arg, access, follows: false }
    }
}

/// Programs that take the same words, and which uses of them are harmless.
struct Program {
    /// Their names, with blanks between.
    names: &'static str,
    rule: Rule,
}

/// How a program's words are judged.
enum Rule {
    /// By a table.
    Table(Options),
    /// By code, which gets the program's name and the words after it.
    Code(fn(&str, &[Arg]) -> Judgement),
}

/// A row of a family's table.
const fn table(names: &'static str, options: Options) -> Program {
    Program { names, rule: Rule::Table(options) }
}

/// A row for programs that take more than a table.
const fn code(names: &'static str, judge: fn(&str, &[Arg]) -> Judgement) -> Program {
    Program { names, rule: Rule::Code(judge) }
}

/// Every program that is known, by family.
const FAMILIES: &[&[Program]] = &[
    archives::PROGRAMS,
    awk::PROGRAMS,
    binaries::PROGRAMS,
    changes::PROGRAMS,
    containers::PROGRAMS,
    files::PROGRAMS,
    find::PROGRAMS,
    git::PROGRAMS,
    jq::PROGRAMS,
    network::PROGRAMS,
    search::PROGRAMS,
    sed::PROGRAMS,
    services::PROGRAMS,
    shells::PROGRAMS,
    system::PROGRAMS,
    text::PROGRAMS,
    viewers::PROGRAMS,
    wrappers::PROGRAMS,
    xargs::PROGRAMS,
];

/// Programs that may connect to the network for a path that begins with `/inet`. Their judgement leaves paths of which
/// nothing is known to the walk, which knows whether they are names in the folder.
pub(super) const CONNECTING: &[&str] = &["awk", "gawk", "nawk", "original-awk"];

/// Programs that an option makes read a file which it names, and that are not asked for words of which it isn't known
/// whether they are options: the walk knows whether what these may name is elsewhere.
pub(super) const READING_BY_OPTION: &[&str] = &["wc", "du", "grep", "egrep", "fgrep", "ggrep", "hexdump", "hd"];

/// Whether any use of a program of this name is known to be harmless.
pub(super) fn is_known(name: &str) -> bool {
    let mut programs = FAMILIES.iter().flat_map(|family| family.iter());
    programs.any(|program| program.names.split(' ').any(|listed| listed == name)) || versions::is_listed(name)
}

/// Judges a program by its words after the name.
pub(super) fn judge(name: &str, args: &[Arg]) -> Judgement {
    if versions::is_asked(name, args) {
        return options::known(Class::ReadOnly, Doing::Other, Vec::new());
    }
    let mut programs = FAMILIES.iter().flat_map(|family| family.iter());
    match programs.find(|program| program.names.split(' ').any(|listed| listed == name)) {
        Some(Program { rule: Rule::Table(options), .. }) => options.judge(name, args),
        Some(Program { rule: Rule::Code(judge), .. }) => judge(name, args),
        None => Judgement::Unknown(format!("{name} is not a program that is known to be harmless")),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Judges a line, split at blanks. `src/…` is one word and `src/*` are many that begin so.
    fn judged(line: &str) -> Judgement {
        judged_words(&line.split(' ').collect::<Vec<_>>())
    }

    /// Judges words of which any may hold blanks.
    pub(super) fn judged_words(words: &[&str]) -> Judgement {
        let mut args = words.iter().map(|word| match (word.strip_suffix('*'), word.strip_suffix('…')) {
            (Some(prefix), _) => Arg::Many(prefix.to_owned()),
            (None, Some(prefix)) => Arg::One(prefix.to_owned()),
            (None, None) => Arg::Literal((*word).to_owned()),
        });
        let Some(Arg::Literal(name)) = args.next() else { panic!("{words:?}: no name") };
        judge(&name, &args.collect::<Vec<_>>())
    }

    /// Fails for each line that doesn't only read.
    pub(super) fn only_read(lines: &[&str]) {
        expect(lines, "ReadOnly");
    }

    /// Fails for each line that doesn't ask for its words.
    pub(super) fn ask(lines: &[&str]) {
        expect(lines, "Unknown");
    }

    /// Fails for each line that isn't known to change just what it names.
    pub(super) fn edit(lines: &[&str]) {
        expect(lines, "Edits");
    }

    /// As [`only_read`], of words.
    pub(super) fn only_read_words(lines: &[&[&str]]) {
        expect_words(lines, "ReadOnly");
    }

    /// As [`ask`], of words.
    pub(super) fn ask_words(lines: &[&[&str]]) {
        expect_words(lines, "Unknown");
    }

    /// As [`edit`], of words.
    pub(super) fn edit_words(lines: &[&[&str]]) {
        expect_words(lines, "Edits");
    }

    fn expect(lines: &[&str], class: &str) {
        let lines: Vec<Vec<&str>> = lines.iter().map(|line| line.split(' ').collect()).collect();
        expect_words(&lines.iter().map(Vec::as_slice).collect::<Vec<_>>(), class);
    }

    fn expect_words(lines: &[&[&str]], class: &str) {
        let wrong: Vec<String> = lines
            .iter()
            .map(|line| (line.join(" "), judged_words(line)))
            .filter(|(_, judgement)| {
                let judged = match judgement {
                    Judgement::Known(known) => format!("{:?}", known.class),
                    Judgement::Unknown(_) => "Unknown".to_owned(),
                    Judgement::Runs { .. } | Judgement::Script(_) => "another command".to_owned(),
                };
                judged != class
            })
            .map(|(line, judgement)| format!("{line}: {judgement:?}"))
            .collect();
        assert!(wrong.is_empty(), "not {class}:\n{}", wrong.join("\n"));
    }

    /// The words of the command that a line runs; `…` stands behind one that isn't known to its end, `*` behind many.
    pub(super) fn argv(line: &str) -> Vec<String> {
        match judged(line) {
            Judgement::Runs { argv, .. } => argv
                .iter()
                .map(|word| match word {
                    Arg::Literal(text) => text.clone(),
                    Arg::One(prefix) => format!("{prefix}…"),
                    Arg::Many(prefix) => format!("{prefix}*"),
                })
                .collect(),
            other => panic!("{line}: {other:?}"),
        }
    }

    /// The paths of a line that is known, as `Read a.txt`; `…` follows what isn't known to its end.
    pub(super) fn paths(line: &str) -> Vec<String> {
        paths_of_words(&line.split(' ').collect::<Vec<_>>())
    }

    /// As [`paths`], of words.
    pub(super) fn paths_of_words(words: &[&str]) -> Vec<String> {
        let Judgement::Known(known) = judged_words(words) else { panic!("{words:?}: not known") };
        known.paths.iter().map(|path| format!("{:?} {}", path.access, options::shown(&path.arg))).collect()
    }

    #[test]
    fn a_program_stands_in_one_table_only() {
        let mut names: Vec<&str> =
            FAMILIES.iter().flat_map(|family| family.iter()).flat_map(|program| program.names.split(' ')).collect();
        names.sort_unstable();
        let twice: Vec<_> = names.windows(2).filter(|pair| pair[0] == pair[1]).collect();
        assert!(twice.is_empty(), "{twice:?}");
        assert!(names.iter().all(|name| !name.is_empty()), "an empty name");
    }
}
