//! A call that needs a person: the question, who answers it, and that what runs is what was shown. With nobody there
//! a hook answers, else it is no.

use super::input::CallInput;
use super::permission::{self, Decided, denied};
use super::validate::{blocking, replace, tool_use_error};
use super::{CallJob, NotRun, ToolMessage, hooks, shown, suggestions};
use crate::base::{ids, text};
use crate::policy::{Subject, Verdict};
use crate::session::approvals::{Answer, show_the_same};
use crate::session::hooks::PermissionSaid;
use crate::tools::Tool;
use proto::content::ContentBlock;
use proto::event::OnAsk;
use proto::permission::{DecisionReason, PermissionRequest, Preview, ReasonType};
use serde_json::Value;
use std::sync::Arc;
use tokio::sync::oneshot;

/// The layers whose no stands whatever a person says: deny rules, and what the tool itself can't allow.
const FINAL_LAYERS: u8 = 3;
/// Characters of a changed input that the model is told.
const TOLD_CHARS: usize = 2000;

/// The input to run with, and who allowed it.
pub(super) async fn decide(
    job: &CallJob,
    tool: &Arc<dyn Tool>,
    input: CallInput,
    decided: Decided,
) -> Result<(CallInput, DecisionReason), NotRun> {
    let subject = decided.subject.clone();
    let Question { request, .. } = question(job, tool, &input, decided).await?;
    let answer = match job.on_ask {
        OnAsk::Wait => asked(job, tool, &input, &request).await?,
        OnAsk::Deny => nobody_there(job, tool, &input, &request).await?,
    };
    match answer {
        Answer::Allow { updated_input, reason } => {
            let changed = updated_input.filter(|written| *written != request.input);
            let input = match changed {
                None => as_shown(job, tool, input, Shown { request: &request, subject: &subject }).await?,
                Some(written) => as_changed(job, tool, input, written).await?,
            };
            Ok((input, reason))
        }
        Answer::Deny { text, content, stops_turn } => Err(NotRun::Denied { text, content, stops_turn }),
    }
}

/// What a person was asked about.
struct Shown<'a> {
    request: &'a PermissionRequest,
    subject: &'a Subject,
}

impl Shown<'_> {
    /// Whether it is all the same now. Why a part of a line is asked about depends on rules too, which the answer itself
    /// may have changed: of a line it is the files and classes that count.
    fn is(&self, subject: &Subject, now: &PermissionRequest) -> bool {
        let by_subject = |preview: &Option<Preview>| matches!(preview, Some(Preview::Command { .. }));
        let both_lines = by_subject(&self.request.preview) && by_subject(&now.preview);
        let same = |request: &PermissionRequest| PermissionRequest { preview: None, ..request.clone() };
        *subject == *self.subject
            && if both_lines {
                show_the_same(&same(now), &same(self.request))
            } else {
                show_the_same(now, self.request)
            }
    }
}

/// A question, and what runs after a yes where that is not the input itself.
struct Question {
    request: PermissionRequest,
    to_run: Option<Value>,
}

/// All that a person is shown.
async fn question(
    job: &CallJob,
    tool: &Arc<dyn Tool>,
    input: &CallInput,
    decided: Decided,
) -> Result<Question, NotRun> {
    let (own, seen, context) = (Arc::clone(tool), input.seen().clone(), job.context.clone());
    let reads_files = tool.checks_read_files(input.seen());
    let simulated = match shown::is_one_edit(&decided) {
        true => tool.simulate(input.call(), &job.context).await,
        false => None,
    };
    let (edit, to_run) = simulated.map(|simulated| (simulated.preview, simulated.input)).unzip();
    let commands = edit.or_else(|| shown::commands(&decided));
    let preview = move || (own.title(&seen), commands.or_else(|| own.preview(&seen, &context)));
    let (title, preview) = blocking(job, reads_files, preview).await?;
    let scopes = suggestions::scopes(job.context.trusted, job.policy.managed_only);
    let request = PermissionRequest {
        request_id: ids::fresh("req"),
        session_id: job.context.session_id.clone(),
        turn_id: job.turn_id.clone(),
        tool_call_id: job.context.tool_call_id.clone(),
        tool: tool.name().to_owned(),
        input: input.seen().clone(),
        cwd: job.context.cwd.display().to_string(),
        title,
        notes: shown::notes(input.seen(), &decided.subject, &job.policy.places),
        suggestions: suggestions::of(&decided, tool.name(), &scopes),
        scopes,
        reason: decided.decision.reason,
        preview,
    };
    Ok(Question { request, to_run })
}

/// The first answer of a person or of a hook that is asked beside them.
async fn asked(
    job: &CallJob,
    tool: &Arc<dyn Tool>,
    input: &CallInput,
    request: &PermissionRequest,
) -> Result<Answer, NotRun> {
    let (reply, mut answer) = oneshot::channel();
    let message = ToolMessage::Ask { request: Box::new(request.clone()), reply };
    if job.messages.send(message).await.is_err() {
        return Err(NotRun::Cancelled);
    }
    if job.hooks.has_permission_request() {
        let said = tokio::select! {
            biased;
            () = job.context.cancel.cancelled() => return Err(NotRun::Cancelled),
            answer = &mut answer => return answer.map_err(|_| NotRun::Cancelled),
            said = hooks::permission_request(job, tool.as_ref(), input, request) => said,
        };
        if let Some((answer, reason)) = by_hook(said) {
            let id = job.context.tool_call_id.clone();
            let message = ToolMessage::HookAnswers { id, answer, reason: Box::new(reason) };
            if job.messages.send(message).await.is_err() {
                return Err(NotRun::Cancelled);
            }
        }
    }
    tokio::select! {
        biased;
        () = job.context.cancel.cancelled() => Err(NotRun::Cancelled),
        answer = answer => answer.map_err(|_| NotRun::Cancelled),
    }
}

