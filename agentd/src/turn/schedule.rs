//! The tool scheduler: which call may start now. A value; the machine tells it what was queued and
//! what ended. It knows nothing of tools, permissions or time.

use proto::ids::ToolCallId;
use serde_json::Value;

/// Where a call is (seed row C02). It only moves forward.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
enum Stage {
    Queued,
    Executing,
    Completed,
}

#[derive(Debug, Clone, PartialEq)]
struct Call {
    id: ToolCallId,
    tool: String,
    input: Value,
    concurrency_safe: bool,
    stage: Stage,
}

/// The calls of one message, in call order.
#[derive(Debug, Clone, PartialEq)]
pub struct Schedule {
    calls: Vec<Call>,
    cap: usize,
}

impl Schedule {
    /// An empty schedule that runs at most `cap` calls at once (seed row C04); at least one.
    #[must_use]
    pub fn new(cap: usize) -> Self {
        Self { calls: Vec::new(), cap: cap.max(1) }
    }

    /// Queues a call behind the others.
    pub fn push(&mut self, id: ToolCallId, concurrency_safe: bool, tool: String, input: Value) {
        self.calls.push(Call { id, tool, input, concurrency_safe, stage: Stage::Queued });
    }

    /// Marks as executing, and hands out, the calls that may start now. A call may start when nothing
    /// runs, or when it and all that run are concurrency-safe (seed row C01); never past a waiting
    /// unsafe one (C03), never more than the cap.
    pub fn start_next(&mut self) -> Vec<(ToolCallId, String, Value)> {
        let mut started = Vec::new();
        while let Some(at) = self.calls.iter().position(|call| call.stage == Stage::Queued) {
            let running: Vec<&Call> = self.calls.iter().filter(|call| call.stage == Stage::Executing).collect();
            let all_safe = running.iter().all(|call| call.concurrency_safe);
            let count = running.len();
            let Some(call) = self.calls.get_mut(at) else { break };
            let may_start = count == 0 || (count < self.cap && call.concurrency_safe && all_safe);
            if !may_start {
                break;
            }
            call.stage = Stage::Executing;
            // The schedule is done with them: an input may be large.
            started.push((call.id.clone(), std::mem::take(&mut call.tool), call.input.take()));
        }
        started
    }

    /// Takes note that a call ended, whether it ran or not. False if it is unknown or ended before.
    pub fn complete(&mut self, id: &ToolCallId) -> bool {
        match self.calls.iter_mut().find(|call| call.id == *id && call.stage != Stage::Completed) {
            Some(call) => {
                call.stage = Stage::Completed;
                true
            }
            None => false,
        }
    }

    /// The calls that have not started.
    pub fn queued(&self) -> impl Iterator<Item = &ToolCallId> {
        self.calls.iter().filter(|call| call.stage == Stage::Queued).map(|call| &call.id)
    }

    /// The calls that run.
    pub fn executing(&self) -> impl Iterator<Item = &ToolCallId> {
        self.calls.iter().filter(|call| call.stage == Stage::Executing).map(|call| &call.id)
    }

    /// Whether no call was queued.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.calls.is_empty()
    }

    /// Whether every call has ended.
    #[must_use]
    pub fn is_done(&self) -> bool {
        self.calls.iter().all(|call| call.stage == Stage::Completed)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    fn schedule(safe: &[bool], cap: usize) -> Schedule {
        let mut schedule = Schedule::new(cap);
        for (at, safe) in safe.iter().enumerate() {
            schedule.push(ToolCallId(at.to_string()), *safe, String::new(), Value::Null);
        }
        schedule
    }

    fn batches(safe: &[bool], cap: usize) -> Vec<Vec<String>> {
        let mut schedule = schedule(safe, cap);
        let mut batches = Vec::new();
        loop {
            let started = schedule.start_next();
            if started.is_empty() {
                return batches;
            }
            batches.push(started.iter().map(|(id, ..)| id.0.clone()).collect());
            for (id, ..) in &started {
                assert!(schedule.complete(id));
            }
        }
    }

    /// C03: [R, R, B, R] runs as {R, R}, {B}, {R}.
    #[test]
    fn batches_are_cut_at_unsafe_calls() {
        assert_eq!(batches(&[true, true, false, true], 10), [vec!["0", "1"], vec!["2"], vec!["3"]]);
        assert_eq!(batches(&[false, false], 10), [vec!["0"], vec!["1"]]);
    }

    /// C04: with a cap of ten, the eleventh read waits.
    #[test]
    fn the_cap_holds_back_the_eleventh() {
        let found = batches(&[true; 11], 10);
        assert_eq!(found.iter().map(Vec::len).collect::<Vec<_>>(), [10, 1]);
    }

    #[test]
    fn a_cap_of_zero_still_runs_one_at_a_time() {
        assert_eq!(batches(&[true, true], 0), [vec!["0"], vec!["1"]]);
    }

    #[test]
    fn a_call_ends_once() {
        let mut schedule = schedule(&[true], 1);
        schedule.start_next();
        assert!(schedule.complete(&"0".into()));
        assert!(!schedule.complete(&"0".into()));
        assert!(!schedule.complete(&"unknown".into()));
    }

    proptest! {
        /// C01, C02, C12: over random queues, arrivals and finish orders an unsafe call runs alone, the
        /// order of starts is the order of calls, the cap holds, and every call ends once.
        #[test]
        fn the_gate_holds(safe in prop::collection::vec(any::<bool>(), 0..30), cap in 1usize..12, picks in prop::collection::vec(any::<u8>(), 0..200)) {
            let mut schedule = Schedule::new(cap);
            let mut picks = picks.into_iter();
            let (mut arrived, mut running, mut starts) = (0, Vec::<usize>::new(), Vec::new());
            while arrived < safe.len() || !schedule.is_done() {
                let arrive = arrived < safe.len() && (running.is_empty() || picks.next().unwrap_or(0) % 2 == 0);
                if arrive {
                    schedule.push(ToolCallId(arrived.to_string()), safe[arrived], String::new(), Value::Null);
                    arrived += 1;
                } else {
                    let at = picks.next().unwrap_or(0) as usize % running.len();
                    let ended = running.swap_remove(at);
                    prop_assert!(schedule.complete(&ToolCallId(ended.to_string())));
                }
                for (id, ..) in schedule.start_next() {
                    let id: usize = id.0.parse().unwrap();
                    running.push(id);
                    starts.push(id);
                }
                prop_assert!(running.len() <= cap.max(1));
                prop_assert!(running.len() <= 1 || running.iter().all(|id| safe[*id]));
                prop_assert!(!running.is_empty() || schedule.queued().next().is_none(), "a wake-up was lost");
            }
            prop_assert_eq!(starts, (0..safe.len()).collect::<Vec<_>>());
        }
    }
}
