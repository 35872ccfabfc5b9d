//! Which session, turn or request a person means: an id, a unique prefix of it, or `@last`. Used by every
//! command that takes one.

use crate::connect::{CallError, Connection};
use crate::failure::Failure;
use proto::ErrorKind;
use proto::ids::SessionId;
use proto::methods::{SessionGet, SessionList, SessionListParams, SessionParams};
use proto::session::{SessionInfo, SessionStatus};

/// The newest of all sessions.
pub const LAST: &str = "@last";

/// The session that is meant.
pub fn resolve(connection: &mut Connection, reference: &str) -> Result<SessionInfo, Failure> {
    if reference == LAST {
        let newest = newest(connection, None, |_| true)?;
        return newest.ok_or_else(|| Failure::new("there is no session yet; `agentctl chat` starts one"));
    }
    let params = SessionParams { session_id: SessionId::from(reference) };
    match connection.call::<SessionGet>(params) {
        Ok(found) => return Ok(found.session),
        Err(CallError::Refused(body)) if body.code == ErrorKind::SessionNotFound.code() => {}
        Err(error) => return Err(error.into()),
    }
    let mut sessions = all(connection, SessionListParams::default(), None)?;
    let ids: Vec<&str> = sessions.iter().map(|session| session.id.as_str()).collect();
    let at = unique_prefix(&ids, reference).map_err(|trouble| trouble.tell("session", reference, "agentctl ls"))?;
    Ok(sessions.swap_remove(at))
}

/// The newest session that can take a prompt, of one folder.
pub fn newest_open(connection: &mut Connection, cwd: &str) -> Result<Option<SessionInfo>, Failure> {
    newest(connection, Some(cwd.to_owned()), |session| session.status != SessionStatus::Closed)
}

/// The newest session that can take a prompt, of any folder.
pub fn newest_anywhere(connection: &mut Connection) -> Result<Option<SessionInfo>, Failure> {
    newest(connection, None, |session| session.status != SessionStatus::Closed)
}

fn newest(
    connection: &mut Connection,
    cwd: Option<String>,
    wanted: impl Fn(&SessionInfo) -> bool,
) -> Result<Option<SessionInfo>, Failure> {
    let mut params = SessionListParams { cwd, limit: Some(20), ..SessionListParams::default() };
    loop {
        let page = connection.call::<SessionList>(params.clone())?;
        if let Some(session) = page.sessions.into_iter().find(&wanted) {
            return Ok(Some(session));
        }
        match page.next_cursor {
            Some(cursor) => params.cursor = Some(cursor),
            None => return Ok(None),
        }
    }
}

/// Every session that the params select, newest first, page by page, until there are `limit`.
pub fn all(
    connection: &mut Connection,
    mut params: SessionListParams,
    limit: Option<usize>,
) -> Result<Vec<SessionInfo>, Failure> {
    let limit = limit.unwrap_or(usize::MAX);
    let mut sessions = Vec::new();
    loop {
        let page = connection.call::<SessionList>(params.clone())?;
        sessions.extend(page.sessions);
        match page.next_cursor {
            Some(cursor) if sessions.len() < limit => params.cursor = Some(cursor),
            _ => break,
        }
    }
    sessions.truncate(limit);
    Ok(sessions)
}

/// Why a prefix means nothing.
#[derive(Debug, PartialEq, Eq)]
pub enum Trouble {
    /// Nothing starts so.
    None,
    /// So many start so.
    Many(usize),
}

impl Trouble {
    /// The sentence.
    pub fn tell(&self, noun: &str, reference: &str, list: &str) -> Failure {
        match self {
            Self::None => Failure::new(format!("no {noun} starts with '{reference}'; see `{list}`")),
            Self::Many(count) => {
                Failure::new(format!("'{reference}' is the start of {count} {noun}s; give more of it, see `{list}`"))
            }
        }
    }
}

/// The place of the one id that is `reference` or starts with it.
pub fn unique_prefix(ids: &[&str], reference: &str) -> Result<usize, Trouble> {
    if let Some(at) = ids.iter().position(|id| *id == reference) {
        return Ok(at);
    }
    let mut matching = ids.iter().enumerate().filter(|(_, id)| !reference.is_empty() && id.starts_with(reference));
    match (matching.next(), matching.count()) {
        (Some((at, _)), 0) => Ok(at),
        (Some(_), more) => Err(Trouble::Many(more + 1)),
        (None, _) => Err(Trouble::None),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_unique_prefix_serves_for_an_id() {
        let ids = ["abc", "abd", "xyz", "ab"];
        let table = [
            ("abc", Ok(0)),
            ("x", Ok(2)),
            ("ab", Ok(3)),
            ("a", Err(Trouble::Many(3))),
            ("q", Err(Trouble::None)),
            ("", Err(Trouble::None)),
            ("abcd", Err(Trouble::None)),
        ];
        for (reference, at) in table {
            assert_eq!(unique_prefix(&ids, reference), at, "{reference}");
        }
    }

    #[test]
    fn trouble_names_the_way_out() {
        let told = Trouble::Many(2).tell("session", "ab", "agentctl ls").message;
        assert_eq!(told, "'ab' is the start of 2 sessions; give more of it, see `agentctl ls`");
    }
}
