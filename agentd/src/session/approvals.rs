//! Questions to people: written down before they are asked, answered once, withdrawn with their call. Part of the
//! actor; what an answer is to be remembered as is in `remembering`.

use super::actor::Actor;
use super::judging::{policy_of, session_rules};
use super::log::Room;
use super::mailbox::Reply;
use super::remembering::Remembered;
use super::turns::storage_failed;
use crate::policy::{Counters, Policy};
use proto::content::ContentBlock;
use proto::event::Event;
use proto::ids::{RequestId, ToolCallId};
use proto::methods::{PermissionRespondParams, PermissionRespondResult};
use proto::permission::{DecisionReason, PermissionDecision, PermissionRequest, ReasonType};
use proto::{ErrorKind, RpcError};
use serde_json::Value;
use std::path::Path;
use std::sync::Arc;
use tokio::sync::oneshot;

/// Who answers for agentd itself.
const AGENTD: &str = "agentd";

/// An answer, as the waiting call gets it.
#[derive(Debug, Clone, PartialEq)]
pub(super) enum Answer {
    /// The call runs.
    Allow {
        /// With this input in place of the model's.
        updated_input: Option<Value>,
        /// Who allowed it.
        reason: DecisionReason,
    },
    /// The call does not run.
    Deny {
        /// What the model is told.
        text: String,
        /// What goes along with that, such as pictures (row P18).
        content: Vec<ContentBlock>,
        /// Whether the turn ends.
        stops_turn: bool,
    },
}

/// What somebody answers.
pub(super) struct Given {
    /// The answer.
    pub params: PermissionRespondParams,
    /// Who gives it.
    pub by: String,
    /// Who is to be told.
    pub reply: Reply<PermissionRespondResult>,
}

/// An answer that came before its call asked again, after a restart, with what the person saw.
pub(super) struct Early {
    shown: PermissionRequest,
    answer: Answer,
}

/// Whether two questions show the same to a person (their ids, reasons and offers aside).
pub(super) fn show_the_same(one: &PermissionRequest, other: &PermissionRequest) -> bool {
    let shown = |request: &PermissionRequest| {
        let PermissionRequest { tool, input, cwd, title, notes, preview, .. } = request.clone();
        (tool, input, cwd, title, notes, preview)
    };
    shown(one) == shown(other)
}

impl Actor {
    /// The policy for a call that starts now: rules and a mode that were changed meanwhile count from here on.
    pub(super) fn policy(&mut self) -> Policy {
        let settings = Arc::clone(&self.current_settings().settings);
        let state = self.log.state();
        let folder = Path::new(&state.info.cwd);
        Policy {
            counters: Counters { in_a_row: state.denials.0, total: state.denials.1 },
            session: session_rules(&settings, &state.session_rules, folder),
            ..policy_of(&settings, folder, state.info.mode, &self.env)
        }
    }

    /// Writes the question down and keeps the call waiting. After a restart the question is there already; it holds
    /// as long as it would show the same today.
    pub(super) fn ask(&mut self, request: PermissionRequest, reply: oneshot::Sender<Answer>) {
        if let Some(early) = self.early.remove(&request.tool_call_id)
            && show_the_same(&early.shown, &request)
        {
            let _ = reply.send(early.answer);
            return;
        }
        if self.running.is_none() {
            return;
        }
        let open = self.open_request(&request.tool_call_id);
        let id = match open {
            Some(open) if show_the_same(open, &request) => open.request_id.clone(),
            stale => {
                let stale = stale.map(|open| open.request_id.clone());
                if let Some(stale) = stale {
                    let detail = "what it showed has changed since; it is asked anew";
                    self.resolve_by_agentd(stale, PermissionDecision::Deny, nobody(detail));
                }
                let id = request.request_id.clone();
                self.append_in_turn(&Event::PermissionRequested { request });
                self.sync_soon();
                id
            }
        };
        self.asks.insert(id, reply);
        if self.running.as_ref().is_some_and(|turn| turn.storage_error.is_some()) {
            self.step(crate::turn::Input::Cancel(crate::turn::CancelKind::StorageFailed));
        }
    }

    fn open_request(&self, call: &ToolCallId) -> Option<&PermissionRequest> {
        let requests = &self.log.state().permissions;
        requests.iter().map(|open| &open.request).find(|request| request.tool_call_id == *call)
    }

