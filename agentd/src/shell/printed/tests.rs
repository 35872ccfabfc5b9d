//! Outputs of commands as they are written, and lines of which one command prints names, revisions or numbers for
//! another, from their text to what they use.

use super::*;
use crate::shell::{Access, Analysis, Bare, Listed, PathUse, World, analyse, analyse_if_plain};

const WORLD: World<'static> = World { cwd: "/w/project", home: "/home/me" };

/// Its folder and how each name begins, of what a command prints.
fn names(line: &str) -> Option<(String, String)> {
    let words: Vec<Expanded> = line.split(' ').map(Expanded::literal).collect();
    of(None, &words, "/w").filter(|output| output.kind == Kind::Names).map(|output| (output.root, output.prefix))
}

#[test]
fn commands_that_print_names() {
    for (line, root, prefix) in [
        ("find", ".", "./"),
        ("find . -type f -not -path x -o -name y", ".", "./"),
        ("find src/ -print0", "src", "src/"),
        ("find src docs", ".", ""),
        ("find /w/src", "/w/src", "/w/src/"),
        ("git ls-files -z docs", "docs", "docs/"),
        ("git ls-files docs/*.md", ".", ""),
        ("git ls-files docs src", ".", ""),
        ("git grep -l x -- src", ".", ""),
        ("rg -l x", ".", ""),
        ("rg --files -g *.rs src", "src", "src/"),
        ("grep -rl x src", "src", "src/"),
        ("grep -rl --include=*.rs -e x src docs", ".", ""),
        ("fd -e rs", ".", ""),
        ("ls -1t", ".", ""),
        ("ls src", "src", ""),
        ("rg -l x ./", ".", "./"),
    ] {
        assert_eq!(names(line), Some((root.to_owned(), prefix.to_owned())), "{line}");
    }
    for line in [
        "find . -ls",
        "find . -printf x",
        "find . -exec echo x ;",
        "find -L .",
        "find . -print -print0",
        "find /wx",
        "find /",
        "find ..",
        "find a/../b",
        "git ls-files -s",
        "git ls-files :/",
        "git ls-files --full-name",
        "git grep -n x",
        "git grep -l x HEAD",
        "git log --format=%B",
        "rg x",
        "rg -l --null x",
        "rg -l x ../y",
        "grep -r x .",
        "grep -rlZ x .",
        "grep -Rl x .",
        "ls -l",
        "ls -a",
        "ls -F",
        "ls /etc",
        "cat x",
    ] {
        assert_eq!(names(line), None, "{line}");
    }
}

/// Whether a line only reads, and only what is in the folder of the session.
fn reads_inside(analysis: &Analysis) -> bool {
    let inside = |path: &str| path.starts_with("/w/project") && path.split('/').all(|part| part != "..");
    let known = |used: &PathUse| used.access == Access::Look || used.path.as_deref().is_some_and(inside);
    analysis.is_read_only() && analysis.commands.iter().all(|command| command.paths.iter().all(known))
}

