//! `agentctl chat`: a conversation at the terminal. Lines are read between turns; turns are shown by
//! `follow`. The session belongs to the daemon and stays when the person leaves.

mod line;
mod past;
mod permission;
mod slash;

use super::place::{self, Place};
use crate::args::Chat;
use crate::connect::Connection;
use crate::failure::{Failure, Outcome};
use crate::follow::{self, Follow, Followed, OnAsk, Which};
use crate::history::{self, LastTurn};
use crate::live::{self, Incoming, Item, Live};
use crate::prompt;
use crate::render::escape::one_line;
use crate::render::{Detail, Screen, Transcript};
use crate::slash as command;
use crate::start::Target;
use crate::terminal;
use line::{Line, LineReader};
use proto::event::{AnyEvent, EndReason, Event};
use proto::ids::TurnId;
use proto::methods::{TurnStart, TurnState};
use proto::session::{SessionInfo, SessionStatus};
use tokio::signal::unix::Signal;

/// What is shown of everything; questions are asked, not told.
const DETAIL: Detail = Detail { prompts: true, thinking: true, questions: false, totals: true };
/// Events that are kept while a line is typed; more stay where they are until then.
const BACKLOG: usize = 4096;
/// What an interrupted session is told with.
const RESUMABLE: &str = "! the last turn was cut off; /resume goes on with it";

/// Runs the command.
pub fn run(args: Chat, target: &Target) -> Outcome {
    let mut connection = target.connect()?;
    let Place { mut session, new } = place::find(&mut connection, &args.place, None, target)?;
    let mut last = None;
    if !new {
        session = place::update(&mut connection, session, args.place.model, args.place.mode)?;
        last = history::last_turn(&mut connection, &session)?;
    }
    drop::<Connection>(connection);
    let reader = LineReader::start(&target.state_dir)?;
    live::block_on(async {
        let mut chat = Chatter {
            live: Live::open(target).await?,
            transcript: Transcript::new(Screen::stdout(), DETAIL),
            session,
            replay_to: 0,
            reader,
            backlog: Vec::new(),
            lost: false,
            unsent: String::new(),
        };
        let outcome = chat.talk(args.prompt, last).await;
        chat.farewell()?;
        outcome.map(|()| 0)
    })
}

/// A conversation under way.
struct Chatter {
    live: Live,
    transcript: Transcript,
    session: SessionInfo,
    reader: LineReader,
    /// What happened while a line was typed, to be shown after it.
    backlog: Vec<Incoming>,
    /// The last event that was old news when we came.
    replay_to: u64,
    /// Whether the connection was lost while a line was typed.
    lost: bool,
    /// What was typed while a turn ran, and not sent.
    unsent: String,
}

/// A turn to follow.
struct Run {
    turn: TurnId,
    /// Whether it has not started.
    queued: bool,
    interrupts: Signal,
}

/// Whether the conversation goes on.
#[derive(PartialEq, Eq)]
enum Next {
    Go,
    Leave,
}

impl Chatter {
    async fn talk(&mut self, prompt: Option<String>, last: Option<LastTurn>) -> Result<(), Failure> {
        if self.join(last).await? == Next::Leave {
            return Ok(());
        }
        if let Some(prompt) = prompt.filter(|prompt| !prompt.trim().is_empty())
            && self.prompt(prompt, false).await? == Next::Leave
        {
            return Ok(());
        }
        let mut interrupted = false;
        loop {
            let line = self.read().await?;
            if std::mem::take(&mut self.lost) {
                self.live.repair().await?;
            }
            let next = match line {
                Line::Eof => return Ok(()),
                Line::Failed(error) => return Err(Failure::new(format!("cannot read from the terminal: {error}"))),
                Line::Interrupted if interrupted => return Ok(()),
                Line::Interrupted => {
                    interrupted = true;
                    self.transcript.line("· Ctrl-C again, Ctrl-D or /quit leaves")?;
                    continue;
                }
                Line::Text(text) => self.line(text).await?,
            };
            interrupted = false;
            if next == Next::Leave {
                return Ok(());
            }
        }
    }

