//! Commands of git that show commits and differences. Called by the judgement of git.

use super::super::super::analysis::{Access, Doing};
use super::super::options::{Options, Parsed, options};
use super::{Arg, Command, Operands, command};

/// From `git diff -h`, `git log -h` and gitrevisions of git 2.47.
pub(super) const COMMANDS: &[Command] = &[
    command("log,show,whatchanged", LOG, Doing::Read, REVISIONS),
    command("reflog show", LOG, Doing::Read, REVISIONS),
    command("reflog", LOG, Doing::Read, REVISIONS).unless(reflog),
    command("reflog list", options("", "").at_most(0), Doing::Other, Operands::Text),
    // It hands words on without `--`, so behind it they are options still.
    command("stash list", LOG.dashes_do_not_end(), Doing::Read, REVISIONS),
    command("stash show", STASH.dashes_do_not_end(), Doing::Read, REVISIONS),
    command("rev-list", REV_LIST, Doing::Other, REVISIONS),
    command("shortlog", SHORTLOG, Doing::Read, REVISIONS),
    command("diff", DIFF, Doing::Read, Operands::Compared),
    command("diff-tree", DIFF_TREE, Doing::Read, REVISIONS),
    command("diff-index,diff-files", DIFF_INDEX, Doing::Read, REVISIONS),
    command("range-diff", RANGE_DIFF, Doing::Read, REVISIONS),
    command("blame,annotate", BLAME, Doing::Read, REVISIONS),
    command("cherry", options("v", "verbose abbrev? no-abbrev"), Doing::Other, Operands::Text),
    command("show-branch", SHOW_BRANCH, Doing::Other, Operands::Text),
    command("bisect log,bisect terms", options("", "").at_most(0), Doing::Other, Operands::Text),
];

const REVISIONS: Operands = Operands::Revisions(Access::Read);

/// Options of differences. `-O` and the like take the next word only where git does too: see `Options`.
const CHANGES: Options = options(
    "psuU?WX?zB?M?DC?l:wbI:aRS:G:O@",
    "patch no-patch unified? function-context no-function-context raw patch-with-raw patch-with-stat numstat shortstat \
     dirstat? cumulative dirstat-by-file? check summary name-only name-status stat? stat-width= stat-name-width= \
     stat-graph-width= stat-count= compact-summary no-compact-summary binary full-index no-full-index color? no-color \
     ws-error-highlight= abbrev? no-abbrev src-prefix= dst-prefix= line-prefix= no-prefix default-prefix \
     inter-hunk-context= output-indicator-new= output-indicator-old= output-indicator-context= break-rewrites? \
     find-renames? irreversible-delete find-copies? find-copies-harder no-find-copies-harder no-renames rename-empty \
     no-rename-empty follow no-follow minimal ignore-all-space ignore-space-change ignore-space-at-eol \
     ignore-cr-at-eol ignore-blank-lines ignore-matching-lines= indent-heuristic no-indent-heuristic patience \
     histogram diff-algorithm= anchored= word-diff? word-diff-regex= color-words? color-moved? no-color-moved \
     color-moved-ws= no-color-moved-ws relative? no-relative text no-text exit-code quiet no-ext-diff no-textconv \
     ignore-submodules? ita-invisible-in-index ita-visible-in-index pickaxe-all pickaxe-regex rotate-to= skip-to= \
     find-object= diff-filter=",
);

/// Options of walks over commits. Left out are those that check signatures and `--remerge-diff`, which stores objects.
const LOG: Options = options(
    "n:giEFPmctrqL:#",
    "max-count= skip= since= since-as-filter= after= until= before= max-age= min-age= author= committer= grep= \
     grep-reflog= all-match invert-grep regexp-ignore-case basic-regexp extended-regexp fixed-strings perl-regexp \
     remove-empty merges no-merges min-parents? max-parents? no-min-parents no-max-parents first-parent \
     exclude-first-parent-only not all branches? tags? remotes? glob= exclude= exclude-hidden= reflog alternate-refs \
     single-worktree ignore-missing bisect stdin cherry-mark cherry-pick left-only right-only left-right cherry \
     walk-reflogs merge boundary simplify-by-decoration show-pulls full-history dense sparse simplify-merges \
     ancestry-path? reverse date-order author-date-order topo-order no-walk? do-walk pretty? format? abbrev-commit \
     no-abbrev-commit oneline encoding= expand-tabs? no-expand-tabs notes? no-notes show-notes? standard-notes \
     no-standard-notes relative-date date= parents children graph no-graph show-linear-break? no-diff-merges dd cc \
     combined-all-paths source no-source use-mailmap no-use-mailmap mailmap no-mailmap decorate? no-decorate \
     decorate-refs= decorate-refs-exclude= clear-decorations log-size full-diff unpacked no-show-signature",
)
.with(&CHANGES);

const REV_LIST: Options = options(
    "",
    "count timestamp objects objects-edge indexed-objects header commit-header no-commit-header disk-usage? object-names \
     no-object-names use-bitmap-index bisect-vars bisect-all in-commit-order",
)
.with(&LOG);

const SHORTLOG: Options = options("cnsew?", "committer numbered summary email group=").with(&LOG);

const STASH: Options = options("u", "include-untracked no-include-untracked only-untracked").with(&CHANGES);

const DIFF: Options =
    options("c0123q", "cached staged merge-base no-index base ours theirs cc combined-all-paths").with(&CHANGES);

const DIFF_TREE: Options = options("vrtmc", "stdin no-commit-id root merge-base cc combined-all-paths").with(&LOG);

const DIFF_INDEX: Options =
    options("mqc0123", "cached merge-base cc base ours theirs combined-all-paths").with(&CHANGES);

