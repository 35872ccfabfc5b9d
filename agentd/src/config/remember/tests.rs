//! What is written, and where, in a home of its own.

use super::super::testing::{Place as Home, USER};
use super::*;
use std::fs::{self, Permissions};
use std::os::unix::fs::{PermissionsExt, symlink};

fn rule(text: &str) -> Rule {
    Rule::parse(text).unwrap()
}

fn allowed(loader: &Loader, cwd: &Path) -> Vec<String> {
    let loaded = loader.load_for(cwd);
    loaded.settings.rules.allow.iter().map(|sourced| sourced.rule.to_string()).collect()
}

#[test]
fn a_rule_is_written_once_into_the_file_of_its_scope_and_counts_at_once() {
    let place = Home::new();
    let (loader, cwd) = (place.trusting(), place.project());
    let table = [
        (RuleScope::Local, "project/.agentd/settings.local.json"),
        (RuleScope::Project, "project/.agentd/settings.json"),
        (RuleScope::User, USER),
    ];
    for (number, (scope, file)) in table.into_iter().enumerate() {
        let rule = rule(&format!("Bash(npm run {number})"));
        assert_eq!(loader.remember(scope, &cwd, &rule), Ok(place.path(file)));
        assert!(allowed(&loader, &cwd).contains(&rule.to_string()));
        let once = place.read(file);
        assert_eq!(loader.remember(scope, &cwd, &rule), Ok(place.path(file)));
        assert_eq!(place.read(file), once);
        assert_eq!(fs::metadata(place.path(file)).unwrap().permissions().mode() & 0o777, 0o600);
    }
    assert!(loader.remember(RuleScope::Session, &cwd, &rule("A")).is_err());
    // Where there is a folder of Claude Code's, its file is used.
    fs::create_dir_all(place.path("project/.claude")).unwrap();
    let file = loader.remember(RuleScope::Local, &cwd, &rule("Edit")).unwrap();
    assert_eq!(file, place.path("project/.claude/settings.local.json"));
    // Other settings of agentd are none of Claude Code's.
    for (key, value, name) in [("model", json!("m/x"), ".agentd"), ("permissions.ask", json!(["Bash"]), ".claude")] {
        let file = loader.set(RuleScope::Local, Some(&cwd), key, &value).unwrap();
        assert_eq!(file, cwd.join(name).join("settings.local.json"));
    }
    let names = |folder: &str| fs::read_dir(place.path(folder)).unwrap().count();
    assert_eq!((names("project/.claude"), names("project/.agentd")), (1, 2), "no draft is left");
}

#[test]
fn in_a_folder_that_is_not_trusted_nothing_is_written() {
    let place = Home::new();
    let (loader, cwd) = (place.loader(None), place.project());
    for scope in [RuleScope::Local, RuleScope::Project] {
        let error = loader.remember(scope, &cwd, &rule("Bash(ls)")).unwrap_err();
        assert!(error.contains("is not trusted") && error.contains("`agentctl trust`"), "{error}");
    }
    let error = loader.set(RuleScope::Project, Some(&cwd), "model", &json!("m/x")).unwrap_err();
    assert!(error.contains("model would not count there") && !error.contains("remember"), "{error}");
    assert!(loader.remember(RuleScope::User, &cwd, &rule("Bash(ls)")).is_ok());
    assert_eq!(fs::read_dir(&cwd).unwrap().count(), 0);
    // What tightens counts there all the same.
    assert!(loader.set(RuleScope::Project, Some(&cwd), "permissions.deny", &json!(["Bash(rm)"])).is_ok());
    assert!(loader.set(RuleScope::Project, Some(&cwd), "model", &json!("m/x")).is_err());
}

#[test]
fn below_the_root_of_a_repository_the_root_s_file_is_used_if_it_is_trusted() {
    let place = Home::new();
    let (loader, sub) = (place.loader(None), place.path("project/sub"));
    fs::create_dir_all(place.path("project/.git")).unwrap();
    fs::create_dir_all(&sub).unwrap();
    loader.set_trust(&sub, true).unwrap();
    assert_eq!(loader.remember(RuleScope::Local, &sub, &rule("A")), Ok(sub.join(".agentd/settings.local.json")));
    loader.set_trust(&place.project(), true).unwrap();
    let file = place.path("project/.agentd/settings.local.json");
    assert_eq!(loader.remember(RuleScope::Local, &sub, &rule("B")), Ok(file));
    assert_eq!(allowed(&loader, &sub), ["B", "A"]);
}

