//! Lines with their analyses given.

use super::*;
use crate::policy::Verdict::{Allow, Ask, Deny};
use crate::policy::testing::rules;
use crate::policy::{Call, Decision, OwnCheck, Policy, Rules, Subject, Verdict, decide};
use crate::shell::{Doing, PathUse};
use crate::tools::Tool as _;
use crate::tools::testing::Scratch;
use proto::session::Mode;
use serde_json::json;
use std::os::unix::fs::symlink;

fn command(text: &str, class: Class, paths: Vec<PathUse>) -> Command {
    Command {
        text: text.to_owned(),
        program: text.split(' ').next().map(str::to_owned),
        plain: text.to_owned(),
        forms: vec![text.to_owned()],
        class,
        doing: Doing::Other,
        why: "as given".to_owned(),
        paths,
        named: Vec::new(),
        hidden: false,
    }
}

fn path(path: &Path, access: Access) -> PathUse {
    let text = path.to_str().unwrap().to_owned();
    PathUse { path: Some(text.clone()), below: false, access, text, pattern: None, solid: false, follows: false }
}

fn line_of(given: Vec<Command>) -> (String, Analysis) {
    let line = given.iter().map(|command| command.text.as_str()).collect::<Vec<_>>().join("; ");
    (line, Analysis { commands: given, refused: None })
}

fn decided(given: Vec<Command>, context: &ToolContext, allow: &[&str], mode: Mode) -> Decision {
    let (line, analysis) = line_of(given);
    let subject = Subject::Commands(commands(&line, &analysis, context));
    let input = json!({"command": line});
    let own = OwnCheck::Reads("x".to_owned());
    let rules = Rules { allow: rules(allow), ..Rules::default() };
    let places = crate::tools::places(&context.root, &context.env);
    let policy = Policy { mode, rules: rules.into(), places, ..Policy::default() };
    decide(&policy, Call::new("Bash", &input, &subject, &own))
}

/// Row B11: six checks stand before a command, and each alone makes it ask: where its paths lead, what an edit such as
/// sed's changes, whether it only reads, whether it wants no sandbox, whether the line is understood, and whether a rule
/// speaks of it.
#[test]
fn each_of_six_checks_asks_alone() {
    let scratch = Scratch::new();
    let context = scratch.context();
    let verdict = |given, allow: &[&str]| decided(vec![given], &context, allow, Mode::Default).verdict;
    let inside = scratch.path("f");
    let read = |at: &Path| command("cat f", Class::ReadOnly, vec![path(at, Access::Read)]);
    assert_eq!(verdict(read(&inside), &[]), Verdict::Allow);
    assert_eq!(verdict(read(Path::new("/home/f")), &[]), Verdict::Ask, "path");
    let sed = |at: &Path| command("sed -i s/a/b/ f", Class::Edits, vec![path(at, Access::Write)]);
    let edits = |at: &Path| decided(vec![sed(at)], &context, &[], Mode::AcceptEdits).verdict;
    assert_eq!((edits(&inside), edits(Path::new("/home/f"))), (Verdict::Allow, Verdict::Ask), "sed");
    assert_eq!(verdict(sed(&inside), &[]), Verdict::Ask, "sed in mode default");
    let vague = command("sed -i s/a/b/", Class::Edits, vec![]);
    assert_eq!(decided(vec![vague], &context, &[], Mode::AcceptEdits).verdict, Verdict::Ask, "an edit of what?");
    assert_eq!(verdict(command("make x", Class::Unknown, vec![]), &[]), Verdict::Ask, "read-only");
    let bash = crate::tools::bash::Bash::default();
    let free = json!({"command": "pwd", "dangerouslyDisableSandbox": true});
    let asked = crate::tools::testing::decided(&bash, &free, &context);
    assert_eq!(asked.verdict, Verdict::Ask, "sandbox");
    assert!(asked.reason.detail.contains("without a sandbox"), "{asked:?}");
    let odd = Analysis { refused: Some("a quote is open".to_owned()), ..Analysis::default() };
    let odd = Subject::Commands(commands("cat 'f", &odd, &context));
    let own = bash.check_permission(&free, &context);
    assert!(matches!(own, crate::tools::ToolVerdict::Ask { .. }));
    let (own, input) = (OwnCheck::Reads("x".to_owned()), json!({}));
    let found = decide(&Policy::default(), Call::new("Bash", &input, &odd, &own));
    assert_eq!(found.verdict, Verdict::Ask, "class");
    assert_eq!(verdict(command("make x", Class::Unknown, vec![]), &["Bash(make x)"]), Verdict::Allow);
    assert_eq!(verdict(command("make y", Class::Unknown, vec![]), &["Bash(make x)"]), Verdict::Ask, "rule");
}

