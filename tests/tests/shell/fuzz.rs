//! The analysis against bash on random lines: a few thousand, always the same. `cargo bench -p tests --bench
//! shell_fuzz` does it with as many as one likes.

use crate::judge::{judge, sandbox};
use tests::shell::corpus::all;
use tests::shell::fuzz::{Judged, Plan, compare};
use tests::shell::mutate::Mutator;

const PLAN: Plan = Plan { lines: 4000, seed: 1, threads: 2 };

#[test]
fn bash_does_no_more_than_the_analysis_says() {
    let report = compare(PLAN, &Mutator::of(&all()), &sandbox(), (&judge, &|_| {}));
    assert!(report.disagreements.is_empty(), "{:#?}", report.disagreements);
    // Else the comparison compares nothing.
    assert!(report.run > PLAN.lines / 20, "{report}");
}

/// The comparison finds a judge out that is wrong.
#[test]
fn a_judge_that_is_wrong_is_found_out() {
    let gullible = |line: &str| line.starts_with("echo").then(Judged::default);
    let plan = Plan { lines: 3000, seed: 2, threads: 1 };
    let report = compare(plan, &Mutator::of(&all()), &sandbox(), (&gullible, &|_| {}));
    let has = |what: &str| report.disagreements.iter().any(|one| one.what.iter().any(|said| said.starts_with(what)));
    assert!(has("openat(") && has("not named: "), "{report}\n{:#?}", report.disagreements);
}
