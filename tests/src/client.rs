//! A raw client of the socket: lines of JSON, written and read by hand, so that the wire itself is
//! under test. A thread reads; calls and waits block. Dropping it fails the test if a durable event or
//! an answer was left unread.

use crate::event::Event;
use crate::{Daemon, PATIENCE};
use serde::Deserialize;
use serde_json::value::RawValue;
use serde_json::{Value, json};
use std::cell::Cell;
use std::collections::{BTreeMap, VecDeque};
use std::io::{BufRead, BufReader, Write};
use std::net::Shutdown;
use std::os::unix::net::UnixStream;
use std::path::Path;
use std::sync::{Arc, Condvar, Mutex};
use std::thread;
use std::time::Instant;

/// A connection.
#[derive(Debug)]
pub struct Client {
    stream: UnixStream,
    inbox: Arc<Inbox>,
    next_id: Cell<u64>,
    leave: Cell<bool>,
}

/// An error answer.
#[derive(Debug, Clone, PartialEq, Deserialize)]
pub struct RpcErrorView {
    /// The code.
    pub code: i64,
    /// The sentence.
    pub message: String,
    /// Further data; its `kind` is a stable word.
    #[serde(default)]
    pub data: Value,
}

/// A call whose answer has not been taken.
#[derive(Debug)]
#[must_use]
pub struct Call {
    id: u64,
    method: String,
}

#[derive(Debug, Default)]
struct Inbox {
    state: Mutex<Messages>,
    changed: Condvar,
}

#[derive(Debug, Default)]
struct Messages {
    events: VecDeque<Event>,
    answers: BTreeMap<u64, Value>,
    others: VecDeque<Value>,
    closed: bool,
}

impl Client {
    /// Connects to a daemon.
    #[must_use]
    pub fn connect(daemon: &Daemon) -> Self {
        Self::connect_to(&daemon.home().socket())
    }

    /// Connects to a socket.
    ///
    /// # Panics
    /// If nobody listens on it.
    #[must_use]
    pub fn connect_to(socket: &Path) -> Self {
        let stream = UnixStream::connect(socket).unwrap_or_else(|error| panic!("{}: {error}", socket.display()));
        let reading = stream.try_clone().expect("a second handle of the socket");
        let inbox = Arc::new(Inbox::default());
        let filling = Arc::clone(&inbox);
        thread::spawn(move || filling.fill(reading));
        Self { stream, inbox, next_id: Cell::new(1), leave: Cell::new(false) }
    }

    /// Sends a request without waiting for its answer.
    pub fn begin(&self, method: &str, params: &Value) -> Call {
        let id = self.next_id.replace(self.next_id.get() + 1);
        let request = json!({"jsonrpc": "2.0", "id": id, "method": method, "params": params});
        self.send_raw(format!("{request}\n").as_bytes());
        Call { id, method: method.to_owned() }
    }

    /// Waits for the answer.
    ///
    /// # Errors
    /// The error answer.
    ///
    /// # Panics
    /// If there is no answer in time, or it is not one of JSON-RPC.
    pub fn finish(&self, call: &Call) -> Result<Value, RpcErrorView> {
        let mut answer = self.wait(&format!("no answer to {}", call.method), |inbox| inbox.answers.remove(&call.id));
        assert_eq!(answer["jsonrpc"], "2.0", "{answer}");
        match (answer.get("result").is_some(), answer.get("error").is_some()) {
            (true, false) => Ok(answer["result"].take()),
            (false, true) => Err(serde_json::from_value(answer["error"].take()).expect("an error object")),
            _ => panic!("an answer has a result or an error: {answer}"),
        }
    }

    /// Calls a method.
    ///
    /// # Errors
    /// The error answer.
    pub fn call(&self, method: &str, params: &Value) -> Result<Value, RpcErrorView> {
        self.finish(&self.begin(method, params))
    }

    /// Calls a method that must succeed.
    ///
    /// # Panics
    /// If it does not.
    pub fn call_ok(&self, method: &str, params: &Value) -> Value {
        self.call(method, params).unwrap_or_else(|error| panic!("{method} {params}: {error:?}"))
    }

