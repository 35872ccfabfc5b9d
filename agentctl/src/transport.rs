//! jsonrpsee's transport over a local socket: one JSON text a line. Built by `live`. It filters what
//! jsonrpsee's client would die of: answers to nobody, and requests from the other side.

use futures::StreamExt;
use interprocess::local_socket::tokio::Stream;
use interprocess::local_socket::tokio::prelude::*;
use interprocess::local_socket::{GenericFilePath, ToFsName};
use jsonrpsee::core::client::{ReceivedMessage, TransportReceiverT, TransportSenderT};
use serde::Deserialize;
use serde::de::IgnoredAny;
use std::io;
use std::path::Path;
use std::pin::Pin;
use std::sync::Arc;
use std::task::{Context, Poll};
use tokio::io::{AsyncRead, AsyncWriteExt, ReadBuf};
use tokio_util::codec::{FramedRead, LinesCodec, LinesCodecError};

/// The largest message that is taken from the daemon. A request is at most 64 MiB; what echoes it is a bit more.
const MAX_MESSAGE_BYTES: usize = 80 * 1024 * 1024;

/// Opens both directions.
pub async fn connect(socket: &Path) -> io::Result<(Sender, Receiver)> {
    let stream = Arc::new(Stream::connect(socket.to_fs_name::<GenericFilePath>()?).await?);
    let codec = LinesCodec::new_with_max_length(MAX_MESSAGE_BYTES);
    Ok((Sender(Arc::clone(&stream)), Receiver(FramedRead::new(ReadHalf(stream), codec))))
}

/// The direction to the daemon.
pub struct Sender(Arc<Stream>);

impl TransportSenderT for Sender {
    type Error = io::Error;

    async fn send(&mut self, mut message: String) -> io::Result<()> {
        message.push('\n');
        let mut stream = &*self.0;
        stream.write_all(message.as_bytes()).await?;
        stream.flush().await
    }
}

/// The direction from the daemon.
pub struct Receiver(FramedRead<ReadHalf, LinesCodec>);

impl TransportReceiverT for Receiver {
    type Error = LinesCodecError;

    async fn receive(&mut self) -> Result<ReceivedMessage, LinesCodecError> {
        loop {
            match self.0.next().await {
                Some(Ok(line)) if is_for_client(&line) => return Ok(ReceivedMessage::Text(line)),
                Some(Ok(_)) => {}
                Some(Err(error)) => return Err(error),
                None => return Err(LinesCodecError::Io(io::ErrorKind::UnexpectedEof.into())),
            }
        }
    }
}

/// Whether jsonrpsee's client can take a message: a notification, or an answer to a request of its own.
fn is_for_client(line: &str) -> bool {
    #[derive(Deserialize)]
    struct Head {
        #[serde(default)]
        id: Option<u64>,
        #[serde(default)]
        method: Option<IgnoredAny>,
    }
    serde_json::from_str::<Head>(line).is_ok_and(|head| head.id.is_some() != head.method.is_some())
}

struct ReadHalf(Arc<Stream>);

impl AsyncRead for ReadHalf {
    fn poll_read(self: Pin<&mut Self>, cx: &mut Context<'_>, buf: &mut ReadBuf<'_>) -> Poll<io::Result<()>> {
        Pin::new(&mut &*self.0).poll_read(cx, buf)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_answers_and_notifications_pass() {
        let table = [
            (r#"{"jsonrpc":"2.0","id":1,"result":{}}"#, true),
            (r#"{"jsonrpc":"2.0","method":"session/event","params":{}}"#, true),
            (r#"{"jsonrpc":"2.0","id":null,"error":{"code":-32700,"message":"x"}}"#, false),
            (r#"{"jsonrpc":"2.0","id":1,"method":"ask","params":{}}"#, false),
            (r#"{"jsonrpc":"2.0","id":"stray","result":{}}"#, false),
            ("", false),
            ("nonsense", false),
        ];
        for (line, passes) in table {
            assert_eq!(is_for_client(line), passes, "{line}");
        }
    }
}
