//! The rule language, form by form (claude-facts B.2).

use super::*;
use crate::policy::testing::{places, rules};
use crate::policy::{Call, Decision, FileUse, OwnCheck, Places, Policy, Rules, Subject, Verdict, Zone, decide};
use crate::shell::Access;
use proto::session::Mode;
use serde_json::{Value, json};

#[test]
fn rules_parse_or_say_why_not() {
    for good in ["Bash", "Bash(npm test)", "Edit(/a/b)", "mcp__server__tool", "mcp__*", "Bash(echo (a))", "WebSearch"] {
        assert_eq!(Rule::parse(good).unwrap().to_string(), good);
    }
    assert_eq!(Rule::parse("Bash(*)").unwrap(), Rule::parse("Bash").unwrap());
    assert_eq!(Rule::parse("Task(x)").unwrap(), Rule::parse("Agent(x)").unwrap());
    for (bad, why) in [
        ("", "write Tool"),
        ("Bash(", "write Tool"),
        ("Bash()", "write Tool"),
        ("Bash( )", "write Tool"),
        ("(x)", "write Tool"),
        ("Ba sh", "write Tool"),
        ("Bash(x) y", "write Tool"),
        (r"Bash(x\)", "write Tool"),
        ("Bash(:*)", "name the tool alone"),
        ("WebFetch(https://x.org)", "domain:host"),
        ("WebFetch(domain:x.org/path)", "name of a host"),
        ("WebSearch(x)", "WebSearch alone"),
        ("Read(~you/x)", "another person's home"),
        ("Read(a/../b)", "`..`"),
        ("Read(a[b)", "not understood"),
    ] {
        let error = Rule::parse(bad).unwrap_err().to_string();
        assert!(error.contains(why), "{bad:?}: {error}");
    }
}

fn call(rule: &str, deny: bool, tool: &str, input: &Value, subject: &Subject) -> Decision {
    let list = rules(&[rule]);
    let rules = if deny { Rules { deny: list, ..Rules::default() } } else { Rules { allow: list, ..Rules::default() } };
    let own = match subject {
        Subject::Files(_) => OwnCheck::Reads("x".to_owned()),
        _ => OwnCheck::Unsure("x".to_owned()),
    };
    let policy = Policy { mode: Mode::Default, rules: rules.into(), places: places(), ..Policy::default() };
    decide(&policy, Call::new(tool, input, subject, &own))
}

fn denies(rule: &str, tool: &str, input: &Value, subject: &Subject) -> bool {
    call(rule, true, tool, input, subject).verdict == Verdict::Deny
}

fn allows(rule: &str, tool: &str, input: &Value, subject: &Subject) -> bool {
    call(rule, false, tool, input, subject).verdict == Verdict::Allow
}

#[test]
fn commands_by_text_word_and_star() {
    for (rule, command, fits) in [
        ("npm run build", "npm run build", true),
        ("npm run build", "npm run build x", false),
        ("npm run *", "npm run", true),
        ("npm run *", "npm run a b", true),
        ("npm run *", "npm runner", false),
        ("ls*", "lsof", true),
        ("ls *", "lsof", false),
        ("ls:*", "ls -l", true),
        ("ls:*", "ls", true),
        ("ls:*", "lsof", false),
        ("a:*:b", "a:x:b", true),
        ("a:*:b", "a b", false),
        ("* install", "npm install", true),
        ("git * main", "git push origin main", true),
        ("git * main", "git main", false),
        (r"echo \*", "echo *", true),
        (r"echo \*", "echo x", false),
        ("a*a", "a", false),
        ("*x*x*", "axbx", true),
    ] {
        let pattern = CommandPattern::parse(rule).unwrap();
        assert_eq!(pattern.fits(command), fits, "{rule}: {command}");
        assert_eq!(pattern.fits_loosely(command), fits, "{rule}: {command}");
    }
    let pattern = CommandPattern::parse("rm  -r x").unwrap();
    assert!(pattern.fits_loosely("rm -r\n x ") && !pattern.fits("rm -r x"), "blanks count only where they could widen");
}

fn using(path: &str, real: &str, access: Access, below: bool) -> Subject {
    Subject::Files(vec![FileUse { path: path.into(), real: real.into(), below, access, zone: Zone::Outside }])
}

