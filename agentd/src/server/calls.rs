//! The calls of one connection that are under way: when each starts, and how many there may be.
//! Owned by the connection's reader.
//!
//! * Calls start in the order of their requests: each is polled once, in order, and goes on in a task of
//!   its own only if it is not done by then.
//! * At most [`MAX_REQUESTS_IN_FLIGHT`] run at once. Further ones wait in order, up to
//!   [`WAITING_BYTES`] of them; beyond that a request is refused with "limit reached". Reading goes on
//!   all the while, because of the next rule.
//! * `turn/cancel` and `permission/respond` never wait: they have a lane of their own, of the same width.

use super::Server;
use super::connection::Connection;
use super::dispatch;
use super::methods::{Call, URGENT};
use super::outbox::Message;
use super::request::{Incoming, Refused};
use crate::base::limits::MAX_REQUESTS_IN_FLIGHT;
use futures::FutureExt;
use futures::future::BoxFuture;
use proto::{ErrorKind, RpcError};
use std::collections::VecDeque;
use std::future::poll_fn;
use std::sync::Arc;
use std::task::Poll;
use tokio::task::{JoinSet, coop};
use tokio_util::sync::CancellationToken;

/// How much may wait to be started.
const WAITING_BYTES: usize = 8 << 20;

/// The calls of one connection.
pub struct Calls {
    server: Arc<Server>,
    connection: Arc<Connection>,
    ordinary: JoinSet<()>,
    urgent: JoinSet<()>,
    waiting: VecDeque<(Incoming, usize)>,
    waiting_bytes: usize,
}

impl Calls {
    /// None yet.
    pub fn new(server: Arc<Server>, connection: Arc<Connection>) -> Self {
        Self {
            server,
            connection,
            ordinary: JoinSet::new(),
            urgent: JoinSet::new(),
            waiting: VecDeque::new(),
            waiting_bytes: 0,
        }
    }

    /// Takes a frame that was read; `bytes` is its size.
    pub async fn submit(&mut self, incoming: Incoming, bytes: usize) {
        self.start_waiting().await;
        while self.urgent.try_join_next().is_some() {}
        if is_urgent(&incoming) {
            if self.urgent.len() < MAX_REQUESTS_IN_FLIGHT {
                self.start(incoming, true).await;
            } else {
                self.refuse(incoming).await;
            }
        } else if self.waiting.is_empty() && self.ordinary.len() < MAX_REQUESTS_IN_FLIGHT {
            self.start(incoming, false).await;
        } else if self.waiting_bytes + bytes <= WAITING_BYTES {
            self.waiting_bytes += bytes;
            self.waiting.push_back((incoming, bytes));
        } else {
            self.refuse(incoming).await;
        }
    }

    /// Resolves when a call has ended and the next ones have been started; never if none runs.
    pub async fn progress(&mut self) {
        tokio::select! {
            Some(_) = self.ordinary.join_next() => {}
            Some(_) = self.urgent.join_next() => {}
            else => std::future::pending().await,
        }
        self.start_waiting().await;
    }

    /// Lets what runs come to its end; what waits is not started any more.
    pub async fn settle(&mut self) {
        self.waiting.clear();
        while self.ordinary.join_next().await.is_some() {}
        while self.urgent.join_next().await.is_some() {}
    }

    /// Whether nothing runs or waits.
    pub fn is_empty(&self) -> bool {
        self.ordinary.is_empty() && self.urgent.is_empty() && self.waiting.is_empty()
    }

    /// Starts what may start. Cancel-safe: nothing is off the list that has not started.
    async fn start_waiting(&mut self) {
        loop {
            // Many short calls in a row must not keep the writer, which may be on the same thread, from running.
            coop::consume_budget().await;
            while self.ordinary.try_join_next().is_some() {}
            if self.ordinary.len() >= MAX_REQUESTS_IN_FLIGHT {
                return;
            }
            let Some((incoming, bytes)) = self.waiting.pop_front() else { return };
            self.waiting_bytes -= bytes;
            self.start(incoming, false).await;
        }
    }

    /// Starts a call. Never suspends, although the compiler can't see it.
    async fn start(&mut self, incoming: Incoming, urgent: bool) {
        let mut task = self.task(incoming);
        // The budget that the runtime gives a task is the reader's here; a call must not start late for it.
        let first = coop::unconstrained(poll_fn(|context| Poll::Ready(task.as_mut().poll(context))));
        if first.await.is_pending() {
            let lane = if urgent { &mut self.urgent } else { &mut self.ordinary };
            lane.spawn(task);
        }
    }

    fn task(&self, incoming: Incoming) -> BoxFuture<'static, ()> {
        let (server, connection) = (self.server.clone(), self.connection.clone());
        async move {
            let answered = CancellationToken::new();
            let methods = server.methods().clone();
            let call = Call { server, connection: connection.clone(), answered: answered.clone() };
            if let Some(answer) = dispatch::answer(incoming, methods, call.into()).await {
                connection.send(Message::text(answer)).await;
            }
            answered.cancel();
        }
        .boxed()
    }

    async fn refuse(&self, incoming: Incoming) {
        let message = "too many requests of this connection are under way; wait for answers before sending more";
        let error = RpcError::new(ErrorKind::LimitReached, message)
            .with("limit", "requestsInFlight")
            .with("value", MAX_REQUESTS_IN_FLIGHT);
        let id = match incoming {
            Incoming::One(Ok(request)) if request.id.is_none() => return,
            Incoming::One(Ok(request)) => request.id,
            Incoming::One(Err(refused)) => refused.id,
            Incoming::Batch(_) => None,
        };
        self.connection.send(Message::text(dispatch::refusal(&Refused { id, error }))).await;
    }
}

impl Drop for Calls {
    /// What runs goes on without the connection, since a session's work does not hang on who asked for it.
    fn drop(&mut self) {
        self.ordinary.detach_all();
        self.urgent.detach_all();
    }
}

fn is_urgent(incoming: &Incoming) -> bool {
    matches!(incoming, Incoming::One(Ok(request)) if URGENT.contains(&request.method.as_str()))
}
