//! The scheduler: tables, and properties over random queues, arrivals, failures and aborts.

use super::*;
use proptest::prelude::*;

fn call(id: usize, safe: bool) -> NewCall {
    NewCall {
        id: ToolCallId(id.to_string()),
        tool: String::new(),
        input: Value::Null,
        title: format!("call {id}"),
        read_only: safe,
        concurrency_safe: safe,
        blocks_interrupt: !safe,
        runs_command: true,
    }
}

fn schedule(safe: &[bool], cap: usize) -> Schedule {
    let mut schedule = Schedule::new(cap, Cascade::Writing);
    for (at, safe) in safe.iter().enumerate() {
        schedule.push(call(at, *safe));
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
            assert!(schedule.complete(id, None));
        }
    }
}

/// Row C03: [R, R, B, R] runs as {R, R}, {B}, {R}.
#[test]
fn batches_are_cut_at_unsafe_calls() {
    assert_eq!(batches(&[true, true, false, true], 10), [vec!["0", "1"], vec!["2"], vec!["3"]]);
    assert_eq!(batches(&[false, false], 10), [vec!["0"], vec!["1"]]);
}

/// Rows C04, C09: with a cap of ten, the eleventh read waits.
#[test]
fn the_cap_holds_back_the_eleventh() {
    let found = batches(&[true; 11], 10);
    assert_eq!(found.iter().map(Vec::len).collect::<Vec<_>>(), [10, 1]);
}

#[test]
fn a_cap_of_zero_still_runs_one_at_a_time() {
    assert_eq!(batches(&[true, true], 0), [vec!["0"], vec!["1"]]);
}

/// Row C02: a call goes forward only, and ends once.
#[test]
fn a_call_ends_once() {
    let mut schedule = schedule(&[true], 1);
    schedule.start_next();
    assert!(schedule.start_next().is_empty());
    assert!(schedule.complete(&"0".into(), None));
    assert!(!schedule.complete(&"0".into(), None));
    assert!(!schedule.complete(&"unknown".into(), None));
    assert!(schedule.start_next().is_empty());
}

/// Row C06: which failure stops the others, for each policy.
#[test]
fn which_failure_cascades() {
    for (cascade, writes, reads) in
        [(Cascade::Writing, true, false), (Cascade::Any, true, true), (Cascade::Off, false, false)]
    {
        for (safe, expected) in [(false, writes), (true, reads)] {
            let mut schedule = Schedule::new(10, cascade);
            schedule.push(call(0, safe));
            schedule.push(NewCall { runs_command: false, ..call(1, safe) });
            schedule.start_next();
            assert_eq!(schedule.cascades(&"0".into(), ToolStatus::Failed), expected, "{cascade:?} safe: {safe}");
            for status in [ToolStatus::Completed, ToolStatus::Denied, ToolStatus::Cancelled] {
                assert!(!schedule.cascades(&"0".into(), status), "{cascade:?} {status:?}");
            }
            assert!(!schedule.cascades(&"1".into(), ToolStatus::Failed), "no command: {cascade:?}");
        }
    }
}

/// Row I09: interruptible only while something runs and all of it can be cut.
#[test]
fn interruptible_needs_running_calls_that_can_all_be_cut() {
    let mut schedule = schedule(&[true, true, false], 10);
    assert!(!schedule.is_interruptible(), "nothing runs");
    schedule.start_next();
    assert!(schedule.is_interruptible());
    schedule.complete(&"0".into(), None);
    assert!(schedule.is_interruptible());
    schedule.complete(&"1".into(), None);
    assert!(!schedule.is_interruptible(), "nothing runs any more");
    schedule.start_next();
    assert!(schedule.is_interruptible(), "the writing call still waits for its permission");
    schedule.note_start(&"2".into());
    assert!(!schedule.is_interruptible(), "the writing call blocks");
}

/// Row C10: of results that later calls give first, none is held back but by a call that must run alone.
#[test]
fn safe_calls_end_in_any_order_and_an_unsafe_one_holds_back_what_follows() {
    let mut schedule = schedule(&[true, true, false, true], 10);
    schedule.start_next();
    assert!(schedule.complete(&"1".into(), None), "a later one may end first");
    assert!(schedule.start_next().is_empty());
    schedule.complete(&"0".into(), None);
    schedule.start_next();
    assert!(schedule.start_next().is_empty(), "nothing runs beside the unsafe one");
    schedule.complete(&"2".into(), None);
    assert_eq!(schedule.start_next().len(), 1);
}