#[test]
fn paths_of_commands_are_followed() {
    let scratch = Scratch::new();
    let context = scratch.context();
    symlink("/home", scratch.path("out")).unwrap();
    symlink("loop", scratch.path("loop")).unwrap();
    let used = |path: PathUse| {
        let (line, analysis) = line_of(vec![command("x", Class::ReadOnly, vec![path])]);
        commands(&line, &analysis, &context).parts.remove(0)
    };
    let through = used(path(&scratch.path("out/f"), Access::Read));
    assert_eq!(through.files[0].real, Path::new("/home/f"));
    assert_eq!(through.files[0].path, scratch.path("out/f"));
    let unknown = used(path(&scratch.path("loop/f"), Access::Remove));
    assert!(unknown.files.is_empty() && unknown.unknown_path.is_some() && unknown.removes_unknown);
    let unknown = used(PathUse { path: None, below: true, ..path(Path::new("$x"), Access::Read) });
    assert_eq!((unknown.unknown_path.as_deref(), unknown.removes_unknown), (Some("$x"), false));
    for stream in ["/dev/null", "/dev/stdout", "/dev/fd/2"] {
        assert_eq!(used(path(Path::new(stream), Access::Write)).files, [], "{stream}");
    }
    assert_eq!(used(path(Path::new("/dev/sda"), Access::Write)).files.len(), 1);
}

#[test]
fn git_and_names_that_the_folder_decides_are_not_harmless() {
    let scratch = Scratch::new();
    scratch.write(".git/config", "[core]\n\tfsmonitor = ./evil\n");
    let mut context = scratch.context();
    let class = |text: &str, context: &ToolContext| {
        let (line, analysis) = line_of(vec![command(text, Class::ReadOnly, vec![])]);
        commands(&line, &analysis, context).parts.remove(0).class
    };
    assert_eq!(class("git status", &context), Class::Unknown);
    assert_eq!(class("timeout 5 git status", &context), Class::Unknown);
    assert_eq!(class("cat legit", &context), Class::ReadOnly);
    let allowed =
        decided(vec![command("git status", Class::ReadOnly, vec![])], &context, &["Bash(git status)"], Mode::Default);
    assert_eq!(allowed.verdict, Verdict::Allow, "a rule allows it still");
    context.trusted = true;
    assert_eq!(class("git status", &context), Class::ReadOnly);
    scratch.write("sub/.git/config", "[core]\n\tfsmonitor = ./evil\n");
    let there = vec![
        command("cd sub", Class::ReadOnly, vec![path(&scratch.path("sub"), Access::Look)]),
        command("git status", Class::ReadOnly, vec![]),
    ];
    assert_eq!(decided(there, &context, &[], Mode::Default).verdict, Verdict::Ask, "the line goes there first");
    let bin = scratch.path("bin");
    let variables = [("PATH".to_owned(), bin.to_str().unwrap().to_owned())];
    context.env = Arc::new(std::collections::BTreeMap::from(variables).into());
    scratch.write("bin/ls", "");
    std::fs::set_permissions(bin.join("ls"), std::os::unix::fs::PermissionsExt::from_mode(0o755)).unwrap();
    assert_eq!(class("ls", &context), Class::Unknown, "the session's own ls");
}

#[test]
fn a_line_is_analysed_once_for_a_call() {
    let scratch = Scratch::new();
    let (lines, context) = (Lines::default(), scratch.context());
    let first = lines.analysis("ls", &context);
    assert!(Arc::ptr_eq(&first, &lines.analysis("ls", &context)));
    assert!(!Arc::ptr_eq(&first, &lines.analysis("pwd", &context)));
    let elsewhere = ToolContext { cwd: scratch.path("sub"), ..context.clone() };
    assert!(!Arc::ptr_eq(&first, &lines.analysis("ls", &elsewhere)));
    for number in 0..KEPT {
        lines.anywhere(&format!("echo {number}"));
    }
    assert!(!Arc::ptr_eq(&first, &lines.analysis("ls", &context)), "old ones make room");
}

