//! Lines of several commands, and what they use.

use super::*;

fn git_status() -> CommandUse {
    command("git status", Class::ReadOnly)
}

fn rm(path: &str) -> CommandUse {
    let files = vec![file(&format!("/w/{path}"), Access::Remove, Zone::Inside)];
    CommandUse { files, ..command(&format!("rm {path}"), Class::Edits) }
}

fn line(parts: &[&CommandUse]) -> Given {
    Given::line(parts.iter().map(|part| (*part).clone()).collect())
}

/// Row B06: a rule speaks of each command of a line by itself: one that is not allowed is asked about, one that is denied
/// denies the line.
#[test]
fn each_command_of_a_line_needs_its_own_yes() {
    let (status, remove, make) = (git_status(), rm("x"), command("make x", Class::Unknown));
    let allow_git = with_rules(Mode::Default, &[], &[], &["Bash(git *)"]);
    let both = line(&[&status, &remove]).decide(&allow_git);
    assert_eq!(outcome(&both), ("ask", 9));
    assert!(both.reason.detail.starts_with("rm x: "), "{}", both.reason.detail);
    let verdicts: Vec<Verdict> = both.parts.iter().map(|part| part.verdict).collect();
    assert_eq!(verdicts, [Verdict::Allow, Verdict::Ask]);
    assert_eq!(line(&[&status, &remove]).outcome(&policy(Mode::AcceptEdits)), ("allow", 9));
    assert_eq!(line(&[&status, &make]).outcome(&with_rules(Mode::Default, &[], &[], &["Bash(make *)"])), ("allow", 8));
    let denied = with_rules(Mode::BypassPermissions, &["Bash(rm *)"], &[], &["Bash"]);
    assert_eq!(line(&[&status, &make, &remove]).outcome(&denied), ("deny", 1));
    assert_eq!(line(&[&status, &make]).outcome(&denied), ("allow", 7));
    let whole = with_rules(Mode::BypassPermissions, &["Bash(git status; make*)"], &[], &[]);
    assert_eq!(line(&[&status, &make]).outcome(&whole), ("deny", 1), "a rule may speak of the line too");
    // Of several questions the one counts whose layer comes first.
    let asked = with_rules(Mode::Default, &[], &["Bash(make *)"], &[]);
    for parts in [[&make, &remove], [&remove, &make]] {
        let decision = line(&parts).decide(&asked);
        assert_eq!(outcome(&decision), ("ask", 5));
        assert!(decision.reason.detail.starts_with("make x: "), "{decision:?}");
    }
}

/// Row P05: a question that a rule wants of some commands is asked in bypass too, wherever in a line they stand.
#[test]
fn a_content_ask_rule_asks_in_bypass() {
    let publish = command("npm publish --tag x", Class::Unknown);
    for mode in [Mode::Default, Mode::BypassPermissions, Mode::Auto, Mode::AcceptEdits] {
        let asking = with_rules(mode, &[], &["Bash(npm publish:*)"], &["Bash"]);
        let decision = line(&[&git_status(), &publish]).decide(&asking);
        assert_eq!(outcome(&decision), ("ask", 5), "{mode:?}");
        assert_eq!(decision.reason.rule.as_deref(), Some("Bash(npm publish:*)"));
    }
}

/// Row P22: rules are finer than a tool: one push is allowed, another is not.
#[test]
fn rules_speak_of_single_commands() {
    let allowed = with_rules(Mode::Default, &[], &[], &["Bash(git push origin main)"]);
    let push = |text: &str| line(&[&command(text, Class::Unknown)]).outcome(&allowed).0;
    assert_eq!(push("git push origin main"), "allow");
    for other in ["git push origin", "git push origin main --force", "git push origin mainx"] {
        assert_eq!(push(other), "ask", "{other}");
    }
}

