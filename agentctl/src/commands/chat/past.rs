//! `/rewind` and `/fork`: the slash commands of `chat` that go back in the conversation.

use super::{Chatter, RESUMABLE};
use crate::commands::rewind;
use crate::failure::Failure;
use crate::turns::Turns;
use proto::methods::{
    SessionDetach, SessionEvents, SessionEventsParams, SessionFork, SessionForkParams, SessionParams, SessionRewind,
    SessionRewindParams,
};
use proto::session::SessionStatus;

impl Chatter {
    /// Lists the turns, or takes back as many as are asked for.
    pub(super) async fn rewind(&mut self, argument: Option<&str>) -> Result<(), Failure> {
        let turns = self.turns().await?;
        let Some(argument) = argument else {
            for line in turns.lines() {
                self.transcript.line(&line)?;
            }
            return Ok(self.transcript.line("· /rewind N takes back that turn and all after it")?);
        };
        let (count, files) = wanted(argument).ok_or_else(|| {
            Failure::new("say how many turns, as in /rewind 1, or /rewind 1 files for their files too")
        })?;
        let turn = turns.back(count)?.clone();
        let session_id = self.session.id.clone();
        let params = SessionRewindParams { session_id, to_turn_id: turn.id.clone(), files };
        let result = self.ask_for::<SessionRewind>(params).await?;
        self.transcript.own_rewind(turn.id);
        self.transcript.line(&format!("· back to before: {}", turn.prompt))?;
        for line in rewind::told(&result) {
            self.transcript.line(&format!("  {line}"))?;
        }
        self.session = result.session;
        Ok(())
    }

    /// Makes a fork and goes over to it.
    pub(super) async fn fork(&mut self, title: Option<&str>) -> Result<(), Failure> {
        let title = title.map(str::to_owned);
        let params = SessionForkParams { session_id: self.session.id.clone(), at_seq: None, title };
        let forked = self.ask_for::<SessionFork>(params).await?.session;
        let before = std::mem::replace(&mut self.session, forked).id;
        // What has come of the other session meanwhile is not this one's.
        self.backlog.clear();
        let attached = self.live.attach(&self.session.id.clone(), self.session.last_seq, true).await?;
        (self.session, self.replay_to) = (attached.session, attached.replay_to);
        self.ask_for::<SessionDetach>(SessionParams { session_id: before.clone() }).await?;
        self.transcript.line(&format!("· now in session {}, a fork of {before}, which stays", self.session.id))?;
        if self.session.status == SessionStatus::Interrupted {
            self.transcript.line(RESUMABLE)?;
        }
        Ok(())
    }

    async fn turns(&self) -> Result<Turns, Failure> {
        let (mut turns, mut after_seq) = (Turns::default(), 0);
        loop {
            let params = SessionEventsParams { session_id: self.session.id.clone(), after_seq, limit: None };
            let page = self.ask_for::<SessionEvents>(params).await?;
            page.events.iter().for_each(|item| turns.apply(item));
            match page.events.iter().filter_map(|item| item.seq).max() {
                Some(last) if last < page.last_seq => after_seq = last,
                _ => return Ok(turns),
            }
        }
    }
}

/// How many turns, and whether their files too.
fn wanted(argument: &str) -> Option<(usize, bool)> {
    let mut words = argument.split_whitespace();
    let count = words.next()?.parse().ok()?;
    match (words.next(), words.next()) {
        (None, _) => Some((count, false)),
        (Some("files"), None) => Some((count, true)),
        _ => None,
    }
}

#[cfg(test)]
mod tests {
    use super::wanted;

    #[test]
    fn a_count_with_or_without_files() {
        for (argument, expected) in [
            ("1", Some((1, false))),
            ("12 files", Some((12, true))),
            ("files", None),
            ("1 file", None),
            ("1 files x", None),
        ] {
            assert_eq!(wanted(argument), expected, "{argument}");
        }
    }
}
