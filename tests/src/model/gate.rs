//! Gates: where a stream waits for the test.

use std::collections::HashMap;
use std::sync::{Arc, Mutex};
use tokio::sync::watch;

/// How far the stream at a gate is.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Stage {
    /// No stream has come to it.
    Ahead,
    /// A stream waits at it.
    Waiting,
    /// The client closed the stream while it waited.
    Closed,
    /// It is open and a stream went through.
    Passed,
}

/// One gate.
#[derive(Debug)]
pub(super) struct Gate {
    open: watch::Sender<bool>,
    stage: watch::Sender<Stage>,
}

/// All gates by name; one is made when it is first named.
#[derive(Debug, Default)]
pub(super) struct Gates(Mutex<HashMap<String, Arc<Gate>>>);

impl Gates {
    pub(super) fn get(&self, name: &str) -> Arc<Gate> {
        let mut gates = self.0.lock().unwrap();
        let fresh = || Arc::new(Gate { open: watch::Sender::new(false), stage: watch::Sender::new(Stage::Ahead) });
        Arc::clone(gates.entry(name.to_owned()).or_insert_with(fresh))
    }
}

impl Gate {
    pub(super) fn open(&self) {
        self.open.send_replace(true);
    }

    /// Waits until the stream at the gate is at one of the stages.
    pub(super) async fn reach(&self, stages: &[Stage]) {
        let mut stage = self.stage.subscribe();
        stage.wait_for(|stage| stages.contains(stage)).await.expect("the gate holds the sender");
    }

    pub(super) fn stage(&self) -> Stage {
        *self.stage.borrow()
    }

    /// Waits as a stream does. If the future is dropped, the client has closed the stream.
    pub(super) async fn pass(&self) {
        let mut waiting = Waiting { gate: self, passed: false };
        self.stage.send_replace(Stage::Waiting);
        let mut open = self.open.subscribe();
        open.wait_for(|open| *open).await.expect("the gate holds the sender");
        waiting.passed = true;
    }
}

struct Waiting<'a> {
    gate: &'a Gate,
    passed: bool,
}

impl Drop for Waiting<'_> {
    fn drop(&mut self) {
        self.gate.stage.send_replace(if self.passed { Stage::Passed } else { Stage::Closed });
    }
}