    /// An answer. The first one that is whole wins: one whose rule is still being written is waited for.
    pub(super) fn respond(&mut self, given: Given) {
        if let Some(behind) = self.remembering.get_mut(&given.params.request_id) {
            behind.push(given);
            return;
        }
        match self.examine(&given.params) {
            Err(error) => drop(given.reply.send(Err(error))),
            Ok(()) if given.params.remember.is_some() => self.remember(given),
            Ok(()) => self.settle(given, None),
        }
    }

    /// Whether an answer can be one.
    fn examine(&self, params: &PermissionRespondParams) -> Result<(), RpcError> {
        let (id, state) = (&params.request_id, self.log.state());
        if let Some(winner) = state.resolved.get(id) {
            let message = format!("request {id} was answered already, by {winner}");
            return Err(RpcError::new(ErrorKind::AlreadyResolved, message).with("by", winner.as_str()));
        }
        let mut open = state.permissions.iter().map(|open| &open.request);
        let Some(shown) = open.find(|request| request.request_id == *id) else {
            return Err(RpcError::new(ErrorKind::RequestNotFound, format!("no request {id}: see permission/list")));
        };
        match params.decision {
            PermissionDecision::Deny if params.remember.is_some() => {
                let message = "remember: only an allow can be remembered; write a deny rule into the settings";
                Err(RpcError::new(ErrorKind::InvalidParams, message))
            }
            PermissionDecision::Deny if params.updated_input.is_some() => {
                let message =
                    "updatedInput: what is denied runs with no input; leave it out, and tell the model in message";
                Err(RpcError::new(ErrorKind::InvalidParams, message).with("field", "updatedInput"))
            }
            PermissionDecision::Deny => Ok(()),
            PermissionDecision::Allow => self.examine_input(shown, params.updated_input.as_ref()),
        }
    }

    /// Whether a person's own input has the shape that the tool takes. What the tool makes of it beyond that, its call
    /// finds out.
    fn examine_input(&self, shown: &PermissionRequest, written: Option<&Value>) -> Result<(), RpcError> {
        let Some(written) = written.filter(|written| **written != shown.input) else { return Ok(()) };
        let tool = self.running.as_ref().and_then(|turn| turn.tools.get(&shown.tool));
        let checked = match written {
            Value::Object(_) => tool.map_or(Ok(()), |tool| tool.check_input(written)),
            _ => Err("it is not a JSON object".to_owned()),
        };
        checked.map_err(|problem| {
            let message = format!(
                "updatedInput: {problem}. Send the whole input of {}, or leave updatedInput out; the question is still open",
                shown.tool
            );
            RpcError::new(ErrorKind::InvalidParams, message).with("field", "updatedInput")
        })
    }

    /// Resolves a question by an answer whose rules, if it has any, are in their file.
    pub(super) fn settle(&mut self, given: Given, remembered: Option<Remembered>) {
        let Given { params, by, reply } = given;
        // While a rule was written, the call may have been stopped.
        let settled = self.examine(&params).and_then(|()| self.resolve(params, &by, remembered));
        let _ = reply.send(settled);
    }

