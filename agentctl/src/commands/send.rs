//! `agentctl send`: a prompt to a session, without waiting for what comes of it.

use super::run::random_key;
use super::{print, text_or_stdin};
use crate::args::Send;
use crate::failure::{Failure, Outcome};
use crate::session_ref;
use crate::start::Target;
use proto::content::Prompt;
use proto::methods::{TurnStart, TurnStartParams};

/// Runs the command.
pub fn run(args: Send, target: &Target) -> Outcome {
    let prompt = text_or_stdin(&args.prompt)?;
    if prompt.trim().is_empty() {
        return Err(Failure::usage("the prompt is empty; give one, or - to read it from standard input"));
    }
    let mut connection = target.connect()?;
    let session = session_ref::resolve(&mut connection, &args.session.session)?;
    let started = connection.call::<TurnStart>(TurnStartParams {
        session_id: session.id,
        prompt: Prompt::Text(prompt),
        when_busy: Some(args.when_busy.into()),
        expected_turn_id: None,
        model: None,
        max_turns: None,
        output_schema: None,
        idempotency_key: Some(random_key()?),
    })?;
    print(started.turn_id.as_str())?;
    Ok(0)
}