#[test]
fn paths_as_gitignore_and_settings_write_them() {
    // Whether a rule allows, and whether it denies, in the settings of `/w`.
    for (pattern, path, allowed, denied) in [
        ("src/**", "/w/src/a.rs", true, true),
        ("src/**", "/w/x/src/a.rs", false, true),
        ("src/*", "/w/src/a/b", true, true),
        ("src/", "/w/src/a", true, true),
        ("src/**", "/src/a.rs", false, false),
        ("a/src/**", "/w/a/src/b", true, true),
        ("a/src/**", "/w/x/a/src/b", false, false),
        ("./src/*.rs", "/w/src/a.rs", true, true),
        ("/src/*.rs", "/w/src/a.rs", true, true),
        ("/src/*.rs", "/w/src/deep/a.rs", false, false),
        ("*.rs", "/w/deep/a.rs", true, true),
        ("secret", "/w/deep/secret", true, true),
        ("secret", "/w/deep/secret/x", true, true),
        ("secret", "/w/secrets", false, false),
        ("**/x/*.c", "/w/a/x/b.c", true, true),
        ("//etc/**", "/etc/passwd", true, true),
        ("/etc/**", "/etc/passwd", false, false),
        ("//etc", "/etc/passwd", true, true),
        ("~/.ssh/**", "/home/me/.ssh/id", true, true),
        ("~/", "/home/me/x", true, true),
        ("~", "/home/me/x", true, true),
        ("../other/**", "/other/x", true, true),
        ("**", "/w/x", true, true),
        ("**", "/x", false, false),
        ("//**", "/x", true, true),
        ("SECRET/**", "/w/secret/x", false, true),
        ("secre\u{301}t/**", "/w/secr\u{e9}t/x", false, true),
        ("secret/**", "/w/\u{ff53}ecret/x", false, true),
        (r"\#a", "/w/#a", true, true),
        ("#a", "/w/#a", true, true),
        (r"a\*", "/w/a*", true, true),
        (r"a\*", "/w/ab", false, false),
    ] {
        let read = using(path, path, Access::Read, false);
        assert_eq!(
            allows(&format!("Read({pattern})"), "Read", &Value::Null, &read),
            allowed,
            "allow {pattern}: {path}"
        );
        assert_eq!(denies(&format!("Read({pattern})"), "Read", &Value::Null, &read), denied, "deny {pattern}: {path}");
    }
}

/// Links: an allow rule has to speak of the name and of where it leads, a deny rule of either.
#[test]
fn links_are_followed_both_ways() {
    let inside_out = using("/w/link", "/etc/passwd", Access::Read, false);
    let outside_in = using("/etc/link", "/w/a", Access::Read, false);
    for subject in [&inside_out, &outside_in] {
        assert!(!allows("Read(//etc/**)", "Read", &Value::Null, subject));
        assert!(!allows("Read(/**)", "Read", &Value::Null, subject));
        assert!(denies("Read(//etc/**)", "Read", &Value::Null, subject));
        assert!(denies("Read(/**)", "Read", &Value::Null, subject));
    }
    let linked = Places { folder: "/link".into(), real_folder: "/w".into(), ..places() };
    let rules = Rules { allow: rules(&["Read(src/**)"]), ..Rules::default() };
    let policy = Policy { rules: rules.into(), places: linked, ..Policy::default() };
    let (own, subject) = (OwnCheck::Reads("x".to_owned()), using("/link/src/a", "/w/src/a", Access::Read, false));
    let found = decide(&policy, Call::new("Read", &Value::Null, &subject, &own));
    assert_eq!(found.verdict, Verdict::Allow, "the session's folder is a link itself");
}

#[test]
fn searches_need_all_that_is_below() {
    for (pattern, allowed, denied) in [
        ("//data/**", true, true),
        ("//data", true, true),
        ("//data/*.rs", false, false),
        ("//data/x/**", false, false),
    ] {
        let subject = using("/data", "/data", Access::Read, true);
        assert_eq!(allows(&format!("Read({pattern})"), "Grep", &Value::Null, &subject), allowed, "{pattern}");
        assert_eq!(denies(&format!("Read({pattern})"), "Grep", &Value::Null, &subject), denied, "{pattern}");
    }
}