/// Row T13: a call is taken apart once, and many rules are compared with it.
#[test]
fn one_parse_serves_many_patterns() {
    let build = CommandUse {
        plain: "npm run build".to_owned(),
        forms: ["FOO=1 timeout -s KILL 5 npm run build", "npm run build"].map(str::to_owned).to_vec(),
        ..command("FOO=1 timeout -s KILL 5 npm run build", Class::Unknown)
    };
    let given = line(&[&command("cd app", Class::ReadOnly), &build, &command("tee 'a; b' 2>&1", Class::Unknown)]);
    let (call, places) = (given.call(), places());
    let matcher = Matcher::new(&call, &places);
    for (pattern, expected) in [
        ("npm run build", true),
        ("npm run *", true),
        ("npm run:*", true),
        ("npm:*", true),
        ("npm", false),
        ("npm ru", false),
        ("cd *", true),
        ("cd", false),
        ("tee *", true),
        ("b", false),
        ("* build", true),
        ("np*", true),
        ("git *", false),
        ("rm:*", false),
    ] {
        let rule = rule(&format!("Bash({pattern})"), SourceKind::User);
        assert_eq!(matcher.is_spoken_of(&rule), expected, "{pattern}");
    }
    assert!(matcher.is_spoken_of(&rule("Bash", SourceKind::User)));
    assert!(!matcher.is_spoken_of(&rule("Edit", SourceKind::User)));
}

#[test]
fn what_tightens_sees_every_form_and_what_widens_the_plain_one() {
    let wrapped = CommandUse {
        plain: "rm x".to_owned(),
        forms: ["X=1 timeout 5 rm x", "rm x", "timeout 5 rm x"].map(str::to_owned).to_vec(),
        ..command("X=1 timeout 5 rm x", Class::Unknown)
    };
    for (text, denies, allows) in
        [("Bash(rm *)", true, true), ("Bash(timeout *)", true, false), ("Bash(X=1 *)", true, false)]
    {
        let found = line(&[&wrapped]).outcome(&with_rules(Mode::Default, &[text], &[], &[])).0;
        assert_eq!(found == "deny", denies, "{text}");
        let found = line(&[&wrapped]).outcome(&with_rules(Mode::Default, &[], &[], &[text])).0;
        assert_eq!(found == "allow", allows, "{text}");
    }
}

#[test]
fn what_runs_other_commands_is_allowed_by_its_whole_text_only() {
    for (allow, text, allowed) in [
        ("Bash(watch *)", "watch rm x", false),
        ("Bash(watch rm x)", "watch rm x", true),
        ("Bash(flock *)", "flock l rm x", false),
        ("Bash(setsid:*)", "setsid x", false),
        ("Bash(ionice *)", "ionice x", false),
        ("Bash(find *)", "find . -name x", true),
        ("Bash(find *)", "find . -delete", false),
        ("Bash(find *)", "find . -exec rm {} +", false),
        ("Bash(find . -delete)", "find . -delete", true),
    ] {
        let found = line(&[&command(text, Class::Unknown)]).outcome(&with_rules(Mode::Default, &[], &[], &[allow])).0;
        assert_eq!(found == "allow", allowed, "{allow}: {text}");
    }
}

/// A rule on a command does not speak of where its output goes: that is a change of a file, for which an edit has to be
/// allowed.
#[test]
fn redirections_are_edits() {
    let echo = |path: &str, zone| {
        let files = vec![file(path, Access::Write, zone)];
        let text = format!("echo x > {path}");
        let plain = "echo x".to_owned();
        line(&[&CommandUse { forms: vec![text.clone(), plain.clone()], plain, files, ..command(&text, Class::Edits) }])
    };
    let outcome = |given: Given, mode, allow: &[&str]| given.outcome(&with_rules(mode, &[], &[], allow)).0;
    let inside = || echo("/w/f", Zone::Inside);
    assert_eq!(outcome(inside(), Mode::Default, &["Bash(echo *)"]), "ask");
    assert_eq!(outcome(inside(), Mode::AcceptEdits, &["Bash(echo *)"]), "allow");
    assert_eq!(outcome(inside(), Mode::Default, &["Bash(echo *)", "Edit(/f)"]), "allow");
    assert_eq!(outcome(inside(), Mode::Default, &["Bash(echo x > /w/f)"]), "allow", "the whole text");
    assert_eq!(outcome(inside(), Mode::Default, &["Bash(echo x)"]), "ask");
    assert_eq!(outcome(inside(), Mode::Default, &["Edit"]), "allow");
    let outside = || echo("/etc/f", Zone::Outside);
    assert_eq!(outcome(outside(), Mode::AcceptEdits, &["Bash(echo *)", "Edit"]), "ask");
    assert_eq!(outcome(outside(), Mode::Default, &["Edit(//etc/f)"]), "allow");
    let denied = with_rules(Mode::BypassPermissions, &["Edit(//etc/**)"], &[], &["Bash"]);
    assert_eq!(outside().outcome(&denied), ("deny", 1));
    let protected = || echo("/w/.git/config", Zone::Protected);
    assert_eq!(outcome(protected(), Mode::BypassPermissions, &["Bash", "Edit"]), "ask");
}

