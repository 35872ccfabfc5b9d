//! The messages of a transcript in their order, with those that no longer change joined to long pieces: a request is
//! made of these and of what is newer, so that its cost does not grow with the session. The transcript adds and
//! takes away, `model` encodes. Knows no wire format.

use super::Entry;
use bytes::Bytes;
use std::ops::Deref;
use std::sync::{Mutex, MutexGuard, PoisonError};

/// Bytes of a piece, and a message more: few calls of the kernel, and little to join again where one becomes void.
const PIECE: usize = 1 << 20;

/// For whom messages are encoded. Their bytes depend on nothing else.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Reader<'a> {
    /// The wire format.
    pub format: &'static str,
    /// The model, as `provider/model`.
    pub model: &'a str,
}

/// The messages from the first on that are joined.
#[derive(Debug)]
pub struct Joined {
    /// Their bytes in order, with a comma between one message and the next within a piece.
    pub pieces: Vec<Bytes>,
    /// How many they are.
    pub count: usize,
}

/// The messages; they count alone when two are compared. Only the last one is ever changed: what was joined is told
/// from what replaced it by the last message of each piece.
#[derive(Debug, Default)]
pub struct Messages {
    entries: Vec<Entry>,
    joined: Mutex<Kept>,
}

/// Pieces, for the reader who was the last to ask.
#[derive(Debug, Clone, Default)]
struct Kept {
    format: &'static str,
    model: String,
    pieces: Vec<Piece>,
}

#[derive(Debug, Clone)]
struct Piece {
    bytes: Bytes,
    /// How many messages it and those before it are.
    end: usize,
    /// The last of them. Since it is held, no other one takes its place in memory, and a change makes another of it.
    last: Entry,
}

impl Messages {
    /// Joins messages that won't change, and that nothing is laid over: the first `settled` at the most, and never
    /// the last. `encode` gives the bytes of one; those of a joined one are kept in the piece alone. The others come
    /// after, a message each.
    pub fn joined(&self, reader: Reader<'_>, settled: usize, encode: impl Fn(&Entry) -> Bytes) -> Joined {
        let settled = settled.min(self.entries.len().saturating_sub(1));
        let mut kept = self.kept();
        if (kept.format, kept.model.as_str()) != (reader.format, reader.model) {
            *kept = Kept { format: reader.format, model: reader.model.to_owned(), pieces: Vec::new() };
        }
        let good = kept.pieces.iter().take_while(|piece| piece.end <= settled && self.ends_with(piece)).count();
        kept.pieces.truncate(good);
        let mut count = kept.pieces.last().map_or(0, |piece| piece.end);
        let (mut run, mut len) = (Vec::new(), 0);
        let fresh = self.entries.iter().enumerate().take(settled).skip(count);
        for (at, entry) in fresh {
            let bytes = encode(entry);
            len += bytes.len();
            run.push((entry, bytes));
            if len >= PIECE {
                count = at + 1;
                kept.pieces.push(Piece { bytes: join(&run), end: count, last: entry.clone() });
                run.drain(..).for_each(|(entry, _)| entry.forget_encoding());
                len = 0;
            }
        }
        Joined { pieces: kept.pieces.iter().map(|piece| piece.bytes.clone()).collect(), count }
    }

    /// Lets go of the bytes that requests were made of; a later request makes them anew, the same.
    pub fn forget_encodings(&self) {
        self.kept().pieces.clear();
        self.entries.iter().for_each(Entry::forget_encoding);
    }

    /// For adding, for taking away from the end, and for changing the last one.
    pub(super) fn entries(&mut self) -> &mut Vec<Entry> {
        &mut self.entries
    }

    /// Whether the piece's messages are still these.
    fn ends_with(&self, piece: &Piece) -> bool {
        piece.end.checked_sub(1).and_then(|at| self.entries.get(at)).is_some_and(|entry| entry.is_same(&piece.last))
    }

