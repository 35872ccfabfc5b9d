//! One tool call through the pipeline: validate, permission, call, map. A task per call; it reports to the
//! actor, and ends with exactly one `Ended`, whatever happens in the tool.

use super::approvals::Answer;
use super::toolset::Toolset;
use crate::base::clock::Stopwatch;
use crate::base::{ids, text};
use crate::policy::{self, Call, OwnCheck, Policy, Verdict};
use crate::store::Journal;
use crate::tools::{FileChange, Tool, ToolContext, ToolOutput, ToolVerdict};
use crate::turn::ToolOutcome;
use futures::FutureExt;
use proto::content::ContentBlock;
use proto::event::{ToolCause, ToolEndedDetails, ToolStatus};
use proto::ids::{ToolCallId, TurnId};
use proto::permission::{DecisionReason, PermissionRequest, ReasonType, RuleScope, Suggestion};
use serde_json::Value;
use std::panic::AssertUnwindSafe;
use std::sync::{Arc, OnceLock};
use std::time::Duration;
use tokio::sync::{mpsc, oneshot};

/// How much longer than the grace period a stopped tool may take before the turn goes on without it.
const STOP_MARGIN: Duration = Duration::from_secs(5);

const ERROR_OPEN: &str = "<tool_use_error>";
const ERROR_CLOSE: &str = "</tool_use_error>";

/// What a call tells the actor.
pub(super) enum ToolMessage {
    /// A person is to be asked.
    Ask {
        /// The question.
        request: Box<PermissionRequest>,
        /// The answer.
        reply: oneshot::Sender<Answer>,
    },
    /// The call is about to run; it does once this is in the log.
    Started {
        /// The call.
        id: ToolCallId,
        /// The input as it will run.
        input: Value,
        /// Why it may run.
        decision: DecisionReason,
        /// Sent once it is in the log; dropped if it can't be.
        go: oneshot::Sender<()>,
    },
    /// The call has ended.
    Ended {
        /// The call.
        id: ToolCallId,
        /// How.
        outcome: Box<ToolOutcome>,
        /// The file that it changed.
        file_change: Option<FileChange>,
        /// Processes that could not be stopped.
        still_running: Vec<u32>,
    },
}

/// A call that is to go through the pipeline.
pub(super) struct CallJob {
    pub turn_id: TurnId,
    pub tool: Option<Arc<dyn Tool>>,
    pub tool_name: String,
    pub tools: Arc<Toolset>,
    pub input: Value,
    pub context: ToolContext,
    pub policy: Policy,
    pub cause: Arc<OnceLock<ToolCause>>,
    pub journal: Arc<Journal>,
    pub messages: mpsc::Sender<ToolMessage>,
}

/// How a call ends that did not run, or that ran.
enum Ending {
    /// The model's mistake, or a failure before the call.
    Failed(String),
    /// Not allowed.
    Denied { text: String, stops_turn: bool },
    /// Stopped before it ran.
    Cancelled,
    /// It ran, for so many milliseconds.
    Ran(Box<ToolOutput>, u64),
}

/// Takes the call through the pipeline.
pub(super) async fn run(job: CallJob) {
    let ending = match AssertUnwindSafe(pipeline(&job)).catch_unwind().await {
        Ok(ending) => ending,
        Err(_) => {
            tracing::error!(tool = %job.tool_name, call = %job.context.tool_call_id, "a tool panicked");
            Ending::Failed(format!("{} failed by a fault of agentd itself; its log tells more", job.tool_name))
        }
    };
    let id = job.context.tool_call_id.clone();
    let (outcome, file_change, still_running) = outcome(ending, &job);
    // An actor that is gone needs no report: the log's recovery makes one.
    let _ = job.messages.send(ToolMessage::Ended { id, outcome: Box::new(outcome), file_change, still_running }).await;
}

async fn pipeline(job: &CallJob) -> Ending {
    let Some(tool) = &job.tool else {
        let names: Vec<&str> = job.tools.registry.iter().map(|tool| tool.name()).collect();
        let names = names.join(", ");
        return Ending::Failed(tool_use_error(&format!("No such tool: {}. The tools are: {names}", job.tool_name)));
    };
    let (input, decision) = match permission(job, tool).await {
        Ok(allowed) => allowed,
        Err(ending) => return ending,
    };
    if job.context.cancel.is_cancelled() {
        return Ending::Cancelled;
    }
    let read_only = tool.read_only(&input);
    if !start(job, &input, decision, read_only).await {
        return Ending::Cancelled;
    }
    call(job, tool.as_ref(), input).await
}

