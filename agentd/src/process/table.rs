//! The process table as `/proc` shows it. Called by `tree`, `orphans` and `registry`. Only reads.

use std::path::Path;

/// Clock ticks a second in `/proc`: fixed by the kernel's interface to user space.
pub(super) const TICKS_PER_SECOND: u64 = 100;

/// One process.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct Process {
    pub pid: u32,
    pub ppid: u32,
    pub pgid: u32,
    pub session: u32,
    /// Whether it has ended and only waits to be reaped.
    pub zombie: bool,
    /// User and system time, in ticks.
    pub cpu_ticks: u64,
    /// Start, in ticks since boot.
    pub start_ticks: u64,
}

/// All processes that can be seen.
pub(super) fn snapshot() -> Vec<Process> {
    let Ok(entries) = std::fs::read_dir("/proc") else { return Vec::new() };
    entries
        .filter_map(|entry| entry.ok()?.file_name().to_str()?.parse().ok())
        .filter_map(|pid: u32| parse_stat(&std::fs::read_to_string(format!("/proc/{pid}/stat")).ok()?))
        .collect()
}

/// One process, if it is there.
pub(super) fn process(pid: u32) -> Option<Process> {
    parse_stat(&std::fs::read_to_string(format!("/proc/{pid}/stat")).ok()?)
}

/// The value of a variable that a process was started with. Unreadable counts as absent.
pub(super) fn variable(pid: u32, name: &str) -> Option<String> {
    let environ = std::fs::read(format!("/proc/{pid}/environ")).ok()?;
    let entries = environ.split(|byte| *byte == 0).filter_map(|entry| entry.strip_prefix(name.as_bytes()));
    entries.filter_map(|rest| rest.strip_prefix(b"=")).map(|value| String::from_utf8_lossy(value).into_owned()).next()
}

/// The line of `/proc/PID/stat`. The name in brackets may itself hold brackets and blanks, so fields are
/// counted from the last closing one.
fn parse_stat(line: &str) -> Option<Process> {
    let pid = line.split_once(" (")?.0.parse().ok()?;
    let fields: Vec<&str> = line.rsplit_once(") ")?.1.split_ascii_whitespace().collect();
    let number = |at: usize| fields.get(at).and_then(|field| field.parse::<u64>().ok());
    let id = |at: usize| number(at).and_then(|value| u32::try_from(value).ok());
    Some(Process {
        pid,
        ppid: id(1)?,
        pgid: id(2)?,
        session: id(3)?,
        zombie: matches!(*fields.first()?, "Z" | "X" | "x"),
        cpu_ticks: number(11)? + number(12)?,
        start_ticks: number(19)?,
    })
}

/// Whether a process was started with all these `NAME=value` variables. Unreadable counts as no.
pub(super) fn has_variables(pid: u32, variables: &[String]) -> bool {
    let Ok(environ) = std::fs::read(format!("/proc/{pid}/environ")) else { return false };
    variables.iter().all(|variable| environ.split(|byte| *byte == 0).any(|entry| entry == variable.as_bytes()))
}

/// Whether a process has this file as its standard output or error.
pub(super) fn writes_to(pid: u32, file: &Path) -> bool {
    [1, 2].iter().any(|fd| std::fs::read_link(format!("/proc/{pid}/fd/{fd}")).is_ok_and(|target| target == file))
}

/// The command line, for people.
pub(super) fn command_line(pid: u32) -> String {
    let bytes = std::fs::read(format!("/proc/{pid}/cmdline")).unwrap_or_default();
    String::from_utf8_lossy(&bytes).trim_end_matches('\0').replace('\0', " ")
}

/// Resident memory in bytes.
pub(super) fn resident_bytes(pid: u32) -> u64 {
    let status = std::fs::read_to_string(format!("/proc/{pid}/status")).unwrap_or_default();
    status
        .lines()
        .find_map(|line| line.strip_prefix("VmRSS:")?.trim().strip_suffix("kB")?.trim().parse::<u64>().ok())
        .map_or(0, |kib| kib * 1024)
}

/// When the machine started, in seconds since 1970.
pub(super) fn boot_time() -> u64 {
    let stat = std::fs::read_to_string("/proc/stat").unwrap_or_default();
    stat.lines().find_map(|line| line.strip_prefix("btime ")?.trim().parse().ok()).unwrap_or(0)
}

/// The children of this process, ended ones included.
pub(super) fn own_children() -> Vec<u32> {
    let mut children = Vec::new();
    let Ok(tasks) = std::fs::read_dir("/proc/self/task") else { return children };
    for task in tasks.flatten() {
        match std::fs::read_to_string(task.path().join("children")) {
            Ok(list) => children.extend(list.split_ascii_whitespace().filter_map(|pid| pid.parse::<u32>().ok())),
            Err(error) if error.kind() == std::io::ErrorKind::NotFound && task.path().exists() => {
                // A kernel without CONFIG_PROC_CHILDREN.
                let own = std::process::id();
                return snapshot().iter().filter(|process| process.ppid == own).map(|process| process.pid).collect();
            }
            Err(_) => {}
        }
    }
    children
}

/// The children that came to this process as orphans, ended ones included, and perhaps some of its own: the kernel
/// gives orphans to the first thread that lives, which is the main one.
pub(super) fn adopted_children() -> Vec<u32> {
    match std::fs::read_to_string(format!("/proc/self/task/{}/children", std::process::id())) {
        Ok(list) => list.split_ascii_whitespace().filter_map(|pid| pid.parse().ok()).collect(),
        Err(_) => own_children(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_name_with_brackets_and_blanks_does_not_shift_the_fields() {
        let line = "42 (a) b (c) S 7 42 41 0 -1 4194560 1 0 0 0 30 12 0 0 20 0 1 0 9000 8192 100 1 2 3";
        let process = parse_stat(line).unwrap();
        assert_eq!(
            process,
            Process { pid: 42, ppid: 7, pgid: 42, session: 41, zombie: false, cpu_ticks: 42, start_ticks: 9000 }
        );
    }

    #[test]
    fn this_process_is_in_the_table() {
        let own = std::process::id();
        assert!(snapshot().iter().any(|process| process.pid == own && !process.zombie));
        assert!(resident_bytes(own) > 0);
        assert!(!command_line(own).is_empty());
    }
}
