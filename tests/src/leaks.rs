//! What must not be there when a test is over: processes of its home, stray files in it.

use nix::sys::signal::{Signal, kill};
use nix::unistd::Pid;
use std::fmt;
use std::fs;
use std::path::Path;

/// A process that belongs to a home.
#[derive(Debug, Clone)]
pub struct Process {
    /// Its id.
    pub pid: i32,
    /// Its command line.
    pub command: String,
}

impl Process {
    pub(crate) fn kill(&self) {
        // It may be gone by now.
        let _ = kill(Pid::from_raw(self.pid), Signal::SIGKILL);
    }
}

impl fmt::Display for Process {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{} {}", self.pid, self.command)
    }
}

/// Every process whose environment, arguments or folder name the home; not the test itself, no zombies.
pub(crate) fn processes_of(home: &Path) -> Vec<Process> {
    let own = std::process::id();
    let entries = fs::read_dir("/proc").expect("/proc is there").filter_map(Result::ok);
    let pids = entries.filter_map(|entry| entry.file_name().to_str()?.parse::<u32>().ok()).filter(|pid| *pid != own);
    pids.filter_map(|pid| belongs(pid, home)).collect()
}

fn belongs(pid: u32, home: &Path) -> Option<Process> {
    let proc = Path::new("/proc").join(pid.to_string());
    // Without a final slash, so that the folder itself counts too.
    let needle = home.to_str()?.trim_end_matches('/').as_bytes();
    let holds = |bytes: &[u8]| bytes.windows(needle.len()).any(|window| window == needle);
    let command = fs::read(proc.join("cmdline")).ok()?;
    let environ = fs::read(proc.join("environ")).unwrap_or_default();
    let cwd = fs::read_link(proc.join("cwd")).unwrap_or_default();
    // A zombie has an empty command line.
    let named = !command.is_empty() && (holds(&command) || holds(&environ) || cwd.starts_with(home));
    let command = String::from_utf8_lossy(&command).replace('\0', " ");
    named.then(|| Process { pid: pid.cast_signed(), command: command.trim_end().to_owned() })
}

/// Files that no test expects: anything in `home` and `tmp`, half-written ones in `state` and `work`.
pub(crate) fn stray_files(root: &Path) -> Vec<String> {
    let mut strays = Vec::new();
    for folder in ["home", "tmp"] {
        walk(&root.join(folder), &mut |path| strays.push(format!("stray file: {}", path.display())));
    }
    for folder in ["state", "work"] {
        walk(&root.join(folder), &mut |path| {
            let name = path.file_name().unwrap_or_default().to_string_lossy();
            if name.contains(".tmp") || name.contains(".agentd-") {
                strays.push(format!("half-written file: {}", path.display()));
            }
        });
    }
    strays
}

/// Calls `visit` for each file below a folder.
fn walk(folder: &Path, visit: &mut dyn FnMut(&Path)) {
    for entry in fs::read_dir(folder).into_iter().flatten().filter_map(Result::ok) {
        if entry.file_type().is_ok_and(|kind| kind.is_dir()) {
            walk(&entry.path(), visit);
        } else {
            visit(&entry.path());
        }
    }
}
