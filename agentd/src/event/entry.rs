//! A message of the transcript and the bytes that a wire format has made of it. The transcript hands entries out,
//! `model` encodes each once; whoever holds the same entry shares its bytes. Knows no wire format.

use super::Message;
use bytes::Bytes;
use std::fmt;
use std::ops::Deref;
use std::sync::{Arc, Mutex, PoisonError};

/// What a message's bytes depend on beside the message.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Encoding {
    /// The wire format.
    pub format: &'static str,
    /// Whatever else makes a difference, numbered by the format: whether the message goes back to the model that
    /// wrote it, a peculiarity of the server.
    pub variant: u32,
}

/// A message, shared by everyone who holds the transcript. Its encoding counts for nothing when two are compared.
#[derive(Clone)]
pub struct Entry(Arc<Kept>);

struct Kept {
    message: Message,
    /// The encoding that was asked for last: a session seldom changes its model, and two would cost their memory.
    encoded: Mutex<Option<(Encoding, Bytes)>>,
}

impl Entry {
    /// The message's bytes in an encoding: made by `encode` once, and kept until another encoding is asked for.
    pub fn encoded(&self, encoding: Encoding, encode: impl FnOnce(&Message) -> Vec<u8>) -> Bytes {
        let mut kept = self.0.encoded.lock().unwrap_or_else(PoisonError::into_inner);
        match kept.as_ref() {
            Some((known, bytes)) if *known == encoding => bytes.clone(),
            _ => {
                let bytes = Bytes::from(encode(&self.0.message));
                *kept = Some((encoding, bytes.clone()));
                bytes
            }
        }
    }

    /// Whether this is the other one, not only an equal one.
    pub(super) fn is_same(&self, other: &Self) -> bool {
        Arc::ptr_eq(&self.0, &other.0)
    }

    /// Lets go of the kept bytes; they are made anew when they are asked for.
    pub fn forget_encoding(&self) {
        *self.0.encoded.lock().unwrap_or_else(PoisonError::into_inner) = None;
    }

    /// The message, to be changed: its bytes are forgotten, and others who hold the entry keep it as it was.
    pub fn change(&mut self) -> &mut Message {
        let kept = Arc::make_mut(&mut self.0);
        *kept.encoded.get_mut().unwrap_or_else(PoisonError::into_inner) = None;
        &mut kept.message
    }
}

impl Clone for Kept {
    /// Only made to be changed.
    fn clone(&self) -> Self {
        Self { message: self.message.clone(), encoded: Mutex::default() }
    }
}

impl From<Message> for Entry {
    fn from(message: Message) -> Self {
        Self(Arc::new(Kept { message, encoded: Mutex::default() }))
    }
}

impl Deref for Entry {
    type Target = Message;

    fn deref(&self) -> &Message {
        &self.0.message
    }
}

impl AsRef<Message> for Entry {
    fn as_ref(&self) -> &Message {
        self
    }
}

impl PartialEq for Entry {
    fn eq(&self, other: &Self) -> bool {
        self.0.message == other.0.message
    }
}

impl fmt::Debug for Entry {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.0.message.fmt(f)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::event::UserBlock;
    use proto::content::ContentBlock;
    use std::cell::Cell;

    const ONE: Encoding = Encoding { format: "one", variant: 0 };

    fn said(text: &str) -> UserBlock {
        UserBlock::Content(ContentBlock::text(text))
    }

    fn entry(text: &str) -> Entry {
        Entry::from(Message::User(vec![said(text)]))
    }

    #[test]
    fn a_message_is_encoded_once_for_all_who_hold_it() {
        let (entry, made) = (entry("a"), Cell::new(0));
        let bytes = |entry: &Entry, encoding| {
            entry.encoded(encoding, |_| {
                made.set(made.get() + 1);
                format!("{encoding:?}").into_bytes()
            })
        };
        let first = bytes(&entry, ONE);
        let shared = bytes(&entry.clone(), ONE);
        assert_eq!((made.get(), first.as_ptr()), (1, shared.as_ptr()), "the same bytes, not equal ones");
        for other in [Encoding { variant: 1, ..ONE }, Encoding { format: "two", ..ONE }] {
            assert_ne!(bytes(&entry, other), first);
        }
        assert_eq!(made.get(), 3);
        entry.forget_encoding();
        assert_eq!(bytes(&entry, ONE), first);
        assert_eq!(made.get(), 4);
    }

    #[test]
    fn a_change_forgets_the_bytes_and_leaves_other_holders_alone() {
        let length = |message: &Message| match message {
            Message::User(blocks) => vec![b'x'; blocks.len()],
            Message::Assistant { .. } => Vec::new(),
        };
        let add = |entry: &mut Entry| match entry.change() {
            Message::User(blocks) => blocks.push(said("b")),
            Message::Assistant { .. } => {}
        };
        let mut changed = entry("a");
        assert_eq!(changed.encoded(ONE, length), "x");
        add(&mut changed);
        assert_eq!(changed.encoded(ONE, length), "xx", "of an entry that nobody else holds");
        let held = changed.clone();
        add(&mut changed);
        assert_eq!((changed.encoded(ONE, length), held.encoded(ONE, length)), ("xxx".into(), "xx".into()));
        assert_ne!(changed, held);
    }
}
