//! Stage C: whether the call may run: rules, mode and the tool's own check, and a person's answer where one is needed
//! (`person`). Decides nothing itself: that is `policy`'s.

use super::ahead::Ahead;
use super::hooks::{self, Opinion};
use super::input::CallInput;
use super::validate::blocking;
use super::{CallJob, NotRun, ToolMessage, person};
use crate::policy::{self, Call, Classifier, Decision, HookSays, Policy, Subject, Suggested, Verdict};
use crate::session::classifier::Word;
use crate::session::judging::Looked;
use crate::tools::Tool;
use proto::content::ContentBlock;
use proto::permission::{DecisionReason, ReasonType};
use proto::session::Mode;
use std::sync::Arc;
use tokio::sync::oneshot;

/// A call that was decided, with what it is about.
pub(super) struct Decided {
    pub decision: Decision,
    pub subject: Subject,
    /// Rules with which it would have run unasked: each of its commands to the letter, and the narrowest useful ones.
    pub offers: [Vec<Suggested>; 2],
}

/// What others have said of a call.
pub(super) struct Said {
    pub opinion: Option<Opinion>,
    pub ahead: Option<Ahead>,
}

/// The input to run with, and why it may.
pub(super) async fn resolve(
    job: &CallJob,
    tool: &Arc<dyn Tool>,
    input: CallInput,
    said: Said,
) -> Result<(CallInput, DecisionReason), NotRun> {
    let Said { opinion, ahead } = said;
    let first = decide(job, tool, &input, &job.policy, opinion.as_ref()).await?;
    let decided = match ahead.filter(|_| wants_classifier(&job.policy, &first.decision)) {
        None => first,
        Some(ahead) => {
            let word = tokio::select! {
                biased;
                () = job.context.cancel.cancelled() => return Err(NotRun::Cancelled),
                word = ahead.word(tool.as_ref(), &input) => word,
            };
            // In another mode by now, its word counts for nothing.
            let policy = policy_now(job).await?;
            let heard = Heard { opinion: opinion.as_ref(), word: Some(&word).filter(|_| policy.mode == Mode::Auto) };
            decide_hearing(job, tool, &input, &policy, heard).await?
        }
    };
    match decided.decision.verdict {
        Verdict::Allow => Ok((input, decided.decision.reason)),
        Verdict::Deny if decided.decision.reason.kind == ReasonType::Classifier => {
            Err(by_classifier(job, tool, &input, decided.decision.reason).await)
        }
        Verdict::Deny => Err(denied(&decided.decision.reason)),
        Verdict::Ask => person::decide(job, tool, input, decided).await,
    }
}

/// Whether the classifier is to be heard: nothing but the mode is in question, and it has not said no too often.
pub(super) fn wants_classifier(policy: &Policy, decision: &Decision) -> bool {
    decision.verdict == Verdict::Ask && decision.reason.kind == ReasonType::Mode && !policy.counters.is_exhausted()
}

/// The rules and the mode as they are now.
pub(super) async fn policy_now(job: &CallJob) -> Result<Policy, NotRun> {
    let (reply, policy) = oneshot::channel();
    if job.messages.send(ToolMessage::PolicyNow { reply }).await.is_err() {
        return Err(NotRun::Cancelled);
    }
    policy.await.map_err(|_| NotRun::Cancelled)
}

/// The classifier's no stands; a PermissionDenied hook may tell the model to try again (row P19).
async fn by_classifier(job: &CallJob, tool: &Arc<dyn Tool>, input: &CallInput, reason: DecisionReason) -> NotRun {
    let message = ToolMessage::ClassifierDenies { reason: Box::new(reason.clone()) };
    if job.messages.send(message).await.is_err() {
        return NotRun::Cancelled;
    }
    let retry = hooks::permission_denied(job, tool.as_ref(), input, &reason).await;
    let content = retry.then(|| ContentBlock::text("A hook says that this call may be tried again.")).into_iter();
    NotRun::Denied { text: denied_text(&reason), content: content.collect(), stops_turn: false }
}

/// The decision by this policy.
pub(super) async fn decide(
    job: &CallJob,
    tool: &Arc<dyn Tool>,
    input: &CallInput,
    policy: &Policy,
    opinion: Option<&Opinion>,
) -> Result<Decided, NotRun> {
    decide_hearing(job, tool, input, policy, Heard { opinion, word: None }).await
}

/// Who is heard.
struct Heard<'a> {
    opinion: Option<&'a Opinion>,
    word: Option<&'a Word>,
}

async fn decide_hearing(
    job: &CallJob,
    tool: &Arc<dyn Tool>,
    input: &CallInput,
    policy: &Policy,
    heard: Heard<'_>,
) -> Result<Decided, NotRun> {
    let (own, seen, context) = (Arc::clone(tool), input.seen().clone(), job.context.clone());
    let reads_files = tool.checks_read_files(input.seen());
    let looked = blocking(job, reads_files, move || Looked::at(own.as_ref(), &seen, &context)).await?;
    let hook = heard.opinion.map(|opinion| match opinion {
        Opinion::Allow(reason) => HookSays::Allow(reason),
        Opinion::Ask(reason) => HookSays::Ask(reason),
    });
    let classifier = match heard.word {
        None => Classifier::NotAsked,
        Some(Word::Allows) => Classifier::Allows,
        Some(Word::Blocks(why)) => Classifier::Blocks(why),
        Some(Word::Unavailable(why)) => {
            tracing::warn!(tool = tool.name(), why, "the classifier gave no answer");
            Classifier::Unavailable
        }
    };
    let call = Call { hook, classifier, ..looked.call(tool.as_ref(), input.seen()) };
    let decision = policy::decide(policy, call);
    let offers = [policy::suggest_exactly(policy, &call, &decision), policy::suggest(policy, &call, &decision)];
    Ok(Decided { decision, subject: looked.subject, offers })
}

pub(super) fn denied(reason: &DecisionReason) -> NotRun {
    NotRun::denied(denied_text(reason))
}

fn denied_text(reason: &DecisionReason) -> String {
    format!("Not allowed: {}. Nothing was run.", reason.detail)
}
