//! `agentctl resume`: goes on with the turn that a restart of agentd cut, and follows it as `run` does.

use super::run::follow_turn;
use crate::args::{Output, Resume};
use crate::failure::Outcome;
use crate::follow::{self, Which};
use crate::live::{self, Live};
use crate::session_ref;
use crate::start::Target;
use proto::methods::{SessionParams, TurnResume};

/// Runs the command.
pub fn run(args: &Resume, target: &Target) -> Outcome {
    let session = session_ref::resolve(&mut target.connect()?, &args.session)?;
    live::block_on(async {
        let mut live = Live::open(target).await?;
        // attached before the turn starts, so that nothing of it is missed
        live.attach(&session.id, session.last_seq, args.following.output != Output::Json).await?;
        let interrupts = follow::interrupts()?;
        let params = SessionParams { session_id: session.id.clone() };
        let resumed = live.call::<TurnResume>(params).await.map_err(|error| live::failure(&error))?;
        let which = Which { session: session.id, folder: session.cwd, turn: resumed.turn_id, interrupts };
        follow_turn(&args.following, live, which, false).await
    })
}
