//! `agentctl send`: a prompt to a session, without waiting for what comes of it.

use super::{print, prompt};
use crate::args::Send;
use crate::failure::Outcome;
use crate::prompt::params;
use crate::session_ref;
use crate::start::Target;
use proto::methods::{TurnStart, TurnStartParams};

/// Runs the command.
pub fn run(args: Send, target: &Target) -> Outcome {
    let text = prompt(&args.prompt)?;
    let mut connection = target.connect()?;
    let session = session_ref::resolve(&mut connection, &args.session.session)?;
    let params = params(&session.id, text)?;
    let started = connection.call::<TurnStart>(TurnStartParams { when_busy: Some(args.when_busy.into()), ..params })?;
    print(started.turn_id.as_str())?;
    Ok(0)
}
