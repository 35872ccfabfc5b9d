//! `agentctl send`: a prompt to a session, without waiting for what comes of it.

use super::run::random_key;
use super::{print, prompt};
use crate::args::Send;
use crate::failure::Outcome;
use crate::session_ref;
use crate::start::Target;
use proto::content::Prompt;
use proto::methods::{TurnStart, TurnStartParams};

/// Runs the command.
pub fn run(args: Send, target: &Target) -> Outcome {
    let prompt = prompt(&args.prompt)?;
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
        token_budget: None,
        on_ask: None,
        idempotency_key: Some(random_key()?),
    })?;
    print(started.turn_id.as_str())?;
    Ok(0)
}
