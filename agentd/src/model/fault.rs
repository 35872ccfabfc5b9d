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
    /// Whether the body was the JSON of an API, not the page of some other server.
    pub(super) from_api: bool,
}

impl Refusal {
    /// Reads the body of an answer that is not a success.
    pub(super) fn from_body(status: u16, body: &str, retry_after_ms: Option<u64>) -> Self {
        let mut refusal = match serde_json::from_str::<Value>(body) {
            Ok(value @ Value::Object(_)) => Self::from_json(&value),
            Ok(_) | Err(_) => Self { text: body.to_owned(), ..Self::default() },
        };
        refusal.status = Some(status);
        refusal.retry_after_ms = retry_after_ms;
        refusal
    }

    /// Reads an error object: `{"error": {"message", "type", "code"}}`, `{"error": "…"}`, `{"message": "…"}`.
    pub(super) fn from_json(value: &Value) -> Self {
        let error = value.get("error").unwrap_or(value);
        let text = error.as_str().or_else(|| {
            ["message", "detail", "error"].iter().find_map(|field| error.get(*field).and_then(Value::as_str))
        });
        let words = ["type", "code"]
            .iter()
            .filter_map(|field| error.get(*field).and_then(Value::as_str))
            .map(str::to_owned)
            .collect();
        // Some gateways put the status of the server behind them into `code`.
        let status = error.get("code").and_then(Value::as_u64).and_then(|code| u16::try_from(code).ok());
        Self {
            status: status.filter(|code| (400..600).contains(code)),
            words,
            text: text.map_or_else(|| error.to_string(), str::to_owned),
            retry_after_ms: None,
            from_api: true,
        }
    }

    fn has_word(&self, words: &[&str]) -> bool {
        self.words.iter().any(|word| words.contains(&word.as_str()))
    }

    fn says_prompt_too_long(&self) -> bool {
        const WORDS: [&str; 4] = [
            "context_length_exceeded",
            "exceed_context_size_error",
            "model_context_window_exceeded",
            "string_above_max_length",
        ];
        const PHRASES: [&str; 10] = [
            "prompt is too long",
            "exceed context limit",
            "maximum context length",
            "exceeds the context window",
            "exceeds the available context size",
            "exceeds context length",
            "exceeds the model's context",
            "context length exceeded",
            "context size has been exceeded",
            "exceeds the maximum number of tokens allowed",
        ];
        let text = self.text.to_lowercase();
        self.has_word(&WORDS) || PHRASES.iter().any(|phrase| text.contains(phrase))
    }

    fn says_unknown_model(&self) -> bool {
        let text = self.text.to_lowercase();
        self.has_word(&["model_not_found"])
            || (text.contains("model")
                && [
                    "not found",
                    "does not exist",
                    "not a valid model",
                    "invalid model",
                    "unknown model",
                    "no such model",
                ]
                .iter()
                .any(|phrase| text.contains(phrase)))
    }

    /// The kind of fault that this is.
    fn kind(&self) -> FaultKind {
        let retry_after_ms = self.retry_after_ms;
        if self.status != Some(429) && self.says_prompt_too_long() {
            return FaultKind::PromptTooLong;
        }
        match self.status {
            Some(401..=403) => FaultKind::Authentication,
            Some(404) => FaultKind::NotFound,
            Some(429) => FaultKind::RateLimited { retry_after_ms },
            Some(408 | 409 | 500..=599) => FaultKind::Overloaded { retry_after_ms },
            Some(400..=499) if self.says_unknown_model() => FaultKind::NotFound,
            Some(_) => FaultKind::InvalidRequest,
            None => self.kind_by_word(),
        }
    }

    fn kind_by_word(&self) -> FaultKind {
        let retry_after_ms = self.retry_after_ms;
        for word in &self.words {
            match word.as_str() {
                "authentication_error" | "permission_error" | "billing_error" | "invalid_api_key" => {
                    return FaultKind::Authentication;
                }
                "not_found_error" | "model_not_found" => return FaultKind::NotFound,
                "rate_limit_error" | "rate_limit_exceeded" | "insufficient_quota" => {
                    return FaultKind::RateLimited { retry_after_ms };
                }
                "invalid_request_error" | "request_too_large" => return FaultKind::InvalidRequest,
                _ => {}
            }
        }
        // An error in the middle of a stream that names nothing better is the server's own trouble.
        FaultKind::Overloaded { retry_after_ms }
    }