/// How the model is told that a call was wrong in itself.
fn tool_use_error(message: &str) -> String {
    format!("{ERROR_OPEN}{message}{ERROR_CLOSE}")
}

/// The same for people.
fn plain(text: &str) -> &str {
    text.strip_prefix(ERROR_OPEN).and_then(|text| text.strip_suffix(ERROR_CLOSE)).unwrap_or(text)
}

/// Stage A. Input that is no JSON at all comes as the model's raw text.
fn validate(tool: &dyn Tool, input: &Value, context: &ToolContext) -> Result<(), String> {
    let problem = match input {
        Value::Object(_) => tool.validate(input, context).err(),
        Value::String(raw) => Some(format!("the input is not valid JSON: {}", text::one_line(raw, 200))),
        _ => Some("the input must be an object".to_owned()),
    };
    problem.map_or(Ok(()), |problem| Err(format!("InputValidationError: {}: {problem}", tool.name())))
}

/// Stage A and the tool's own check. Both read files, so they run where blocking is allowed.
async fn examine(job: &CallJob, tool: &Arc<dyn Tool>, input: Value) -> Result<OwnCheck, Ending> {
    let (tool, context) = (Arc::clone(tool), job.context.clone());
    blocking(job, move || {
        validate(tool.as_ref(), &input, &context)?;
        Ok(own_check(tool.as_ref(), tool.check_permission(&input, &context)))
    })
    .await?
    .map_err(|message: String| Ending::Failed(tool_use_error(&message)))
}

async fn blocking<T: Send + 'static>(job: &CallJob, work: impl FnOnce() -> T + Send + 'static) -> Result<T, Ending> {
    tokio::task::spawn_blocking(work).await.map_err(|_| {
        tracing::error!(tool = %job.tool_name, call = %job.context.tool_call_id, "a tool's check panicked");
        Ending::Failed(format!(
            "{} could not be checked, by a fault of agentd itself; its log tells more",
            job.tool_name
        ))
    })
}

/// Stages A and C: the verdict, and a person's answer where one is needed.
async fn permission(job: &CallJob, tool: &Arc<dyn Tool>) -> Result<(Value, DecisionReason), Ending> {
    let own = examine(job, tool, job.input.clone()).await?;
    match policy::decide(&job.policy, Call { tool: &job.tool_name, input: &job.input, own: &own }) {
        Verdict::Allow(reason) => Ok((job.input.clone(), reason)),
        Verdict::Deny(reason) => Err(denied_by_policy(&reason)),
        Verdict::Ask(reason) => {
            let preview = {
                let (tool, input, context) = (Arc::clone(tool), job.input.clone(), job.context.clone());
                blocking(job, move || tool.preview(&input, &context)).await?
            };
            let request = PermissionRequest {
                request_id: ids::fresh("req"),
                session_id: job.context.session_id.clone(),
                turn_id: job.turn_id.clone(),
                tool_call_id: job.context.tool_call_id.clone(),
                tool: job.tool_name.clone(),
                input: job.input.clone(),
                title: tool.title(&job.input),
                suggestions: suggestions(&reason, &job.tool_name, &job.input),
                reason,
                preview,
            };
            ask(job, tool, request).await
        }
    }
}

async fn ask(
    job: &CallJob,
    tool: &Arc<dyn Tool>,
    request: PermissionRequest,
) -> Result<(Value, DecisionReason), Ending> {
    let (reply, answer) = oneshot::channel();
    if job.messages.send(ToolMessage::Ask { request: Box::new(request), reply }).await.is_err() {
        return Err(Ending::Cancelled);
    }
    let answer = tokio::select! {
        biased;
        () = job.context.cancel.cancelled() => return Err(Ending::Cancelled),
        answer = answer => answer.map_err(|_| Ending::Cancelled)?,
    };
    match answer {
        Answer::Allow { updated_input: None, reason } => Ok((job.input.clone(), reason)),
        Answer::Allow { updated_input: Some(input), reason } => {
            // The person's own input is checked like the model's: a rule that denies still does.
            let own = examine(job, tool, input.clone()).await?;
            match policy::decide(&job.policy, Call { tool: &job.tool_name, input: &input, own: &own }) {
                Verdict::Deny(reason) => Err(denied_by_policy(&reason)),
                Verdict::Allow(_) | Verdict::Ask(_) => Ok((input, reason)),
            }
        }
        Answer::Deny { message, stops_turn } => {
            let text = match message {
                Some(message) => format!("The person did not allow this call: {message}"),
                None => "The person did not allow this call. Nothing was run.".to_owned(),
            };
            Err(Ending::Denied { text, stops_turn })
        }
    }
}

