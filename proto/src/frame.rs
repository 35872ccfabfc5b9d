//! Framing: where one JSON text ends and the next begins. The first byte of a connection tells the
//! framing; both sides keep to it. Limits are held here, before anything is buffered beyond them.
//! Used by agentd's connections and by clients. It moves no bytes itself: it is a decoder and an
//! encoder over buffers, and it does not know what a request is.

use bytes::{Buf, BufMut, BytesMut};
use std::io;
use tokio_util::codec::{Decoder, Encoder};

/// A frame may have this many bytes.
pub const MAX_FRAME_BYTES: usize = 64 << 20;
/// Arrays and objects of a frame may be nested this deep.
pub const MAX_DEPTH: usize = 128;
/// The header lines of one frame may have this many bytes.
const MAX_HEADER_BYTES: usize = 8 << 10;

/// How frames are told apart.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Framing {
    /// One JSON text a line.
    Lines,
    /// A `Content-Length` header before each JSON text, as in LSP.
    Headers,
}

/// What a connection turns out to be.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Opening {
    /// JSON-RPC frames.
    Frames(Framing),
    /// An HTTP request.
    Http,
}

impl Opening {
    /// Tells it from the first byte. What is neither a header nor HTTP is read as lines, so that
    /// whoever types something else gets an error that he can read.
    #[must_use]
    pub fn of(first: u8) -> Self {
        match first {
            b'C' | b'c' => Self::Frames(Framing::Headers),
            b'G' | b'P' | b'O' | b'H' | b'D' => Self::Http,
            _ => Self::Frames(Framing::Lines),
        }
    }
}

/// What the decoder found.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Frame {
    /// A text that may be JSON.
    Text(String),
    /// A frame that was left out; the next one can be read.
    Refused(Refusal),
}

impl Frame {
    /// Judges a frame by its bytes: text that is not nested too deep, or refused.
    #[must_use]
    pub fn of(bytes: &[u8]) -> Self {
        match std::str::from_utf8(bytes) {
            Err(_) => Self::Refused(Refusal::NotUtf8),
            Ok(_) if is_deeper(bytes, MAX_DEPTH) => Self::Refused(Refusal::TooDeep(MAX_DEPTH)),
            Ok(text) => Self::Text(text.to_owned()),
        }
    }
}

/// Why a frame was left out.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
pub enum Refusal {
    /// It is too large; it is skipped without being held.
    #[error("the frame is larger than {0} bytes; send less in one request")]
    TooLarge(usize),
    /// It is nested too deep.
    #[error("the frame is nested deeper than {0} levels; send a flatter value")]
    TooDeep(usize),
    /// It is not text.
    #[error("the frame is not valid UTF-8; send JSON in UTF-8")]
    NotUtf8,
}

