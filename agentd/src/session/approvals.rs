//! Questions to people: written down before they are asked, answered once, withdrawn with their call.

use super::actor::Actor;
use super::log::Room;
use super::turns::storage_failed;
use crate::policy::{Policy, Rule, Source, SourcedRule};
use proto::event::Event;
use proto::ids::{RequestId, ToolCallId};
use proto::methods::PermissionRespondParams;
use proto::permission::{DecisionReason, PermissionDecision, PermissionRequest, ReasonType, RuleScope};
use proto::{ErrorKind, RpcError};
use serde_json::Value;
use std::path::PathBuf;
use std::sync::Arc;
use tokio::sync::oneshot;

/// A person's answer, as the waiting call gets it.
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
        message: Option<String>,
        /// Whether the turn ends.
        stops_turn: bool,
    },
}

impl Actor {
    /// The policy for a call that starts now: rules and a mode that were changed meanwhile count from here on.
    pub(super) fn policy(&mut self) -> Policy {
        let settings = Arc::clone(&self.current_settings().settings);
        let state = self.log.state();
        let folder = PathBuf::from(&state.info.cwd);
        let source = Source::session(folder.clone());
        let session = state.session_rules.iter().filter_map(|rule| Rule::parse(rule).ok());
        let session = session.filter(|_| !settings.allow_managed_permission_rules_only);
        // A mode may have been switched off since the session took it.
        let mode = Some(state.info.mode).filter(|mode| settings.permissions.refusal(*mode).is_none());
        Policy {
            mode: mode.unwrap_or_default(),
            rules: Arc::clone(&settings.rules),
            session: session.map(|rule| SourcedRule { rule, source: source.clone() }).collect(),
            places: crate::tools::places(&folder, &self.env),
            loose_protected: settings.permissions.bypass_protected_paths,
            ..Policy::default()
        }
    }

    /// Writes the question down and keeps the call waiting. After a restart the question is there already.
    pub(super) fn ask(&mut self, request: PermissionRequest, reply: oneshot::Sender<Answer>) {
        if let Some(answer) = self.early.remove(&request.tool_call_id) {
            let _ = reply.send(answer);
            return;
        }
        let id = match self.open_request(&request.tool_call_id) {
            Some(id) => id,
            None => {
                let id = request.request_id.clone();
                if self.running.is_none() {
                    return;
                }
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

    fn open_request(&self, call: &ToolCallId) -> Option<RequestId> {
        let requests = &self.log.state().permissions;
        requests.iter().find(|open| open.request.tool_call_id == *call).map(|open| open.request.request_id.clone())
    }

    pub(super) fn respond(&mut self, params: PermissionRespondParams, by: &str) -> Result<(), RpcError> {
        let id = params.request_id.clone();
        let state = self.log.state();
        if let Some(winner) = state.resolved.get(&id) {
            let message = format!("request {id} was answered already, by {winner}");
            return Err(RpcError::new(ErrorKind::AlreadyResolved, message).with("by", winner.as_str()));
        }
        let Some(open) = state.permissions.iter().find(|open| open.request.request_id == id) else {
            return Err(RpcError::new(ErrorKind::RequestNotFound, format!("no request {id}: see permission/list")));
        };
        let call = open.request.tool_call_id.clone();
        let session_rule = session_rule(&params)?;
        let reason = DecisionReason {
            kind: ReasonType::User,
            layer: 9,
            detail: match params.decision {
                PermissionDecision::Allow => format!("allowed by {by}"),
                PermissionDecision::Deny => format!("denied by {by}"),
            },
            rule: session_rule.clone(),
            source: session_rule.as_ref().map(|_| "session".to_owned()),
        };
        let resolved = Event::PermissionResolved {
            request_id: id.clone(),
            decision: params.decision,
            by: by.to_owned(),
            reason: reason.clone(),
            session_rule,
        };
        self.log.append(&resolved, Room::Normal).map_err(storage_failed)?;
        let answer = match params.decision {
            PermissionDecision::Allow => Answer::Allow { updated_input: params.updated_input, reason },
            PermissionDecision::Deny => {
                let stops_turn = params.stop.unwrap_or(params.message.is_none());
                Answer::Deny { message: params.message, stops_turn }
            }
        };
        match self.asks.remove(&id) {
            // A call that was stopped meanwhile reports its own end.
            Some(waiting) => drop(waiting.send(answer)),
            None => drop(self.early.insert(call, answer)),
        }
        Ok(())
    }

    /// A question whose call starts without an answer, since the rules or the mode changed over a restart.
    pub(super) fn resolve_moot(&mut self, call: &ToolCallId, decision: &DecisionReason) {
        if let Some(request_id) = self.open_request(call) {
            self.resolve_by_agentd(request_id, PermissionDecision::Allow, decision.clone());
        }
    }

    /// A question whose call ends without an answer.
    pub(super) fn withdraw_question(&mut self, call: &ToolCallId) {
        if let Some(request_id) = self.open_request(call) {
            let reason = DecisionReason {
                kind: ReasonType::Headless,
                layer: 13,
                detail: "the call ended before the question was answered".to_owned(),
                rule: None,
                source: None,
            };
            self.resolve_by_agentd(request_id, PermissionDecision::Deny, reason);
        }
    }

    fn resolve_by_agentd(&mut self, request_id: RequestId, decision: PermissionDecision, reason: DecisionReason) {
        self.asks.remove(&request_id);
        let by = "agentd".to_owned();
        self.append_in_turn(&Event::PermissionResolved { request_id, decision, by, reason, session_rule: None });
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

/// The rule to remember. This version keeps rules of a session only.
fn session_rule(params: &PermissionRespondParams) -> Result<Option<String>, RpcError> {
    let Some(remember) = &params.remember else { return Ok(None) };
    let invalid = |message: String| RpcError::new(ErrorKind::InvalidParams, message);
    if params.decision == PermissionDecision::Deny {
        return Err(invalid("remember: only an allow can be remembered; write a deny rule into the settings".into()));
    }
    if remember.scope != RuleScope::Session {
        return Err(invalid(
            "remember.scope: only session is supported yet; write other rules into the settings".into(),
        ));
    }
    Rule::parse(&remember.rule).map_err(|error| invalid(format!("remember.rule: {error}")))?;
    Ok(Some(remember.rule.clone()))
}
