//! What unit tests share: a scratch folder and a context for it, and a tool such as an MCP server brings.

use super::{Progress, PromptOptions, ReadState, Tool, ToolContext, ToolOutput};
use crate::base::environment::Environment;
use crate::policy::{Call, Decision, Policy};
use futures::future::BoxFuture;
use proto::content::ContentBlock;
use proto::event::ToolKind;
use serde_json::{Value, json};
use std::path::PathBuf;
use std::sync::Arc;
use tokio_util::sync::CancellationToken;

pub(crate) struct Scratch {
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
            checkpoints_dir: self.root.path().join("state/checkpoints"),
            files: Arc::clone(&self.files),
            processes: Arc::default(),
            cancel: self.cancel.clone(),
            progress: Arc::new(|_: Progress| {}),
            bash: crate::config::BashSettings::default(),
            kill_grace: std::time::Duration::from_millis(100),
            user_modified: false,
            hidden: None,
            trusted: false,
        }
    }

    /// Validates and runs one call, as the pipeline does.
    pub fn run(&self, tool: &dyn Tool, input: Value) -> ToolOutput {
        self.run_in(self.context(), tool, input)
    }

    /// The same in a context of its own.
    pub fn run_in(&self, context: ToolContext, tool: &dyn Tool, input: Value) -> ToolOutput {
        if let Err(message) = tool.validate(&input, &context) {
            return ToolOutput::error(message);
        }
        let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build().unwrap();
        runtime.block_on(tool.call(input, context))
    }
}

/// What becomes of a call in mode `default`, without any rule.
pub(super) fn decided(tool: &dyn Tool, input: &Value, context: &ToolContext) -> Decision {
    let policy = Policy { places: super::places(&context.root, &context.env), ..Policy::default() };
    let (own, subject) = (super::own_check(tool, input, context), tool.subject(input, context));
    crate::policy::decide(&policy, Call::new(tool.name(), input, &subject, &own))
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

/// A tool with a name and a JSON Schema and nothing else of its own, as MCP servers bring them.
#[derive(Clone)]
pub(crate) struct Fake {
    pub name: String,
    pub hint: String,
    pub text: String,
    pub schema: Value,
    pub alias: Option<&'static str>,
    pub always_load: bool,
    pub strict: bool,
    pub disabled: bool,
    pub prompts: Prompts,
}

/// How often a tool was asked for its text.
#[derive(Clone, Default)]
pub(crate) struct Prompts(Arc<std::sync::atomic::AtomicUsize>);

impl Prompts {
    pub fn get(&self) -> usize {
        self.0.load(std::sync::atomic::Ordering::SeqCst)
    }
}

impl Fake {
    pub fn named(name: &str) -> Self {
        let schema = json!({
            "type": "object",
            "properties": {"title": {"type": "string"}, "labels": {"type": "array", "items": {"type": "string"}}},
            "required": ["title"],
            "additionalProperties": false,
        });
        Self {
            name: name.to_owned(),
            hint: String::new(),
            text: format!("Does {name}."),
            schema,
            alias: None,
            always_load: false,
            strict: true,
            disabled: false,
            prompts: Prompts::default(),
        }
    }

    pub fn registered(self) -> Arc<super::Registered> {
        Arc::new(super::Registered::new(Arc::new(self)))
    }
}

impl Tool for Fake {
    fn name(&self) -> &str {
        &self.name
    }

    fn aliases(&self) -> &[&str] {
        self.alias.as_slice()
    }

    fn search_hint(&self) -> &str {
        &self.hint
    }

    fn source(&self) -> &str {
        super::split_mcp_name(&self.name).map_or("fake", |(server, _)| server)
    }

    fn is_enabled(&self) -> bool {
        !self.disabled
    }

    fn prompt(&self, options: &PromptOptions) -> String {
        self.prompts.0.fetch_add(1, std::sync::atomic::Ordering::SeqCst);
        format!("{} For {} beside {}.", self.text, options.model, options.tools.join(", "))
    }

    fn input_json_schema(&self) -> Option<Value> {
        Some(self.schema.clone())
    }

    fn kind(&self) -> ToolKind {
        ToolKind::Other
    }

    fn is_mcp(&self) -> bool {
        true
    }

    fn strict(&self) -> bool {
        self.strict
    }

    fn always_load(&self) -> bool {
        self.always_load
    }

    fn title(&self, _input: &Value) -> String {
        self.name.clone()
    }

    fn call(&self, input: Value, _context: ToolContext) -> BoxFuture<'_, ToolOutput> {
        Box::pin(async move { ToolOutput::text(format!("did {input}"), "did it") })
    }
}
