//! A prompt on its way to agentd, with a key that keeps it from being sent twice. Used by all that send one.

use crate::failure::Failure;
use proto::content::Prompt;
use proto::ids::SessionId;
use proto::methods::TurnStartParams;
use std::fs::File;
use std::io::Read;

/// A prompt that waits for its turn and runs as the session does.
pub fn params(session: &SessionId, text: String) -> Result<TurnStartParams, Failure> {
    Ok(TurnStartParams {
        session_id: session.clone(),
        prompt: Prompt::Text(text),
        when_busy: None,
        expected_turn_id: None,
        model: None,
        max_turns: None,
        output_schema: None,
        token_budget: None,
        on_ask: None,
        idempotency_key: Some(random_key()?),
    })
}

/// A key that no other prompt has.
fn random_key() -> Result<String, Failure> {
    let mut bytes = [0_u8; 16];
    let read = File::open("/dev/urandom").and_then(|mut file| file.read_exact(&mut bytes));
    read.map_err(|error| Failure::new(format!("cannot read /dev/urandom: {error}")))?;
    Ok(bytes.iter().map(|byte| format!("{byte:02x}")).collect())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn keys_differ() {
        assert_ne!(random_key().unwrap(), random_key().unwrap());
    }
}