fn denied_by_policy(reason: &DecisionReason) -> Ending {
    Ending::Denied { text: format!("Not allowed: {}. Nothing was run.", reason.detail), stops_turn: false }
}

/// Has the start written down; true if the call may run. A call that may change something also waits for
/// the disk, so that not even a power loss can make it run twice unseen.
async fn start(job: &CallJob, input: &Value, decision: DecisionReason, read_only: bool) -> bool {
    let (go, started) = oneshot::channel();
    let id = job.context.tool_call_id.clone();
    let message = ToolMessage::Started { id, input: input.clone(), decision, go };
    if job.messages.send(message).await.is_err() || started.await.is_err() {
        return false;
    }
    if read_only {
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

/// Stage D. A tool ends soon after its cancel; one that does not is left behind, and said to be.
async fn call(job: &CallJob, tool: &dyn Tool, input: Value) -> Ending {
    let stopwatch = Stopwatch::start();
    let context = job.context.clone();
    let limit = context.kill_grace + STOP_MARGIN;
    let cancel = context.cancel.clone();
    let overdue = async {
        cancel.cancelled().await;
        tokio::time::sleep(limit).await;
    };
    let output = tokio::select! {
        output = tool.call(input, context) => output,
        () = overdue => ToolOutput {
            still_running: pids(&job.context),
            ..ToolOutput::error("The call did not stop in time. It may still go on.")
        },
    };
    Ending::Ran(Box::new(output), stopwatch.elapsed_ms())
}

fn pids(context: &ToolContext) -> Vec<u32> {
    let processes = context.processes.list(Some(&context.session_id)).into_iter();
    processes
        .filter(|process| process.tool_call_id.as_ref() == Some(&context.tool_call_id))
        .map(|process| process.pid)
        .collect()
}

fn own_check(tool: &dyn Tool, verdict: ToolVerdict) -> OwnCheck {
    match verdict {
        ToolVerdict::Deny { detail } => OwnCheck::Forbidden(detail),
        _ if tool.requires_user_interaction() => OwnCheck::NeedsPerson(format!("{} asks a person", tool.name())),
        ToolVerdict::Allow { detail } => OwnCheck::Reads(detail),
        ToolVerdict::AskEdit { detail } => OwnCheck::Edits(detail),
        ToolVerdict::Ask { detail } => OwnCheck::Unsure(detail),
        ToolVerdict::Safety { detail } => OwnCheck::Unsafe(detail),
    }
}

/// What can be remembered with a yes: for a command, that command to the letter; for an edit, edits. A
/// question that a rule or a safety check wants comes again, so nothing is offered.
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

fn outcome(ending: Ending, job: &CallJob) -> (ToolOutcome, Option<FileChange>, Vec<u32>) {
    let cause = job.cause.get().copied();
    let told = |status, text: String, cause, stops_turn| ToolOutcome {
        status,
        is_error: true,
        summary: text::one_line(plain(&text), 120),
        content: vec![ContentBlock::text(text)],
        persisted_path: None,
        duration_ms: 0,
        cause,
        stops_turn,
        hook_stop: None,
        context: None,
        structured_output: None,
        details: ToolEndedDetails::default(),
    };
    match ending {
        Ending::Failed(text) => (told(ToolStatus::Failed, text, None, false), None, Vec::new()),
        Ending::Denied { text, stops_turn } => (told(ToolStatus::Denied, text, None, stops_turn), None, Vec::new()),
        Ending::Cancelled => {
            let text = "Not run: the turn was stopped before this call started.".to_owned();
            (told(ToolStatus::Cancelled, text, cause, false), None, Vec::new())
        }
        Ending::Ran(output, duration_ms) => {
            let output = *output;
            let cause = output.cause.map(|own| cause.unwrap_or(own));
            let status = match cause {
                Some(ToolCause::Timeout) | None if output.is_error => ToolStatus::Failed,
                Some(ToolCause::Timeout) | None => ToolStatus::Completed,
                Some(_) => ToolStatus::Cancelled,
            };
            let outcome = ToolOutcome {
                status,
                is_error: output.is_error,
                content: output.content,
                summary: output.summary,
                persisted_path: output.persisted_path.map(|path| path.display().to_string()),
                duration_ms,
                cause,
                stops_turn: false,
                hook_stop: None,
                context: output.context,
                structured_output: None,
                details: ToolEndedDetails {
                    new_messages: output.new_messages,
                    mcp_meta: output.mcp_meta,
                    discovered: output.discovered,
                    ..ToolEndedDetails::default()
                },
            };
            (outcome, output.file_change, output.still_running)
        }
    }
}
