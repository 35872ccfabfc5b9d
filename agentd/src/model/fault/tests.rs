//! Faults by tables: what servers say, and what can be done about it.

use super::*;
use crate::model::endpoint::for_tests;

fn fault(status: u16, body: &str) -> Fault {
    let endpoint = for_tests("mine", "m1", "http://127.0.0.1:9", "canary-key");
    Refusal::from_body(status, body, WAIT).into_fault(&endpoint)
}

const WAIT: Option<u64> = Some(1500);
const OVERLOADED: FaultKind = FaultKind::Overloaded { retry_after_ms: WAIT };
const LIMITED: FaultKind = FaultKind::RateLimited { retry_after_ms: WAIT };
/// The kind of a limit that no waiting helps.
const SPENT: FaultKind = FaultKind::RateLimited { retry_after_ms: None };

/// One that waiting may help, though nobody says how long.
const WAITS: FaultKind = FaultKind::RateLimited { retry_after_ms: Some(WANTED_RETRY_MS) };

#[test]
fn statuses_give_kinds() {
    let table: &[(u16, &str, FaultKind)] = &[
        (401, r#"{"type":"error","error":{"type":"authentication_error"}}"#, FaultKind::Authentication),
        (402, r#"{"error":{"type":"billing_error","message":"pay"}}"#, FaultKind::Authentication),
        (403, "", FaultKind::Authentication),
        (404, r#"{"error":{"type":"not_found_error","message":"model: nosuch"}}"#, FaultKind::NotFound),
        (404, "<html>nginx</html>", FaultKind::NotFound),
        (400, r#"{"error":{"message":"messages: roles must alternate"}}"#, FaultKind::InvalidRequest),
        (413, r#"{"error":{"message":"Request exceeds the maximum size"}}"#, FaultKind::InvalidRequest),
        (422, r#"{"detail":"bad"}"#, FaultKind::InvalidRequest),
        (425, "", FaultKind::InvalidRequest),
        (302, "", FaultKind::InvalidRequest),
        (429, r#"{"error":{"message":"slow down"}}"#, LIMITED),
        (408, "", OVERLOADED),
        (409, "", OVERLOADED),
        (500, r#"{"error":"boom"}"#, OVERLOADED),
        (502, "<html>", OVERLOADED),
        (503, r#"[{"error":{"code":503,"status":"UNAVAILABLE"}}]"#, OVERLOADED),
        (504, "", OVERLOADED),
        (529, r#"{"error":{"type":"overloaded_error","message":"Overloaded"}}"#, OVERLOADED),
    ];
    for (status, body, kind) in table {
        assert_eq!(fault(*status, body).kind, *kind, "{status} {body}");
    }
}

#[test]
fn a_spend_cap_is_never_waited_for() {
    let table: &[(u16, &str, &str, FaultKind)] = &[
        (
            429,
            "insufficient_quota",
            "You exceeded your current quota, please check your plan and billing details.",
            SPENT,
        ),
        (429, "rate_limit_error", "This request would exceed your organization's monthly spend limit.", SPENT),
        (429, "exceeded_current_quota_error", "Your account is suspended.", SPENT),
        (400, "invalid_request_error", "Your credit balance is too low to access the API.", SPENT),
        (400, "invalid_request_error", "You have reached your specified API usage limits.", SPENT),
        (402, "", "Insufficient Balance", FaultKind::Authentication),
        (402, "", "This request requires more credits, or fewer max_tokens.", FaultKind::Authentication),
        (403, "billing_not_active", "Your account is not active.", FaultKind::Authentication),
    ];
    let endpoint = for_tests("mine", "m1", "http://127.0.0.1:9", "canary-key");
    for (status, word, text, kind) in table {
        let body = serde_json::json!({"error": {"type": word, "message": text}}).to_string();
        for should_retry in [None, Some(true)] {
            let refusal = Refusal { should_retry, ..Refusal::from_body(*status, &body, WAIT) };
            let fault = refusal.into_fault(&endpoint);
            assert_eq!(fault.kind, *kind, "{status} {text}");
            assert!(fault.message.contains("nothing left to spend for the key from TEST_API_KEY"), "{}", fault.message);
        }
    }
    // A server in trouble may speak of money, and still be in trouble only.
    assert_eq!(fault(500, r#"{"error":{"message":"billing_error: insufficient funds"}}"#).kind, OVERLOADED);
}

#[test]
fn the_servers_own_word_on_a_retry_counts() {
    let table: &[(u16, Option<u64>, bool, FaultKind)] = &[
        (429, WAIT, false, SPENT),
        (429, None, true, FaultKind::RateLimited { retry_after_ms: Some(WANTED_RETRY_MS) }),
        (429, WAIT, true, LIMITED),
        (500, WAIT, false, FaultKind::InvalidRequest),
        (529, WAIT, false, FaultKind::InvalidRequest),
        (500, WAIT, true, OVERLOADED),
        (425, WAIT, true, OVERLOADED),
        (400, WAIT, true, FaultKind::InvalidRequest),
        (401, WAIT, true, FaultKind::Authentication),
        (403, WAIT, true, FaultKind::Authentication),
        (404, WAIT, true, FaultKind::NotFound),
        (413, WAIT, true, FaultKind::InvalidRequest),
    ];
    let endpoint = for_tests("mine", "m1", "http://127.0.0.1:9", "canary-key");
    for (status, wait, should_retry, kind) in table {
        let refusal = Refusal { should_retry: Some(*should_retry), ..Refusal::from_body(*status, "{}", *wait) };
        assert_eq!(refusal.into_fault(&endpoint).kind, *kind, "{status} {should_retry}");
    }
}

#[test]
fn a_prompt_that_is_too_long_is_known_in_the_words_of_each_server() {
    for text in [
        "prompt is too long: 210000 tokens > 200000 maximum",
        "input length and `max_tokens` exceed context limit: 190000 + 32000 > 200000",
        "This model's maximum context length is 128000 tokens. However, your messages resulted in 130000 tokens.",
        "Your input exceeds the context window of this model. Please adjust your input and try again.",
        "request (9010 tokens) exceeds the available context size (4096 tokens), try increasing it",
        "the request exceeds the available context size",
        "prompt too long; exceeded max context length by 12 tokens",
        "The decoder prompt (length 9000) is longer than the maximum model length of 8192.",
        "The input token count (1200000) exceeds the maximum number of tokens allowed (1048576).",
        "Input is too long for requested model.",
        "This model's maximum prompt length is 131072 but the request contains 537812 tokens.",
        "Please reduce the length of the messages or completion.",
        "The number of tokens to keep from the initial prompt is greater than the context length.",
        "Invalid request: Your request exceeded model token limit: 262144",
    ] {
        let body = serde_json::json!({"error": {"message": text, "code": 400}}).to_string();
        assert_eq!(fault(400, &body).kind, FaultKind::PromptTooLong, "{text}");
        assert_eq!(fault(500, &body).kind, FaultKind::PromptTooLong, "{text}");
    }
    for word in ["exceed_context_size_error", "context_length_exceeded"] {
        let body = serde_json::json!({"error": {"message": "x", "type": "invalid_request_error", "code": word}});
        assert_eq!(fault(400, &body.to_string()).kind, FaultKind::PromptTooLong);
    }
    for (text, kind) in [
        ("no/such is not a valid model ID", FaultKind::NotFound),
        ("max_tokens: must be positive", FaultKind::InvalidRequest),
    ] {
        let body = serde_json::json!({"error": {"message": text, "code": 400}}).to_string();
        assert_eq!(fault(400, &body).kind, kind, "{text}");
    }
    assert_eq!(fault(429, r#"{"error":{"message":"prompt is too long for the minute"}}"#).kind, LIMITED);
}

#[test]
fn the_time_in_a_sentence_is_read() {
    for (text, expected) in [
        ("Rate limit reached for gpt-5. Please try again in 1.5s. Visit …", Some(1500)),
        ("Please try again in 20ms.", Some(20)),
        ("Please try again in 6m0s.", Some(360_000)),
        ("Please try again in 1h1m.", Some(3_660_000)),
        ("Please try again in 3 seconds.", Some(3000)),
        ("Please try again in a while.", None),
        ("Please try again in 0s.", None),
        ("Please try again in 5 bananas.", None),
        ("Please try again in 99999999999999999999999h.", None),
        ("slow down", None),
    ] {
        assert_eq!(wait_in(text), expected, "{text}");
    }
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

/// Of Anthropic's API a limit without a time is a spend cap; elsewhere, and inside a stream, it is not.
#[test]
fn a_limit_without_a_time_is_a_spend_cap_for_one_api_only() {
    let limit = r#"{"error":{"type":"rate_limit_error","message":"x"}}"#;
    let value = serde_json::from_str(limit).expect("JSON");
    for (silence_means_spent, expected) in [(true, SPENT), (false, WAITS)] {
        let endpoint = Endpoint { silence_means_spent, ..for_tests("mine", "m1", "http://127.0.0.1:9", "k") };
        assert_eq!(Refusal::from_body(429, limit, None).into_fault(&endpoint).kind, expected);
        assert_eq!(Refusal::from_json(&value).into_fault(&endpoint).kind, WAITS);
        let spent = r#"{"error":{"type":"insufficient_quota"}}"#;
        assert_eq!(Refusal::from_body(429, spent, None).into_fault(&endpoint).kind, SPENT);
    }
}

#[test]
fn errors_inside_a_stream_go_by_their_word_or_code() {
    let endpoint = for_tests("mine", "m1", "http://127.0.0.1:9", "canary-key");
    let table: &[(&str, FaultKind)] = &[
        (
            r#"{"type":"error","error":{"type":"overloaded_error","message":"x"}}"#,
            FaultKind::Overloaded { retry_after_ms: None },
        ),
        (r#"{"error":{"type":"rate_limit_error","message":"x"}}"#, WAITS),
        (r#"{"error":{"type":"invalid_request_error","message":"x"}}"#, FaultKind::InvalidRequest),
        (r#"{"error":{"code":401,"message":"x"}}"#, FaultKind::Authentication),
        (r#"{"error":{"code":502,"message":"x"}}"#, FaultKind::Overloaded { retry_after_ms: None }),
        (r#"{"error":"broken"}"#, FaultKind::Overloaded { retry_after_ms: None }),
        (r#"{"error":{"message":"prompt is too long"}}"#, FaultKind::PromptTooLong),
        (r#"{"error":{"code":"503","message":"x"}}"#, FaultKind::Overloaded { retry_after_ms: None }),
        (r#"{"error":null,"message":"x","code":400}"#, FaultKind::InvalidRequest),
        (r#"{"type":"error","code":"server_error","message":"x"}"#, FaultKind::Overloaded { retry_after_ms: None }),
        (
            r#"{"error":{"code":"rate_limit_exceeded","message":"Please try again in 2s."}}"#,
            FaultKind::RateLimited { retry_after_ms: Some(2000) },
        ),
        (r#"{"error":{"type":"insufficient_quota","message":"Please try again in 2s."}}"#, SPENT),
        (r#"{"error":{"code":"invalid_image","message":"x"}}"#, FaultKind::InvalidRequest),
    ];
    for (body, kind) in table {
        let value = serde_json::from_str(body).expect("JSON");
        assert_eq!(Refusal::from_json(&value).into_fault(&endpoint).kind, *kind, "{body}");
    }
}
