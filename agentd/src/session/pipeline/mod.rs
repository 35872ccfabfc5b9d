//! One tool call through the stages A–F: validate, hooks, permission, call, hooks, result. A task per call, started
//! by the actor; it reports to it and ends with exactly one `Ended`, whatever happens in the tool.

mod ahead;
mod budget;
mod call;
mod deliver;
mod hooks;
mod input;
mod notes;
mod outcome;
mod permission;
mod person;
mod result;
mod shown;
mod suggestions;
mod validate;

#[cfg(test)]
mod tests;

pub(super) use deliver::Round;

use super::approvals::{Answer, Given};
use super::classifier::Case;
use super::hooks::Hooks;
use super::remembering::Remembered;
use super::toolset::Toolset;
use crate::policy::Policy;
use crate::store::Journal;
use crate::tools::{FileChange, Tool, ToolContext, ToolOutput};
use crate::turn::{StopVerdict, ToolOutcome};
use ahead::Ahead;
use futures::FutureExt;
use hooks::Told;
use permission::Said;
use proto::RpcError;
use proto::content::ContentBlock;
use proto::event::{OnAsk, ToolCause};
use proto::ids::{ToolCallId, TurnId};
use proto::permission::{DecisionReason, PermissionRequest};
use serde_json::Value;
use std::panic::AssertUnwindSafe;
use std::sync::{Arc, OnceLock};
use tokio::sync::{mpsc, oneshot};

/// What a call tells the actor.
pub(super) enum ToolMessage {
    /// The Stop hooks of a turn have answered.
    StopHooksRan {
        /// The turn.
        turn_id: TurnId,
        /// What they say.
        verdict: StopVerdict,
    },
    /// A person is to be asked.
    Ask {
        /// The question.
        request: Box<PermissionRequest>,
        /// The answer.
        reply: oneshot::Sender<Answer>,
    },
    /// A PermissionRequest hook has answered a question.
    HookAnswers {
        /// The call.
        id: ToolCallId,
        /// The answer.
        answer: Answer,
        /// Why.
        reason: Box<DecisionReason>,
    },
    /// The rules of an answer are in their place, or can't be.
    Remembered {
        /// The answer.
        given: Box<Given>,
        /// The rules.
        written: Result<Remembered, RpcError>,
    },
    /// The classifier has denied the call.
    ClassifierDenies {
        /// Why.
        reason: Box<DecisionReason>,
    },
    /// A call needs the rules as they are now.
    PolicyNow {
        /// The rules and the mode.
        reply: oneshot::Sender<Policy>,
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
    /// As the model wrote it.
    pub tool_name: String,
    pub tools: Arc<Toolset>,
    pub input: Value,
    pub context: ToolContext,
    pub policy: Policy,
    /// What becomes of questions to a person.
    pub on_ask: OnAsk,
    /// What the classifier is to judge the call by, in mode `auto`.
    pub case: Option<Case>,
    pub hooks: Arc<dyn Hooks>,
    pub cause: Arc<OnceLock<ToolCause>>,
    pub journal: Arc<Journal>,
    /// The results of the same round.
    pub round: Arc<Round>,
    pub messages: mpsc::Sender<ToolMessage>,
}

/// Why a call did not run.
enum NotRun {
    /// The model's mistake, or a failure before the call.
    Failed(String),
    /// Not allowed. `content` goes along with the text (row P18).
    Denied { text: String, content: Vec<ContentBlock>, stops_turn: bool },
    /// Stopped before it ran.
    Cancelled,
}

impl NotRun {
    /// Not allowed; the turn goes on.
    fn denied(text: String) -> Self {
        Self::Denied { text, content: Vec::new(), stops_turn: false }
    }
}

/// What a call that ran gave.
struct Ran {
    output: ToolOutput,
    duration_ms: u64,
    /// The size of the whole result.
    result_bytes: u64,
    /// The extension of the file that it is about.
    file_extension: Option<String>,
}

/// Takes the call through the pipeline.
pub(super) async fn run(job: CallJob) {
    let mut told = Told::default();
    // Beside validation and hooks (row B10, contradiction C22).
    let ahead = Ahead::start(&job);
    let ending = match AssertUnwindSafe(stages(&job, ahead, &mut told)).catch_unwind().await {
        Ok(ending) => ending,
        Err(_) => Err(NotRun::Failed(call::fault(&job))),
    };
    deliver::deliver(&job, outcome::of(ending, told, &job)).await;
}

/// The order of the stages (rows H01, T07). Each may end the call.
async fn stages(job: &CallJob, ahead: Option<Ahead>, told: &mut Told) -> Result<Ran, NotRun> {
    let tool = validate::find(job)?;
    let input = validate::check(job, &tool).await?; // A
    let (input, opinion) = hooks::before(job, &tool, input, told).await?; // B
    let asked = input.call().clone();
    let (input, decision) = permission::resolve(job, &tool, input, Said { opinion, ahead }).await?; // C
    let file_extension = result::file_extension(input.call());
    let changed = person::told_of_change(tool.as_ref(), &asked, &input, &decision);
    let (output, duration_ms) = call::run(job, &tool, &input, decision).await?; // D
    told.before.extend(changed);
    let output = hooks::after(job, &tool, &input, output, told).await; // F, before it is mapped (C12)
    let (output, result_bytes) = result::fit(job, &tool, output).await; // E
    Ok(Ran { output, duration_ms, result_bytes, file_extension })
}