    /// Calls a method that must fail.
    ///
    /// # Panics
    /// If it succeeds.
    pub fn call_err(&self, method: &str, params: &Value) -> RpcErrorView {
        match self.call(method, params) {
            Ok(result) => panic!("{method} {params} should fail, but gave {result}"),
            Err(error) => error,
        }
    }

    /// Sends bytes as they are.
    ///
    /// # Panics
    /// If the connection is closed.
    pub fn send_raw(&self, bytes: &[u8]) {
        (&self.stream).write_all(bytes).expect("the daemon takes bytes");
    }

    /// Ends the sending half: the daemon reads an end of file.
    ///
    /// # Panics
    /// If the connection is closed.
    pub fn finish_sending(&self) {
        self.stream.shutdown(Shutdown::Write).expect("the connection is open");
    }

    /// The next message that is neither an event nor the answer to a call of `begin`.
    pub fn next_other(&self) -> Value {
        self.wait("no further message", |inbox| inbox.others.pop_front())
    }

    /// Waits until the daemon has closed the connection.
    pub fn wait_closed(&self) {
        let mut state = self.inbox.state.lock().unwrap();
        let end = Instant::now() + PATIENCE;
        while !state.closed {
            let left = end.saturating_duration_since(Instant::now());
            assert!(!left.is_zero(), "the daemon did not close the connection");
            state = self.inbox.changed.wait_timeout(state, left).unwrap().0;
        }
    }

    /// The next event, ephemeral ones included.
    pub fn next_event(&self) -> Event {
        self.wait("no further event", |inbox| inbox.events.pop_front())
    }

    /// The next durable event, which must be of this type.
    ///
    /// # Panics
    /// If it is of another.
    pub fn expect_event(&self, kind: &str) -> Event {
        loop {
            let event = self.next_event();
            if event.is_durable() {
                assert_eq!(event.kind, kind, "the next durable event is {}", event.body);
                return event;
            }
        }
    }

    /// All events up to the first one of this type, that one included.
    pub fn events_until(&self, kind: &str) -> Vec<Event> {
        self.events_while(&format!("until {kind}"), |event| event.kind != kind)
    }

    /// All events until there is one of each of these types, in whatever order: a call may start before its message is
    /// complete.
    pub fn events_until_all(&self, kinds: &[&str]) -> Vec<Event> {
        let mut missing = kinds.to_vec();
        self.events_while(&format!("until {kinds:?}"), |event| {
            missing.retain(|kind| *kind != event.kind);
            !missing.is_empty()
        })
    }

    /// All events up to the first one that `more` is false for, that one included.
    ///
    /// # Panics
    /// If none comes.
    pub fn events_while(&self, what: &str, mut more: impl FnMut(&Event) -> bool) -> Vec<Event> {
        let mut events: Vec<Event> = Vec::new();
        let end = Instant::now() + 2 * PATIENCE;
        loop {
            assert!(Instant::now() < end, "waiting {what}, there is no end of events: [{}]", crate::outline(&events));
            let failure = || format!("waiting {what}, no further event after [{}]", crate::outline(&events));
            let event = self.wait_or(failure, |inbox| inbox.events.pop_front());
            let go_on = more(&event);
            events.push(event);
            if !go_on {
                return events;
            }
        }
    }

    /// The events that are here already.
    pub fn events_so_far(&self) -> Vec<Event> {
        self.inbox.state.lock().unwrap().events.drain(..).collect()
    }

    /// What is unread at the end is fine.
    pub fn leave(&self) {
        self.leave.set(true);
    }

    fn wait<T>(&self, failure: &str, take: impl FnMut(&mut Messages) -> Option<T>) -> T {
        self.wait_or(|| failure.to_owned(), take)
    }

    fn wait_or<T>(&self, failure: impl Fn() -> String, mut take: impl FnMut(&mut Messages) -> Option<T>) -> T {
        let mut state = self.inbox.state.lock().unwrap();
        let end = Instant::now() + PATIENCE;
        loop {
            if let Some(taken) = take(&mut state) {
                return taken;
            }
            let left = end.saturating_duration_since(Instant::now());
            if state.closed || left.is_zero() {
                let closed = if state.closed { "the daemon closed the connection: " } else { "" };
                // Not while the reading thread may wait for it.
                drop(state);
                panic!("{closed}{}", failure());
            }
            state = self.inbox.changed.wait_timeout(state, left).unwrap().0;
        }
    }
}