#[test]
fn a_link_is_followed_a_mode_kept_and_what_cannot_be_edited_left_alone() {
    let place = Home::new();
    let (loader, cwd) = (place.trusting(), place.project());
    place.write("dotfiles/agentd.json", "{\n  // mine\n}\n");
    fs::set_permissions(place.path("dotfiles/agentd.json"), Permissions::from_mode(0o640)).unwrap();
    fs::create_dir_all(place.path("config/agentd")).unwrap();
    symlink(place.path("dotfiles/agentd.json"), place.path(USER)).unwrap();
    loader.remember(RuleScope::User, &cwd, &rule("A")).unwrap();
    assert!(fs::symlink_metadata(place.path(USER)).unwrap().is_symlink());
    assert!(place.read("dotfiles/agentd.json").contains("// mine"));
    assert!(place.read("dotfiles/agentd.json").contains("\"A\""));
    assert_eq!(fs::metadata(place.path(USER)).unwrap().permissions().mode() & 0o777, 0o640);
    let file = "project/.agentd/settings.local.json";
    for (text, expected) in [(&b"{\n  \"a\": ["[..], "line 2"), (b"{} \xff", "not UTF-8"), (b"[]", "line 1")] {
        place.write(file, text);
        let error = loader.remember(RuleScope::Local, &cwd, &rule("A")).unwrap_err();
        assert!(error.contains(expected) && error.contains("settings.local.json"), "{error}");
        assert_eq!(fs::read(place.path(file)).unwrap(), text);
    }
    place.write(file, "{}");
    fs::set_permissions(place.path(file), Permissions::from_mode(0o400)).unwrap();
    assert!(loader.remember(RuleScope::Local, &cwd, &rule("A")).unwrap_err().contains("read-only"));
    fs::remove_file(place.path(file)).unwrap();
    symlink("nowhere", place.path(file)).unwrap();
    assert!(loader.remember(RuleScope::Local, &cwd, &rule("A")).unwrap_err().contains("leads nowhere"));
}

#[test]
fn a_link_does_not_lead_what_is_for_a_folder_out_of_it() {
    let place = Home::new();
    let (loader, cwd) = (place.trusting(), place.project());
    place.write(USER, "{}");
    fs::create_dir_all(cwd.join(".agentd")).unwrap();
    let local = cwd.join(".agentd/settings.local.json");
    symlink(place.path(USER), &local).unwrap();
    let error = loader.remember(RuleScope::Local, &cwd, &rule("Bash(ls)")).unwrap_err();
    assert!(error.contains("out of the folder"), "{error}");
    assert_eq!(place.read(USER), "{}");
    fs::remove_dir_all(cwd.join(".agentd")).unwrap();
    symlink(place.path(USER).parent().unwrap(), cwd.join(".agentd")).unwrap();
    assert!(loader.set(RuleScope::Project, Some(&cwd), "permissions.ask", &json!(["Bash"])).is_err());
    assert_eq!(place.read(USER), "{}");
    fs::remove_file(cwd.join(".agentd")).unwrap();
    fs::create_dir_all(cwd.join("kept")).unwrap();
    symlink("kept", cwd.join(".agentd")).unwrap();
    assert!(loader.remember(RuleScope::Local, &cwd, &rule("Bash(ls)")).is_ok());
}

#[test]
fn all_of_many_rules_that_are_written_at_once_survive() {
    const WRITERS: usize = 8;
    const RULES: usize = 10;
    let place = Home::new();
    let cwd = place.project();
    // Two loaders, as of two daemons.
    let loaders = [place.trusting(), place.loader(None)];
    std::thread::scope(|scope| {
        for writer in 0..WRITERS {
            let (loader, cwd) = (&loaders[writer % 2], &cwd);
            scope.spawn(move || {
                for number in 0..RULES {
                    loader.remember(RuleScope::Local, cwd, &rule(&format!("Bash(w{writer} n{number})"))).unwrap();
                }
            });
        }
    });
    let mut found = allowed(&loaders[0], &cwd);
    found.sort();
    found.dedup();
    assert_eq!(found.len(), WRITERS * RULES);
}

#[test]
fn a_value_is_checked_before_it_is_written() {
    let place = Home::new();
    let (loader, cwd) = (place.trusting(), place.project());
    let table = [
        (RuleScope::User, "modle", json!("x"), "did you mean model?"),
        (RuleScope::User, "limits.retrys", json!(1), "did you mean limits.retries?"),
        (RuleScope::User, "hooks", json!({}), "agentd does not use hooks"),
        (RuleScope::User, "limits..retries", json!(1), "empty part"),
        (RuleScope::User, "limits.retries", json!("x"), "limits.retries: invalid type"),
        (RuleScope::User, "permissions.allow", json!(["Bash("]), "permissions.allow[0]"),
        (RuleScope::User, "allowManagedPermissionRulesOnly", json!(true), "managed settings only"),
        (RuleScope::Project, "permissions.bypassProtectedPaths", json!(true), "use the scope user"),
        (RuleScope::Local, "permissions.defaultMode", json!("bypassPermissions"), "use the scope user"),
        (RuleScope::Local, "providers.p.headers.authorization", json!("s"), "a secret"),
        (RuleScope::Project, "providers", json!({"p": {"headers": {"x-api-key": "s"}}}), "a secret"),
        (RuleScope::Project, "env", json!({"A": "1", "API_KEY": "sk-abc"}), "env.API_KEY: by its name it is a secret"),
        (RuleScope::Local, "env.DB_PASSWORD", json!("x"), "apiKeyHelper or a systemd credential"),
        (RuleScope::User, "permissions.deny", json!("Bash(ls)"), "put it in [ ]; nothing was written"),
        (RuleScope::User, "permissions.deny", json!(["Bash("]), "such as Edit or Bash(npm test); nothing was written"),
    ];
    for (scope, key, value, expected) in table {
        let error = loader.set(scope, Some(&cwd), key, &value).unwrap_err();
        assert!(error.contains(expected), "{key}: {error}");
    }
    assert!(!place.path(USER).exists() && fs::read_dir(&cwd).unwrap().count() == 0);
    assert!(loader.set(RuleScope::Local, None, "model", &json!("m/x")).unwrap_err().contains("cwd"));
}

