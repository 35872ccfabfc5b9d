//! The questions of a turn that is followed: what the keys at them do, and the calls that this takes.

use super::{Done, Follow, OnAsk};
use crate::ask::{self, Asked, NOBODY_TO_ASK, Pressed};
use crate::editor;
use crate::environment::Environment;
use crate::failure::Failure;
use crate::live;
use crate::render::escape::one_line;
use crate::render::{request, trace};
use futures::FutureExt;
use jsonrpsee::core::client::Error;
use proto::ErrorKind;
use proto::content::{ContentBlock, plain_text};
use proto::methods::{
    PermissionExplain, PermissionExplainParams, PermissionExplainResult, PermissionRespond, PermissionRespondParams,
};
use proto::permission::{PermissionDecision, PermissionRequest};

impl Follow<'_> {
    /// Does with a question what is to be done with all of this turn.
    pub(super) fn question(&mut self, request: &PermissionRequest) -> Result<(), Failure> {
        match self.on_ask {
            OnAsk::Keys => self.ask.open(request.clone(), self.transcript).map_err(|error| {
                Failure::new(format!(
                    "cannot ask on this terminal ({error}); answer with `agentctl allow {}`",
                    request.request_id
                ))
            })?,
            OnAsk::Deny => {
                let title = request::headline(request);
                self.transcript.line(&format!("· denied, since nobody is there to ask: {title}"))?;
                self.transcript.own_answer(request.request_id.clone());
                let message = Some(NOBODY_TO_ASK.to_owned());
                self.answer(PermissionRespondParams { message, stop: Some(false), ..ask::deny(&request.request_id) });
            }
            OnAsk::Wait => {}
        }
        Ok(())
    }

    /// Notes that a call was denied. Where nobody was there to ask, it is told once what can be done about it.
    pub(super) fn was_denied(&mut self, content: &[ContentBlock]) -> Result<(), Failure> {
        self.denied = true;
        if self.on_ask == OnAsk::Deny && self.show && !self.hinted && lacked_a_person(content) {
            self.hinted = true;
            let style = self.transcript.screen.style();
            self.transcript
                .line(&style.dim("· see --on-ask and --mode, and `agentctl explain` for why it is asked"))?;
        }
        Ok(())
    }

    /// Takes in a key press; whether the person leaves.
    pub(super) async fn key(&mut self, pressed: &str) -> Result<bool, Failure> {
        if self.ask.leaves(pressed) {
            let left = if self.ask.is_open() { "· the question waits" } else { "· the turn goes on" };
            self.ask.close(self.transcript)?;
            self.transcript.line(left)?;
            return Ok(true);
        }
        let mut leaves = false;
        match self.ask.press(pressed) {
            Some(Pressed::Answer(answer)) => {
                self.transcript.own_answer(answer.request_id.clone());
                if let (PermissionDecision::Allow, Some(call)) = (answer.decision, self.ask.shown_change()) {
                    self.transcript.own_diff(call);
                }
                self.answer((*answer).clone());
                self.ask.answered(&answer, self.transcript)?;
            }
            Some(Pressed::Explain) => self.explain(),
            Some(Pressed::ShowRest) => self.ask.show_rest(self.transcript)?,
            Some(Pressed::Edit) => self.edit().await?,
            Some(Pressed::Said(lines)) => {
                for line in lines {
                    leaves = leaves || self.said(line)?;
                }
            }
            Some(Pressed::Edited(draft)) => self.ask.edited(&draft, self.transcript)?,
            None => {}
        }
        self.ask.redraw(self.transcript)?;
        Ok(leaves)
    }

    pub(super) fn answer(&mut self, params: PermissionRespondParams) {
        match self.live.client() {
            Some(client) => {
                self.calls.spawn(async move {
                    let result = proto::client::call::<PermissionRespond>(&*client, params.clone()).await;
                    Done::Answered(Box::new(params), result.map(|_| ()))
                });
            }
            None => self.unsent.push(params),
        }
    }

    /// Takes in what became of an answer. One that cannot be taken leaves its question open: it is asked again.
    pub(super) fn answered(
        &mut self,
        params: PermissionRespondParams,
        result: Result<(), Error>,
    ) -> Result<(), Failure> {
        let Err(error) = result else { return Ok(()) };
        if live::is_disconnect(&error) {
            self.unsent.push(params);
            return Ok(());
        }
        let (said, is_open) = refused(&error);
        self.transcript.line(&format!("! {said}"))?;
        if is_open {
            self.transcript.foreign_answer(&params.request_id);
            self.ask.ask_again(&params.request_id, self.transcript)?;
        }
        Ok(())
    }

    fn explain(&mut self) {
        let (Some(client), Some(Asked { tool, input })) = (self.live.client(), self.ask.asked()) else { return };
        let (session_id, cwd, mode) = (Some(self.session.clone()), None, None);
        let params = PermissionExplainParams { session_id, cwd, mode, tool, input };
        self.calls
            .spawn(async move { Done::Explained(proto::client::call::<PermissionExplain>(&*client, params).await) });
    }

    pub(super) fn explained(&mut self, result: Result<PermissionExplainResult, Error>) -> Result<(), Failure> {
        let style = self.transcript.screen.style();
        let lines = match result {
            Ok(explained) => trace::lines(&explained, style),
            Err(error) => vec![format!("! {}", one_line(&live::failure(&error).message))],
        };
        lines.iter().try_for_each(|line| self.transcript.line(&format!("  {line}")))?;
        Ok(self.ask.redraw(self.transcript)?)
    }

    /// Has the input edited, in the person's editor if one is set. What happens meanwhile waits.
    async fn edit(&mut self) -> Result<(), Failure> {
        let Some(draft) = self.ask.draft() else { return Ok(()) };
        let Some(program) = editor::configured(&Environment::of_process()) else {
            self.ask.edit_here(draft);
            return Ok(());
        };
        self.ask.lend_keys(self.transcript)?;
        let (text, suffix) = (draft.text.clone(), draft.suffix);
        let edited = tokio::task::spawn_blocking(move || editor::edit(&program, &text, suffix)).await;
        while self.interrupts.recv().now_or_never().flatten().is_some() {} // a Ctrl-C in the editor was for the editor
        self.ask.take_keys()?;
        match edited {
            Ok(Ok(text)) => self.ask.edited(&draft.with(&text), self.transcript)?,
            Ok(Err(failure)) => self.transcript.line(&format!("! {}", one_line(&failure.message)))?,
            Err(error) => self.transcript.line(&format!("! the editor could not be run ({error})"))?,
        }
        Ok(())
    }
}

