//! Which uses of a program are harmless: per program a list of harmless options, never a list of bad ones. One file
//! per program or family. Called by the walk over a line, with words as they are after expansion.

mod archives;
mod binaries;
mod changes;
mod containers;
mod files;
mod git;
mod network;
mod options;
mod processes;
mod system;
mod text;
mod versions;

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
    binaries::PROGRAMS,
    changes::PROGRAMS,
    containers::PROGRAMS,
    files::PROGRAMS,
    git::PROGRAMS,
    network::PROGRAMS,
    system::PROGRAMS,
    text::PROGRAMS,
];

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
        let mut words = line.split(' ').map(|word| match (word.strip_suffix('*'), word.strip_suffix('…')) {
            (Some(prefix), _) => Arg::Many(prefix.to_owned()),
            (None, Some(prefix)) => Arg::One(prefix.to_owned()),
            (None, None) => Arg::Literal(word.to_owned()),
        });
        let Some(Arg::Literal(name)) = words.next() else { panic!("{line}: no name") };
        judge(&name, &words.collect::<Vec<_>>())
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

    fn expect(lines: &[&str], class: &str) {
        let wrong: Vec<String> = lines
            .iter()
            .map(|line| (line, judged(line)))
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

    /// The paths of a line that is known, as `Read a.txt`; `…` follows what isn't known to its end.
    pub(super) fn paths(line: &str) -> Vec<String> {
        let Judgement::Known(known) = judged(line) else { panic!("{line}: not known") };
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