/// A denial of reading covers what commands read, and changing too.
#[test]
fn commands_obey_the_rules_on_paths() {
    let using = |access| {
        let files = vec![file("/w/secret/key", access, Zone::Inside)];
        line(&[&CommandUse { files, ..command("use secret/key", Class::ReadOnly) }])
    };
    for (deny, access, denied) in [
        ("Read(secret/**)", Access::Read, true),
        ("Read(secret/**)", Access::Look, true),
        ("Read(secret/**)", Access::Write, true),
        ("Edit(secret/**)", Access::Write, true),
        ("Edit(secret/**)", Access::Remove, true),
        ("Edit(secret/**)", Access::Read, false),
        ("Write(secret/**)", Access::Write, false),
        ("Read", Access::Read, true),
        ("Edit", Access::Write, true),
        ("Edit", Access::Read, false),
    ] {
        let found = using(access).outcome(&with_rules(Mode::BypassPermissions, &[deny], &[], &[])).0;
        assert_eq!(found == "deny", denied, "{deny} {access:?}");
    }
    let outside = vec![file("/data/x", Access::Read, Zone::Outside)];
    let cat = line(&[&CommandUse { files: outside, ..command("cat /data/x", Class::ReadOnly) }]);
    for (allow, allowed) in [("Read(//data/**)", true), ("Edit(//data/**)", true), ("Read(//date/**)", false)] {
        assert_eq!(cat.outcome(&with_rules(Mode::Default, &[], &[], &[allow])).0 == "allow", allowed, "{allow}");
    }
}

#[test]
fn a_path_that_can_not_be_known_asks() {
    let unknown = |text: &str, class, removes_unknown| {
        let unknown_path = Some("$x".to_owned());
        line(&[&CommandUse { unknown_path, removes_unknown, ..command(text, class) }])
    };
    assert_eq!(unknown("cat $x", Class::ReadOnly, false).outcome(&policy(Mode::Default)), ("ask", 9));
    assert_eq!(unknown("touch $x", Class::Edits, false).outcome(&policy(Mode::AcceptEdits)), ("ask", 9));
    let remove = unknown("rm -r $x/*", Class::Edits, true);
    assert_eq!(remove.outcome(&with_rules(Mode::BypassPermissions, &[], &[], &["Bash"])), ("ask", 6));
    assert_eq!(unknown("cat $x", Class::ReadOnly, false).outcome(&policy(Mode::Plan)), ("ask", 9), "it only reads");
}

/// A line that is not understood: any rule may speak of it, and only its whole text allows it.
#[test]
fn a_line_that_is_not_understood_fails_closed() {
    let refused = |text: &str, parts: Vec<CommandUse>| {
        let refused = Some("a quote is open".to_owned());
        let subject = Subject::Commands(Commands { line: text.to_owned(), parts, refused });
        Given { tool: "Bash", input: json!({"command": text}), subject, own: reads() }
    };
    let odd = || refused("echo 'x", vec![]);
    assert_eq!(odd().outcome(&policy(Mode::Default)), ("ask", 9));
    assert_eq!(odd().outcome(&policy(Mode::Plan)), ("deny", 7));
    assert_eq!(odd().outcome(&policy(Mode::BypassPermissions)), ("allow", 7));
    for mode in [Mode::BypassPermissions, Mode::Default] {
        assert_eq!(odd().outcome(&with_rules(mode, &["Bash(git push *)"], &[], &["Bash"])), ("ask", 5));
        assert_eq!(odd().outcome(&with_rules(mode, &[], &["Read(x)"], &["Bash"])), ("ask", 5));
    }
    assert_eq!(odd().outcome(&with_rules(Mode::Default, &["Bash(echo *)"], &[], &[])), ("deny", 1));
    assert_eq!(odd().outcome(&with_rules(Mode::Default, &["mcp__x"], &[], &["Bash(echo 'x)"])), ("allow", 8));
    assert_eq!(odd().outcome(&with_rules(Mode::Default, &[], &[], &["Bash(echo *)"])), ("ask", 9));
    let known = || refused("echo 'x; pwd", vec![command("pwd", Class::ReadOnly)]);
    assert_eq!(known().outcome(&policy(Mode::Default)), ("ask", 9));
    assert_eq!(known().outcome(&with_rules(Mode::Default, &[], &[], &["Bash(echo 'x; pwd)"])), ("allow", 8));
    assert_eq!(known().outcome(&with_rules(Mode::Default, &["Bash(pwd)"], &[], &[])), ("deny", 1));
    let removing = refused("rm -r 'x", vec![]);
    assert_eq!(removing.outcome(&policy(Mode::BypassPermissions)), ("ask", 6));
}

