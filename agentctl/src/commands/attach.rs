//! `agentctl attach`: a session's events, past and live, until it is closed or the person leaves.

use crate::args::{Attach, AttachOutput};
use crate::failure::{Failure, Outcome};
use crate::live::{self, Incoming, Item, Live};
use crate::render::{Detail, Screen, Transcript};
use crate::session_ref;
use crate::start::Target;
use crate::terminal;
use proto::event::{AnyEvent, Event};
use proto::ids::SessionId;
use proto::methods::{SessionGet, SessionParams};
use proto::session::SessionStatus;
use std::io::{self, Write};

/// What is shown of everything.
pub const DETAIL: Detail = Detail { prompts: true, thinking: true, questions: true, totals: true };

/// Runs the command.
pub fn run(args: &Attach, target: &Target) -> Outcome {
    let session = session_ref::resolve(&mut target.connect()?, &args.session.session)?;
    live::block_on(async {
        let mut live = Live::open(target).await?;
        let attached = live.attach(&session.id, args.after_seq, !args.durable).await?;
        let past_to = if args.after_seq < attached.replay_to { attached.replay_to } else { 0 };
        let mut view = View::new(args.output, past_to).in_folder(&session.cwd);
        let mut tell_idle = args.output == AttachOutput::Text && !args.until_idle && terminal::stdout_is_terminal();
        loop {
            if args.until_idle && live.last_seq() >= attached.replay_to && !is_busy(&live, &session.id).await? {
                return Ok(0);
            }
            if tell_idle && live.last_seq() >= attached.replay_to {
                tell_idle = false;
                if !is_busy(&live, &session.id).await? {
                    view.note("idle; Ctrl-C leaves, --until-idle leaves by itself")?;
                }
            }
            if let Item::Event(incoming) = live.next().await? {
                view.show(&incoming)?;
                if matches!(incoming.event.event, AnyEvent::Durable(Event::SessionClosed {})) {
                    return Ok(0);
                }
            }
        }
    })
}

/// Events as text or as they are. Shared with `logs --follow`.
pub struct View {
    transcript: Option<Transcript>,
    /// The last event of the past; 0 once it has been shown.
    replay_to: u64,
}

impl View {
    /// A view in that form.
    pub fn new(output: AttachOutput, replay_to: u64) -> Self {
        let transcript = (output == AttachOutput::Text).then(|| Transcript::new(Screen::stdout(), DETAIL));
        Self { transcript, replay_to }
    }

    /// The same for a session of that folder.
    pub fn in_folder(mut self, folder: &str) -> Self {
        if let Some(transcript) = &mut self.transcript {
            folder.clone_into(&mut transcript.folder);
        }
        self
    }

    /// Writes a dim line of the command's own after the past.
    fn note(&mut self, text: &str) -> Result<(), Failure> {
        if let Some(transcript) = &mut self.transcript {
            transcript.end_past()?;
            let style = transcript.screen.style();
            transcript.line(&style.dim(text))?;
        }
        Ok(())
    }

    /// Shows an event.
    pub fn show(&mut self, incoming: &Incoming) -> Result<(), Failure> {
        let (event, seq) = (&incoming.event.event, incoming.event.seq);
        if seq.is_some_and(|seq| seq >= self.replay_to) {
            self.replay_to = 0;
        }
        match &mut self.transcript {
            Some(transcript) if self.replay_to > 0 => transcript.past(event)?,
            Some(transcript) => {
                transcript.past(event)?;
                transcript.end_past()?;
            }
            None => {
                let mut out = io::stdout().lock();
                out.write_all(incoming.raw.get().as_bytes())?;
                out.write_all(b"\n")?;
                out.flush()?;
            }
        }
        Ok(())
    }
}

async fn is_busy(live: &Live, session: &SessionId) -> Result<bool, Failure> {
    let got = live.call::<SessionGet>(SessionParams { session_id: session.clone() }).await;
    let session = match got {
        Ok(got) => got.session,
        Err(error) if live::is_disconnect(&error) => return Ok(true), // `next` repairs it
        Err(error) => return Err(live::failure(&error)),
    };
    let runs = matches!(session.status, SessionStatus::Running | SessionStatus::Waiting);
    Ok(runs || !session.queue.is_empty() || live.last_seq() < session.last_seq)
}
