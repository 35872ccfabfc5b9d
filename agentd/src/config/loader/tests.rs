//! The layers in a home of their own.

use super::*;
use proto::session::Mode;
use std::collections::BTreeMap;
use tempfile::TempDir;

/// A home, a project folder in it and a managed file.
struct Place {
    dir: TempDir,
}

impl Place {
    fn new() -> Self {
        Self { dir: tempfile::tempdir().expect("a folder") }
    }

    fn write(&self, name: &str, text: impl AsRef<[u8]>) -> &Self {
        let path = self.dir.path().join(name);
        std::fs::create_dir_all(path.parent().expect("a parent")).expect("folders");
        std::fs::write(path, text).expect("a file");
        self
    }

    fn loader(&self, command_line: Option<&str>) -> Loader {
        let home = self.dir.path().display().to_string();
        let variables: BTreeMap<String, String> =
            [("HOME".to_owned(), home.clone()), ("XDG_CONFIG_HOME".to_owned(), format!("{home}/config"))].into();
        Loader::new(&Environment::from(variables), command_line.map(str::to_owned))
            .with_managed(self.dir.path().join("managed.json"))
    }

    fn project(&self) -> PathBuf {
        self.dir.path().join("project")
    }
}

const USER: &str = "config/agentd/settings.json";

fn messages(loaded: &Loaded) -> Vec<&str> {
    loaded.errors.iter().map(|error| error.message.as_str()).collect()
}

/// Loads one user file.
fn load(text: &str) -> Loaded {
    let place = Place::new();
    place.write(USER, text);
    place.loader(None).load()
}

#[test]
fn without_files_there_are_the_defaults_and_no_errors() {
    let place = Place::new();
    assert_eq!(place.loader(None).load(), Loaded::default());
    assert_eq!(place.loader(None).load_for(&place.project()), Loaded::default());
}

