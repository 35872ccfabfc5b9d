//! The pipeline with stand-ins: tools and hooks that do as they are told, and a channel that plays the actor.

mod asking;
mod auto;
mod calls;
mod hooks;
mod results;

use super::*;
use crate::base::environment::Environment;
use crate::config::{BashSettings, ToolSettings};
use crate::policy::Rules;
use crate::policy::testing::rules;
use crate::session::hooks::NoHooks;
use crate::tools::{Permitted, Progress, PromptOptions, Registry, ToolVerdict};
use futures::future::BoxFuture;
use proto::content::{ContentBlock, plain_text};
use proto::event::{ToolKind, ToolStatus};
use proto::permission::ReasonType;
use serde_json::json;
use std::path::PathBuf;
use std::sync::Mutex;
use std::time::Duration;
use tokio_util::sync::CancellationToken;

/// What happened, in order.
#[derive(Clone, Default)]
struct Trace(Arc<Mutex<Vec<String>>>);

impl Trace {
    fn add(&self, what: impl Into<String>) {
        self.0.lock().unwrap().push(what.into());
    }

    fn take(&self) -> Vec<String> {
        std::mem::take(&mut *self.0.lock().unwrap())
    }
}

type Work = dyn Fn(Value, ToolContext) -> BoxFuture<'static, ToolOutput> + Send + Sync;

/// A tool that does as it is told. Its input is `{text, file_path?}`; observers see an absolute path.
struct StandIn {
    trace: Trace,
    verdict: ToolVerdict,
    limit: usize,
    defers: bool,
    needs_person: bool,
    /// Whether its title is another one each time.
    moves: bool,
    work: Box<Work>,
}

impl StandIn {
    fn gives(output: ToolOutput) -> Self {
        Self::works(move |_, _| {
            let output = output.clone();
            Box::pin(async move { output })
        })
    }

    fn works(work: impl Fn(Value, ToolContext) -> BoxFuture<'static, ToolOutput> + Send + Sync + 'static) -> Self {
        let verdict = ToolVerdict::Allow { detail: "harmless".into() };
        Self {
            trace: Trace::default(),
            verdict,
            limit: 100,
            defers: false,
            needs_person: false,
            moves: false,
            work: Box::new(work),
        }
    }

    fn asks(self) -> Self {
        Self { verdict: ToolVerdict::Ask { detail: "may change something".into() }, ..self }
    }
}

impl Tool for StandIn {
    fn name(&self) -> &str {
        "StandIn"
    }

    fn aliases(&self) -> &[&str] {
        &["OldName"]
    }

    fn prompt(&self, _options: &PromptOptions) -> String {
        String::new()
    }

    fn should_defer(&self) -> bool {
        self.defers
    }

    fn requires_user_interaction(&self) -> bool {
        self.needs_person
    }

    fn kind(&self) -> ToolKind {
        ToolKind::Other
    }

    fn max_result_chars(&self) -> usize {
        self.limit
    }

    fn observable_input(&self, input: &Value, _context: &ToolContext) -> Option<Value> {
        let path = input.get("file_path")?.as_str()?;
        let mut seen = input.clone();
        seen["file_path"] = Value::from(format!("/project/{path}"));
        Some(seen)
    }

    fn map_data(&self, data: &Value) -> Vec<ContentBlock> {
        self.trace.add("map");
        vec![ContentBlock::text(format!("mapped {data}"))]
    }

    fn validate(&self, input: &Value, _context: &ToolContext) -> Result<(), String> {
        self.trace.add("validate");
        match input["text"].as_str() {
            Some("panic") => panic!("as it was told"),
            Some("refused") => Err("the text is refused".to_owned()),
            Some(_) => Ok(()),
            None => Err("the field `text` must be a string, not null".to_owned()),
        }
    }

    fn check_permission(&self, input: &Value, _context: &ToolContext) -> ToolVerdict {
        self.trace.add(format!("permission {input}"));
        self.verdict.clone()
    }

    fn title(&self, input: &Value) -> String {
        if self.moves {
            self.trace.add("title");
            let count = self.trace.0.lock().unwrap().iter().filter(|what| *what == "title").count();
            return format!("StandIn {count}");
        }
        format!("StandIn {input}")
    }

    fn call(&self, input: Value, context: ToolContext) -> BoxFuture<'_, ToolOutput> {
        self.trace.add(format!("call {input}"));
        (self.work)(input, context)
    }
}

/// Everything around the calls of one round.
struct Bench {
    dir: tempfile::TempDir,
    journal: Arc<Journal>,
    tool: Arc<StandIn>,
    hooks: Arc<dyn Hooks>,
    policy: Policy,
    /// The rules once a question was answered, if they are others.
    policy_later: Option<Policy>,
    tools: Arc<Toolset>,
    round: Arc<Round>,
    cancel: CancellationToken,
    /// What the person says; without it a question stays open.
    answer: Option<Answer>,
    on_ask: OnAsk,
    case: Option<Case>,
}

/// What the actor was told of a call.
struct Told {
    asked: Vec<PermissionRequest>,
    started: Vec<(Value, DecisionReason)>,
    /// Why a hook has answered a question.
    by_hook: Vec<DecisionReason>,
    /// Denials of the classifier that were told.
    by_classifier: Vec<DecisionReason>,
    outcome: ToolOutcome,
    text: String,
}