    /// The fault, in words for people.
    pub(super) fn into_fault(self, endpoint: &Endpoint) -> Fault {
        let kind = self.kind();
        let provider = &endpoint.provider;
        let url = endpoint.shown_url();
        let said = self.said(endpoint);
        let message = match kind {
            FaultKind::Authentication if endpoint.key.is_none() => {
                format!(
                    "{provider} wants a key and none is configured{said}: set one for {url} in the settings or choose another model with --model"
                )
            }
            FaultKind::Authentication => format!(
                "{provider} refused the key from {}{said}: set a valid one or choose another model with --model",
                endpoint.key_source()
            ),
            FaultKind::NotFound if self.from_api || self.says_unknown_model() => {
                format!("{} is not a model that {url} knows{said}: see `agentctl models`", endpoint.id)
            }
            FaultKind::NotFound => {
                format!("{url} does not answer as a model server{said}: check the base URL of {provider}")
            }
            FaultKind::PromptTooLong => {
                format!(
                    "the conversation does not fit the context window of {}{said}: compact it or start a new session",
                    endpoint.id
                )
            }
            FaultKind::RateLimited { .. } => {
                format!(
                    "{provider} limits the rate of requests or the spending{said}: wait, or choose another model with --model"
                )
            }
            FaultKind::Overloaded { .. } => {
                format!("{provider} is overloaded or failing{said}: try again, or choose another model with --model")
            }
            _ => {
                format!("{provider} refused the request{said}: change the request or choose another model with --model")
            }
        };
        Fault { kind, message }
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
mod tests {
    use super::super::endpoint::for_tests;
    use super::*;

    fn fault(status: u16, body: &str) -> Fault {
        let endpoint = for_tests("mine", "m1", "http://127.0.0.1:9", "canary-key");
        Refusal::from_body(status, body, Some(1500)).into_fault(&endpoint)
    }

    #[test]
    fn statuses_give_kinds() {
        let retry_after_ms = Some(1500);
        let overloaded = FaultKind::Overloaded { retry_after_ms };
        let table: &[(u16, &str, FaultKind)] = &[
            (401, r#"{"type":"error","error":{"type":"authentication_error"}}"#, FaultKind::Authentication),
            (402, r#"{"error":{"type":"billing_error","message":"pay"}}"#, FaultKind::Authentication),
            (403, "", FaultKind::Authentication),
            (404, r#"{"error":{"type":"not_found_error","message":"model: nosuch"}}"#, FaultKind::NotFound),
            (404, "<html>nginx</html>", FaultKind::NotFound),
            (400, r#"{"error":{"message":"messages: roles must alternate"}}"#, FaultKind::InvalidRequest),
            (413, r#"{"error":{"message":"Request exceeds the maximum size"}}"#, FaultKind::InvalidRequest),
            (422, r#"{"detail":"bad"}"#, FaultKind::InvalidRequest),
            (302, "", FaultKind::InvalidRequest),
            (429, r#"{"error":{"message":"slow down"}}"#, FaultKind::RateLimited { retry_after_ms }),
            (408, "", overloaded),
            (409, "", overloaded),
            (500, r#"{"error":"boom"}"#, overloaded),
            (502, "<html>", overloaded),
            (529, r#"{"error":{"type":"overloaded_error","message":"Overloaded"}}"#, overloaded),
        ];
        for (status, body, kind) in table {
            assert_eq!(fault(*status, body).kind, *kind, "{status} {body}");
        }
    }

    #[test]
    fn what_a_bad_request_says_gives_its_kind() {
        for (text, kind) in [
            ("prompt is too long: 210000 tokens > 200000 maximum", FaultKind::PromptTooLong),
            ("input length and `max_tokens` exceed context limit: 190000 + 32000 > 200000", FaultKind::PromptTooLong),
            ("This model's maximum context length is 128000 tokens.", FaultKind::PromptTooLong),
            ("Your input exceeds the context window of this model.", FaultKind::PromptTooLong),
            ("request (9010 tokens) exceeds the available context size (4096 tokens)", FaultKind::PromptTooLong),
            ("no/such is not a valid model ID", FaultKind::NotFound),
            ("max_tokens: must be positive", FaultKind::InvalidRequest),
        ] {
            let body = serde_json::json!({"error": {"message": text, "code": 400}}).to_string();
            assert_eq!(fault(400, &body).kind, kind, "{text}");
        }
        let by_word = r#"{"error":{"message":"x","type":"exceed_context_size_error"}}"#;
        assert_eq!(fault(400, by_word).kind, FaultKind::PromptTooLong);
    }

    #[test]
    fn messages_name_the_thing_and_the_remedy() {
        let refused = fault(401, r#"{"error":{"message":"bad key canary-key"}}"#).message;
        assert_eq!(
            refused,
            "mine refused the key from TEST_API_KEY (401: bad key [key]): set a valid one or choose another model with --model"
        );
        let unknown = fault(404, r#"{"error":{"message":"model 'm1' not found"}}"#).message;
        assert_eq!(
            unknown,
            "mine/m1 is not a model that http://127.0.0.1:9 knows (404: model 'm1' not found): see `agentctl models`"
        );
        assert!(fault(404, "<html>nginx</html>").message.contains("check the base URL of mine"));
    }

    #[test]
    fn errors_inside_a_stream_go_by_their_word_or_code() {
        let endpoint = for_tests("mine", "m1", "http://127.0.0.1:9", "canary-key");
        let table: &[(&str, FaultKind)] = &[
            (
                r#"{"type":"error","error":{"type":"overloaded_error","message":"x"}}"#,
                FaultKind::Overloaded { retry_after_ms: None },
            ),
            (r#"{"error":{"type":"rate_limit_error","message":"x"}}"#, FaultKind::RateLimited { retry_after_ms: None }),
            (r#"{"error":{"type":"invalid_request_error","message":"x"}}"#, FaultKind::InvalidRequest),
            (r#"{"error":{"code":401,"message":"x"}}"#, FaultKind::Authentication),
            (r#"{"error":{"code":502,"message":"x"}}"#, FaultKind::Overloaded { retry_after_ms: None }),
            (r#"{"error":"broken"}"#, FaultKind::Overloaded { retry_after_ms: None }),
            (r#"{"error":{"message":"prompt is too long"}}"#, FaultKind::PromptTooLong),
        ];
        for (body, kind) in table {
            let value = serde_json::from_str(body).expect("JSON");
            assert_eq!(Refusal::from_json(&value).into_fault(&endpoint).kind, *kind, "{body}");
        }
    }
}
