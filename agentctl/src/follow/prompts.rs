//! What is typed while a turn is followed: a prompt waits for the turn's end at agentd, not here.

use super::{Done, Follow};
use crate::failure::Failure;
use crate::live;
use crate::prompt;
use crate::render::escape::one_line;
use crate::slash::{self, Slash};
use jsonrpsee::core::client::Error;
use proto::ids::TurnId;
use proto::methods::{TurnStart, TurnStartResult};

impl Follow<'_> {
    /// Takes in a line that was typed; whether the person leaves.
    pub(super) fn said(&mut self, text: String) -> Result<bool, Failure> {
        match slash::parse(&text) {
            Some(Slash { name: "quit" | "exit", .. }) => {
                self.transcript.line("· the turn goes on")?;
                return Ok(true);
            }
            Some(Slash { name: "cancel", .. }) => self.cancel(),
            Some(Slash { name, .. }) => {
                self.transcript.line(&format!("· /{name} works between turns; Ctrl-C or /cancel ends this one"))?;
            }
            None if text.trim().is_empty() => {}
            None => self.queue(text)?,
        }
        Ok(false)
    }

    fn queue(&mut self, text: String) -> Result<(), Failure> {
        let Some(client) = self.live.client() else {
            self.ask.type_again(&text);
            return Ok(self.transcript.line("! not sent, as agentd is away; Enter tries again")?);
        };
        self.sending += 1;
        let params = prompt::params(&self.session, text.clone())?;
        self.calls.spawn(async move { Done::Queued(text, proto::client::call::<TurnStart>(&*client, params).await) });
        Ok(())
    }

    /// Takes in what became of a prompt. That it waits is told by its event.
    pub(super) fn queued_prompt(&mut self, text: &str, result: Result<TurnStartResult, Error>) -> Result<(), Failure> {
        self.sending = self.sending.saturating_sub(1);
        match result {
            Ok(started) => self.waits(started.turn_id),
            Err(error) => {
                self.ask.type_again(text);
                let why = one_line(&live::failure(&error).message);
                self.transcript.line(&format!("! not sent: {why}"))?;
            }
        }
        Ok(())
    }

    /// Notes a turn that waits for this one.
    pub(super) fn waits(&mut self, turn: TurnId) {
        if turn != self.turn && !self.waiting.contains(&turn) {
            self.waiting.push(turn);
        }
    }
}
