//! ExitPlanMode: how a plan is handed to the person who is to approve it. There only in turns that begin in mode
//! `plan`; a yes ends that mode, a no with a word lets the model revise the plan.

use super::input::{parse, schema};
use super::tool::{PromptOptions, Tool, ToolContext, ToolOutput, ToolVerdict};
use crate::event::ContextChange;
use futures::FutureExt as _;
use futures::future::BoxFuture;
use proto::event::ToolKind;
use proto::permission::Preview;
use proto::session::Mode;
use schemars::JsonSchema;
use serde::Deserialize;
use serde_json::Value;

#[derive(Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
struct Input {
    /// The whole plan, in Markdown: what is to be changed, where, in which order, and how it is to be checked.
    plan: String,
}

/// The tool.
pub struct ExitPlanMode {
    then: Mode,
}

impl ExitPlanMode {
    /// Its name.
    pub const NAME: &str = "ExitPlanMode";

    /// The tool of a session that had this mode before it was to plan.
    #[must_use]
    pub fn back_to(then: Mode) -> Self {
        Self { then }
    }
}

impl Tool for ExitPlanMode {
    fn name(&self) -> &str {
        Self::NAME
    }

    fn prompt(&self, _options: &PromptOptions) -> String {
        "Shows your plan to the person, who approves it or says what is to be different. Call it alone, once you have read \
         all that you need and the plan is whole. If it is approved, plan mode is over and you begin; if not, revise \
         the plan and call it again. To answer a question or to report what you found, no plan is needed."
            .to_owned()
    }

    fn input_schema(&self) -> Value {
        schema::<Input>()
    }

    fn kind(&self) -> ToolKind {
        ToolKind::Think
    }

    fn blocks_interrupt(&self, _input: &Value) -> bool {
        false
    }

    fn destructive(&self, _input: &Value) -> bool {
        false
    }

    fn requires_user_interaction(&self) -> bool {
        true
    }

    fn check_input(&self, input: &Value) -> Result<(), String> {
        match parse::<Input>(input)?.plan.trim() {
            "" => Err("the field `plan` is empty; give the whole plan".to_owned()),
            _ => Ok(()),
        }
    }

    fn checks_read_files(&self, _input: &Value) -> bool {
        false
    }

    fn check_permission(&self, _input: &Value, _context: &ToolContext) -> ToolVerdict {
        ToolVerdict::Ask { detail: "a plan is to be approved".to_owned() }
    }

    fn title(&self, _input: &Value) -> String {
        "Plan".to_owned()
    }

    fn preview(&self, input: &Value, _context: &ToolContext) -> Option<Preview> {
        Some(Preview::Plan { plan: parse::<Input>(input).ok()?.plan })
    }

    fn call(&self, _input: Value, _context: ToolContext) -> BoxFuture<'_, ToolOutput> {
        let text = format!(
            "The person has approved the plan. Plan mode is over, the mode is {} now: begin, and keep to the plan.",
            self.then.name()
        );
        let context = ContextChange { mode: Some(self.then), ..ContextChange::default() };
        futures::future::ready(ToolOutput { context: Some(context), ..ToolOutput::text(text, "approved") }).boxed()
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::tools::testing::{Scratch, assert_error, assert_ok};
    use serde_json::json;

    #[test]
    fn an_approved_plan_ends_the_mode() {
        let (scratch, tool) = (Scratch::new(), ExitPlanMode::back_to(Mode::AcceptEdits));
        let output = scratch.run(&tool, json!({"plan": "1. Do it."}));
        assert!(assert_ok(&output).contains("the mode is acceptEdits now"));
        assert_eq!(output.context.unwrap().into_fields(), json!({"mode": "acceptEdits"}).as_object().unwrap().clone());
        assert!(assert_error(&scratch.run(&tool, json!({"plan": " "}))).contains("`plan` is empty"));
        assert!(assert_error(&scratch.run(&tool, json!({}))).contains("`plan` is missing"));
    }
}
