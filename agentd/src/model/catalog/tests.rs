//! The catalog by tables, and the endpoints that it makes against real servers.

use super::*;
use crate::config::{ModelSettings, ProviderSettings};
use crate::model::ModelRequest;
use crate::model::test_server::{Reply, Server};
use crate::turn::model_event::{FaultKind, ModelEvent};
use futures::stream::StreamExt;
use std::collections::BTreeMap;
use std::os::unix::fs::PermissionsExt;

fn env(variables: &[(&str, &str)]) -> Environment {
    let variables: BTreeMap<String, String> =
        variables.iter().map(|(name, value)| ((*name).to_owned(), (*value).to_owned())).collect();
    Environment::from(variables)
}

fn provider(name: &str, provider: ProviderSettings) -> Settings {
    Settings { providers: [(name.to_owned(), provider)].into(), ..Settings::default() }
}

fn refused(models: &Models, name: &str, settings: &Settings) -> String {
    models.resolve(name, settings, &Environment::default()).err().map(|error| error.message).expect("refused")
}

#[test]
fn what_cannot_be_used_says_why_and_what_to_do() {
    let models = Models::new(env(&[]));
    let none = Settings::default();
    let file = |path: &str| ProviderSettings {
        base_url: Some("http://127.0.0.1:1".to_owned()),
        api_key_file: Some(path.into()),
        ..ProviderSettings::default()
    };
    let at = |url: &str| ProviderSettings { base_url: Some(url.to_owned()), ..ProviderSettings::default() };
    let key_env = ProviderSettings { api_key_env: Some("MY_KEY".to_owned()), ..at("http://127.0.0.1:1") };
    let dir = tempfile::tempdir().expect("a folder");
    let open = dir.path().join("open");
    std::fs::write(&open, "canary").expect("a file");
    std::fs::set_permissions(&open, std::fs::Permissions::from_mode(0o640)).expect("its mode");
    let credential = |name: &str| ProviderSettings {
        api_key_credential: Some(name.to_owned()),
        ..ProviderSettings { base_url: Some("http://127.0.0.1:1".to_owned()), ..ProviderSettings::default() }
    };
    let table: Vec<(&str, Settings, &[&str])> = vec![
        ("anthropic/claude-sonnet-5", none.clone(), &["anthropic", "ANTHROPIC_API_KEY is not set"]),
        ("openai/gpt-5", none.clone(), &["OPENAI_API_KEY is not set", "--model"]),
        ("nosuch/x", none.clone(), &["no provider nosuch", "anthropic, openai, ollama, lmstudio, llamacpp"]),
        ("justaname", none.clone(), &["justaname", "provider/model"]),
        ("", none.clone(), &["provider/model"]),
        ("anthropic/", none.clone(), &["provider/model"]),
        ("demo/other", none, &["demo/guide"]),
        ("mine/x", provider("mine", key_env), &["mine", "MY_KEY is not set"]),
        ("mine/x", provider("mine", file("/nonexistent/key")), &["/nonexistent/key", "correct the file"]),
        ("mine/x", provider("mine", ProviderSettings::default()), &["baseUrl", "providers.mine"]),
        ("mine/x", provider("mine", at("localhost:80")), &["http://"]),
        ("mine/x", provider("mine", file(&open.display().to_string())), &["open to others", "chmod 600"]),
        ("mine/x", provider("mine", credential("k")), &["credential", "LoadCredential="]),
        ("mine/x", provider("mine", credential("../k")), &["without a slash"]),
    ];
    for (name, settings, expected) in table {
        let message = refused(&models, name, &settings);
        for part in expected {
            assert!(message.contains(part), "{name}: {message}");
        }
    }
}