#[test]
fn edit_and_read_stand_for_their_families() {
    for (rule, tool, access, allowed, denied) in [
        ("Edit(//d/**)", "Write", Access::Write, true, true),
        ("Edit(//d/**)", "NotebookEdit", Access::Write, true, true),
        ("Edit(//d/**)", "Read", Access::Read, true, false),
        ("Read(//d/**)", "Glob", Access::Read, true, true),
        ("Read(//d/**)", "Edit", Access::Write, false, true),
        ("Write(//d/**)", "Write", Access::Write, false, false),
        ("Write", "Write", Access::Write, true, true),
        ("Write", "Edit", Access::Write, false, false),
        ("Edit", "Write", Access::Write, true, true),
        ("Read", "Grep", Access::Read, true, true),
        ("*", "Write", Access::Write, false, true),
    ] {
        let subject = using("/d/x", "/d/x", access, false);
        assert_eq!(allows(rule, tool, &Value::Null, &subject), allowed, "allow {rule} {tool}");
        assert_eq!(denies(rule, tool, &Value::Null, &subject), denied, "deny {rule} {tool}");
    }
}

/// `!p` takes paths out of what earlier rules of the same source and tool speak of.
#[test]
fn exceptions_hold_within_their_source() {
    use crate::policy::SourceKind::{Local, Project};
    use crate::policy::testing::rule;
    let read = |deny: Vec<crate::policy::SourcedRule>, allow: Vec<crate::policy::SourcedRule>, path: &str| {
        let rules = Rules { deny, allow, ..Rules::default() };
        let policy = Policy { rules: rules.into(), places: places(), ..Policy::default() };
        let (own, subject) = (OwnCheck::Reads("x".to_owned()), using(path, path, Access::Read, false));
        decide(&policy, Call::new("Read", &Value::Null, &subject, &own)).verdict
    };
    let (all, but, late) = ("Read(//d/**)", "Read(!//d/open/**)", "/d/open/x");
    assert_eq!(read(vec![rule(all, Project), rule(but, Project)], vec![], late), Verdict::Ask);
    assert_eq!(read(vec![rule(all, Project), rule(but, Project)], vec![], "/d/x"), Verdict::Deny);
    assert_eq!(read(vec![rule(all, Project), rule(but, Project)], vec![], "/d/OPEN/x"), Verdict::Deny, "to the letter");
    assert_eq!(read(vec![rule(but, Project), rule(all, Project)], vec![], late), Verdict::Deny, "it comes before");
    assert_eq!(read(vec![rule(all, Project), rule(but, Local)], vec![], late), Verdict::Deny, "another source");
    assert_eq!(read(vec![rule(all, Project), rule("Edit(!//d/open/**)", Project)], vec![], late), Verdict::Deny);
    assert_eq!(read(vec![], vec![rule(all, Project), rule(but, Project)], late), Verdict::Ask);
    assert_eq!(read(vec![], vec![rule(all, Project), rule(but, Project)], "/d/x"), Verdict::Allow);
    assert_eq!(read(vec![rule(but, Project)], vec![], late), Verdict::Ask, "alone it says nothing");
}

#[test]
fn hosts() {
    for (pattern, host, fits) in [
        ("example.org", "example.org", true),
        ("example.org", "EXAMPLE.org.", true),
        ("example.org", "www.example.org", false),
        ("*.example.org", "www.example.org", true),
        ("*.example.org", "a.b.example.org", true),
        ("*.example.org", "example.org", false),
        ("*.example.org", "evilexample.org", false),
        ("*", "anything", true),
        ("api-*.example.org", "api-1.example.org", true),
        ("api-*.example.org", "api-1.evil.example.org", false),
        ("example.*", "example.org", true),
        ("example.*", "example.co.uk", false),
    ] {
        let subject = Subject::Host(host.to_owned());
        let rule = format!("WebFetch(domain:{pattern})");
        assert_eq!(allows(&rule, "WebFetch", &Value::Null, &subject), fits, "{rule} {host}");
        assert_eq!(denies(&rule, "WebFetch", &Value::Null, &subject), fits, "{rule} {host}");
    }
}

