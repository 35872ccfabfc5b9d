//! Runs lines where they can do no harm, and tells what each of them did: a file system of their own in which the
//! system's folders can only be read and the repository is a copy, no network, no other processes, and `strace` over
//! all of it. A machine without `strace` or user namespaces is told so by a failure, never by a pass.
//!
//! Each line is run as agentd's executor runs it: by a new `bash -c`, with the executor's variables, no standard input,
//! a pipe for its output.

use super::fixture::Fixture;
use super::trace::{self, Seen};
use crate::programs::fake_program;
use std::collections::BTreeMap;
use std::io::{Read, Write};
use std::path::Path;
use std::process::{Command, Stdio};
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::Duration;
use tempfile::TempDir;

/// Where programs are looked up in a sandbox.
pub const PATH: &str = "/usr/local/bin:/usr/bin:/bin:/usr/sbin:/sbin";
/// The repository's folder in a sandbox.
pub const WORK: &str = "/work";
/// The home folder in a sandbox.
pub const HOME: &str = "/home/ann";

/// Files with secrets in a sandbox.
pub const SECRETS: [&str; 5] =
    ["/work/.env", "/work/etc/shadow", "/etc/shadow", "/home/ann/.ssh/id_rsa", "/home/ann/.aws/credentials"];

/// Calls that change files, reach other machines, or start programs. Those of a name that the kernel does not have
/// are passed over.
const CALLS: &str = "trace=?execve,?execveat,?open,?openat,?openat2,?creat,/^rename,/^unlink,/^mkdir,?rmdir,/^link,\
    /^symlink,/^f?chmod,/^[fl]?chown,?truncate,?ftruncate,?fallocate,/^utime,?utimensat,?futimesat,/^mknod,\
    /^[fl]?setxattr,/^[fl]?removexattr,?connect,?bind,?sendto,?sendmsg,?mount,?umount2,?kill,?tkill,?settimeofday,\
    ?clock_settime,?sethostname,?setdomainname,?reboot,?swapon,?swapoff,?pivot_root,?chroot";

/// Makes the file system of its own and gives it to the runner. `$1` the empty folder for it, `$2` the copy of the
/// repository, `$3` the runner; the rest are the runner's arguments.
const SETUP: &str = r#"
set -e
root=$1 work=$2 runner=$3
shift 3
mount -t tmpfs -o mode=755 tmpfs "$root"
cd "$root"
mkdir usr etc proc dev work home home/ann home/ann/.ssh home/ann/.aws tmp run
echo secret > home/ann/.ssh/id_rsa
echo secret > home/ann/.aws/credentials
for folder in usr etc; do
    mount --bind "/$folder" "$folder"
    mount -o remount,bind,ro,nosuid,nodev "$folder"
done
for name in bin lib lib32 lib64 sbin; do
    if [ -L "/$name" ]; then
        cp -P "/$name" "$name"
    elif [ -d "/$name" ]; then
        mkdir "$name"
        mount --bind "/$name" "$name"
        mount -o remount,bind,ro,nosuid,nodev "$name"
    fi
done
mount -t proc proc proc
for name in null zero full random urandom tty; do
    : > "dev/$name"
    mount --bind "/dev/$name" "dev/$name"
done
ln -s /proc/self/fd dev/fd
ln -s fd/0 dev/stdin
ln -s fd/1 dev/stdout
ln -s fd/2 dev/stderr
mount --bind "$work" work
cp "$runner" runner
ulimit -v 4000000
ulimit -c 0
exec chroot . /runner "$@"
"#;

/// A place to run lines in.
#[derive(Debug)]
pub struct Sandbox {
    fixture: Fixture,
    dir: TempDir,
    variables: BTreeMap<String, String>,
    timeout: Duration,
    count: AtomicU64,
}

impl Sandbox {
    /// One whose lines get these variables, and this long each.
    ///
    /// # Panics
    /// If `strace` or `unshare` is missing: what can't be watched must not count as seen.
    #[must_use]
    pub fn new(variables: BTreeMap<String, String>, timeout: Duration) -> Self {
        for (program, package) in [("strace", "strace"), ("unshare", "util-linux")] {
            let found = Command::new(program).arg("--version").stdout(Stdio::null()).status();
            assert!(found.is_ok(), "{program} is needed to watch what lines do: install the package {package}");
        }
        let dir = tempfile::Builder::new().prefix("agentd-sandbox-").tempdir().expect("a temporary folder");
        Self { fixture: Fixture::new(), dir, variables, timeout, count: AtomicU64::new(0) }
    }

    /// Runs lines after one another in one fresh copy of the repository; what each did, in order.
    ///
    /// # Panics
    /// If the sandbox can't be made, or a line has not been run.
    #[must_use]
    pub fn run<S: AsRef<str>>(&self, lines: &[S]) -> Vec<Seen> {
        let own = self.dir.path().join(self.count.fetch_add(1, Ordering::Relaxed).to_string());
        let (root, trace_file) = (own.join("root"), own.join("trace"));
        std::fs::create_dir_all(&root).expect("a folder in the temporary folder");
        self.fixture.copy_to(&own);
        self.trace(&[&root, &own.join("work"), &trace_file], lines);
        let text = std::fs::read(&trace_file).expect("strace wrote a file");
        let seen = trace::parse(&String::from_utf8_lossy(&text), lines.len());
        std::fs::remove_dir_all(&own).expect("the sandbox can be removed");
        seen
    }

    fn trace<S: AsRef<str>>(&self, [root, work, trace_file]: &[&Path; 3], lines: &[S]) {
        let mut command = Command::new("strace");
        command.args(["-f", "--seccomp-bpf", "-qq", "-s", "20000", "-e", "signal=none", "-e", CALLS, "-o"]);
        command.arg(trace_file);
        command.args(["unshare", "-rmnpf", "--kill-child", "sh", "-c", SETUP, "sh"]);
        command.arg(root).arg(work).arg(fake_program("line-runner"));
        command.arg(self.timeout.as_millis().to_string());
        command.env_clear().envs(&self.variables);
        command.stdin(Stdio::piped()).stdout(Stdio::piped()).stderr(Stdio::piped());
        let mut child = command.spawn().expect("strace starts");
        let mut input = child.stdin.take().expect("its input is a pipe");
        let text: Vec<u8> = lines.iter().flat_map(|line| [line.as_ref().as_bytes(), b"\0"].concat()).collect();
        let (output, errors) = (child.stdout.take(), child.stderr.take());
        let drained = std::thread::spawn(move || output.map(drain));
        let told = std::thread::spawn(move || errors.map(first_bytes).unwrap_or_default());
        // What the runner does not read shows as lines that were not run.
        let _ = input.write_all(&text);
        drop(input);
        let status = child.wait().expect("strace is a child");
        let _ = drained.join();
        let told = told.join().unwrap_or_default();
        assert!(status.success(), "the sandbox ended with {status}; are user namespaces allowed here? {told}");
    }
}

fn drain(mut from: impl Read) {
    let mut block = vec![0; 1 << 16];
    while from.read(&mut block).is_ok_and(|length| length > 0) {}
}

/// What is said first; the rest is read too, so that nobody waits.
fn first_bytes(mut from: impl Read) -> String {
    let mut first = vec![0; 4096];
    let length = from.read(&mut first).unwrap_or_default();
    first.truncate(length);
    drain(from);
    String::from_utf8_lossy(&first).into_owned()
}
