//! Commands that agentd runs for itself, such as one that prints a key: in a group of their own, with a time limit, and
//! without anything of a session. Called through `daemon`, which hands this to whoever needs it.

use super::launch::Program;
use super::registry::Processes;
use super::tree;
use crate::base::environment::Environment;
use std::collections::BTreeMap;
use std::ffi::OsString;
use std::io;
use std::os::fd::OwnedFd;
use std::path::Path;
use std::sync::Arc;
use std::time::Duration;
use tokio::io::AsyncReadExt as _;
use tokio::net::unix::pipe::Receiver;

/// What is read of its output.
const MAX_BYTES: u64 = 64 << 10;
/// What agentd was told by whoever started it is not for its children.
const OWN: [&str; 4] = ["AGENTD_", "LISTEN_", "NOTIFY_SOCKET", "WATCHDOG_"];

impl Processes {
    /// Runs a shell command with agentd's own variables and gives what it prints on standard output.
    ///
    /// # Errors
    /// Why it gave nothing, in words that follow the command's name. Nothing of its output is in them.
    pub async fn run_helper(
        self: &Arc<Self>,
        command: &str,
        own: &Environment,
        limit: Duration,
    ) -> Result<String, String> {
        let failed = |error: io::Error| format!("it can't be run ({error})");
        let (read, write) = io::pipe().map_err(failed)?;
        let variables: BTreeMap<String, String> = own
            .iter()
            .filter(|(name, value)| !OWN.iter().any(|start| name.starts_with(start)) && !value.contains('\0'))
            .map(|(name, value)| (name.to_owned(), value.to_owned()))
            .collect();
        // What it says on standard error is for nobody, and may name what it read.
        let script = format!("exec 2>/dev/null\n{command}");
        let mut child = self
            .launch(Program {
                argv: &["/bin/sh", "-c", &script].map(OsString::from),
                folder: Path::new("/"),
                variables: &variables,
                input: None,
                output: Some(OwnedFd::from(write)),
            })
            .map_err(failed)?;
        let mut group = Group(Some(child.pid()));
        let mut printed = Vec::new();
        let work = async {
            let output = Receiver::from_owned_fd(OwnedFd::from(read))?;
            output.take(MAX_BYTES.saturating_add(1)).read_to_end(&mut printed).await?;
            child.wait().await
        };
        let status = match tokio::time::timeout(limit, work).await {
            Ok(ended) => ended.map_err(failed)?,
            Err(_) => return Err(format!("it took longer than {} s", limit.as_secs())),
        };
        // Its id is free now.
        group.0 = None;
        if printed.len() as u64 > MAX_BYTES {
            // It may have ended by that nobody read on.
            return Err(format!("it printed more than {MAX_BYTES} bytes"));
        }
        match status.code() {
            Some(0) => String::from_utf8(printed).map_err(|_| "it printed what is not UTF-8".to_owned()),
            Some(code) => Err(format!("it ended with code {code}")),
            None => Err("it was killed by a signal".to_owned()),
        }
    }
}

/// The group of a command that runs; whoever stops waiting for it ends it.
struct Group(Option<u32>);

impl Drop for Group {
    fn drop(&mut self) {
        if let Some(root) = self.0 {
            tree::kill_group(root);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn own() -> Environment {
        let variables =
            [("PATH", "/usr/bin:/bin"), ("CANARY", "own"), ("AGENTD_SOCKET", "/s"), ("NOTIFY_SOCKET", "/n")];
        Environment::from(BTreeMap::from(variables.map(|(name, value)| (name.to_owned(), value.to_owned()))))
    }

    #[tokio::test]
    async fn a_command_gives_what_it_prints_or_why_not() {
        let processes = Arc::new(Processes::default());
        for (command, expected) in [
            ("echo key; echo noise >&2", Ok("key\n")),
            ("echo $CANARY-$AGENTD_SOCKET-$NOTIFY_SOCKET", Ok("own--\n")),
            ("pwd; cat", Ok("/\n")),
            ("echo canary; exit 3", Err("it ended with code 3")),
            ("kill -9 $$", Err("killed by a signal")),
            ("head -c 70000 /dev/zero", Err("more than 65536 bytes")),
            ("printf '\\377'", Err("not UTF-8")),
        ] {
            let answer = processes.run_helper(command, &own(), Duration::from_secs(60)).await;
            match (&answer, expected) {
                (Ok(printed), Ok(expected)) => assert_eq!(printed, expected, "{command}"),
                (Err(why), Err(expected)) => assert!(why.contains(expected), "{command}: {why}"),
                _ => panic!("{command}: {answer:?}"),
            }
        }
    }

    #[tokio::test]
    async fn a_command_that_takes_too_long_is_ended_with_what_it_started() {
        let processes = Arc::new(Processes::default());
        let dir = tempfile::tempdir().unwrap();
        let (pids, pipe) = (dir.path().join("pids"), dir.path().join("pipe"));
        nix::unistd::mkfifo(&pipe, nix::sys::stat::Mode::S_IRWXU).unwrap();
        let (pids_shown, pipe_shown) = (pids.display(), pipe.display());
        // Both wait for a pipe that nobody writes to.
        let command = format!("cat {pipe_shown} & echo $! $$ > {pids_shown}; cat {pipe_shown}");
        let limit = Duration::from_millis(300);
        let error = processes.run_helper(&command, &own(), limit).await.unwrap_err();
        assert!(error.contains("took longer"), "{error}");
        let text = std::fs::read_to_string(&pids).unwrap();
        for pid in text.split_whitespace() {
            let ended = || match std::fs::read_to_string(format!("/proc/{pid}/stat")) {
                Ok(stat) => stat.contains(") Z "),
                Err(_) => true,
            };
            while !ended() {
                tokio::task::yield_now().await;
            }
        }
    }
}
