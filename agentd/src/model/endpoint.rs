//! Where a model is, and how to be let in. Made by `catalog`, used by the wire formats and by the
//! messages of `fault`. It is the only place that holds a key, and nothing prints it.

use super::helper::Helper;
use crate::base::text;
use crate::config::Price;
use reqwest::Url;
use std::fmt;
use std::time::Duration;

/// A text that nobody prints.
#[derive(Clone, PartialEq, Eq)]
pub(super) struct Secret(String);

impl Secret {
    pub(super) fn new(value: impl Into<String>) -> Self {
        Self(value.into())
    }

    pub(super) fn expose(&self) -> &str {
        &self.0
    }
}

impl fmt::Debug for Secret {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("Secret(…)")
    }
}

/// How a key is sent.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Scheme {
    /// `x-api-key: KEY`.
    ApiKey,
    /// `authorization: Bearer KEY`.
    Bearer,
}

impl Scheme {
    /// The header that carries a key.
    pub(super) fn header(self, key: &Secret) -> (String, String) {
        match self {
            Self::ApiKey => ("x-api-key".to_owned(), key.expose().to_owned()),
            Self::Bearer => ("authorization".to_owned(), format!("Bearer {}", key.expose())),
        }
    }
}

/// A key and where it was found.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Key {
    pub(super) value: Secret,
    /// The variable or the file, for messages.
    pub(super) source: String,
    pub(super) scheme: Scheme,
}

/// A model of a provider.
#[derive(Debug, Clone)]
pub(super) struct Endpoint {
    /// The provider's name.
    pub(super) provider: String,
    /// The model, as the provider names it.
    pub(super) model: String,
    /// `provider/model`.
    pub(super) id: String,
    /// Without a slash at its end.
    pub(super) base_url: String,
    pub(super) key: Option<Key>,
    /// Prints the key, in place of one that is known.
    pub(super) helper: Option<Helper>,
    /// Further headers; their values count as secrets.
    pub(super) headers: Vec<(String, Secret)>,
    /// In tokens; 0 where it is not known.
    pub(super) context_window: u64,
    /// How much the model is asked to write at most in one answer, in tokens, where the settings say so.
    pub(super) max_output: Option<u64>,
    /// The most that the model can write in one answer, in tokens.
    pub(super) output_limit: u64,
    /// What it costs, where the settings say so.
    pub(super) price: Option<Price>,
    /// How long its stream may be silent.
    pub(super) idle: Duration,
    /// Whether a rate limit that names no time to wait is a spend cap, as with Anthropic's API.
    pub(super) silence_means_spent: bool,
    /// How long one answer may take in all.
    pub(super) answer: Duration,
}

/// What a model is asked to write at most, in tokens, where the settings don't say: far more than most answers
/// need, and servers set aside what is asked for.
const OUTPUT_TOKENS: u64 = 32_000;
/// Shorter values are no secrets, and blotting them out would spoil every message.
const SHORTEST_SECRET: usize = 4;
/// How much of a server's text goes into a message.
const SERVER_TEXT_CHARS: usize = 500;

impl Endpoint {
    /// The base URL as messages show it: without the user and password that it may hold.
    pub(super) fn shown_url(&self) -> String {
        self.clean(&without_credentials(&self.base_url))
    }

    /// A server's text for a message: one line, short, and without any secret of this endpoint.
    pub(super) fn clean(&self, server_text: &str) -> String {
        let printed = self.helper.as_ref().map(Helper::sent).unwrap_or_default();
        let keys = self.key.iter().map(|key| &key.value).chain(&printed);
        let headers = self.headers.iter().map(|(_, value)| value);
        let mut clean = server_text.to_owned();
        for secret in keys.chain(headers).map(Secret::expose).filter(|secret| secret.len() >= SHORTEST_SECRET) {
            clean = clean.replace(secret, "[key]");
            // A header value such as `Bearer KEY` may come back without its first word.
            if let Some((_, bare)) = secret.split_once(' ').filter(|(_, bare)| bare.len() >= SHORTEST_SECRET) {
                clean = clean.replace(bare, "[key]");
            }
        }
        text::one_line(&clean, SERVER_TEXT_CHARS)
    }