#[test]
fn names_that_a_command_prints_are_followed_to_who_reads_them() {
    for line in [
        "find . -name '*.rs' | xargs cat | wc -l",
        "git ls-files docs | xargs head -n 2",
        "rg -l foo | xargs -d '\\n' wc -l",
        "ls -t | head -1 | xargs cat",
        "git ls-files | grep '\\.rs$' | xargs -d '\\n' wc -l",
        "wc -l $(git ls-files src)",
        "for f in $(git ls-files '*.rs' | head -5); do echo \"=== $f ===\"; head -20 \"$f\"; done",
        "for f in $(git diff --name-only); do wc -l \"./$f\"; done",
        "git diff --name-only | xargs cat",
        "git diff --name-only -- src | xargs wc -l",
        "git diff --name-only --diff-filter=AM HEAD~1 | xargs grep -n foo",
        "git diff --cached --name-only --diff-filter=ACM | xargs wc -l",
        "git ls-files -z | xargs -0 wc -l",
        "git ls-files -z | xargs -0 cat",
        "git ls-files -z docs | xargs -0 cat",
        "git diff --name-only HEAD~1 | xargs ls -l",
        "while IFS= read -r f; do grep -c foo \"./$f\"; done < <(git ls-files)",
        "find . -name '*.md' | while read -r f; do wc -l \"$f\"; done",
        "find . -name '*.md' 2>/dev/null | while read -r f; do head -3 \"$f\" | grep x; done",
        "while read -r f; do cat \"$f\"; done <<< \"$(find src)\"",
        "find . -print0 | while IFS= read -r -d '' f; do cat \"$f\"; done",
        "find src -type f -print0 | xargs -0 -n1 cat",
        "grep -rl foo src | xargs grep -n bar",
        "grep -n foo $(git ls-files '*.rs')",
        "sort $(git ls-files src)",
        "cat \"$(ls -t | head -1)\"",
        "f=$(find . -name x.rs | head -1); cat \"$f\"",
        "git show \"$(git rev-parse HEAD)\"",
        "git diff $(git merge-base main HEAD)..HEAD",
        "git log $(git merge-base main HEAD)..HEAD --oneline",
        "for i in $(seq 1 3); do git log --skip=$i -1; done",
        "git show $(git rev-list -n 1 HEAD)",
        "git show $(git log -1 --format=%H)",
        "git show $(git rev-list -n 1 -n 2 HEAD)",
        "for c in $(git rev-list -5 main..HEAD); do git show --stat $c; done",
        "for c in $(git log --reverse --format=%h --since=yesterday -- src); do git diff --stat $c^ $c; done",
        "base=$(git merge-base main HEAD); git diff --stat \"$base\"",
        "git diff --name-only \"$(git merge-base HEAD main)\"",
        "git ls-files | xargs -I{} grep -c foo {}",
        "git log --since=$(date +%F)",
        "rg --files -g '*.rs' | xargs wc -l",
        "cat $(ls src/*.rs)",
        "find . | xargs -I{} cat ./{}",
        "wc */*",
        "for f in */*; do wc \"$f\"; done",
        "grep foo */*/*",
        "find . -type d | xargs -I% cat %/x",
        "find src | xargs -I {} -P 4 -n1 cat {}",
        "for d in $(find . -type d); do cat \"$d/x\"; done",
        "find . -type d | while read -r d; do cat \"$d/x\"; done",
        "find . | while read -r f || [ -n \"$f\" ]; do cat \"$f\"; done",
        "while read -r f; do :; done < <(find .); cat \"$f\"",
        "f=$(find . -name x); cat \"$f.rs\"",
        "wc -l *",
        "wc -l -- */*",
        "wc -l src/*/*",
        "grep -n foo *",
        "for f in *; do wc \"$f\"; done",
        "for f in *.rs; do :; done; cat \"$f\"",
    ] {
        let (analysis, _) = analyse_if_plain(line, WORLD);
        assert!(reads_inside(&analysis), "{line}: {analysis:?}");
    }
}

