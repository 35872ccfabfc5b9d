//! `git`: which of its commands only read. A command that isn't listed may be an alias or a program of its own, and
//! options that choose another repository, other settings or a pager are not listed. Called by the dispatch.
//!
//! Of no command are listed: `--output`, with which nearly all of them write; `--ext-diff`, `--textconv`, which run
//! programs; and formats that check signatures, for which `gpg` is run. What the settings of the repository itself let
//! git run is trusted, as the repository is.

mod files;
mod history;
mod operands;
mod refs;

use super::super::analysis::{Access, Class, Doing};
use super::options::{Options, Parsed, known, options, shown};
use super::{Arg, Judgement, Program, code};

/// From the manuals and usage texts of git 2.47.
pub(super) const PROGRAMS: &[Program] = &[code("git", git)];

/// The commands that only read.
const COMMANDS: &[&[Command]] = &[files::COMMANDS, history::COMMANDS, refs::COMMANDS];

/// A command of git, or several that take the same words.
struct Command {
    /// Their names, with commas between: `log`, `stash list`.
    names: &'static str,
    options: Options,
    doing: Doing,
    operands: Operands,
    /// Says why these words do more than read.
    harm: fn(&Parsed) -> Option<&'static str>,
}

/// What operands are, as far as they are paths.
#[derive(Clone, Copy)]
enum Operands {
    /// No paths.
    Text,
    /// Revisions, then perhaps paths; after `--`, paths.
    Revisions(Access),
    /// The same; and two paths of which one is outside, or no repository, make it read them as they are.
    Compared,
    /// A text unless `-e` or `-f` gives it, then revisions or paths; after `--`, paths.
    Pattern,
    /// Paths, perhaps as patterns.
    Paths(Access),
}

const fn command(names: &'static str, options: Options, doing: Doing, operands: Operands) -> Command {
    Command { names, options: options.no_dashed_values(), doing, operands, harm: |_| None }
}

impl Command {
    /// These words are harmless only if this says no reason.
    const fn unless(mut self, harm: fn(&Parsed) -> Option<&'static str>) -> Self {
        self.harm = harm;
        self
    }
}

const GLOBAL: Options = options(
    "Pc:",
    "no-pager no-optional-locks literal-pathspecs glob-pathspecs noglob-pathspecs icase-pathspecs \
                  no-replace-objects no-lazy-fetch no-advice exec-path html-path man-path info-path",
)
.options_first()
.dashes_do_not_end();

/// Settings that only change how things look, by their keys in small letters, beside those that start with one of
/// [`LOOKS_OF`].
const LOOKS: &[&str] = &[
    "column.ui",
    "core.abbrev",
    "core.quotepath",
    "diff.algorithm",
    "diff.mnemonicprefix",
    "diff.noprefix",
    "diff.renamelimit",
    "diff.renames",
    "grep.linenumber",
    "grep.patterntype",
    "log.date",
    "log.decorate",
    "status.branch",
    "status.relativepaths",
    "status.short",
    "status.showuntrackedfiles",
];
const LOOKS_OF: &[&str] = &["advice.", "color."];
/// Settings with the only values that are harmless: with these, git does less.
const LESS: &[(&str, &str)] = &[
    ("core.fsmonitor", "false"),
    ("core.pager", "cat"),
    ("core.pager", ""),
    ("diff.autorefreshindex", "false"),
    ("log.showsignature", "false"),
];

/// Whether the value of `-c` is a setting that lets git do no more than without.
fn is_harmless_setting(setting: &Arg) -> bool {
    let Arg::Literal(text) = setting else { return false };
    let Some((key, value)) = text.split_once('=') else { return false };
    let key = key.to_ascii_lowercase();
    LOOKS.contains(&key.as_str())
        || LOOKS_OF.iter().any(|section| key.starts_with(section))
        || LESS.contains(&(key.as_str(), value))
}

