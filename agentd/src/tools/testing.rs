//! What the unit tests of tools share: a scratch folder and a context for it.

use super::{Progress, ReadState, Tool, ToolContext, ToolOutput};
use crate::base::environment::Environment;
use proto::content::ContentBlock;
use serde_json::Value;
use std::path::PathBuf;
use std::sync::Arc;
use tokio_util::sync::CancellationToken;

pub(super) struct Scratch {
    root: tempfile::TempDir,
    files: Arc<ReadState>,
    pub cancel: CancellationToken,
}

impl Scratch {
    pub fn new() -> Self {
        let root = tempfile::tempdir().unwrap();
        std::fs::create_dir(root.path().join("work")).unwrap();
        Self { root, files: Arc::default(), cancel: CancellationToken::new() }
    }

    pub fn path(&self, name: &str) -> PathBuf {
        self.root.path().canonicalize().unwrap().join("work").join(name)
    }

    pub fn write(&self, name: &str, content: impl AsRef<[u8]>) -> PathBuf {
        let path = self.path(name);
        std::fs::create_dir_all(path.parent().unwrap()).unwrap();
        std::fs::write(&path, content).unwrap();
        path
    }

    pub fn read(&self, name: &str) -> Vec<u8> {
        std::fs::read(self.path(name)).unwrap()
    }

    pub fn context(&self) -> ToolContext {
        let home = self.root.path().join("home").to_str().unwrap().to_owned();
        ToolContext {
            session_id: "ses_test".into(),
            tool_call_id: "call_test".into(),
            root: self.path(""),
            cwd: self.path(""),
            additional_directories: Arc::from([]),
            env: Arc::new(Environment::from(std::collections::BTreeMap::from([("HOME".to_owned(), home)]))),
            outputs_dir: self.root.path().join("state/outputs"),
            files: Arc::clone(&self.files),
            processes: Arc::default(),
            cancel: self.cancel.clone(),
            progress: Arc::new(|_: Progress| {}),
            bash: crate::config::BashSettings::default(),
            kill_grace: std::time::Duration::from_millis(100),
        }
    }

    /// Validates and runs one call, as the pipeline does.
    pub fn run(&self, tool: &dyn Tool, input: Value) -> ToolOutput {
        let context = self.context();
        if let Err(message) = tool.validate(&input, &context) {
            return ToolOutput::error(message);
        }
        let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build().unwrap();
        runtime.block_on(tool.call(input, context))
    }
}

pub(super) fn text_of(output: &ToolOutput) -> String {
    proto::content::plain_text(&output.content)
}

pub(super) fn assert_ok(output: &ToolOutput) -> String {
    assert!(!output.is_error, "{}", text_of(output));
    assert!(output.content.iter().any(|block| !matches!(block, ContentBlock::Text { text } if text.is_empty())));
    text_of(output)
}

pub(super) fn assert_error(output: &ToolOutput) -> String {
    assert!(output.is_error, "{}", text_of(output));
    text_of(output)
}
