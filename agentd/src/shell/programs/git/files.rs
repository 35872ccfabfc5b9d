//! Commands of git that show files and objects. Called by the judgement of git.

use super::super::super::analysis::{Access, Doing};
use super::super::options::{Options, Parsed, options};
use super::{Command, Operands, command};

/// From the usage texts of git 2.47. `git add -n` and `git rm -n` are not among them: they take the lock of the index.
pub(super) const COMMANDS: &[Command] = &[
    command("status", STATUS, Doing::Other, Operands::Paths(Access::Look)),
    command("ls-files", LS_FILES, Doing::List, Operands::Paths(Access::Look)),
    command("ls-tree", LS_TREE, Doing::List, Operands::Revisions(Access::Look)),
    command("grep", GREP, Doing::Search, Operands::Pattern),
    command("cat-file", CAT_FILE, Doing::Read, Operands::Revisions(Access::Read)).unless(cat_file),
    command(
        "hash-object",
        options("t:", "stdin no-filters literally path="),
        Doing::Other,
        Operands::Paths(Access::Read),
    ),
    command(
        "check-ignore",
        options("qvnz", "quiet verbose stdin non-matching no-index index").no_option_harms(),
        Doing::Other,
        Operands::Paths(Access::Look),
    ),
    command("check-attr", options("az", "all cached stdin source="), Doing::Other, Operands::Text),
    command("check-mailmap", options("", "stdin"), Doing::Other, Operands::Text),
    command("count-objects", options("vH", "verbose human-readable").at_most(0), Doing::Other, Operands::Text),
    command("patch-id", options("", "stable unstable verbatim").at_most(0), Doing::Other, Operands::Text),
    command("stripspace", options("sc", "strip-comments comment-lines").at_most(0), Doing::Other, Operands::Text),
    command("archive", options("l", "list").at_most(0), Doing::Other, Operands::Text).unless(archive),
    command("interpret-trailers", TRAILERS, Doing::Read, Operands::Paths(Access::Read)).unless(trailers),
    command("apply", APPLY, Doing::Other, Operands::Paths(Access::Read)).unless(apply),
    command("clean", CLEAN, Doing::List, Operands::Paths(Access::Look)).unless(clean),
];

const STATUS: Options = options(
    "vsbzu?M?",
    "verbose no-verbose short branch no-branch show-stash no-show-stash ahead-behind no-ahead-behind porcelain? long null \
     untracked-files? no-untracked-files ignored? no-ignored ignore-submodules? column? no-column no-renames renames \
     find-renames?",
);

const LS_FILES: Options = options(
    "ztvfcdmoiskux:X@",
    "cached deleted modified others ignored stage killed directory eol no-empty-directory empty-directory unmerged \
     resolve-undo exclude= exclude-from=@ exclude-per-directory= exclude-standard full-name error-unmatch with-tree= \
     abbrev? debug deduplicate sparse format=",
);

const LS_TREE: Options =
    options("drtzl", "long name-only name-status object-only full-name full-tree format= abbrev? no-abbrev");

/// `-O` opens what is found in a pager.
const GREP: Options = options(
    "viwaIrEGFPnhHlLzocC:B:A:pWf@e:qm:#",
    "cached index no-index untracked exclude-standard no-exclude-standard invert-match ignore-case word-regexp text \
     recursive no-recursive max-depth= extended-regexp basic-regexp fixed-strings perl-regexp line-number column \
     no-column full-name files-with-matches name-only files-without-match null only-matching count color? no-color break \
     heading context= before-context= after-context= threads= show-function function-context and or not quiet all-match \
     max-count= no-textconv no-line-number no-break no-heading no-ext-grep",
);

/// `--textconv` and `--filters` run programs.
const CAT_FILE: Options = options(
    "eptsZ",
    "batch? batch-check? batch-command? batch-all-objects buffer no-buffer unordered follow-symlinks use-mailmap mailmap \
     allow-unknown-type",
);

/// What standard input names can't be told from the words; with `--batch-check` alone, nothing of its content is shown.
fn cat_file(parsed: &Parsed) -> Option<&'static str> {
    parsed.has(&["batch", "batch-command"]).then_some("shows whatever standard input names")
}

const APPLY: Options = options(
    "p:C:Rvqz",
    "stat numstat summary check index cached exclude= include= directory= reverse whitespace= unidiff-zero recount \
     inaccurate-eof ignore-whitespace ignore-space-change allow-empty allow-overlap verbose quiet no-add",
);