fn git(name: &str, args: &[Arg]) -> Judgement {
    let parsed = match GLOBAL.parse(name, args) {
        Ok(parsed) => parsed,
        Err(why) => return Judgement::Unknown(why),
    };
    let mut settings = parsed.options.iter().filter(|option| option.name == "c").map(|option| option.value.as_ref());
    if let Some(setting) = settings.find(|setting| !setting.is_some_and(is_harmless_setting)) {
        let setting = setting.map_or_else(String::new, shown);
        return Judgement::Unknown(format!("{name} -c {setting} may let it run programs"));
    }
    let words = parsed.operands;
    let [first, rest @ ..] = words.as_slice() else {
        return known(Class::ReadOnly, Doing::Other, Vec::new());
    };
    let Arg::Literal(command) = first else {
        return Judgement::Unknown(format!("git {}: it is not known which command this is", shown(first)));
    };
    if let [Arg::Literal(second), rest @ ..] = rest
        && let Some(found) = find(&format!("{command} {second}"))
    {
        return judge(found, &format!("git {command} {second}"), rest);
    }
    match find(command) {
        Some(found) => judge(found, &format!("git {command}"), rest),
        None => Judgement::Unknown(format!("git {command} is not known to be harmless")),
    }
}

fn find(name: &str) -> Option<&'static Command> {
    let mut commands = COMMANDS.iter().flat_map(|group| group.iter());
    commands.find(|command| command.names.split(',').any(|listed| listed == name))
}

fn judge(command: &Command, name: &str, args: &[Arg]) -> Judgement {
    let parsed = match command.options.parse(name, args) {
        Ok(parsed) => parsed,
        Err(why) => return Judgement::Unknown(why),
    };
    if let Some(format) = parsed.values(&["format", "pretty", "sort"]).find(|format| may_check_signatures(format)) {
        return Judgement::Unknown(format!("{name}: {} may run gpg", shown(format)));
    }
    if let Some(when) = parsed.values(&["ignore-submodules"]).find(|when| !keeps_out(when)) {
        return Judgement::Unknown(format!("{name}: with {} the settings of other repositories count", shown(when)));
    }
    match (command.harm)(&parsed) {
        Some(why) => Judgement::Unknown(format!("{name} {why}")),
        None => known(Class::ReadOnly, command.doing, operands::paths(name, command.operands, &parsed)),
    }
}

/// Whether a format, or a key to sort by, holds a signature's state.
fn may_check_signatures(format: &Arg) -> bool {
    !matches!(format, Arg::Literal(text) if !text.contains("%G") && !text.contains("signature"))
}

/// Whether git doesn't look into repositories below, whose own settings may let it run programs.
fn keeps_out(when: &Arg) -> bool {
    matches!(when, Arg::Literal(text) if text == "all" || text == "dirty")
}

#[cfg(test)]
mod tests {
    use super::super::tests::{ask, only_read, paths};

    #[test]
    fn only_listed_commands_in_this_repository() {
        only_read(&[
            "git",
            "git --version",
            "git --no-pager log",
            "git -P diff",
            "git --exec-path",
            "git --no-optional-locks status",
        ]);
        ask(&["git lg", "git …", "git -c a.b=c log", "git -C x status", "git --git-dir x log", "git --git-dir=x log"]);
        ask(&[
            "git --work-tree=.. status",
            "git -p log",
            "git --paginate status",
            "git --exec-path=x status",
            "git * log",
        ]);
        ask(&[
            "git --bare log",
            "git --namespace=x log",
            "git --config-env=a.b=C status",
            "git help log",
            "git log --help",
        ]);
        ask(&["git --no-pa log", "git -pP log", "git -- log", "git status --help", "git stash", "git commit -m x"]);
    }

    #[test]
    fn settings_of_looks_are_harmless() {
        only_read(&[
            "git -c color.ui=never diff",
            "git -c core.quotePath=off ls-files",
            "git -c core.pager=cat --no-pager log",
            "git --no-pager -c color.ui=always -c log.date=iso show",
            "git -c advice.detachedHead=false status",
            "git -c core.fsmonitor=false status",
        ]);
        ask(&[
            "git -c core.pager=less log",
            "git -c core.fsmonitor=./x status",
            "git -c color.ui=never -c diff.external=./x diff",
            "git -c alias.x=!ls x",
            "git -c core.pager log",
            "git -c pager.log=./x log",
            "git -c … log",
            "git -c* log",
            "git -c log.showSignature=true log",
            "git -c diff.autoRefreshIndex=true diff",
            "git -c color.ui=never commit",
            "git -c",
        ]);
    }

