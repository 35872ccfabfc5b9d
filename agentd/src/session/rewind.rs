//! `session/rewind`: back to just before a turn, if wanted with the files that file tools have changed since.
//! Part of the actor. The log keeps what was rewound away; it is no part of the conversation any more.

use super::actor::Actor;
use super::log::Room;
use super::turns::storage_failed;
use crate::event::changes::{FileChanges, Restoration};
use crate::store::{CHECKPOINTS_DIR, JournalReader, StoreError};
use crate::tools::{Restored, restore};
use proto::event::{Event, NoticeLevel};
use proto::ids::TurnId;
use proto::methods::SessionRewindResult;
use proto::{ErrorKind, RpcError};
use std::path::PathBuf;

impl Actor {
    /// Goes back. With `files` the actor waits for the disk, so that no turn starts among half-restored files;
    /// nothing runs then, so there is nothing to cancel either.
    pub(super) async fn rewind(&mut self, to: TurnId, files: bool) -> Result<SessionRewindResult, RpcError> {
        self.check_open()?;
        let after_seq = self.check_rewind(&to)?;
        let files = match files {
            true => restore_files(self.log.journal().reader(), self.dir.join(CHECKPOINTS_DIR), after_seq).await?,
            false => Restored::default(),
        };
        // Files first: if agentd dies in between, the same rewind can be asked for again, and finds them restored.
        let rewound = Event::SessionRewound { to_turn_id: to, restored: files.restored.clone() };
        self.log.append(&rewound, Room::Normal).map_err(|error| match files.restored.is_empty() {
            true => storage_failed(error),
            false => {
                let message = format!("the files were restored, but the session was not rewound: {error}; try again");
                RpcError::new(ErrorKind::StorageFailed, message)
            }
        })?;
        // What the model knows of files went with the turns in which it read them.
        self.files.forget();
        if let Some(text) = told(&files.kept) {
            self.append_or_log(&Event::Notice { level: NoticeLevel::Warning, text });
        }
        self.keep_snapshot();
        Ok(SessionRewindResult {
            session: self.log.state().info.clone(),
            restored: files.restored,
            kept: files.kept.into_iter().map(|(path, _)| path).collect(),
        })
    }

    /// The number of the last event before the turn, if the session can go back there.
    fn check_rewind(&self, to: &TurnId) -> Result<u64, RpcError> {
        let state = self.log.state();
        if let Some(turn) = &state.turn {
            let message = format!("turn {} runs: wait for its end or cancel it, then rewind", turn.id);
            return Err(RpcError::new(ErrorKind::SessionBusy, message));
        }
        let Some(mark) = state.turn_mark(to) else {
            let message =
                format!("no turn {to} in this conversation: it never started, or was rewound away; see session/events");
            return Err(RpcError::new(ErrorKind::TurnNotFound, message));
        };
        if !state.queue.is_empty() {
            let message = "prompts wait behind an interrupted turn: go on with turn/resume, or take them back with \
                           turn/cancel, then rewind";
            return Err(RpcError::new(ErrorKind::SessionBusy, message));
        }
        Ok(mark.after_seq)
    }
}

async fn restore_files(reader: JournalReader, checkpoints: PathBuf, after_seq: u64) -> Result<Restored, RpcError> {
    let work = move || Ok(restore(&checkpoints, changed_since(&reader, after_seq)?));
    match tokio::task::spawn_blocking(work).await {
        Ok(result) => result.map_err(|error: StoreError| RpcError::new(ErrorKind::StorageFailed, error.to_string())),
        Err(error) => Err(RpcError::new(ErrorKind::Internal, format!("a fault of agentd: {error}; try again"))),
    }
}

fn changed_since(reader: &JournalReader, after_seq: u64) -> Result<Vec<Restoration>, StoreError> {
    let mut changes = FileChanges::default();
    reader.scan(after_seq, |record| {
        // What a later version wrote is none of the file tools' changes.
        if let Ok(event) = record.decode() {
            changes.apply(record.seq, &event);
        }
        true
    })?;
    Ok(changes.restorations())
}

fn told(kept: &[(String, String)]) -> Option<String> {
    let files: Vec<String> = kept.iter().map(|(path, why)| format!("{path} ({why})")).collect();
    (!files.is_empty()).then(|| format!("the rewind left these files as they are: {}", files.join(", ")))
}
