//! The layers in a home of their own.

use super::super::files::Patience;
use super::super::merge::changed;
use super::super::testing::{Place as Home, USER};
use super::*;
use proto::session::Mode;
use std::time::Duration;

fn messages(loaded: &Loaded) -> Vec<&str> {
    loaded.errors.iter().map(|error| error.message.as_str()).collect()
}

/// Loads one user file.
fn load(text: &str) -> Arc<Loaded> {
    let place = Home::new();
    place.write(USER, text);
    place.loader(None).load()
}

#[test]
fn without_files_there_are_the_defaults_and_no_errors() {
    let place = Home::new();
    let loader = place.loader(None);
    for loaded in [loader.load(), loader.load_for(&place.project())] {
        assert_eq!(*loaded.settings, Settings::default());
        assert_eq!(messages(&loaded), [""; 0]);
        assert!(!loaded.trusted);
    }
}

#[test]
fn an_allow_entry_that_is_no_rule_is_told_and_counts_for_nothing() {
    let loaded = load(r#"{"permissions": {"allow": ["Bash(rm", "", "Bash(ls)"]}}"#);
    let told = messages(&loaded);
    assert_eq!(told.len(), 2, "{told:?}");
    assert!(told[0].starts_with("line 1: permissions.allow[0]: \"Bash(rm\" is not a permission rule"));
    let permissions = &loaded.settings.permissions;
    assert_eq!([&permissions.allow[..], &permissions.ask, &permissions.deny].concat(), ["Bash(ls)"]);
    assert!(load(r#"{"permissions": {"allow": "Bash(ls)"}}"#).settings.permissions.allow.is_empty());
}

#[test]
fn a_rule_that_was_to_tighten_and_cannot_be_used_asks_instead() {
    let table = [
        (r#"["Bash(rm", "Bash(ls)"]"#, "[0]: \"Bash(rm\" is not", "Bash is asked", &["Bash"][..], &["Bash(ls)"][..]),
        (r#""Bash(rm *)""#, ": a list is expected", "a list of this one entry", &[], &["Bash(rm *)"]),
        (r#"[["Bash(rm *)"], "Edit"]"#, "[0]: invalid type", "Bash is asked", &["Bash"], &["Edit"]),
        (r#"[7]"#, "[0]: invalid type", "every call is asked", &["*"], &[]),
        (r#"[{"Bash": "rm"}]"#, "[0]: invalid type", "every call is asked", &["*"], &[]),
        (r#"[["Bash(x)", 1]]"#, "[0]: invalid type", "every call is asked", &["*"], &[]),
        (r#"[""]"#, "[0]: \"\" is not", "every call is asked", &["*"], &[]),
        (r#"{"Bash(rm *)": true}"#, ": a list of rules is expected", "every call is asked", &["*"], &[]),
        ("true", ": a list of rules is expected", "every call is asked", &["*"], &[]),
        ("null", ": invalid type: null", "the value is ignored", &[], &[]),
        ("[[]]", "[0]: invalid type", "the entry is ignored", &[], &[]),
    ];
    for list in ["deny", "ask"] {
        for (value, why, what, stand_ins, kept) in table {
            let loaded = load(&format!(r#"{{"permissions": {{"{list}": {value}, "allow": ["Bash"]}}}}"#));
            let told = messages(&loaded);
            assert_eq!(told.len(), 1, "{told:?}");
            assert!(told[0].starts_with(&format!("line 1: permissions.{list}{why}")), "{told:?}");
            assert!(told[0].contains(what), "{told:?}");
            let permissions = &loaded.settings.permissions;
            let (deny, ask) = if list == "deny" { (kept, vec![]) } else { (&[][..], kept.to_vec()) };
            assert_eq!(permissions.deny, deny, "{value}");
            assert_eq!(permissions.ask, [&ask[..], stand_ins].concat(), "{value}");
            let rules: Vec<String> = loaded.settings.rules.ask.iter().map(|rule| rule.rule.to_string()).collect();
            assert_eq!(rules, permissions.ask, "each has its source");
        }
    }
}

#[test]
fn in_a_file_that_is_broken_a_rule_that_cannot_be_used_asks_too() {
    let loaded = load(r#"{"permissions": {"deny": ["Bash(rm", "Bash(ls)"], "ask": "Edit" "#);
    assert!(messages(&loaded)[0].ends_with("only its deny and ask rules count"), "{:?}", loaded.errors);
    assert_eq!(loaded.settings.permissions.deny, ["Bash(ls)"]);
    assert_eq!(loaded.settings.permissions.ask, ["Edit", "Bash"]);
}

#[test]
fn of_a_key_that_stands_twice_no_rule_that_tightens_is_lost() {
    let table = [
        (
            r#"{"permissions": {"deny": ["D"],
            "deny": [], "allow": ["A"]}}"#,
            "line 2: permissions.deny: the key stands twice",
            &["D"][..],
            &[][..],
            &["A"][..],
        ),
        (
            r#"{"permissions": {"deny": ["D"], "deny": "E", "ask": ["K"], "ask": null}}"#,
            "line 1: permissions.deny",
            &["D", "E"],
            &["K"],
            &[],
        ),
        (
            r#"{"permissions": {"deny": ["D"], "ask": ["K"], "allow": ["A"]},
            "permissions": {"deny": ["E"], "allow": ["B"]}}"#,
            "line 2: permissions: the key stands twice",
            &["D", "E"],
            &["K"],
            &["B"],
        ),
        (r#"{"permissions": {"deny": ["D"]}, "permissions": null}"#, "line 1: permissions: the", &["D"], &[], &[]),
        (r#"{"permissions": {"allow": ["A"], "allow": ["B"]}}"#, "line 1: permissions.allow: the", &[], &[], &["B"]),
        (r#"{"permissions": {"deny": ["D"]}, "hooks": {"x": 1, "x": 2}}"#, "line 1: hooks.x: the", &["D"], &[], &[]),
    ];
    for (text, told, deny, ask, allow) in table {
        let loaded = load(text);
        assert!(messages(&loaded)[0].starts_with(told), "{:?}", loaded.errors);
        let permissions = &loaded.settings.permissions;
        assert_eq!(
            (&permissions.deny[..], &permissions.ask[..], &permissions.allow[..]),
            (
                &deny.iter().map(ToString::to_string).collect::<Vec<_>>()[..],
                &ask.iter().map(ToString::to_string).collect::<Vec<_>>()[..],
                &allow.iter().map(ToString::to_string).collect::<Vec<_>>()[..],
            ),
            "{text}"
        );
    }
}

#[test]
fn a_rule_without_effect_is_kept_and_told() {
    for (list, rule, told) in [
        ("allow", "Bash(git *)", None),
        ("allow", "mcp__*", Some("it allows nothing: name the tool")),
        ("allow", "Sleep(duration_ms:5)", Some("it allows nothing: a field of Sleep's input")),
        ("deny", "Sleep(duration_ms:5)", None),
        ("deny", "Write(src/**)", Some("it is never consulted: rules on paths are written as Edit(path)")),
        ("ask", "Sleep(long)", Some("it speaks of no call")),
    ] {
        let loaded = load(&format!(r#"{{"permissions": {{"{list}": ["Bash(ls)", "{rule}"]}}}}"#));
        let messages = messages(&loaded);
        assert_eq!(messages.len(), usize::from(told.is_some()), "{messages:?}");
        for message in messages {
            let start = format!("line 1: permissions.{list}[1]: the rule {rule} has no effect: {}", told.unwrap());
            assert!(message.starts_with(&start), "{message}");
        }
        let permissions = &loaded.settings.permissions;
        assert_eq!([&permissions.allow[..], &permissions.ask, &permissions.deny].concat(), ["Bash(ls)", rule]);
    }
}

#[test]
fn a_stronger_layer_wins_and_lists_merge() {
    let layers = [".claude/settings.json", USER, "given.json", "managed.json"];
    for top in 0..layers.len() {
        let place = Home::new();
        for (number, name) in layers.iter().enumerate().take(top + 1) {
            let text = format!(
                r#"{{"model": "m/{number}", "limits": {{"retries": {number}}}, "permissions": {{"deny": ["D{number}", "same"]}}}}"#
            );
            place.write(name, text);
        }
        let given = place.path("given.json").display().to_string();
        let loaded = place.loader((top >= 2).then_some(given.as_str())).load();
        assert_eq!(messages(&loaded), [""; 0]);
        assert_eq!(loaded.settings.model, Some(format!("m/{top}")));
        assert_eq!(loaded.settings.limits.retries as usize, top);
        assert_eq!(loaded.settings.limits.drain_ms, 10_000, "what no layer names keeps its default");
        let mut deny: Vec<String> = (0..=top).map(|number| format!("D{number}")).collect();
        deny.insert(1, "same".to_owned());
        assert_eq!(loaded.settings.permissions.deny, deny);
    }
}

#[test]
fn an_untrusted_folder_can_only_restrict() {
    let place = Home::new();
    place.write(USER, r#"{"model": "m/user", "permissions": {"allow": ["A"], "deny": ["D"]}}"#);
    for (number, name) in
        [".claude/settings.json", ".agentd/settings.json", ".claude/settings.local.json", ".agentd/settings.local.json"]
            .iter()
            .enumerate()
    {
        let text = format!(
            r#"{{"model": "m/bad", "env": {{"X": "1"}}, "providers": {{"p": {{"baseUrl": "http://bad"}}}}, "hooks": {{}},
                "tools": {{"maxConcurrency": 99}}, "permissions": {{"allow": ["Bash"], "ask": ["K{number}"], "deny": ["P{number}"],
                "defaultMode": "bypassPermissions", "additionalDirectories": ["/"]}}}}"#
        );
        place.write(&format!("project/{name}"), text);
    }
    let loaded = place.loader(None).load_for(&place.project());
    let plain = place.loader(None).load();
    assert_eq!(messages(&loaded), [""; 0]);
    assert_eq!(changed(&plain.settings, &loaded.settings), ["permissions"]);
    let permissions = &loaded.settings.permissions;
    assert_eq!(permissions.deny, ["D", "P0", "P1", "P2", "P3"]);
    assert_eq!(permissions.ask, ["K0", "K1", "K2", "K3"]);
    assert_eq!(permissions.allow, ["A"]);
    assert_eq!(permissions.default_mode, None);
    assert!(permissions.additional_directories.is_empty());
}

#[test]
fn in_the_home_folder_the_users_own_file_is_no_project_file() {
    let place = Home::new();
    place.write(".claude/settings.json", r#"{"model": 7}"#);
    assert_eq!(place.loader(None).load_for(&place.path("")).errors.len(), 1);
}

#[test]
fn comments_and_a_text_on_the_command_line_are_read() {
    let place = Home::new();
    place.write(USER, "\u{feff}{\n  // a comment\n  \"model\": \"m/a\", /* another */\n}\n");
    let loaded = place.loader(Some(r#" {"smallModel": "m/b"}"#)).load();
    assert_eq!(messages(&loaded), [""; 0]);
    assert_eq!(loaded.settings.model.as_deref(), Some("m/a"));
    assert_eq!(loaded.settings.small_model.as_deref(), Some("m/b"));
    assert_eq!(load("").errors, []);
    let missing = place.loader(Some("/nonexistent/s.json")).load();
    assert_eq!(missing.errors[0].file, "/nonexistent/s.json");
}

#[test]
fn a_wrong_value_is_named_with_its_line_and_loses_nothing_else() {
    let table = [
        ("{\n\"model\": 7}", "line 2: model: invalid type: integer `7`, expected a string"),
        ("{\n\"limits\": {\n\"retries\": \"x\"}}", "line 3: limits.retries: invalid type: string \"x\", expected u32"),
        ("{\"limits\": {\"drainMs\": -1}}", "line 1: limits.drainMs: invalid value: integer `-1`, expected u64"),
        ("{\"limits\": []}", "line 1: limits: an object is expected"),
        ("{\"permissions\": \"x\"}", "line 1: permissions: an object is expected"),
        ("{\"permissions\": {\"deny\": \"x\"}}", "line 1: permissions.deny: a list is expected here"),
        ("{\"permissions\": {\"deny\": [\"D\",\n 7]}}", "line 2: permissions.deny[1]: invalid type: integer `7`"),
        (
            "{\"permissions\": {\"defaultMode\": \"maybe\"}}",
            "line 1: permissions.defaultMode: unknown variant `maybe`, expected one of `default`",
        ),
        ("{\"tools\": {\"maxConcurrency\": 0}}", "line 1: tools.maxConcurrency: it must be at least 1"),
        ("{\"tools\": {\"cascade\": \"all\"}}", "line 1: tools.cascade: unknown variant `all`"),
        ("{\"tools\": {\"bash\": 1}}", "line 1: tools.bash: an object is expected"),
        ("{\"env\": {\"A\": []}}", "line 1: env.A: invalid type: sequence, expected a string"),
        ("{\"providers\": {\"p\": {\"api\": \"soap\"}}}", "line 1: providers.p.api: unknown variant `soap`"),
        ("{\"providers\": {\"p\": 3}}", "line 1: providers.p: an object is expected"),
        (
            "{\"providers\": {\"p\": {\"models\": [{\"id\": 3}]}}}",
            "line 1: providers.p.models[0]: invalid type: integer `3`",
        ),
        ("{\"modle\": \"x\"}", "line 1: modle: there is no such setting; did you mean model?"),
        ("{\"permisions\": {}}", "line 1: permisions: there is no such setting; did you mean permissions?"),
        ("{\"qwertz\": 1}", "line 1: qwertz: there is no such setting; remove it"),
        ("{\"limits\": {\"retrys\": 1}}", "line 1: limits.retrys: there is no such setting; did you mean retries?"),
        ("{\"providers\": {\"p\": {\"url\": \"http://x\"}}}", "line 1: providers.p.url: there is no such setting"),
    ];
    for (text, expected) in table {
        // The rest of the file still counts.
        let text = text.replacen('{', "{\"smallModel\": \"m/s\", \"env\": {\"B\": \"2\"}, ", 1);
        let text = if text.contains("\"A\"") { text.replacen("\"env\": {\"B\": \"2\"}, ", "", 1) } else { text };
        let loaded = load(&text);
        let found = messages(&loaded);
        assert!(found.len() == 1 && found[0].starts_with(expected), "{text}: {found:?}");
        assert!(loaded.errors[0].file.ends_with(USER));
        assert_eq!(loaded.settings.small_model.as_deref(), Some("m/s"), "{text}");
        let mut rest = Settings::clone(&loaded.settings);
        rest.rules = Arc::default();
        rest.small_model = None;
        rest.env.clear();
        rest.permissions.deny.retain(|rule| rule != "D" && rule != "x");
        // In the place of an entry that can't be used.
        rest.permissions.ask.retain(|rule| rule != "*");
        rest.providers.clear();
        assert_eq!(rest, Settings::default(), "{text}");
    }
}

#[test]
fn a_file_that_cannot_be_parsed_counts_for_its_deny_rules_only() {
    let table: [(&str, &[&str]); 6] = [
        (
            "{\"model\": \"m/x\", \"permissions\": {\"allow\": [\"A\"], \"deny\": [\"D1\", /* c */ \"D2\"]",
            &["D1", "D2"],
        ),
        ("{\"permissions\": {\"deny\": [\"D1\", \"D2\", ", &["D1", "D2"]),
        ("{\"permissions\": {\"deny\": [\"D1\", \"D2", &["D1"]),
        ("}{ \"deny\" : [\"D1\"] } @ \"deny\": [\"D2\"]", &["D1", "D2"]),
        ("{\"permissions\": {\"allow\": [\"A\"", &[]),
        ("[1]", &[]),
    ];
    for (text, deny) in table {
        let loaded = load(text);
        assert_eq!(loaded.errors.len(), 1, "{text}");
        assert!(messages(&loaded)[0].starts_with("line 1"), "{:?}", loaded.errors);
        let found = Settings { rules: Arc::default(), ..Settings::clone(&loaded.settings) };
        let expected = Settings {
            permissions: super::super::PermissionSettings {
                deny: deny.iter().map(|rule| (*rule).to_owned()).collect(),
                ..Default::default()
            },
            ..Settings::default()
        };
        assert_eq!(found, expected, "{text}");
        assert_eq!(loaded.settings.rules.deny.len(), deny.len());
    }
}

#[test]
fn a_file_that_cannot_be_read_is_reported() {
    let place = Home::new();
    std::fs::create_dir_all(place.path(USER)).expect("a folder in place of the file");
    place.write(".claude/settings.json", b"{\"model\": \"\xff\", \"permissions\": {\"deny\": [\"D\"]}}");
    place.write("managed.json", vec![b' '; 5 << 20]);
    let loaded = place.loader(None).load();
    let found = messages(&loaded);
    assert_eq!(found.len(), 3, "{found:?}");
    assert!(found[0].starts_with("is not UTF-8"), "{found:?}");
    assert!(found[1].starts_with("can't be read"), "{found:?}");
    assert!(found[2].contains("longer than"), "{found:?}");
    assert_eq!(loaded.settings.permissions.deny, ["D"]);
}

#[test]
fn the_files_of_claude_code_are_understood() {
    let place = Home::new();
    place.write(
        ".claude/settings.json",
        r#"{"$schema": "x", "hooks": {"PreToolUse": []}, "sandbox": {"enabled": true}, "someNewKey": 1, "statusLine": {},
            "fallbackModel": ["anthropic/claude-a", "b"], "env": {"N": 1, "B": true, "S": "s"},
            "permissions": {"defaultMode": "manual", "allow": ["Bash(ls *)", "Write(src/**)"], "disableBypassPermissionsMode": "disable"}}"#,
    );
    let loaded = place.loader(None).load();
    let never = "line 3: permissions.allow[1]: the rule Write(src/**) has no effect: it is never consulted: rules on paths are written as Edit(path)";
    assert_eq!(messages(&loaded), [never]);
    assert_eq!(loaded.settings.permissions.disable_bypass_permissions_mode, Some(crate::config::Disable::Disable));
    assert_eq!(loaded.settings.fallback_model.as_deref(), Some("anthropic/claude-a"));
    assert_eq!(loaded.settings.permissions.default_mode, Some(Mode::Default));
    let env: Vec<(&str, &str)> = loaded.settings.env.iter().map(|(k, v)| (k.as_str(), v.as_str())).collect();
    assert_eq!(env, [("B", "true"), ("N", "1"), ("S", "s")]);
    // Its keys may stand in agentd's own files too, and a slip in one that agentd knows is told in its files.
    assert_eq!(load(r#"{"hooks": {}, "mcpServers": {}, "sandbox": {}}"#).errors, []);
    place.write(".claude/settings.json", r#"{"permission": {}}"#);
    assert!(messages(&place.loader(None).load())[0].contains("did you mean permissions?"));
    // In Claude Code's files a slip in one of its own is told too, and what nobody knows is left to it.
    place.write(".claude/settings.json", r#"{"hoks": {}, "zzz": 1}"#);
    let told = ["line 1: hoks: there is no such setting; did you mean hooks?"];
    assert_eq!(messages(&place.loader(None).load()), told);
    for key in ["zzz", "enviroment"] {
        let told = format!("line 1: {key}: there is no such setting; remove it");
        assert_eq!(messages(&load(&format!(r#"{{"{key}": 1}}"#))), [told]);
    }
}

#[test]
fn every_setting_of_the_protocol_is_read() {
    let loaded = load(
        r#"{
        "model": "mine/a", "fallbackModel": "mine/b", "smallModel": "mine/c",
        "providers": {"mine": {"api": "openai-chat", "baseUrl": "http://127.0.0.1:8080/v1", "apiKeyEnv": "MY_KEY",
            "apiKeyFile": "/k", "apiKeyHelper": "cmd", "apiKeyCredential": "c", "headers": {"h": "v"},
            "models": [{"id": "a", "contextWindow": 200000, "maxOutput": 32000, "price": {"input": 3, "output": 15}}]}},
        "apiKeyHelper": "cmd", "permissions": {"allow": ["a"], "ask": ["b"], "deny": ["c"], "defaultMode": "acceptEdits", "additionalDirectories": ["/d"],
            "disableBypassPermissionsMode": "disable", "disableAutoMode": "disable", "bypassProtectedPaths": true},
        "hooks": {}, "sandbox": {}, "env": {"E": "1"}, "mcpServers": {},
        "tools": {"maxConcurrency": 3, "cascade": "bash_any", "bash": {"timeoutMs": 1, "maxTimeoutMs": 2}},
        "limits": {"streamIdleMs": 1, "retries": 2, "maxTurns": 3, "drainMs": 4, "killGraceMs": 5}
    }"#,
    );
    assert_eq!(messages(&loaded), [""; 0]);
    let every =
        ["model", "fallbackModel", "smallModel", "providers", "apiKeyHelper", "permissions", "env", "tools", "limits"];
    assert_eq!(changed(&Settings::default(), &loaded.settings), every);
    assert_eq!(changed(&loaded.settings, &loaded.settings), [""; 0]);
    assert_eq!(load(r#"{"limits": {"maxTurns": null}}"#).errors, []);
}

fn rules(rules: &[crate::policy::SourcedRule]) -> Vec<String> {
    rules.iter().map(|sourced| format!("{} {}", sourced.source.kind.name(), sourced.rule)).collect()
}

/// Rows P14, P15: every rule says which source, file and folder it comes from, in the order of the sources.
#[test]
fn every_rule_knows_its_source() {
    let place = Home::new();
    let list =
        |name: &str| format!(r#"{{"permissions": {{"deny": ["D{name}"], "ask": ["K{name}"], "allow": ["A{name}"]}}}}"#);
    std::fs::create_dir_all(place.path("project/.git")).unwrap();
    std::fs::create_dir_all(place.path("project/sub")).unwrap();
    for (file, name) in [
        (".claude/settings.json", "userclaude"),
        (USER, "user"),
        ("project/.claude/settings.json", "root"),
        ("project/sub/.agentd/settings.json", "project"),
        ("project/sub/.claude/settings.local.json", "local"),
        ("given.json", "given"),
        ("managed.json", "managed"),
        ("managed-settings.d/10.json", "further"),
    ] {
        place.write(file, list(name));
    }
    let given = place.path("given.json").display().to_string();
    let loader = place.loader(Some(&given));
    loader.set_trust(&place.project(), true).unwrap();
    let loaded = loader.load_for(&place.path("project/sub"));
    assert!(loaded.trusted);
    let found = &loaded.settings.rules;
    let expected = |kind: &str| -> Vec<String> {
        [
            ("managed", "managed"),
            ("managed", "further"),
            ("commandLine", "given"),
            ("user", "userclaude"),
            ("user", "user"),
            ("project", "root"),
            ("project", "project"),
            ("local", "local"),
        ]
        .map(|(source, name)| format!("{source} {kind}{name}"))
        .to_vec()
    };
    assert_eq!(rules(&found.deny), expected("D"));
    assert_eq!(rules(&found.ask), expected("K"));
    assert_eq!(rules(&found.allow), expected("A"));
    let of = |at: usize| found.deny[at].source.clone();
    let file = |name: &str| Some(place.path(name));
    assert_eq!((of(0).file, of(0).base), (file("managed.json"), place.path("")));
    assert_eq!((of(2).file, of(2).base), (file("given.json"), place.path("")));
    assert_eq!((of(3).file, of(3).base), (file(".claude/settings.json"), place.path(".claude")));
    assert_eq!((of(4).file, of(4).base), (file(USER), place.path("config/agentd")));
    assert_eq!((of(5).file, of(5).base), (file("project/.claude/settings.json"), place.project()));
    assert_eq!((of(6).file, of(6).base), (file("project/sub/.agentd/settings.json"), place.path("project/sub")));
    assert_eq!(of(7).base, place.path("project/sub"));
    // A text on the command line is no file.
    let loader = place.loader(Some(&list("text")));
    let loaded = loader.load_for(&place.path("project/sub"));
    let source = loaded.settings.rules.deny[2].source.clone();
    assert_eq!((source.kind, source.file, source.base), (SourceKind::CommandLine, None, place.path("project/sub")));
}

#[test]
fn a_trusted_folder_counts_but_for_what_is_the_user_s_own() {
    let place = Home::new();
    place.write(
        "project/.claude/settings.json",
        r#"{"model": "m/p", "env": {"X": "1"}, "allowManagedPermissionRulesOnly": true,
            "providers": {"p": {"headers": {"X-Api-Key": "s", "x-app": "1"}}},
            "permissions": {"allow": ["A"], "defaultMode": "bypassPermissions", "bypassProtectedPaths": true}}"#,
    );
    place.write("project/.agentd/settings.local.json", r#"{"permissions": {"defaultMode": "auto"}}"#);
    let loader = place.loader(None);
    let before = loader.load_for(&place.project());
    assert_eq!((before.trusted, before.settings.model.clone(), before.settings.env.len()), (false, None, 0));
    loader.set_trust(&place.project(), true).unwrap();
    let loaded = loader.load_for(&place.project());
    assert_eq!((loaded.trusted, loaded.settings.model.as_deref()), (true, Some("m/p")));
    assert_eq!(rules(&loaded.settings.rules.allow), ["project A"]);
    assert_eq!(loaded.settings.env.len(), 1);
    let permissions = &loaded.settings.permissions;
    assert_eq!((permissions.default_mode, permissions.bypass_protected_paths), (None, false));
    assert!(!loaded.settings.allow_managed_permission_rules_only);
    assert_eq!(loaded.settings.providers["p"].headers.keys().collect::<Vec<_>>(), ["x-app"]);
    let told = messages(&loaded).join("\n");
    for part in [
        "can't choose bypassPermissions",
        "can't choose auto",
        "bypassProtectedPaths: the files of a folder",
        "counts in managed settings only",
        "providers.p.headers.X-Api-Key",
    ] {
        assert!(told.contains(part), "{part}: {told}");
    }
    loader.set_trust(&place.project(), false).unwrap();
    let again = loader.load_for(&place.project());
    assert_eq!((again.trusted, again.settings.model.as_deref()), (false, None));
    assert_eq!(rules(&again.settings.rules.allow), [""; 0]);
}

#[test]
fn the_user_may_loosen_what_a_folder_may_not() {
    let loaded = load(r#"{"permissions": {"defaultMode": "bypassPermissions", "bypassProtectedPaths": true}}"#);
    assert_eq!(messages(&loaded), [""; 0]);
    let permissions = &loaded.settings.permissions;
    assert_eq!((permissions.default_mode, permissions.bypass_protected_paths), (Some(Mode::BypassPermissions), true));
}

#[test]
fn a_secret_header_needs_a_private_file() {
    use std::os::unix::fs::PermissionsExt;
    let place = Home::new();
    place.write(USER, r#"{"providers": {"p": {"headers": {"Authorization": "Bearer s", "x-app": "1"}}}}"#);
    let loader = place.loader(None);
    for (mode, kept, told) in [(0o644, 1, 1), (0o640, 1, 1), (0o600, 2, 0), (0o400, 2, 0)] {
        std::fs::set_permissions(place.path(USER), std::fs::Permissions::from_mode(mode)).unwrap();
        let loaded = loader.load();
        assert_eq!(loaded.settings.providers["p"].headers.len(), kept, "{mode:o}");
        assert_eq!(loaded.errors.len(), told, "{mode:o}");
        assert!(messages(&loaded).iter().all(|message| message.contains("chmod 600") && !message.contains("Bearer")));
    }
    let given = place.loader(Some(r#"{"providers": {"p": {"headers": {"Authorization": "Bearer t"}}}}"#)).load();
    assert_eq!(given.settings.providers["p"].headers["Authorization"], "Bearer s");
}

#[test]
fn managed_settings_lock_rules_and_modes() {
    let place = Home::new();
    place.write(USER, r#"{"permissions": {"allow": ["A"], "deny": ["D"], "disableAutoMode": null}}"#);
    place.write("project/.claude/settings.json", r#"{"permissions": {"ask": ["K"]}}"#);
    place.write(
        "managed.json",
        r#"{"allowManagedPermissionRulesOnly": true,
            "permissions": {"allow": ["M"], "disableBypassPermissionsMode": "disable"}}"#,
    );
    let loaded = place.trusting().load_for(&place.project());
    let found = &loaded.settings.rules;
    assert_eq!(
        (rules(&found.allow), rules(&found.deny), rules(&found.ask)),
        (vec!["managed M".to_owned()], vec![], vec![])
    );
    let permissions = &loaded.settings.permissions;
    assert!(permissions.refusal(Mode::BypassPermissions).unwrap().contains("disableBypassPermissionsMode"));
    assert_eq!(permissions.refusal(Mode::Auto), None);
    // No answer of a person adds a rule, not even to a session.
    let refused = place.trusting().may_remember(&place.project()).unwrap_err();
    assert!(refused.contains("allowManagedPermissionRulesOnly"), "{refused}");
    // A folder that nobody trusts may switch a mode off too.
    place.write("project/.claude/settings.json", r#"{"permissions": {"disableAutoMode": "disable"}}"#);
    let loaded = place.loader(None).load_for(&place.project());
    assert!(loaded.settings.permissions.refusal(Mode::Auto).is_some());
}

#[test]
fn a_worktree_takes_the_local_settings_of_its_main_checkout_if_both_are_trusted() {
    let place = Home::new();
    let (tree, own) = (place.path("tree"), place.path("project/.git/worktrees/tree"));
    place.write("tree/.git", format!("gitdir: {}\n", own.display()));
    place.write("project/.git/worktrees/tree/gitdir", format!("{}/.git\n", tree.display()));
    place.write("project/.git/worktrees/tree/commondir", "../..\n");
    place.write("project/.claude/settings.local.json", r#"{"permissions": {"allow": ["A"], "deny": ["D"]}}"#);
    let loader = place.trusting();
    let allowed = || rules(&loader.load_for(&tree).settings.rules.allow);
    assert_eq!(rules(&loader.load_for(&tree).settings.rules.deny), ["local D"]);
    assert_eq!(allowed(), [""; 0]);
    loader.set_trust(&tree, true).unwrap();
    assert_eq!(allowed(), ["local A"]);
    // Somebody else's folder points there, and is not known there.
    place.write("project/.git/worktrees/tree/gitdir", "/elsewhere/.git\n");
    assert_eq!(allowed(), [""; 0]);
}

#[test]
fn a_change_counts_at_once_and_what_is_unchanged_is_the_same_value() {
    let place = Home::new();
    let loader = place.trusting();
    let file = "project/.agentd/settings.local.json";
    let allowed = || rules(&loader.load_for(&place.project()).settings.rules.allow);
    assert_eq!(allowed(), [""; 0]);
    // The same length each time, and far more often than the clock of files ticks.
    for round in 0..200 {
        place.write(file, format!(r#"{{"permissions": {{"allow": ["A{:03}"]}}}}"#, round));
        assert_eq!(allowed(), [format!("local A{round:03}")]);
    }
    let (one, two) = (loader.load_for(&place.project()), loader.load_for(&place.project()));
    assert!(Arc::ptr_eq(&one, &two));
    std::fs::remove_file(place.path(file)).unwrap();
    assert_eq!(allowed(), [""; 0]);
    place.write(USER, r#"{"model": "m/new"}"#);
    assert_eq!(loader.load().settings.model.as_deref(), Some("m/new"));
    assert!(loader.load().settings.rules.deny.is_empty());
}

/// However slow the machine is, a file that is under way is not taken for one that is done.
const ENDLESS: Patience = Patience { step: Duration::from_secs(1 << 20), absence: Duration::from_secs(1 << 20) };

#[test]
fn a_file_that_stays_empty_or_away_says_nothing() {
    let place = Home::new();
    let at_once = Patience { step: Duration::ZERO, absence: Duration::ZERO };
    let loader = place.loader(None).with_patience(at_once);
    let whole = r#"{"permissions": {"deny": ["D"]}}"#;
    for remove in [false, true] {
        place.write(USER, whole);
        assert_eq!(loader.load().settings.rules.deny.len(), 1);
        if remove {
            std::fs::remove_file(place.path(USER)).unwrap();
        } else {
            place.write(USER, "");
        }
        assert_eq!(loader.load().settings.rules.deny.len(), 0, "{remove}");
    }
}

#[test]
fn a_file_that_breaks_keeps_what_it_tightened() {
    let place = Home::new();
    let loader = place.loader(None).with_patience(ENDLESS);
    let whole = r#"{"model": "m/a", "permissions": {"allow": ["A"], "ask": ["K"], "deny": ["D"], "disableAutoMode": "disable"}}"#;
    let state = || {
        let loaded = loader.load();
        let found = &loaded.settings.rules;
        let locked = loaded.settings.permissions.refusal(Mode::Auto).is_some();
        (rules(&found.allow).len(), rules(&found.ask).len(), rules(&found.deny), locked)
    };
    place.write(USER, whole);
    assert_eq!(state(), (1, 1, vec!["user D".to_owned()], true));
    place.write(USER, r#"{"permissions": {"deny": ["New"#);
    assert_eq!(state(), (0, 1, vec!["user D".to_owned()], true));
    place.write(USER, r#"{"permissions": {"deny": ["New", "#);
    assert_eq!(state(), (0, 1, vec!["user New".to_owned(), "user D".to_owned()], true));
    assert!(messages(&loader.load())[0].ends_with("what it denied and asked about before still holds"));
    place.write(USER, "");
    assert_eq!(state(), (0, 1, vec!["user D".to_owned()], true));
    assert_eq!(messages(&loader.load()), [""; 0]);
    std::fs::remove_file(place.path(USER)).unwrap();
    assert_eq!(state(), (0, 1, vec!["user D".to_owned()], true), "it may be on its way back");
    place.write(USER, r#"{"permissions": {"deny": ["E"]}}"#);
    assert_eq!(state(), (0, 0, vec!["user E".to_owned()], false));
}

/// 10,000 times the file is cut and written anew in pieces, or removed and made again, while settings are loaded: what
/// both texts deny is denied in every state, and what is allowed is of one text or nothing.
#[test]
fn no_load_sees_half_a_file() {
    use std::io::Write;
    const WRITES: usize = 10_000;
    let place = Home::new();
    let text = |name: &str| {
        format!(
            r#"{{"permissions": {{"allow": ["{name}1", "{name}2"], "deny": ["D", "{name}D"]}}, "model": "m/{name}"}}"#
        )
    };
    let texts = [text("A"), text("B")];
    place.write(USER, &texts[0]);
    let loader = place.loader(None).with_patience(ENDLESS);
    let _ = loader.load();
    let done = std::sync::atomic::AtomicBool::new(false);
    std::thread::scope(|scope| {
        scope.spawn(|| {
            for round in 0..WRITES {
                let text = texts[round % 2].as_bytes();
                let (first, last) = text.split_at(round % text.len());
                if round % 3 == 0 {
                    std::fs::remove_file(place.path(USER)).unwrap();
                }
                let mut file = std::fs::File::create(place.path(USER)).unwrap();
                file.write_all(first).unwrap();
                file.write_all(last).unwrap();
            }
            done.store(true, std::sync::atomic::Ordering::Release);
        });
        let mut loads = 0;
        while !done.load(std::sync::atomic::Ordering::Acquire) || loads == 0 {
            let loaded = loader.load();
            let found = &loaded.settings.rules;
            assert!(rules(&found.deny).contains(&"user D".to_owned()), "{found:?} {:?}", loaded.errors);
            let allowed = rules(&found.allow);
            let model = loaded.settings.model.as_deref();
            let whole = |name: &str| {
                allowed == [format!("user {name}1"), format!("user {name}2")] && model == Some(&format!("m/{name}"))
            };
            assert!(whole("A") || whole("B") || (allowed.is_empty() && model.is_none()), "{allowed:?} {model:?}");
            loads += 1;
        }
    });
    assert_eq!(loader.load().settings.model.as_deref(), Some("m/B"), "the last text counts");
}

#[test]
fn further_folders_start_from_where_their_file_is() {
    let place = Home::new();
    let list = |folders: &str| format!(r#"{{"permissions": {{"additionalDirectories": {folders}}}}}"#);
    place.write(USER, list(r#"["~/notes", "relative", "/abs"]"#));
    place.write("project/.claude/settings.json", list(r#"["../docs"]"#));
    let loader = place.loader(None);
    let found = |loaded: &Loaded| loaded.settings.permissions.additional_directories.clone();
    let own = [place.path("notes"), PathBuf::from("/abs")];
    assert_eq!(found(&loader.load_for(&place.project())), own);
    assert!(messages(&loader.load())[0].contains("\"relative\" is not absolute"), "{:?}", loader.load().errors);
    loader.set_trust(&place.project(), true).unwrap();
    let all = [own[0].clone(), own[1].clone(), place.project().join("../docs")];
    assert_eq!(found(&loader.load_for(&place.project())), all);
}

/// What a folder that nobody trusts may hold in place of its settings: no load waits, fails or allows for it.
#[test]
fn a_hostile_folder_has_no_effect_before_trust() {
    use std::os::unix::fs::symlink;
    let home = Home::new();
    let place = &home;
    let loader = place.loader(None);
    let plain = loader.load();
    let allow = r#"{"permissions": {"allow": ["Bash"]}, "env": {"PATH": "/bad"}, "apiKeyHelper": "touch /bad"}"#;
    place.write("elsewhere/settings.json", allow).write("elsewhere/trusted", "");
    loader.set_trust(&place.path("elsewhere"), true).unwrap();
    let project = |name: &str| place.path("project").join(name);
    type Prepare<'a> = (&'a str, Box<dyn Fn() + 'a>);
    let file = move |text: String| {
        move || {
            place.write("project/.claude/settings.json", &text);
        }
    };
    let table: Vec<Prepare<'_>> = vec![
        ("plain", Box::new(file(allow.to_owned()))),
        ("deep lists", Box::new(file("[".repeat(1 << 20)))),
        ("deep objects", Box::new(file("{\"a\":".repeat(1 << 18)))),
        ("deep settings", Box::new(file(format!("{{\"permissions\": {}1{}}}", "[".repeat(300), "]".repeat(300))))),
        ("nothing but zeros", Box::new(file("\0".repeat(1 << 16)))),
        (
            "a line break in a rule",
            Box::new(file(r#"{"permissions": {"allow": ["Bash(a\nb)", "\u202eBash"]}}"#.to_owned())),
        ),
        ("no object", Box::new(file("\"text\"".to_owned()))),
        (
            "unknown",
            Box::new(file(r#"{"\u0000": {}, "": 1, "__proto__": {"permissions": {"allow": ["Bash"]}}}"#.to_owned())),
        ),
        ("a trusted folder's", Box::new(|| symlink(place.path("elsewhere"), project(".claude")).unwrap())),
        (
            "another's file",
            Box::new(|| {
                std::fs::create_dir_all(project(".agentd")).unwrap();
                symlink(place.path("elsewhere/settings.json"), project(".agentd/settings.local.json")).unwrap();
            }),
        ),
        (
            "an endless device",
            Box::new(|| {
                std::fs::create_dir_all(project(".claude")).unwrap();
                symlink("/dev/zero", project(".claude/settings.json")).unwrap();
            }),
        ),
        (
            "a link to itself",
            Box::new(|| {
                std::fs::create_dir_all(project(".claude")).unwrap();
                symlink("settings.json", project(".claude/settings.json")).unwrap();
            }),
        ),
        (
            "a pipe",
            Box::new(|| {
                std::fs::create_dir_all(project(".claude")).unwrap();
                let mode = nix::sys::stat::Mode::S_IRWXU;
                nix::unistd::mkfifo(&project(".claude/settings.local.json"), mode).unwrap();
            }),
        ),
        ("a folder", Box::new(|| std::fs::create_dir_all(project(".claude/settings.json")).unwrap())),
        (
            "a pipe for git's file",
            Box::new(|| {
                nix::unistd::mkfifo(&project(".git"), nix::sys::stat::Mode::S_IRWXU).unwrap();
            }),
        ),
        (
            "a worktree of a trusted folder",
            Box::new(|| {
                place.write("project/.git", format!("gitdir: {}\n", project("own").display()));
                place.write("project/own/gitdir", format!("{}\n", project(".git").display()));
                place.write("project/own/commondir", format!("{}\n", place.path("elsewhere").display()));
            }),
        ),
        (
            "its own trust",
            Box::new(|| {
                let record = serde_json::json!({"folders": {place.project().display().to_string(): true}});
                place.write("project/trust.json", record.to_string());
                place.write("project/.agentd/trust.json", record.to_string());
                place.write("project/.claude/settings.local.json", allow);
            }),
        ),
    ];
    for (name, prepare) in table {
        std::fs::remove_dir_all(place.project()).unwrap();
        std::fs::create_dir_all(place.project()).unwrap();
        prepare();
        let loaded = loader.load_for(&place.project());
        assert!(!loaded.trusted, "{name}");
        assert_eq!(changed(&plain.settings, &loaded.settings), [""; 0], "{name}");
        assert_eq!(loaded.settings.rules, plain.settings.rules, "{name}");
    }
}
