//! What is offered with a question.

use super::*;

fn offered(policy: &Policy, given: &Given) -> Vec<String> {
    let decision = given.decide(policy);
    suggest(policy, &given.call(), &decision).iter().map(|one| one.rule.to_string()).collect()
}

fn of(text: &str) -> Vec<String> {
    offered(&policy(Mode::Default), &Given::line(vec![command(text, Class::Unknown)]))
}

#[test]
fn a_command_is_offered_with_its_verb_or_to_the_letter() {
    for (text, rule) in [
        ("npm run test -- --watch", "Bash(npm run test *)"),
        ("npm test", "Bash(npm test *)"),
        ("git push origin main", "Bash(git push *)"),
        ("cargo build", "Bash(cargo build *)"),
        ("docker run x y", "Bash(docker run x *)"),
        ("docker compose up", "Bash(docker compose up *)"),
        ("make test", "Bash(make test)"),
        ("python x.py", "Bash(python x.py)"),
        ("sudo make", "Bash(sudo make)"),
        ("bash -c x", "Bash(bash -c x)"),
        ("xargs rm", "Bash(xargs rm)"),
        ("docker exec x sh", "Bash(docker exec x sh)"),
        ("uv run python x", "Bash(uv run python x)"),
        ("git config a b", "Bash(git config a b)"),
        ("git -C x push", "Bash(git -C x push)"),
        ("npm run", "Bash(npm run)"),
        ("ls *.rs (x) \\y", r"Bash(ls \\*.rs \(x\) \\\\y)"),
    ] {
        assert_eq!(of(text), [rule], "{text}");
    }
}

#[test]
fn a_line_is_offered_to_the_letter_too() {
    let exactly = |parts: Vec<CommandUse>| {
        let (policy, given) = (policy(Mode::Default), Given::line(parts));
        let decision = given.decide(&policy);
        suggest_exactly(&policy, &given.call(), &decision).iter().map(|one| one.rule.to_string()).collect::<Vec<_>>()
    };
    let unknown = |text: &str| command(text, Class::Unknown);
    assert_eq!(exactly(vec![unknown("git push origin main")]), ["Bash(git push origin main)"]);
    assert_eq!(exactly(vec![unknown("make a"), command("pwd", Class::ReadOnly), unknown("npm t")]).len(), 2);
    assert!(exactly((0..6).map(|at| unknown(&format!("make {at}"))).collect()).is_empty(), "too many");
    assert!(exactly(vec![command("pwd", Class::ReadOnly)]).is_empty(), "nothing asks");
}

#[test]
fn each_part_that_asks_is_offered_and_five_at_most() {
    let parts = |count: usize| (0..count).map(|at| command(&format!("make {at}"), Class::Unknown));
    let reads = command("pwd", Class::ReadOnly);
    let given = Given::line(parts(2).chain([reads]).collect());
    assert_eq!(offered(&policy(Mode::Default), &given), ["Bash(make 0)", "Bash(make 1)"]);
    let many = Given::line(parts(6).collect());
    let whole = "Bash(make 0; make 1; make 2; make 3; make 4; make 5)";
    assert_eq!(offered(&policy(Mode::Default), &many), [whole]);
}

#[test]
fn files_hosts_and_tools_are_offered() {
    let own = || OwnCheck::Unsure("why".to_owned());
    let host = Given { subject: Subject::Host("docs.rs".to_owned()), ..Given::new("WebFetch", own()) };
    for (given, rules) in [
        (Given::file("Write", "/w/a", Access::Write, Zone::Inside), vec!["Edit"]),
        (Given::file("Write", "/data/x/a", Access::Write, Zone::Outside), vec!["Edit(//data/x/**)"]),
        (Given::file("Read", "/data/x/a", Access::Read, Zone::Outside), vec!["Read(//data/x/**)"]),
        (Given::file("Read", "/a", Access::Read, Zone::Outside), vec![]),
        (Given::file("Read", "/home/me/.ssh/x", Access::Read, Zone::Secret), vec![]),
        (host, vec!["WebFetch(domain:docs.rs)"]),
        (Given::new("mcp__s__t", own()), vec!["mcp__s__t"]),
    ] {
        assert_eq!(offered(&policy(Mode::Default), &given), rules, "{given:?}");
    }
    assert_eq!(offered(&with_rules(Mode::Default, &[], &["mcp__s__t"], &[]), &Given::new("mcp__s__t", own())), [""; 0]);
}

/// Row P14: a rule is its source, its behaviour and its text, and is read back to the letter from how it is written.
#[test]
fn rules_are_read_back_to_the_letter() {
    for text in [
        "Bash",
        "Bash(npm run test:*)",
        "Edit(/docs/**)",
        r"Bash(echo \(a\) \\ b)",
        "mcp__s__t",
        "Agent(Explore)",
        "WebFetch(domain:*.example.org)",
        "Tool(a:b)",
    ] {
        let rule = Rule::parse(text).unwrap();
        assert_eq!(rule.to_string(), text);
        assert_eq!(Rule::parse(&rule.to_string()).unwrap(), rule);
        let rebuilt = rule.content().map_or_else(|| Rule::parse(rule.tool()), |content| Rule::of(rule.tool(), content));
        assert_eq!(rebuilt.unwrap(), rule, "{text}");
    }
    assert_eq!(Rule::parse(r"Bash(echo \(a\) \\ b)").unwrap().content(), Some(r"echo (a) \ b"));
}
