//! Stages B and F: what hooks say before and after a call, and what becomes of it. The hooks themselves are behind
//! the trait; a hook that panics stops a call that has not run, and changes nothing of one that has.

use super::input::CallInput;
use super::validate::{self, tool_use_error};
use super::{CallJob, NotRun};
use crate::session::hooks::{AfterTool, BeforeTool, CallView, HookDecision, PermissionSaid, ResultView};
use crate::tools::{Tool, ToolOutput};
use futures::FutureExt as _;
use futures::future::BoxFuture;
use proto::content::ContentBlock;
use proto::permission::{DecisionReason, PermissionRequest};
use std::panic::AssertUnwindSafe;
use std::sync::Arc;

/// What hooks add to a call, however it ends.
#[derive(Debug, Default)]
pub(super) struct Told {
    /// For the model, before what the tool adds.
    pub before: Vec<ContentBlock>,
    /// For the model, after what the tool adds.
    pub after: Vec<ContentBlock>,
    /// Why the turn ends.
    pub stop: Option<String>,
}

/// What a hook said that permission is to weigh.
#[derive(Debug, PartialEq, Eq)]
pub(super) enum Opinion {
    /// No question is needed.
    Allow(String),
    /// A question is.
    Ask(String),
}

/// Stage B (rows H02, H08).
pub(super) async fn before(
    job: &CallJob,
    tool: &Arc<dyn Tool>,
    input: CallInput,
    told: &mut Told,
) -> Result<(CallInput, Option<Opinion>), NotRun> {
    let said: BeforeTool = tokio::select! {
        biased;
        () = job.context.cancel.cancelled() => return Err(NotRun::Cancelled),
        said = guarded(job, || job.hooks.before_tool(view(job, tool.as_ref(), &input))) => said.ok_or_else(|| NotRun::Failed(tool_use_error(&broken(tool.as_ref()))))?,
    };
    told.before = content(tool.as_ref(), said.messages, said.additional_context);
    if said.prevent_continuation {
        told.stop = Some(said.stop_reason.unwrap_or_else(|| "Execution stopped by PreToolUse hook".to_owned()));
    }
    if let Some(text) = said.stop {
        return Err(NotRun::denied(text));
    }
    let opinion = match said.decision {
        Some(HookDecision::Deny { reason }) => {
            let text = format!("Not allowed by a hook: {reason}. Nothing was run.");
            return Err(NotRun::denied(text));
        }
        Some(HookDecision::Allow { reason }) => Some(Opinion::Allow(reason)),
        Some(HookDecision::Ask { reason }) => Some(Opinion::Ask(reason)),
        None => None,
    };
    let input = match said.updated_input {
        Some(written) => validate::replace(job, tool, input, written, "changed by a hook").await?,
        None => input,
    };
    Ok((input, opinion))
}

/// What a hook says to a question; one that panics says nothing.
pub(super) async fn permission_request(
    job: &CallJob,
    tool: &dyn Tool,
    input: &CallInput,
    request: &PermissionRequest,
) -> PermissionSaid {
    let said = guarded(job, || job.hooks.permission_request(view(job, tool, input), request)).await;
    said.unwrap_or(PermissionSaid::Pass)
}

/// Whether a hook lets the model try a call again that the classifier has denied.
pub(super) async fn permission_denied(
    job: &CallJob,
    tool: &dyn Tool,
    input: &CallInput,
    reason: &DecisionReason,
) -> bool {
    guarded(job, || job.hooks.permission_denied(view(job, tool, input), reason)).await.unwrap_or(false)
}

/// Stage F. A result that a hook replaces is mapped anew; limits come after (rows H10, X14).
pub(super) async fn after(
    job: &CallJob,
    tool: &Arc<dyn Tool>,
    input: &CallInput,
    output: ToolOutput,
    told: &mut Told,
) -> ToolOutput {
    let result = ResultView { data: output.data.as_ref(), content: &output.content, is_error: output.is_error };
    let said: AfterTool = tokio::select! {
        biased;
        () = job.context.cancel.cancelled() => return output,
        said = guarded(job, || job.hooks.after_tool(view(job, tool.as_ref(), input), result)) => match said {
            Some(said) => said,
            None => return output,
        },
    };
    told.after = content(tool.as_ref(), said.messages, said.additional_context);
    if said.prevent_continuation {
        told.stop = Some(said.stop_reason.unwrap_or_else(|| "Execution stopped by PostToolUse hook".to_owned()));
    }
    match said.data {
        // The file of the tool's own result is not this one's.
        Some(data) => ToolOutput { content: tool.map_data(&data), data: Some(data), persisted_path: None, ..output },
        None => output,
    }
}

fn view<'a>(job: &'a CallJob, tool: &'a dyn Tool, input: &'a CallInput) -> CallView<'a> {
    CallView {
        session_id: &job.context.session_id,
        turn_id: &job.turn_id,
        tool_call_id: &job.context.tool_call_id,
        tool: tool.name(),
        input: input.seen(),
        cwd: &job.context.cwd,
        cancel: &job.context.cancel,
    }
}

/// What the hook said; `None` if it panicked.
async fn guarded<'a, T>(job: &CallJob, hook: impl FnOnce() -> BoxFuture<'a, T>) -> Option<T> {
    let said = AssertUnwindSafe(async { hook().await }).catch_unwind().await;
    if said.is_err() {
        tracing::error!(tool = %job.tool_name, call = %job.context.tool_call_id, "a hook panicked");
    }
    said.ok()
}

fn broken(tool: &dyn Tool) -> String {
    format!("{} was not run: a hook failed by a fault of agentd itself; its log tells more", tool.name())
}

fn content(tool: &dyn Tool, messages: Vec<ContentBlock>, context: Vec<String>) -> Vec<ContentBlock> {
    let context = context.into_iter().map(|text| ContentBlock::text(format!("A hook on {} says: {text}", tool.name())));
    messages.into_iter().chain(context).collect()
}
