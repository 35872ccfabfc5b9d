//! One connection: a reader, which is the task that runs this file, one writer task, and the calls and
//! subscriptions between them. Started by `accept`. It knows frames and requests, not what they do.

use super::Server;
use super::calls::Calls;
use super::dispatch;
use super::forward::{self, Forwarder};
use super::http;
use super::outbox::{Message, Outbox};
use super::peer::{self, Origin, Peer};
use super::request::{self, Incoming, Refused};
use crate::base::limits::{CONNECTION_QUEUE_BYTES, MAX_FRAME_BYTES};
use crate::hub::Subscription;
use bytes::{Bytes, BytesMut};
use interprocess::local_socket::tokio::Stream;
use proto::frame::{Frame, FrameCodec, FrameError, Opening, Refusal};
use proto::ids::{SessionId, Timestamp};
use proto::{ErrorKind, RpcError};
use std::collections::HashMap;
use std::io;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::Duration;
use tokio::io::AsyncReadExt;
use tokio::sync::Notify;
use tokio::task::JoinHandle;
use tokio::time::Instant;
use tokio_util::codec::Decoder;
use tokio_util::sync::CancellationToken;

/// How long the rest of a frame may take to come before the connection is closed.
pub const STALL: Duration = Duration::from_secs(30);
/// How long a stopping agentd waits for a connection to take what is queued for it.
pub const FLUSH: Duration = Duration::from_secs(1);
/// A read buffer larger than this is given back once its frames are taken.
const KEEP_BUFFER_BYTES: usize = 256 << 10;

/// A connection, as its calls see it.
#[derive(Debug)]
pub struct Connection {
    /// Where answers and events go; none on HTTP, whose answers go back in the response.
    outbox: Option<Outbox>,
    /// Where the peer's process comes from.
    origin: Origin,
    /// The client's name, once it has told it.
    client: Mutex<Option<String>>,
    /// The forwarder of each session that it is attached to.
    forwarders: Mutex<HashMap<SessionId, Forwarder>>,
    /// Wakes the reader when a subscription has ended by itself.
    subscription_ended: Notify,
    /// Fires when the peer is gone or agentd stops.
    closed: CancellationToken,
}

impl Connection {
    /// A connection that can be sent things unasked, or not.
    pub fn new(outbox: Option<Outbox>, origin: Origin) -> Arc<Self> {
        Arc::new(Self {
            outbox,
            origin,
            client: Mutex::default(),
            forwarders: Mutex::default(),
            subscription_ended: Notify::new(),
            closed: CancellationToken::new(),
        })
    }

    /// Where the peer's process comes from.
    pub fn origin(&self) -> Origin {
        self.origin
    }

    /// Remembers who the client is.
    pub fn set_client(&self, name: String) {
        *self.client.lock().unwrap_or_else(PoisonError::into_inner) = Some(name);
    }

    /// The client's name, for prompts and answers.
    pub fn client(&self) -> String {
        let name = self.client.lock().unwrap_or_else(PoisonError::into_inner).clone();
        name.unwrap_or_else(|| "unknown".to_owned())
    }

    /// Resolves when the peer is gone or agentd stops.
    pub async fn closed(&self) {
        self.closed.cancelled().await;
    }

    /// Closes it for all that use it.
    pub fn close(&self) {
        self.closed.cancel();
        if let Some(outbox) = &self.outbox {
            outbox.close();
        }
    }

    /// Queues a message once there is room; one to a closed connection is dropped.
    pub async fn send(&self, message: Message) {
        if let Some(outbox) = &self.outbox
            && outbox.send(message).await.is_err()
        {
            tracing::trace!("an answer found the connection closed");
        }
    }

    /// Whether events can be sent over it.
    ///
    /// # Errors
    /// `InvalidRequest` over HTTP.
    pub fn require_events(&self) -> Result<&Outbox, RpcError> {
        self.outbox.as_ref().ok_or_else(|| {
            let message = "events can't be sent over HTTP; attach on a connection with JSON lines or Content-Length \
                           framing, or read session/events";
            RpcError::new(ErrorKind::InvalidRequest, message)
        })
    }

    /// Sends a session's events from now on, in place of an earlier subscription to the same session.
    pub async fn attach(self: &Arc<Self>, id: SessionId, attachment: Attachment) -> Result<(), RpcError> {
        let outbox = self.require_events()?.clone();
        let stop = self.closed.child_token();
        let task = forward::Task {
            session: id.clone(),
            subscription: attachment.subscription,
            open: attachment.open,
            outbox,
            answered: attachment.answered,
            stop: stop.clone(),
            sent_seq: attachment.after_seq,
        };
        let connection = Arc::downgrade(self);
        let forwarder = Forwarder::start(task, move |id, forwarder| {
            if let Some(connection) = connection.upgrade() {
                connection.forget(id, forwarder);
            }
        });
        let earlier = self.forwarders().insert(id, forwarder);
        if let Some(earlier) = earlier {
            earlier.stop().await;
        }
        Ok(())
    }