/// Why nothing more can be read from a connection.
#[derive(Debug, thiserror::Error)]
pub enum FrameError {
    /// The connection speaks HTTP. Nothing was consumed.
    #[error("the connection speaks HTTP")]
    Http,
    /// The header of a frame is broken, so that its end is not known.
    #[error("the frame's header is broken: {0}; send `Content-Length: N`, an empty line and N bytes of JSON")]
    Header(&'static str),
    /// The connection failed.
    #[error(transparent)]
    Io(#[from] io::Error),
}

/// Where the decoder stands.
#[derive(Debug, Clone, Copy)]
enum State {
    /// Nothing was read yet.
    Opening,
    /// In a line; so many bytes of the buffer hold no line break.
    Line { scanned: usize },
    /// In a line that is too large.
    SkipLine,
    /// Between header lines; what was read of them.
    Header { used: usize, length: Option<u64> },
    /// In a text of that length.
    Body { length: usize },
    /// In a text that is too large; so much of it is still to come.
    SkipBody { left: u64 },
}

/// The codec of one connection.
#[derive(Debug, Clone)]
pub struct FrameCodec {
    state: State,
    framing: Option<Framing>,
    max_bytes: usize,
}

impl Default for FrameCodec {
    fn default() -> Self {
        Self::new()
    }
}

impl FrameCodec {
    /// A codec that learns the framing from the first byte it reads.
    #[must_use]
    pub fn new() -> Self {
        Self { state: State::Opening, framing: None, max_bytes: MAX_FRAME_BYTES }
    }

    /// A codec for a connection whose framing is known, such as a client's own.
    #[must_use]
    pub fn with_framing(framing: Framing) -> Self {
        Self { state: between_frames(framing), framing: Some(framing), max_bytes: MAX_FRAME_BYTES }
    }

    /// Changes how large a frame may be.
    #[must_use]
    pub fn max_bytes(mut self, max_bytes: usize) -> Self {
        self.max_bytes = max_bytes;
        self
    }

    /// The framing; lines as long as nothing was read.
    #[must_use]
    pub fn framing(&self) -> Framing {
        self.framing.unwrap_or(Framing::Lines)
    }

    /// Whether a frame has begun and not ended, given what is buffered.
    #[must_use]
    pub fn is_within_frame(&self, buffered: &[u8]) -> bool {
        match self.state {
            State::Opening | State::Line { .. } | State::Header { used: 0, .. } => !buffered.is_empty(),
            State::SkipLine | State::Header { .. } | State::Body { .. } | State::SkipBody { .. } => true,
        }
    }

    /// One step: an item, or whether another step can be taken with what is buffered.
    fn step(&mut self, src: &mut BytesMut) -> Result<Step, FrameError> {
        match self.state {
            State::Opening => self.open(src),
            State::Line { scanned } => Ok(self.line(src, scanned)),
            State::SkipLine => Ok(self.skip_line(src)),
            State::Header { used, length } => self.header(src, used, length),
            State::Body { length } => Ok(self.body(src, length)),
            State::SkipBody { left } => Ok(self.skip_body(src, left)),
        }
    }

    fn open(&mut self, src: &BytesMut) -> Result<Step, FrameError> {
        let Some(first) = src.first() else { return Ok(Step::NeedMore) };
        match Opening::of(*first) {
            Opening::Http => Err(FrameError::Http),
            Opening::Frames(framing) => {
                self.framing = Some(framing);
                self.state = between_frames(framing);
                Ok(Step::Again)
            }
        }
    }

    fn line(&mut self, src: &mut BytesMut, scanned: usize) -> Step {
        let fresh = src.get(scanned..).unwrap_or_default();
        match fresh.iter().position(|byte| *byte == b'\n') {
            Some(at) => {
                let line = src.split_to(scanned + at + 1);
                self.state = State::Line { scanned: 0 };
                self.text_of(line.trim_ascii())
            }
            None if src.len() > self.max_bytes => {
                src.clear();
                self.state = State::SkipLine;
                Step::Item(Frame::Refused(Refusal::TooLarge(self.max_bytes)))
            }
            None => {
                self.state = State::Line { scanned: src.len() };
                Step::NeedMore
            }
        }
    }

    fn skip_line(&mut self, src: &mut BytesMut) -> Step {
        match src.iter().position(|byte| *byte == b'\n') {
            Some(at) => {
                src.advance(at + 1);
                self.state = State::Line { scanned: 0 };
                Step::Again
            }
            None => {
                src.clear();
                Step::NeedMore
            }
        }
    }

    fn header(&mut self, src: &mut BytesMut, used: usize, length: Option<u64>) -> Result<Step, FrameError> {
        let Some(at) = src.iter().position(|byte| *byte == b'\n') else {
            return if used + src.len() > MAX_HEADER_BYTES {
                Err(FrameError::Header("it is too long"))
            } else {
                Ok(Step::NeedMore)
            };
        };
        let line = src.split_to(at + 1);
        let line = line.trim_ascii();
        let used = used + at + 1;
        if used > MAX_HEADER_BYTES {
            return Err(FrameError::Header("it is too long"));
        }
        if !line.is_empty() {
            self.state = State::Header { used, length: header_line(line, length)? };
            return Ok(Step::Again);
        }
        match length {
            // An empty line before a header, left over by a sloppy client.
            None if used <= 2 => self.state = State::Header { used: 0, length: None },
            None => return Err(FrameError::Header("it has no Content-Length")),
            Some(length) => match usize::try_from(length) {
                Ok(length) if length <= self.max_bytes => self.state = State::Body { length },
                _ => {
                    self.state = State::SkipBody { left: length };
                    return Ok(Step::Item(Frame::Refused(Refusal::TooLarge(self.max_bytes))));
                }
            },
        }
        Ok(Step::Again)
    }

    fn body(&mut self, src: &mut BytesMut, length: usize) -> Step {
        if src.len() < length {
            return Step::NeedMore;
        }
        let body = src.split_to(length);
        self.state = between_frames(Framing::Headers);
        Step::Item(Frame::of(&body))
    }

    fn skip_body(&mut self, src: &mut BytesMut, left: u64) -> Step {
        let here = usize::try_from(left).unwrap_or(usize::MAX).min(src.len());
        src.advance(here);
        let left = left - here as u64;
        if left > 0 {
            self.state = State::SkipBody { left };
            return Step::NeedMore;
        }
        self.state = between_frames(Framing::Headers);
        Step::Again
    }

    /// The frame of a line; blank lines are no frames.
    fn text_of(&self, line: &[u8]) -> Step {
        if line.is_empty() {
            Step::Again
        } else if line.len() > self.max_bytes {
            Step::Item(Frame::Refused(Refusal::TooLarge(self.max_bytes)))
        } else {
            Step::Item(Frame::of(line))
        }
    }
}

enum Step {
    Item(Frame),
    Again,
    NeedMore,
}

fn between_frames(framing: Framing) -> State {
    match framing {
        Framing::Lines => State::Line { scanned: 0 },
        Framing::Headers => State::Header { used: 0, length: None },
    }
}

/// Reads one header line; only the length matters, other headers are allowed.
fn header_line(line: &[u8], so_far: Option<u64>) -> Result<Option<u64>, FrameError> {
    let text = std::str::from_utf8(line).map_err(|_| FrameError::Header("it is not ASCII"))?;
    let (name, value) = text.split_once(':').ok_or(FrameError::Header("a line has no colon"))?;
    if !name.trim().eq_ignore_ascii_case("content-length") {
        return Ok(so_far);
    }
    let value = value.trim();
    if value.is_empty() || !value.bytes().all(|byte| byte.is_ascii_digit()) {
        return Err(FrameError::Header("the Content-Length is not a number"));
    }
    let length = value.parse().map_err(|_| FrameError::Header("the Content-Length is out of range"))?;
    match so_far {
        Some(other) if other != length => Err(FrameError::Header("it has two lengths")),
        _ => Ok(Some(length)),
    }
}

/// Whether brackets outside strings are nested deeper than `limit`. The text need not be JSON.
#[must_use]
pub fn is_deeper(text: &[u8], limit: usize) -> bool {
    let (mut depth, mut in_string, mut escaped) = (0usize, false, false);
    for byte in text {
        match byte {
            _ if escaped => escaped = false,
            b'\\' if in_string => escaped = true,
            b'"' => in_string = !in_string,
            _ if in_string => {}
            b'{' | b'[' => {
                depth += 1;
                if depth > limit {
                    return true;
                }
            }
            b'}' | b']' => depth = depth.saturating_sub(1),
            _ => {}
        }
    }
    false
}

impl Decoder for FrameCodec {
    type Item = Frame;
    type Error = FrameError;

    fn decode(&mut self, src: &mut BytesMut) -> Result<Option<Frame>, FrameError> {
        loop {
            match self.step(src)? {
                Step::Item(frame) => return Ok(Some(frame)),
                Step::NeedMore => return Ok(None),
                Step::Again => {}
            }
        }
    }

    /// At the end of the connection a last line counts although its line break is missing; half a
    /// frame with a header is dropped.
    fn decode_eof(&mut self, src: &mut BytesMut) -> Result<Option<Frame>, FrameError> {
        if let Some(frame) = self.decode(src)? {
            return Ok(Some(frame));
        }
        let rest = src.split();
        match self.state {
            State::Line { .. } => {
                self.state = State::Line { scanned: 0 };
                match self.text_of(rest.trim_ascii()) {
                    Step::Item(frame) => Ok(Some(frame)),
                    Step::Again | Step::NeedMore => Ok(None),
                }
            }
            _ => Ok(None),
        }
    }
}

impl Encoder<&str> for FrameCodec {
    type Error = io::Error;

    fn encode(&mut self, text: &str, dst: &mut BytesMut) -> io::Result<()> {
        write_frame(self.framing(), &[text.as_bytes()], dst);
        Ok(())
    }
}

/// Writes one frame whose text is the parts joined. With [`Framing::Lines`] no part may hold a line
/// break; compact JSON never does.
pub fn write_frame(framing: Framing, parts: &[&[u8]], dst: &mut BytesMut) {
    let length: usize = parts.iter().map(|part| part.len()).sum();
    dst.reserve(length + 40);
    if framing == Framing::Headers {
        dst.put_slice(format!("Content-Length: {length}\r\n\r\n").as_bytes());
    }
    for part in parts {
        dst.put_slice(part);
    }
    if framing == Framing::Lines {
        dst.put_u8(b'\n');
    }
}

#[cfg(test)]
mod tests;
