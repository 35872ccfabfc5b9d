//! `session/fork`: a new session that shares another's past. Its log is made where nobody sees it, with the bytes
//! and numbers of the source's log, and gets its place when it is whole. The source's actor is not asked and not
//! disturbed: a log is only ever appended to, so its past can be read while it goes on.

use super::handle::{blocking, read_failed};
use super::registry::Hub;
use crate::base::{clock, ids};
use crate::event::{Record, SessionState, record};
use crate::session::{forked, storage_failed};
use crate::store::{Journal, JournalReader, StateDir, StoreError, share_files};
use proto::event::Event;
use proto::ids::SessionId;
use proto::methods::SessionForkParams;
use proto::session::{Parent, SessionInfo};
use proto::{ErrorKind, RpcError};
use serde_json::{Map, Value};
use std::sync::Arc;

/// A fork that is to be made.
struct Fork {
    state: StateDir,
    source: SessionId,
    reader: JournalReader,
    id: SessionId,
    at_seq: Option<u64>,
    title: Option<String>,
}

/// The new log with what it folds to.
struct Copy {
    journal: Journal,
    state: SessionState,
}

impl Hub {
    /// `session/fork`.
    ///
    /// # Errors
    /// `SessionNotFound`, `InvalidParams` for a number that the log does not have, `ShuttingDown`, `StorageFailed`.
    pub async fn fork(&self, params: SessionForkParams) -> Result<SessionInfo, RpcError> {
        self.accept_work()?;
        let source = self.get(&params.session_id).await?;
        let fork = Fork {
            state: self.state.clone(),
            source: source.id(),
            reader: source.journal.reader(),
            id: ids::fresh("ses"),
            at_seq: params.at_seq,
            title: params.title,
        };
        let id = fork.id.clone();
        let made = make(fork).await;
        if made.is_err() {
            // Nothing was accepted, so nothing is to be found.
            self.state.discard_draft(&id);
        }
        made?;
        // The client's variables are held in memory only: the fork has them as long as its source does.
        let loaded = self.waker.load(&id, Arc::clone(&source.env), None).await?;
        let handle = loaded.start(&self.waker);
        let info = handle.info();
        self.insert(handle);
        Ok(info)
    }
}

async fn make(fork: Fork) -> Result<(), RpcError> {
    let (fork, journal) = blocking(move || {
        let copy = fork.copy()?;
        Ok((fork, copy))
    })
    .await?;
    journal.sync().await.map_err(storage_failed)?;
    drop(journal);
    blocking(move || fork.publish().map_err(storage_failed)).await
}

impl Fork {
    /// Makes the new log, whole: with the events that close what is open at that point.
    fn copy(&self) -> Result<Journal, RpcError> {
        let at = self.at()?;
        let created = self.created(at)?;
        let draft = self.state.draft_dir(&self.id).map_err(storage_failed)?;
        let journal = Journal::create(&draft).map_err(storage_failed)?;
        let state = SessionState::from_first(&created).ok_or_else(|| no_session(&self.source))?;
        let mut copy = Copy { journal, state };
        copy.add(&created).map_err(storage_failed)?;
        let mut failed = None;
        let take = |record: &Record| {
            failed = (record.seq <= at).then(|| copy.take(record)).and_then(Result::err);
            record.seq < at && failed.is_none()
        };
        self.reader.scan(1, take).map_err(read_failed)?;
        if let Some(error) = failed {
            return Err(storage_failed(error));
        }
        copy.close(&self.source, self.title.as_ref()).map_err(storage_failed)?;
        Ok(copy.journal)
    }

    /// The last event that both share. That a session was closed is no part of a past to go on from.
    fn at(&self) -> Result<u64, RpcError> {
        let last = self.reader.last_seq();
        let at = self.at_seq.unwrap_or(last);
        if at == 0 || at > last {
            let message = format!("atSeq: {at} is no event of session {}: they are 1 to {last}", self.source);
            return Err(RpcError::new(ErrorKind::InvalidParams, message).with("field", "atSeq").with("lastSeq", last));
        }
        let closed = matches!(self.event(at)?, Some(Event::SessionClosed {}));
        Ok(if closed { at.saturating_sub(1) } else { at })
    }

    fn event(&self, seq: u64) -> Result<Option<Event>, RpcError> {
        let records = self.reader.read(seq.saturating_sub(1), 0).map_err(read_failed)?;
        Ok(records.first().and_then(|record| record.decode().ok()))
    }

    /// The first event: the source's own, of another session.
    fn created(&self, at: u64) -> Result<Event, RpcError> {
        let Some(Event::SessionCreated { session, system_prompt }) = self.event(1)? else {
            return Err(no_session(&self.source));
        };
        let now = clock::now();
        let parent = Parent { session_id: self.source.clone(), seq: at, began_at: Some(session.began_at().to_owned()) };
        let session = SessionInfo {
            id: self.id.clone(),
            title: self.title.clone().unwrap_or_else(|| session.title.clone()),
            created_at: now.clone(),
            updated_at: now,
            parent: Some(parent),
            ..session
        };
        Ok(Event::SessionCreated { session, system_prompt })
    }

    /// Gives the new session the files that its past names, and its place.
    fn publish(&self) -> Result<(), StoreError> {
        let draft = self.state.draft_dir(&self.id)?;
        share_files(&self.state.session_dir(&self.source)?, &self.source, &draft)?;
        self.state.publish_draft(&self.id)
    }
}

impl Copy {
    /// Takes over an event as it is. One of a later version is taken over too, and passed on as it is.
    fn take(&mut self, record: &Record) -> Result<(), StoreError> {
        let taken = self.journal.append(&record.at, record.event.clone())?;
        if let Ok(event) = record.decode() {
            self.state.apply(taken.seq, &taken.at, &event);
        }
        Ok(())
    }

    fn add(&mut self, event: &Event) -> Result<(), StoreError> {
        let bytes = record::encode(event)
            .map_err(|error| StoreError::BadEvent { path: "the new session's log".into(), why: error.to_string() })?;
        let added = self.journal.append(&clock::now(), bytes)?;
        self.state.apply(added.seq, &added.at, event);
        Ok(())
    }

    /// Ends what is open, and lays the wanted title over one that the past has given.
    fn close(&mut self, source: &SessionId, title: Option<&String>) -> Result<(), StoreError> {
        for event in forked(&self.state, source) {
            self.add(&event)?;
        }
        match title.filter(|title| **title != self.state.info.title) {
            Some(title) => {
                let changed = Map::from_iter([("title".to_owned(), Value::from(title.as_str()))]);
                self.add(&Event::SessionUpdated { changed })
            }
            None => Ok(()),
        }
    }
}

fn no_session(source: &SessionId) -> RpcError {
    let message = format!("the log of session {source} does not begin with session.created: it can't be forked");
    RpcError::new(ErrorKind::StorageFailed, message)
}
