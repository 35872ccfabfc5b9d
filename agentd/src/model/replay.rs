//! `replay/FILE`: plays a recorded conversation. The file holds one model call a line, `{"events": […]}`;
//! call n answers a transcript with n answers. Made by `catalog`, written by `record`. Reads, never writes.

use super::{Model, ModelRequest, ModelStream};
use crate::base::files;
use crate::event::Message;
use crate::turn::model_event::{BlockKind, Fault, FaultKind, ModelEvent};
use futures::stream::{self, StreamExt};
use proto::content::MessageBlock;
use proto::event::DeltaKind;
use proto::session::{Cost, Usage};
use serde::{Deserialize, Serialize};
use std::io;
use std::path::{Path, PathBuf};
use std::time::Duration;

/// A longer recording is refused.
const FILE_BYTES: u64 = 256 << 20;

/// A model that plays a file.
pub(super) struct Replay {
    file: PathBuf,
    id: String,
}

/// A model call of a recording.
#[derive(Debug, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct RecordedCall {
    pub(super) events: Vec<RecordedEvent>,
}

/// An event of a recording.
#[derive(Debug, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub(super) struct RecordedEvent {
    /// How long it takes to come.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    delay_ms: Option<u64>,
    #[serde(flatten)]
    event: EventShape,
}

/// `ModelEvent` as JSON.
#[derive(Debug, Serialize, Deserialize)]
#[serde(tag = "type", rename_all = "camelCase", rename_all_fields = "camelCase")]
enum EventShape {
    BlockStarted { index: usize, block: BlockShape },
    Delta { index: usize, kind: DeltaKind, text: String },
    BlockDone { index: usize, block: MessageBlock },
    Usage { usage: Usage },
    Cost { cost: Cost },
    Stopped { reason: String },
    Fault { fault: FaultShape },
}

/// `BlockKind` as JSON.
#[derive(Debug, Serialize, Deserialize)]
#[serde(tag = "type", rename_all = "snake_case")]
enum BlockShape {
    Text,
    Thinking,
    ToolUse { id: String, name: String },
    Other,
}

/// `Fault` as JSON; the kind is the word of `turn.ended`.
#[derive(Debug, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
struct FaultShape {
    kind: String,
    message: String,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    retry_after_ms: Option<u64>,
}

impl Replay {
    pub(super) fn new(file: &str) -> Self {
        Self { file: PathBuf::from(file), id: format!("replay/{file}") }
    }
}

impl Model for Replay {
    fn stream(&self, request: ModelRequest) -> ModelStream {
        let file = self.file.clone();
        let call =
            request.messages.iter().filter(|message| matches!(message.as_ref(), Message::Assistant { .. })).count();
        let events = stream::once(async move {
            let events = read(&file, call).await.unwrap_or_else(|message| {
                let fault = FaultShape { kind: FaultKind::NotFound.word().to_owned(), message, retry_after_ms: None };
                vec![RecordedEvent { delay_ms: None, event: EventShape::Fault { fault } }]
            });
            stream::iter(events)
        });
        Box::pin(events.flatten().then(|event| async move {
            if let Some(delay) = event.delay_ms {
                tokio::time::sleep(Duration::from_millis(delay)).await;
            }
            event.event.into()
        }))
    }

    fn id(&self) -> &str {
        &self.id
    }

    fn context_window(&self) -> u64 {
        0
    }
}

