//! `agentctl schema`: the JSON Schema of the protocol that this version speaks. It needs no daemon.

use super::print_pretty;
use crate::failure::Outcome;

/// Runs the command.
pub fn run() -> Outcome {
    print_pretty(&proto::schema::protocol_schema())?;
    Ok(0)
}
