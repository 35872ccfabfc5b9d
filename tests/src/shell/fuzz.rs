//! Compares a judge of lines with bash: of random lines, those that it takes for mere reading are run in a sandbox, and
//! each that does more than read, or starts a program that the judge did not name, is a disagreement.

use super::mutate::Mutator;
use super::sandbox::Sandbox;
use super::trace::{Exec, Seen};
use std::collections::HashSet;
use std::hash::{DefaultHasher, Hash as _, Hasher as _};
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Mutex, PoisonError};
use std::thread;

/// Lines in one sandbox.
const BATCH: usize = 300;
/// Programs that are scripts or start a helper of their own, each with those.
const HELPERS: [(&str, &[&str]); 12] = [
    ("diff3", &["diff"]),
    ("dpkg", &["dpkg-query"]),
    ("egrep", &["grep"]),
    ("fgrep", &["grep"]),
    ("gunzip", &["gzip"]),
    ("npm", &["node"]),
    ("sdiff", &["diff"]),
    ("tar", &["bzip2", "compress", "gzip", "lzip", "lzma", "lzop", "xz", "zstd"]),
    ("xargs", &["echo"]),
    ("yq", &["jq"]),
    ("zcat", &["gzip"]),
    ("zgrep", &["grep", "gzip", "sed"]),
];
/// Programs whose reading is to ask a server, the one that the user has set for them.
const ASKING: [&str; 1] = ["kubectl"];
/// Programs that add words to those of a command that they run.
const ADDING: [&str; 3] = ["xargs", "find", "env"];
/// Where the system's programs are.
const SYSTEM: [&str; 4] = ["/usr/", "/bin/", "/sbin/", "/lib"];

/// What a judge says of a line that it takes for mere reading.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Judged {
    /// The commands' programs, those that they run too.
    pub programs: Vec<String>,
    /// The commands' texts, among them their words without quotes, a blank between two.
    pub texts: Vec<String>,
    /// Last parts of the paths that the commands use.
    pub files: Vec<String>,
    /// Whether a command may use files that are not named, or any below a folder.
    pub any_file: bool,
}

/// What a judge of lines is: `None` for a line that it would have asked for.
pub type Judge<'a> = &'a (dyn Fn(&str) -> Option<Judged> + Sync);

/// How much is tried.
#[derive(Debug, Clone, Copy)]
pub struct Plan {
    /// Lines that are made.
    pub lines: u64,
    /// What they depend on.
    pub seed: u64,
    /// Sandboxes at one time.
    pub threads: usize,
}

/// What came of it.
#[derive(Debug, Default)]
pub struct Report {
    /// Lines that were made.
    pub generated: u64,
    /// Those that the judge took for mere reading.
    pub read_only: u64,
    /// Those of them that were run: each one once.
    pub run: u64,
    /// Those that were stopped since they took too long.
    pub late: u64,
    /// What the judge was wrong about.
    pub disagreements: Vec<Disagreement>,
}

/// A line that does more than the judge said.
#[derive(Debug, Clone)]
pub struct Disagreement {
    /// The line.
    pub line: String,
    /// What it did.
    pub what: Vec<String>,
}

