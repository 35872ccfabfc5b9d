//! Stage C: whether the call may run: rules, mode and the tool's own check, and a person's answer where one is needed.
//! Decides nothing itself: that is `policy`'s.

use super::hooks::Opinion;
use super::input::CallInput;
use super::validate::{blocking, replace};
use super::{CallJob, NotRun, ToolMessage};
use crate::base::ids;
use crate::policy::{self, Call, Decision, HookSays, Verdict};
use crate::session::approvals::Answer;
use crate::tools::{Tool, own_check};
use proto::permission::{DecisionReason, PermissionRequest, ReasonType, RuleScope, Suggestion};
use serde_json::Value;
use std::sync::Arc;
use tokio::sync::oneshot;

/// The input to run with, and why it may.
pub(super) async fn resolve(
    job: &CallJob,
    tool: &Arc<dyn Tool>,
    input: CallInput,
    opinion: Option<Opinion>,
) -> Result<(CallInput, DecisionReason), NotRun> {
    match decide(job, tool, &input, opinion.as_ref()).await? {
        Decision { verdict: Verdict::Allow, reason, .. } => Ok((input, reason)),
        Decision { verdict: Verdict::Deny, reason, .. } => Err(denied(&reason)),
        Decision { verdict: Verdict::Ask, reason, .. } => {
            let request = question(job, tool, &input, reason).await?;
            ask(job, tool, input, request).await
        }
    }
}

async fn decide(
    job: &CallJob,
    tool: &Arc<dyn Tool>,
    input: &CallInput,
    opinion: Option<&Opinion>,
) -> Result<Decision, NotRun> {
    let (own, seen, context) = (Arc::clone(tool), input.seen().clone(), job.context.clone());
    let reads_files = tool.checks_read_files(input.seen());
    let look = move || (own_check(own.as_ref(), &seen, &context), own.subject(&seen, &context));
    let (own, subject) = blocking(job, reads_files, look).await?;
    let hook = opinion.map(|opinion| match opinion {
        Opinion::Allow(reason) => HookSays::Allow(reason),
        Opinion::Ask(reason) => HookSays::Ask(reason),
    });
    let call = Call { hook, ..Call::new(tool.name(), input.seen(), &subject, &own) };
    Ok(policy::decide(&job.policy, call))
}

async fn question(
    job: &CallJob,
    tool: &Arc<dyn Tool>,
    input: &CallInput,
    reason: DecisionReason,
) -> Result<PermissionRequest, NotRun> {
    let (own, seen, context) = (Arc::clone(tool), input.seen().clone(), job.context.clone());
    let reads_files = tool.checks_read_files(input.seen());
    let (title, preview) = blocking(job, reads_files, move || (own.title(&seen), own.preview(&seen, &context))).await?;
    Ok(PermissionRequest {
        request_id: ids::fresh("req"),
        session_id: job.context.session_id.clone(),
        turn_id: job.turn_id.clone(),
        tool_call_id: job.context.tool_call_id.clone(),
        tool: tool.name().to_owned(),
        input: input.seen().clone(),
        title,
        suggestions: suggestions(&reason, tool.name(), input.seen()),
        reason,
        preview,
    })
}

async fn ask(
    job: &CallJob,
    tool: &Arc<dyn Tool>,
    input: CallInput,
    request: PermissionRequest,
) -> Result<(CallInput, DecisionReason), NotRun> {
    let (reply, answer) = oneshot::channel();
    if job.messages.send(ToolMessage::Ask { request: Box::new(request), reply }).await.is_err() {
        return Err(NotRun::Cancelled);
    }
    let answer = tokio::select! {
        biased;
        () = job.context.cancel.cancelled() => return Err(NotRun::Cancelled),
        answer = answer => answer.map_err(|_| NotRun::Cancelled)?,
    };
    match answer {
        Answer::Allow { updated_input: None, reason } => Ok((input, reason)),
        Answer::Allow { updated_input: Some(written), reason } => {
            let input = replace(job, tool, input, written, "changed by the person").await?;
            // The person's own input is checked like the model's: a rule that denies still does.
            match decide(job, tool, &input, None).await? {
                Decision { verdict: Verdict::Deny, reason, .. } => Err(denied(&reason)),
                Decision { verdict: Verdict::Allow | Verdict::Ask, .. } => Ok((input, reason)),
            }
        }
        Answer::Deny { message, stops_turn } => {
            let text = match message {
                Some(message) => format!("The person did not allow this call: {message}"),
                None => "The person did not allow this call. Nothing was run.".to_owned(),
            };
            Err(NotRun::Denied { text, stops_turn })
        }
    }
}

fn denied(reason: &DecisionReason) -> NotRun {
    NotRun::Denied { text: format!("Not allowed: {}. Nothing was run.", reason.detail), stops_turn: false }
}

/// What can be remembered with a yes: for a command, that command to the letter; for an edit, edits. A
/// question that a rule, a hook or a safety check wants comes again, so nothing is offered.
fn suggestions(reason: &DecisionReason, tool: &str, input: &Value) -> Vec<Suggestion> {
    if reason.kind != ReasonType::Mode {
        return Vec::new();
    }
    let (rule, label) = match tool {
        "Edit" | "Write" => ("Edit".to_owned(), "allow all edits of files in this session".to_owned()),
        "Bash" => match input.get("command").and_then(Value::as_str) {
            Some(command) if !command.contains('*') => {
                (format!("Bash({command})"), "allow exactly this command in this session".to_owned())
            }
            _ => return Vec::new(),
        },
        tool => (tool.to_owned(), format!("allow {tool} in this session")),
    };
    vec![Suggestion { label, rule, scope: RuleScope::Session }]
}