#[test]
fn the_whole_text_of_a_line_allows_it_to_the_letter() {
    let given = line(&[&command("make a", Class::Unknown), &command("make b", Class::Unknown)]);
    let allow = |text: &str| {
        let rule = SourcedRule { rule: Rule::of_command(text).unwrap(), source: Source::session("/w".into()) };
        given.outcome(&Policy { session: vec![rule], ..policy(Mode::Default) }).0
    };
    assert_eq!(allow("make a; make b"), "allow");
    assert_eq!(allow("make a;  make b"), "ask");
    assert_eq!(allow("make a"), "ask");
}

#[test]
fn a_line_of_parts_that_may_all_run_says_why_of_each() {
    let allow = with_rules(Mode::Default, &[], &[], &["Bash(make *)"]);
    let decision = line(&[&git_status(), &command("make x", Class::Unknown)]).decide(&allow);
    assert_eq!((decision.verdict, decision.reason.kind), (Verdict::Allow, ReasonType::Subcommand));
    assert_eq!(decision.reason.detail, "each part may run: git status is as it is; allowed by the rule Bash(make *)");
    assert_eq!(decision.reason.source.as_deref(), Some("project (/w/.claude/project.json)"));
}

/// A command that searches below a folder may come upon what must not be read: it asks, and Grep is there, which does
/// not come upon it.
#[test]
fn searches_by_commands_ask_where_something_is_hidden() {
    let searching = |path: &str, access| {
        let files = vec![FileUse { below: true, ..file(path, access, Zone::Inside) }];
        line(&[&CommandUse { files, ..command("grep -r x .", Class::ReadOnly) }])
    };
    for (deny, path, access, outcome) in [
        ("Read(.env)", "/w", Access::Read, ("ask", 5)),
        ("Read(.env)", "/w", Access::Look, ("allow", 7)),
        ("Read(.env)", "/data", Access::Read, ("allow", 7)),
        ("Read(secret/**)", "/w/src", Access::Read, ("ask", 5)),
        ("Read(/secret/**)", "/w/src", Access::Read, ("allow", 7)),
        ("Read(/secret/**)", "/w", Access::Read, ("ask", 5)),
        ("Read(/SECRET/x/*.pem)", "/w/secret", Access::Read, ("ask", 5)),
        ("Read(/secret/**)", "/w/secret", Access::Read, ("deny", 1)),
        ("Read(//data/**)", "/", Access::Read, ("ask", 5)),
        ("Edit(/secret/**)", "/w", Access::Read, ("allow", 7)),
    ] {
        let bypass = with_rules(Mode::BypassPermissions, &[deny], &[], &[]);
        assert_eq!(searching(path, access).outcome(&bypass), outcome, "{deny} {path} {access:?}");
    }
}

#[test]
fn what_is_hidden_from_searches() {
    let denying = with_rules(Mode::Default, &["Read(secret/**)", "Read(!secret/open)", "Edit(x)"], &["Read(y)"], &[]);
    assert!(denying.hides_files() && !with_rules(Mode::Default, &["Edit(x)", "Read"], &["Read(y)"], &[]).hides_files());
    for (path, real, hidden) in [
        ("/w/secret/a", "/w/secret/a", true),
        ("/w/link", "/w/secret/a", true),
        ("/w/secret/open", "/w/secret/open", false),
        ("/w/x", "/w/x", false),
        ("/w/y", "/w/y", false),
    ] {
        assert_eq!(denying.hides(path.as_ref(), real.as_ref()), hidden, "{path}");
    }
}
