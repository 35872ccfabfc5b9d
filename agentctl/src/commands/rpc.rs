//! `agentctl rpc`: any method by its name. The raw way in, for scripts and for looking around.

use super::{print_pretty, text_or_stdin};
use crate::args::Rpc;
use crate::connect::CallError;
use crate::failure::{Failure, Outcome, code};
use crate::start::Target;
use serde_json::Value;
use std::io::Write;

/// Runs the command.
pub fn run(args: &Rpc, target: &Target) -> Outcome {
    let params: Value = match &args.params {
        Some(text) => serde_json::from_str(&text_or_stdin(text)?)
            .map_err(|error| Failure::usage(format!("the params are not JSON: {error}")))?,
        None => Value::Object(serde_json::Map::new()),
    };
    if !params.is_object() && !params.is_array() {
        return Err(Failure::usage("the params must be a JSON object, such as '{\"limit\": 5}'"));
    }
    match target.connect()?.call_raw(&args.method, &params) {
        Ok(result) => {
            let result: Value = serde_json::from_str(result.get()).map_err(|error| Failure::new(error.to_string()))?;
            print_pretty(&result)?;
            Ok(0)
        }
        Err(CallError::Refused(body)) => {
            let text = serde_json::to_string_pretty(&body).unwrap_or_default();
            writeln!(std::io::stderr(), "{text}")?;
            Err(Failure::silent(code::ERROR))
        }
        Err(error) => Err(error.into()),
    }
}