#[test]
fn servers_and_globs_of_tools() {
    for (rule, tool, covers, may_allow) in [
        ("mcp__memory", "mcp__memory__store", true, true),
        ("mcp__memory", "mcp__memory2__store", false, true),
        ("mcp__memory", "mcp__memory", true, true),
        ("mcp__memory__*", "mcp__memory__store", true, true),
        ("mcp__*", "mcp__memory__store", true, false),
        ("mcp__*", "Bash", false, false),
        ("mcp__mem*__store", "mcp__memory__store", true, false),
        ("mcp__memory__get_*", "mcp__memory__get_one", true, true),
        ("mcp__memory__get_*", "mcp__memory__store", false, true),
        ("*", "Bash", true, false),
        ("Bash", "Bash", true, true),
        ("Bash(rm)", "Bash", false, true),
    ] {
        assert_eq!(Rule::parse(rule).unwrap().covers(tool), covers, "{rule} {tool}");
        assert_eq!(allows(rule, tool, &Value::Null, &Subject::Fields), covers && may_allow, "{rule} {tool}");
        assert_eq!(denies(rule, tool, &Value::Null, &Subject::Fields), covers, "{rule} {tool}");
    }
}

#[test]
fn names_of_agents_and_skills() {
    for (rule, tool, name, allowed, denied) in [
        ("Agent(Explore)", "Agent", "Explore", true, true),
        ("Task(Explore)", "Agent", "Explore", true, true),
        ("Agent(Explore)", "Agent", "Plan", false, false),
        ("Agent", "Agent", "Plan", true, true),
        ("Skill(review)", "Skill", "review", true, true),
        ("Skill(review)", "Skill", "review 12", false, true),
        ("Skill(review *)", "Skill", "review 12", true, true),
        ("Skill(review *)", "Skill", "reviewer", false, false),
        ("Skill(Explore)", "Agent", "Explore", false, false),
    ] {
        let subject = Subject::Name(name.to_owned());
        assert_eq!(allows(rule, tool, &Value::Null, &subject), allowed, "allow {rule} {name}");
        assert_eq!(denies(rule, tool, &Value::Null, &subject), denied, "deny {rule} {name}");
    }
}

#[test]
fn fields_deny_and_ask_but_never_allow() {
    let input = json!({"owner": "me", "draft": true, "count": 2, "list": ["x"], "url": "u", "note": "a:b"});
    for (rule, spoken) in [
        ("mcp__s__t(owner:me)", true),
        ("mcp__s__t(owner:m*)", true),
        ("mcp__s__t(owner:you)", false),
        ("mcp__s__t(draft:true)", true),
        ("mcp__s__t(count:2)", true),
        ("mcp__s__t(note:a:b)", true),
        ("mcp__s__t(list:x)", false),
        ("mcp__s__t(absent:*)", false),
        ("mcp__s__t(url:u)", false),
        ("mcp__s__other(owner:me)", false),
    ] {
        assert_eq!(denies(rule, "mcp__s__t", &input, &Subject::Fields), spoken, "{rule}");
        assert!(!allows(rule, "mcp__s__t", &input, &Subject::Fields), "{rule}");
    }
    assert!(denies("Agent(model:opus)", "Agent", &json!({"model": "opus"}), &Subject::Name("Explore".to_owned())));
}

#[test]
fn rules_without_effect_are_told() {
    for (rule, behaviour, told) in [
        ("Bash(git *)", Behaviour::Allow, None),
        ("mcp__*", Behaviour::Allow, Some("name the tool")),
        ("mcp__*", Behaviour::Deny, None),
        ("mcp__s__*", Behaviour::Allow, None),
        ("Grep(src/**)", Behaviour::Deny, Some("Read(path)")),
        ("NotebookEdit(src/**)", Behaviour::Deny, Some("Edit(path)")),
        ("X(a:b)", Behaviour::Allow, Some("can only deny or ask")),
        ("X(a:b)", Behaviour::Ask, None),
        ("X(a b)", Behaviour::Ask, Some("speaks of no call")),
        ("Bash(watch *)", Behaviour::Allow, Some("whole text")),
        ("Bash(watch ls)", Behaviour::Allow, None),
    ] {
        let warnings = Rule::parse(rule).unwrap().warnings(behaviour);
        assert_eq!(warnings.len(), usize::from(told.is_some()), "{rule}: {warnings:?}");
        assert!(warnings.iter().zip(told).all(|(warning, told)| warning.contains(told)), "{rule}: {warnings:?}");
    }
}
