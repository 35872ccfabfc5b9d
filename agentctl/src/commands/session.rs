//! Commands that are one call about a session: `cancel`, `close`, `rm`, `fork`, `search`, `tasks`.

use super::print;
use crate::args::{Cancel, Chat, Fork, MaybeSession, Rm, Search, SessionArg, Where};
use crate::connect::Connection;
use crate::failure::{Failure, Outcome};
use crate::render::escape::one_line;
use crate::session_ref;
use crate::start::Target;
use proto::ids::{SessionId, TurnId};
use proto::methods::{
    CancelReason, MaybeSessionParams, SessionClose, SessionDelete, SessionFork, SessionForkParams, SessionParams,
    SessionSearch, SessionSearchParams, TaskList, TurnCancel, TurnCancelParams,
};

/// `agentctl cancel`.
pub fn cancel(args: Cancel, target: &Target) -> Outcome {
    let mut connection = target.connect()?;
    let session_id = find(&mut connection, &args.session.session)?;
    let turn_id = args.turn.map(TurnId::from);
    let params = TurnCancelParams { session_id, turn_id, reason: CancelReason::UserAbort, tasks: args.tasks };
    let result = connection.call::<TurnCancel>(params)?;
    for turn in &result.cancelled {
        print(&format!("cancelled {turn}"))?;
    }
    if result.cancelled.is_empty() {
        print("nothing to cancel")?;
    }
    match result.still_running {
        Some(pids) if !pids.is_empty() => {
            let pids: Vec<String> = pids.iter().map(u32::to_string).collect();
            Err(Failure::new(format!("some processes are still running: {}; end them with kill -9", pids.join(" "))))
        }
        _ => Ok(0),
    }
}

/// `agentctl close`.
pub fn close(args: &SessionArg, target: &Target) -> Outcome {
    let mut connection = target.connect()?;
    let session_id = find(&mut connection, &args.session)?;
    connection.call::<SessionClose>(SessionParams { session_id })?;
    Ok(0)
}

/// `agentctl rm`. All are found before the first is removed.
pub fn remove(args: &Rm, target: &Target) -> Outcome {
    let mut connection = target.connect()?;
    let mut ids = Vec::new();
    for reference in &args.sessions {
        let id = find(&mut connection, reference)?;
        if !ids.contains(&id) {
            ids.push(id);
        }
    }
    for session_id in ids {
        connection.call::<SessionDelete>(SessionParams { session_id })?;
    }
    Ok(0)
}

/// `agentctl fork`.
pub fn fork(args: Fork, target: &Target) -> Outcome {
    let mut connection = target.connect()?;
    let session_id = find(&mut connection, &args.session.session)?;
    let params = SessionForkParams { session_id, at_seq: args.at, title: args.title };
    let id = connection.call::<SessionFork>(params)?.session.id;
    if !args.chat {
        print(id.as_str())?;
        return Ok(0);
    }
    drop::<Connection>(connection);
    let place = Where { session: Some(id.0), continue_last: false, model: None, mode: None, cwd: None };
    super::chat::run(Chat { place, prompt: None }, target)
}

/// `agentctl search`.
pub fn search(args: Search, target: &Target) -> Outcome {
    let params = SessionSearchParams { query: args.query, limit: args.limit };
    for hit in target.connect()?.call::<SessionSearch>(params)?.hits {
        print(&format!("{}  {}  {}", hit.session_id, hit.seq, one_line(&hit.snippet)))?;
    }
    Ok(0)
}

/// `agentctl tasks`.
pub fn tasks(args: &MaybeSession, target: &Target) -> Outcome {
    let mut connection = target.connect()?;
    let session_id = args.session.as_deref().map(|reference| find(&mut connection, reference)).transpose()?;
    for task in connection.call::<TaskList>(MaybeSessionParams { session_id })?.tasks {
        let title = one_line(&task.title);
        print(&format!("{}  {}  {}  {title}", task.task_id, task.session_id, one_line(&task.state)))?;
    }
    Ok(0)
}

fn find(connection: &mut Connection, reference: &str) -> Result<SessionId, Failure> {
    Ok(session_ref::resolve(connection, reference)?.id)
}