    /// Greets, shows the last turn of an old session, and joins it if it still runs.
    async fn join(&mut self, last: Option<LastTurn>) -> Result<Next, Failure> {
        let after_seq = last.as_ref().map_or(self.session.last_seq, |last| last.seq.saturating_sub(1));
        let attached = self.live.attach(&self.session.id.clone(), after_seq, true).await?;
        (self.session, self.replay_to) = (attached.session, attached.replay_to);
        let session = &self.session;
        let about = format!(
            "session {} · {} · {} mode · {}",
            session.id,
            one_line(&session.model),
            session.mode.name(),
            one_line(&session.cwd)
        );
        let style = self.transcript.screen.style();
        self.transcript.line(&style.dim(&about))?;
        self.transcript.line(&style.dim("/help tells what you can do here"))?;
        self.warn_of_trust().await?;
        if let Some(running) = last.filter(|last| !last.ended && self.session.status != SessionStatus::Interrupted) {
            return self.follow(running.turn, false, follow::interrupts()?).await;
        }
        while self.live.last_seq() < self.replay_to {
            if let Item::Event(incoming) = self.live.next().await? {
                self.transcript.past(&incoming.event.event)?;
            }
        }
        self.transcript.end_past()?;
        match self.session.status {
            SessionStatus::Interrupted => self.transcript.line(RESUMABLE)?,
            SessionStatus::Closed => {
                self.transcript.line("! this session is closed: it can be read, but takes no prompt")?
            }
            SessionStatus::Idle | SessionStatus::Running | SessionStatus::Waiting => {}
        }
        Ok(Next::Go)
    }

    /// Reads a line, and keeps what happens meanwhile.
    async fn read(&mut self) -> Result<Line, Failure> {
        self.transcript.screen.end_text()?;
        self.reader.ask(std::mem::take(&mut self.unsent));
        loop {
            let room = !self.lost && self.backlog.len() < BACKLOG;
            tokio::select! {
                biased;
                line = self.reader.line() => return Ok(line),
                item = self.live.next(), if room => match item {
                    Ok(Item::Event(incoming)) => self.meanwhile(*incoming),
                    Ok(Item::Reconnected) => {}
                    Err(_) => self.lost = true, // told once the line is there
                },
            }
        }
    }

    /// Takes in what happens while a line is typed: a change of the session is told at once, and not again.
    fn meanwhile(&mut self, incoming: Incoming) {
        let event = &incoming.event.event;
        if let Some(news) = news(event) {
            self.reader.tell(news); // a hint; the event itself is shown later
        }
        let is_told = match self.transcript.update(event) {
            Some(Some(told)) => self.reader.tell(&told),
            Some(None) => true,
            None => false,
        };
        if !is_told {
            self.backlog.push(incoming);
        }
    }

    async fn line(&mut self, text: String) -> Result<Next, Failure> {
        if text.trim().is_empty() {
            return match open_turn(&self.backlog) {
                Some(turn) => self.follow(turn, false, follow::interrupts()?).await,
                None => {
                    self.catch_up()?;
                    Ok(Next::Go)
                }
            };
        }
        match command::parse(&text) {
            Some(command) => {
                let done = self.command(command).await;
                self.tell(done)
            }
            None => self.prompt(text, true).await,
        }
    }

    /// Shows what happened while a line was typed.
    fn catch_up(&mut self) -> Result<(), Failure> {
        for incoming in std::mem::take(&mut self.backlog) {
            self.transcript.event(&incoming.event.event)?;
        }
        Ok(())
    }

    /// Sends a prompt and shows the turn; `seen` if the prompt stands on the screen already.
    async fn prompt(&mut self, text: String, seen: bool) -> Result<Next, Failure> {
        let params = prompt::params(&self.session.id, text)?;
        let interrupts = follow::interrupts()?;
        loop {
            match self.live.call::<TurnStart>(params.clone()).await {
                Ok(started) => {
                    if seen {
                        self.transcript.own_turn(started.turn_id.clone());
                    }
                    return self.follow(started.turn_id, started.state == TurnState::Queued, interrupts).await;
                }
                Err(error) if live::is_disconnect(&error) => self.live.repair().await?,
                Err(error) => return self.tell(Err(live::failure(&error))),
            }
        }
    }

