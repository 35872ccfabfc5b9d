//! Sleep: waits, without a shell and without a process. Only with the feature `sleep`. Changes nothing.

use super::input::{parse, schema};
use super::tool::{PromptOptions, Tool, ToolContext, ToolOutput, ToolVerdict};
use futures::future::BoxFuture;
use proto::event::{ToolCause, ToolKind};
use schemars::JsonSchema;
use serde::Deserialize;
use serde_json::Value;
use std::time::Duration;

/// A turn that waits longer is better ended.
const MAX_MS: u64 = 3_600_000;

#[derive(Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
struct Input {
    /// How long to wait, in milliseconds (an hour at most).
    #[schemars(range(min = 1))]
    duration_ms: u64,
}

/// The tool.
pub(super) struct Sleep;

impl Tool for Sleep {
    fn name(&self) -> &str {
        "Sleep"
    }

    fn prompt(&self, _options: &PromptOptions) -> String {
        "Waits for some time. Use it rather than `sleep` in Bash: it holds no shell. A new prompt of the person ends \
         the wait."
            .to_owned()
    }

    fn input_schema(&self) -> Value {
        schema::<Input>()
    }

    fn kind(&self) -> ToolKind {
        ToolKind::Other
    }

    fn read_only(&self, _input: &Value) -> bool {
        true
    }

    fn concurrency_safe(&self, _input: &Value) -> bool {
        true
    }

    fn blocks_interrupt(&self, _input: &Value) -> bool {
        false
    }

    fn validate(&self, input: &Value, _context: &ToolContext) -> Result<(), String> {
        match parse::<Input>(input)?.duration_ms {
            0..=MAX_MS => Ok(()),
            more => Err(format!("the field `duration_ms` must be at most {MAX_MS}, not {more}; wait several times")),
        }
    }

    fn check_permission(&self, _input: &Value, _context: &ToolContext) -> ToolVerdict {
        ToolVerdict::Allow { detail: "it only waits".to_owned() }
    }

    fn title(&self, input: &Value) -> String {
        match input.get("duration_ms").and_then(Value::as_u64) {
            Some(duration_ms) => format!("Sleep {duration_ms} ms"),
            None => "Sleep".to_owned(),
        }
    }

    fn call(&self, input: Value, context: ToolContext) -> BoxFuture<'_, ToolOutput> {
        Box::pin(async move {
            let duration_ms = match parse::<Input>(&input) {
                Ok(input) => input.duration_ms.min(MAX_MS),
                Err(message) => return ToolOutput::error(message),
            };
            tokio::select! {
                biased;
                () = context.cancel.cancelled() => ToolOutput {
                    cause: Some(ToolCause::UserAbort),
                    ..ToolOutput::error("The wait was stopped before its end.")
                },
                () = tokio::time::sleep(Duration::from_millis(duration_ms)) => {
                    ToolOutput::text(format!("Waited {duration_ms} ms."), "waited")
                }
            }
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::tools::testing::{Scratch, assert_error, assert_ok};
    use serde_json::json;

    #[tokio::test(start_paused = true)]
    async fn it_waits_as_long_as_it_says_and_ends_at_once_when_it_is_stopped() {
        let scratch = Scratch::new();
        let input = json!({"duration_ms": 60_000});
        let start = tokio::time::Instant::now();
        assert_eq!(assert_ok(&Sleep.call(input.clone(), scratch.context()).await), "Waited 60000 ms.");
        assert_eq!(start.elapsed(), Duration::from_secs(60));
        scratch.cancel.cancel();
        let output = Sleep.call(input, scratch.context()).await;
        assert!(assert_error(&output).contains("stopped") && output.cause == Some(ToolCause::UserAbort));
        assert_eq!(start.elapsed(), Duration::from_secs(60));
    }

    #[test]
    fn a_wait_that_is_too_long_is_refused() {
        let context = Scratch::new().context();
        assert_eq!(Sleep.validate(&json!({"duration_ms": MAX_MS}), &context), Ok(()));
        assert!(Sleep.validate(&json!({"duration_ms": MAX_MS + 1}), &context).unwrap_err().contains("at most"));
    }
}
