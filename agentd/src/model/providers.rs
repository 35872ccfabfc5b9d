//! The providers: the built-in ones and those of the settings, with base URL and key from settings, then
//! the session's environment, then agentd's own. Used by `catalog` and `discover`. Reads key files, and
//! nothing else; sends nothing.

use super::catalog::ModelUnavailable;
use super::endpoint::{Endpoint, Key, Scheme, Secret};
use super::keys::{self, Access};
use crate::base::environment::Environment;
use crate::config::{ApiKind, ModelSettings, ProviderSettings, Settings};
use std::time::Duration;

/// A provider that agentd knows of itself.
pub(super) struct Builtin {
    pub(super) name: &'static str,
    api: ApiKind,
    base_url: &'static str,
    base_url_env: Option<&'static str>,
    /// The variables that may hold the key; none: no key is needed.
    pub(super) key_env: &'static [(&'static str, Scheme)],
}

/// Every built-in provider of models over HTTP.
pub(super) const BUILTIN: [Builtin; 5] = [
    Builtin {
        name: "anthropic",
        api: ApiKind::Anthropic,
        base_url: "https://api.anthropic.com",
        base_url_env: Some("ANTHROPIC_BASE_URL"),
        key_env: &[("ANTHROPIC_API_KEY", Scheme::ApiKey), ("ANTHROPIC_AUTH_TOKEN", Scheme::Bearer)],
    },
    Builtin {
        name: "openai",
        api: ApiKind::OpenaiResponses,
        base_url: "https://api.openai.com/v1",
        base_url_env: Some("OPENAI_BASE_URL"),
        key_env: &[("OPENAI_API_KEY", Scheme::Bearer)],
    },
    Builtin {
        name: "ollama",
        api: ApiKind::OpenaiChat,
        base_url: "http://127.0.0.1:11434/v1",
        base_url_env: None,
        key_env: &[],
    },
    Builtin {
        name: "lmstudio",
        api: ApiKind::OpenaiChat,
        base_url: "http://127.0.0.1:1234/v1",
        base_url_env: None,
        key_env: &[],
    },
    Builtin {
        name: "llamacpp",
        api: ApiKind::OpenaiChat,
        base_url: "http://127.0.0.1:8080/v1",
        base_url_env: None,
        key_env: &[],
    },
];

/// Where a session's variables are looked up: its own environment, then agentd's.
#[derive(Clone, Copy)]
pub(super) struct Variables<'a> {
    pub(super) session: &'a Environment,
    pub(super) own: &'a Environment,
}

impl Variables<'_> {
    pub(super) fn get(&self, name: &str) -> Option<&str> {
        self.session.get(name).or_else(|| self.own.get(name))
    }
}

/// The names of all providers.
pub(super) fn names(settings: &Settings) -> Vec<&str> {
    let builtin = BUILTIN.iter().map(|builtin| builtin.name);
    let own = settings.providers.keys().map(String::as_str).filter(|name| !BUILTIN.iter().any(|b| b.name == *name));
    builtin.chain(own).collect()
}

/// The endpoint of a model, and its wire format.
///
/// # Errors
/// If there is no such provider, or its key is missing.
pub(super) fn endpoint(
    provider: &str,
    model: &str,
    settings: &Settings,
    variables: Variables<'_>,
) -> Result<(ApiKind, Endpoint), ModelUnavailable> {
    let builtin = BUILTIN.iter().find(|builtin| builtin.name == provider);
    let own = settings.providers.get(provider);
    if builtin.is_none() && own.is_none() {
        let known = names(settings).join(", ");
        return Err(ModelUnavailable::new(format!(
            "there is no provider {provider}: use one of {known}, demo or replay, or add it to `providers` in the settings"
        )));
    }
    let none = ProviderSettings::default();
    let own = own.unwrap_or(&none);
    let base_url = base_url(provider, own, builtin, variables)?;
    let (key, helper) = match keys::access(provider, settings, builtin, variables)? {
        Access::Open => (None, None),
        Access::Key(key) => (Some(key), None),
        Access::Helper(helper) => (None, Some(helper)),
    };
    // Of several layers the strongest comes last.
    let known = own.models.iter().rev().find(|known| known.id == model);
    let api = own.api.unwrap_or_else(|| usual_api(builtin, &base_url));
    let scheme = |own: Scheme| if api == ApiKind::Anthropic { own } else { Scheme::Bearer };
    let endpoint = Endpoint {
        provider: provider.to_owned(),
        model: model.to_owned(),
        id: format!("{provider}/{model}"),
        base_url,
        key: key.map(|key| Key { scheme: scheme(key.scheme), ..key }),
        helper: helper.map(|helper| helper.with_scheme(scheme)),
        headers: own.headers.iter().map(|(name, value)| (name.clone(), Secret::new(value))).collect(),
        context_window: known.and_then(|known| known.context_window).unwrap_or_else(|| context_window(model)),
        max_output: known.and_then(|known: &ModelSettings| known.max_output),
        output_limit: output_limit(model),
        price: known.and_then(|known| known.price),
        idle: Duration::from_millis(settings.limits.stream_idle_ms.max(1)),
        silence_means_spent: api == ApiKind::Anthropic,
        answer: Duration::from_millis(settings.limits.answer_ms.max(1)),
    };
    Ok((api, endpoint))
}

