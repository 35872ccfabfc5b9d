//! The output items of one answer while they stream in. Servers differ: items go by their place, by their id or,
//! where a server tells neither, by order. Used by `decode`. Pure.

use serde_json::Value;

/// What an item is.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Kind {
    Text,
    Thinking,
    Call,
    /// A kind that this version does not know.
    Other,
}

impl Kind {
    pub(super) fn of(item: &Value) -> Self {
        match item.get("type").and_then(Value::as_str).unwrap_or_default() {
            "message" => Self::Text,
            "reasoning" => Self::Thinking,
            "function_call" => Self::Call,
            _ => Self::Other,
        }
    }
}

/// An item.
pub(super) struct Item {
    /// Its place in the message.
    pub(super) block: usize,
    pub(super) kind: Kind,
    /// What has streamed of its text, its reasoning or its arguments.
    pub(super) text: String,
    /// Of a call: its id in the session, and its name.
    pub(super) id: String,
    pub(super) name: String,
    /// Whether it has ended, complete or not.
    pub(super) ended: bool,
    place: Option<u64>,
    wire_id: String,
    call_id: String,
}

/// How an event names its item.
pub(super) struct Naming<'a> {
    place: Option<u64>,
    wire_id: &'a str,
    call_id: &'a str,
}

impl<'a> Naming<'a> {
    /// Of an event, and of the item in it, where it holds one.
    pub(super) fn of(event: &'a Value, item: &'a Value) -> Self {
        let text = |value: Option<&'a Value>| value.and_then(Value::as_str).unwrap_or_default();
        let wire_id = text(event.get("item_id").or_else(|| item.get("id")));
        let place = event.get("output_index").and_then(Value::as_u64);
        Self { place, wire_id, call_id: text(item.get("call_id")) }
    }

    /// Of an item in the list of a whole answer.
    pub(super) fn at(place: usize, item: &'a Value) -> Self {
        Self { place: u64::try_from(place).ok(), ..Self::of(&Value::Null, item) }
    }
}

/// The items of one answer, in the order in which they began.
#[derive(Default)]
pub(super) struct Items {
    items: Vec<Item>,
}

impl Items {
    pub(super) fn is_empty(&self) -> bool {
        self.items.is_empty()
    }

    pub(super) fn len(&self) -> usize {
        self.items.len()
    }

    pub(super) fn all_ended(&self) -> bool {
        self.items.iter().all(|item| item.ended)
    }

    /// Those that have not ended.
    pub(super) fn open(&mut self) -> impl Iterator<Item = &mut Item> {
        self.items.iter_mut().filter(|item| !item.ended)
    }

    /// Where the item of that kind is that an event is about. By its place first: some servers give an item another
    /// id in each event.
    pub(super) fn find(&self, naming: &Naming<'_>, kind: Kind) -> Option<usize> {
        let last = |test: &dyn Fn(&Item) -> bool| self.items.iter().rposition(|item| item.kind == kind && test(item));
        match naming {
            // Some servers give every item the same place; calls have another name to tell them apart.
            Naming { place: Some(place), call_id, .. } => last(&|item| {
                let other_call = !call_id.is_empty() && !item.call_id.is_empty() && item.call_id != *call_id;
                item.place == Some(*place) && !other_call
            }),
            Naming { wire_id, .. } if !wire_id.is_empty() => last(&|item| item.wire_id == *wire_id),
            Naming { .. } => last(&|item| !item.ended),
        }
    }

    /// Adds an item; it is the next block of the message.
    pub(super) fn begin(&mut self, naming: &Naming<'_>, kind: Kind) -> usize {
        let block = self.items.len();
        self.items.push(Item {
            block,
            kind,
            text: String::new(),
            id: String::new(),
            name: String::new(),
            ended: false,
            place: naming.place,
            wire_id: naming.wire_id.to_owned(),
            call_id: naming.call_id.to_owned(),
        });
        block
    }

    pub(super) fn at(&mut self, at: usize) -> Option<&mut Item> {
        self.items.get_mut(at)
    }
}
