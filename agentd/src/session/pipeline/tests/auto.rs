//! The classifier beside the other stages, and what hooks may say of its no.

use super::*;
use crate::model::{Model, ModelRequest, ModelStream};
use crate::session::classifier::Case;
use crate::session::hooks::{BeforeTool, CallView};
use crate::turn::model_event::ModelEvent;
use futures::StreamExt as _;
use proto::content::MessageBlock;
use proto::session::Mode;
use tokio::sync::Notify;

/// A model with one answer, which tells that it was asked.
struct Small {
    answer: &'static str,
    asked: Arc<Notify>,
    trace: Trace,
}

impl Model for Small {
    fn stream(&self, _request: ModelRequest) -> ModelStream {
        self.trace.add("asked");
        self.asked.notify_one();
        let block = MessageBlock::Text { text: self.answer.to_owned() };
        let end = ModelEvent::Stopped { reason: "end_turn".to_owned() };
        futures::stream::iter([ModelEvent::BlockDone { index: 0, block }, end]).boxed()
    }

    fn id(&self) -> &str {
        "test/small"
    }

    fn context_window(&self) -> u64 {
        0
    }
}

/// A hook that ends only once the classifier was asked, and then says what it is told to.
struct Slow {
    asked: Arc<Notify>,
    stop: bool,
    retry: bool,
}

impl Hooks for Slow {
    fn before_tool<'a>(&'a self, _call: CallView<'a>) -> BoxFuture<'a, BeforeTool> {
        Box::pin(async {
            self.asked.notified().await;
            BeforeTool { stop: self.stop.then(|| "stopped".to_owned()), ..BeforeTool::default() }
        })
    }

    fn permission_denied<'a>(&'a self, call: CallView<'a>, reason: &'a DecisionReason) -> BoxFuture<'a, bool> {
        assert_eq!((call.tool, reason.kind), ("StandIn", ReasonType::Classifier));
        Box::pin(async { self.retry })
    }
}

fn bench(answer: &'static str, hook: impl FnOnce(&mut Slow)) -> Bench {
    let mut bench = Bench::new(StandIn::gives(said("x")).asks());
    let asked = Arc::new(Notify::new());
    let mut hooks = Slow { asked: Arc::clone(&asked), stop: false, retry: false };
    hook(&mut hooks);
    bench.hooks = Arc::new(hooks);
    bench.policy.mode = Mode::Auto;
    let model: Arc<dyn Model> = Arc::new(Small { answer, asked, trace: bench.tool.trace.clone() });
    bench.case = Some(Case { model: Ok(model), prompts: Vec::new(), calls: Vec::new() });
    bench
}

/// Row B10: the classifier is asked before the PreToolUse hook has ended, its word is used, and dropped if the hook stops
/// the call.
#[tokio::test]
async fn the_classifier_is_asked_beside_hooks() {
    let told = bench(r#"{"verdict": "allow"}"#, |_| {}).run(input("x")).await;
    assert_eq!((told.text.as_str(), told.started[0].1.kind), ("x", ReasonType::Classifier));
    let stopped = bench(r#"{"verdict": "allow"}"#, |hook| hook.stop = true);
    let told = stopped.run(input("x")).await;
    assert_eq!((told.text.as_str(), told.started.len(), told.by_classifier.len()), ("stopped", 0, 0));
    assert!(stopped.trace().contains(&"asked".to_owned()), "it was asked all the same");
}

/// Row P19: a denial by the classifier is told, and a PermissionDenied hook may let the model try again: that adds a
/// message, and the denial stands.
#[tokio::test]
async fn a_hook_may_permit_a_further_attempt() {
    for retry in [false, true] {
        let told = bench(r#"{"verdict": "block", "reason": "no"}"#, |hook| hook.retry = retry).run(input("x")).await;
        assert_eq!((told.outcome.status, told.started.len(), told.by_classifier.len()), (ToolStatus::Denied, 0, 1));
        assert!(told.text.contains("the classifier blocks it: no"), "{}", told.text);
        assert_eq!(told.text.contains("may be tried again"), retry, "{}", told.text);
    }
}
