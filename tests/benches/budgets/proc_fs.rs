//! What the kernel says of a process: CPU, memory, wake-ups. Reads `/proc`; used by every row.

use std::fs;

/// Ticks of the clock that `/proc/PID/stat` counts in, a second.
const TICKS_PER_SECOND: f64 = 100.0;

/// Memory of a process, in KiB.
#[derive(Debug, Clone, Copy)]
pub struct Memory {
    /// What is in memory.
    pub resident: f64,
    /// The same, with shared pages split among those that share them.
    pub proportional: f64,
    /// What would be free again without the process.
    pub private: f64,
}

/// CPU of a process, in milliseconds, to 10 ms.
#[derive(Debug, Clone, Copy)]
pub struct Cpu {
    /// In its own code.
    pub user: f64,
    /// In the kernel for it.
    pub system: f64,
}

/// CPU of a process without its children.
pub fn cpu(pid: u32) -> Cpu {
    let [user, system, ..] = cpu_fields(pid);
    Cpu { user, system }
}

/// CPU of a process and of the children that it has waited for, in milliseconds, to 10 ms.
pub fn cpu_with_children(pid: u32) -> f64 {
    cpu_fields(pid).iter().sum()
}

/// User and system time, and those of the children, in milliseconds.
fn cpu_fields(pid: u32) -> [f64; 4] {
    let stat = read(pid, "stat");
    let fields: Vec<&str> = stat.rsplit(')').next().expect("a name in brackets").split_whitespace().collect();
    // utime, stime, cutime, cstime: fields 14 to 17, of which the first two are cut off.
    [11, 12, 13, 14].map(|at| fields[at].parse::<f64>().expect("a number") * 1000.0 / TICKS_PER_SECOND)
}

/// CPU of a process's live threads in milliseconds, exact.
pub fn cpu_of_threads(pid: u32) -> f64 {
    let spent = |task: &str| {
        let text = fs::read_to_string(format!("/proc/{pid}/task/{task}/schedstat")).unwrap_or_default();
        text.split_whitespace().next().and_then(|nanos| nanos.parse::<f64>().ok()).unwrap_or(0.0)
    };
    tasks(pid).iter().map(|task| spent(task)).sum::<f64>() / 1e6
}

/// How often a process's live threads have gone to sleep: each time is a wake-up.
pub fn sleeps(pid: u32) -> f64 {
    let count = |task: &String| {
        let text = fs::read_to_string(format!("/proc/{pid}/task/{task}/status")).unwrap_or_default();
        field(&text, "voluntary_ctxt_switches:")
    };
    tasks(pid).iter().map(count).sum()
}

/// Memory now.
pub fn memory(pid: u32) -> Memory {
    let text = read(pid, "smaps_rollup");
    let private = field(&text, "Private_Clean:") + field(&text, "Private_Dirty:");
    Memory { resident: field(&text, "Rss:"), proportional: field(&text, "Pss:"), private }
}

/// The most resident memory since `reset_peak`, in KiB.
pub fn peak(pid: u32) -> f64 {
    field(&read(pid, "status"), "VmHWM:")
}

/// Lets the peak begin again from what is resident now.
pub fn reset_peak(pid: u32) {
    fs::write(format!("/proc/{pid}/clear_refs"), "5").expect("one's own child can be reset");
}

/// The load of the machine over one, five and fifteen minutes.
pub fn load() -> String {
    let text = fs::read_to_string("/proc/loadavg").expect("a load");
    text.split_whitespace().take(3).collect::<Vec<_>>().join(" ")
}

fn tasks(pid: u32) -> Vec<String> {
    let entries = fs::read_dir(format!("/proc/{pid}/task")).expect("the process runs").filter_map(Result::ok);
    entries.map(|entry| entry.file_name().to_string_lossy().into_owned()).collect()
}

fn read(pid: u32, name: &str) -> String {
    fs::read_to_string(format!("/proc/{pid}/{name}")).expect("the process runs")
}

fn field(text: &str, name: &str) -> f64 {
    let line = text.lines().find_map(|line| line.strip_prefix(name)).expect("the kernel tells it");
    line.split_whitespace().next().and_then(|number| number.parse().ok()).expect("a number")
}