/// With one of these, nothing is applied.
fn apply(parsed: &Parsed) -> Option<&'static str> {
    (!parsed.has(&["stat", "numstat", "summary", "check"])).then_some("without --check or --stat changes files")
}

/// Only the formats are listed, never a tree.
fn archive(parsed: &Parsed) -> Option<&'static str> {
    (!parsed.has(&["l", "list"])).then_some("without --list packs files")
}

const TRAILERS: Options = options("", "parse only-trailers only-input unfold no-divider");

/// The settings may name commands that make trailers, for which these leave no room.
fn trailers(parsed: &Parsed) -> Option<&'static str> {
    (!parsed.has(&["parse", "only-input"])).then_some("without --parse may run commands")
}

const CLEAN: Options = options("ndxXqfe:", "dry-run exclude= force quiet");

/// A dry run stays one beside `-f`.
fn clean(parsed: &Parsed) -> Option<&'static str> {
    (!parsed.has(&["n", "dry-run"])).then_some("without -n removes files")
}

#[cfg(test)]
mod tests {
    use super::super::super::tests::{ask, only_read};

    #[test]
    fn objects_that_standard_input_names_are_not_shown() {
        ask(&["git cat-file --batch", "git cat-file --batch=%(objectname)", "git cat-file --batch-command --buffer"]);
        only_read(&["git cat-file --batch-check", "git cat-file --batch-check --batch-all-objects"]);
    }

    #[test]
    fn files_and_objects_are_shown() {
        only_read(&[
            "git status",
            "git status -sb",
            "git status --porcelain=v2 --branch",
            "git status -uno src",
            "git ls-files",
        ]);
        only_read(&[
            "git ls-files -o --exclude-standard",
            "git ls-files -- …",
            "git ls-tree -r --name-only HEAD",
            "git grep -n x",
        ]);
        only_read(&[
            "git grep -n foo HEAD -- src",
            "git grep -c foo",
            "git grep -e a --and -e b",
            "git grep -A 3 -B3 x",
            "git grep -5 x",
        ]);
        only_read(&[
            "git cat-file -p HEAD:a.txt",
            "git cat-file -s HEAD:a.txt",
            "git cat-file --batch-check",
            "git hash-object a",
        ]);
        only_read(&[
            "git check-ignore -v a",
            "git check-attr -a a",
            "git count-objects -v",
            "git apply --check fix.patch",
        ]);
        only_read(&[
            "git apply --stat -p 1 fix.patch",
            "git clean -nd",
            "git clean -xdn",
            "git clean --dry-run",
            "git clean -nfd",
        ]);
    }

    #[test]
    fn some_of_a_command_reads() {
        only_read(&["git archive -l", "git archive --list", "git interpret-trailers --parse a", "git check-ignore *"]);
    }

    #[test]
    fn nothing_is_changed_or_run() {
        ask(&[
            "git grep -O x",
            "git grep -Oless x",
            "git grep --open-files-in-pager=./x main",
            "git grep --open …",
            "git grep …",
        ]);
        ask(&[
            "git grep --textconv x",
            "git grep --ext-grep x",
            "git grep --recurse-submodules x",
            "git cat-file --textconv HEAD:a",
        ]);
        ask(&[
            "git cat-file --filters HEAD:a",
            "git cat-file -p …",
            "git hash-object -w a",
            "git hash-object …",
            "git apply a",
        ]);
        ask(&[
            "git apply --check --apply a",
            "git apply --stat --3way a",
            "git apply --check --reject a",
            "git apply -",
            "git clean -fd",
        ]);
        ask(&[
            "git clean -i",
            "git clean -nd …",
            "git clean -e -n",
            "git add -n a",
            "git rm -n a",
            "git mv -n a b",
            "git checkout a",
        ]);
        ask(&[
            "git submodule status",
            "git fsck",
            "git gc",
            "git archive HEAD",
            "git archive -l HEAD",
            "git interpret-trailers --trailer a a",
            "git interpret-trailers a",
            "git ls-remote",
            "git fetch --dry-run",
            "git push",
        ]);
        ask(&[
            "git ls-files --recurse-submodules",
            "git status …",
            "git merge-tree a b",
            "git restore a",
            "git update-index --refresh",
        ]);
    }
}
