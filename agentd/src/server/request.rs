//! From a frame's text to requests, by JSON-RPC 2.0. Called by connections and by HTTP; knows no method.

use proto::{ErrorKind, RpcError};
use serde::de::{Deserialize, Deserializer, IgnoredAny};
use serde_json::value::RawValue;

/// How many requests one batch may hold; each may give an answer that is held until the last is there.
pub const MAX_BATCH: usize = 1024;

/// What a frame asks for.
#[derive(Debug)]
pub enum Incoming {
    /// One request or notification.
    One(Result<Request, Refused>),
    /// Several, to be answered with one array.
    Batch(Vec<Result<Request, Refused>>),
}

/// A request, or a notification if it has no id.
#[derive(Debug)]
pub struct Request {
    /// The id as it was sent, so that it goes back unchanged: a number may be of any size.
    pub id: Option<Box<RawValue>>,
    /// The method's name.
    pub method: String,
    /// The params as they were sent.
    pub params: Option<Box<RawValue>>,
}

/// What is no request.
#[derive(Debug)]
pub struct Refused {
    /// Its id, where it has a usable one.
    pub id: Option<Box<RawValue>>,
    /// What is wrong with it.
    pub error: RpcError,
}

impl Refused {
    /// A refusal of something whose id is not known.
    pub fn nameless(kind: ErrorKind, message: impl Into<String>) -> Self {
        Self { id: None, error: RpcError::new(kind, message) }
    }
}

/// Reads a frame.
pub fn parse(text: &str) -> Incoming {
    if text.trim_start().starts_with('[') { parse_batch(text) } else { Incoming::One(parse_one(text)) }
}

fn parse_batch(text: &str) -> Incoming {
    let refused = |kind, message: String| Incoming::One(Err(Refused::nameless(kind, message)));
    match serde_json::from_str::<Vec<&RawValue>>(text) {
        Err(error) => refused(ErrorKind::ParseError, not_json(&error)),
        Ok(members) if members.is_empty() => {
            refused(ErrorKind::InvalidRequest, "the batch is empty; send at least one request in it".to_owned())
        }
        Ok(members) if members.len() > MAX_BATCH => {
            let message = format!("the batch has {} requests; send at most {MAX_BATCH} in one", members.len());
            let error = RpcError::new(ErrorKind::LimitReached, message);
            Incoming::One(Err(Refused { id: None, error: error.with("limit", "batch").with("value", MAX_BATCH) }))
        }
        Ok(members) => Incoming::Batch(members.into_iter().map(|member| parse_one(member.get())).collect()),
    }
}

/// The members of a request; each is read in its own right, so that one of a wrong type does not hide the id.
#[derive(serde::Deserialize)]
struct Envelope<'a> {
    #[serde(borrow, default)]
    jsonrpc: Option<&'a RawValue>,
    #[serde(borrow, default, deserialize_with = "present")]
    id: Option<&'a RawValue>,
    #[serde(borrow, default)]
    method: Option<&'a RawValue>,
    #[serde(borrow, default)]
    params: Option<&'a RawValue>,
}

/// Tells `null` from absence: a request with the id `null` is answered, a notification is not.
fn present<'de, D: Deserializer<'de>>(deserializer: D) -> Result<Option<&'de RawValue>, D::Error> {
    <&RawValue>::deserialize(deserializer).map(Some)
}

fn parse_one(text: &str) -> Result<Request, Refused> {
    match serde_json::from_str::<Envelope<'_>>(text) {
        Ok(envelope) => envelope.into_request(),
        Err(error) => Err(match serde_json::from_str::<IgnoredAny>(text) {
            Err(error) => Refused::nameless(ErrorKind::ParseError, not_json(&error)),
            Ok(_) => Refused::nameless(ErrorKind::InvalidRequest, format!("this is no JSON-RPC request: {error}")),
        }),
    }
}

fn not_json(error: &serde_json::Error) -> String {
    format!("the frame is not JSON: {error}; send one JSON-RPC request or batch")
}

