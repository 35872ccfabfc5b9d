//! The long-lived connection: calls while the events of one session stream in. It survives a restart of
//! the daemon and a subscription that fell behind: it attaches again after the last event that it handed
//! out, so that the caller sees each durable event once. Used by `chat`, `run`, `attach` and `logs --follow`.

use crate::connect;
use crate::failure::Failure;
use crate::start::Target;
use crate::transport;
use jsonrpsee::core::client::{Client, ClientBuilder, Error, Subscription, SubscriptionClientT};
use proto::ErrorKind;
use proto::event::{AnyEvent, Event, SESSION_EVENT, SESSION_LAGGED, SessionEvent, SessionLagged};
use proto::ids::{RequestId, SessionId};
use proto::methods::{Initialize, Method, SessionAttach, SessionAttachParams, SessionAttachResult};
use serde_json::value::RawValue;
use std::collections::HashSet;
use std::future::Future;
use std::sync::Arc;
use std::time::Duration;

/// Events that may wait for us before jsonrpsee drops the subscription, which costs an attach.
const EVENT_BUFFER: usize = 16 * 1024;
/// Tries before a daemon that was killed is started again: who looks after it otherwise comes first.
const CRASH_TRIES: u32 = 20;
/// How often a lost daemon is looked for, and how long between.
const RECONNECT_TRIES: u32 = 100;
const RECONNECT_PAUSE: Duration = Duration::from_millis(100);
/// No call of ours is cut by time; the longest is a cancel that waits for processes to end.
const CALL_TIMEOUT: Duration = Duration::from_secs(24 * 3600);

/// Runs the long-lived part of a command on this thread.
pub fn block_on<T>(work: impl Future<Output = Result<T, Failure>>) -> Result<T, Failure> {
    let runtime = tokio::runtime::Builder::new_current_thread()
        .enable_all()
        .build()
        .map_err(|error| Failure::new(format!("cannot start the runtime: {error}")))?;
    let outcome = runtime.block_on(work);
    runtime.shutdown_background(); // a line that is being edited must not hold us
    outcome
}

/// An event with its own bytes.
pub struct Incoming {
    /// The params of `session/event`, as they came.
    pub raw: Box<RawValue>,
    /// The same, read.
    pub event: SessionEvent,
}

/// What the stream hands out.
pub enum Item {
    /// An event.
    Event(Box<Incoming>),
    /// The connection was lost and found again; what was live before is repeated from its start.
    Reconnected,
}

struct Link {
    client: Arc<Client>,
    events: Subscription<Box<RawValue>>,
    lagged: Subscription<SessionLagged>,
}

impl Link {
    async fn open(target: &Target) -> Result<Self, Failure> {
        let lost = |error: &dyn std::fmt::Display| {
            Failure::new(format!("cannot connect to {} ({error})", target.socket.display()))
        };
        let (sender, receiver) = transport::connect(&target.socket).await.map_err(|error| lost(&error))?;
        let client = ClientBuilder::new()
            .request_timeout(CALL_TIMEOUT)
            .max_buffer_capacity_per_subscription(EVENT_BUFFER)
            .build_with_tokio(sender, receiver);
        let events = client.subscribe_to_method(SESSION_EVENT).await.map_err(|error| lost(&error))?;
        let lagged = client.subscribe_to_method(SESSION_LAGGED).await.map_err(|error| lost(&error))?;
        proto::client::call::<Initialize>(&client, connect::greeting()).await.map_err(|error| failure(&error))?;
        Ok(Self { client: Arc::new(client), events, lagged })
    }
}

/// The stream's place in a session.
struct Place {
    session: SessionId,
    last_seq: u64,
    ephemeral: bool,
}

/// The connection.
pub struct Live {
    target: Target,
    link: Option<Link>,
    place: Option<Place>,
    /// Requests that were handed out: an attach sends open ones again, whatever their number.
    asked: HashSet<RequestId>,
    tries: u32,
}

impl Live {
    /// Connects, starting agentd if none runs.
    pub async fn open(target: &Target) -> Result<Self, Failure> {
        let link = match Link::open(target).await {
            Ok(link) => link,
            Err(_) => {
                target.connect()?; // starts agentd, or tells what stands in the way
                Link::open(target).await?
            }
        };
        Ok(Self { target: target.clone(), link: Some(link), place: None, asked: HashSet::new(), tries: 0 })
    }

    /// Subscribes to a session's events after `after_seq`.
    pub async fn attach(
        &mut self,
        session: &SessionId,
        after_seq: u64,
        ephemeral: bool,
    ) -> Result<SessionAttachResult, Failure> {
        self.place = Some(Place { session: session.clone(), last_seq: after_seq, ephemeral });
        let params = SessionAttachParams { session_id: session.clone(), after_seq, ephemeral };
        self.call::<SessionAttach>(params).await.map_err(|error| failure(&error))
    }

    /// Calls a method. An error of the connection is repaired by the next `next`.
    pub async fn call<M: Method>(&self, params: M::Params) -> Result<M::Result, Error> {
        match &self.link {
            Some(link) => proto::client::call::<M>(&*link.client, params).await,
            None => Err(Error::ServiceDisconnect),
        }
    }