    /// Ends a subscription; false if there is none.
    pub async fn detach(&self, id: &SessionId) -> bool {
        let forwarder = self.forwarders().remove(id);
        match forwarder {
            Some(forwarder) => {
                forwarder.stop().await;
                true
            }
            None => false,
        }
    }

    /// Takes a forwarder that has ended off the list, unless another one has taken its place.
    fn forget(&self, id: &SessionId, forwarder: u64) {
        let mut forwarders = self.forwarders();
        if forwarders.get(id).is_some_and(|current| current.number() == forwarder) {
            forwarders.remove(id);
        }
        drop(forwarders);
        self.subscription_ended.notify_one();
    }

    /// Resolves when no subscription is left.
    async fn subscriptions_end(&self) {
        while self.has_subscriptions() {
            self.subscription_ended.notified().await;
        }
    }

    fn has_subscriptions(&self) -> bool {
        !self.forwarders().is_empty()
    }

    fn forwarders(&self) -> MutexGuard<'_, HashMap<SessionId, Forwarder>> {
        self.forwarders.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// What a client that attaches is to get.
pub struct Attachment {
    /// The events after `after_seq`.
    pub subscription: Subscription,
    /// The last durable event that the client has.
    pub after_seq: u64,
    /// Questions that are still open and come before that, each as its moment and the JSON of its event.
    pub open: Vec<(Timestamp, Bytes)>,
    /// Fires when the attaching call's answer is queued; no event goes before it.
    pub answered: CancellationToken,
}

/// Serves one peer until it leaves, breaks the framing, or agentd stops.
pub async fn serve(stream: Stream, server: Arc<Server>, stop: CancellationToken) {
    let mut buffer = BytesMut::new();
    // Before anything is read: who has connected may end, and its id be used again.
    let origin = peer::pid(&stream).map_or(Origin::Elsewhere, |pid| server.control().origin(pid));
    let mut reading = &stream;
    tokio::select! {
        () = stop.cancelled() => return,
        read = reading.read_buf(&mut buffer) => match read {
            Ok(0) | Err(_) => return,
            Ok(_) => {}
        },
    }
    let Some(first) = buffer.first() else { return };
    match Opening::of(*first) {
        Opening::Http => http::serve(Peer { stream, origin }, buffer.freeze(), server, stop).await,
        Opening::Frames(framing) => {
            let stream = Arc::new(stream);
            let outbox = Outbox::new(framing, CONNECTION_QUEUE_BYTES);
            let connection = Connection::new(Some(outbox.clone()), origin);
            let writer = tokio::spawn(outbox.write_to(stream.clone()));
            let reader = Reader::new(stream, FrameCodec::with_framing(framing), buffer);
            let mut calls = Calls::new(server, connection.clone());
            tokio::select! {
                () = serve_frames(reader, &mut calls, &connection) => {}
                () = stop.cancelled() => {
                    // Sessions have stopped by now, so whoever waits for one is just being told.
                    let told = async { tokio::join!(calls.settle(), connection.subscriptions_end()) };
                    let _ = tokio::time::timeout(FLUSH, told).await;
                }
            }
            connection.close();
            finish(writer, &stop).await;
        }
    }
}

/// Lets the writer finish; a stopping agentd waits for it only a little.
async fn finish(mut writer: JoinHandle<io::Result<()>>, stop: &CancellationToken) {
    let out_of_time = async {
        stop.cancelled().await;
        tokio::time::sleep(FLUSH).await;
    };
    tokio::select! {
        _ = &mut writer => {}
        () = out_of_time => {
            tracing::debug!("a connection did not take its last messages in time");
            writer.abort();
        }
    }
}

async fn serve_frames(mut reader: Reader, calls: &mut Calls, connection: &Connection) {
    let mut reading = true;
    while reading || !calls.is_empty() || connection.has_subscriptions() {
        tokio::select! {
            event = reader.next(), if reading => match event {
                Event::Frame(frame) => {
                    let (incoming, bytes) = incoming(frame);
                    calls.submit(incoming, bytes).await;
                }
                Event::Broken(error) => {
                    connection.send(Message::text(dispatch::refusal(&error))).await;
                    return;
                }
                Event::HalfClosed => reading = false,
                Event::Gone => {
                    // Calls go on to their end, since a session's work does not hang on who asked for it.
                    reading = false;
                    connection.close();
                    connection.forwarders().clear();
                }
            },
            () = calls.progress() => {}
            () = connection.subscription_ended.notified() => {}
        }
    }
}

fn incoming(frame: Frame) -> (Incoming, usize) {
    match frame {
        Frame::Text(text) => (request::parse(&text), text.len()),
        Frame::Refused(refusal) => (Incoming::One(Err(refused(refusal))), 0),
    }
}

/// The error for a frame that was left out.
pub fn refused(refusal: Refusal) -> Refused {
    let (kind, limit) = match refusal {
        Refusal::NotUtf8 => (ErrorKind::ParseError, None),
        Refusal::TooLarge(_) => (ErrorKind::InvalidRequest, Some(("frameBytes", MAX_FRAME_BYTES))),
        Refusal::TooDeep(depth) => (ErrorKind::InvalidRequest, Some(("nesting", depth))),
    };
    let mut error = RpcError::new(kind, refusal.to_string());
    if let Some((limit, value)) = limit {
        error = error.with("limit", limit).with("value", value);
    }
    Refused { id: None, error }
}

/// What the reader found.
enum Event {
    Frame(Frame),
    /// The framing is broken: one last error, then the end.
    Broken(Refused),
    /// The peer sends no more but still reads, as `nc -N` does.
    HalfClosed,
    /// The peer is gone, or has left a frame unfinished for too long.
    Gone,
}

struct Reader {
    stream: Arc<Stream>,
    codec: FrameCodec,
    buffer: BytesMut,
    last_read: Instant,
    ended: bool,
}

impl Reader {
    fn new(stream: Arc<Stream>, codec: FrameCodec, buffer: BytesMut) -> Self {
        Self { stream, codec, buffer, last_read: Instant::now(), ended: false }
    }