/// What people see in each line of this table is what becomes of it, from the text of the line to the decision.
#[test]
fn whole_lines_are_decided() {
    let scratch = Scratch::new();
    for name in ["f", "src/a.rs", ".env", ".git/config", "secret/key"] {
        scratch.write(name, "");
    }
    let context = scratch.context();
    let bash = crate::tools::bash::Bash::default();
    let outcome = |line: &str, mode: Mode, deny: &[&str], allow: &[&str]| {
        let input = json!({"command": line});
        let subject = bash.subject(&input, &context);
        let own = crate::tools::own_check(&bash, &input, &context);
        let mut source = rules(deny);
        source.iter_mut().for_each(|rule| rule.source.base.clone_from(&context.root));
        let rules = Rules { deny: source, allow: rules(allow), ..Rules::default() };
        let places = crate::tools::places(&context.root, &context.env);
        let policy = Policy { mode, rules: rules.into(), places, ..Policy::default() };
        let decision = decide(&policy, Call::new("Bash", &input, &subject, &own));
        (decision.verdict, decision.reason.layer, decision.reason.detail)
    };
    for (line, mode, deny, allow, verdict, layer) in [
        ("cat f", Mode::Default, None, None, Allow, 9),
        ("cat f | grep x && git status; ls -l src", Mode::Default, None, None, Allow, 9),
        ("cat /etc/os-release", Mode::Default, None, None, Allow, 9),
        ("ls /home", Mode::Default, None, None, Allow, 9),
        ("f=src/a.rs; echo \"${f%.rs}\"", Mode::Default, None, None, Allow, 9),
        ("find . -name '*.txt' -print0 | xargs -0 ls -la", Mode::Default, None, None, Allow, 9),
        ("find . -name '*.txt' -print0 | xargs -0 cat", Mode::Default, None, None, Allow, 9),
        ("git ls-files | xargs cat", Mode::Default, None, None, Allow, 9),
        ("find . -name '*.rs' | xargs cat | wc -l", Mode::Default, None, None, Allow, 9),
        ("for f in $(git ls-files src); do head \"$f\"; done", Mode::Default, None, None, Allow, 9),
        ("find . | while read -r f; do wc -l \"$f\"; done", Mode::Default, None, None, Allow, 9),
        ("sort $(git ls-files)", Mode::Default, None, None, Ask, 9),
        ("find . -name .env | xargs cat", Mode::Default, None, None, Ask, 9),
        ("git ls-files | xargs cat", Mode::Default, Some("Read(.env)"), None, Ask, 5),
        ("cat list | xargs cat", Mode::Default, None, None, Ask, 9),
        ("git ls-files | xargs cat > f", Mode::AcceptEdits, None, None, Ask, 9),
        ("cat /proc/$$/environ", Mode::Default, None, None, Ask, 6),
        ("cat /home/x", Mode::Default, None, None, Ask, 9),
        ("cat ../x", Mode::Default, None, None, Ask, 9),
        ("cat .env", Mode::BypassPermissions, None, Some("Bash"), Ask, 6),
        ("cat ~/.ssh/id_rsa", Mode::BypassPermissions, None, None, Ask, 6),
        ("cat /etc/shadow", Mode::BypassPermissions, None, None, Ask, 6),
        ("cat /proc/self/environ", Mode::BypassPermissions, None, None, Ask, 6),
        ("grep -r x .", Mode::Default, None, None, Allow, 9),
        ("grep -r x .", Mode::Default, Some("Read(.env)"), None, Ask, 5),
        ("grep -r x", Mode::Default, Some("Read(.env)"), None, Ask, 5),
        ("rg x", Mode::Default, Some("Read(.env)"), None, Ask, 5),
        ("git diff ':(top).env'", Mode::Default, Some("Read(.env)"), None, Deny, 1),
        ("git log -L '/S/,+1:.env'", Mode::Default, Some("Read(.env)"), None, Deny, 1),
        ("git show 'HEAD^{/i}:.env'", Mode::Default, Some("Read(.env)"), None, Deny, 1),
        ("git cat-file --batch <<< HEAD:.env", Mode::Default, Some("Read(.env)"), None, Ask, 9),
        ("git grep x HEAD", Mode::Default, Some("Read(.env)"), None, Ask, 5),
        ("git diff", Mode::Default, Some("Read(.env)"), None, Ask, 5),
        ("git diff", Mode::Default, None, None, Allow, 9),
        ("git show HEAD:\"$x\"", Mode::Default, None, None, Allow, 9),
        ("git diff -- . ':!.env'", Mode::BypassPermissions, Some("Read(.env)"), None, Ask, 5),
        ("git diff --stat", Mode::Default, Some("Read(.env)"), None, Allow, 9),
        ("git show HEAD:f", Mode::Default, Some("Read(.env)"), None, Allow, 9),
        ("cd src && rg x", Mode::Default, Some("Read(/secret/**)"), None, Allow, 9),
        ("cat secret/key", Mode::BypassPermissions, Some("Read(secret/**)"), None, Deny, 1),
        ("cd secret && cat key", Mode::BypassPermissions, Some("Read(/secret/**)"), None, Deny, 1),
        ("echo x > f", Mode::Default, None, Some("Bash(echo *)"), Ask, 9),
        ("echo x > f", Mode::AcceptEdits, None, None, Allow, 9),
        ("echo x > .git/config", Mode::BypassPermissions, None, Some("Bash"), Ask, 6),
        ("ls > /dev/null 2>&1", Mode::Default, None, None, Allow, 9),
        ("mkdir -p a/b && touch a/b/c", Mode::AcceptEdits, None, None, Allow, 9),
        ("rm f", Mode::Default, None, None, Ask, 9),
        ("rm f", Mode::AcceptEdits, None, None, Allow, 9),
        ("rm -rf /", Mode::BypassPermissions, None, Some("Bash"), Ask, 6),
        ("rm -rf ~", Mode::BypassPermissions, None, None, Ask, 6),
        ("rm -rf .", Mode::BypassPermissions, None, None, Ask, 6),
        ("rm -rf *", Mode::BypassPermissions, None, None, Ask, 6),
        ("rm -rf ./*", Mode::BypassPermissions, None, None, Ask, 6),
        ("rm -rf .*", Mode::BypassPermissions, None, None, Ask, 6),
        ("rm -rf *.o", Mode::BypassPermissions, None, None, Allow, 7),
        ("rm -rf \"$X\"/*", Mode::BypassPermissions, None, None, Ask, 6),
        ("rm -rf \"$X/\"", Mode::BypassPermissions, None, None, Ask, 6),
        ("rm -rf \"$X\"", Mode::BypassPermissions, None, None, Allow, 7),
        ("sudo rm -rf /", Mode::BypassPermissions, None, None, Ask, 6),
        ("sudo -u x /bin/rm -rf ~/..", Mode::BypassPermissions, None, None, Ask, 6),
        ("env -i rm --odd /usr", Mode::BypassPermissions, None, None, Ask, 6),
        ("rm -rf ~+", Mode::BypassPermissions, None, None, Ask, 6),
        ("rm -rf ~somebody", Mode::BypassPermissions, None, None, Ask, 6),
        ("docker run --rm x /usr", Mode::BypassPermissions, None, None, Allow, 7),
        ("find / -delete", Mode::BypassPermissions, None, None, Ask, 6),
        ("sudo find -xdev -type f -delete", Mode::BypassPermissions, None, None, Ask, 6),
        ("find -L ~ src -mindepth 1 -delete", Mode::BypassPermissions, None, None, Ask, 6),
        ("find . ! -name keep -delete", Mode::BypassPermissions, None, None, Ask, 6),
        ("find . -name '*.o' -delete", Mode::BypassPermissions, None, None, Allow, 7),
        ("find / -name '*' -delete", Mode::BypassPermissions, None, None, Ask, 6),
        ("find ~ -type f -delete", Mode::BypassPermissions, None, None, Ask, 6),
        ("find . -exec rm -rf {} +", Mode::BypassPermissions, None, None, Ask, 6),
        ("find . -name '*' -exec rm -rf {} +", Mode::BypassPermissions, None, None, Ask, 6),
        ("find . ! -name keep -exec rm -rf {} +", Mode::BypassPermissions, None, None, Ask, 6),
        ("find . -name x -o -type f -exec rm {} +", Mode::BypassPermissions, None, None, Ask, 6),
        ("find . ! \\( -name x \\) -exec rm {} +", Mode::BypassPermissions, None, None, Ask, 6),
        ("find / -name x -exec rm {} +", Mode::BypassPermissions, None, None, Ask, 6),
        ("find . -name .git -exec rm -rf {} +", Mode::BypassPermissions, None, None, Ask, 6),
        ("find . -path '*/.git/*' -exec rm -rf {} +", Mode::BypassPermissions, None, None, Ask, 6),
        ("find . -name '__pycache__' -exec rm -rf {} +", Mode::BypassPermissions, None, None, Allow, 7),
        ("find . -name '__pycache__' -exec rm -rf {} +", Mode::AcceptEdits, None, None, Allow, 9),
        ("find . -type f -name '*.pyc' -exec rm -f {} \\;", Mode::BypassPermissions, None, None, Allow, 7),
        ("find src -name '*.o' -exec rm {} +", Mode::AcceptEdits, None, None, Allow, 9),
        ("find . -path './build/*' -exec rm {} +", Mode::BypassPermissions, None, None, Allow, 7),
        ("find . \\( -name '*.o' -o -name '*.a' \\) -exec rm {} +", Mode::BypassPermissions, None, None, Allow, 7),
        ("find src -delete", Mode::BypassPermissions, None, None, Allow, 7),
        ("find . -type d", Mode::BypassPermissions, None, None, Allow, 7),
        ("echo $(rm -rf /)", Mode::BypassPermissions, None, None, Ask, 6),
        ("rm -rf src/*", Mode::AcceptEdits, None, None, Allow, 9),
        ("git status; rm f", Mode::Default, None, Some("Bash(git *)"), Ask, 9),
        ("timeout 5 npm test", Mode::Default, None, Some("Bash(npm test)"), Allow, 8),
        ("X=1 sudo rm f", Mode::BypassPermissions, Some("Bash(rm *)"), None, Deny, 1),
        ("sudo -u x rm f", Mode::BypassPermissions, Some("Bash(rm *)"), None, Deny, 1),
        ("exec -a y rm f", Mode::BypassPermissions, Some("Bash(rm *)"), None, Deny, 1),
        ("command -p rm f", Mode::BypassPermissions, Some("Bash(rm *)"), None, Deny, 1),
        ("eval 'cd x; rm f'", Mode::BypassPermissions, Some("Bash(rm *)"), None, Deny, 1),
        ("su -c 'rm f'", Mode::BypassPermissions, Some("Bash(rm *)"), None, Deny, 1),
        ("env -S 'rm f'", Mode::BypassPermissions, Some("Bash(rm *)"), Some("Bash(env *)"), Deny, 1),
        ("env --split-string='rm f'", Mode::BypassPermissions, Some("Bash(rm *)"), None, Deny, 1),
        ("env setsid busybox rm f", Mode::BypassPermissions, Some("Bash(rm *)"), None, Deny, 1),
        ("trap 'rm f' EXIT", Mode::BypassPermissions, Some("Bash(rm *)"), None, Deny, 1),
        ("bash -lc 'rm f'", Mode::BypassPermissions, Some("Bash(rm *)"), None, Deny, 1),
        ("zsh -c 'rm f'", Mode::BypassPermissions, Some("Bash(rm *)"), None, Deny, 1),
        ("ksh -c 'rm f'", Mode::BypassPermissions, Some("Bash(rm *)"), None, Deny, 1),
        ("fish -c 'rm f'", Mode::BypassPermissions, Some("Bash(rm *)"), None, Deny, 1),
        ("bash <<< 'rm f'", Mode::BypassPermissions, Some("Bash(rm *)"), None, Ask, 5),
        ("bash <<EOF\nrm f\nEOF", Mode::BypassPermissions, Some("Bash(rm *)"), None, Ask, 5),
        ("echo rm f | sh", Mode::BypassPermissions, Some("Bash(rm *)"), None, Ask, 5),
        ("echo rm f | bash -s x", Mode::BypassPermissions, Some("Bash(rm *)"), None, Ask, 5),
        ("echo rm f | sudo bash", Mode::BypassPermissions, Some("Bash(rm *)"), None, Ask, 5),
        ("bash x.sh rm f", Mode::BypassPermissions, Some("Bash(rm *)"), None, Allow, 7),
        ("bash -lc 'make x'", Mode::BypassPermissions, Some("Bash(rm *)"), None, Allow, 7),
        ("bash -lc \"$x\"", Mode::BypassPermissions, Some("Bash(rm *)"), None, Ask, 5),
        ("find . -name x -execdir rm {} \\;", Mode::BypassPermissions, Some("Bash(rm *)"), None, Deny, 1),
        ("find . -name x -ok rm {} \\;", Mode::BypassPermissions, Some("Bash(rm *)"), None, Deny, 1),
        ("find . -exec ls {} + -exec rm {} +", Mode::BypassPermissions, Some("Bash(rm *)"), None, Deny, 1),
        ("git $(echo push) origin", Mode::BypassPermissions, Some("Bash(git push *)"), None, Ask, 5),
        ("git -C . push origin", Mode::BypassPermissions, Some("Bash(git push *)"), None, Deny, 1),
        ("git --no-pager push origin", Mode::BypassPermissions, Some("Bash(git push *)"), None, Deny, 1),
        ("git -c x=y push origin", Mode::BypassPermissions, Some("Bash(git push *)"), None, Deny, 1),
        ("git -c alias.p=push p origin", Mode::BypassPermissions, Some("Bash(git push *)"), None, Ask, 5),
        ("git -C . commit -m push", Mode::BypassPermissions, Some("Bash(git push *)"), None, Allow, 7),
        ("unshare -r rm f", Mode::BypassPermissions, Some("Bash(rm *)"), None, Deny, 1),
        ("npx rm f", Mode::BypassPermissions, Some("Bash(rm *)"), None, Deny, 1),
        ("npm exec -- rm f", Mode::BypassPermissions, Some("Bash(rm *)"), None, Deny, 1),
        ("uv run rm f", Mode::BypassPermissions, Some("Bash(rm *)"), None, Deny, 1),
        ("poetry run rm f", Mode::BypassPermissions, Some("Bash(rm *)"), None, Deny, 1),
        ("npm run build", Mode::BypassPermissions, Some("Bash(rm *)"), None, Allow, 7),
        ("bash -lc 'cat .env'", Mode::BypassPermissions, Some("Read(.env)"), None, Deny, 1),
        ("bash -lc ls", Mode::Default, None, None, Ask, 9),
        ("sudo make", Mode::BypassPermissions, Some("Bash(rm *)"), None, Allow, 7),
        ("git commit -m 'sudo rm f'", Mode::BypassPermissions, Some("Bash(rm *)"), None, Allow, 7),
        ("env X=1 rm f", Mode::BypassPermissions, Some("Bash(rm *)"), None, Deny, 1),
        ("find . -delete", Mode::Default, None, Some("Bash(find *)"), Ask, 6),
        ("npm test && make x", Mode::Plan, None, Some("Bash"), Deny, 7),
        ("cat f", Mode::Plan, None, None, Allow, 9),
        ("cat f", Mode::DontAsk, None, None, Allow, 9),
        ("make", Mode::DontAsk, None, None, Deny, 11),
        ("make", Mode::Auto, None, Some("Bash(make *)"), Ask, 9),
    ] {
        let lists = (deny.iter().copied().collect::<Vec<_>>(), allow.iter().copied().collect::<Vec<_>>());
        let found = outcome(line, mode, &lists.0, &lists.1);
        assert_eq!((found.0, found.1), (verdict, layer), "{line} {mode:?} {deny:?} {allow:?}: {}", found.2);
    }
}

