//! Records the answers of a model, so that `replay` can play them. Wraps any model; called by the session
//! through `catalog::recording`. Never changes what passes.

use super::catalog::ModelUnavailable;
use super::replay::{RecordedCall, RecordedEvent};
use super::{Model, ModelRequest, ModelStream, ToolFeatures};
use crate::turn::model_event::ModelEvent;
use futures::stream::{self, StreamExt};
use std::path::{Path, PathBuf};
use std::sync::Arc;
use tokio::io::AsyncWriteExt;

/// What a person says to it is for that person only.
const FILE_MODE: u32 = 0o600;

/// A model that is recorded.
struct Recording {
    inner: Arc<dyn Model>,
    file: PathBuf,
}

/// The model, with every answer of it added to the file as one line.
///
/// # Errors
/// If the file can't be written.
pub fn recording(model: Arc<dyn Model>, file: &Path) -> Result<Arc<dyn Model>, ModelUnavailable> {
    use std::os::unix::fs::OpenOptionsExt;
    std::fs::OpenOptions::new().append(true).create(true).mode(FILE_MODE).open(file).map_err(|error| {
        ModelUnavailable::new(format!("can't write the recording {} ({error}): name another file", file.display()))
    })?;
    Ok(Arc::new(Recording { inner: model, file: file.to_owned() }))
}

impl Model for Recording {
    fn stream(&self, request: ModelRequest) -> ModelStream {
        let state = (self.inner.stream(request), Vec::new(), self.file.clone());
        Box::pin(stream::unfold(state, |(mut inner, mut events, file)| async move {
            let event = inner.next().await?;
            events.push(event.clone());
            if matches!(event, ModelEvent::Stopped { .. } | ModelEvent::Fault(_)) {
                append(&file, std::mem::take(&mut events)).await;
            }
            Some((event, (inner, events, file)))
        }))
    }

    fn id(&self) -> &str {
        self.inner.id()
    }

    fn context_window(&self) -> u64 {
        self.inner.context_window()
    }

    fn tool_features(&self) -> ToolFeatures {
        self.inner.tool_features()
    }
}

/// Adds a call. One that failed before a block was complete leaves no message behind, so playing it would
/// put every later call out of step; it is left out.
async fn append(file: &Path, events: Vec<ModelEvent>) {
    let failed = matches!(events.last(), Some(ModelEvent::Fault(_)));
    if failed && !events.iter().any(|event| matches!(event, ModelEvent::BlockDone { .. })) {
        return;
    }
    let call = RecordedCall { events: events.into_iter().map(RecordedEvent::from).collect() };
    if let Err(error) = write(file, &call).await {
        tracing::warn!(file = %file.display(), %error, "an answer could not be recorded");
    }
}

async fn write(file: &Path, call: &RecordedCall) -> std::io::Result<()> {
    let mut line = serde_json::to_vec(call)?;
    line.push(b'\n');
    let mut file = tokio::fs::OpenOptions::new().append(true).create(true).mode(FILE_MODE).open(file).await?;
    file.write_all(&line).await?;
    file.flush().await
}

#[cfg(test)]
mod tests {
    use super::super::replay::Replay;
    use super::*;
    use crate::event::{Entry, Message, Messages};
    use crate::turn::model_event::{BlockKind, Fault, FaultKind};
    use proto::content::MessageBlock;
    use proto::event::DeltaKind;
    use proto::session::Usage;
    use serde_json::json;
    use std::sync::Mutex;

    /// Answers with what it is given, call by call.
    struct Scripted(Mutex<Vec<Vec<ModelEvent>>>);

    impl Model for Scripted {
        fn stream(&self, _: ModelRequest) -> ModelStream {
            Box::pin(stream::iter(self.0.lock().expect("a lock").remove(0)))
        }
        fn id(&self) -> &str {
            "mine/m"
        }
        fn context_window(&self) -> u64 {
            7
        }
    }