#[test]
fn what_may_be_no_name_below_the_folder_is_not_followed() {
    for line in [
        "git log --format=%B | xargs cat",
        "git log --format= --name-only | xargs du",
        "find . | head 5 | xargs cat",
        "find . | tail 5 | xargs cat",
        "find . | xargs -I{} cat .{}",
        "find . | xargs -I{} cat {}./x",
        "find . | xargs -I{} cat {}{}/x",
        "find . | xargs -I% cat x%",
        "find . | xargs -In cat n./x",
        "find . | xargs -I . cat .",
        "cat \"$(find . -name x)/etc/passwd\"",
        "cat $(find . -name x)/etc/passwd",
        "f=$(find . -name x); cat \"$f/etc/passwd\"",
        "f=$(find . -name x); cat \"$f$y\"",
        "f=$(find . -name x); sort \"$f-opwn\" a",
        "f=$(find . -name x); sort \"$f\"*",
        "ls a b | while read -r f; do cat \"$f/etc/passwd\"; done",
        "while read -r f; do :; done < <(find .); cat \"$f/etc/passwd\"",
        "while read -r f; do :; done < <(find .); sort -t $f -k --output=pwn",
        "f=/etc/x; for f in $(find . -name x); do :; done; cat \"$f\"",
        "f=/etc/x; for f in $(seq 5 1); do :; done; cat \"$f\"",
        "xxd $(git rev-parse HEAD^@)",
        "xxd $(git rev-parse HEAD^-)",
        "for f in *; do wc \"$f$y\"; done",
        "wc $x",
        "find x -print0 | xargs -0 -I{} wc \"${y}\" {}",
        "cat list | xargs du",
        "cd $x && wc */*",
        "cat list | xargs cat",
        "echo ~/.ssh/id | xargs cat",
        "grep -l foo $(cat list)",
        "cat $(git log -1 --format=%B)",
        "find . | xargs -I{} cat {}/../../x",
        "find /etc | xargs cat",
        "find .. | xargs cat",
        "find . -printf '/etc/%p\\n' | xargs cat",
        "ls -a | xargs cat",
        "cat \".$(ls)\"",
        "for f in $(find .); do cat \"$f./x\"; done",
        "for f in $(find .); do cat \"$f$f/x\"; done",
        "for f in $(find .); do cat \".$f\"; done",
        "for f in $(find .); do cat \"/$f\"; done",
        "for f in $(ls); do cat \"$f/../../x\"; done",
        "for f in $(git diff --name-only HEAD~1); do cat \"./$f\"; done",
        "for f in $(git diff --name-only HEAD~1); do wc $f; done",
        "git diff --name-only HEAD~1 | xargs cat",
        "git diff --name-only HEAD~1 | xargs wc -l",
        "git diff --name-only HEAD~1 | xargs md5sum --",
        "git diff --name-only HEAD~1 | xargs file",
        "for f in $(git diff --name-only HEAD~1); do wc -l \"./$f\"; done",
        "wc -l $(git diff --name-only HEAD~1)",
        "git diff --name-only --cached | xargs wc -l",
        "git diff --name-only --diff-filter=AM a..b | xargs wc -l",
        "git diff --name-only --diff-filter=AM a b | xargs wc -l",
        "git diff --name-only -- a b | xargs wc -l",
        "git diff --name-only -- /etc/x | xargs wc -l",
        "find . | while read -r f; do head -c 3 ; cat \"$f\"; done",
        "find . | while read -r f; do cat \"$f\"; read -n 2 x; done",
        "find . | while IFS=/ read -r f; do cat \"$f\"; done",
        "find . | while read -r a f; do cat \"$f\"; done",
        "find . -print0 | while read -r f; do cat \"$f\"; done",
        "find . | while read -r f; do f=/etc/$f; cat \"$f\"; done",
        "find . | sed 's/x/\\/etc/' | xargs cat",
        "find . | awk '{print \"/etc/\" $0}' | xargs cat",
        "find . | cut -c 3- | xargs cat",
        "find . | tail -c 9 | xargs cat",
        "find . | grep -o '/.*' | xargs cat",
        "git ls-files --format=/etc/x | xargs cat",
        "git ls-files :/ | xargs cat",
        "git ls-files ../ | xargs cat",
        "git grep -l foo HEAD~1 | xargs cat",
        "find . -exec echo /etc/passwd \\; | xargs cat",
        "git show \"$(git rev-parse ../../etc)\"; cat \"$(git rev-parse /etc/passwd)\"",
        "cat \"$(git rev-parse -x)\"",
        "git log $(git log -1 --format=%s)",
        "git show $(echo --output=x)",
        "find . | xargs sort -o",
        "find . | xargs rm",
        "find $x | xargs cat",
        "cd / && find . | xargs cat",
        "cd .. && cat $(git ls-files)",
        "{ cat x; find .; } | xargs cat",
        "find . ; cat x | xargs cat",
        "cat $(find .; echo /etc/passwd)",
        "cat $(find . && cat x)",
        "cat $(find . | cat x)",
        "cat $(find . < x | xargs -n1 echo)",
        "find . | xargs -a x cat",
        "find . | xargs -d / cat",
        "find . -print0 | xargs cat",
        "find . | xargs -0 cat",
        "find . | xargs bash -c 'cat $0'",
        "for f in $(find .); do eval \"$f\"; done",
        "for f in $(ls); do \"$f\"; done",
        "find . | while read -r f; do cat \"$f\"; done < x",
        "while read -r f; do cat \"$f\"; done < <(cat x)",
        "f=$(find . | head -1); f+=/../../x; cat \"$f\"",
        "xargs -I cat $(git rev-parse HEAD) touch y",
    ] {
        let (analysis, _) = analyse_if_plain(line, WORLD);
        assert!(!reads_inside(&analysis), "{line}");
    }
}

/// Without a look at the folder nothing is said of names that are taken apart at blanks.
#[test]
fn names_are_plain_only_if_somebody_looks() {
    for line in ["git ls-files | xargs cat", "cat $(find .)", "find . | while read -r f; do cat \"$f\"; done"] {
        assert!(!reads_inside(&analyse(line, WORLD)), "{line}");
        let (_, listed) = analyse_if_plain(line, WORLD);
        assert!(listed.iter().all(|listed| listed.folder == "/w/project") && !listed.is_empty(), "{line}");
    }
    let (_, listed) = analyse_if_plain("cd sub && du -d -- */*", WORLD);
    assert!(matches!(listed.as_slice(), [Listed { folder, bare: Bare::Options, .. }] if folder == "/w/project/sub"));
    for line in ["du -d 1 */", "wc *", "wc -l -- */*", "wc -l src/*/*", "cat */*"] {
        assert_eq!(analyse_if_plain(line, WORLD).1, [], "{line}");
    }
    let (_, listed) = analyse_if_plain("find /w/project/src | xargs cat", WORLD);
    assert_eq!(listed.iter().map(|listed| listed.folder.as_str()).collect::<Vec<_>>(), ["/w/project/src"]);
    let (_, listed) = analyse_if_plain("cd sub && ls -t src | head -1 | xargs wc", WORLD);
    assert_eq!(listed.iter().map(|listed| listed.folder.as_str()).collect::<Vec<_>>(), ["/w/project/sub/src"]);
    for line in ["git show $(git rev-parse HEAD)", "find . -print0 | xargs -0 cat", "cat a"] {
        assert_eq!(analyse_if_plain(line, WORLD), (analyse(line, WORLD), Vec::new()), "{line}");
    }
}
