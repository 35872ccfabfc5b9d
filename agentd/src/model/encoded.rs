//! Requests as shared pieces: what was encoded for an earlier request goes into the next one as it is, so that a
//! request costs what is new in it and a provider's prompt cache finds the very bytes that it knows. Used by the
//! encoders of the wire formats; `http` sends the pieces without joining them. Knows no wire format.

use super::ToolDefinition;
use crate::event::{Entry, Messages, Reader};
use bytes::Bytes;
use hyper::body::{Frame, SizeHint};
use serde_json::{Map, Value};
use std::convert::Infallible;
use std::pin::Pin;
use std::slice;
use std::sync::{Arc, Mutex, PoisonError};
use std::task::{Context, Poll};

/// Shorter pieces are copied into one: a copy of so few bytes costs less than a piece of its own on its way out.
const SHORT: usize = 4 << 10;

/// The body of a request. A clone shares the bytes.
#[derive(Debug, Clone)]
pub(super) struct Body {
    pieces: Arc<[Bytes]>,
    len: u64,
}

impl Body {
    /// For the HTTP client: the pieces one after the other, with their length known before.
    pub(super) fn pieces(&self) -> Pieces {
        Pieces { pieces: Arc::clone(&self.pieces), next: 0, left: self.len }
    }

    #[cfg(test)]
    pub(super) fn to_vec(&self) -> Vec<u8> {
        self.pieces.concat()
    }

    /// Where the pieces lie in memory, and how long they are.
    #[cfg(test)]
    pub(super) fn places(&self) -> Vec<(*const u8, usize)> {
        self.pieces.iter().map(|piece| (piece.as_ptr(), piece.len())).collect()
    }
}

/// A body on its way out.
pub(super) struct Pieces {
    pieces: Arc<[Bytes]>,
    next: usize,
    left: u64,
}

impl hyper::body::Body for Pieces {
    type Data = Bytes;
    type Error = Infallible;

    fn poll_frame(
        mut self: Pin<&mut Self>,
        _: &mut Context<'_>,
    ) -> Poll<Option<Result<Frame<Self::Data>, Self::Error>>> {
        let Some(piece) = self.pieces.get(self.next).cloned() else { return Poll::Ready(None) };
        self.next += 1;
        self.left = self.left.saturating_sub(piece.len() as u64);
        Poll::Ready(Some(Ok(Frame::data(piece))))
    }

    fn is_end_stream(&self) -> bool {
        self.next >= self.pieces.len()
    }

    /// Exact, so that the request has a length: some servers read no chunked ones.
    fn size_hint(&self) -> SizeHint {
        SizeHint::with_exact(self.left)
    }
}

/// Writes a JSON object of fields and lists.
pub(super) struct Writer {
    pieces: Vec<Bytes>,
    short: Vec<u8>,
    /// Whether the open list has an item.
    has_item: bool,
}

impl Writer {
    /// An object with these fields, of which there is at least one.
    pub(super) fn object(fields: Map<String, Value>) -> Self {
        let mut short = Value::Object(fields).to_string().into_bytes();
        short.pop(); // its `}`; more follows
        Self { pieces: Vec::new(), short, has_item: false }
    }

    /// A field with a value that is JSON already, in parts. Its name needs no escaping.
    pub(super) fn field(&mut self, name: &str, parts: &[Bytes]) {
        self.short.extend_from_slice(format!(",\"{name}\":").as_bytes());
        parts.iter().for_each(|part| self.add(part));
    }

    /// Begins a list, in place of a field's value.
    pub(super) fn begin_list(&mut self, name: &str) {
        self.short.extend_from_slice(format!(",\"{name}\":[").as_bytes());
        self.has_item = false;
    }

    /// An item of the list, or several with commas between them, in parts. An empty one is none.
    pub(super) fn item(&mut self, parts: &[Bytes]) {
        if parts.iter().all(Bytes::is_empty) {
            return;
        }
        if std::mem::replace(&mut self.has_item, true) {
            self.short.push(b',');
        }
        parts.iter().for_each(|part| self.add(part));
    }

