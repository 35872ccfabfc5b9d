//! What went wrong with a model call, as a `Fault`: its kind says what can be done, its sentence
//! names the thing and the remedy. Called by `http` and the decoders. Never retries, never prints a key.

use super::endpoint::Endpoint;
use crate::turn::model_event::{Fault, FaultKind};
use serde_json::Value;

/// What a server says of a failure.
#[derive(Debug, Default)]
pub(super) struct Refusal {
    /// The HTTP status, where there was one.
    pub(super) status: Option<u16>,
    /// The provider's word, such as `overloaded_error` or `context_length_exceeded`.
    pub(super) words: Vec<String>,
    /// The provider's sentence.
    pub(super) text: String,
    /// Milliseconds to wait.
    pub(super) retry_after_ms: Option<u64>,
    /// What the server says itself of trying again.
    pub(super) should_retry: Option<bool>,
    /// Whether the body was the JSON of an API, not the page of some other server.
    pub(super) from_api: bool,
    /// Whether it came with headers, in which a time to wait would stand; an error inside a stream has none.
    pub(super) has_headers: bool,
}

/// What a retry waits where the server wants one and names no time.
const WANTED_RETRY_MS: u64 = 1_000;

impl Refusal {
    /// Reads the body of an answer that is not a success.
    pub(super) fn from_body(status: u16, body: &str, retry_after_ms: Option<u64>) -> Self {
        let mut refusal = match serde_json::from_str::<Value>(body) {
            Ok(value @ Value::Object(_)) => Self::from_json(&value),
            // Google's servers put the object into a list.
            Ok(Value::Array(list)) if list.first().is_some_and(Value::is_object) => {
                Self::from_json(list.first().unwrap_or(&Value::Null))
            }
            Ok(_) | Err(_) => Self { text: body.to_owned(), ..Self::default() },
        };
        refusal.status = Some(status);
        refusal.retry_after_ms = retry_after_ms;
        refusal.has_headers = true;
        refusal
    }

    /// Reads an error object: `{"error": {"message", "type", "code"}}`, `{"error": "…"}`, `{"message": "…"}`.
    pub(super) fn from_json(value: &Value) -> Self {
        let error = value.get("error").filter(|error| !error.is_null()).unwrap_or(value);
        let text = error.as_str().or_else(|| {
            ["message", "detail", "error"].iter().find_map(|field| error.get(*field).and_then(Value::as_str))
        });
        let words = ["type", "code", "status"]
            .iter()
            .filter_map(|field| error.get(*field).and_then(Value::as_str))
            .filter(|word| *word != "error") // the name of the event
            .map(str::to_owned)
            .collect();
        // Some gateways put the status of the server behind them into `code`.
        let code = error.get("code");
        let status = code.and_then(Value::as_u64).or_else(|| code.and_then(Value::as_str)?.parse().ok());
        Self {
            status: status.and_then(|code| u16::try_from(code).ok()).filter(|code| (400..600).contains(code)),
            words,
            text: text.map_or_else(|| error.to_string(), str::to_owned),
            retry_after_ms: None,
            should_retry: None,
            from_api: true,
            has_headers: false,
        }
    }

    fn has_word(&self, words: &[&str]) -> bool {
        self.words.iter().any(|word| words.contains(&word.as_str()))
    }

    fn has_phrase(&self, phrases: &[&str]) -> bool {
        let text = self.text.to_lowercase();
        phrases.iter().any(|phrase| text.contains(phrase))
    }

    /// In the words of each kind of server: OpenAI's, llama.cpp's, Ollama's, vLLM's, Google's, Amazon's, xAI's …
    fn says_prompt_too_long(&self) -> bool {
        const WORDS: [&str; 4] = [
            "context_length_exceeded",
            "exceed_context_size_error",
            "model_context_window_exceeded",
            "string_above_max_length",
        ];
        const PHRASES: [&str; 19] = [
            "prompt is too long",
            "prompt too long",
            "input is too long for",
            "exceed context limit",
            "maximum context length",
            "max context length",
            "maximum prompt length",
            "longer than the maximum model length",
            "exceeds the context window",
            "context window exceeds limit",
            "exceeds the available context size",
            "exceeds context length",
            "exceeds the model's context",
            "exceeded model token limit",
            "context length exceeded",
            "context size has been exceeded",
            "greater than the context length",
            "exceeds the maximum number of tokens allowed",
            "reduce the length of the messages",
        ];
        self.has_word(&WORDS) || self.has_phrase(&PHRASES)
    }

    /// Whether money is what is missing: then no waiting helps, whatever the server says of it.
    fn says_spend_cap(&self) -> bool {
        const WORDS: [&str; 6] = [
            "insufficient_quota",
            "insufficient_credits",
            "billing_error",
            "billing_hard_limit_reached",
            "billing_not_active",
            "exceeded_current_quota_error",
        ];
        const PHRASES: [&str; 15] = [
            "insufficient_quota",
            "exceeded your current quota",
            "check your plan and billing",
            "billing hard limit",
            "credit balance",
            "insufficient credits",
            "insufficient balance",
            "insufficient funds",
            "requires more credits",
            "out of credits",
            "spend limit",
            "spending limit",
            "spend cap",
            "api usage limits",
            "payment required",
        ];
        let may = matches!(self.status, None | Some(400 | 402 | 403 | 429));
        may && (self.status == Some(402) || self.has_word(&WORDS) || self.has_phrase(&PHRASES))
    }

