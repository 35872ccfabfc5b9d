//! Reading a session's log in pages, forwards or from its end. Used by `logs`, `export`, `wait`, `chat` and
//! `pending`; live events come from `live`.

use crate::connect::Connection;
use crate::failure::Failure;
use proto::event::{AnyEvent, Event, SessionEvent};
use proto::ids::{SessionId, TurnId};
use proto::methods::{Method, SessionEvents, SessionEventsParams};
use proto::session::SessionInfo;
use serde::Deserialize;
use serde_json::value::RawValue;

/// Events in a page.
const PAGE: u64 = 500;

#[derive(Deserialize)]
#[serde(rename_all = "camelCase")]
struct RawPage {
    events: Vec<Box<RawValue>>,
    last_seq: u64,
}

/// Hands out every event after `after_seq` with its own bytes; returns the number of the last one.
pub fn each(
    connection: &mut Connection,
    session: &SessionId,
    after_seq: u64,
    mut take: impl FnMut(&RawValue, &SessionEvent) -> Result<(), Failure>,
) -> Result<u64, Failure> {
    let mut cursor = after_seq;
    loop {
        let params = SessionEventsParams { session_id: session.clone(), after_seq: cursor, limit: Some(PAGE) };
        let raw = connection.call_raw(SessionEvents::NAME, params)?;
        let page: RawPage = serde_json::from_str(raw.get()).map_err(|error| unreadable(&error))?;
        let before = cursor;
        for raw in &page.events {
            let event: SessionEvent = serde_json::from_str(raw.get()).map_err(|error| unreadable(&error))?;
            cursor = cursor.max(event.seq.unwrap_or(cursor));
            take(raw, &event)?;
        }
        if cursor >= page.last_seq || cursor == before {
            return Ok(cursor);
        }
    }
}

fn unreadable(error: &serde_json::Error) -> Failure {
    Failure::new(format!("the session's log cannot be read ({error}); is agentctl of agentd's version?"))
}

/// The newest turn of a session.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct LastTurn {
    /// The turn.
    pub turn: TurnId,
    /// The number of the event that started it.
    pub seq: u64,
    /// Whether it has ended.
    pub ended: bool,
}

/// Looks for the newest turn that has started, from the log's end backwards.
pub fn last_turn(connection: &mut Connection, session: &SessionInfo) -> Result<Option<LastTurn>, Failure> {
    let mut end = session.last_seq;
    let mut ended: Vec<TurnId> = Vec::new();
    while end > 0 {
        let start = end.saturating_sub(PAGE);
        let params = SessionEventsParams { session_id: session.id.clone(), after_seq: start, limit: Some(end - start) };
        let page = connection.call::<SessionEvents>(params)?;
        for item in page.events.iter().rev() {
            match (&item.event, item.seq) {
                (AnyEvent::Durable(Event::TurnEnded { turn_id, .. }), _) => ended.push(turn_id.clone()),
                (AnyEvent::Durable(Event::TurnStarted { turn_id, .. }), Some(seq)) => {
                    let ended = ended.contains(turn_id);
                    return Ok(Some(LastTurn { turn: turn_id.clone(), seq, ended }));
                }
                _ => {}
            }
        }
        end = start;
    }
    Ok(None)
}

/// When each open request was made, as far as the end of the log tells.
pub fn requested_at(connection: &mut Connection, session: &SessionInfo) -> Result<Vec<(String, String)>, Failure> {
    let mut found = Vec::new();
    each(connection, &session.id, session.last_seq.saturating_sub(PAGE), |_, item| {
        if let AnyEvent::Durable(Event::PermissionRequested { request }) = &item.event {
            found.push((request.request_id.0.clone(), item.at.clone()));
        }
        Ok(())
    })?;
    Ok(found)
}
