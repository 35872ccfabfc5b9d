//! The ids of tool calls. Servers leave them out or use them again; within a session each must be
//! another. Used by the decoders of the wire formats.

use crate::base::ids;
use crate::event::{Entry, Message, Messages};
use proto::content::MessageBlock;
use std::collections::HashSet;
use std::sync::Arc;

/// The ids that a session has used: those of its transcript, which is looked through only when a call comes, and
/// those of the answer under way.
#[derive(Debug, Default)]
pub(super) struct CallIds {
    past: Arc<Messages>,
    given: HashSet<String>,
}

impl CallIds {
    pub(super) fn of(messages: &Arc<Messages>) -> Self {
        Self { past: Arc::clone(messages), given: HashSet::new() }
    }

    /// The given id, or a new one where it is empty or used.
    pub(super) fn claim(&mut self, id: &str) -> String {
        let id = if id.is_empty() || self.is_used(id) { ids::fresh("call") } else { id.to_owned() };
        self.given.insert(id.clone());
        id
    }

    fn is_used(&self, wanted: &str) -> bool {
        let calls = |message: &Entry| match message.as_ref() {
            Message::User(_) => false,
            Message::Assistant { content, .. } => {
                content.iter().any(|block| matches!(block, MessageBlock::ToolUse { id, .. } if id == wanted))
            }
        };
        self.given.contains(wanted) || self.past.iter().any(calls)
    }
}

/// An id or a name as every wire format takes it: letters, digits, `_` and `-`. The same text gives
/// the same result, so that a call and its result stay together.
pub(super) fn safe(text: &str, chars: usize) -> String {
    let safe: String =
        text.chars().take(chars).map(|c| if c.is_ascii_alphanumeric() || "_-".contains(c) { c } else { '_' }).collect();
    if safe.is_empty() { "unnamed".to_owned() } else { safe }
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    #[test]
    fn an_id_is_given_once() {
        let past = Arc::new(Messages::from_iter([Entry::from(Message::Assistant {
            content: vec![MessageBlock::ToolUse { id: "call_0".to_owned(), name: "Read".to_owned(), input: json!({}) }],
            model: "m/m".to_owned(),
        })]));
        let mut ids = CallIds::of(&past);
        assert_eq!(ids.claim("call_1"), "call_1");
        let others = [ids.claim("call_0"), ids.claim("call_1"), ids.claim(""), ids.claim("")];
        let distinct: HashSet<&String> = others.iter().collect();
        assert_eq!(distinct.len(), 4);
        assert!(others.iter().all(|id| id.starts_with("call_") && id.len() == 21), "{others:?}");
    }

    #[test]
    fn names_are_made_safe() {
        for (text, expected) in [("call_1", "call_1"), ("a.b:c", "a_b_c"), ("", "unnamed"), ("ä", "_")] {
            assert_eq!(safe(text, 64), expected);
        }
    }
}