/// What may happen next in a random run.
#[derive(Debug, Clone, Copy)]
enum Step {
    Arrive,
    End { fails: bool },
    Abort(AbortReason),
    Discard,
}

fn steps() -> impl Strategy<Value = Step> {
    prop_oneof![
        8 => Just(Step::Arrive),
        8 => any::<bool>().prop_map(|fails| Step::End { fails }),
        1 => prop_oneof![Just(AbortReason::Interrupt), Just(AbortReason::UserAbort), Just(AbortReason::Restart)]
            .prop_map(Step::Abort),
        1 => Just(Step::Discard),
    ]
}

proptest! {
    /// Rows C01, C02, C12: over random queues, arrivals, delays, failures and aborts an unsafe call runs alone, the
    /// order of starts is the order of calls, the cap holds, every call ends once, and no wake-up is lost.
    #[test]
    fn the_gate_holds(
        safe in prop::collection::vec(any::<bool>(), 0..30),
        cap in 1usize..12,
        cascade in prop_oneof![Just(Cascade::Writing), Just(Cascade::Any), Just(Cascade::Off)],
        script in prop::collection::vec((steps(), any::<prop::sample::Index>()), 0..200),
    ) {
        let mut schedule = Schedule::new(cap, cascade);
        let (mut arrived, mut running, mut starts) = (0, Vec::<usize>::new(), Vec::new());
        let mut ends = vec![0; safe.len()];
        let finish = std::iter::repeat_n((Step::Arrive, None), safe.len())
            .chain(std::iter::repeat_n((Step::End { fails: false }, None), safe.len()));
        for (step, pick) in script.into_iter().map(|(step, pick)| (step, Some(pick))).chain(finish) {
            let stopped = match step {
                Step::Arrive if arrived < safe.len() => {
                    schedule.push(call(arrived, safe[arrived]));
                    arrived += 1;
                    schedule.aborts.siblings().map(|reason| schedule.stop(reason)).unwrap_or_default()
                }
                Step::End { fails } if !running.is_empty() => {
                    let at = pick.map_or(0, |pick: prop::sample::Index| pick.index(running.len()));
                    let id = running.swap_remove(at);
                    let key = ToolCallId(id.to_string());
                    prop_assert!(schedule.complete(&key, None));
                    ends[id] += 1;
                    let status = if fails { ToolStatus::Failed } else { ToolStatus::Completed };
                    if schedule.cascades(&key, status) { schedule.fail(&key) } else { Stopped::default() }
                }
                Step::Abort(reason) => schedule.abort_turn(reason),
                Step::Discard => schedule.discard(),
                Step::Arrive | Step::End { .. } => Stopped::default(),
            };
            for id in stopped.never_started {
                ends[id.0.parse::<usize>().unwrap()] += 1;
            }
            for id in stopped.running {
                prop_assert!(running.contains(&id.0.parse().unwrap()), "only what runs is told to stop");
            }
            for (id, ..) in schedule.start_next() {
                let id: usize = id.0.parse().unwrap();
                running.push(id);
                starts.push(id);
            }
            prop_assert!(running.len() <= cap);
            prop_assert!(running.len() <= 1 || running.iter().all(|id| safe[*id]));
            prop_assert!(!running.is_empty() || schedule.queued().next().is_none(), "a wake-up was lost");
        }
        prop_assert!(starts.is_sorted());
        prop_assert!(schedule.is_done());
        prop_assert!(ends.iter().all(|count| *count == 1), "{ends:?}");
    }

    /// Row F03: what was discarded changes nothing any more.
    #[test]
    fn discarded_changes_never_surface(count in 1usize..10, ended in 0usize..10) {
        let mut schedule = schedule(&vec![true; count], 10);
        schedule.start_next();
        let change = |at: usize| Some(ContextChange { shell_cwd: Some(format!("/{at}")), ..Default::default() });
        for at in 0..ended.min(count) {
            schedule.complete(&ToolCallId(at.to_string()), change(at));
        }
        let already = if ended >= count { schedule.take_changes().len() } else { 0 };
        prop_assert_eq!(already, if ended >= count { count } else { 0 });
        schedule.discard();
        for at in ended.min(count)..count {
            schedule.complete(&ToolCallId(at.to_string()), None);
        }
        prop_assert!(schedule.take_changes().is_empty());
    }
}