/// No question is opened: a hook decides, else it is no (row P13).
async fn nobody_there(
    job: &CallJob,
    tool: &Arc<dyn Tool>,
    input: &CallInput,
    request: &PermissionRequest,
) -> Result<Answer, NotRun> {
    let said = match job.hooks.has_permission_request() {
        false => PermissionSaid::Pass,
        true => tokio::select! {
            biased;
            () = job.context.cancel.cancelled() => return Err(NotRun::Cancelled),
            said = hooks::permission_request(job, tool.as_ref(), input, request) => said,
        },
    };
    match by_hook(said) {
        Some((answer, _)) => Ok(answer),
        None => Err(denied(&headless(&request.reason))),
    }
}

/// Why a call is denied that nobody is there to ask about.
fn headless(reason: &DecisionReason) -> DecisionReason {
    DecisionReason {
        kind: ReasonType::Headless,
        layer: 13,
        detail: format!("nobody is there to ask, and it has to be asked: {}", reason.detail),
        rule: reason.rule.clone(),
        source: reason.source.clone(),
    }
}

fn by_hook(said: PermissionSaid) -> Option<(Answer, DecisionReason)> {
    let because =
        |detail: String| DecisionReason { kind: ReasonType::Hook, layer: 13, detail, rule: None, source: None };
    match said {
        PermissionSaid::Pass => None,
        PermissionSaid::Allow { reason, updated_input } => {
            let reason = because(format!("allowed by a hook: {reason}"));
            Some((Answer::Allow { updated_input, reason: reason.clone() }, reason))
        }
        PermissionSaid::Deny { reason, stops_turn } => {
            let because = because(format!("denied by a hook: {reason}"));
            let text = format!("Not allowed by a hook: {reason}. Nothing was run.");
            Some((Answer::Deny { text, content: Vec::new(), stops_turn }, because))
        }
    }
}

/// The input as it was shown, if that is still what would run: files, links and rules may have changed while the
/// question was open.
async fn as_shown(
    job: &CallJob,
    tool: &Arc<dyn Tool>,
    input: CallInput,
    shown: Shown<'_>,
) -> Result<CallInput, NotRun> {
    let decided = check_rules(job, tool, &input).await?;
    let subject = decided.subject.clone();
    let Question { request: now, to_run } = question(job, tool, &input, decided).await?;
    let folder_is_gone = tool.runs_commands() && !job.context.cwd.is_dir();
    if shown.is(&subject, &now) && !folder_is_gone {
        return Ok(input.run_as_shown(to_run));
    }
    let text = match &shown.request.preview {
        _ if folder_is_gone => format!("the folder {} is gone", shown.request.cwd),
        Some(Preview::Diff { .. }) => "the file, or where its path leads, has changed. Read it again first".to_owned(),
        _ => "what it would use has changed. Look at it again, then call it anew".to_owned(),
    };
    let text = format!("Not run: since the person was asked, {text}.");
    Err(NotRun::Failed(tool_use_error(&text)))
}

/// The person's own input in the place of the model's. It is checked like the model's.
async fn as_changed(
    job: &CallJob,
    tool: &Arc<dyn Tool>,
    input: CallInput,
    written: Value,
) -> Result<CallInput, NotRun> {
    let input = replace(job, tool, input, written, "changed by the person").await?;
    check_rules(job, tool, &input).await?;
    Ok(input)
}

/// What the model is told of a call that ran with a person's input in the place of its own; it may not be what it
/// asked for any more.
pub(super) fn told_of_change(
    tool: &dyn Tool,
    asked: &Value,
    input: &CallInput,
    decision: &DecisionReason,
) -> Option<ContentBlock> {
    let changed = decision.kind == ReasonType::User && input.call() != asked;
    changed.then(|| {
        let runs = input.call().to_string();
        let shown = text::head(&runs, TOLD_CHARS);
        let dots = if shown.len() < runs.len() { "…" } else { "" };
        let name = tool.name();
        ContentBlock::text(format!("The person changed the input of this call of {name}. It ran with: {shown}{dots}"))
    })
}

/// A rule that denies still does, also one that was added since the question was asked.
async fn check_rules(job: &CallJob, tool: &Arc<dyn Tool>, input: &CallInput) -> Result<Decided, NotRun> {
    let policy = permission::policy_now(job).await?;
    let decided = permission::decide(job, tool, input, &policy, None).await?;
    let reason = &decided.decision.reason;
    match decided.decision.verdict {
        Verdict::Deny if reason.layer <= FINAL_LAYERS => Err(denied(reason)),
        Verdict::Deny | Verdict::Allow | Verdict::Ask => Ok(decided),
    }
}
