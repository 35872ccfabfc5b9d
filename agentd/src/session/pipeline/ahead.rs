//! The classifier of mode `auto`, asked of a call before it is known for sure whether its word is needed (row B10): it
//! begins beside validation and hooks where the rules alone would want it, and is dropped with the call if nobody wants
//! its word. Called by the pipeline.

use super::CallJob;
use super::input::CallInput;
use super::permission::wants_classifier;
use crate::policy::{self, Policy};
use crate::session::classifier::{Case, Word};
use crate::session::judging::Looked;
use crate::tools::{Tool, ToolContext};
use serde_json::Value;
use std::sync::Arc;
use tokio_util::task::AbortOnDropHandle;

/// A question to the classifier that is under way.
pub(super) struct Ahead {
    case: Case,
    input: Value,
    /// `None` if the rules did not want it.
    word: AbortOnDropHandle<Option<Word>>,
}

impl Ahead {
    /// Asks about the call as the model wrote it; `None` where no classifier is to be asked.
    pub fn start(job: &CallJob) -> Option<Self> {
        let (case, tool) = (job.case.clone()?, Arc::clone(job.tool.as_ref()?));
        let (policy, context, input) = (job.policy.clone(), job.context.clone(), job.input.clone());
        let asking = case.clone();
        let asked = tokio::spawn(async move {
            let call = tool.classifier_input(&input);
            let wanted = tokio::task::spawn_blocking(move || is_wanted(tool.as_ref(), &input, &context, &policy));
            match wanted.await {
                Ok(true) => Some(asking.ask(call).await),
                Ok(false) | Err(_) => None,
            }
        });
        Some(Self { case, input: job.input.clone(), word: AbortOnDropHandle::new(asked) })
    }

    /// Its word on the call as it is to run. One that a hook has changed is another call.
    pub async fn word(self, tool: &dyn Tool, input: &CallInput) -> Word {
        if *input.call() == self.input
            && let Ok(Some(word)) = self.word.await
        {
            return word;
        }
        self.case.ask(tool.classifier_input(input.call())).await
    }
}

/// Whether the rules, without anything that hooks may say, leave the call to the classifier. The input is not validated
/// yet: of a wrong one anything may come out here.
fn is_wanted(tool: &dyn Tool, input: &Value, context: &ToolContext, policy: &Policy) -> bool {
    let seen = tool.observable_input(input, context).unwrap_or_else(|| input.clone());
    let looked = Looked::at(tool, &seen, context);
    wants_classifier(policy, &policy::decide(policy, looked.call(tool, &seen)))
}
