//! `agentctl logs`: a session's log as text.

use super::attach::{DETAIL, View};
use crate::args::{AttachOutput, Logs};
use crate::failure::Outcome;
use crate::history;
use crate::live::{self, Item, Live};
use crate::render::{Detail, Screen, Transcript};
use crate::session_ref;
use crate::start::Target;
use proto::event::{AnyEvent, Event};

/// Runs the command.
pub fn run(args: &Logs, target: &Target) -> Outcome {
    let mut connection = target.connect()?;
    let session = session_ref::resolve(&mut connection, &args.session.session)?;
    if !args.follow {
        let mut transcript = Transcript::new(Screen::stdout(), Detail { questions: false, ..DETAIL });
        history::each(&mut connection, &session.id, 0, |_, item| Ok(transcript.past(&item.event)?))?;
        transcript.end_past()?;
        return Ok(0);
    }
    live::block_on(async {
        let mut live = Live::open(target).await?;
        let attached = live.attach(&session.id, 0, true).await?;
        let mut view = View::new(AttachOutput::Text, attached.replay_to).in_folder(&session.cwd);
        loop {
            if let Item::Event(incoming) = live.next().await? {
                view.show(&incoming)?;
                if matches!(incoming.event.event, AnyEvent::Durable(Event::SessionClosed {})) {
                    return Ok(0);
                }
            }
        }
    })
}