impl Envelope<'_> {
    fn into_request(self) -> Result<Request, Refused> {
        let id = self.id.filter(|id| is_id(id.get())).map(ToOwned::to_owned);
        let refused =
            |message: &str| Err(Refused { id: id.clone(), error: RpcError::new(ErrorKind::InvalidRequest, message) });
        if self.id.is_some() && id.is_none() {
            return refused("`id` must be a string, a number or null");
        }
        if self.jsonrpc.is_none_or(|version| version.get() != "\"2.0\"") {
            return refused("`jsonrpc` must be \"2.0\"");
        }
        let Some(method) = self.method.and_then(|method| serde_json::from_str(method.get()).ok()) else {
            return refused("`method` must be a string");
        };
        let params = self.params.map(ToOwned::to_owned);
        Ok(Request { id, method, params })
    }
}

fn is_id(text: &str) -> bool {
    text == "null" || text.starts_with(|first: char| first == '"' || first == '-' || first.is_ascii_digit())
}

#[cfg(test)]
mod tests {
    use super::{Incoming, MAX_BATCH, Request, parse};
    use proto::ErrorKind;

    fn one(text: &str) -> Result<Request, (Option<String>, ErrorKind)> {
        match parse(text) {
            Incoming::One(one) => one.map_err(|refused| (refused.id.map(|id| id.get().to_owned()), refused.error.kind)),
            Incoming::Batch(_) => panic!("a batch: {text}"),
        }
    }

    #[test]
    fn ids_are_kept_as_they_were_sent() {
        for id in ["1", "-1", "1.50", "184467440737095516150", "\"a\\u0041\"", "null"] {
            let request = one(&format!(r#"{{"jsonrpc":"2.0","id":{id},"method":"m"}}"#)).unwrap();
            assert_eq!(request.id.unwrap().get(), id);
        }
        assert!(one(r#"{"jsonrpc":"2.0","method":"m"}"#).unwrap().id.is_none(), "a notification");
    }

    #[test]
    fn what_is_no_request_is_refused() {
        use ErrorKind::{InvalidRequest, ParseError};
        for (text, id, kind) in [
            ("{", None, ParseError),
            ("{\"jsonrpc\":\"2.0\"", None, ParseError),
            ("hello", None, ParseError),
            ("{\"jsonrpc\":\"2.0\",\"id\":1,\"method\":\"m\"} {}", None, ParseError),
            ("[1,", None, ParseError),
            ("1", None, InvalidRequest),
            ("\"text\"", None, InvalidRequest),
            ("null", None, InvalidRequest),
            ("[]", None, InvalidRequest),
            ("{}", None, InvalidRequest),
            (r#"{"id":1,"method":"m"}"#, Some("1"), InvalidRequest),
            (r#"{"jsonrpc":2.0,"id":1,"method":"m"}"#, Some("1"), InvalidRequest),
            (r#"{"jsonrpc":"2.0","id":1}"#, Some("1"), InvalidRequest),
            (r#"{"jsonrpc":"2.0","id":7,"method":7}"#, Some("7"), InvalidRequest),
            (r#"{"jsonrpc":"2.0","id":{},"method":"m"}"#, None, InvalidRequest),
            (r#"{"jsonrpc":"2.0","id":true,"method":"m"}"#, None, InvalidRequest),
            (r#"{"jsonrpc":"2.0","id":1,"id":2,"method":"m"}"#, None, InvalidRequest),
            (r#"{"jsonrpc":"2.0","id":"x","result":{}}"#, Some("\"x\""), InvalidRequest),
        ] {
            assert_eq!(one(text).unwrap_err(), (id.map(str::to_owned), kind), "{text}");
        }
    }

    #[test]
    fn a_batch_judges_each_member() {
        let Incoming::Batch(members) = parse(r#" [1, {"jsonrpc":"2.0","id":1,"method":"m","params":{"a":[1]}}, {}]"#)
        else {
            panic!("no batch")
        };
        assert_eq!(members.iter().map(Result::is_ok).collect::<Vec<_>>(), [false, true, false]);
        assert_eq!(members[1].as_ref().unwrap().params.as_ref().unwrap().get(), r#"{"a":[1]}"#);
    }

    #[test]
    fn a_batch_has_a_limit() {
        let batch = |count: usize| format!("[{}]", vec!["1"; count].join(","));
        assert!(matches!(parse(&batch(MAX_BATCH)), Incoming::Batch(members) if members.len() == MAX_BATCH));
        assert_eq!(one(&batch(MAX_BATCH + 1)).unwrap_err().1, ErrorKind::LimitReached);
    }
}
