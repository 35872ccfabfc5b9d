//! Commands of git that show names of commits, remotes and settings. Called by the judgement of git.

use super::super::super::analysis::Doing;
use super::super::options::{Options, Parsed, options};
use super::{Arg, Command, Operands, command};

/// From the usage texts of git 2.47.
pub(super) const COMMANDS: &[Command] = &[
    command("branch", BRANCH, Doing::Other, Operands::Text).unless(branch),
    command("tag", TAG, Doing::Other, Operands::Text).unless(tag),
    command("rev-parse", REV_PARSE, Doing::Other, Operands::Text),
    command("describe", DESCRIBE, Doing::Other, Operands::Text),
    command("for-each-ref", FOR_EACH_REF, Doing::Other, Operands::Text),
    command("show-ref", SHOW_REF, Doing::Other, Operands::Text),
    // A second operand sets the reference.
    command("symbolic-ref", options("q", "quiet short recurse no-recurse").at_most(1), Doing::Other, Operands::Text),
    command(
        "merge-base",
        options("a", "all octopus independent is-ancestor fork-point").no_option_harms(),
        Doing::Other,
        Operands::Text,
    ),
    command("name-rev", NAME_REV, Doing::Other, Operands::Text),
    command("check-ref-format", options("", "branch allow-onelevel normalize"), Doing::Other, Operands::Text),
    command("remote", options("v", "verbose").at_most(0), Doing::Other, Operands::Text),
    command("remote show", options("n", ""), Doing::Other, Operands::Text).unless(remote_show),
    command("remote get-url", options("", "push all"), Doing::Other, Operands::Text),
    command("ls-remote", options("q", "get-url quiet").options_first(), Doing::Other, Operands::Text).unless(ls_remote),
    command("worktree list", options("vz", "verbose porcelain"), Doing::Other, Operands::Text),
    command("sparse-checkout list", options("", "").at_most(0), Doing::Other, Operands::Text),
    command("notes", options("", "").at_most(0), Doing::Other, Operands::Text),
    command("notes list,notes show", options("", ""), Doing::Other, Operands::Text),
    command("config get", CONFIG_GET, Doing::Other, Operands::Text),
    command("config list", CONFIG_LIST.at_most(0), Doing::Other, Operands::Text),
    command("config", CONFIG, Doing::Other, Operands::Text).unless(config),
    command("version", options("", "build-options").at_most(0), Doing::Other, Operands::Text),
];

const BRANCH: Options = options(
    "valriq",
    "verbose all list remotes show-current ignore-case color? no-color column? no-column abbrev? no-abbrev sort= format= \
     contains= no-contains= merged= no-merged= points-at= omit-empty",
);

/// With a name and nothing that makes it a list, a branch is made.
fn branch(parsed: &Parsed) -> Option<&'static str> {
    let lists = ["l", "list", "contains", "no-contains", "merged", "no-merged", "points-at"];
    (!parsed.operands.is_empty() && !parsed.has(&lists)).then_some("with a name makes a branch unless it is to list")
}

const TAG: Options = options(
    "ln?i",
    "list ignore-case color? column? no-column sort= format= contains= no-contains= merged= no-merged= points-at= \
     omit-empty",
);

fn tag(parsed: &Parsed) -> Option<&'static str> {
    let lists = ["l", "list", "n", "contains", "no-contains", "merged", "no-merged", "points-at"];
    (!parsed.operands.is_empty() && !parsed.has(&lists)).then_some("with a name makes a tag unless it is to list")
}

/// With `-n`, what is known of a remote is shown and it isn't asked.
fn remote_show(parsed: &Parsed) -> Option<&'static str> {
    (!parsed.operands.is_empty() && !parsed.has(&["n"])).then_some("without -n asks the network")
}

/// Only the address is shown; the remote isn't asked.
fn ls_remote(parsed: &Parsed) -> Option<&'static str> {
    (!parsed.has(&["get-url"])).then_some("without --get-url asks the network")
}

/// What it doesn't know, it repeats.
const REV_PARSE: Options = options(
    "q",
    "revs-only no-revs flags no-flags default= prefix= verify quiet short? not abbrev-ref? symbolic symbolic-full-name \
     all branches? tags? remotes? glob= exclude= disambiguate= local-env-vars path-format= git-dir git-common-dir \
     resolve-git-dir= git-path= show-toplevel show-cdup show-prefix shared-index-path absolute-git-dir \
     is-inside-git-dir is-inside-work-tree is-bare-repository is-shallow-repository show-object-format? \
     show-ref-format since= after= until= before= sq",
)
.no_option_harms();

/// `--dirty` and `--broken` write the index anew.
const DESCRIBE: Options = options(
    "",
    "contains debug all tags long first-parent abbrev? exact-match candidates= match= exclude= always no-match \
     no-exclude",
);

const FOR_EACH_REF: Options = options(
    "s",
    "shell perl python tcl omit-empty count= format= color? no-color exclude= sort= points-at= merged= no-merged= \
     contains= no-contains= ignore-case stdin include-root-refs",
);