#[tokio::test]
async fn the_default_follows_the_settings_then_the_variables() {
    let server = Server::start(vec![Reply::json(200, r#"{"data":[{"id":"embedder-embed"},{"id":"tiny"}]}"#)]).await;
    let ollama = ("OLLAMA_HOST", server.url.as_str());
    let model = |name: &str| Settings { model: Some(name.to_owned()), ..Settings::default() };
    let none = Settings::default;
    type Variables<'a> = Vec<(&'a str, &'a str)>;
    let table: Vec<(Settings, Variables<'_>, Variables<'_>, &str)> = vec![
        (model("mine/m"), vec![("AGENTD_MODEL", "a/b")], vec![], "mine/m"),
        (none(), vec![("AGENTD_MODEL", "a/b")], vec![("AGENTD_MODEL", "c/d")], "a/b"),
        (none(), vec![], vec![("AGENTD_MODEL", "c/d"), ("OPENAI_API_KEY", "k")], "c/d"),
        (none(), vec![("ANTHROPIC_API_KEY", "k")], vec![], "anthropic/claude-sonnet-5"),
        (none(), vec![("ANTHROPIC_API_KEY", "k"), ("ANTHROPIC_MODEL", "claude-x")], vec![], "anthropic/claude-x"),
        (none(), vec![("ANTHROPIC_AUTH_TOKEN", "k"), ("ANTHROPIC_MODEL", "opus")], vec![], "anthropic/claude-opus-5"),
        (none(), vec![("OPENAI_API_KEY", "k")], vec![("ANTHROPIC_API_KEY", "k")], "openai/gpt-5"),
        (none(), vec![], vec![("OPENAI_API_KEY", "k"), ("OPENAI_MODEL", "gpt-x")], "openai/gpt-x"),
        (model("sonnet"), vec![("ANTHROPIC_API_KEY", "k")], vec![], "anthropic/claude-sonnet-5"),
        (model("opus[1m]"), vec![("OPENAI_API_KEY", "k")], vec![], "openai/gpt-5"),
        (none(), vec![ollama], vec![], "ollama/tiny"),
    ];
    for (settings, session, own, expected) in table {
        let models = Models::new(env(&own));
        assert_eq!(models.default_name(&settings, &env(&session)).await, expected, "{session:?} {own:?}");
    }
}

#[tokio::test]
async fn with_nothing_configured_the_demonstration_is_left() {
    // Local servers are looked for where nothing listens.
    let at = || ProviderSettings { base_url: Some("http://127.0.0.1:1/v1".to_owned()), ..ProviderSettings::default() };
    let settings =
        Settings { providers: LOCAL.iter().map(|name| ((*name).to_owned(), at())).collect(), ..Settings::default() };
    let models = Models::new(env(&[]));
    assert_eq!(models.default_name(&settings, &env(&[])).await, "demo/guide");
    let list = models.list(&settings, &env(&[])).await;
    let shown: Vec<(&str, bool)> = list.iter().map(|model| (model.id.as_str(), model.default)).collect();
    assert_eq!(shown, [("demo/guide", true)]);
}

#[tokio::test]
async fn the_list_holds_what_could_be_used() {
    let server = Server::start(vec![Reply::json(200, r#"{"data":[{"id":"found","max_model_len":77}]}"#)]).await;
    let named = ProviderSettings {
        base_url: Some("http://127.0.0.1:1/v1".to_owned()),
        models: vec![ModelSettings { id: "named".to_owned(), context_window: Some(5), max_output: None, price: None }],
        ..ProviderSettings::default()
    };
    let asked = ProviderSettings { base_url: Some(format!("{}/v1", server.url)), ..ProviderSettings::default() };
    let dead =
        || ProviderSettings { base_url: Some("http://127.0.0.1:1/v1".to_owned()), ..ProviderSettings::default() };
    let mut providers: BTreeMap<String, ProviderSettings> =
        LOCAL.iter().map(|name| ((*name).to_owned(), dead())).collect();
    providers.insert("asked".to_owned(), asked);
    providers.insert("named".to_owned(), named);
    let settings = Settings { model: Some("asked/other".to_owned()), providers, ..Settings::default() };
    let session = env(&[("ANTHROPIC_API_KEY", "k"), ("ANTHROPIC_BASE_URL", "http://127.0.0.1:1")]);
    let models = Models::new(env(&[]));
    let list = models.list(&settings, &session).await;
    let shown: Vec<(&str, u64, bool)> =
        list.iter().map(|model| (model.id.as_str(), model.context_window, model.default)).collect();
    assert_eq!(
        shown,
        [
            ("anthropic/claude-sonnet-5", 200_000, false),
            ("asked/found", 77, false),
            ("named/named", 5, false),
            ("demo/guide", 0, false),
            ("asked/other", 0, true),
        ]
    );
    let found = models.resolve("asked/found", &settings, &session).expect("a model");
    assert_eq!(found.context_window(), 77, "what the server said is remembered");
}

async fn ask(model: Arc<dyn Model>) -> Vec<ModelEvent> {
    let request = ModelRequest { escalation: 0, system: "".into(), tools: Arc::new([]), messages: Arc::default() };
    model.stream(request).collect().await
}

#[tokio::test]
async fn the_sessions_key_and_address_go_before_agentds_own() {
    let (session_server, own_server) =
        (Server::start(vec![Reply::stream("")]).await, Server::start(vec![Reply::stream("")]).await);
    let own = env(&[("ANTHROPIC_API_KEY", "own-key"), ("ANTHROPIC_BASE_URL", &own_server.url)]);
    let session = env(&[("ANTHROPIC_API_KEY", "session-key"), ("ANTHROPIC_BASE_URL", &session_server.url)]);
    let models = Models::new(own);
    let settings = Settings::default();
    ask(models.resolve("anthropic/m", &settings, &session).expect("a model")).await;
    ask(models.resolve("anthropic/m", &settings, &env(&[])).expect("a model")).await;
    // A token of the session goes before a key of agentd's own.
    let token = env(&[("ANTHROPIC_AUTH_TOKEN", "session-token"), ("ANTHROPIC_BASE_URL", &session_server.url)]);
    ask(models.resolve("anthropic/m", &settings, &token).expect("a model")).await;
    let heads: Vec<String> = session_server.requests().into_iter().map(|seen| seen.head).collect();
    assert!(heads[0].contains("x-api-key: session-key"), "{heads:?}");
    assert!(heads[1].contains("authorization: bearer session-token") && !heads[1].contains("own-key"), "{heads:?}");
    let heads: Vec<String> = own_server.requests().into_iter().map(|seen| seen.head).collect();
    assert!(heads.len() == 1 && heads[0].contains("x-api-key: own-key"), "{heads:?}");
}

#[tokio::test]
async fn a_provider_of_the_settings_brings_key_headers_and_limits() {
    let server = Server::start(vec![Reply::stream("")]).await;
    let dir = tempfile::tempdir().expect("a folder");
    let key = dir.path().join("key");
    std::fs::write(&key, "file-key\n").expect("a file");
    std::fs::set_permissions(&key, std::fs::Permissions::from_mode(0o600)).expect("its mode");
    let mine = ProviderSettings {
        base_url: Some(format!("{}/v1/", server.url)),
        api_key_file: Some(key),
        headers: [("X-Team".to_owned(), "blue".to_owned())].into(),
        models: vec![ModelSettings {
            id: "a/b:c".to_owned(),
            context_window: Some(99),
            max_output: Some(7),
            price: None,
        }],
        ..ProviderSettings::default()
    };
    let models = Models::new(env(&[]));
    let model = models.resolve("mine/a/b:c", &provider("mine", mine), &env(&[])).expect("a model");
    assert_eq!((model.id(), model.context_window()), ("mine/a/b:c", 99));
    ask(model).await;
    let seen = &server.requests()[0];
    assert!(seen.head.starts_with("post /v1/chat/completions"), "{}", seen.head);
    assert!(
        seen.head.contains("authorization: bearer file-key") && seen.head.contains("x-team: blue"),
        "{}",
        seen.head
    );
    assert_eq!((&seen.json()["model"], &seen.json()["max_tokens"]), (&"a/b:c".into(), &7.into()));
}

/// A run of commands that answers `canary0`, `canary1` and so on, and nothing from `last` on.
fn printing(last: usize) -> RunHelper {
    let runs = Arc::new(std::sync::atomic::AtomicUsize::new(0));
    Arc::new(move |command| {
        let run = runs.fetch_add(1, std::sync::atomic::Ordering::Relaxed);
        assert_eq!(command, "print my key");
        Box::pin(
            async move { if run < last { Ok(format!("canary{run}\n")) } else { Err("it ended with code 1".into()) } },
        )
    })
}

#[tokio::test]
async fn a_command_s_key_is_kept_and_asked_for_anew_once_it_is_refused() {
    let refusal = || Reply::json(401, r#"{"error":{"message":"what is canary1?"}}"#);
    let ok = || Reply::stream("");
    let server = Server::start(vec![ok(), ok(), refusal(), ok(), refusal(), refusal(), ok()]).await;
    let mine = ProviderSettings {
        base_url: Some(format!("{}/v1", server.url)),
        api_key_helper: Some("print my key".to_owned()),
        ..ProviderSettings::default()
    };
    let settings = provider("mine", mine);
    let models = Models::with_helper(env(&[]), Some(printing(3)));
    let mut told = Vec::new();
    for _ in 0..5 {
        let events = ask(models.resolve("mine/m", &settings, &env(&[])).expect("a model")).await;
        told.extend(events.into_iter().filter_map(|event| match event {
            ModelEvent::Fault(fault) if fault.kind == FaultKind::Authentication => Some(fault.message),
            _ => None,
        }));
    }
    let key = |seen: crate::model::test_server::Seen| {
        let (_, after) = seen.head.split_once("authorization: bearer ").expect("a key");
        after.lines().next().unwrap_or_default().to_owned()
    };
    let keys: Vec<String> = server.requests().into_iter().map(key).collect();
    assert_eq!(keys, ["canary0", "canary0", "canary0", "canary1", "canary1", "canary2", "canary2"]);
    assert_eq!(told.len(), 1, "{told:?}");
    assert!(told[0].contains("the key from apiKeyHelper") && !told[0].contains("canary"), "{told:?}");
    // Claude Code's own key for the settings, where no variable holds a key.
    let server = Server::start(vec![Reply::stream("")]).await;
    let claude = Settings { api_key_helper: Some("print my key".to_owned()), ..Settings::default() };
    let at = env(&[("ANTHROPIC_BASE_URL", &server.url)]);
    let models = Models::with_helper(env(&[]), Some(printing(1)));
    assert!(models.default_name(&claude, &at).await.starts_with("anthropic/"));
    ask(models.resolve("anthropic/m", &claude, &at).expect("a model")).await;
    assert!(server.requests()[0].head.contains("x-api-key: canary0"));
    let models = Models::with_helper(env(&[]), Some(printing(0)));
    match ask(models.resolve("anthropic/m", &claude, &at).expect("a model")).await.as_slice() {
        [ModelEvent::Fault(fault)] => {
            assert!(fault.message.contains("gave no key (it ended with code 1)"), "{fault:?}")
        }
        other => panic!("{other:?}"),
    }
}

#[test]
fn a_credential_of_systemd_is_a_key() {
    let dir = tempfile::tempdir().expect("a folder");
    std::fs::write(dir.path().join("mine"), "k\n").expect("a file");
    let mine = ProviderSettings {
        base_url: Some("http://127.0.0.1:1".to_owned()),
        api_key_credential: Some("mine".to_owned()),
        ..ProviderSettings::default()
    };
    let own = env(&[("CREDENTIALS_DIRECTORY", &dir.path().display().to_string())]);
    let variables = Variables { session: &env(&[]), own: &own };
    let (_, endpoint) = providers::endpoint("mine", "m", &provider("mine", mine), variables).expect("an endpoint");
    let key = endpoint.key.expect("a key");
    assert_eq!((key.value.expose(), key.source.as_str()), ("k", "the credential mine"));
}

#[tokio::test]
async fn openai_has_its_own_api_and_what_stands_in_for_it_the_older_one() {
    let server = Server::start(vec![Reply::stream("")]).await;
    let at = format!("{}/v1", server.url);
    let mine = |api| ProviderSettings { base_url: Some(at.clone()), api, ..ProviderSettings::default() };
    let named = mine(Some(ApiKind::OpenaiResponses));
    let pointed = [("OPENAI_API_KEY", "k"), ("OPENAI_BASE_URL", at.as_str())];
    let table = [
        (provider("openai", mine(None)), env(&[("OPENAI_API_KEY", "k")]), "post /v1/chat/completions"),
        (Settings::default(), env(&pointed), "post /v1/chat/completions"),
        (provider("openai", named.clone()), env(&pointed), "post /v1/responses"),
        (provider("openai", named), env(&[]), "post /v1/responses"),
    ];
    for (settings, session, expected) in table {
        ask(Models::new(env(&[])).resolve("openai/gpt-5", &settings, &session).expect("a model")).await;
        let seen = server.requests().pop().expect("a request");
        assert!(seen.head.starts_with(expected), "{}", seen.head);
    }
    let (session, own) = (env(&[("OPENAI_API_KEY", "k")]), env(&[]));
    let variables = Variables { session: &session, own: &own };
    let (api, _) = providers::endpoint("openai", "gpt-5", &Settings::default(), variables).expect("an endpoint");
    assert_eq!(api, ApiKind::OpenaiResponses, "at its own address");
}

#[tokio::test]
async fn the_price_in_the_settings_becomes_a_cost() {
    let answer = r#"{"choices":[{"message":{"content":"hi"},"finish_reason":"stop"}],
        "usage":{"prompt_tokens":10,"completion_tokens":2,"prompt_tokens_details":{"cached_tokens":4}}}"#;
    let server = Server::start(vec![Reply::json(200, answer)]).await;
    let settings = serde_json::json!({"baseUrl": format!("{}/v1", server.url), "models": [
        {"id": "m", "price": {"input": 3, "output": 15, "cacheRead": 0.5}}, {"id": "free"},
    ]});
    let settings = provider("mine", serde_json::from_value(settings).expect("settings"));
    let models = Models::new(env(&[]));
    let mut costs = Vec::new();
    for name in ["mine/m", "mine/free"] {
        let events = ask(models.resolve(name, &settings, &env(&[])).expect("a model")).await;
        costs.push(events.into_iter().find_map(|event| match event {
            ModelEvent::Cost(cost) => Some((cost.usd * 1e6).round()),
            _ => None,
        }));
    }
    assert_eq!(costs, [Some(6.0 * 3.0 + 2.0 * 15.0 + 4.0 * 0.5), None]);
}

#[tokio::test]
async fn a_key_that_http_cannot_carry_is_told_without_showing_it() {
    let models = Models::new(env(&[("ANTHROPIC_API_KEY", "canary\nkey"), ("ANTHROPIC_BASE_URL", "http://[bad")]));
    let bad_url = models.resolve("anthropic/m", &Settings::default(), &env(&[])).expect("a model");
    let at_a_good_url = env(&[("ANTHROPIC_BASE_URL", "http://127.0.0.1:1")]);
    let bad_key = models.resolve("anthropic/m", &Settings::default(), &at_a_good_url).expect("a model");
    for (model, expected) in [(bad_url, "not a URL"), (bad_key, "x-api-key")] {
        match ask(model).await.as_slice() {
            [ModelEvent::Fault(fault)] => {
                assert_eq!(fault.kind, FaultKind::InvalidRequest);
                let told = fault.message.contains(expected) && fault.message.contains("ANTHROPIC_API_KEY");
                assert!(told && !fault.message.contains("canary"), "{}", fault.message);
            }
            other => panic!("{other:?}"),
        }
    }
}

#[test]
fn replay_takes_a_path_and_the_demonstration_needs_nothing() {
    let models = Models::new(env(&[]));
    for name in ["replay//tmp/x.jsonl", "replay/x.jsonl", "demo/guide"] {
        let model = models.resolve(name, &Settings::default(), &env(&[])).expect("a model");
        assert_eq!(model.id(), name);
    }
}