const RANGE_DIFF: Options =
    options("", "creation-factor= no-dual-color dual-color notes? no-notes left-only right-only").with(&CHANGES);

const BLAME: Options = options(
    "bfnpctlsewL:M?C?S@",
    "incremental root show-stats progress no-progress score-debug show-name show-number porcelain line-porcelain \
     show-email ignore-rev= ignore-revs-file=@ color-lines color-by-age minimal contents=@ abbrev?",
)
.with(&LOG);

const SHOW_BRANCH: Options = options(
    "arg?",
    "all remotes color? no-color more= list no-name name current sha1-name merge-base independent topo-order topics \
     sparse date-order reflog?",
);

/// `git reflog` shows, unless its first operand is another action; actions that are not known yet are excluded by taking
/// only what can't be one.
fn reflog(parsed: &Parsed) -> Option<&'static str> {
    let revision = |word: &&Arg| matches!(word, Arg::Literal(text) | Arg::One(text) if text.starts_with("HEAD") || text.contains(['/', '@', '~', '^']));
    let before = parsed.operands.get(..parsed.before_end).unwrap_or_default();
    before.first().filter(|word| !revision(word)).map(|_| "with this word may be another action")
}

#[cfg(test)]
mod tests {
    use super::super::super::tests::{ask, only_read};

    #[test]
    fn history_is_shown() {
        only_read(&[
            "git log",
            "git log --oneline --graph --decorate -20",
            "git log -5 --format=%h",
            "git log -n 5 --stat",
        ]);
        only_read(&[
            "git log --since=2.weeks --author Ann -p -- src",
            "git log --oneline HEAD~1..HEAD",
            "git log -S foo",
        ]);
        only_read(&["git log -G foo --all", "git log -L 1,5:a.txt", "git log --follow -p a.txt", "git log --raw -2"]);
        only_read(&[
            "git show",
            "git show HEAD:a.txt",
            "git show --stat --name-only HEAD",
            "git show HEAD~…",
            "git log --date=iso",
        ]);
        only_read(&[
            "git rev-list --count HEAD",
            "git rev-list --max-parents=0 HEAD",
            "git shortlog -sne HEAD",
            "git reflog",
        ]);
        only_read(&[
            "git reflog show --date=iso",
            "git reflog HEAD@{1}",
            "git reflog -5",
            "git stash list",
            "git stash show -p",
        ]);
        only_read(&[
            "git blame a.txt",
            "git blame -L 1,5 -w HEAD -- a.txt",
            "git blame -C -M a.txt",
            "git annotate a.txt",
        ]);
        only_read(&[
            "git cherry -v main",
            "git range-diff HEAD~1...HEAD",
            "git whatchanged -1",
            "git show-branch",
            "git log -- …",
        ]);
        only_read(&[
            "git log -- --output=x",
            "git log --grep=x -i -E",
            "git log --pretty=oneline --abbrev-commit",
            "git bisect log",
        ]);
    }

    #[test]
    fn differences_are_shown() {
        only_read(&[
            "git diff",
            "git diff --check",
            "git diff --name-status HEAD",
            "git diff --word-diff HEAD~1",
            "git diff -U5",
        ]);
        only_read(&[
            "git diff --cached",
            "git diff --staged --stat",
            "git diff main...HEAD -- src",
            "git diff --no-index a b",
        ]);
        only_read(&[
            "git diff --name-only --diff-filter=AM HEAD~1",
            "git diff -w --ignore-blank-lines",
            "git diff-tree -p HEAD",
        ]);
        only_read(&[
            "git diff-tree --no-commit-id --name-only -r HEAD",
            "git diff-index HEAD",
            "git diff-files --stat",
        ]);
        only_read(&[
            "git diff --color-words",
            "git diff --stat=80 -M90% -C",
            "git diff --exit-code --quiet",
            "git diff -- …",
        ]);
    }

    #[test]
    fn nothing_is_written_or_run() {
        ask(&[
            "git log --output=x",
            "git log --raw --output=x",
            "git show --output x",
            "git diff --output=x",
            "git log --outp=x",
        ]);
        ask(&[
            "git diff --no-index --output=x a b",
            "git diff-tree -p --output=x HEAD",
            "git rev-list --output=x HEAD",
        ]);
        ask(&[
            "git range-diff --output=x a b",
            "git blame --output=x a",
            "git stash list --output=x",
            "git stash list -- --output=x",
            "git stash show -p --output=x",
        ]);
        ask(&[
            "git log -p --ext-diff",
            "git show --textconv HEAD:a",
            "git log --show-signature -1",
            "git log --format=%G?",
        ]);
        ask(&[
            "git log --pretty=format:%GS",
            "git log --format=…",
            "git log …",
            "git log *",
            "git show …",
            "git log -S --output=x",
        ]);
        ask(&[
            "git log -S -- --output=x",
            "git log --remerge-diff",
            "git log --diff-merges=remerge",
            "git shortlog --output=x",
        ]);
        ask(&[
            "git stash",
            "git stash drop",
            "git stash pop",
            "git stash …",
            "git reflog expire --all",
            "git reflog delete HEAD@{0}",
        ]);
        ask(&[
            "git reflog …",
            "git reflog main",
            "git bisect start",
            "git bisect run ls",
            "git diff -U --output=x",
            "git diff … --",
        ]);
        ask(&[
            "git diff --submodule=diff",
            "git diff --ignore-submodules=none",
            "git diff --ignore-submodules=…",
            "git blame --contents=x --output=y a",
            "git log --sort=signature",
            "git blame …",
        ]);
    }
}
