//! How turns and sessions end: by themselves, by a cancel, by a close, by agentd's own stop. Part of the
//! actor; each turn gets its end written once, and who waits for it is answered.

use super::actor::Actor;
use super::log::Room;
use super::mailbox::Reply;
use super::turns::storage_failed;
use crate::turn::{CancelKind, Input};
use proto::event::{EndReason, Event, TurnError};
use proto::ids::TurnId;
use proto::methods::{TurnCancelParams, TurnCancelResult, TurnWaitResult};
use proto::session::{SessionStatus, Usage};
use tokio::sync::oneshot;

impl Actor {
    pub(super) fn end_unstarted(&mut self, turn_id: TurnId, reason: EndReason, error: Option<(&str, String)>) {
        let error = error.map(|(kind, message)| TurnError { kind: kind.to_owned(), message });
        let usage = Usage::default();
        self.append_end(Event::TurnEnded {
            turn_id,
            reason,
            error,
            usage,
            cost: None,
            duration_ms: 0,
            structured_output: None,
        });
    }

    /// Appends a turn's end and answers those who wait for it.
    pub(super) fn append_end(&mut self, event: Event) {
        let Event::TurnEnded { turn_id, reason, usage, cost, structured_output, .. } = &event else { return };
        let open = self.log.state().turn.as_ref().filter(|turn| turn.id == *turn_id);
        let text = open.map(|turn| turn.text.clone()).unwrap_or_default();
        if let Err(error) = self.log.append(&event, Room::Reserve) {
            // Not even the reserve could be written. The log is loaded anew when it is next asked for; its
            // recovery closes the turn then.
            tracing::error!(session = %self.log.state().info.id, %error, "the end of a turn was not kept");
            self.finish();
        }
        let result = TurnWaitResult {
            reason: *reason,
            text,
            usage: *usage,
            cost: *cost,
            structured_output: structured_output.clone(),
        };
        for (_, waiter) in self.waiters.extract_if(.., |(waited, _)| waited == turn_id) {
            let _ = waiter.send(Some(result.clone()));
        }
        self.last_end = Some((turn_id.clone(), result));
        self.keep_snapshot();
    }

    pub(super) fn wait_turn(&mut self, turn_id: TurnId, reply: oneshot::Sender<Option<TurnWaitResult>>) {
        let state = self.log.state();
        let open = state.turn.as_ref().is_some_and(|turn| turn.id == turn_id)
            || state.queue.iter().any(|turn| turn.id == turn_id);
        if open {
            self.waiters.retain(|(_, waiter)| !waiter.is_closed());
            self.waiters.push((turn_id, reply));
        } else {
            let known = self.last_end.as_ref().filter(|(ended, _)| *ended == turn_id);
            let _ = reply.send(known.map(|(_, result)| result.clone()));
        }
    }

    pub(super) fn cancel(&mut self, params: TurnCancelParams, reply: oneshot::Sender<Option<TurnCancelResult>>) {
        let state = self.log.state();
        let meant = |id: &TurnId| params.turn_id.as_ref().is_none_or(|wanted| wanted == id);
        let queued: Vec<TurnId> = state.queue.iter().map(|turn| turn.id.clone()).filter(|id| meant(id)).collect();
        let running = state.turn.as_ref().map(|turn| turn.id.clone()).filter(|id| meant(id));
        for id in &queued {
            self.end_unstarted(id.clone(), EndReason::AbortedStreaming, None);
        }
        let cancelled: Vec<TurnId> = running.iter().cloned().chain(queued).collect();
        match (&mut self.running, running) {
            (Some(turn), Some(_)) => {
                turn.cancel_waiters.push((cancelled, reply));
                self.step(Input::Cancel(CancelKind::UserAbort));
            }
            _ if cancelled.is_empty() && params.turn_id.is_some() => drop(reply.send(None)),
            _ => {
                let already_idle = cancelled.is_empty();
                let _ = reply.send(Some(TurnCancelResult { cancelled, already_idle, still_running: None }));
            }
        }
    }

    pub(super) fn close(&mut self, reply: Reply<()>) {
        self.closing.push(reply);
        let queued: Vec<TurnId> = self.log.state().queue.iter().map(|turn| turn.id.clone()).collect();
        for id in queued {
            self.end_unstarted(id, EndReason::AbortedStreaming, None);
        }
        if self.running.is_some() {
            self.step(Input::Cancel(CancelKind::UserAbort));
        } else {
            self.close_now();
        }
    }

    /// Writes that the session is closed, and ends the actor.
    pub(super) fn close_now(&mut self) {
        let closed = self.log.state().info.status == SessionStatus::Closed;
        let result = match closed {
            true => Ok(()),
            false => self.log.append(&Event::SessionClosed {}, Room::Reserve).map(drop).map_err(storage_failed),
        };
        self.keep_snapshot();
        for reply in self.closing.drain(..) {
            let _ = reply.send(result.clone());
        }
        self.finish();
    }

    /// A turn that only waits for a person goes on waiting in the log; any other is interrupted.
    pub(super) fn interrupt_for_stop(&mut self) {
        if matches!(super::recovery::plan(self.log.state()), super::recovery::Recovery::Revive(_)) {
            self.running = None;
        } else if self.running.is_some() {
            self.step(Input::Cancel(CancelKind::Restart));
        }
    }
}