#[test]
fn a_value_is_set_found_with_its_files_and_removed() {
    let place = Home::new();
    let (loader, cwd) = (place.trusting(), place.project());
    let get = |key: &str| {
        let found = loader.get(Some(&cwd), key).unwrap();
        (found.value, found.files)
    };
    let shown = |name: &str| place.path(name).display().to_string();
    assert_eq!(get("model"), (Value::Null, vec![]));
    loader.set(RuleScope::User, None, "model", &json!("m/user")).unwrap();
    loader.set(RuleScope::Local, Some(&cwd), "model", &json!("m/local")).unwrap();
    let local = shown("project/.agentd/settings.local.json");
    assert_eq!(get("model"), (json!("m/local"), vec![local.clone(), shown(USER)]));
    assert_eq!(loader.get(None, "model").unwrap().value, json!("m/user"));
    loader.set(RuleScope::User, None, "permissions.deny", &json!(["D"])).unwrap();
    loader.set(RuleScope::Local, Some(&cwd), "permissions.deny", &json!(["E"])).unwrap();
    assert_eq!(get("permissions.deny"), (json!(["D", "E"]), vec![local.clone(), shown(USER)]));
    assert_eq!(
        loader.unset(RuleScope::Local, Some(&cwd), "model"),
        Ok(vec![place.path("project/.agentd/settings.local.json")])
    );
    assert_eq!(get("model"), (json!("m/user"), vec![shown(USER)]));
    loader.set(RuleScope::User, None, "providers.p.headers.authorization", &json!("secret")).unwrap();
    assert_eq!(get("providers.p.headers").0, json!({"authorization": "(hidden)"}));
}

#[test]
fn a_value_is_taken_out_of_every_file_of_its_scope() {
    let place = Home::new();
    let (loader, cwd) = (place.trusting(), place.project());
    let both = [".agentd/settings.json", ".claude/settings.json"].map(|name| cwd.join(name));
    place.write("project/.claude/settings.json", "{\n  // theirs\n  \"model\": \"m/a\",\n  \"hooks\": {}\n}\n");
    assert_eq!(loader.unset(RuleScope::Project, Some(&cwd), "model"), Ok(vec![both[1].clone()]));
    assert_eq!(place.read("project/.claude/settings.json"), "{\n  // theirs\n  \"hooks\": {}\n}\n");
    assert_eq!(loader.unset(RuleScope::Project, Some(&cwd), "model"), Ok(vec![]));
    assert!(!cwd.join(".agentd").exists(), "what is not there is not made");
    for name in ["project/.claude/settings.json", "project/.agentd/settings.json"] {
        place.write(name, r#"{"model": "m/a"}"#);
    }
    assert_eq!(loader.unset(RuleScope::Project, Some(&cwd), "model"), Ok(both.to_vec()));
    assert_eq!(loader.get(Some(&cwd), "model").unwrap().value, Value::Null);
    place.write(USER, r#"{"model": "m/u"}"#);
    assert_eq!(loader.unset(RuleScope::User, None, "model"), Ok(vec![place.path(USER)]));
    assert!(loader.unset(RuleScope::User, None, "modle").unwrap_err().contains("did you mean model?"));
}

#[test]
fn a_file_in_which_a_key_stands_twice_is_not_written() {
    let place = Home::new();
    let (loader, cwd) = (place.trusting(), place.project());
    let text = "{\"permissions\": {\"allow\": [],\n\"allow\": []}}";
    place.write("project/.agentd/settings.local.json", text);
    let error = loader.remember(RuleScope::Local, &cwd, &rule("Bash(ls)")).unwrap_err();
    assert!(error.contains("settings.local.json: line 2: permissions.allow: the key stands twice"), "{error}");
    assert_eq!(place.read("project/.agentd/settings.local.json"), text);
}