#[test]
fn an_entry_that_is_no_rule_is_told_wherever_it_stands() {
    for list in ["allow", "ask", "deny"] {
        let loaded = load(&format!(r#"{{"permissions": {{"{list}": ["Bash(rm", "", "Bash(ls)"]}}}}"#));
        let told = messages(&loaded);
        assert_eq!(told.len(), 2, "{told:?}");
        assert!(told[0].starts_with(&format!("line 1: permissions.{list}[0]: \"Bash(rm\" is not a permission rule")));
        let permissions = loaded.settings.permissions;
        assert_eq!([permissions.allow, permissions.ask, permissions.deny].concat(), ["Bash(ls)"]);
    }
}

#[test]
fn a_rule_with_a_pattern_is_kept_and_its_effect_told() {
    for (list, effect) in
        [("allow", "it allows nothing"), ("ask", "every call of Bash"), ("deny", "every call of Bash")]
    {
        let loaded = load(&format!(r#"{{"permissions": {{"{list}": ["Bash(ls)", "Bash(git *)"]}}}}"#));
        let told = messages(&loaded);
        assert_eq!(told.len(), 1, "{told:?}");
        assert!(told[0].starts_with(&format!("line 1: permissions.{list}[1]: patterns")), "{told:?}");
        assert!(told[0].contains(effect), "{told:?}");
        let permissions = loaded.settings.permissions;
        assert_eq!([permissions.allow, permissions.ask, permissions.deny].concat(), ["Bash(ls)", "Bash(git *)"]);
    }
}

#[test]
fn a_stronger_layer_wins_and_lists_merge() {
    let layers = [".claude/settings.json", USER, "given.json", "managed.json"];
    for top in 0..layers.len() {
        let place = Place::new();
        for (number, name) in layers.iter().enumerate().take(top + 1) {
            let text = format!(
                r#"{{"model": "m/{number}", "limits": {{"retries": {number}}}, "permissions": {{"deny": ["D{number}", "same"]}}}}"#
            );
            place.write(name, text);
        }
        let given = place.dir.path().join("given.json").display().to_string();
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
    let place = Place::new();
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
    let permissions = loaded.settings.permissions;
    assert_eq!(permissions.deny, ["D", "P0", "P1", "P2", "P3"]);
    assert_eq!(permissions.ask, ["K0", "K1", "K2", "K3"]);
    assert_eq!(permissions.allow, ["A"]);
    assert_eq!(permissions.default_mode, None);
    assert!(permissions.additional_directories.is_empty());
}

#[test]
fn in_the_home_folder_the_users_own_file_is_no_project_file() {
    let place = Place::new();
    place.write(".claude/settings.json", r#"{"model": 7}"#);
    assert_eq!(place.loader(None).load_for(place.dir.path()).errors.len(), 1);
}

#[test]
fn comments_and_a_text_on_the_command_line_are_read() {
    let place = Place::new();
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
        (
            "{\"permissions\": {\"deny\": \"x\"}}",
            "line 1: permissions.deny: invalid type: string \"x\", expected a sequence",
        ),
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
        let mut rest = loaded.settings.clone();
        rest.small_model = None;
        rest.env.clear();
        rest.permissions.deny.retain(|rule| rule != "D");
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
        let expected = Settings {
            permissions: super::super::PermissionSettings {
                deny: deny.iter().map(|rule| (*rule).to_owned()).collect(),
                ..Default::default()
            },
            ..Settings::default()
        };
        assert_eq!(loaded.settings, expected, "{text}");
    }
}

#[test]
fn a_file_that_cannot_be_read_is_reported() {
    let place = Place::new();
    std::fs::create_dir_all(place.dir.path().join(USER)).expect("a folder in place of the file");
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
    let place = Place::new();
    place.write(
        ".claude/settings.json",
        r#"{"$schema": "x", "hooks": {"PreToolUse": []}, "sandbox": {"enabled": true}, "someNewKey": 1, "statusLine": {},
            "fallbackModel": ["anthropic/claude-a", "b"], "env": {"N": 1, "B": true, "S": "s"},
            "permissions": {"defaultMode": "manual", "allow": ["Bash(ls *)", "Write(src/**)"], "disableBypassPermissionsMode": "disable"}}"#,
    );
    let loaded = place.loader(None).load();
    let never = "line 3: permissions.allow[1]: the rule Write(src/**) has no effect: it is never consulted: rules on paths are written as Edit(path)";
    assert_eq!(messages(&loaded), [never]);
    assert_eq!(loaded.settings.fallback_model.as_deref(), Some("anthropic/claude-a"));
    assert_eq!(loaded.settings.permissions.default_mode, Some(Mode::Default));
    let env: Vec<(&str, &str)> = loaded.settings.env.iter().map(|(k, v)| (k.as_str(), v.as_str())).collect();
    assert_eq!(env, [("B", "true"), ("N", "1"), ("S", "s")]);
    // Its keys may stand in agentd's own files too, and a slip in one that agentd knows is told in its files.
    assert_eq!(load(r#"{"hooks": {}, "mcpServers": {}, "sandbox": {}}"#).errors, []);
    place.write(".claude/settings.json", r#"{"permission": {}}"#);
    assert!(messages(&place.loader(None).load())[0].contains("did you mean permissions?"));
}

#[test]
fn every_setting_of_the_protocol_is_read() {
    let loaded = load(
        r#"{
        "model": "mine/a", "fallbackModel": "mine/b", "smallModel": "mine/c",
        "providers": {"mine": {"api": "openai-chat", "baseUrl": "http://127.0.0.1:8080/v1", "apiKeyEnv": "MY_KEY",
            "apiKeyFile": "/k", "apiKeyHelper": "cmd", "headers": {"h": "v"},
            "models": [{"id": "a", "contextWindow": 200000, "maxOutput": 32000, "price": {"input": 3, "output": 15}}]}},
        "permissions": {"allow": ["a"], "ask": ["b"], "deny": ["c"], "defaultMode": "acceptEdits", "additionalDirectories": ["/d"]},
        "hooks": {}, "sandbox": {}, "env": {"E": "1"}, "mcpServers": {},
        "tools": {"maxConcurrency": 3, "cascade": "bash_any", "bash": {"timeoutMs": 1, "maxTimeoutMs": 2}},
        "limits": {"streamIdleMs": 1, "retries": 2, "maxTurns": 3, "drainMs": 4, "killGraceMs": 5}
    }"#,
    );
    assert_eq!(messages(&loaded), [""; 0]);
    let every = ["model", "fallbackModel", "smallModel", "providers", "permissions", "env", "tools", "limits"];
    assert_eq!(changed(&Settings::default(), &loaded.settings), every);
    assert_eq!(changed(&loaded.settings, &loaded.settings), [""; 0]);
    assert_eq!(load(r#"{"limits": {"maxTurns": null}}"#).errors, []);
}