/// The wire format where the settings name none. Of the servers that stand in for OpenAI's, all speak Chat
/// Completions and few the newer API.
fn usual_api(builtin: Option<&Builtin>, base_url: &str) -> ApiKind {
    match builtin.map(|builtin| (builtin.api, builtin.base_url)) {
        Some((ApiKind::OpenaiResponses, own_url)) if base_url != own_url => ApiKind::OpenaiChat,
        Some((api, _)) => api,
        None => ApiKind::OpenaiChat,
    }
}

fn base_url(
    provider: &str,
    own: &ProviderSettings,
    builtin: Option<&Builtin>,
    variables: Variables<'_>,
) -> Result<String, ModelUnavailable> {
    let from_env = builtin.and_then(|builtin| builtin.base_url_env).and_then(|name| variables.get(name));
    let url = own.base_url.clone().or_else(|| from_env.map(str::to_owned)).or_else(|| match builtin {
        Some(builtin) if builtin.name == "ollama" => variables.get("OLLAMA_HOST").map(ollama_url),
        Some(_) | None => None,
    });
    let url = url.or_else(|| builtin.map(|builtin| builtin.base_url.to_owned())).ok_or_else(|| {
        ModelUnavailable::new(format!(
            "provider {provider} has no baseUrl: add it to `providers.{provider}` in the settings"
        ))
    })?;
    let url = url.trim().trim_end_matches('/').to_owned();
    if !(url.starts_with("http://") || url.starts_with("https://")) {
        return Err(ModelUnavailable::new(format!(
            "the base URL of {provider} is no http:// or https:// address: correct it in the settings or the environment"
        )));
    }
    Ok(url)
}

/// `OLLAMA_HOST` may lack scheme and port, and may be the address that the server listens on.
fn ollama_url(host: &str) -> String {
    let host = host.trim().trim_end_matches('/');
    let (scheme, rest) = host.split_once("://").unwrap_or(("http", host));
    let rest = rest.strip_suffix("/v1").unwrap_or(rest);
    let rest = if rest.starts_with("0.0.0.0") { rest.replacen("0.0.0.0", "127.0.0.1", 1) } else { rest.to_owned() };
    let rest = if rest.starts_with(':') { format!("127.0.0.1{rest}") } else { rest };
    let after_host = rest.rsplit(']').next().unwrap_or(&rest);
    let rest = if after_host.contains(':') || scheme == "https" || rest.contains('/') {
        rest
    } else {
        format!("{rest}:11434")
    };
    format!("{scheme}://{rest}/v1")
}

/// Context windows that are known by the model's name; 0 otherwise.
pub(super) fn context_window(model: &str) -> u64 {
    const KNOWN: [(&str, u64); 6] = [
        ("claude-", 200_000),
        ("gpt-5", 400_000),
        ("gpt-4.1", 1_047_576),
        ("gpt-4o", 128_000),
        ("o3", 200_000),
        ("o4-mini", 200_000),
    ];
    KNOWN.iter().find(|(start, _)| model.starts_with(start)).map_or(0, |(_, window)| *window)
}

/// The most that a model can write in one answer, in tokens, by how its name begins. From Anthropic's and OpenAI's
/// overviews of models; others get what most of the newest can, and their servers know better.
fn output_limit(model: &str) -> u64 {
    const KNOWN: [(&str, u64); 17] = [
        ("claude-3-haiku", 4_096),
        ("claude-3-opus", 4_096),
        ("claude-3-5", 8_192),
        ("claude-3-7", 64_000),
        ("claude-opus-4-2", 32_000), // with its date: claude-opus-4-20250514
        ("claude-opus-4-0", 32_000),
        ("claude-opus-4-1", 32_000),
        ("claude-opus-4-5", 64_000),
        ("claude-sonnet-4-2", 64_000),
        ("claude-sonnet-4-5", 64_000),
        ("claude-haiku-4-5", 64_000),
        ("gpt-4o", 16_384),
        ("gpt-4.1", 32_768),
        ("gpt-5-chat", 16_384),
        ("o1", 100_000),
        ("o3", 100_000),
        ("o4-mini", 100_000),
    ];
    const NEWEST: u64 = 128_000;
    KNOWN.iter().find(|(start, _)| model.starts_with(start)).map_or(NEWEST, |(_, tokens)| *tokens)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn limits_are_known_by_the_models_name() {
        for (model, limit) in [
            ("claude-3-5-haiku-latest", 8_192),
            ("claude-opus-4-20250514", 32_000),
            ("claude-opus-4-6", 128_000),
            ("gpt-4o-mini", 16_384),
            ("gpt-5-chat-latest", 16_384),
            ("gpt-5", 128_000),
            ("another", 128_000),
        ] {
            assert_eq!(output_limit(model), limit, "{model}");
        }
    }

    #[test]
    fn ollama_hosts_are_completed() {
        for (host, expected) in [
            ("127.0.0.1", "http://127.0.0.1:11434/v1"),
            ("127.0.0.1:9", "http://127.0.0.1:9/v1"),
            ("0.0.0.0:9", "http://127.0.0.1:9/v1"),
            (":9", "http://127.0.0.1:9/v1"),
            ("http://box:9/", "http://box:9/v1"),
            ("http://box:9/v1", "http://box:9/v1"),
            ("https://box", "https://box/v1"),
            ("[::1]", "http://[::1]:11434/v1"),
            ("[::1]:9", "http://[::1]:9/v1"),
        ] {
            assert_eq!(ollama_url(host), expected, "{host}");
        }
    }
}