/// The events of a call.
async fn read(file: &Path, call: usize) -> Result<Vec<RecordedEvent>, String> {
    let shown = file.display();
    let path = file.to_owned();
    let read = tokio::task::spawn_blocking(move || files::read_text(&path, FILE_BYTES)).await;
    let text = read
        .unwrap_or_else(|stopped| Err(io::Error::other(stopped)))
        .map_err(|error| format!("can't read the recording {shown} ({error}): name one that was made with --record"))?;
    let number = call.saturating_add(1);
    let mut lines = text.lines().filter(|line| !line.trim().is_empty());
    let line = lines.nth(call).ok_or_else(|| {
        format!("the recording {shown} has no model call {number}: start a new session or record a longer one")
    })?;
    let recorded: RecordedCall = serde_json::from_str(line).map_err(|error| {
        format!("model call {number} of the recording {shown} is damaged ({error}): record it again")
    })?;
    match recorded.events.last() {
        Some(RecordedEvent { event: EventShape::Stopped { .. } | EventShape::Fault { .. }, .. }) => Ok(recorded.events),
        Some(_) | None => Err(format!("model call {number} of the recording {shown} has no end: record it again")),
    }
}

impl From<ModelEvent> for RecordedEvent {
    fn from(event: ModelEvent) -> Self {
        let event = match event {
            ModelEvent::BlockStarted { index, kind } => EventShape::BlockStarted { index, block: kind.into() },
            ModelEvent::Delta { index, kind, text } => EventShape::Delta { index, kind, text },
            ModelEvent::BlockDone { index, block } => EventShape::BlockDone { index, block },
            ModelEvent::Usage(usage) => EventShape::Usage { usage },
            ModelEvent::Cost(cost) => EventShape::Cost { cost },
            ModelEvent::Stopped { reason } => EventShape::Stopped { reason },
            ModelEvent::Fault(fault) => EventShape::Fault { fault: fault.into() },
        };
        Self { delay_ms: None, event }
    }
}

impl From<EventShape> for ModelEvent {
    fn from(shape: EventShape) -> Self {
        match shape {
            EventShape::BlockStarted { index, block } => Self::BlockStarted { index, kind: block.into() },
            EventShape::Delta { index, kind, text } => Self::Delta { index, kind, text },
            EventShape::BlockDone { index, block } => Self::BlockDone { index, block },
            EventShape::Usage { usage } => Self::Usage(usage),
            EventShape::Cost { cost } => Self::Cost(cost),
            EventShape::Stopped { reason } => Self::Stopped { reason },
            EventShape::Fault { fault } => Self::Fault(fault.into()),
        }
    }
}

impl From<BlockKind> for BlockShape {
    fn from(kind: BlockKind) -> Self {
        match kind {
            BlockKind::Text => Self::Text,
            BlockKind::Thinking => Self::Thinking,
            BlockKind::ToolUse { id, name } => Self::ToolUse { id, name },
            BlockKind::Other => Self::Other,
        }
    }
}

impl From<BlockShape> for BlockKind {
    fn from(shape: BlockShape) -> Self {
        match shape {
            BlockShape::Text => Self::Text,
            BlockShape::Thinking => Self::Thinking,
            BlockShape::ToolUse { id, name } => Self::ToolUse { id, name },
            BlockShape::Other => Self::Other,
        }
    }
}

impl From<Fault> for FaultShape {
    fn from(fault: Fault) -> Self {
        let retry_after_ms = match fault.kind {
            FaultKind::RateLimited { retry_after_ms } | FaultKind::Overloaded { retry_after_ms } => retry_after_ms,
            _ => None,
        };
        Self { kind: fault.kind.word().to_owned(), message: fault.message, retry_after_ms }
    }
}

impl From<FaultShape> for Fault {
    fn from(shape: FaultShape) -> Self {
        let retry_after_ms = shape.retry_after_ms;
        let kinds = [
            FaultKind::Authentication,
            FaultKind::NotFound,
            FaultKind::InvalidRequest,
            FaultKind::PromptTooLong,
            FaultKind::RateLimited { retry_after_ms },
            FaultKind::Overloaded { retry_after_ms },
            FaultKind::Unreachable,
            FaultKind::Truncated,
        ];
        let kind = kinds.into_iter().find(|kind| kind.word() == shape.kind).unwrap_or(FaultKind::Malformed);
        Self { kind, message: shape.message }
    }
}
