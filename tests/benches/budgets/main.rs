//! The benchmark of the budgets: real agentd and agentctl, a scripted model over real HTTP, figures and
//! ratios on standard output. Run by `cargo bench -p tests --bench budgets [-- ROW…]` after
//! `cargo build --release --workspace`; BENCHMARKS.md tells what each row is. It asserts no timing.

// A benchmark reads the clock, starts processes, and says what it found on the terminal.
#![allow(clippy::disallowed_methods)]

mod bare_loop;
mod bare_post;
mod figures;
mod history;
mod idle;
mod memory;
mod one_shot;
mod output;
mod overlap;
mod proc_fs;
mod round_trip;
mod sink;
mod throughput;

use figures::Report;

/// What measures a row.
type Measure = fn(&mut Report);

/// Each row by its name.
const ROWS: &[(&str, Measure)] = &[
    ("round-trip", round_trip::measure),
    ("overlap", overlap::measure),
    ("throughput", throughput::measure),
    ("history", history::measure),
    ("one-shot", one_shot::measure),
    ("memory", memory::measure),
    ("output", output::measure),
    ("idle", idle::measure),
];

fn main() {
    let arguments: Vec<String> = std::env::args().skip(1).collect();
    match &arguments[..] {
        [first, rest @ ..] if first == bare_loop::ARGUMENT => return bare_loop::run(rest),
        [first, rest @ ..] if first == bare_post::ARGUMENT => return bare_post::run(rest),
        _ => {}
    }
    // Cargo says so when it benches; when it tests, there is nothing to do.
    if !arguments.iter().any(|argument| argument == "--bench") {
        println!("run it with `cargo bench -p tests --bench budgets`");
        return;
    }
    let wanted: Vec<&String> = arguments.iter().filter(|argument| !argument.starts_with('-')).collect();
    let mut report = Report::default();
    println!("load before: {}", proc_fs::load());
    for (name, measure) in ROWS {
        if wanted.is_empty() || wanted.iter().any(|wanted| wanted == name) {
            println!("measuring {name} …");
            measure(&mut report);
        }
    }
    println!("load after: {}\n\n{report}", proc_fs::load());
}
