//! In which session `chat` and `run` work: a named one, the newest of the folder, or a new one.

use crate::args::Where;
use crate::connect::Connection;
use crate::failure::Failure;
use crate::session_ref;
use crate::start::{self, Target};
use proto::methods::{SessionCreate, SessionCreateParams, SessionUpdate, SessionUpdateParams};
use proto::session::{Mode, SessionInfo};
use std::path::PathBuf;

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
    let cwd = folder(wanted)?;
    let old =
        match &wanted.session {
            Some(reference) => Some(session_ref::resolve(connection, reference)?),
            None if wanted.continue_last => Some(session_ref::newest_open(connection, &cwd)?.ok_or_else(|| {
                Failure::new(format!("no session to go on with in {cwd}; start one without --continue"))
            })?),
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

fn folder(wanted: &Where) -> Result<String, Failure> {
    let dir = wanted.cwd.clone().unwrap_or_else(|| PathBuf::from("."));
    let dir = std::fs::canonicalize(&dir)
        .map_err(|error| Failure::new(format!("cannot use {} as the session's folder: {error}", dir.display())))?;
    dir.into_os_string().into_string().map_err(|dir| {
        Failure::new(format!("cannot use {} as the session's folder: its name is not UTF-8", dir.to_string_lossy()))
    })
}
