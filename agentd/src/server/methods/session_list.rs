//! `session/list`: filtered, and in pages. A page ends at a session, and the cursor names it with its
//! age, so that the next page is right even if that session is gone by then.

use super::{Call, Handler};
use proto::methods::{SessionList, SessionListParams, SessionListResult};
use proto::session::SessionInfo;
use proto::{ErrorKind, RpcError};
use std::path::Path;

/// How many sessions a page has at most.
const MAX_PAGE: u64 = 1000;

impl Handler for SessionList {
    async fn handle(call: Call, params: SessionListParams) -> Result<SessionListResult, RpcError> {
        page(call.server.hub().list(), &params)
    }
}

fn page(sessions: Vec<SessionInfo>, params: &SessionListParams) -> Result<SessionListResult, RpcError> {
    if params.limit == Some(0) {
        return Err(RpcError::new(ErrorKind::InvalidParams, "`limit` must be at least 1").with("field", "limit"));
    }
    if params.cwd.as_ref().is_some_and(|cwd| !Path::new(cwd).is_absolute()) {
        return Err(
            RpcError::new(ErrorKind::InvalidPath, "`cwd` is not absolute; send the full path").with("field", "cwd")
        );
    }
    let start = match &params.cursor {
        Some(cursor) => after(cursor, &sessions)?,
        None => 0,
    };
    let query = params.query.as_ref().map(|query| query.to_lowercase());
    let mut matching = sessions.into_iter().skip(start).filter(|session| {
        params.cwd.as_ref().is_none_or(|cwd| Path::new(cwd) == Path::new(&session.cwd))
            && params.status.is_none_or(|status| status == session.status)
            && query.as_ref().is_none_or(|query| mentions(session, query))
    });
    let limit = params.limit.unwrap_or(MAX_PAGE).min(MAX_PAGE);
    let sessions: Vec<_> = matching.by_ref().take(usize::try_from(limit).unwrap_or(usize::MAX)).collect();
    let more = matching.next().is_some();
    let next_cursor = sessions.last().filter(|_| more).map(cursor_of);
    Ok(SessionListResult { sessions, next_cursor })
}

fn mentions(session: &SessionInfo, query: &str) -> bool {
    session.title.to_lowercase().contains(query) || session.cwd.to_lowercase().contains(query)
}

fn cursor_of(session: &SessionInfo) -> String {
    format!("{}/{}", session.created_at, session.id)
}

/// The place in the list after the session that the cursor names.
fn after(cursor: &str, sessions: &[SessionInfo]) -> Result<usize, RpcError> {
    let Some((created_at, id)) = cursor.split_once('/') else {
        let message = "`cursor` is not one that agentd gave; send `nextCursor` of the last page, or none";
        return Err(RpcError::new(ErrorKind::InvalidParams, message).with("field", "cursor"));
    };
    let itself = sessions.iter().position(|session| session.id.as_str() == id).map(|at| at + 1);
    let older = || sessions.iter().position(|session| session.created_at.as_str() < created_at);
    Ok(itself.or_else(older).unwrap_or(sessions.len()))
}

#[cfg(test)]
mod tests {
    use super::page;
    use proto::ErrorKind;
    use proto::methods::SessionListParams;
    use proto::session::{SessionInfo, SessionStatus};

    fn session(number: u32) -> SessionInfo {
        let now = format!("2026-01-0{number}T00:00:00.000Z");
        SessionInfo {
            title: format!("Title {number}"),
            status: if number == 3 { SessionStatus::Running } else { SessionStatus::Idle },
            ..SessionInfo::new(
                format!("ses_{number}").into(),
                format!("/src/{}", number % 2),
                "demo/guide".to_owned(),
                now,
            )
        }
    }

    /// Five sessions, newest first.
    fn all() -> Vec<SessionInfo> {
        (1..=5).rev().map(session).collect()
    }

    fn ids(params: &SessionListParams) -> (Vec<String>, Option<String>) {
        let result = page(all(), params).unwrap();
        (result.sessions.into_iter().map(|session| session.id.0).collect(), result.next_cursor)
    }

    #[test]
    fn filters_narrow_the_list() {
        let by = |params: SessionListParams| ids(&params).0;
        assert_eq!(by(SessionListParams::default()).len(), 5);
        assert_eq!(by(SessionListParams { cwd: Some("/src/0/".to_owned()), ..Default::default() }), ["ses_4", "ses_2"]);
        assert_eq!(by(SessionListParams { status: Some(SessionStatus::Running), ..Default::default() }), ["ses_3"]);
        assert_eq!(by(SessionListParams { query: Some("TITLE 5".to_owned()), ..Default::default() }), ["ses_5"]);
        assert_eq!(by(SessionListParams { query: Some("src/1".to_owned()), ..Default::default() }).len(), 3);
    }

    #[test]
    fn pages_make_up_the_whole_list() {
        let mut params = SessionListParams { limit: Some(2), ..Default::default() };
        let mut seen = Vec::new();
        loop {
            let (page, next) = ids(&params);
            seen.extend(page);
            params.cursor = next;
            if params.cursor.is_none() {
                break;
            }
        }
        assert_eq!(seen, ["ses_5", "ses_4", "ses_3", "ses_2", "ses_1"]);
    }

    #[test]
    fn a_page_goes_on_where_its_session_was_deleted() {
        let first = page(all(), &SessionListParams { limit: Some(2), ..Default::default() }).unwrap();
        let left: Vec<_> = all().into_iter().filter(|session| session.id.as_str() != "ses_4").collect();
        let second = page(left, &SessionListParams { cursor: first.next_cursor, ..Default::default() }).unwrap();
        assert_eq!(second.sessions.first().unwrap().id.as_str(), "ses_3");
    }

    #[test]
    fn bad_filters_are_refused() {
        for (params, kind) in [
            (SessionListParams { limit: Some(0), ..Default::default() }, ErrorKind::InvalidParams),
            (SessionListParams { cursor: Some("x".to_owned()), ..Default::default() }, ErrorKind::InvalidParams),
            (SessionListParams { cwd: Some("work".to_owned()), ..Default::default() }, ErrorKind::InvalidPath),
        ] {
            assert_eq!(page(all(), &params).unwrap_err().kind, kind);
        }
    }
}