    fn resolve(
        &mut self,
        params: PermissionRespondParams,
        by: &str,
        remembered: Option<Remembered>,
    ) -> Result<PermissionRespondResult, RpcError> {
        let id = params.request_id;
        let requests = &self.log.state().permissions;
        let Some(shown) = requests.iter().map(|open| &open.request).find(|open| open.request_id == id).cloned() else {
            return Err(RpcError::new(ErrorKind::RequestNotFound, format!("no request {id}: see permission/list")));
        };
        let changed = params.updated_input.as_ref().is_some_and(|input| *input != shown.input);
        let detail = match params.decision {
            PermissionDecision::Allow if changed => format!("allowed by {by}, who changed the input"),
            PermissionDecision::Allow => format!("allowed by {by}"),
            PermissionDecision::Deny => format!("denied by {by}"),
        };
        let reason = DecisionReason {
            kind: ReasonType::User,
            layer: 9,
            detail,
            rule: remembered.as_ref().map(Remembered::text),
            source: remembered.as_ref().map(Remembered::source),
        };
        let file = remembered.as_ref().and_then(|remembered| remembered.file.as_ref());
        let file = file.map(|file| file.display().to_string());
        let mut session_rules = remembered.map(Remembered::into_session_rules).unwrap_or_default().into_iter();
        let resolved = Event::PermissionResolved {
            request_id: id.clone(),
            decision: params.decision,
            by: by.to_owned(),
            reason: reason.clone(),
            session_rule: session_rules.next(),
            further_session_rules: session_rules.collect(),
        };
        self.log.append(&resolved, Room::Normal).map_err(storage_failed)?;
        let answer = match params.decision {
            PermissionDecision::Allow => Answer::Allow { updated_input: params.updated_input, reason },
            PermissionDecision::Deny => {
                let silent = params.message.is_none() && params.content.is_empty();
                let stops_turn = params.stop.unwrap_or(silent);
                let text = match params.message {
                    Some(message) => format!("The person did not allow this call: {message}"),
                    None => "The person did not allow this call. Nothing was run.".to_owned(),
                };
                Answer::Deny { text, content: params.content, stops_turn }
            }
        };
        self.pass_on(shown, answer);
        Ok(PermissionRespondResult { file })
    }

    /// Gives an answer to its call, or keeps it until that asks.
    fn pass_on(&mut self, shown: PermissionRequest, answer: Answer) {
        match self.asks.remove(&shown.request_id) {
            // A call that was stopped meanwhile reports its own end.
            Some(waiting) => drop(waiting.send(answer)),
            None => drop(self.early.insert(shown.tool_call_id.clone(), Early { shown, answer })),
        }
    }

    /// A PermissionRequest hook has answered, beside the people who are asked. It counts if it is the first.
    pub(super) fn hook_answers(&mut self, call: &ToolCallId, answer: Answer, reason: DecisionReason) {
        let Some(shown) = self.open_request(call).cloned() else { return };
        if self.remembering.contains_key(&shown.request_id) {
            return;
        }
        let decision = match answer {
            Answer::Allow { .. } => PermissionDecision::Allow,
            Answer::Deny { .. } => PermissionDecision::Deny,
        };
        self.append_in_turn(&resolution(shown.request_id.clone(), decision, "hook", reason));
        self.pass_on(shown, answer);
    }

    /// The classifier has denied a call: that is written down, so that it is counted, also after a restart.
    pub(super) fn classifier_denies(&mut self, reason: DecisionReason) {
        let id = crate::base::ids::fresh("req");
        self.append_in_turn(&resolution(id, PermissionDecision::Deny, "classifier", reason));
    }

    /// A question whose call starts without an answer, since the rules or the mode changed over a restart.
    pub(super) fn resolve_moot(&mut self, call: &ToolCallId, decision: &DecisionReason) {
        if let Some(open) = self.open_request(call) {
            self.resolve_by_agentd(open.request_id.clone(), PermissionDecision::Allow, decision.clone());
        }
    }

    /// A question whose call ends without an answer.
    pub(super) fn withdraw_question(&mut self, call: &ToolCallId) {
        if let Some(open) = self.open_request(call) {
            let reason = nobody("the call ended before the question was answered");
            self.resolve_by_agentd(open.request_id.clone(), PermissionDecision::Deny, reason);
        }
    }

    fn resolve_by_agentd(&mut self, request_id: RequestId, decision: PermissionDecision, reason: DecisionReason) {
        self.asks.remove(&request_id);
        self.append_in_turn(&resolution(request_id, decision, AGENTD, reason));
    }

    fn sync_soon(&self) {
        let journal = self.log.journal().clone();
        tokio::spawn(async move {
            if let Err(error) = journal.sync().await {
                tracing::error!(%error, "a log could not be synced");
            }
        });
    }
}

fn resolution(request_id: RequestId, decision: PermissionDecision, by: &str, reason: DecisionReason) -> Event {
    Event::PermissionResolved {
        request_id,
        decision,
        by: by.to_owned(),
        reason,
        session_rule: None,
        further_session_rules: Vec::new(),
    }
}

/// Why a question ended that nobody has answered.
fn nobody(detail: &str) -> DecisionReason {
    DecisionReason { kind: ReasonType::Headless, layer: 13, detail: detail.to_owned(), rule: None, source: None }
}