/// Tries lines. `tell` gets each disagreement as it is found, and how far it is from time to time.
#[must_use]
pub fn compare(
    plan: Plan,
    mutator: &Mutator,
    sandbox: &Sandbox,
    (judge, tell): (Judge<'_>, &(dyn Fn(&str) + Sync)),
) -> Report {
    let next = AtomicU64::new(0);
    let seen = Mutex::new(HashSet::new());
    let report = Mutex::new(Report::default());
    thread::scope(|scope| {
        for _ in 0..plan.threads.max(1) {
            scope.spawn(|| {
                loop {
                    let batch = gather(plan, mutator, judge, &next, &seen);
                    let more = batch.generated > 0;
                    let found = try_batch(&batch, sandbox);
                    for disagreement in &found.disagreements {
                        tell(&format!("{:?}\n    {}", disagreement.line, disagreement.what.join("\n    ")));
                    }
                    let mut report = report.lock().unwrap_or_else(PoisonError::into_inner);
                    report.add(found);
                    if !more {
                        break;
                    }
                    tell(&report.to_string());
                }
            });
        }
    });
    report.into_inner().unwrap_or_else(PoisonError::into_inner)
}

/// Lines for one sandbox.
#[derive(Default)]
struct Batch {
    generated: u64,
    read_only: u64,
    lines: Vec<String>,
    judged: Vec<Judged>,
}

fn gather(plan: Plan, mutator: &Mutator, judge: Judge<'_>, next: &AtomicU64, seen: &Mutex<HashSet<u64>>) -> Batch {
    let mut batch = Batch::default();
    while batch.lines.len() < BATCH {
        let number = next.fetch_add(1, Ordering::Relaxed);
        if number >= plan.lines {
            break;
        }
        batch.generated += 1;
        let line = mutator.line(plan.seed, number);
        if let Some(judged) = judge(&line) {
            batch.read_only += 1;
            if seen.lock().unwrap_or_else(PoisonError::into_inner).insert(hash(&line)) {
                batch.lines.push(line);
                batch.judged.push(judged);
            }
        }
    }
    batch
}

fn hash(line: &str) -> u64 {
    let mut hasher = DefaultHasher::new();
    line.hash(&mut hasher);
    hasher.finish()
}

fn try_batch(batch: &Batch, sandbox: &Sandbox) -> Report {
    let mut report = Report { generated: batch.generated, read_only: batch.read_only, ..Report::default() };
    if batch.lines.is_empty() {
        return report;
    }
    for ((line, judged), seen) in batch.lines.iter().zip(&batch.judged).zip(sandbox.run(&batch.lines)) {
        report.run += 1;
        report.late += u64::from(seen.late);
        let what = differences(line, judged, &seen);
        if !what.is_empty() {
            report.disagreements.push(Disagreement { line: line.clone(), what });
        }
    }
    report
}

/// Everything that a line did and was not said to do.
#[must_use]
pub fn differences(line: &str, judged: &Judged, seen: &Seen) -> Vec<String> {
    let asks = judged.programs.iter().any(|program| ASKING.contains(&name_of(program)));
    let is_told = |effect: &&String| !(asks && effect.starts_with("connect("));
    let mut what: Vec<String> = seen.effects.iter().filter(is_told).cloned().collect();
    let secret = |file: &&String| !judged.any_file && !judged.files.contains(file);
    what.extend(seen.secrets.iter().filter(secret).map(|file| format!("not said to use a file {file}")));
    for exec in &seen.execs {
        if !is_named(judged, exec) {
            what.push(format!("not named: {} {:?}", exec.path, exec.argv));
        } else if !is_as_written(line, judged, exec) {
            what.push(format!("other words: {:?}, not one of {:?}", exec.argv, judged.texts));
        }
    }
    what
}

fn name_of(path: &str) -> &str {
    path.rsplit('/').next().unwrap_or(path)
}

fn is_named(judged: &Judged, exec: &Exec) -> bool {
    let name = name_of(&exec.path);
    let is_judged = |wanted: &str| judged.programs.iter().any(|program| name_of(program) == wanted);
    let is_system = SYSTEM.iter().any(|folder| exec.path.starts_with(folder));
    is_system && (is_judged(name) || is_helper(judged, exec))
}

/// Whether it is what one of the line's programs starts by itself.
fn is_helper(judged: &Judged, exec: &Exec) -> bool {
    let is_judged = |wanted: &str| judged.programs.iter().any(|program| name_of(program) == wanted);
    let helps = HELPERS.iter().any(|(of, helpers)| helpers.contains(&name_of(&exec.path)) && is_judged(of));
    helps || (is_judged("git") && exec.path.contains("/git-core/"))
}

/// Whether a program got the words that were told. Only told of lines in which nothing is expanded.
fn is_as_written(line: &str, judged: &Judged, exec: &Exec) -> bool {
    let expands = |c: char| "$`*?[{~!<@+".contains(c);
    let Some(argv) = &exec.argv else { return true };
    let adds = judged.programs.iter().any(|program| ADDING.contains(&name_of(program)));
    if line.contains(expands) || line.contains(">(") || adds || is_helper(judged, exec) {
        return true;
    }
    judged.texts.contains(&argv.join(" "))
}

impl Report {
    fn add(&mut self, other: Self) {
        self.generated += other.generated;
        self.read_only += other.read_only;
        self.run += other.run;
        self.late += other.late;
        self.disagreements.extend(other.disagreements);
    }
}

impl std::fmt::Display for Report {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        let Self { generated, read_only, run, late, disagreements } = self;
        let count = disagreements.len();
        write!(
            f,
            "{generated} lines made, {read_only} judged to read only, {run} different ones run, {late} of them stopped \
             for time, {count} disagreements"
        )
    }
}
