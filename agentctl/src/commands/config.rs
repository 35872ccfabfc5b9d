//! `agentctl config`: reads and writes settings.

use super::print_pretty;
use crate::args::{Config, ConfigAction};
use crate::failure::{Failure, Outcome};
use crate::start::Target;
use proto::methods::{ConfigGet, ConfigGetParams, ConfigSet, ConfigSetParams};
use serde_json::Value;

/// Runs the command.
pub fn run(args: Config, target: &Target) -> Outcome {
    let cwd =
        std::env::current_dir().map_err(|error| Failure::new(format!("cannot tell the current folder: {error}")))?;
    let cwd = Some(cwd.to_string_lossy().into_owned());
    let mut connection = target.connect()?;
    match args.action {
        ConfigAction::Get { key } => {
            print_pretty(&connection.call::<ConfigGet>(ConfigGetParams { cwd, key })?.value)?;
        }
        ConfigAction::Set { key, value, scope } => {
            let value = serde_json::from_str(&value).unwrap_or(Value::String(value));
            connection.call::<ConfigSet>(ConfigSetParams { scope, cwd, key, value })?;
        }
    }
    Ok(0)
}