const SHOW_REF: Options =
    options("dsq", "tags branches heads exists verify head dereference hash? abbrev? quiet exclude-existing?")
        .no_option_harms();

const NAME_REV: Options =
    options("", "name-only tags refs= exclude= all annotate-stdin stdin undefined no-undefined always")
        .no_option_harms();

const FROM: Options = options(
    "zf@",
    "global system local worktree file=@ blob= includes no-includes null name-only show-origin show-scope show-names \
     type= bool int bool-or-int bool-or-str path expiry-date",
);

const CONFIG_GET: Options = options("t:", "all regexp value= fixed-value url= default= no-type").with(&FROM);

const CONFIG_LIST: Options = options("t:", "no-type").with(&FROM);

/// The words of old: an action as an option, or the name of a setting alone.
const CONFIG: Options =
    options("l", "get get-all get-regexp get-urlmatch get-color get-colorbool list default= fixed-value no-type")
        .with(&FROM)
        .options_first();

/// Without an action, one name is shown, and a second word would be its new value. Actions of new, such as `edit`,
/// hold no dot, as names of settings do.
fn config(parsed: &Parsed) -> Option<&'static str> {
    let actions = ["l", "list", "get", "get-all", "get-regexp", "get-urlmatch", "get-color", "get-colorbool"];
    let one_name = matches!(parsed.operands.as_slice(), [Arg::Literal(name)] if name.contains('.'));
    (!parsed.has(&actions) && !one_name).then_some("without --get, --list or one name may set something")
}

#[cfg(test)]
mod tests {
    use super::super::super::tests::{ask, only_read};

    #[test]
    fn names_are_shown() {
        only_read(&[
            "git branch",
            "git branch -a -vv",
            "git branch --show-current",
            "git branch --contains HEAD",
            "git branch -r",
        ]);
        only_read(&[
            "git branch --list feature/*",
            "git branch -l main",
            "git branch --merged main --format=%(refname)",
        ]);
        only_read(&[
            "git branch --sort=-committerdate",
            "git tag",
            "git tag -l v1.*",
            "git tag -n",
            "git tag --sort=-v:refname",
        ]);
        only_read(&[
            "git tag --contains HEAD",
            "git tag --points-at HEAD",
            "git rev-parse HEAD",
            "git rev-parse --show-toplevel",
        ]);
        only_read(&[
            "git rev-parse --abbrev-ref HEAD",
            "git rev-parse --short …",
            "git describe --tags --always",
            "git describe",
        ]);
        only_read(&[
            "git for-each-ref --format=%(refname:short) refs/heads",
            "git show-ref --heads",
            "git merge-base HEAD …",
        ]);
        only_read(&[
            "git symbolic-ref HEAD",
            "git symbolic-ref --short HEAD",
            "git name-rev HEAD",
            "git remote",
            "git remote -v",
        ]);
        only_read(&[
            "git remote get-url origin",
            "git remote show -n origin",
            "git remote show",
            "git worktree list",
            "git notes",
            "git notes show HEAD",
            "git version",
            "git ls-remote --get-url origin",
        ]);
        only_read(&[
            "git config --get user.name",
            "git config user.name",
            "git config -l",
            "git config --list --show-origin",
        ]);
        only_read(&[
            "git config get user.name",
            "git config list",
            "git config --get-regexp ^user\\.",
            "git config --global user.email",
        ]);
    }

    #[test]
    fn names_are_not_changed() {
        ask(&[
            "git branch x",
            "git branch -D x",
            "git branch -vD x",
            "git branch -m a b",
            "git branch -a x",
            "git branch -v x",
        ]);
        ask(&[
            "git branch --edit-description",
            "git branch -u origin/x",
            "git branch …",
            "git branch -f x",
            "git branch -r x",
        ]);
        ask(&[
            "git tag v2",
            "git tag -d v1",
            "git tag -a v1 -m x",
            "git tag -v v1",
            "git tag --format=%(signature) -l",
            "git tag …",
        ]);
        ask(&[
            "git describe --dirty",
            "git describe --broken",
            "git describe --dirt",
            "git describe …",
            "git symbolic-ref HEAD x",
        ]);
        ask(&[
            "git symbolic-ref -d HEAD",
            "git symbolic-ref HEAD …x y",
            "git remote show origin",
            "git ls-remote origin",
            "git ls-remote origin --get-url",
            "git remote update",
            "git remote add a b",
        ]);
        ask(&[
            "git worktree add x",
            "git worktree prune",
            "git notes add -m x",
            "git notes prune",
            "git notes --ref x add",
        ]);
        ask(&[
            "git config user.name x",
            "git config --unset a.b",
            "git config a.b -z",
            "git config --edit",
            "git config edit",
            "git config set a.b c",
        ]);
        ask(&[
            "git config -e",
            "git config --add a.b c",
            "git config --global a.b c",
            "git config …",
            "git config --get-regexp …",
        ]);
        ask(&[
            "git for-each-ref --sort=signature",
            "git for-each-ref --format=%(*signature:grade)",
            "git branch --sort …",
        ]);
        ask(&["git show-ref --unlisted", "git sparse-checkout set x", "git var GIT_EDITOR"]);
    }
}
