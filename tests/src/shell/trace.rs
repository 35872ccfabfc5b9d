//! What `strace` wrote down, read back: for each line that the runner ran, the programs that were started, and
//! everything that is not mere reading.

use super::sandbox::SECRETS;

/// What a line did.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Seen {
    /// Programs that were started, or tried, in order; without the shell that runs the line.
    pub execs: Vec<Exec>,
    /// Calls that change something or reach out, as `strace` shows them.
    pub effects: Vec<String>,
    /// Names of files with secrets that were opened to be read.
    pub secrets: Vec<String>,
    /// Whether it was stopped since it took too long.
    pub late: bool,
}

/// A program that was started, or tried.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Exec {
    /// Its file.
    pub path: String,
    /// Its words; `None` if not all of them are shown.
    pub argv: Option<Vec<String>>,
}

/// How the shell of a line is started.
const SHELL: &str = "execve(\"/bin/bash\", [\"/bin/bash\", \"-c\", ";
/// Files that may be opened for writing: nothing is kept in them.
const SINKS: [&str; 6] = ["/dev/null", "/dev/tty", "/dev/stdout", "/dev/stderr", "/proc/self/fd/1", "/proc/self/fd/2"];
/// Files that a program makes for itself and removes again: a here-document that is larger than a pipe, what sort can't
/// hold in memory, and what tac reads from a pipe.
const HERE_DOCUMENT: &str = "/tmp/sh-thd.";
const OWN_FILES: [&str; 2] = ["\"/tmp/sort", "\"/tmp/tac"];
/// The most that is kept of what a line did.
const MAX_EFFECTS: usize = 8;
/// Sockets of this machine that answer questions about users and containers.
const ANSWERING: [&str; 5] =
    ["/var/run/nscd/", "/run/nscd/", "/run/systemd/userdb/", "/var/run/docker.sock", "/run/docker.sock"];

/// Reads a trace of `count` lines.
///
/// # Panics
/// If it does not show that each of them was run.
#[must_use]
pub fn parse(trace: &str, count: usize) -> Vec<Seen> {
    let mut reader = Reader::default();
    for (pid, call) in trace.lines().filter_map(|line| line.split_once(' ')) {
        let call = call.trim_start();
        if !["<...", "+++", "---"].iter().any(|other| call.starts_with(other)) {
            reader.take(pid, call);
        }
    }
    let Reader { seen, ended, .. } = reader;
    assert!(ended && seen.len() == count, "{} of {count} lines were run", seen.len());
    seen
}

/// Where the reading of a trace is.
#[derive(Default)]
struct Reader<'a> {
    seen: Vec<Seen>,
    runner: Option<&'a str>,
    ended: bool,
    /// Whether the shell of the current line is there.
    shell_started: bool,
    /// Whether that shell has a file for a here-document.
    has_document: bool,
    /// Processes of `lsof`: each ends the helper of its own that it starts.
    helped: Vec<&'a str>,
}

impl<'a> Reader<'a> {
    fn take(&mut self, pid: &'a str, call: &str) {
        match marked(call) {
            Some(("line", number)) => {
                assert_eq!(number, self.seen.len(), "the lines are run in order");
                self.runner = Some(pid);
                (self.shell_started, self.has_document) = (false, false);
                self.seen.push(Seen::default());
            }
            Some(("late", _)) => self.seen.iter_mut().last().into_iter().for_each(|seen| seen.late = true),
            Some(("end", _)) => self.ended = true,
            _ if self.runner == Some(pid) => {}
            _ if call.starts_with("kill(") && call.contains(", SIGINT") && self.helped.contains(&pid) => {}
            _ if self.shell_started => {
                if call.starts_with("execve(\"/usr/bin/lsof\"") {
                    self.helped.push(pid);
                }
                self.note(call, 1);
            }
            _ if call.starts_with(SHELL) => self.shell_started = true,
            // What the line before has left behind.
            _ => self.note(call, 2),
        }
    }

    /// Notes a call of the line that is so many before the end.
    fn note(&mut self, call: &str, back: usize) {
        let line = self.seen.iter_mut().rev().nth(back - 1);
        let (Some(seen), Some((name, arguments))) = (line, call.split_once('(')) else { return };
        if name == "execve" || name == "execveat" {
            seen.execs.push(exec(arguments));
            return;
        }
        if name.starts_with("open")
            && let Some((path, _)) = string(arguments)
        {
            let file = path.rsplit('/').next().unwrap_or_default();
            let is_secret = SECRETS.iter().any(|secret| secret.rsplit('/').next() == Some(file));
            seen.secrets.extend(is_secret.then(|| file.to_owned()));
        }
        let is_closed =
            self.has_document && name == "fchmod" && [", 0400)", ", 0600)"].iter().any(|mode| arguments.contains(mode));
        if is_closed || (arguments.contains(HERE_DOCUMENT) && ["open", "openat", "unlink"].contains(&name)) {
            self.has_document = true;
        } else if seen.effects.len() < MAX_EFFECTS && !is_harmless(name, arguments) {
            seen.effects.push(call.chars().take(300).collect());
        }
    }
}

