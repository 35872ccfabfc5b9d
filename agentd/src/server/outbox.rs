//! What waits to be written to one connection: a queue that is bounded in bytes, and the one task that
//! empties it onto the socket. Filled by calls (answers) and forwarders (events); a session never
//! waits for it.

use bytes::{Bytes, BytesMut};
use interprocess::local_socket::tokio::Stream;
use proto::frame::{Framing, write_frame};
use std::collections::VecDeque;
use std::io;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use tokio::io::AsyncWriteExt;
use tokio::sync::{Notify, Semaphore};

/// How much is put together for one write.
const WRITE_BYTES: usize = 64 << 10;
/// A write buffer larger than this is given back after the write.
const KEEP_BUFFER_BYTES: usize = 256 << 10;

/// One JSON text on its way out: some bytes of its own around an event's bytes, which are shared with
/// the journal and all other connections.
#[derive(Debug, Clone)]
pub struct Message {
    head: Bytes,
    event: Bytes,
    tail: &'static str,
}

impl Message {
    /// A text of its own.
    pub fn text(text: String) -> Self {
        Self { head: Bytes::from(text), event: Bytes::new(), tail: "" }
    }

    /// A text around an event.
    pub fn around(head: String, event: Bytes, tail: &'static str) -> Self {
        Self { head: Bytes::from(head), event, tail }
    }

    /// Its size in bytes.
    pub fn len(&self) -> usize {
        self.head.len() + self.event.len() + self.tail.len()
    }

    fn write(&self, framing: Framing, out: &mut BytesMut) {
        write_frame(framing, &[&self.head, &self.event, self.tail.as_bytes()], out);
    }
}

/// The connection is closed; nothing more can be sent.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Closed;

/// The queue of one connection. Clones are handles to the same queue.
#[derive(Debug, Clone)]
pub struct Outbox(Arc<Shared>);

#[derive(Debug)]
struct Shared {
    framing: Framing,
    capacity: usize,
    queue: Mutex<Queue>,
    /// Free bytes. Closed together with the queue, which frees whoever waits.
    room: Semaphore,
    /// Wakes the writer.
    filled: Notify,
}

#[derive(Debug, Default)]
struct Queue {
    waiting: VecDeque<(Message, usize)>,
    closed: bool,
}

impl Outbox {
    /// An empty queue that holds so many bytes.
    pub fn new(framing: Framing, capacity: usize) -> Self {
        Self(Arc::new(Shared {
            framing,
            capacity,
            queue: Mutex::default(),
            room: Semaphore::new(capacity),
            filled: Notify::new(),
        }))
    }

    /// Waits for room and queues the message. One that is larger than the whole queue waits until the
    /// queue is empty. Cancel-safe: a call that is dropped has queued nothing.
    pub async fn send(&self, message: Message) -> Result<(), Closed> {
        let bytes = message.len().min(self.0.capacity);
        let permits = u32::try_from(bytes).unwrap_or(u32::MAX);
        self.0.room.acquire_many(permits).await.map_err(|_| Closed)?.forget();
        self.push(message, bytes)
    }

    /// Queues a message even if there is no room. For the one last word to a subscriber that is cut off.
    pub fn send_past_the_cap(&self, message: Message) -> Result<(), Closed> {
        self.push(message, 0)
    }

    /// Takes no more messages; those that are queued are still written.
    pub fn close(&self) {
        self.queue().closed = true;
        self.0.room.close();
        self.0.filled.notify_one();
    }

    /// Takes no more messages and drops those that are queued.
    fn abandon(&self) {
        self.queue().waiting.clear();
        self.close();
    }

    /// Writes what comes in until the queue is closed and empty, or the peer is gone.
    pub async fn write_to(self, stream: Arc<Stream>) -> io::Result<()> {
        let (mut stream, mut out) = (&*stream, BytesMut::new());
        while let Some(bytes) = self.next_batch(&mut out).await {
            if let Err(error) = stream.write_all(&out).await {
                self.abandon();
                return Err(error);
            }
            out.clear();
            if out.capacity() > KEEP_BUFFER_BYTES {
                out = BytesMut::new();
            }
            self.0.room.add_permits(bytes);
        }
        Ok(())
    }

    /// Fills `out` with some frames and gives the room that they took; none at the end.
    async fn next_batch(&self, out: &mut BytesMut) -> Option<usize> {
        loop {
            {
                let mut queue = self.queue();
                let mut room = 0;
                while out.len() < WRITE_BYTES
                    && let Some((message, bytes)) = queue.waiting.pop_front()
                {
                    message.write(self.0.framing, out);
                    room += bytes;
                }
                if !out.is_empty() {
                    return Some(room);
                }
                if queue.closed {
                    return None;
                }
            }
            self.0.filled.notified().await;
        }
    }

    fn push(&self, message: Message, bytes: usize) -> Result<(), Closed> {
        let mut queue = self.queue();
        if queue.closed {
            return Err(Closed);
        }
        queue.waiting.push_back((message, bytes));
        drop(queue);
        self.0.filled.notify_one();
        Ok(())
    }

    fn queue(&self) -> MutexGuard<'_, Queue> {
        self.0.queue.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

#[cfg(test)]
mod tests {
    use super::{Closed, Message, Outbox};
    use bytes::{Bytes, BytesMut};
    use futures::FutureExt;
    use proto::frame::Framing;

    fn message(text: &str) -> Message {
        Message::text(text.to_owned())
    }

    #[tokio::test]
    async fn the_cap_is_in_bytes() {
        let outbox = Outbox::new(Framing::Lines, 10);
        assert_eq!(outbox.send(message("123456")).now_or_never(), Some(Ok(())));
        assert_eq!(outbox.send(message("12345")).now_or_never(), None, "one byte too many");
        assert_eq!(outbox.send(message("1234")).now_or_never(), Some(Ok(())));
        assert_eq!(outbox.send_past_the_cap(message("last")), Ok(()));
        let mut out = BytesMut::new();
        assert_eq!(outbox.next_batch(&mut out).await, Some(10));
        assert_eq!(out, "123456\n1234\nlast\n");
    }

    #[tokio::test]
    async fn a_message_larger_than_the_queue_goes_alone() {
        let outbox = Outbox::new(Framing::Lines, 4);
        assert_eq!(outbox.send(message("123456")).now_or_never(), Some(Ok(())));
        assert_eq!(outbox.send(message("1")).now_or_never(), None);
    }

    #[tokio::test]
    async fn closing_frees_who_waits_and_keeps_what_is_queued() {
        let outbox = Outbox::new(Framing::Headers, 4);
        assert_eq!(outbox.send(message("1234")).await, Ok(()));
        let waiting = tokio::spawn({
            let outbox = outbox.clone();
            async move { outbox.send(message("5")).await }
        });
        tokio::task::yield_now().await;
        outbox.close();
        assert_eq!(waiting.await.unwrap(), Err(Closed));
        let mut out = BytesMut::new();
        assert_eq!(outbox.next_batch(&mut out).await, Some(4));
        assert_eq!(out, "Content-Length: 4\r\n\r\n1234");
        out.clear();
        assert_eq!(outbox.next_batch(&mut out).await, None);
    }

    #[tokio::test]
    async fn an_event_keeps_its_bytes() {
        let outbox = Outbox::new(Framing::Lines, 100);
        let event = Message::around("[".to_owned(), Bytes::from_static(b"{}"), "]");
        assert_eq!(event.len(), 4);
        outbox.send(event).await.unwrap();
        let mut out = BytesMut::new();
        outbox.next_batch(&mut out).await;
        assert_eq!(out, "[{}]\n");
    }
}
