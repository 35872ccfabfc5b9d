//! A scripted reply, in no wire format: the face that is asked renders it (`wire`).

use serde_json::Value;

/// What the model does, step by step.
#[derive(Debug, Clone)]
pub(super) enum Step {
    /// A piece of text. Pieces with nothing but gates between them are one block.
    Text(String),
    /// A whole thinking block.
    Thinking { text: String, signature: String },
    /// A whole tool call; its input streams in small pieces of JSON text.
    Tool { id: String, name: String, json: String },
    /// A tool call whose input stays open: only this much of its JSON text comes.
    PartialTool { id: String, name: String, json: String },
    /// Holds the stream until the test opens the gate.
    Gate(String),
    /// Bytes as they are.
    Raw(String),
}

/// How the stream ends.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum End {
    /// As the wire format wants it.
    Proper,
    /// The body ends cleanly, but the closing events are missing.
    Missing,
    /// The connection drops.
    Cut,
}

/// An answer that is not a stream.
#[derive(Debug, Clone)]
pub(super) struct Plain {
    pub(super) status: u16,
    pub(super) body: String,
}

/// One reply of the model. Build it step by step; hand it to `ModelServer::reply`.
#[derive(Debug, Clone)]
pub struct Reply {
    pub(super) steps: Vec<Step>,
    pub(super) end: End,
    pub(super) cut_at: Option<usize>,
    pub(super) stop: Option<String>,
    pub(super) input_tokens: u64,
    pub(super) output_tokens: u64,
    pub(super) headers: Vec<(String, String)>,
    pub(super) plain: Option<Plain>,
}

impl Default for Reply {
    fn default() -> Self {
        Self {
            steps: Vec::new(),
            end: End::Proper,
            cut_at: None,
            stop: None,
            input_tokens: 100,
            output_tokens: 20,
            headers: Vec::new(),
            plain: None,
        }
    }
}

impl Reply {
    /// An empty stream, to be filled.
    #[must_use]
    pub fn new() -> Self {
        Self::default()
    }

    /// A stream with one text.
    pub fn says(text: impl Into<String>) -> Self {
        Self::new().text(text)
    }

    /// A stream with one tool call.
    pub fn calls(id: &str, name: &str, input: &Value) -> Self {
        Self::new().tool(id, name, input)
    }

    /// An error answer with a body in the style of the Messages API, which others resemble.
    #[must_use]
    pub fn error(status: u16, kind: &str, message: &str) -> Self {
        let body = serde_json::json!({"type": "error", "error": {"type": kind, "message": message}});
        Self::plain(status, &body.to_string())
    }

    /// An answer that is not a stream, as it is.
    #[must_use]
    pub fn plain(status: u16, body: &str) -> Self {
        Self { plain: Some(Plain { status, body: body.to_owned() }), ..Self::default() }
    }

    /// Says something. Texts with nothing but gates between them are one block.
    #[must_use]
    pub fn text(self, text: impl Into<String>) -> Self {
        self.step(Step::Text(text.into()))
    }

    /// Thinks aloud; the signature must come back unchanged in later requests.
    #[must_use]
    pub fn thinking(self, text: &str, signature: &str) -> Self {
        self.step(Step::Thinking { text: text.to_owned(), signature: signature.to_owned() })
    }

    /// Calls a tool.
    #[must_use]
    pub fn tool(self, id: &str, name: &str, input: &Value) -> Self {
        self.broken_tool(id, name, &input.to_string())
    }

    /// Calls a tool with this text as its input, JSON or not.
    #[must_use]
    pub fn broken_tool(self, id: &str, name: &str, json: &str) -> Self {
        self.step(Step::Tool { id: id.to_owned(), name: name.to_owned(), json: json.to_owned() })
    }

    /// Begins a tool call and leaves it open: for streams that are cut or held in the middle of one.
    #[must_use]
    pub fn partial_tool(self, id: &str, name: &str, json: &str) -> Self {
        self.step(Step::PartialTool { id: id.to_owned(), name: name.to_owned(), json: json.to_owned() })
    }

    /// Holds the stream here until the test opens the gate.
    #[must_use]
    pub fn gate(self, name: &str) -> Self {
        self.step(Step::Gate(name.to_owned()))
    }

    /// Sends bytes as they are: garbage, comments, events of a later version.
    #[must_use]
    pub fn raw(self, bytes: &str) -> Self {
        self.step(Step::Raw(bytes.to_owned()))
    }

    /// The stop reason in the words of the Messages API. Without it: `tool_use` after a tool call,
    /// `end_turn` otherwise.
    #[must_use]
    pub fn stop(mut self, reason: &str) -> Self {
        self.stop = Some(reason.to_owned());
        self
    }

    /// The tokens that the reply reports.
    #[must_use]
    pub fn usage(mut self, input: u64, output: u64) -> Self {
        self.input_tokens = input;
        self.output_tokens = output;
        self
    }

    /// Adds a header to the answer.
    #[must_use]
    pub fn header(mut self, name: &str, value: &str) -> Self {
        self.headers.push((name.to_owned(), value.to_owned()));
        self
    }

    /// Drops the connection after the last step.
    #[must_use]
    pub fn cut(mut self) -> Self {
        self.end = End::Cut;
        self
    }

    /// Drops the connection after so many bytes of the body, wherever that is.
    #[must_use]
    pub fn cut_at(mut self, bytes: usize) -> Self {
        self.cut_at = Some(bytes);
        self
    }

    /// Ends the body cleanly, but without the closing events.
    #[must_use]
    pub fn without_end(mut self) -> Self {
        self.end = End::Missing;
        self
    }

    /// The stop reason that goes out.
    pub(super) fn stop_reason(&self) -> &str {
        let calls = self.steps.iter().any(|step| matches!(step, Step::Tool { .. } | Step::PartialTool { .. }));
        self.stop.as_deref().unwrap_or(if calls { "tool_use" } else { "end_turn" })
    }

    fn step(mut self, step: Step) -> Self {
        self.steps.push(step);
        self
    }
}
