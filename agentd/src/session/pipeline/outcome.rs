//! How a call's end is told: to the model, to people, to the turn machine. Pure.

use super::hooks::Told;
use super::validate::plain;
use super::{CallJob, NotRun, Ran};
use crate::base::text;
use crate::tools::{FileChange, Tool};
use crate::turn::{NEVER_STARTED, ToolOutcome};
use proto::content::ContentBlock;
use proto::event::{ToolCause, ToolEndedDetails, ToolStatus};

/// The end of a call, for the actor.
pub(super) struct Ended {
    pub outcome: ToolOutcome,
    pub file_change: Option<FileChange>,
    pub still_running: Vec<u32>,
}

/// The end of a call that ran, or did not.
pub(super) fn of(ending: Result<Ran, NotRun>, told: Told, job: &CallJob) -> Ended {
    let cause = job.cause.get().copied();
    let mut ended = match ending {
        Ok(ran) => {
            // The tool's own word for people, on the result as the model sees it.
            let summary = job.tool.as_ref().map_or_else(String::new, |tool| tool.result_text(&ran.output));
            of_run(ran, summary, cause)
        }
        Err(reason) => Ended {
            outcome: of_no_run(reason, job.tool.as_deref(), cause),
            file_change: None,
            still_running: Vec::new(),
        },
    };
    let details = &mut ended.outcome.details;
    details.new_messages = [told.before, std::mem::take(&mut details.new_messages), told.after].concat();
    ended.outcome.hook_stop = told.stop;
    ended
}

fn of_run(ran: Ran, summary: String, cause: Option<ToolCause>) -> Ended {
    let output = ran.output;
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
        summary,
        persisted_path: output.persisted_path.map(|path| path.display().to_string()),
        duration_ms: ran.duration_ms,
        cause,
        stops_turn: false,
        hook_stop: None,
        context: output.context,
        structured_output: output.structured_output.filter(|_| status == ToolStatus::Completed),
        details: ToolEndedDetails {
            new_messages: output.new_messages,
            result_bytes: Some(ran.result_bytes),
            file_extension: ran.file_extension,
            mcp_meta: output.mcp_meta,
            discovered: output.discovered,
            ..ToolEndedDetails::default()
        },
    };
    Ended { outcome, file_change: output.file_change, still_running: output.still_running }
}

fn of_no_run(reason: NotRun, tool: Option<&dyn Tool>, cause: Option<ToolCause>) -> ToolOutcome {
    let mut further = Vec::new();
    let (status, text, cause, stops_turn) = match reason {
        NotRun::Failed(text) => (ToolStatus::Failed, text, None, false),
        NotRun::Denied { text, content, stops_turn } => {
            further = content;
            (ToolStatus::Denied, text, None, stops_turn)
        }
        NotRun::Cancelled => {
            // Why is the turn machine's to say: a sibling's failure leaves the turn alive.
            (ToolStatus::Cancelled, NEVER_STARTED.to_owned(), cause, false)
        }
    };
    ToolOutcome {
        status,
        is_error: true,
        summary: match tool {
            Some(tool) => tool.error_text(plain(&text)),
            None => text::one_line(plain(&text), 120),
        },
        content: std::iter::once(ContentBlock::text(text)).chain(further).collect(),
        persisted_path: None,
        duration_ms: 0,
        cause,
        stops_turn,
        hook_stop: None,
        context: None,
        structured_output: None,
        details: ToolEndedDetails::default(),
    }
}