    /// The client itself, for calls that run while events are read.
    pub fn client(&self) -> Option<Arc<Client>> {
        self.link.as_ref().map(|link| Arc::clone(&link.client))
    }

    /// The next event. Cancel-safe: an event that was not handed out is handed out next time.
    pub async fn next(&mut self) -> Result<Item, Failure> {
        loop {
            let Some(link) = &mut self.link else {
                self.reconnect().await?;
                return Ok(Item::Reconnected);
            };
            tokio::select! {
                biased;
                raw = link.events.next() => match raw {
                    Some(Ok(raw)) => {
                        if let Some(incoming) = self.accept(raw) {
                            return Ok(Item::Event(Box::new(incoming)));
                        }
                    }
                    Some(Err(_)) => {}
                    None => self.link = None, // the connection ended, or our buffer was full
                },
                Some(_) = link.lagged.next() => self.link = None, // we know our place best ourselves
            }
        }
    }

    /// The number of the last durable event that was handed out.
    pub fn last_seq(&self) -> u64 {
        self.place.as_ref().map_or(0, |place| place.last_seq)
    }

    /// Waits until the connection is there again and what it lacked can be asked for once more.
    pub async fn repair(&mut self) -> Result<(), Failure> {
        self.link = None;
        self.reconnect().await
    }

    async fn reconnect(&mut self) -> Result<(), Failure> {
        loop {
            match self.try_again().await {
                Ok(()) => {
                    self.tries = 0;
                    return Ok(());
                }
                Err(error) if self.tries >= RECONNECT_TRIES => {
                    return Err(Failure::new(format!(
                        "agentd went away and did not come back; nothing is lost, `agentctl start` brings it up ({error})"
                    )));
                }
                Err(_) => self.tries += 1,
            }
            if self.tries == CRASH_TRIES && self.target.is_deserted() {
                self.start_again().await?;
            }
            tokio::time::sleep(RECONNECT_PAUSE).await;
        }
    }

    /// Starts agentd in place of one that was killed; one that was stopped is left stopped.
    async fn start_again(&self) -> Result<(), Failure> {
        let target = self.target.clone();
        match tokio::task::spawn_blocking(move || target.connect().map(drop)).await {
            Ok(started) => started,
            Err(error) => Err(Failure::new(format!("agentd could not be started ({error})"))),
        }
    }

    async fn try_again(&mut self) -> Result<(), Failure> {
        let link = Link::open(&self.target).await?;
        if let Some(place) = &self.place {
            let (session_id, after_seq) = (place.session.clone(), place.last_seq);
            let params = SessionAttachParams { session_id, after_seq, ephemeral: place.ephemeral };
            let attached = proto::client::call::<SessionAttach>(&*link.client, params).await;
            attached.map_err(|error| {
                if kind(&error).as_deref() == Some(ErrorKind::SessionNotFound.word()) {
                    self.tries = RECONNECT_TRIES; // it is gone for good
                }
                failure(&error)
            })?;
        }
        self.link = Some(link);
        Ok(())
    }

    /// Reads an event and drops it if it was handed out before, or is of another session.
    fn accept(&mut self, raw: Box<RawValue>) -> Option<Incoming> {
        let event: SessionEvent = serde_json::from_str(raw.get()).ok()?;
        let place = self.place.as_mut().filter(|place| place.session == event.session_id)?;
        let known = event.seq.is_some_and(|seq| seq <= place.last_seq);
        if let Some(seq) = event.seq {
            place.last_seq = place.last_seq.max(seq);
        }
        let accepted = match request_of(&event.event) {
            Some(request) => self.asked.insert(request.clone()),
            None => !known,
        };
        accepted.then_some(Incoming { raw, event })
    }
}

fn request_of(event: &AnyEvent) -> Option<&RequestId> {
    match event {
        AnyEvent::Durable(Event::PermissionRequested { request }) => Some(&request.request_id),
        AnyEvent::Durable(Event::QuestionRequested { request_id, .. }) => Some(request_id),
        _ => None,
    }
}

/// An error of jsonrpsee's client as one sentence.
pub fn failure(error: &Error) -> Failure {
    match error {
        Error::Call(body) => Failure::new(body.message()),
        Error::ParseError(error) => {
            Failure::new(format!("agentd's answer cannot be read ({error}); is agentctl of the same version?"))
        }
        _ => Failure::new("agentd closed the connection before it answered; `agentctl doctor` shows why"),
    }
}

/// Whether an error is one of the connection, rather than a refusal.
pub fn is_disconnect(error: &Error) -> bool {
    !matches!(error, Error::Call(_) | Error::ParseError(_))
}

/// The error's stable word, where the daemon gave one.
pub fn kind(error: &Error) -> Option<String> {
    data(error, "kind")
}

/// A text that the daemon gave with an error.
pub fn data(error: &Error, field: &str) -> Option<String> {
    let Error::Call(body) = error else { return None };
    let data: serde_json::Value = serde_json::from_str(body.data()?.get()).ok()?;
    Some(data.get(field)?.as_str()?.to_owned())
}