/// What the runner says of its place: a word and a number.
fn marked(call: &str) -> Option<(&str, usize)> {
    let (_, name) = call.strip_prefix("openat(")?.split_once("\"/.")?;
    let (what, number) = name.split('"').next()?.split_once('-')?;
    Some((what, number.parse().ok()?))
}

fn exec(arguments: &str) -> Exec {
    let Some((path, rest)) = string(arguments) else { return Exec { path: arguments.to_owned(), argv: None } };
    Exec { path, argv: words(rest) }
}

/// The strings of `, ["a", "b"], …`.
fn words(arguments: &str) -> Option<Vec<String>> {
    let mut rest = arguments.strip_prefix(", [")?;
    let mut words = Vec::new();
    while !rest.starts_with(']') {
        let (word, after) = string(rest)?;
        words.push(word);
        rest = after.strip_prefix(", ").unwrap_or(after);
    }
    Some(words)
}

fn is_harmless(name: &str, arguments: &str) -> bool {
    let is_own = OWN_FILES.iter().any(|file| arguments.contains(file)) && !arguments.contains("/..");
    match name {
        "openat" | "unlink" | "unlinkat" if is_own => true,
        // What it did is not known any more, since the process was killed at that moment.
        "???" => true,
        name if name.starts_with("syscall_0xffff") => true,
        "open" | "openat" | "openat2" => {
            let reads = |flags: &str| {
                !["O_WRONLY", "O_RDWR", "O_CREAT", "O_TRUNC", "O_APPEND"].iter().any(|flag| flags.contains(flag))
            };
            match string(arguments) {
                Some((path, flags)) => reads(flags) || is_sink(&path),
                // The names of many files taken for one, which is too long for a name.
                None => arguments.rsplit_once("\"...").is_some_and(|(_, flags)| reads(flags)),
            }
        }
        "connect" | "sendto" | "sendmsg" | "bind" => is_harmless_talk(arguments),
        // A look whether there is such a process, and a program that ends by the signal that it had caught.
        "kill" | "tkill" => {
            arguments.contains(", 0)")
                || arguments.contains(", SIGPIPE)")
                || arguments.contains(", SIGPIPE <unfinished")
                // Of a process that ends just then strace shows the runner's own call, by which it ends.
                || (arguments.starts_with('-') && arguments.contains(", SIGKILL)") && arguments.ends_with("= ?"))
        }
        _ => false,
    }
}

fn is_sink(path: &str) -> bool {
    let number = path.strip_prefix("/dev/fd/").is_some_and(|n| n.bytes().all(|byte| byte.is_ascii_digit()));
    SINKS.contains(&path) || number
}

/// Talk with the kernel that only asks, and with what answers questions on this machine.
fn is_harmless_talk(arguments: &str) -> bool {
    if arguments.contains("AF_INET") {
        return false;
    }
    if arguments.contains("AF_UNIX") {
        return ANSWERING.iter().any(|socket| arguments.contains(socket));
    }
    !["RTM_NEW", "RTM_SET", "RTM_DEL", "SOCK_DESTROY"].iter().any(|order| arguments.contains(order))
}

/// The first string of C in a text, and what is after it. `None` if it was cut.
fn string(text: &str) -> Option<(String, &str)> {
    let text = &text[text.find('"')? + 1..];
    let mut bytes = Vec::new();
    let mut rest = text.as_bytes();
    loop {
        match rest {
            [b'"', after @ ..] => {
                let after = &text[text.len() - after.len()..];
                let whole = !after.starts_with("...");
                return whole.then(|| (String::from_utf8_lossy(&bytes).into_owned(), after));
            }
            [b'\\', escape, after @ ..] => rest = escaped(*escape, after, &mut bytes),
            [byte, after @ ..] => {
                bytes.push(*byte);
                rest = after;
            }
            [] => return None,
        }
    }
}

fn escaped<'a>(escape: u8, after: &'a [u8], bytes: &mut Vec<u8>) -> &'a [u8] {
    let simple = match escape {
        b'n' => b'\n',
        b't' => b'\t',
        b'r' => b'\r',
        b'v' => 0x0b,
        b'f' => 0x0c,
        b'0'..=b'7' => {
            let more = after.iter().take(2).take_while(|byte| (b'0'..=b'7').contains(byte)).count();
            let digits = std::iter::once(&escape).chain(&after[..more]);
            bytes.push(digits.fold(0_u8, |value, digit| value.wrapping_mul(8).wrapping_add(digit - b'0')));
            return &after[more..];
        }
        other => other,
    };
    bytes.push(simple);
    after
}

