//! Events as a client sees them, with the bytes that came, and a compact form for assertions.

use serde::Deserialize;
use serde_json::Value;
use serde_json::value::RawValue;

/// One `session/event`.
#[derive(Debug, Clone)]
pub struct Event {
    /// The session.
    pub session: String,
    /// The number of a durable event.
    pub seq: Option<u64>,
    /// When it happened.
    pub at: String,
    /// Its type, such as `turn.started`.
    pub kind: String,
    /// The whole event.
    pub body: Value,
    /// The event's bytes as they came.
    pub raw: String,
}

#[derive(Deserialize)]
#[serde(rename_all = "camelCase")]
struct Params {
    session_id: String,
    seq: Option<u64>,
    at: String,
    event: Box<RawValue>,
}

impl Event {
    /// Reads the params of a notification.
    ///
    /// # Panics
    /// If they are not what the protocol says.
    #[must_use]
    pub fn parse(params: &str) -> Self {
        let params: Params = serde_json::from_str(params).unwrap_or_else(|error| panic!("{error} in event {params}"));
        let body: Value = serde_json::from_str(params.event.get()).expect("a raw value is JSON");
        let kind = body["type"].as_str().unwrap_or_else(|| panic!("an event without a type: {body}")).to_owned();
        let Params { session_id, seq, at, event } = params;
        Self { session: session_id, seq, at, kind, body, raw: event.get().to_owned() }
    }

    /// Whether it is in the log.
    #[must_use]
    pub fn is_durable(&self) -> bool {
        self.seq.is_some()
    }

    /// A textual field; empty if absent.
    #[must_use]
    pub fn text(&self, field: &str) -> &str {
        self.body[field].as_str().unwrap_or_default()
    }
}

/// The durable events in a line each way: `turn.started tool.queued(Read) tool.ended(t1 completed) …`.
#[must_use]
pub fn outline(events: &[Event]) -> String {
    let durable = events.iter().filter(|event| event.is_durable());
    durable.map(brief).collect::<Vec<_>>().join(" ")
}

/// Asserts that these durable events, as `outline` writes them, are there in this order; others may be
/// between them.
///
/// # Panics
/// If they are not.
pub fn assert_order(events: &[Event], expected: &[&str]) {
    let there: Vec<String> = events.iter().filter(|event| event.is_durable()).map(brief).collect();
    let mut rest = there.iter();
    for event in expected {
        assert!(rest.any(|found| found == event), "no {event} in its place of {expected:?}; there is {there:#?}");
    }
}

/// The text that the deltas of these events add up to, each at its offset.
///
/// # Panics
/// If a part is missing or comes twice.
#[must_use]
pub fn delta_text(events: &[Event]) -> String {
    let mut text = String::new();
    for event in events.iter().filter(|event| event.kind == "message.delta" && event.text("kind") == "text") {
        assert_eq!(event.body["offset"].as_u64(), u64::try_from(text.len()).ok(), "after {text:?}: {}", event.body);
        text.push_str(event.text("text"));
    }
    text
}

fn brief(event: &Event) -> String {
    let fields: &[&str] = match event.kind.as_str() {
        "tool.queued" => &["toolCallId", "tool"],
        "tool.started" => &["toolCallId"],
        "tool.ended" => &["toolCallId", "status"],
        "turn.ended" | "turn.continued" => &["reason"],
        "permission.requested" => &["tool"],
        "permission.resolved" => &["decision"],
        "message.completed" => &["stopReason"],
        _ => &[],
    };
    let values: Vec<&str> = fields.iter().map(|field| event.text(field)).collect();
    if values.is_empty() { event.kind.clone() } else { format!("{}({})", event.kind, values.join(" ")) }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_event_keeps_its_bytes_and_an_outline_is_short() {
        let params = r#"{"sessionId":"s","seq":3,"at":"t","event":{"type":"tool.ended", "status":"completed","toolCallId":"t1"}}"#;
        let event = Event::parse(params);
        assert_eq!(event.raw, r#"{"type":"tool.ended", "status":"completed","toolCallId":"t1"}"#);
        let delta = Event::parse(r#"{"sessionId":"s","at":"t","event":{"type":"message.delta"}}"#);
        assert_eq!(outline(&[event.clone(), delta]), "tool.ended(t1 completed)");
        assert_order(&[event.clone(), event], &["tool.ended(t1 completed)", "tool.ended(t1 completed)"]);
    }

    #[test]
    #[should_panic(expected = "no turn.closed in its place")]
    fn a_wrong_order_is_found() {
        let event = Event::parse(r#"{"sessionId":"s","seq":3,"at":"t","event":{"type":"turn.closed"}}"#);
        assert_order(&[event], &["turn.closed", "turn.closed"]);
    }

    #[test]
    #[should_panic(expected = "after \"ab\"")]
    fn a_gap_between_deltas_is_found() {
        let delta = |offset, text| {
            let event = serde_json::json!({"type": "message.delta", "kind": "text", "offset": offset, "text": text});
            Event::parse(&serde_json::json!({"sessionId": "s", "at": "t", "event": event}).to_string())
        };
        assert_eq!(delta_text(&[delta(0, "ab"), delta(2, "c")]), "abc");
        let _ = delta_text(&[delta(0, "ab"), delta(3, "c")]);
    }
}