    /// The next thing to deal with. Cancel-safe: what was read stays in the buffer.
    async fn next(&mut self) -> Event {
        loop {
            let decoded =
                if self.ended { self.codec.decode_eof(&mut self.buffer) } else { self.codec.decode(&mut self.buffer) };
            match decoded {
                Ok(Some(frame)) => return Event::Frame(frame),
                Ok(None) if self.ended => {
                    return if peer::is_gone(&self.stream) { Event::Gone } else { Event::HalfClosed };
                }
                Ok(None) => {}
                Err(FrameError::Io(_)) => return Event::Gone,
                Err(error) => return Event::Broken(Refused::nameless(ErrorKind::ParseError, error.to_string())),
            }
            if self.buffer.is_empty() && self.buffer.capacity() > KEEP_BUFFER_BYTES {
                self.buffer = BytesMut::new();
            }
            if !self.read().await {
                return Event::Gone;
            }
        }
    }

    /// Reads some more; false if the connection has failed or is stuck in a frame.
    async fn read(&mut self) -> bool {
        let within_frame = self.codec.is_within_frame(&self.buffer);
        self.buffer.reserve(8 << 10);
        let mut stream = &*self.stream;
        let read = stream.read_buf(&mut self.buffer);
        let read = if within_frame {
            match tokio::time::timeout_at(self.last_read + STALL, read).await {
                Ok(read) => read,
                Err(_) => {
                    tracing::info!(
                        "a client left a frame unfinished for {} s; its connection is closed",
                        STALL.as_secs()
                    );
                    return false;
                }
            }
        } else {
            read.await
        };
        match read {
            Ok(bytes) => {
                self.ended = bytes == 0;
                self.last_read = Instant::now();
                true
            }
            Err(error) => {
                tracing::debug!(%error, "a connection can't be read");
                false
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::{Event, Reader, STALL};
    use bytes::BytesMut;
    use interprocess::local_socket::tokio::Stream;
    use interprocess::os::unix::uds_local_socket::tokio::Stream as UnixStream;
    use proto::frame::{Frame, FrameCodec};
    use std::sync::Arc;
    use tokio::io::AsyncWriteExt;
    use tokio::time::Instant;

    fn reader() -> (Reader, tokio::net::UnixStream) {
        let (near, far) = tokio::net::UnixStream::pair().unwrap();
        let stream = Arc::new(Stream::from(UnixStream::from(near)));
        (Reader::new(stream, FrameCodec::new(), BytesMut::new()), far)
    }

    #[tokio::test(start_paused = true)]
    async fn half_a_frame_and_then_silence_ends_the_connection() {
        let (mut reader, mut far) = reader();
        far.write_all(b"{\"jsonrpc\":").await.unwrap();
        let start = Instant::now();
        assert!(matches!(reader.next().await, Event::Gone));
        assert_eq!(start.elapsed().as_secs(), STALL.as_secs());
    }

    #[tokio::test(start_paused = true)]
    async fn silence_between_frames_may_last() {
        let (mut reader, mut far) = reader();
        far.write_all(b"[1]\n").await.unwrap();
        assert!(matches!(reader.next().await, Event::Frame(Frame::Text(text)) if text == "[1]"));
        assert!(tokio::time::timeout(STALL * 10, reader.next()).await.is_err());
        far.write_all(b"[2]\n").await.unwrap();
        assert!(matches!(reader.next().await, Event::Frame(Frame::Text(text)) if text == "[2]"));
    }

    #[tokio::test]
    async fn a_peer_that_left_is_told_from_one_that_only_listens() {
        let (mut reader, mut far) = self::reader();
        far.shutdown().await.unwrap();
        assert!(matches!(reader.next().await, Event::HalfClosed));
        drop(far);
        assert!(matches!(reader.next().await, Event::Gone));
    }
}
