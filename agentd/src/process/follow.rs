//! Follows a command to its end: passes its output on, holds its limits, stops it. Called by `tools`.

use super::shell_words::read_note;
use super::spawn::Running;
use super::tail::{OutputPart, Tail};
use std::io;
use std::path::PathBuf;
use std::process::ExitStatus;
use std::time::Duration;
use tokio::time::{Instant, MissedTickBehavior};
use tokio_util::sync::CancellationToken;

/// How often a running command's output is looked at.
const POLL: Duration = Duration::from_millis(50);
/// A command that has written more is stopped, before it fills the disk.
const MAX_OUTPUT_BYTES: u64 = 5_000_000_000;

/// How long a command may run.
#[derive(Debug, Clone)]
pub struct Limits {
    /// After this it is stopped.
    pub timeout: Duration,
    /// How long it may take to end once it is told to.
    pub grace: Duration,
    /// Fires when it is to stop.
    pub cancel: CancellationToken,
}

/// Why a command ended.
#[derive(Debug)]
pub enum End {
    /// By itself.
    Exited(ExitStatus),
    /// It took too long and was stopped.
    TimedOut,
    /// It was cancelled and was stopped.
    Cancelled,
    /// It wrote too much and was stopped.
    TooMuchOutput,
    /// It can't be told: the system no longer knows the process.
    Lost(io::Error),
}

/// Where a shell stood at its end, elsewhere than where it began.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum LastFolder {
    /// In this folder.
    At(PathBuf),
    /// It can't be told, as in a folder that was removed.
    Unknown,
}

/// A command that has ended.
#[derive(Debug)]
pub struct Finished {
    /// Why.
    pub end: End,
    /// How much it wrote.
    pub total_bytes: u64,
    /// Where the shell stood at its end, if that is elsewhere than where it began.
    pub folder: Option<LastFolder>,
    /// Processes that it left behind on purpose and that go on.
    pub survivors: Vec<u32>,
    /// Processes that could not be stopped.
    pub still_running: Vec<u32>,
}

impl Running {
    /// Follows the command to its end. It has ended when the shell has, whatever still holds its output open.
    ///
    /// # Errors
    /// The output file can't be read.
    pub async fn follow(
        mut self,
        limits: &Limits,
        progress: &(dyn Fn(OutputPart) + Send + Sync),
    ) -> io::Result<Finished> {
        let mut tail = Tail::open(&self.output)?;
        let end = self.until_end(&mut tail, limits, progress).await?;
        let (survivors, still_running) = match end {
            End::Exited(_) => (self.survivors().await, Vec::new()),
            End::TimedOut | End::Cancelled | End::TooMuchOutput | End::Lost(_) => {
                (Vec::new(), self.stop(limits.grace).await)
            }
        };
        if still_running.is_empty() && !matches!(end, End::Exited(_) | End::Lost(_)) {
            // The shell is dead: this only collects it.
            let _ = self.exit().await;
        }
        self.ended = true;
        if let Some(part) = tail.next_part(true)? {
            progress(part);
        }
        let total_bytes = tail.len()?;
        self.processes.leave(self.root, !survivors.is_empty() || !still_running.is_empty());
        Ok(Finished { folder: self.last_folder(), end, total_bytes, survivors, still_running })
    }

    fn last_folder(&self) -> Option<LastFolder> {
        read_note(self.note.as_ref()?).unwrap_or_else(|error| {
            tracing::warn!(%error, "a shell's last folder could not be read");
            Some(LastFolder::Unknown)
        })
    }

    async fn until_end(
        &mut self,
        tail: &mut Tail,
        limits: &Limits,
        progress: &(dyn Fn(OutputPart) + Send + Sync),
    ) -> io::Result<End> {
        let deadline = tokio::time::sleep(limits.timeout);
        tokio::pin!(deadline);
        let mut ticks = tokio::time::interval_at(Instant::now() + POLL, POLL);
        ticks.set_missed_tick_behavior(MissedTickBehavior::Delay);
        loop {
            tokio::select! {
                biased;
                () = limits.cancel.cancelled() => return Ok(End::Cancelled),
                status = self.exit() => return Ok(status.map_or_else(End::Lost, End::Exited)),
                () = &mut deadline => return Ok(End::TimedOut),
                _ = ticks.tick() => {
                    if let Some(part) = tail.next_part(false)? {
                        progress(part);
                    }
                    if tail.len()? > MAX_OUTPUT_BYTES {
                        return Ok(End::TooMuchOutput);
                    }
                }
            }
        }
    }

    /// The processes that the shell left behind. Orphans come to agentd, so where there is none, the table
    /// of processes need not be read.
    async fn survivors(&self) -> Vec<u32> {
        if !self.processes.may_have_orphans() {
            return Vec::new();
        }
        let marks = self.marks.clone();
        let found = tokio::task::spawn_blocking(move || marks.members()).await.unwrap_or_default();
        found.iter().map(|process| process.pid).collect()
    }
}
