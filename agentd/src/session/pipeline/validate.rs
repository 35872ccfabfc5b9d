//! Stage A: whether there is such a tool, and whether the input is what it takes. Nothing is guessed: what is wrong
//! becomes an error for the model that names the field and what is expected.

use super::input::CallInput;
use super::{CallJob, NotRun};
use crate::base::text;
use crate::session::nearest::nearest;
use crate::tools::{Tool, ToolContext};
use serde_json::Value;
use std::panic::AssertUnwindSafe;
use std::sync::Arc;

const ERROR_OPEN: &str = "<tool_use_error>";
const ERROR_CLOSE: &str = "</tool_use_error>";
/// Characters of a name or of an input that a message repeats.
const QUOTED_CHARS: usize = 200;

/// How the model is told that a call was wrong in itself.
pub(super) fn tool_use_error(message: &str) -> String {
    format!("{ERROR_OPEN}{message}{ERROR_CLOSE}")
}

/// The same for people.
pub(super) fn plain(text: &str) -> &str {
    text.strip_prefix(ERROR_OPEN).and_then(|text| text.strip_suffix(ERROR_CLOSE)).unwrap_or(text)
}

/// The tool that is called (row X02).
pub(super) fn find(job: &CallJob) -> Result<Arc<dyn Tool>, NotRun> {
    if let Some(tool) = &job.tool {
        return Ok(Arc::clone(tool));
    }
    let names: Vec<&str> = job.tools.registry.iter().map(|tool| tool.name()).collect();
    let wanted = text::one_line(&job.tool_name, QUOTED_CHARS);
    let meant = nearest(&job.tool_name, &names).map_or_else(String::new, |name| format!(" Did you mean {name}?"));
    let message = format!("No such tool: {wanted}.{meant} The tools are: {}", names.join(", "));
    Err(NotRun::Failed(tool_use_error(&message)))
}

/// The model's input.
pub(super) async fn check(job: &CallJob, tool: &Arc<dyn Tool>) -> Result<CallInput, NotRun> {
    let input = job.input.clone();
    let (input, observable) = examine(job, tool, input).await?;
    Ok(CallInput::new(input, observable))
}

/// What a hook or a person, as `by` names them, wrote in the place of the input. It is checked like the model's.
pub(super) async fn replace(
    job: &CallJob,
    tool: &Arc<dyn Tool>,
    input: CallInput,
    written: Value,
    by: &str,
) -> Result<CallInput, NotRun> {
    let examined = examine(job, tool, input.restore(written)).await;
    let (call, observable) = examined.map_err(|ending| match ending {
        NotRun::Failed(text) => NotRun::Failed(tool_use_error(&format!("{} (the input was {by})", plain(&text)))),
        other => other,
    })?;
    Ok(input.with(call, observable))
}

/// Validates an input and gives it back, with what observers see of it. Tools may read files here, so it runs
/// where blocking is allowed unless the tool says that it does not.
async fn examine(job: &CallJob, tool: &Arc<dyn Tool>, input: Value) -> Result<(Value, Option<Value>), NotRun> {
    let (own, context) = (Arc::clone(tool), job.context.clone());
    let reads_files = tool.checks_read_files(&input);
    let checked = blocking(job, reads_files, move || {
        validate(own.as_ref(), &input, &context)?;
        let observable = own.observable_input(&input, &context);
        Ok((input, observable))
    });
    checked.await?.map_err(|problem: String| {
        let hint = if job.tools.is_undiscovered(tool.name()) { undiscovered_hint(tool.name()) } else { String::new() };
        NotRun::Failed(tool_use_error(&format!("InputValidationError: {}: {problem}{hint}", tool.name())))
    })
}

/// The shape, then the tool's own check (rows X03, X05). Input that is no JSON object comes as the model's raw
/// text.
fn validate(tool: &dyn Tool, input: &Value, context: &ToolContext) -> Result<(), String> {
    match input {
        Value::Object(_) => tool.validate(input, context),
        Value::String(raw) => Err(match serde_json::from_str::<Value>(raw) {
            Err(error) => {
                format!("the input is not valid JSON ({error}): {}", text::one_line(raw, QUOTED_CHARS))
            }
            Ok(_) => format!("the input must be a JSON object, not {}", text::one_line(raw, QUOTED_CHARS)),
        }),
        _ => Err("the input must be a JSON object".to_owned()),
    }
}

/// Why the model may have guessed the input wrong (row X04).
fn undiscovered_hint(name: &str) -> String {
    format!(
        ". The schema of {name} was not sent to you yet: call ToolSearch with the query \"select:{name}\" first, then \
         call {name} again"
    )
}

/// Runs a tool's own check, which may read files and may panic.
pub(super) async fn blocking<T: Send + 'static>(
    job: &CallJob,
    reads_files: bool,
    work: impl FnOnce() -> T + Send + 'static,
) -> Result<T, NotRun> {
    let done = match reads_files {
        true => tokio::task::spawn_blocking(work).await.ok(),
        false => std::panic::catch_unwind(AssertUnwindSafe(work)).ok(),
    };
    done.ok_or_else(|| {
        tracing::error!(tool = %job.tool_name, call = %job.context.tool_call_id, "a tool's check panicked");
        let message =
            format!("{} could not be checked, by a fault of agentd itself; its log tells more", job.tool_name);
        NotRun::Failed(tool_use_error(&message))
    })
}
