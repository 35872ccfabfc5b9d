//! `agentctl wait`: until a turn ends. It survives a restart of the daemon: the turn's end is in the log.

use super::run::exit_code;
use super::{print, print_json};
use crate::args::Wait;
use crate::connect::{CallError, Connection};
use crate::failure::{Failure, Outcome, code};
use crate::follow::TurnEnd;
use crate::history;
use crate::session_ref;
use crate::start::Target;
use proto::ErrorKind;
use proto::event::EndReason;
use proto::ids::TurnId;
use proto::methods::{TurnWait, TurnWaitParams, TurnWaitResult};
use proto::session::SessionInfo;
use serde_json::json;
use std::time::Duration;

/// How often a lost daemon is looked for, and how long between.
const TRIES: u32 = 100;
const PAUSE: Duration = Duration::from_millis(100);

/// Runs the command.
pub fn run(args: &Wait, target: &Target) -> Outcome {
    let mut connection = target.connect()?;
    let session = session_ref::resolve(&mut connection, &args.session.session)?;
    let turn = which_turn(&mut connection, &session, args)?;
    let timeout_ms = args.timeout.map(|timeout| u64::try_from(timeout.as_millis()).unwrap_or(u64::MAX));
    let params = TurnWaitParams { session_id: session.id.clone(), turn_id: turn.clone(), timeout_ms };
    let ended = match wait(connection, target, params) {
        Ok(ended) => ended,
        Err(CallError::Refused(body)) if is_timeout(&body) => {
            let message = format!("the turn {turn} still runs; `agentctl cancel {}` ends it", session.id);
            return Err(Failure { code: code::TIMED_OUT, message });
        }
        Err(error) => return Err(error.into()),
    };
    tell(args, &session, &turn, &ended)
}

fn which_turn(connection: &mut Connection, session: &SessionInfo, args: &Wait) -> Result<TurnId, Failure> {
    if let Some(turn) = &args.turn {
        return Ok(TurnId::from(turn.as_str()));
    }
    if let Some(queued) = session.queue.last() {
        return Ok(queued.clone());
    }
    let last = history::last_turn(connection, session)?;
    let none = || Failure::new(format!("the session {} has no turn yet; `agentctl send` starts one", session.id));
    last.map(|last| last.turn).ok_or_else(none)
}

fn wait(mut connection: Connection, target: &Target, params: TurnWaitParams) -> Result<TurnWaitResult, CallError> {
    loop {
        match connection.call::<TurnWait>(params.clone()) {
            Err(error) if error.is_disconnect() => {}
            other => return other,
        }
        let mut tries = 0;
        connection = loop {
            match Connection::open(&target.socket) {
                Ok(connection) => break connection,
                Err(error) if tries == TRIES => return Err(CallError::Io(error)),
                Err(_) => tries += 1,
            }
            std::thread::sleep(PAUSE);
        };
    }
}

fn is_timeout(body: &proto::error::ErrorBody) -> bool {
    let limit = body.data.as_ref().and_then(|data| data.get("limit")).and_then(|limit| limit.as_str());
    body.code == ErrorKind::LimitReached.code() && limit == Some("timeoutMs")
}

fn tell(args: &Wait, session: &SessionInfo, turn: &TurnId, ended: &TurnWaitResult) -> Outcome {
    if args.json {
        let mut object = json!({
            "sessionId": session.id,
            "turnId": turn,
            "reason": ended.reason,
            "text": ended.text,
            "usage": ended.usage,
        });
        if let Some(fields) = object.as_object_mut() {
            fields.extend(ended.cost.map(|cost| ("cost".to_owned(), json!(cost))));
            fields
                .extend(ended.structured_output.clone().map(|structured| ("structuredOutput".to_owned(), structured)));
        }
        print_json(&object)?;
    } else {
        if !ended.text.is_empty() {
            print(&crate::render::escape::visible(&ended.text))?;
        }
        if let Some(answer) = &ended.structured_output {
            print_json(answer)?;
        }
    }
    let end = TurnEnd {
        reason: ended.reason,
        error: None,
        text: String::new(),
        usage: ended.usage,
        cost: None,
        duration_ms: 0,
        structured_output: None,
    };
    if ended.reason == EndReason::Completed {
        return Ok(0);
    }
    let reason = json!(ended.reason);
    let reason = reason.as_str().unwrap_or_default().replace('_', " ");
    let message = format!("the turn {turn} did not complete: {reason}; see `agentctl logs {}`", session.id);
    Err(Failure { code: exit_code(&end, false, false), message })
}
