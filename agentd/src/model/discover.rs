//! Asks servers which models they have. Called by `catalog` for `model/list` and for the default model.
//! A server that doesn't answer in time simply has none.

use super::anthropic;
use super::endpoint::Endpoint;
use super::http::{Http, header_map};
use super::openai_chat;
use super::providers::context_window;
use crate::config::ApiKind;
use serde_json::Value;
use std::time::Duration;

/// A model that a server has.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Found {
    /// As the provider names it.
    pub(super) id: String,
    /// In tokens; 0 where it is not known.
    pub(super) context_window: u64,
}

/// The models of an endpoint's server that can hold a conversation.
pub(super) async fn models(http: &Http, api: ApiKind, endpoint: &Endpoint, limit: Duration) -> Vec<Found> {
    let (url, headers) = match api {
        ApiKind::Anthropic => (anthropic::url(&endpoint.base_url, "models?limit=100"), anthropic::headers(endpoint)),
        ApiKind::OpenaiChat | ApiKind::OpenaiResponses => {
            (openai_chat::url(&endpoint.base_url, "models"), endpoint.request_headers())
        }
    };
    let printed = http.helper_header(endpoint).await;
    let Ok(headers) = header_map(printed.iter().chain(&headers).map(|(name, value)| (name.as_str(), value.as_str())))
    else {
        return Vec::new();
    };
    let answer = http.get_json(&url, headers, limit).await;
    answer.as_ref().map(read).unwrap_or_default()
}

fn read(answer: &Value) -> Vec<Found> {
    let models = answer.get("data").and_then(Value::as_array);
    models.into_iter().flatten().filter_map(found).collect()
}

fn found(model: &Value) -> Option<Found> {
    let id = model.get("id").and_then(Value::as_str).filter(|id| !id.is_empty())?;
    // Names are all that these lists tell of a model's kind.
    const OTHERS: [&str; 7] = ["embed", "whisper", "tts", "dall-e", "moderation", "rerank", "realtime"];
    let lower = id.to_lowercase();
    if OTHERS.iter().any(|word| lower.contains(word)) {
        return None;
    }
    // Each kind of server has another name for it; `/meta/n_ctx` is llama.cpp's.
    let told = ["/max_input_tokens", "/max_model_len", "/context_length", "/context_window", "/meta/n_ctx"]
        .iter()
        .find_map(|field| model.pointer(field).and_then(Value::as_u64));
    Some(Found { id: id.to_owned(), context_window: told.unwrap_or_else(|| context_window(id)) })
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    #[test]
    fn lists_of_models_are_read() {
        let answer = json!({"object": "list", "data": [
            {"id": "nomic-embed-text"}, {"id": "qwen", "max_model_len": 4096}, {"id": "smol", "meta": {"n_ctx": 8192, "n_ctx_train": 9}}, {"id": "claude-sonnet-5"}, {"id": ""}, 7,
        ]});
        let expected = [("qwen", 4096), ("smol", 8192), ("claude-sonnet-5", 200_000)];
        let read: Vec<(String, u64)> =
            read(&answer).into_iter().map(|found| (found.id, found.context_window)).collect();
        assert_eq!(read, expected.map(|(id, window)| (id.to_owned(), window)));
    }

    #[test]
    fn what_is_no_list_has_no_models() {
        for answer in [json!(null), json!([]), json!({"data": {}}), json!("x")] {
            assert_eq!(read(&answer), []);
        }
    }
}