    /// Shows a turn to its end, and then those that have waited for it.
    async fn follow(&mut self, turn: TurnId, queued: bool, interrupts: Signal) -> Result<Next, Failure> {
        let (mut turn, mut queued, mut interrupts) = (turn, queued, interrupts);
        let mut waiting = Vec::new();
        loop {
            let next = self.follow_one(Run { turn, queued, interrupts }, &mut waiting).await?;
            if next == Next::Leave || waiting.is_empty() {
                return Ok(next);
            }
            (turn, queued, interrupts) = (waiting.remove(0), true, follow::interrupts()?);
        }
    }

    async fn follow_one(&mut self, run: Run, waiting: &mut Vec<TurnId>) -> Result<Next, Failure> {
        let Run { turn, queued, interrupts } = run;
        let (session, backlog) = (self.session.id.clone(), std::mem::take(&mut self.backlog));
        let which = Which { session, folder: self.session.cwd.clone(), turn, interrupts };
        let mut follow = Follow::new(&mut self.live, &mut self.transcript, which);
        follow.queued = queued;
        follow.on_ask = if terminal::can_ask() { OnAsk::Keys } else { OnAsk::Deny };
        follow.ask.can_leave = true;
        follow.waiting = std::mem::take(waiting);
        if follow.on_ask == OnAsk::Keys {
            // where the keys cannot be had, what is typed is read when the turn is over
            let _ = follow.ask.take_prompts(&std::mem::take(&mut self.unsent));
        }
        follow.backlog = backlog.into();
        follow.replay_to = self.replay_to;
        let followed = follow.until_end().await?;
        self.backlog = std::mem::take(&mut follow.backlog).into();
        *waiting = std::mem::take(&mut follow.waiting);
        self.unsent = follow.ask.unsent();
        follow.transcript.typed = None;
        match followed {
            Followed::Left => Ok(Next::Leave),
            Followed::Ended(end) => {
                if end.reason == EndReason::Interrupted {
                    self.transcript.line(RESUMABLE)?;
                }
                Ok(Next::Go)
            }
        }
    }

    /// Shows what went wrong with a command; the conversation goes on.
    fn tell(&mut self, done: Result<Next, Failure>) -> Result<Next, Failure> {
        match done {
            Err(failure) if !failure.message.is_empty() => {
                let style = self.transcript.screen.style();
                self.transcript.line(&style.red(&format!("✗ {}", one_line(&failure.message))))?;
                Ok(Next::Go)
            }
            done => done,
        }
    }

    fn farewell(&mut self) -> Result<(), Failure> {
        let id = &self.session.id;
        // on a line of its own, as it is to be copied
        let lines = format!("· the session stays; come back with:\n  agentctl chat --session {id}");
        Ok(self.transcript.line(&lines)?)
    }
}

/// What a person who types should hear of at once.
fn news(event: &AnyEvent) -> Option<&'static str> {
    match event {
        AnyEvent::Durable(Event::TurnStarted { .. }) => Some("· another client started a turn; Enter shows it"),
        AnyEvent::Durable(Event::PermissionRequested { .. }) => Some("· a question waits; Enter shows it"),
        AnyEvent::Durable(Event::SessionClosed {}) => Some("· the session was closed"),
        _ => None,
    }
}

/// The turn that has started and not ended in these events.
fn open_turn(events: &[Incoming]) -> Option<TurnId> {
    let mut open = None;
    for incoming in events {
        match &incoming.event.event {
            AnyEvent::Durable(Event::TurnStarted { turn_id, .. }) => open = Some(turn_id.clone()),
            AnyEvent::Durable(Event::TurnEnded { turn_id, .. }) => open = open.filter(|running| running != turn_id),
            _ => {}
        }
    }
    open
}