/// Whether a call was denied since nobody is there to ask, here or as agentd found: not by a rule, nor by a hook.
fn lacked_a_person(content: &[ContentBlock]) -> bool {
    plain_text(content).to_lowercase().contains("nobody is there to ask")
}

/// What an answer was refused with, in words, and whether its question is still open.
fn refused(error: &Error) -> (String, bool) {
    let kind = live::kind(error);
    let is = |other: ErrorKind| kind.as_deref() == Some(other.word());
    if is(ErrorKind::AlreadyResolved) {
        let winner = live::data(error, "by").unwrap_or_else(|| "another client".to_owned());
        return (format!("answered already by {}", one_line(&winner)), false);
    }
    (one_line(&live::failure(error).message), !is(ErrorKind::RequestNotFound))
}

#[cfg(test)]
mod tests {
    use super::*;
    use jsonrpsee_types::ErrorObject;
    use proto::RpcError;

    fn error(error: &RpcError) -> Error {
        let body = error.to_body();
        Error::Call(ErrorObject::owned(body.code, body.message, body.data))
    }

    #[test]
    fn only_a_lack_of_people_is_helped_by_options() {
        let denied = |text: String| lacked_a_person(&[ContentBlock::text(text)]);
        assert!(denied(format!("The person did not allow this call: {NOBODY_TO_ASK}")));
        assert!(denied("Not allowed: nobody is there to ask, and it has to be asked: x. Nothing was run.".to_owned()));
        assert!(!denied("Not allowed: the rule Bash(rm *) of the user denies it. Nothing was run.".to_owned()));
        assert!(!denied("Not allowed by a hook: not now. Nothing was run.".to_owned()));
    }

    #[test]
    fn a_lost_race_names_the_winner_and_any_other_refusal_keeps_the_question() {
        let lost = RpcError::new(ErrorKind::AlreadyResolved, "too late").with("by", "editor\u{1b}");
        assert_eq!(refused(&error(&lost)), ("answered already by editor^[".to_owned(), false));
        let gone = RpcError::new(ErrorKind::RequestNotFound, "no request r");
        assert_eq!(refused(&error(&gone)), ("no request r".to_owned(), false));
        let wrong = RpcError::new(ErrorKind::InvalidParams, "remember.rule: no such tool");
        assert_eq!(refused(&error(&wrong)), ("remember.rule: no such tool".to_owned(), true));
    }
}