/// A folder whose name ends in a blank makes two words of the name of a file in it.
#[test]
fn names_that_are_not_plain_ask_and_are_named() {
    let scratch = Scratch::new();
    scratch.write("src/a.rs", "");
    scratch.write("odd /home/u/.ssh/id", "");
    let context = scratch.context();
    let bash = crate::tools::bash::Bash::default();
    let decided = |line: &str| crate::tools::testing::decided(&bash, &json!({"command": line}), &context);
    for line in ["git ls-files | xargs cat", "cat $(find .)", "find . | while read -r f; do cat \"$f\"; done"] {
        let asked = decided(line);
        assert_eq!(asked.verdict, Ask, "{line}");
        assert!(asked.reason.detail.contains("odd "), "{line}: {asked:?}");
    }
    for line in ["cat $(find src)", "ls src | xargs cat", "echo $(ls)"] {
        assert_eq!(decided(line).verdict, Allow, "{line}");
    }
}

/// Names that one command gives to another, and names that patterns stand for, are read where they are used, by links
/// too.
#[test]
fn links_among_the_files_that_a_line_finds_are_followed() {
    use std::os::unix::fs::symlink;
    let scratch = Scratch::new();
    for name in ["src/x", "src/l.rs", "plain/a", "other/y", "pages/[x]/y", "docs/a"] {
        scratch.write(name, "");
    }
    for link in ["x", "other/x", "src/in.rs", "pages/[x]/z"] {
        symlink("/home/u/secret", scratch.path(link)).unwrap();
    }
    symlink("../other", scratch.path("plain/dir")).unwrap();
    let context = scratch.context();
    let bash = crate::tools::bash::Bash::default();
    let verdict = |line: &str| crate::tools::testing::decided(&bash, &json!({"command": line}), &context).verdict;
    for line in [
        "ls plain | xargs -I{} cat src/{}",
        "ls plain | xargs cat",
        "cat $(ls plain)",
        "for f in $(ls plain); do cat \"other/$f\"; done",
        "find plain | while read -r f; do cat \"$f/x\"; done",
        "for f in *; do cat \"$f\"; done",
        "for f in */x; do head -1 < \"$f\"; done",
        "x=src/*; cat $x",
        "d=src; cat $d/*.rs",
        "cat {x,y}*",
        "cat \"pages/[x]\"/*",
        "cat src/\"\"*\"\".rs",
        "cat src/[[:alpha:]]*.rs",
        "find . -exec cat {} +",
        "find . -name x -exec grep y {} \\;",
        "find . ! -type f -exec cat {} +",
        "find . -exec cat {} + -type f",
        "find . -print0 | xargs -0 cat",
        "find . -type f -exec cat {} + -o -name x",
        "find docs -name '*.pem' -type f -exec cat {} +",
        "find docs -name .env -exec cat {} +",
    ] {
        assert_eq!(verdict(line), Ask, "{line}");
    }
    for line in [
        "ls src | xargs ls -l",
        "find . -type f -exec cat {} +",
        "find plain -maxdepth 1 -name a -exec cat {} +",
        "for f in src/l*; do cat \"$f\"; done",
        "for f in [a-w]*; do wc -c \"$f\"; done",
        "cat {src/l,plain/}*",
        "d=plain; cat $d/a*",
    ] {
        let wanted = if line.contains("maxdepth") { Ask } else { Allow };
        assert_eq!(verdict(line), wanted, "{line}");
    }
}