    #[test]
    fn patterns_of_git_name_paths() {
        for line in [
            "git diff :(top).env",
            "git diff :(top,literal).env",
            "git log -p :(top).env",
            "git log -L1,1:.env",
            "git log -L /S:/,+1:.env",
            "git log -L :main:.env",
            "git stash show -p .env",
            "git stash list -p .env",
            "git show HEAD^{/i}:.env",
            "git show HEAD^{/a:b}:.env",
            "git cat-file -p HEAD^{tree}:.env",
            "git diff HEAD :/.env",
            "git log -p :/.env",
        ] {
            assert!(paths(line).contains(&"Read .env".to_owned()), "{line}: {:?}", paths(line));
        }
        assert_eq!(paths("git diff ./a :!.env"), ["Read ./a"]);
        assert_eq!(paths("git diff -- src :(exclude).env"), ["Read src"]);
        assert_eq!(paths("git diff .en?"), ["Read .en?", "Read ."]);
        assert_eq!(paths("git diff -- \\.env"), ["Read ."]);
        assert_eq!(paths("git diff :(icase).ENV"), ["Read ."]);
        assert_eq!(paths("git status -- :!.env"), ["Look ."]);
    }

    #[test]
    fn what_shows_changes_anywhere_reads_the_folder() {
        for line in [
            "git diff",
            "git diff HEAD",
            "git diff --cached HEAD~2..HEAD",
            "git diff origin/main",
            "git diff v1.2",
            "git diff -- :!.env",
            "git diff --stat -p",
            "git show",
            "git show HEAD",
            "git show -W :/fix",
            "git log -p",
            "git log -S x -p main",
            "git log -p src/*",
            "git log -U9",
            "git stash show -p",
            "git stash list -p",
            "git diff-tree -p HEAD",
            "git reflog -p",
            "git grep x",
            "git grep x HEAD",
            "git grep -e x HEAD~3 main",
        ] {
            assert!(paths(line).contains(&"Read .".to_owned()), "{line}: {:?}", paths(line));
        }
        for line in [
            "git diff --stat",
            "git diff --name-only HEAD",
            "git diff ./a",
            "git diff HEAD -- src",
            "git show --stat",
            "git show -s HEAD",
            "git show HEAD:a",
            "git log",
            "git log -S x --oneline",
            "git log -p a.txt",
            "git stash show",
            "git grep x -- src",
            "git grep x HEAD src/a",
        ] {
            assert!(!paths(line).contains(&"Read .".to_owned()), "{line}: {:?}", paths(line));
        }
    }

    #[test]
    fn paths_are_told() {
        assert_eq!(paths("git log -- src ../x"), ["Read src", "Read ../x"]);
        assert_eq!(paths("git diff HEAD~1..HEAD a"), ["Read HEAD~1..HEAD", "Read a", "Read ."]);
        assert_eq!(paths("git diff .env /dev/null"), ["Read .env", "Read /dev/null"]);
        assert_eq!(paths("git diff src/* ./a"), ["Read src/…", "Read ./a"]);
        assert_eq!(paths("git diff --stat HEAD~… 0* main..…"), [""; 0]);
        assert_eq!(paths("git log -p .env"), ["Read .env"]);
        assert_eq!(paths("git grep --untracked x .env"), ["Read .env"]);
        assert_eq!(paths("git blame .env HEAD"), ["Read .env", "Read HEAD"]);
        assert_eq!(paths("git diff /etc/passwd ../a"), ["Read /etc/passwd", "Read ../a"]);
        assert_eq!(paths("git show HEAD:.env"), ["Read .env"]);
        assert_eq!(paths("git show :0:.env"), ["Read .env"]);
        assert_eq!(paths("git show :.env"), ["Read .env"]);
        assert_eq!(paths("git show :/fix"), ["Read fix", "Read ."]);
        assert_eq!(paths("git show HEAD:…"), ["Read ."]);
        assert_eq!(paths("git ls-files src/*.rs"), ["Look src"]);
        assert_eq!(paths("git ls-files :(exclude)*.rs"), ["Look ."]);
        assert_eq!(paths("git blame HEAD a"), ["Read HEAD", "Read a"]);
        assert_eq!(paths("git hash-object a b"), ["Read a", "Read b"]);
        assert_eq!(paths("git grep x"), ["Read ."]);
        assert_eq!(paths("git grep -f x -- src"), ["Read x", "Read src"]);
        assert_eq!(paths("git diff --no-index a b"), ["Read a", "Read b"]);
        assert_eq!(paths("git status src"), ["Look src"]);
    }
}