    fn request(answers: usize) -> ModelRequest {
        let answer = Message::Assistant { content: Vec::new(), model: "mine/m".to_owned() };
        let messages = std::iter::repeat_n(Entry::from(answer), answers).collect::<Messages>().into();
        ModelRequest { escalation: 0, system: "".into(), tools: Arc::new([]), messages }
    }

    fn fault(kind: FaultKind) -> ModelEvent {
        ModelEvent::Fault(Fault { kind, message: "what to do".to_owned() })
    }

    fn answers() -> Vec<Vec<ModelEvent>> {
        let id = || "c1".to_owned();
        let name = || "Read".to_owned();
        vec![
            vec![
                ModelEvent::BlockStarted { index: 0, kind: BlockKind::ToolUse { id: id(), name: name() } },
                ModelEvent::Delta { index: 0, kind: DeltaKind::ToolInput, text: "{\"a\":1}".to_owned() },
                ModelEvent::BlockDone {
                    index: 0,
                    block: MessageBlock::ToolUse { id: id(), name: name(), input: json!({"a": 1}) },
                },
                ModelEvent::Usage(Usage { input_tokens: 3, ..Usage::default() }),
                ModelEvent::Stopped { reason: "tool_use".to_owned() },
            ],
            vec![
                ModelEvent::BlockStarted { index: 0, kind: BlockKind::Other },
                ModelEvent::BlockDone { index: 0, block: MessageBlock::Other(json!({"type": "new", "x": [1]})) },
                ModelEvent::BlockStarted { index: 1, kind: BlockKind::Thinking },
                fault(FaultKind::Overloaded { retry_after_ms: Some(9) }),
            ],
        ]
    }

    #[tokio::test]
    async fn what_is_recorded_plays_back_the_same() {
        let dir = tempfile::tempdir().expect("a folder");
        let file = dir.path().join("calls.jsonl");
        let mut calls = answers();
        calls.insert(0, vec![fault(FaultKind::Unreachable)]);
        let model = recording(Arc::new(Scripted(Mutex::new(calls.clone()))), &file).expect("a file");
        assert_eq!((model.id(), model.context_window()), ("mine/m", 7));
        for expected in &calls {
            assert_eq!(&model.stream(request(0)).collect::<Vec<_>>().await, expected);
        }
        let replay = Replay::new(&file.display().to_string());
        for (number, expected) in answers().iter().enumerate() {
            assert_eq!(&replay.stream(request(number)).collect::<Vec<_>>().await, expected);
        }
        use std::os::unix::fs::PermissionsExt;
        let mode = std::fs::metadata(&file).expect("metadata").permissions().mode();
        assert_eq!(mode & 0o777, 0o600);
    }

    #[tokio::test]
    async fn a_missing_damaged_or_short_recording_says_so() {
        let dir = tempfile::tempdir().expect("a folder");
        let file = dir.path().join("calls.jsonl");
        let play = async |content: Option<&str>, call: usize| {
            if let Some(content) = content {
                std::fs::write(&file, content).expect("a file");
            }
            let replay = Replay::new(&file.display().to_string());
            match replay.stream(request(call)).collect::<Vec<_>>().await.as_slice() {
                [ModelEvent::Fault(fault)] => (fault.kind, fault.message.clone()),
                other => panic!("{other:?}"),
            }
        };
        let good = "{\"events\":[{\"type\":\"stopped\",\"reason\":\"end_turn\"}]}\n";
        for (content, call, expected) in [
            (None, 0, "can't read the recording"),
            (Some("{\n"), 0, "is damaged"),
            (Some("{\"events\":[]}\n"), 0, "has no end"),
            (Some(good), 1, "has no model call 2"),
        ] {
            let (kind, message) = play(content, call).await;
            assert_eq!(kind, FaultKind::NotFound);
            assert!(message.contains(expected) && message.contains("calls.jsonl"), "{message}");
        }
    }

    #[test]
    fn a_recording_that_cannot_be_written_is_refused() {
        let refused = recording(Arc::new(Scripted(Mutex::new(Vec::new()))), Path::new("/nonexistent/x.jsonl"));
        assert!(refused.err().is_some_and(|error| error.message.contains("/nonexistent/x.jsonl")));
    }
}
