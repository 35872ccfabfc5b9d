//! Each kind of place, by path, link, pattern and use.

use super::*;
use crate::tools::testing::Scratch;
use std::os::unix::fs::symlink;

fn zone_of(path: &str, access: Access, context: &ToolContext) -> Zone {
    file_use(&locate(path, context).unwrap(), access, false, context).zone
}

fn changed(scratch: &Scratch, path: &str) -> Zone {
    zone_of(path, Access::Write, &scratch.context())
}

#[test]
fn inside_outside_and_protected() {
    let scratch = Scratch::new();
    for path in ["a", "new/deep/b", "./a/../b", "x/.claude/worktrees/f", ".config/other", "src/git/x", ".env"] {
        assert_eq!(changed(&scratch, path), Zone::Inside, "{path}");
    }
    for path in ["../a", "/srv/x", "a/../../b"] {
        assert_eq!(changed(&scratch, path), Zone::Outside, "{path}");
    }
    for path in [
        ".git/config",
        ".GIT/hooks/x",
        ".claude/settings.json",
        ".agentd/settings.json",
        "sub/.vscode/tasks.json",
        ".bashrc",
        ".mcp.json",
        ".config/git/config",
        "a/../.git/config",
        ".envrc",
        "/home/x/.bashrc",
        "~/.ssh/authorized_keys",
    ] {
        assert_eq!(changed(&scratch, path), Zone::Protected, "{path}");
    }
}

/// Row P06: a link to what is protected is protected, and so is one that leads there by another name.
#[test]
fn links_count_both_by_name_and_by_where_they_lead() {
    let scratch = Scratch::new();
    symlink("/srv", scratch.path("out")).unwrap();
    symlink("/nowhere/file", scratch.path("dangling")).unwrap();
    symlink(".git/config", scratch.path("innocent")).unwrap();
    symlink("plain", scratch.path(".git")).unwrap();
    assert_eq!(changed(&scratch, "out/passwd"), Zone::Outside);
    assert_eq!(changed(&scratch, "dangling"), Zone::Outside);
    assert_eq!(changed(&scratch, "innocent"), Zone::Protected);
    assert_eq!(changed(&scratch, ".git/x"), Zone::Protected);
}

#[test]
fn reads_are_told_apart_by_what_may_be_there() {
    let scratch = Scratch::new();
    let mut context = scratch.context();
    let output = context.outputs_dir.join("a.txt");
    for (path, zone) in [
        (".git/config", Zone::Inside),
        (output.to_str().unwrap(), Zone::Inside),
        ("/usr/include/stdio.h", Zone::System),
        ("/etc/passwd", Zone::System),
        ("/proc/cpuinfo", Zone::System),
        ("/dev/null", Zone::System),
        ("/home/x", Zone::Outside),
        ("~", Zone::Outside),
        ("/proc/1/environ", Zone::Secret),
        ("/proc/self/environ", Zone::Secret),
        ("/proc/sys/kernel/hostname", Zone::System),
        ("/etc/shadow", Zone::Secret),
        ("/etc/ssh/ssh_host_rsa_key", Zone::Secret),
        ("/etc/ssh/ssh_host_rsa_key.pub", Zone::System),
        ("/usr/share/ca.pem", Zone::System),
        ("~/.aws/credentials", Zone::Secret),
        ("~/.config/gh/hosts.yml", Zone::Secret),
        ("~/.config/agentd/settings.json", Zone::Secret),
        ("~/.npmrc", Zone::Secret),
        (".npmrc", Zone::Inside),
        ("/root/.ssh/id_ed25519", Zone::Secret),
        (".env", Zone::Secret),
        ("sub/.env.production", Zone::Secret),
        (".env.example", Zone::Inside),
        ("environment", Zone::Inside),
        ("server.pem", Zone::Secret),
        ("id_ed25519", Zone::Secret),
        ("id_ed25519.pub", Zone::Inside),
    ] {
        assert_eq!(zone_of(path, Access::Read, &context), zone, "{path}");
    }
    symlink(".env", scratch.path("plain")).unwrap();
    assert_eq!(zone_of("plain", Access::Read, &context), Zone::Secret);
    assert_eq!(zone_of(".env", Access::Look, &context), Zone::Inside, "its name is no secret");
    assert_eq!(zone_of("~/.ssh", Access::Look, &context), Zone::Secret);
    context.outputs_dir = "/state/sessions/own/outputs".into();
    assert_eq!(zone_of("/state/sessions/other/journal.jsonl", Access::Read, &context), Zone::Secret);
}

