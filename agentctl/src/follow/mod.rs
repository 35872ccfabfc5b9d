//! One turn, from where it is to its end: shows its events, has its questions answered, and cancels it on
//! Ctrl-C or when its time is over. Called by `run` and `chat`.

mod answers;
mod prompts;

use crate::ask::Ask;
use crate::failure::Failure;
use crate::live::{self, Incoming, Item, Live};
use crate::render::Transcript;
use jsonrpsee::core::client::Error;
use proto::content::MessageBlock;
use proto::event::{AnyEvent, EndReason, Event, Role, ToolStatus, TurnError};
use proto::ids::{SessionId, TurnId};
use proto::methods::{
    CancelReason, PermissionExplainResult, PermissionRespondParams, TurnCancel, TurnCancelParams, TurnCancelResult,
    TurnStartResult,
};
use proto::permission::PermissionRequest;
use proto::session::{Cost, Usage};
use serde_json::Value;
use std::collections::VecDeque;
use std::io::{self, Write};
use std::time::Duration;
use tokio::signal::unix::{Signal, SignalKind, signal};
use tokio::task::JoinSet;
use tokio::time::{Instant, MissedTickBehavior};

/// How often a person who waits is told so.
const TICK: Duration = Duration::from_secs(1);

/// What becomes of a question.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum OnAsk {
    /// A key answers it.
    Keys,
    /// It is denied, and the model is told why.
    Deny,
    /// Another client answers it.
    Wait,
}

/// How a turn ended, for exit codes and for `--output json`.
#[derive(Debug, Clone)]
pub struct TurnEnd {
    /// Why.
    pub reason: EndReason,
    /// What went wrong.
    pub error: Option<TurnError>,
    /// The text of its last message.
    pub text: String,
    /// Its tokens.
    pub usage: Usage,
    /// Its cost.
    pub cost: Option<Cost>,
    /// How long it took.
    pub duration_ms: u64,
    /// The answer as data, where a schema was given.
    pub structured_output: Option<Value>,
}

/// What following came to.
#[allow(clippy::large_enum_variant)] // there is one at a time, and it is taken apart at once
pub enum Followed {
    /// The turn ended.
    Ended(TurnEnd),
    /// A person had enough and left; the turn may still run, or wait for an answer.
    Left,
}

/// Ctrl-C from now on. Made before a turn starts, so that none is missed between the start and the following.
pub fn interrupts() -> Result<Signal, Failure> {
    signal(SignalKind::interrupt()).map_err(|error| Failure::new(format!("cannot listen for Ctrl-C: {error}")))
}

/// Which turn is followed.
pub struct Which {
    /// The session.
    pub session: SessionId,
    /// The session's folder.
    pub folder: String,
    /// The turn.
    pub turn: TurnId,
    /// From before the turn started.
    pub interrupts: Signal,
}

/// A turn that is followed.
pub struct Follow<'a> {
    /// Where its events come from.
    pub live: &'a mut Live,
    /// Where they are shown.
    pub transcript: &'a mut Transcript,
    session: SessionId,
    turn: TurnId,
    /// What becomes of its questions.
    pub on_ask: OnAsk,
    /// Whether every question of the session is asked, or only the turn's own.
    pub whole_session: bool,
    /// Whether events are shown as text.
    pub show: bool,
    /// Whether each event goes to standard output as JSON.
    pub raw: bool,
    /// When the turn is cancelled.
    pub deadline: Option<Instant>,
    /// Events that came before it was followed, and are not shown yet.
    pub backlog: VecDeque<Incoming>,
    /// The last event that is old news: a question before it may have been answered by a later one.
    pub replay_to: u64,
    /// Whether something was denied.
    pub denied: bool,
    /// Whether it was told what can be done about that.
    hinted: bool,
    /// Whether the deadline has passed.
    pub timed_out: bool,
    interrupts: Signal,
    /// The questions that are open here.
    pub ask: Ask,
    /// Questions of old news.
    unsettled: Vec<PermissionRequest>,
    calls: JoinSet<Done>,
    /// Whether it was cancelled from here.
    pub cancelling: bool,
    /// Whether the turn waits for another one, so that a cancel may end it without an event.
    pub queued: bool,
    text: String,
    /// Prompts that are on their way.
    sending: usize,
    /// Turns that wait for this one, in their order.
    pub waiting: Vec<TurnId>,
    /// Answers that were lost with the connection.
    unsent: Vec<PermissionRespondParams>,
}