    fn kept(&self) -> MutexGuard<'_, Kept> {
        self.joined.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// One after the other with commas between them. A message that gave no bytes is none.
fn join(run: &[(&Entry, Bytes)]) -> Bytes {
    let parts: Vec<&[u8]> = run.iter().map(|(_, bytes)| bytes.as_ref()).filter(|bytes| !bytes.is_empty()).collect();
    Bytes::from(parts.join(&b','))
}

impl Clone for Messages {
    /// Shares the messages and the pieces.
    fn clone(&self) -> Self {
        Self { entries: self.entries.clone(), joined: Mutex::new(self.kept().clone()) }
    }
}

impl FromIterator<Entry> for Messages {
    fn from_iter<T: IntoIterator<Item = Entry>>(entries: T) -> Self {
        Self { entries: entries.into_iter().collect(), joined: Mutex::default() }
    }
}

impl Deref for Messages {
    type Target = [Entry];

    fn deref(&self) -> &[Entry] {
        &self.entries
    }
}

impl PartialEq for Messages {
    fn eq(&self, other: &Self) -> bool {
        self.entries == other.entries
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::event::{Encoding, Message, UserBlock};
    use proptest::prelude::*;
    use proto::content::ContentBlock;
    use std::cell::Cell;

    const READERS: [Reader<'_>; 3] = [
        Reader { format: "one", model: "a/b" },
        Reader { format: "one", model: "a/bc" },
        Reader { format: "two", model: "a/b" },
    ];
    /// Three messages are a piece.
    const LONG: usize = 400_000;

    fn said(text: usize) -> UserBlock {
        UserBlock::Content(ContentBlock::text(text.to_string()))
    }

    fn entry(text: usize) -> Entry {
        Entry::from(Message::User(vec![said(text)]))
    }

    fn bytes(reader: Reader<'_>, message: &Message) -> Vec<u8> {
        let text = format!("{reader:?} {message:?} ");
        let mut bytes = vec![b'.'; LONG];
        bytes[..text.len()].copy_from_slice(text.as_bytes());
        bytes
    }

    fn encoded(reader: Reader<'_>, entry: &Entry) -> Bytes {
        let variant = u32::try_from(reader.model.len()).unwrap();
        entry.encoded(Encoding { format: reader.format, variant }, |message| bytes(reader, message))
    }

    fn request(messages: &Messages, reader: Reader<'_>, settled: usize) -> Vec<u8> {
        let joined = messages.joined(reader, settled, |entry| encoded(reader, entry));
        assert!(joined.count <= settled && joined.count < messages.len().max(1));
        let mut parts = joined.pieces;
        parts.extend(messages.iter().skip(joined.count).map(|entry| encoded(reader, entry)));
        parts.join(&b',')
    }

    fn anew(messages: &Messages, reader: Reader<'_>) -> Vec<u8> {
        messages.iter().map(|entry| bytes(reader, entry)).collect::<Vec<_>>().join(&b',')
    }

    #[test]
    fn settled_messages_are_joined_once() {
        let made = Cell::new(0);
        let encode = |entry: &Entry| {
            made.set(made.get() + 1);
            encoded(READERS[0], entry)
        };
        let places = |joined: &Joined| joined.pieces.iter().map(|piece| piece.as_ptr()).collect::<Vec<_>>();
        let mut messages = (0..9).map(entry).collect::<Messages>();
        let first = messages.joined(READERS[0], 9, encode);
        assert_eq!((first.pieces.len(), first.count, made.get()), (2, 6, 8), "the last message may change yet");
        messages.entries().extend([entry(9), entry(10)]);
        let second = messages.joined(READERS[0], 11, encode);
        assert_eq!((second.count, made.get()), (9, 12), "only what is not joined is looked at");
        assert_eq!(places(&first), places(&second)[..2], "the same memory");
        encoded(READERS[0], &messages[7]);
        let kept = |at: usize| {
            let is_kept = Cell::new(true);
            messages[at].encoded(Encoding { format: "one", variant: 3 }, |_| {
                is_kept.set(false);
                Vec::new()
            });
            is_kept.get()
        };
        assert_eq!([0, 8, 9].map(kept), [false, false, true], "what is joined is not kept twice");
    }

    #[test]
    fn what_something_is_laid_over_is_not_joined() {
        let messages = (0..9).map(entry).collect::<Messages>();
        let count = |settled| messages.joined(READERS[0], settled, |entry| encoded(READERS[0], entry)).count;
        assert_eq!([9, 5, 2, 6].map(count), [6, 3, 0, 6]);
    }

    #[test]
    fn a_message_without_bytes_is_none() {
        let messages = (0..4).map(entry).collect::<Messages>();
        let encode = |entry: &Entry| match entry.is_same(&messages[1]) {
            true => Bytes::new(),
            false => Bytes::from(vec![b'x'; PIECE / 2]),
        };
        let joined = messages.joined(READERS[0], 4, encode);
        assert_eq!((joined.count, joined.pieces.concat().len()), (3, PIECE + 1));
    }

    /// What happens to a conversation.
    #[derive(Debug, Clone)]
    enum Step {
        /// New messages.
        Add(usize),
        /// More in the last message.
        Merge,
        /// Back, maybe into a message, by so many.
        Rewind {
            by: usize,
            cut: bool,
        },
        /// Another one that shares what this one has.
        Fork,
        /// The other one goes on.
        Switch,
        Forget,
        /// A request for a reader, with so many messages at the end that are marked.
        Ask {
            reader: usize,
            marked: usize,
        },
    }

    fn step() -> impl Strategy<Value = Step> {
        let ask = (0..READERS.len(), 0_usize..4).prop_map(|(reader, marked)| Step::Ask { reader, marked });
        prop_oneof![
            3 => (1_usize..5).prop_map(Step::Add),
            1 => Just(Step::Merge),
            2 => (0_usize..7, any::<bool>()).prop_map(|(by, cut)| Step::Rewind { by, cut }),
            1 => Just(Step::Fork),
            1 => Just(Step::Switch),
            1 => Just(Step::Forget),
            6 => ask,
            6 => Just(Step::Ask { reader: 0, marked: 2 }),
        ]
    }

    fn change(last: Option<&mut Entry>, how: impl FnOnce(&mut Vec<UserBlock>)) {
        if let Some(Message::User(blocks)) = last.map(Entry::change) {
            how(blocks);
        }
    }

    proptest! {
        #![proptest_config(ProptestConfig::with_cases(48))]

        /// Whatever came before, a request is what it would be if nothing were kept.
        #[test]
        fn a_request_is_as_if_it_were_made_anew(steps in prop::collection::vec(step(), 1..40)) {
            let mut messages = Messages::default();
            let mut other = Messages::default();
            for (n, step) in steps.into_iter().enumerate() {
                match step {
                    Step::Add(count) => messages.entries().extend((0..count).map(|at| entry(10 * n + at))),
                    Step::Merge => change(messages.entries().last_mut(), |blocks| blocks.push(said(n))),
                    Step::Rewind { by, cut } => {
                        let left = messages.len().saturating_sub(by);
                        messages.entries().truncate(left);
                        if cut {
                            change(messages.entries().last_mut(), |blocks| blocks.truncate(1));
                        }
                    }
                    Step::Fork => other = messages.clone(),
                    Step::Switch => std::mem::swap(&mut messages, &mut other),
                    Step::Forget => messages.forget_encodings(),
                    Step::Ask { reader, marked } => {
                        let settled = messages.len().saturating_sub(marked);
                        let reader = READERS[reader];
                        prop_assert!(request(&messages, reader, settled) == anew(&messages, reader));
                    }
                }
            }
        }
    }
}
