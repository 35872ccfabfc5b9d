//! Stage D: the call itself. It starts once its start is in the log, and its end always comes: by itself, by a panic
//! that is caught, or by the time that a stopped call has.

use super::input::CallInput;
use super::validate::{plain, tool_use_error};
use super::{CallJob, NotRun, ToolMessage};
use crate::base::clock::Stopwatch;
use crate::base::text;
use crate::tools::{Progress, Tool, ToolContext, ToolOutput};
use futures::FutureExt as _;
use proto::permission::DecisionReason;
use std::panic::AssertUnwindSafe;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Duration;
use tokio::sync::oneshot;

/// How much longer than the grace period a stopped tool may take before the turn goes on without it.
const STOP_MARGIN: Duration = Duration::from_secs(5);

/// What the model is told of a panic.
pub(super) fn fault(job: &CallJob) -> String {
    tracing::error!(tool = %job.tool_name, call = %job.context.tool_call_id, "a tool panicked");
    tool_use_error(&format!("{} failed by a fault of agentd itself; its log tells more", job.tool_name))
}

/// Runs the call; what it gave, and how many milliseconds it took.
pub(super) async fn run(
    job: &CallJob,
    tool: &Arc<dyn Tool>,
    input: &CallInput,
    decision: DecisionReason,
) -> Result<(ToolOutput, u64), NotRun> {
    if job.context.cancel.is_cancelled() || !start(job, tool.as_ref(), input, decision).await {
        return Err(NotRun::Cancelled);
    }
    let stopwatch = Stopwatch::start();
    let (gate, progress) = gated(&job.context);
    let context = ToolContext { progress, user_modified: input.is_changed(), ..job.context.clone() };
    let call = async { tool.call(input.to_run().clone(), context).await };
    let output = tokio::select! {
        output = AssertUnwindSafe(call).catch_unwind() => output.unwrap_or_else(|_| panicked(job)),
        () = overdue(&job.context) => ToolOutput {
            still_running: pids(&job.context),
            ..ToolOutput::error("The call did not stop in time. It may still go on.")
        },
    };
    gate.store(false, Ordering::Release);
    Ok((output, stopwatch.elapsed_ms()))
}

/// Has the start written down; true if the call may run. A call that may change something also waits for
/// the disk, so that not even a power loss can make it run twice unseen.
async fn start(job: &CallJob, tool: &dyn Tool, input: &CallInput, decision: DecisionReason) -> bool {
    let (go, started) = oneshot::channel();
    let id = job.context.tool_call_id.clone();
    let message = ToolMessage::Started { id, input: input.to_run().clone(), decision, go };
    if job.messages.send(message).await.is_err() || started.await.is_err() {
        return false;
    }
    if tool.read_only(input.call()) {
        return true;
    }
    match job.journal.sync().await {
        Ok(()) => true,
        Err(error) => {
            tracing::error!(%error, "a call was not run since its start could not be synced");
            false
        }
    }
}

/// The way of live output, which is closed once the call has ended: nothing comes after its result (row X15).
fn gated(context: &ToolContext) -> (Arc<AtomicBool>, Arc<dyn Fn(Progress) + Send + Sync>) {
    let open = Arc::new(AtomicBool::new(true));
    let (gate, pass_on) = (Arc::clone(&open), Arc::clone(&context.progress));
    let progress = move |part| {
        if open.load(Ordering::Acquire) {
            pass_on(part);
        }
    };
    (gate, Arc::new(progress))
}

fn panicked(job: &CallJob) -> ToolOutput {
    let text = fault(job);
    let summary = text::one_line(plain(&text), 120);
    ToolOutput { summary, still_running: pids(&job.context), ..ToolOutput::error(text) }
}

/// A tool ends soon after its cancel; one that does not is left behind, and said to be.
async fn overdue(context: &ToolContext) {
    context.cancel.cancelled().await;
    tokio::time::sleep(context.kill_grace + STOP_MARGIN).await;
}

fn pids(context: &ToolContext) -> Vec<u32> {
    let processes = context.processes.list(Some(&context.session_id)).into_iter();
    processes
        .filter(|process| process.tool_call_id.as_ref() == Some(&context.tool_call_id))
        .map(|process| process.pid)
        .collect()
}
