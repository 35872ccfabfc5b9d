//! The plain connection of one-shot commands: a blocking socket, one JSON text a line. Long-lived
//! commands use `live`. It starts no daemon (`start` does) and never retries.

use proto::error::ErrorBody;
use proto::methods::{ClientInfo, InitializeParams, Method, PROTOCOL_VERSION};
use serde::{Deserialize, Serialize};
use serde_json::value::RawValue;
use std::io::{self, BufRead, BufReader, Write};
use std::os::unix::net::UnixStream;
use std::path::Path;

/// The name under which the daemon shows our prompts and answers.
pub const CLIENT_NAME: &str = "agentctl";

/// Why a call has no result.
#[derive(Debug, thiserror::Error)]
pub enum CallError {
    /// The daemon said no.
    #[error("{}", .0.message)]
    Refused(ErrorBody),
    /// The connection ended before the answer.
    #[error("agentd closed the connection before it answered; `agentctl doctor` shows why")]
    Closed,
    /// The connection failed.
    #[error("the connection to agentd failed: {0}")]
    Io(#[from] io::Error),
    /// The answer is not what this version expects.
    #[error("agentd's answer to {method} cannot be read ({error}); is agentctl of the same version?")]
    Unreadable {
        /// The method.
        method: String,
        /// What is wrong.
        error: serde_json::Error,
    },
}

impl CallError {
    /// Whether the connection is gone, rather than the request refused.
    pub fn is_disconnect(&self) -> bool {
        matches!(self, Self::Closed | Self::Io(_))
    }
}

#[derive(Serialize)]
struct Request<'a, P> {
    jsonrpc: &'static str,
    id: u64,
    method: &'a str,
    params: P,
}

#[derive(Deserialize)]
struct Reply {
    #[serde(default)]
    id: Option<serde_json::Value>,
    #[serde(default)]
    method: Option<String>,
    #[serde(default)]
    result: Option<Box<RawValue>>,
    #[serde(default)]
    error: Option<ErrorBody>,
}

/// What every connection says first.
pub fn greeting() -> InitializeParams {
    InitializeParams {
        protocol_version: PROTOCOL_VERSION,
        client: ClientInfo { name: CLIENT_NAME.to_owned(), version: env!("CARGO_PKG_VERSION").to_owned() },
        capabilities: None,
    }
}

/// A connection on which one call follows the other.
#[derive(Debug)]
pub struct Connection {
    reader: BufReader<UnixStream>,
    writer: UnixStream,
    last_id: u64,
    /// The id of `initialize`, whose answer is read along with the first call's: no round trip of its own.
    greeting: Option<u64>,
}

impl Connection {
    /// Connects to a daemon that runs and greets it.
    pub fn open(socket: &Path) -> io::Result<Self> {
        let writer = UnixStream::connect(socket)?;
        let reader = BufReader::new(writer.try_clone()?);
        let mut connection = Self { reader, writer, last_id: 0, greeting: None };
        connection.greeting = Some(connection.send("initialize", greeting())?);
        Ok(connection)
    }

    /// Calls `M` and waits for its answer.
    pub fn call<M: Method>(&mut self, params: M::Params) -> Result<M::Result, CallError> {
        let raw = self.call_raw(M::NAME, params)?;
        serde_json::from_str(raw.get()).map_err(|error| CallError::Unreadable { method: M::NAME.to_owned(), error })
    }

    /// Calls a method by its name and hands out the result as it stands on the wire.
    pub fn call_raw(&mut self, method: &str, params: impl Serialize) -> Result<Box<RawValue>, CallError> {
        let id = self.send(method, params)?;
        loop {
            let reply = self.read(method)?;
            let answers = reply.id.as_ref().and_then(serde_json::Value::as_u64);
            if reply.method.is_some() {
                continue; // a notification
            }
            if answers.is_some() && answers == self.greeting {
                self.greeting = None;
                if let Some(error) = reply.error {
                    return Err(CallError::Refused(error));
                }
            } else if answers == Some(id) || reply.id.is_none() || reply.id == Some(serde_json::Value::Null) {
                return match reply.error {
                    Some(error) => Err(CallError::Refused(error)),
                    None => Ok(reply.result.unwrap_or_else(|| RawValue::NULL.to_owned())),
                };
            }
        }
    }

    /// Waits until the daemon closes the connection.
    pub fn wait_for_end(&mut self) -> io::Result<()> {
        let mut line = Vec::new();
        while self.reader.read_until(b'\n', &mut line)? > 0 {
            line.clear();
        }
        Ok(())
    }

    fn send(&mut self, method: &str, params: impl Serialize) -> io::Result<u64> {
        self.last_id += 1;
        let request = Request { jsonrpc: "2.0", id: self.last_id, method, params };
        let mut line = serde_json::to_vec(&request)?;
        line.push(b'\n');
        self.writer.write_all(&line)?;
        Ok(self.last_id)
    }

    fn read(&mut self, method: &str) -> Result<Reply, CallError> {
        let mut line = Vec::new();
        if self.reader.read_until(b'\n', &mut line)? == 0 {
            return Err(CallError::Closed);
        }
        serde_json::from_slice(&line).map_err(|error| CallError::Unreadable { method: method.to_owned(), error })
    }
}