#[test]
fn what_must_not_be_removed() {
    let scratch = Scratch::new();
    let context = scratch.context();
    let removed = |path: &str| zone_of(path, Access::Remove, &context);
    for path in ["/", "/usr", "/anything", "~", ".", "..", scratch.path("").to_str().unwrap()] {
        assert_eq!(removed(path), Zone::Critical, "{path}");
    }
    assert_eq!(removed("src"), Zone::Inside);
    assert_eq!(removed("/srv/x"), Zone::Outside);
    assert_eq!(removed(".git"), Zone::Protected);
    symlink(scratch.path(""), scratch.path("here")).unwrap();
    assert_eq!(removed("here"), Zone::Critical);
}

/// Row P06: what takes agentd's settings away takes the rules that deny, and who writes what is trusted trusts all.
#[test]
fn settings_and_trust_are_not_taken_away_with_their_folder() {
    let scratch = Scratch::new();
    let mut context = scratch.context();
    let home = crate::base::paths::home(&context.env);
    for file in [".config/agentd/settings.json", ".config/other/x", ".cache/x", "state/trust.json"] {
        std::fs::create_dir_all(home.join(file).parent().unwrap()).unwrap();
        std::fs::write(home.join(file), "").unwrap();
    }
    context.outputs_dir = home.join("state/sessions/own/outputs");
    context.root.clone_from(&home);
    let at = |path: &str, access| zone_of(home.join(path).to_str().unwrap(), access, &context);
    for path in [".config", ".config/agentd", "state"] {
        assert_eq!(at(path, Access::Remove), Zone::Secret, "{path}");
    }
    for path in [".config/other", ".cache", "elsewhere"] {
        assert_eq!(at(path, Access::Remove), Zone::Inside, "{path}");
    }
    assert_eq!(at("state/trust.json", Access::Write), Zone::Secret);
    assert_eq!(at("state/other.json", Access::Write), Zone::Inside);
}

#[test]
fn patterns_of_commands() {
    let scratch = Scratch::new();
    scratch.write(".git/config", "");
    scratch.write(".env", "");
    let context = scratch.context();
    let (here, src) = (scratch.path(""), scratch.path("src"));
    for (folder, text, access, zone) in [
        (&here, "*", Access::Remove, Zone::Critical),
        (&here, "*.o", Access::Remove, Zone::Inside),
        (&here, ".*", Access::Remove, Zone::Critical),
        (&src, "src/*", Access::Remove, Zone::Inside),
        (&here, "*", Access::Write, Zone::Inside),
        (&here, ".g*", Access::Write, Zone::Protected),
        (&here, ".", Access::Write, Zone::Protected),
        (&here, "*/.git/config", Access::Write, Zone::Protected),
        (&here, "*.rs", Access::Read, Zone::Inside),
        (&here, "\".env\"*", Access::Read, Zone::Secret),
        (&here, ".e*", Access::Read, Zone::Secret),
        (&here, "*.pem", Access::Read, Zone::Secret),
        (&here, ".", Access::Read, Zone::Inside),
    ] {
        let found = command_use(folder.to_str().unwrap(), text, access, true, &context).unwrap();
        assert_eq!(found.zone, zone, "{text} {access:?}");
    }
}

#[test]
fn an_additional_folder_counts_as_inside() {
    let scratch = Scratch::new();
    let mut context = scratch.context();
    let other = tempfile::tempdir().unwrap();
    let file = other.path().join("f");
    assert_eq!(zone_of(file.to_str().unwrap(), Access::Write, &context), Zone::Outside);
    context.additional_directories = std::sync::Arc::from([other.path().to_owned()]);
    assert_eq!(zone_of(file.to_str().unwrap(), Access::Write, &context), Zone::Inside);
    assert_eq!(zone_of(other.path().to_str().unwrap(), Access::Remove, &context), Zone::Critical);
}
