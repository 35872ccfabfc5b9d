//! From a request to its answer, through the table of methods. Called by connections and by HTTP.
//! A method that panics costs its own call only.

use super::request::{Incoming, Refused, Request};
use futures::{FutureExt, StreamExt, stream};
use jsonrpsee::{ConnectionId, Extensions, MethodCallback, Methods};
use jsonrpsee_types::{Id, Params};
use proto::methods::METHOD_NAMES;
use proto::{ErrorKind, RpcError};
use serde_json::value::RawValue;
use std::panic::AssertUnwindSafe;

/// How many members of one batch run at once.
const BATCH_CONCURRENCY: usize = 64;
/// How the table's answers begin when they are called with the id `null`. The real id is put in its
/// place, since the table's ids can't hold every number that JSON can.
const NULL_ID: &str = r#"{"jsonrpc":"2.0","id":null,"#;

/// The answer to a frame; none if nothing in it wants one. What the methods need travels as extensions.
pub async fn answer(incoming: Incoming, methods: Methods, extensions: Extensions) -> Option<String> {
    match incoming {
        Incoming::One(request) => answer_one(request, &methods, extensions).await,
        Incoming::Batch(requests) => {
            let answers: Vec<String> = stream::iter(requests)
                .map(|request| answer_one(request, &methods, extensions.clone()))
                .buffered(BATCH_CONCURRENCY)
                .filter_map(std::future::ready)
                .collect()
                .await;
            (!answers.is_empty()).then(|| format!("[{}]", answers.join(",")))
        }
    }
}

/// The answer to what is no request.
pub fn refusal(refused: &Refused) -> String {
    error_answer(refused.id.as_deref(), &refused.error)
}

async fn answer_one(request: Result<Request, Refused>, methods: &Methods, extensions: Extensions) -> Option<String> {
    let request = match request {
        Ok(request) => request,
        Err(refused) => return Some(refusal(&refused)),
    };
    let outcome = AssertUnwindSafe(run(&request, methods, extensions)).catch_unwind().await.unwrap_or_else(|_| {
        let method = &request.method;
        tracing::error!(method, "a method panicked");
        Err(RpcError::new(ErrorKind::Internal, format!("{method} failed inside agentd; see agentd's log")))
    });
    let id = request.id?;
    Some(match outcome {
        Ok(rest) => format!(r#"{{"jsonrpc":"2.0","id":{id},{rest}"#),
        Err(error) => error_answer(Some(&id), &error),
    })
}

/// Runs a method. Gives its answer from behind the id on.
async fn run(request: &Request, methods: &Methods, extensions: Extensions) -> Result<String, RpcError> {
    let Some(callback) = methods.method(&request.method) else {
        return Err(unsupported(&request.method));
    };
    let MethodCallback::Async(callback) = callback else {
        return Err(RpcError::new(
            ErrorKind::Internal,
            format!("{} is not a method that can be called", request.method),
        ));
    };
    // An explicit null is what some clients send for no params.
    let params = request.params.as_deref().map(RawValue::get).filter(|params| *params != "null");
    let params = Params::new(params).into_owned();
    let response = callback(Id::Null, params, ConnectionId(0), usize::MAX, extensions).await;
    match response.as_json().get().strip_prefix(NULL_ID) {
        Some(rest) => Ok(rest.to_owned()),
        None => Err(RpcError::new(ErrorKind::Internal, format!("the answer of {} has no id", request.method))),
    }
}

/// The error for a method that the table lacks.
fn unsupported(method: &str) -> RpcError {
    let message = if METHOD_NAMES.contains(&method) {
        format!("{method} is not supported yet by this version of agentd")
    } else {
        format!("there is no method `{method}`; `agentctl schema` lists them")
    };
    RpcError::new(ErrorKind::MethodNotFound, message).with("method", method)
}

fn error_answer(id: Option<&RawValue>, error: &RpcError) -> String {
    let id = id.map_or("null", RawValue::get);
    // A body of strings and numbers can't fail to encode; its bare code is the fallback all the same.
    let body = serde_json::to_string(&error.to_body())
        .unwrap_or_else(|_| format!(r#"{{"code":{},"message":"{}"}}"#, error.kind.code(), error.kind.word()));
    format!(r#"{{"jsonrpc":"2.0","id":{id},"error":{body}}}"#)
}

#[cfg(test)]
mod tests {
    use super::answer;
    use crate::server::request::parse;
    use jsonrpsee::{Extensions, RpcModule};

    async fn ask(text: &str) -> Option<String> {
        let mut module = RpcModule::new(());
        module.register_async_method("echo", |params, _, _| async move { params.as_str().map(str::to_owned) }).unwrap();
        module
            .register_async_method("fail", |_, _, _| async move {
                if true {
                    panic!("as it should");
                }
            })
            .unwrap();
        answer(parse(text), module.into(), Extensions::new()).await
    }

    #[tokio::test]
    async fn a_panic_costs_its_own_call_only() {
        let answers = ask(
            r#"[{"jsonrpc":"2.0","id":1,"method":"fail"},{"jsonrpc":"2.0","id":2,"method":"echo"},{"jsonrpc":"2.0","method":"fail"}]"#,
        );
        let answers: serde_json::Value = serde_json::from_str(&answers.await.unwrap()).unwrap();
        assert_eq!((&answers[0]["id"], &answers[0]["error"]["code"]), (&1.into(), &(-32603).into()));
        assert_eq!(answers[1], serde_json::json!({"jsonrpc": "2.0", "id": 2, "result": null}));
        assert_eq!(answers.as_array().unwrap().len(), 2);
    }

    #[tokio::test]
    async fn absent_and_null_params_are_the_same() {
        let answer = ask(r#"{"jsonrpc":"2.0","id":1e3,"method":"echo","params":null}"#).await;
        assert_eq!(answer.unwrap(), r#"{"jsonrpc":"2.0","id":1e3,"result":null}"#);
        let answer = ask(r#"{"jsonrpc":"2.0","id":-1,"method":"echo","params":{"a":[]}}"#).await;
        assert_eq!(answer.unwrap(), r#"{"jsonrpc":"2.0","id":-1,"result":"{\"a\":[]}"}"#);
    }

    #[tokio::test]
    async fn nothing_answers_notifications() {
        assert_eq!(ask(r#"{"jsonrpc":"2.0","method":"echo"}"#).await, None);
        assert_eq!(ask(r#"[{"jsonrpc":"2.0","method":"echo"},{"jsonrpc":"2.0","method":"none"}]"#).await, None);
    }
}