/// A call that came back.
enum Done {
    Cancelled(Result<TurnCancelResult, Error>),
    Answered(Box<PermissionRespondParams>, Result<(), Error>),
    Explained(Result<PermissionExplainResult, Error>),
    Queued(String, Result<TurnStartResult, Error>),
}

impl<'a> Follow<'a> {
    /// A turn whose events are shown and whose questions are asked by key.
    pub fn new(live: &'a mut Live, transcript: &'a mut Transcript, which: Which) -> Self {
        let Which { session, folder, turn, interrupts } = which;
        transcript.folder = folder;
        Self {
            live,
            transcript,
            session,
            turn,
            interrupts,
            on_ask: OnAsk::Keys,
            whole_session: true,
            show: true,
            raw: false,
            deadline: None,
            backlog: VecDeque::new(),
            replay_to: 0,
            denied: false,
            hinted: false,
            timed_out: false,
            ask: Ask::default(),
            unsettled: Vec::new(),
            calls: JoinSet::new(),
            cancelling: false,
            queued: false,
            text: String::new(),
            sending: 0,
            waiting: Vec::new(),
            unsent: Vec::new(),
        }
    }

    /// Follows the turn to its end, and has what was typed meanwhile on its way.
    pub async fn until_end(&mut self) -> Result<Followed, Failure> {
        let followed = self.follow().await?;
        while self.sending > 0
            && let Some(done) = self.calls.join_next().await
        {
            if let Ok(done) = done {
                self.done(done)?;
            }
        }
        Ok(followed)
    }

    async fn follow(&mut self) -> Result<Followed, Failure> {
        while let Some(incoming) = self.backlog.pop_front() {
            if let Some(end) = self.event(&incoming)? {
                self.ask.close(self.transcript)?;
                return Ok(Followed::Ended(end));
            }
        }
        let (mut tick, mut news) = (tokio::time::interval(TICK), Instant::now());
        tick.set_missed_tick_behavior(MissedTickBehavior::Delay);
        loop {
            let deadline = self.deadline.filter(|_| !self.timed_out);
            tokio::select! {
                biased;
                _ = self.interrupts.recv() => {
                    if self.cancelling {
                        self.ask.close(self.transcript)?;
                        return Ok(Followed::Left);
                    }
                    self.ask.close(self.transcript)?;
                    self.transcript.line("· cancelling; Ctrl-C again leaves")?;
                    self.cancel();
                }
                () = until(deadline) => {
                    self.timed_out = true;
                    self.ask.close(self.transcript)?;
                    self.transcript.line("· the time is over; cancelling")?;
                    self.cancel();
                }
                Some(done) = self.calls.join_next() => {
                    if let Ok(done) = done
                        && let Some(end) = self.done(done)?
                    {
                        return Ok(Followed::Ended(end));
                    }
                }
                key = self.ask.key() => if self.key(&key?).await? {
                    return Ok(Followed::Left);
                },
                item = self.live.next() => match item? {
                    Item::Event(incoming) => {
                        news = Instant::now();
                        if let Some(end) = self.event(&incoming)? {
                            self.ask.close(self.transcript)?;
                            return Ok(Followed::Ended(end));
                        }
                    }
                    Item::Reconnected => self.send_again(),
                },
                _ = tick.tick(), if self.show && self.transcript.screen.is_live() => {
                    self.transcript.quiet(news.elapsed().as_secs())?;
                }
            }
        }
    }

    fn event(&mut self, incoming: &Incoming) -> Result<Option<TurnEnd>, Failure> {
        if self.raw {
            let mut out = io::stdout().lock();
            out.write_all(incoming.raw.get().as_bytes())?;
            out.write_all(b"\n")?;
            out.flush()?;
        }
        let event = &incoming.event.event;
        if self.show && incoming.event.seq.is_some_and(|seq| seq <= self.replay_to) {
            self.transcript.past(event)?;
        } else if self.show {
            self.transcript.event(event)?;
        }
        let end = match event {
            AnyEvent::Durable(event) => self.durable(event)?,
            AnyEvent::Ephemeral(_) | AnyEvent::Unknown(_) => None,
        };
        if end.is_none() && self.is_settled() {
            self.transcript.end_past()?;
            for request in std::mem::take(&mut self.unsettled) {
                self.question(&request)?;
            }
        }
        self.ask.redraw(self.transcript)?;
        Ok(end)
    }

