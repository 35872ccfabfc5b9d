//! HTTP on the same socket, for curl and scripts: JSON-RPC by POST, one frame a request. Called by
//! `connection` when the first byte says so. It pushes nothing: events need another framing.

use super::Server;
use super::connection::{Connection, FLUSH, STALL, refused};
use super::dispatch;
use super::methods::Call;
use super::peer::{self, Peer};
use super::request::{self, Incoming, Refused};
use crate::base::limits::MAX_FRAME_BYTES;
use bytes::{Buf, Bytes, BytesMut};
use http_body_util::{BodyExt, Full};
use hyper::body::{Body, Incoming as RequestBody};
use hyper::header::{ALLOW, CONTENT_TYPE, HeaderValue, ORIGIN};
use hyper::service::service_fn;
use hyper::{Method, Request, Response, StatusCode};
use hyper_util::rt::{TokioIo, TokioTimer};
use interprocess::local_socket::tokio::Stream;
use proto::ErrorKind;
use proto::frame::{Frame, Refusal};
use std::convert::Infallible;
use std::io;
use std::pin::{Pin, pin};
use std::sync::Arc;
use std::task::{Context, Poll, ready};
use tokio::io::{AsyncRead, AsyncWrite, ReadBuf};
use tokio_util::sync::CancellationToken;

type HttpResponse = Response<Full<Bytes>>;

/// Serves one peer that speaks HTTP; `read` is what was read of it already.
pub async fn serve(peer: Peer, read: Bytes, server: Arc<Server>, stop: CancellationToken) {
    let Peer { stream, origin } = peer;
    let connection = Connection::new(None, origin);
    let service = service_fn(|request| {
        let (server, connection) = (server.clone(), connection.clone());
        async move { Ok::<_, Infallible>(respond(request, server, connection).await) }
    });
    let mut http = hyper::server::conn::http1::Builder::new();
    http.timer(TokioTimer::new()).header_read_timeout(STALL).half_close(true);
    let mut serving = pin!(http.serve_connection(TokioIo::new(Rewound { read, stream }), service));
    let served = tokio::select! {
        served = serving.as_mut() => served,
        () = stop.cancelled() => {
            // A call that was answered just now, such as daemon/shutdown, gets its answer out.
            serving.as_mut().graceful_shutdown();
            tokio::time::timeout(FLUSH, serving).await.unwrap_or(Ok(()))
        }
    };
    if let Err(error) = served {
        tracing::debug!(%error, "an HTTP connection ended early");
    }
    connection.close();
}

async fn respond(request: Request<RequestBody>, server: Arc<Server>, connection: Arc<Connection>) -> HttpResponse {
    // A page in a browser that has been let at the socket must not drive agentd.
    if request.headers().contains_key(ORIGIN) {
        return plain(StatusCode::FORBIDDEN, "requests of web pages are refused; leave the Origin header out\n");
    }
    if request.method() != Method::POST {
        let mut response = plain(StatusCode::METHOD_NOT_ALLOWED, "send JSON-RPC 2.0 by POST, to any path\n");
        response.headers_mut().insert(ALLOW, HeaderValue::from_static("POST"));
        return response;
    }
    let incoming = match read_body(request.into_body()).await {
        Ok(body) => match Frame::of(&body) {
            Frame::Text(text) => request::parse(&text),
            Frame::Refused(refusal) => Incoming::One(Err(refused(refusal))),
        },
        Err(Unread::TooLarge) => {
            let refusal = refused(Refusal::TooLarge(MAX_FRAME_BYTES));
            return json(StatusCode::PAYLOAD_TOO_LARGE, dispatch::refusal(&refusal));
        }
        Err(Unread::Cut) => {
            let refusal = Refused::nameless(ErrorKind::ParseError, "the body broke off; send all of it");
            return json(StatusCode::BAD_REQUEST, dispatch::refusal(&refusal));
        }
    };
    let methods = server.methods().clone();
    let call = Call { server, connection, answered: CancellationToken::new() };
    // A task of its own, so that a call is not cut short when its client leaves.
    match tokio::spawn(dispatch::answer(incoming, methods, call.into())).await {
        Ok(Some(answer)) => json(StatusCode::OK, answer),
        Ok(None) => empty(StatusCode::NO_CONTENT),
        Err(error) => {
            tracing::error!(%error, "a call over HTTP failed");
            plain(StatusCode::INTERNAL_SERVER_ERROR, "the call failed inside agentd; see agentd's log\n")
        }
    }
}

/// Why a body could not be read.
enum Unread {
    TooLarge,
    Cut,
}

async fn read_body(mut body: RequestBody) -> Result<BytesMut, Unread> {
    if body.size_hint().lower() > MAX_FRAME_BYTES as u64 {
        return Err(Unread::TooLarge);
    }
    let mut whole = BytesMut::new();
    loop {
        match tokio::time::timeout(STALL, body.frame()).await {
            Ok(None) => return Ok(whole),
            Ok(Some(Ok(frame))) => {
                let Ok(data) = frame.into_data() else { continue };
                if whole.len() + data.len() > MAX_FRAME_BYTES {
                    return Err(Unread::TooLarge);
                }
                whole.extend_from_slice(&data);
            }
            Ok(Some(Err(_))) | Err(_) => return Err(Unread::Cut),
        }
    }
}

fn empty(status: StatusCode) -> HttpResponse {
    let mut response = Response::new(Full::default());
    *response.status_mut() = status;
    response
}

fn plain(status: StatusCode, text: &'static str) -> HttpResponse {
    let mut response = Response::new(Full::from(text));
    *response.status_mut() = status;
    response.headers_mut().insert(CONTENT_TYPE, HeaderValue::from_static("text/plain; charset=utf-8"));
    response
}

fn json(status: StatusCode, text: String) -> HttpResponse {
    let mut response = Response::new(Full::from(text));
    *response.status_mut() = status;
    response.headers_mut().insert(CONTENT_TYPE, HeaderValue::from_static("application/json"));
    response
}

/// A stream of which some bytes were read to tell what it speaks.
struct Rewound {
    read: Bytes,
    stream: Stream,
}

impl AsyncRead for Rewound {
    fn poll_read(
        mut self: Pin<&mut Self>,
        context: &mut Context<'_>,
        buffer: &mut ReadBuf<'_>,
    ) -> Poll<io::Result<()>> {
        if self.read.is_empty() {
            let before = buffer.filled().len();
            ready!(Pin::new(&mut self.stream).poll_read(context, buffer))?;
            // Who sends no more may still read; who is gone altogether ends what waits for him.
            let ended = buffer.filled().len() == before;
            return Poll::Ready(if ended && peer::is_gone(&self.stream) {
                Err(io::ErrorKind::ConnectionAborted.into())
            } else {
                Ok(())
            });
        }
        let here = self.read.len().min(buffer.remaining());
        buffer.put_slice(self.read.get(..here).unwrap_or_default());
        self.read.advance(here);
        Poll::Ready(Ok(()))
    }
}

impl AsyncWrite for Rewound {
    fn poll_write(mut self: Pin<&mut Self>, context: &mut Context<'_>, bytes: &[u8]) -> Poll<io::Result<usize>> {
        Pin::new(&mut self.stream).poll_write(context, bytes)
    }

    fn poll_flush(mut self: Pin<&mut Self>, context: &mut Context<'_>) -> Poll<io::Result<()>> {
        Pin::new(&mut self.stream).poll_flush(context)
    }

    fn poll_shutdown(mut self: Pin<&mut Self>, context: &mut Context<'_>) -> Poll<io::Result<()>> {
        Pin::new(&mut self.stream).poll_shutdown(context)
    }
}
