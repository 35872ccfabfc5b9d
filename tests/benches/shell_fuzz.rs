//! Compares the analysis of shell lines with bash on as many random lines as one likes: `cargo bench -p tests --bench
//! shell_fuzz -- [--lines N] [--seed S] [--threads T]`. Each line that is judged to only read is run in a sandbox under
//! `strace`; the benchmark fails if one does more. BENCHMARKS.md tells what came of it.

// A tool for people says on the terminal what it found.
#![allow(clippy::disallowed_methods)]

#[path = "../tests/shell/judge.rs"]
mod judge;

use std::process::ExitCode;
use tests::shell::corpus::all;
use tests::shell::fuzz::{Plan, compare};
use tests::shell::mutate::Mutator;

fn main() -> ExitCode {
    let arguments: Vec<String> = std::env::args().skip(1).collect();
    // Cargo says so when it benches; when it tests, there is nothing to do.
    if !arguments.iter().any(|argument| argument == "--bench") {
        println!("run it with `cargo bench -p tests --bench shell_fuzz -- --lines 100000`");
        return ExitCode::SUCCESS;
    }
    let number = |name: &str, without: u64| {
        let place = arguments.iter().position(|argument| argument == name);
        let value = place.and_then(|place| arguments.get(place + 1));
        value.map_or(without, |text| text.parse().unwrap_or_else(|_| panic!("{name} {text}: that is no number")))
    };
    let threads = usize::try_from(number("--threads", 2)).unwrap_or(2);
    let plan = Plan { lines: number("--lines", 20_000), seed: number("--seed", 1), threads };
    let report = compare(plan, &Mutator::of(&all()), &judge::sandbox(), (&judge::judge, &|text| println!("{text}")));
    println!("\nseed {}: {report}", plan.seed);
    if report.disagreements.is_empty() { ExitCode::SUCCESS } else { ExitCode::FAILURE }
}