    fn durable(&mut self, event: &Event) -> Result<Option<TurnEnd>, Failure> {
        match event {
            Event::TurnQueued { turn_id, .. } => self.waits(turn_id.clone()),
            Event::TurnStarted { turn_id, .. } => {
                self.queued &= *turn_id != self.turn;
                self.waiting.retain(|waiting| waiting != turn_id);
            }
            Event::MessageCompleted { turn_id, role: Role::Assistant, content, .. } if *turn_id == self.turn => {
                self.text = text_of(content);
            }
            Event::ToolEnded { status: ToolStatus::Denied, content, .. } => self.was_denied(content)?,
            Event::PermissionRequested { request } if self.whole_session || request.turn_id == self.turn => {
                self.unsettled.push(request.clone());
            }
            Event::PermissionResolved { request_id, .. } => {
                self.unsettled.retain(|request| request.request_id != *request_id);
                self.ask.resolved(request_id, self.transcript)?;
            }
            Event::TurnEnded { turn_id, reason, error, usage, cost, duration_ms, structured_output }
                if *turn_id == self.turn =>
            {
                return Ok(Some(TurnEnd {
                    reason: *reason,
                    error: error.clone(),
                    text: std::mem::take(&mut self.text),
                    usage: *usage,
                    cost: *cost,
                    duration_ms: *duration_ms,
                    structured_output: structured_output.clone(),
                }));
            }
            Event::TurnEnded { turn_id, .. } => self.waiting.retain(|waiting| waiting != turn_id),
            _ => {}
        }
        Ok(None)
    }

    /// Whether all that is known has been seen, so that an open question is open.
    fn is_settled(&self) -> bool {
        self.backlog.is_empty() && self.live.last_seq() >= self.replay_to
    }

    fn cancel(&mut self) {
        self.cancelling = true;
        let params = TurnCancelParams {
            session_id: self.session.clone(),
            turn_id: Some(self.turn.clone()),
            reason: CancelReason::UserAbort,
            tasks: false,
        };
        if let Some(client) = self.live.client() {
            self.calls.spawn(async move { Done::Cancelled(proto::client::call::<TurnCancel>(&*client, params).await) });
        }
    }

    fn send_again(&mut self) {
        if self.cancelling {
            self.cancel();
        }
        for params in std::mem::take(&mut self.unsent) {
            self.answer(params);
        }
    }

    /// Takes in a call's answer; the turn's end, if it never started and therefore has no event of it.
    fn done(&mut self, done: Done) -> Result<Option<TurnEnd>, Failure> {
        match done {
            Done::Cancelled(Ok(result)) => {
                if let Some(pids) = result.still_running.filter(|pids| !pids.is_empty()) {
                    let pids: Vec<String> = pids.iter().map(u32::to_string).collect();
                    self.transcript.line(&format!("! still running after the grace period: {}", pids.join(", ")))?;
                }
                let gone = self.queued && result.cancelled.contains(&self.turn);
                Ok(gone.then(|| TurnEnd {
                    reason: EndReason::AbortedStreaming,
                    error: None,
                    text: String::new(),
                    usage: Usage::default(),
                    cost: None,
                    duration_ms: 0,
                    structured_output: None,
                }))
            }
            Done::Cancelled(Err(error)) if live::is_disconnect(&error) => Ok(None), // sent again when connected
            Done::Cancelled(Err(error)) => {
                self.transcript.line(&format!("! {}", live::failure(&error).message))?;
                Ok(None)
            }
            Done::Answered(params, result) => self.answered(*params, result).map(|()| None),
            Done::Explained(result) => self.explained(result).map(|()| None),
            Done::Queued(text, result) => self.queued_prompt(&text, result).map(|()| None),
        }
    }
}

/// The text of a message.
pub fn text_of(content: &[MessageBlock]) -> String {
    let texts = content.iter().filter_map(|block| match block {
        MessageBlock::Text { text } => Some(text.as_str()),
        _ => None,
    });
    texts.collect::<Vec<_>>().join("\n")
}

async fn until(deadline: Option<Instant>) {
    match deadline {
        Some(deadline) => tokio::time::sleep_until(deadline).await,
        None => std::future::pending().await,
    }
}
