//! How long the analysis of a shell line takes: over the corpus, and over lines that want to be slow. `cargo bench -p
//! tests --bench shell_analysis`. Asserts no timing; BENCHMARKS.md tells what the rows are.

// A benchmark reads the clock and says on the terminal what it found.
#![allow(clippy::disallowed_methods)]

use agentd::shell::{World, analyse};
use std::hint::black_box;
use std::time::{Duration, Instant};
use tests::shell::adversarial;
use tests::shell::corpus::all;
use tests::shell::sandbox::{HOME, WORK};

/// Of so many runs the shortest counts: what the line costs, not what else the machine did.
const RUNS: usize = 5;
const P99: Duration = Duration::from_millis(1);
const WORST: Duration = Duration::from_millis(20);

fn main() {
    // Cargo says so when it benches; when it tests, there is nothing to do.
    if !std::env::args().any(|argument| argument == "--bench") {
        println!("run it with `cargo bench -p tests --bench shell_analysis`");
        return;
    }
    println!("| lines | count | p50 µs | p99 µs | worst µs | the worst |\n|---|---|---|---|---|---|");
    let corpus: Vec<(String, String)> = all().into_iter().map(|line| (line.cmd.clone(), line.cmd)).collect();
    let [_, p99, worst] = row("corpus", &corpus);
    let [_, _, slowest] = row("adversarial", &adversarial::lines());
    println!("\ncorpus: p99 under {P99:?}: {}; worst under {WORST:?}: {}", yes(p99 < P99), yes(worst < WORST));
    println!("adversarial: worst under {WORST:?}: {}", yes(slowest < WORST));
}

/// Measures lines and prints the row; p50, p99 and the worst.
fn row(name: &str, lines: &[(String, String)]) -> [Duration; 3] {
    let mut times: Vec<(Duration, &str)> = lines.iter().map(|(name, line)| (time_of(line), name.as_str())).collect();
    times.sort_unstable();
    let at = |percent: usize| times[(times.len() - 1) * percent / 100].0;
    let (worst, slowest) = times[times.len() - 1];
    let found = [at(50), at(99), worst];
    let [p50, p99, worst] = found.map(|time| format!("{:.1}", time.as_secs_f64() * 1e6));
    let slowest: String = slowest.chars().take(60).collect();
    println!("| {name} | {} | {p50} | {p99} | {worst} | {slowest:?} |", times.len());
    found
}

fn time_of(line: &str) -> Duration {
    let runs = (0..RUNS).map(|_| {
        let start = Instant::now();
        black_box(analyse(black_box(line), World { cwd: WORK, home: HOME }));
        start.elapsed()
    });
    runs.min().unwrap_or_default()
}

fn yes(is: bool) -> &'static str {
    if is { "yes" } else { "no" }
}