    /// The headers of a request: its type, the key, and what the settings add.
    pub(super) fn request_headers(&self) -> Vec<(String, String)> {
        let mut headers = vec![("content-type".to_owned(), "application/json".to_owned())];
        headers.extend(self.key.as_ref().map(|key| key.scheme.header(&key.value)));
        headers.extend(self.headers.iter().map(|(name, value)| (name.to_lowercase(), value.expose().to_owned())));
        headers
    }

    /// How much the model is asked to write at most, in tokens. Each time that an answer was cut for its length,
    /// twice as much, up to what the model can; what the settings say stays.
    pub(super) fn output_tokens(&self, escalation: u32) -> u64 {
        let doubled = OUTPUT_TOKENS.saturating_mul(1 << escalation.min(16));
        self.max_output.unwrap_or(doubled.min(self.output_limit))
    }

    /// The same for servers that need not be told: they know best how much their models can, so they are told only
    /// what a person has set, and what is more than the answer that was cut.
    pub(super) fn told_output_tokens(&self, escalation: u32) -> Option<u64> {
        (self.max_output.is_some() || escalation > 0).then(|| self.output_tokens(escalation))
    }

    /// Where the key came from, for messages.
    pub(super) fn key_source(&self) -> &str {
        let printed = if self.helper.is_some() { "apiKeyHelper" } else { "no key" };
        self.key.as_ref().map_or(printed, |key| key.source.as_str())
    }

    /// Whether there is a key.
    pub(super) fn has_key(&self) -> bool {
        self.key.is_some() || self.helper.is_some()
    }
}

fn without_credentials(url: &str) -> String {
    match Url::parse(url) {
        Ok(mut parsed) if !parsed.username().is_empty() || parsed.password().is_some() => {
            // Neither can fail for a URL that has a user.
            let _ = parsed.set_username("");
            let _ = parsed.set_password(None);
            parsed.to_string().trim_end_matches('/').to_owned()
        }
        Ok(_) | Err(_) => url.to_owned(),
    }
}

/// Whether the host of a URL is this machine.
pub(super) fn is_loopback(url: &Url) -> bool {
    match url.host_str() {
        Some("localhost") => true,
        Some(host) => host
            .trim_start_matches('[')
            .trim_end_matches(']')
            .parse::<std::net::IpAddr>()
            .is_ok_and(|address| address.is_loopback()),
        None => false,
    }
}

#[cfg(test)]
pub(super) fn for_tests(provider: &str, model: &str, base_url: &str, key: &str) -> Endpoint {
    Endpoint {
        provider: provider.to_owned(),
        model: model.to_owned(),
        id: format!("{provider}/{model}"),
        base_url: base_url.to_owned(),
        key: Some(Key { value: Secret::new(key), source: "TEST_API_KEY".to_owned(), scheme: Scheme::Bearer }),
        helper: None,
        headers: Vec::new(),
        context_window: 1000,
        max_output: None,
        output_limit: 128_000,
        price: None,
        idle: Duration::from_secs(30),
        silence_means_spent: false,
        answer: Duration::from_secs(60),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn secrets_are_blotted_out_of_server_text_and_debug_output() {
        let mut endpoint = for_tests("mine", "m", "http://user:canary-pass@127.0.0.1:1/v1", "canary-key");
        endpoint.headers.push(("authorization".to_owned(), Secret::new("Bearer canary-header")));
        let clean = endpoint.clean("bad canary-key and\ncanary-header");
        assert_eq!(clean, "bad [key] and [key]");
        assert_eq!(endpoint.shown_url(), "http://127.0.0.1:1/v1");
        assert!(!format!("{:?} {:?}", endpoint.key, endpoint.headers).contains("canary"));
    }

    #[test]
    fn server_text_is_cut() {
        let endpoint = for_tests("mine", "m", "http://127.0.0.1:1", "k");
        assert_eq!(endpoint.clean(&"x".repeat(10_000)).chars().count(), SERVER_TEXT_CHARS);
    }

    #[test]
    fn loopback_hosts_are_known() {
        for (url, expected) in [
            ("http://127.0.0.1:8080/v1", true),
            ("http://[::1]:8080", true),
            ("http://localhost/v1", true),
            ("https://api.example.com", false),
            ("http://10.0.0.1", false),
        ] {
            assert_eq!(is_loopback(&Url::parse(url).expect("a URL")), expected, "{url}");
        }
    }
}