impl Bench {
    fn new(tool: StandIn) -> Self {
        let dir = tempfile::tempdir().unwrap();
        let tool = Arc::new(tool);
        let registry = Registry::new(vec![Arc::clone(&tool) as Arc<dyn Tool>]);
        let permitted = Permitted { deny: &[], simple: false };
        Self {
            journal: Arc::new(Journal::create(&dir.path().join("session")).unwrap()),
            tools: Arc::new(Toolset::new(&registry, Vec::new(), &ToolSettings::default(), permitted, "test/m")),
            tool,
            hooks: Arc::new(NoHooks),
            policy: Policy::default(),
            policy_later: None,
            round: Arc::new(Round::new(200_000)),
            cancel: CancellationToken::new(),
            answer: None,
            on_ask: OnAsk::Wait,
            case: None,
            dir,
        }
    }

    fn outputs(&self) -> PathBuf {
        self.dir.path().canonicalize().unwrap().join("outputs")
    }

    fn trace(&self) -> Vec<String> {
        self.tool.trace.take()
    }

    async fn run(&self, input: Value) -> Told {
        self.call("c1", "StandIn", input).await
    }

    /// One call to its end, with the actor's part played: what is asked is answered as the bench says.
    async fn call(&self, id: &str, tool: &str, input: Value) -> Told {
        let (messages, mut inbox) = mpsc::channel(8);
        let job = self.job(id, tool, input, messages);
        let actor = async {
            let (mut asked, mut started, mut ends) = (Vec::new(), Vec::new(), Vec::new());
            let (mut waiting, mut by_hook, mut by_classifier) = (None, Vec::new(), Vec::new());
            while let Some(message) = inbox.recv().await {
                match message {
                    ToolMessage::StopHooksRan { .. } | ToolMessage::Remembered { .. } => panic!("not of a call"),
                    ToolMessage::ClassifierDenies { reason } => by_classifier.push(*reason),
                    ToolMessage::PolicyNow { reply } => {
                        drop(reply.send(self.policy_later.clone().unwrap_or_else(|| self.policy.clone())));
                    }
                    ToolMessage::HookAnswers { answer, reason, .. } => {
                        by_hook.push(*reason);
                        let waiting: oneshot::Sender<Answer> = waiting.take().expect("something was asked");
                        let _ = waiting.send(answer);
                    }
                    ToolMessage::Ask { request, reply } => {
                        asked.push(*request);
                        match self.answer.clone() {
                            Some(answer) => drop(reply.send(answer)),
                            None => waiting = Some(reply),
                        }
                    }
                    ToolMessage::Started { input, decision, go, .. } => {
                        started.push((input, decision));
                        let _ = go.send(());
                    }
                    ToolMessage::Ended { id: of, outcome, .. } => {
                        assert_eq!(of.as_str(), id);
                        ends.push(*outcome);
                    }
                }
            }
            assert!(waiting.is_none(), "a question was left open");
            (asked, started, ends, by_hook, by_classifier)
        };
        let ((), (asked, started, mut ends, by_hook, by_classifier)) = tokio::join!(super::run(job), actor);
        let outcome = ends.pop().expect("a call ends");
        assert!(ends.is_empty(), "a call ends once");
        Told { asked, started, by_hook, by_classifier, text: plain_text(&outcome.content), outcome }
    }

    fn job(&self, id: &str, tool: &str, input: Value, messages: mpsc::Sender<ToolMessage>) -> CallJob {
        CallJob {
            turn_id: "turn".into(),
            tool: self.tools.registry.get(tool),
            tool_name: tool.to_owned(),
            tools: Arc::clone(&self.tools),
            input,
            context: self.context(id),
            policy: self.policy.clone(),
            on_ask: self.on_ask,
            case: self.case.clone(),
            hooks: Arc::clone(&self.hooks),
            cause: Arc::default(),
            journal: Arc::clone(&self.journal),
            round: Arc::clone(&self.round),
            messages,
        }
    }

    fn context(&self, id: &str) -> ToolContext {
        let trace = self.tool.trace.clone();
        ToolContext {
            session_id: "session".into(),
            tool_call_id: id.into(),
            root: self.dir.path().to_owned(),
            cwd: self.dir.path().to_owned(),
            additional_directories: Arc::from([]),
            env: Arc::new(Environment::from(std::collections::BTreeMap::new())),
            outputs_dir: self.outputs(),
            checkpoints_dir: self.dir.path().join("checkpoints"),
            files: Arc::default(),
            processes: Arc::default(),
            cancel: self.cancel.clone(),
            progress: Arc::new(move |part: Progress| trace.add(format!("progress {}", part.text))),
            bash: BashSettings::default(),
            kill_grace: Duration::from_millis(1),
            user_modified: false,
            hidden: None,
            trusted: false,
        }
    }
}

fn input(text: &str) -> Value {
    json!({"text": text})
}

fn said(text: &str) -> ToolOutput {
    ToolOutput::text(text, "said")
}

fn denying() -> Policy {
    Policy { rules: Rules { deny: rules(&["StandIn"]), ..Rules::default() }.into(), ..Policy::default() }
}

fn by_person() -> DecisionReason {
    DecisionReason { kind: ReasonType::User, layer: 9, detail: String::new(), rule: None, source: None }
}