    fn says_unknown_model(&self) -> bool {
        const PHRASES: [&str; 6] =
            ["not found", "does not exist", "not a valid model", "invalid model", "unknown model", "no such model"];
        self.has_word(&["model_not_found"]) || (self.has_phrase(&["model"]) && self.has_phrase(&PHRASES))
    }

    /// The kind of fault that this is.
    fn kind(&self) -> FaultKind {
        if self.status != Some(429) && self.says_prompt_too_long() {
            return FaultKind::PromptTooLong;
        }
        if self.says_spend_cap() {
            return match self.status {
                Some(402 | 403) => FaultKind::Authentication,
                _ => FaultKind::RateLimited { retry_after_ms: None },
            };
        }
        let kind = self.status.map_or_else(|| self.kind_by_word(), |status| self.kind_by_status(status));
        match (self.should_retry, kind) {
            (Some(false), FaultKind::RateLimited { .. }) => FaultKind::RateLimited { retry_after_ms: None },
            (Some(false), FaultKind::Overloaded { .. }) => FaultKind::InvalidRequest,
            (Some(true), FaultKind::RateLimited { retry_after_ms: None }) => {
                FaultKind::RateLimited { retry_after_ms: Some(WANTED_RETRY_MS) }
            }
            (_, kind) => kind,
        }
    }

    /// The kind, by what this endpoint's API means with a limit that names no time: of Anthropic's it is a spend cap
    /// where the headers would have named one; elsewhere waiting may help.
    fn kind_at(&self, endpoint: &Endpoint) -> FaultKind {
        let is_spent = self.says_spend_cap() || self.should_retry == Some(false);
        let says_enough = self.has_headers && endpoint.silence_means_spent;
        match self.kind() {
            FaultKind::RateLimited { retry_after_ms: None } if !is_spent && !says_enough => {
                FaultKind::RateLimited { retry_after_ms: Some(WANTED_RETRY_MS) }
            }
            kind => kind,
        }
    }

    fn kind_by_status(&self, status: u16) -> FaultKind {
        let retry_after_ms = self.retry_after_ms;
        match status {
            401..=403 => FaultKind::Authentication,
            404 => FaultKind::NotFound,
            429 => self.rate_limited(),
            _ if self.is_servers_trouble() => FaultKind::Overloaded { retry_after_ms },
            400..=499 if self.says_unknown_model() => FaultKind::NotFound,
            400 | 413 | 422 => FaultKind::InvalidRequest,
            400..=499 if self.should_retry == Some(true) => FaultKind::Overloaded { retry_after_ms },
            _ => FaultKind::InvalidRequest,
        }
    }

    fn kind_by_word(&self) -> FaultKind {
        let retry_after_ms = self.retry_after_ms;
        for word in &self.words {
            match word.as_str() {
                "authentication_error" | "permission_error" | "invalid_api_key" => return FaultKind::Authentication,
                "not_found_error" | "model_not_found" => return FaultKind::NotFound,
                "rate_limit_error" | "rate_limit_exceeded" | "RESOURCE_EXHAUSTED" => return self.rate_limited(),
                "overloaded_error" | "server_error" | "api_error" => return FaultKind::Overloaded { retry_after_ms },
                "request_too_large" | "image_too_large" => return FaultKind::InvalidRequest,
                word if word.starts_with("invalid_") => return FaultKind::InvalidRequest,
                _ => {}
            }
        }
        // An error in the middle of a stream that names nothing better is the server's own trouble.
        FaultKind::Overloaded { retry_after_ms }
    }

    fn rate_limited(&self) -> FaultKind {
        FaultKind::RateLimited { retry_after_ms: self.retry_after_ms.or_else(|| wait_in(&self.text)) }
    }

    /// The fault, in words for people.
    pub(super) fn into_fault(self, endpoint: &Endpoint) -> Fault {
        let kind = self.kind_at(endpoint);
        let provider = &endpoint.provider;
        let url = endpoint.shown_url();
        let said = self.said(endpoint);
        let other = "choose another model with --model";
        let message = match kind {
            FaultKind::Authentication | FaultKind::RateLimited { .. } if self.says_spend_cap() => format!(
                "{provider} has nothing left to spend for the key from {}{said}: raise its credit or limit, or {other}",
                endpoint.key_source()
            ),
            FaultKind::Authentication if !endpoint.has_key() => {
                format!(
                    "{provider} wants a key and none is configured{said}: set one for {url} in the settings or {other}"
                )
            }
            FaultKind::Authentication => {
                format!("{provider} refused the key from {}{said}: set a valid one or {other}", endpoint.key_source())
            }
            FaultKind::NotFound if self.from_api || self.says_unknown_model() => {
                format!("{} is not a model that {url} knows{said}: see `agentctl models`", endpoint.id)
            }
            FaultKind::NotFound => {
                format!("{url} does not answer as a model server{said}: check the base URL of {provider}")
            }
            FaultKind::PromptTooLong => format!(
                "the conversation does not fit the context window of {}{said}: compact it or start a new session",
                endpoint.id
            ),
            FaultKind::RateLimited { .. } => {
                format!("{provider} limits the rate of requests{said}: wait, or {other}")
            }
            FaultKind::Overloaded { .. } => {
                format!("{provider} is overloaded or failing{said}: try again, or {other}")
            }
            FaultKind::InvalidRequest if self.is_servers_trouble() => {
                format!("{provider} is failing and wants no second attempt{said}: {other}")
            }
            _ => format!("{provider} refused the request{said}: change the request or {other}"),
        };
        Fault { kind, message }
    }