    /// The messages as items of the list, the older ones joined.
    pub(super) fn messages(&mut self, messages: &Messages, reader: Reader<'_>, encode: impl Fn(&Entry) -> Bytes) {
        let joined = messages.joined(reader, messages.len(), &encode);
        joined.pieces.iter().for_each(|piece| self.item(slice::from_ref(piece)));
        messages.iter().skip(joined.count).for_each(|entry| self.item(&[encode(entry)]));
    }

    pub(super) fn end_list(&mut self) {
        self.short.push(b']');
    }

    /// The whole object.
    pub(super) fn finish(mut self) -> Body {
        self.short.push(b'}');
        self.flush();
        let len = self.pieces.iter().map(|piece| piece.len() as u64).sum();
        Body { pieces: self.pieces.into(), len }
    }

    fn add(&mut self, bytes: &Bytes) {
        if bytes.len() < SHORT {
            return self.short.extend_from_slice(bytes);
        }
        self.flush();
        self.pieces.push(bytes.clone());
    }

    fn flush(&mut self) {
        if !self.short.is_empty() {
            self.pieces.push(Bytes::from(std::mem::take(&mut self.short)));
        }
    }
}

/// Items of a list as they stand in it, with commas between them: what one message becomes.
pub(super) fn list(items: Vec<Value>) -> Vec<u8> {
    let items: Vec<String> = items.iter().map(Value::to_string).collect();
    items.join(",").into_bytes()
}

/// The bytes of what stands before the messages. A model keeps it from call to call.
#[derive(Default)]
pub(super) struct Prefix {
    pub(super) tools: Kept<[ToolDefinition]>,
    pub(super) system: Kept<str>,
}

/// A shared value with its encoding.
type Pair<T> = (Arc<T>, Bytes);

/// The last value and its encoding. The value is held so that another one can't take its place in memory.
pub(super) struct Kept<T: ?Sized>(Mutex<Option<Pair<T>>>);

impl<T: ?Sized> Default for Kept<T> {
    fn default() -> Self {
        Self(Mutex::new(None))
    }
}

impl<T: ?Sized> Kept<T> {
    /// The value's bytes: made by `encode` once for the same value.
    pub(super) fn encoded(&self, value: &Arc<T>, encode: impl FnOnce(&T) -> Value) -> Bytes {
        let mut kept = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        match kept.as_ref() {
            Some((known, bytes)) if Arc::ptr_eq(known, value) => bytes.clone(),
            _ => {
                let bytes = Bytes::from(encode(value).to_string());
                *kept = Some((Arc::clone(value), bytes.clone()));
                bytes
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use hyper::body::Body as _;
    use serde_json::json;

    fn object() -> Writer {
        Writer::object(Map::from_iter([("a".to_owned(), json!(1))]))
    }

    #[test]
    fn fields_and_lists_make_an_object() {
        let mut writer = object();
        writer.field("b", &[Bytes::from("[2"), Bytes::from("]")]);
        writer.begin_list("c");
        for item in ["", "3", "", "4,5"] {
            writer.item(&[Bytes::from(item)]);
        }
        writer.end_list();
        writer.begin_list("d");
        writer.item(&[]);
        writer.end_list();
        assert_eq!(writer.finish().to_vec(), br#"{"a":1,"b":[2],"c":[3,4,5],"d":[]}"#);
    }

    #[test]
    fn long_pieces_are_shared_and_short_ones_joined() {
        let long = Bytes::from(vec![b'7'; SHORT]);
        let mut writer = object();
        writer.begin_list("c");
        for item in [Bytes::from("1"), Bytes::from("2"), long.clone(), Bytes::from("3")] {
            writer.item(&[item]);
        }
        writer.end_list();
        let body = writer.finish();
        let places = body.places();
        assert_eq!((places.len(), places[1]), (3, (long.as_ptr(), long.len())));
        assert_eq!(body.pieces().size_hint().exact(), Some(body.to_vec().len() as u64));
    }

    #[test]
    fn only_another_value_is_encoded_again() {
        let kept = Kept::<str>::default();
        let (one, same_text): (Arc<str>, Arc<str>) = ("x".into(), "x".into());
        let bytes = kept.encoded(&one, |text| json!(text));
        assert_eq!(bytes, "\"x\"");
        assert_eq!(kept.encoded(&one, |_| json!("not asked")), bytes);
        assert_eq!(kept.encoded(&same_text, |_| json!("asked")), "\"asked\"");
    }
}