/// The verbs of most tests.
impl Client {
    /// Creates a session in a folder and attaches to it. Its id.
    pub fn session(&self, cwd: &Path) -> String {
        self.session_with(&json!({"cwd": cwd}))
    }

    /// Creates a session with these params and attaches to it. Its id.
    ///
    /// # Panics
    /// If that fails.
    pub fn session_with(&self, params: &Value) -> String {
        let session = self.call_ok("session/create", params)["session"].clone();
        let id = session["id"].as_str().expect("a session has an id").to_owned();
        self.attach(&id, session["lastSeq"].as_u64().expect("a session has a last number"));
        id
    }

    /// Attaches to a session. The result.
    pub fn attach(&self, session: &str, after: u64) -> Value {
        self.call_ok("session/attach", &json!({"sessionId": session, "afterSeq": after}))
    }

    /// Sends a prompt. The turn's id.
    ///
    /// # Panics
    /// If that fails.
    pub fn prompt(&self, session: &str, text: &str) -> String {
        let result = self.call_ok("turn/start", &json!({"sessionId": session, "prompt": text}));
        result["turnId"].as_str().expect("a turn has an id").to_owned()
    }

    /// Sends a prompt and takes all events up to the end of its turn.
    pub fn run(&self, session: &str, text: &str) -> Vec<Event> {
        self.prompt(session, text);
        self.events_until("turn.ended")
    }

    /// Takes events up to the next permission request and answers it. All of them, the request last.
    pub fn decide_next(&self, decision: &str) -> Vec<Event> {
        let events = self.events_until("permission.requested");
        let request = events.last().map(|event| event.text("requestId").to_owned()).unwrap_or_default();
        self.call_ok("permission/respond", &json!({"requestId": request, "decision": decision}));
        events
    }

    /// The log of a session, without attaching.
    ///
    /// # Panics
    /// If it is not what the protocol says.
    #[must_use]
    pub fn log(&self, session: &str) -> Vec<Value> {
        let result = self.call_ok("session/events", &json!({"sessionId": session}));
        result["events"].as_array().expect("a list of events").clone()
    }
}

impl Inbox {
    fn fill(&self, reading: UnixStream) {
        for line in BufReader::new(reading).lines() {
            let Ok(line) = line else { break };
            self.add(&line);
        }
        self.state.lock().unwrap().closed = true;
        self.changed.notify_all();
    }

    fn add(&self, line: &str) {
        let message: Message<'_> = match serde_json::from_str(line) {
            Ok(message) => message,
            Err(_) => Message { id: None, method: None, params: None },
        };
        let mut state = self.state.lock().unwrap();
        match (message.method, message.id, message.params) {
            (Some("session/event"), None, Some(params)) => state.events.push_back(Event::parse(params.get())),
            (None, Some(id), _) => {
                let answer = serde_json::from_str(line).expect("it was parsed before");
                state.answers.insert(id, answer);
            }
            _ => {
                let other = serde_json::from_str(line).unwrap_or_else(|_| Value::from(line));
                state.others.push_back(other);
            }
        }
        drop(state);
        self.changed.notify_all();
    }
}

#[derive(Deserialize)]
struct Message<'a> {
    id: Option<u64>,
    method: Option<&'a str>,
    #[serde(borrow)]
    params: Option<&'a RawValue>,
}

impl Drop for Client {
    fn drop(&mut self) {
        let _ = self.stream.shutdown(Shutdown::Both);
        if std::thread::panicking() || self.leave.get() {
            return;
        }
        let state = self.inbox.state.lock().unwrap();
        let events = state.events.iter().filter(|event| event.is_durable()).map(|event| &event.body);
        let unread: Vec<String> =
            events.chain(state.answers.values()).chain(&state.others).map(Value::to_string).collect();
        drop(state);
        assert!(unread.is_empty(), "the client left these unread:\n{}", unread.join("\n"));
    }
}