/// Programs that go through a folder read outside of it by the links there, if they follow them.
#[test]
fn links_below_a_folder_count_where_they_are_followed() {
    use std::os::unix::fs::symlink;
    let scratch = Scratch::new();
    for name in ["src/deep/x", "plain/a", "plain/b/c"] {
        scratch.write(name, "");
    }
    symlink("/home/u/secret", scratch.path("src/deep/link")).unwrap();
    symlink("b", scratch.path("plain/inside")).unwrap();
    let context = scratch.context();
    let bash = crate::tools::bash::Bash::default();
    let verdict = |line: &str| crate::tools::testing::decided(&bash, &json!({"command": line}), &context).verdict;
    for line in [
        "grep -R x .",
        "grep -R x",
        "grep --dereference-recursive -n x src",
        "grep -nR x sr*",
        "rg -L x",
        "rg --follow x src",
        "ag -f x src",
        "diff -r src plain",
        "diff src/deep plain",
    ] {
        assert_eq!(verdict(line), Ask, "{line}");
    }
    for line in [
        "grep -r x .",
        "grep -R x plain",
        "rg x",
        "rg -L x plain",
        "diff -r --no-dereference src plain",
        "diff -r plain plain",
        "du -sL src",
        "ls -LR src",
    ] {
        assert_eq!(verdict(line), Allow, "{line}");
    }
}