    fn is_servers_trouble(&self) -> bool {
        matches!(self.status, Some(408 | 409 | 500..=599))
    }

    fn said(&self, endpoint: &Endpoint) -> String {
        let text = endpoint.clean(&self.text);
        let word = self.words.first().map(|word| endpoint.clean(word));
        let parts: Vec<String> = [self.status.map(|status| status.to_string()), word, Some(text)]
            .into_iter()
            .flatten()
            .filter(|part| !part.is_empty())
            .collect();
        if parts.is_empty() { String::new() } else { format!(" ({})", parts.join(": ")) }
    }
}

/// What "try again in 1m2.5s" says, in milliseconds: OpenAI's rate limits name their time in the sentence only
/// where they come in the middle of a stream.
fn wait_in(text: &str) -> Option<u64> {
    const BEFORE: &str = "try again in ";
    let lower = text.to_lowercase();
    let (_, mut rest) = lower.split_once(BEFORE)?;
    let mut seconds = 0.0;
    while let Some(end) = rest.find(|c: char| !c.is_ascii_digit() && c != '.').filter(|end| *end > 0) {
        let (number, after) = rest.split_at(end);
        let Ok(number) = number.parse::<f64>() else { break };
        let unit: String = after.trim_start().chars().take_while(char::is_ascii_alphabetic).collect();
        seconds += number
            * match unit.as_str() {
                "ms" | "milliseconds" => 0.001,
                "s" | "sec" | "second" | "seconds" => 1.0,
                "m" | "min" | "minute" | "minutes" => 60.0,
                "h" | "hour" | "hours" => 3_600.0,
                _ => break,
            };
        rest = after.trim_start().strip_prefix(unit.as_str()).unwrap_or_default();
    }
    let wait = std::time::Duration::try_from_secs_f64(seconds).ok().filter(|wait| !wait.is_zero())?;
    u64::try_from(wait.as_millis()).ok()
}

/// The host can't be reached.
pub(super) fn unreachable(endpoint: &Endpoint, why: &str) -> Fault {
    let why = endpoint.clean(why);
    Fault {
        kind: FaultKind::Unreachable,
        message: format!("can't reach {} ({why}): is the server running?", endpoint.shown_url()),
    }
}

/// The request can't even be written: no retry helps.
pub(super) fn unusable(endpoint: &Endpoint, why: &str) -> Fault {
    let (provider, why) = (&endpoint.provider, endpoint.clean(why));
    let message =
        format!("{provider} can't be used ({why}): correct its base URL, key ({}) or headers", endpoint.key_source());
    Fault { kind: FaultKind::InvalidRequest, message }
}

/// The command that prints the key gave none.
pub(super) fn keyless(endpoint: &Endpoint, why: &str) -> Fault {
    let (provider, why) = (&endpoint.provider, endpoint.clean(why));
    let message = format!("the apiKeyHelper of {provider} gave no key ({why}): correct the command in the settings");
    Fault { kind: FaultKind::Authentication, message }
}

/// The server's certificate is not trusted: no retry helps.
pub(super) fn untrusted(endpoint: &Endpoint, why: &str) -> Fault {
    let why = endpoint.clean(why);
    Fault {
        kind: FaultKind::InvalidRequest,
        message: format!(
            "the certificate of {} is not trusted ({why}): install its authority or correct the base URL of {}",
            endpoint.shown_url(),
            endpoint.provider
        ),
    }
}

/// The stream broke off or fell silent.
pub(super) fn truncated(endpoint: &Endpoint, why: &str) -> Fault {
    let why = endpoint.clean(why);
    Fault {
        kind: FaultKind::Truncated,
        message: format!("the answer of {} broke off ({why}): send the prompt again", endpoint.id),
    }
}

/// The stream is not what the wire format says.
pub(super) fn malformed(endpoint: &Endpoint, why: &str) -> Fault {
    let why = endpoint.clean(why);
    Fault {
        kind: FaultKind::Malformed,
        message: format!(
            "{} does not speak the wire format that is configured for {} ({why}): check its `api` and base URL",
            endpoint.shown_url(),
            endpoint.provider
        ),
    }
}

#[cfg(test)]
mod tests;
