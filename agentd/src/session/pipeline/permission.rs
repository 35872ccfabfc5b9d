//! Stage C: whether the call may run: rules, mode and the tool's own check, and a person's answer where one is needed
//! (`person`). Decides nothing itself: that is `policy`'s.

use super::hooks::Opinion;
use super::input::CallInput;
use super::validate::blocking;
use super::{CallJob, NotRun, person};
use crate::policy::{self, Call, Decision, HookSays, Policy, Subject, Verdict};
use crate::session::judging::Looked;
use crate::tools::Tool;
use proto::permission::DecisionReason;
use std::sync::Arc;

/// A call that was decided, with what it is about.
pub(super) struct Decided {
    pub decision: Decision,
    pub subject: Subject,
}

/// The input to run with, and why it may.
pub(super) async fn resolve(
    job: &CallJob,
    tool: &Arc<dyn Tool>,
    input: CallInput,
    opinion: Option<Opinion>,
) -> Result<(CallInput, DecisionReason), NotRun> {
    let decided = decide(job, tool, &input, &job.policy, opinion.as_ref()).await?;
    match decided.decision.verdict {
        Verdict::Allow => Ok((input, decided.decision.reason)),
        Verdict::Deny => Err(denied(&decided.decision.reason)),
        Verdict::Ask => person::decide(job, tool, input, decided).await,
    }
}

/// The decision by this policy.
pub(super) async fn decide(
    job: &CallJob,
    tool: &Arc<dyn Tool>,
    input: &CallInput,
    policy: &Policy,
    opinion: Option<&Opinion>,
) -> Result<Decided, NotRun> {
    let (own, seen, context) = (Arc::clone(tool), input.seen().clone(), job.context.clone());
    let reads_files = tool.checks_read_files(input.seen());
    let looked = blocking(job, reads_files, move || Looked::at(own.as_ref(), &seen, &context)).await?;
    let hook = opinion.map(|opinion| match opinion {
        Opinion::Allow(reason) => HookSays::Allow(reason),
        Opinion::Ask(reason) => HookSays::Ask(reason),
    });
    let call = Call { hook, ..looked.call(tool.as_ref(), input.seen()) };
    let decision = policy::decide(policy, call);
    Ok(Decided { decision, subject: looked.subject })
}

pub(super) fn denied(reason: &DecisionReason) -> NotRun {
    NotRun::denied(format!("Not allowed: {}. Nothing was run.", reason.detail))
}
