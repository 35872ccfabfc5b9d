//! In which session `chat` and `run` work: a named one, the newest of the folder, or a new one.

use super::folder;
use crate::args::Where;
use crate::connect::Connection;
use crate::failure::Failure;
use crate::session_ref;
use crate::start::{self, Target};
use proto::methods::{SessionCreate, SessionCreateParams, SessionUpdate, SessionUpdateParams};
use proto::session::{Mode, SessionInfo};
use std::path::PathBuf;

/// The name of a model as agentd takes it: the recording of `replay/FILE` is named from where the person is.
pub fn model_name(name: &str) -> Result<String, String> {
    match name.strip_prefix("replay/") {
        Some(file) if !file.is_empty() => {
            let file = std::path::absolute(file).map_err(|error| error.to_string())?;
            Ok(format!("replay/{}", file.display()))
        }
        Some(_) | None => Ok(name.to_owned()),
    }
}

/// The session, and whether it is new.
pub struct Place {
    /// The session.
    pub session: SessionInfo,
    /// Whether it was created just now.
    pub new: bool,
}

/// Finds or creates the session. `record` is for a new one only.
pub fn find(
    connection: &mut Connection,
    wanted: &Where,
    record: Option<PathBuf>,
    target: &Target,
) -> Result<Place, Failure> {
    let cwd = folder(wanted.cwd.as_deref())?;
    let old = match &wanted.session {
        Some(reference) => Some(session_ref::resolve(connection, reference)?),
        None if wanted.continue_last => match session_ref::newest_open(connection, &cwd)? {
            Some(session) => Some(session),
            None => return Err(none_here(connection, &cwd)),
        },
        None => None,
    };
    match old {
        Some(_) if record.is_some() => {
            Err(Failure::usage("--record is for a new session; leave out --session and --continue"))
        }
        Some(session) => Ok(Place { session, new: false }),
        None => Ok(Place { session: create(connection, wanted, cwd, record, target)?, new: true }),
    }
}

/// There is nothing to go on with in this folder; perhaps another one was meant.
fn none_here(connection: &mut Connection, cwd: &str) -> Failure {
    match session_ref::newest_anywhere(connection) {
        Ok(Some(session)) => {
            let (id, there) = (&session.id, &session.cwd);
            Failure::new(format!("no session in {cwd}; the newest is {id} in {there}: --session {id}"))
        }
        Ok(None) => Failure::new(format!("no session to go on with in {cwd}; start one without --continue")),
        Err(failure) => failure,
    }
}

fn create(
    connection: &mut Connection,
    wanted: &Where,
    cwd: String,
    record: Option<PathBuf>,
    target: &Target,
) -> Result<SessionInfo, Failure> {
    let record = record.map(start::absolute).transpose()?.map(|path| path.to_string_lossy().into_owned());
    let params = SessionCreateParams {
        cwd,
        model: wanted.model.clone(),
        mode: wanted.mode,
        env: Some(target.env.to_map()),
        record,
        ..SessionCreateParams::default()
    };
    Ok(connection.call::<SessionCreate>(params)?.session)
}

/// Changes the session as the arguments say.
pub fn update(
    connection: &mut Connection,
    session: SessionInfo,
    model: Option<String>,
    mode: Option<Mode>,
) -> Result<SessionInfo, Failure> {
    if model.is_none() && mode.is_none() {
        return Ok(session);
    }
    let params = SessionUpdateParams {
        session_id: session.id,
        title: None,
        model,
        mode,
        additional_directories: None,
        metadata: None,
    };
    Ok(connection.call::<SessionUpdate>(params)?.session)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_recording_is_named_from_here() {
        let here = std::env::current_dir().unwrap();
        let there = format!("replay/{}", here.join("a/b.jsonl").display());
        for (name, sent) in [
            ("replay/a/b.jsonl", there.as_str()),
            ("replay/./a/b.jsonl", there.as_str()),
            ("replay//a/b.jsonl", "replay//a/b.jsonl"),
            ("replay/", "replay/"),
            ("demo/guide", "demo/guide"),
            ("mine/replay/x", "mine/replay/x"),
        ] {
            assert_eq!(model_name(name).unwrap(), sent);
        }
    }
}