#[cfg(test)]
mod tests {
    use super::*;

    const TRACE: &str = r#"10 execve("/usr/bin/unshare", ["unshare"], 0x7f /* 3 vars */) = 0
11 mkdir("usr", 0777) = 0
12 openat(AT_FDCWD, "/.line-0", O_RDONLY|O_CLOEXEC) = -1 ENOENT (No such file or directory)
12 openat(AT_FDCWD, "/dev/null", O_RDONLY|O_CLOEXEC) = 5
13 execve("/bin/bash", ["/bin/bash", "-c", "ls"], 0x7f /* 3 vars */) = 0
13 openat(AT_FDCWD, "/lib/x", O_RDONLY|O_CLOEXEC) = 3
14 execve("/usr/bin/ls", ["ls", "a\"b\n\303\244\1", "c"], 0x7f /* 3 vars */ <unfinished ...>
13 openat(AT_FDCWD, "/dev/null", O_WRONLY|O_CREAT|O_TRUNC, 0666) = 3
14 <... execve resumed>) = 0
12 openat(AT_FDCWD, "/.line-1", O_RDONLY|O_CLOEXEC) = -1 ENOENT (No such file or directory)
14 execve("/usr/bin/wc", ["wc"], 0x7f /* 3 vars */) = 0
15 execve("/bin/bash", ["/bin/bash", "-c", "x"], 0x7f /* 3 vars */) = 0
15 openat(AT_FDCWD, "pwn", O_WRONLY|O_CREAT|O_TRUNC, 0666 <unfinished ...>
15 openat(AT_FDCWD, "a./b./c"..., O_RDONLY|O_DIRECTORY) = -1 ENAMETOOLONG (File name too long)
15 openat(AT_FDCWD, "a./b./c"..., O_WRONLY|O_CREAT, 0666) = -1 ENAMETOOLONG (File name too long)
15 openat(AT_FDCWD, "sub/.env", O_RDONLY) = -1 ENOENT (No such file or directory)
15 connect(3, {sa_family=AF_INET, sin_port=htons(80)}, 16) = -1 ENETUNREACH (Network is unreachable)
15 sendto(3, [{nlmsg_len=40, nlmsg_type=RTM_GETLINK}], 40, 0, NULL, 0) = 40
15 kill(7, SIGTERM) = 0
17 execve("/usr/bin/lsof", ["lsof"], 0x7f /* 3 vars */) = 0
17 kill(8, SIGINT) = 0
15 unlinkat(AT_FDCWD, "x", 0) = -1 ENOENT (No such file or directory)
16 execve("/usr/bin/y", ["y", "zz"...], 0x7f /* 3 vars */) = 0
12 openat(AT_FDCWD, "/.late-1", O_RDONLY|O_CLOEXEC) = -1 ENOENT (No such file or directory)
12 openat(AT_FDCWD, "/.end-0", O_RDONLY|O_CLOEXEC) = -1 ENOENT (No such file or directory)
"#;

    #[test]
    fn what_each_line_did_is_told_apart() {
        let seen = parse(TRACE, 2);
        let words = ["ls", "a\"b\n\u{e4}\u{1}", "c"].map(str::to_owned).to_vec();
        let late = Exec { path: "/usr/bin/wc".to_owned(), argv: Some(vec!["wc".to_owned()]) };
        assert_eq!(seen[0].execs, [Exec { path: "/usr/bin/ls".to_owned(), argv: Some(words) }, late]);
        assert!(seen[0].effects.is_empty() && !seen[0].late, "{seen:?}");
        let lsof = Exec { path: "/usr/bin/lsof".to_owned(), argv: Some(vec!["lsof".to_owned()]) };
        assert_eq!(seen[1].execs, [lsof, Exec { path: "/usr/bin/y".to_owned(), argv: None }]);
        assert!(seen[1].late);
        assert_eq!((seen[0].secrets.len(), seen[1].secrets.as_slice()), (0, &[".env".to_owned()][..]));
        let names: Vec<&str> = seen[1].effects.iter().filter_map(|call| call.split('(').next()).collect();
        assert_eq!(names, ["openat", "openat", "connect", "kill", "unlinkat"]);
    }

    #[test]
    #[should_panic(expected = "1 of 2 lines were run")]
    fn a_line_that_was_not_run_is_missed() {
        let cut = TRACE.find("12 openat(AT_FDCWD, \"/.line-1\"").unwrap();
        let _ = parse(&format!("{}12 openat(AT_FDCWD, \"/.end-0\", O_RDONLY) = -1", &TRACE[..cut]), 2);
    }
}
