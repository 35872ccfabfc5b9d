//! From a scripted reply to the bytes of a wire format: one file a format.

mod anthropic;
mod chat;
mod responses;

use super::reply::{End, Reply};
use serde_json::Value;

/// A part of a rendered stream.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) enum Chunk {
    /// Bytes to send.
    Bytes(Vec<u8>),
    /// A gate to wait at.
    Gate(String),
    /// The connection drops here.
    Cut,
}

/// A wire format.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Face {
    Anthropic,
    Chat,
    Responses,
}

impl Face {
    pub(super) fn of_path(path: &str) -> Option<Self> {
        match path {
            "/v1/messages" => Some(Self::Anthropic),
            "/v1/chat/completions" => Some(Self::Chat),
            "/v1/responses" => Some(Self::Responses),
            _ => None,
        }
    }

    /// The stream of a reply. `number` makes ids unique.
    pub(super) fn render(self, reply: &Reply, request: &Value, number: usize) -> Vec<Chunk> {
        let mut chunks = match self {
            Self::Anthropic => anthropic::render(reply, request, number),
            Self::Chat => chat::render(reply, request, number),
            Self::Responses => responses::render(reply, request, number),
        };
        if reply.end == End::Cut {
            chunks.push(Chunk::Cut);
        }
        match reply.cut_at {
            Some(bytes) => cut_at(chunks, bytes),
            None => chunks,
        }
    }
}

fn cut_at(chunks: Vec<Chunk>, mut left: usize) -> Vec<Chunk> {
    let mut kept = Vec::new();
    for chunk in chunks {
        match chunk {
            Chunk::Bytes(mut bytes) => {
                let whole = bytes.len() <= left;
                bytes.truncate(left);
                left -= bytes.len();
                kept.push(Chunk::Bytes(bytes));
                if !whole {
                    break;
                }
            }
            Chunk::Gate(_) | Chunk::Cut => kept.push(chunk),
        }
    }
    kept.push(Chunk::Cut);
    kept
}

/// Small pieces of a text, as models stream it.
fn pieces(text: &str, chars: usize) -> Vec<String> {
    let all: Vec<char> = text.chars().collect();
    all.chunks(chars).map(|piece| piece.iter().collect()).collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    fn bytes_of(chunks: &[Chunk]) -> Vec<u8> {
        let bytes = |chunk: &Chunk| match chunk {
            Chunk::Bytes(bytes) => bytes.clone(),
            Chunk::Gate(_) | Chunk::Cut => Vec::new(),
        };
        chunks.iter().flat_map(bytes).collect()
    }

    #[test]
    fn a_cut_falls_on_the_byte() {
        let reply = Reply::says("hello");
        let whole = bytes_of(&Face::Anthropic.render(&reply, &json!({}), 1));
        for at in [0, 1, 100, whole.len() - 1] {
            let chunks = Face::Anthropic.render(&reply.clone().cut_at(at), &json!({}), 1);
            assert_eq!(bytes_of(&chunks), whole[..at]);
            assert_eq!(chunks.last(), Some(&Chunk::Cut));
        }
    }

    #[test]
    fn texts_around_a_gate_are_one_block_and_a_tool_is_closed_before_a_gate() {
        let reply = Reply::new().text("a").gate("g").text("b").tool("t1", "Read", &json!({"x": 1})).gate("h");
        let chunks = Face::Anthropic.render(&reply, &json!({}), 1);
        let text = String::from_utf8(bytes_of(&chunks)).unwrap();
        assert_eq!(text.matches("content_block_start").count(), 2 * 2); // the event's name and its type
        let gate = chunks.iter().position(|chunk| *chunk == Chunk::Gate("h".to_owned())).unwrap();
        let before = String::from_utf8(bytes_of(&chunks[..gate])).unwrap();
        assert_eq!(before.matches("event: content_block_stop").count(), 2);
    }

    #[test]
    fn all_faces_stream_the_whole_input() {
        let input = json!({"file_path": "/a/ü/long enough to be cut in pieces"});
        for face in [Face::Anthropic, Face::Chat, Face::Responses] {
            let chunks = face.render(&Reply::calls("t1", "Read", &input), &json!({}), 1);
            let text = String::from_utf8(bytes_of(&chunks)).unwrap();
            let events = text.lines().filter_map(|line| line.strip_prefix("data: ")).filter(|data| *data != "[DONE]");
            let parts = events.map(|data| {
                let event: Value = serde_json::from_str(data).unwrap();
                let piece = &event["choices"][0]["delta"]["tool_calls"][0]["function"]["arguments"];
                let parts = [&event["delta"]["partial_json"], piece, &event["delta"]];
                parts.iter().find_map(|part| part.as_str()).unwrap_or_default().to_owned()
            });
            let whole: Value = serde_json::from_str(&parts.collect::<String>()).unwrap();
            assert_eq!(whole, input);
        }
    }
}
