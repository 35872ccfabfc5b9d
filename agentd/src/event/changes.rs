//! Which files a session's file tools have changed since a certain turn, and how each is brought back: folded
//! from the durable events of that turn and all after it. Called by a rewind with files. Pure; knows nothing
//! of what the files hold now.

use proto::event::{Event, FileCheckpoint};
use proto::ids::TurnId;
use std::collections::{BTreeMap, HashMap};

/// The changes, by path.
#[derive(Debug, Default)]
pub struct FileChanges {
    /// The number of each turn's first event.
    turns: HashMap<TurnId, u64>,
    /// The changes of each file in their order, with the numbers of their events. One without a checkpoint can't
    /// be undone.
    files: BTreeMap<String, Vec<(u64, Option<FileCheckpoint>)>>,
}

/// How a file is brought back.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Restoration {
    /// The file, absolute.
    pub path: String,
    /// What to bring back; `None` if a checkpoint is missing.
    pub how: Option<Undo>,
}

/// What a file was before the first change, and what the last one left.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Undo {
    /// The checkpoint with the old content; `None` if there was no file.
    pub before: Option<String>,
    /// The old permission bits.
    pub mode: Option<u32>,
    /// What the file holds if nobody else has changed it since, as SHA-256.
    pub after_sha256: String,
}

impl FileChanges {
    /// Folds one event.
    pub fn apply(&mut self, seq: u64, event: &Event) {
        match event {
            Event::TurnStarted { turn_id, .. } => {
                self.turns.insert(turn_id.clone(), seq);
            }
            Event::FileChanged { path, checkpoint, .. } => {
                self.files.entry(path.clone()).or_default().push((seq, checkpoint.clone()));
            }
            Event::SessionRewound { to_turn_id, restored } => self.forget(to_turn_id, restored),
            _ => {}
        }
    }

    /// What an earlier rewind has brought back is not changed any more.
    fn forget(&mut self, to_turn: &TurnId, restored: &[String]) {
        let Some(from) = self.turns.get(to_turn) else { return };
        for path in restored {
            if let Some(changes) = self.files.get_mut(path) {
                changes.retain(|(seq, _)| seq < from);
            }
        }
    }

    /// What is to be brought back, by path.
    #[must_use]
    pub fn restorations(self) -> Vec<Restoration> {
        let changed = self.files.into_iter().filter(|(_, changes)| !changes.is_empty());
        changed.map(|(path, changes)| Restoration { path, how: undo(changes) }).collect()
    }
}

fn undo(changes: Vec<(u64, Option<FileCheckpoint>)>) -> Option<Undo> {
    let after_sha256 = changes.last()?.1.as_ref()?.after_sha256.clone();
    let first = changes.into_iter().next()?.1?;
    Some(Undo { before: first.before, mode: first.mode, after_sha256 })
}

#[cfg(test)]
mod tests {
    use super::*;
    use proto::event::TurnOptions;

    fn started(turn: &str) -> Event {
        Event::TurnStarted {
            turn_id: turn.into(),
            prompt: None,
            attachments: Vec::new(),
            client: None,
            options: TurnOptions::default(),
            resumes: None,
        }
    }

    /// A change of a file from one content to another; "" is no file.
    fn changed(path: &str, before: &str, after: &str) -> Event {
        let checkpoint = FileCheckpoint {
            before: (!before.is_empty()).then(|| before.to_owned()),
            mode: (!before.is_empty()).then_some(0o644),
            after_sha256: after.to_owned(),
        };
        Event::FileChanged {
            path: path.to_owned(),
            tool_call_id: "c".into(),
            diff: String::new(),
            checkpoint: Some(checkpoint),
        }
    }

    fn rewound(turn: &str, restored: &[&str]) -> Event {
        let restored = restored.iter().map(|path| (*path).to_owned()).collect();
        Event::SessionRewound { to_turn_id: turn.into(), restored }
    }

    /// Each file as `path: before < after`.
    fn told(events: &[Event]) -> Vec<String> {
        let mut changes = FileChanges::default();
        for (at, event) in events.iter().enumerate() {
            changes.apply(at as u64 + 5, event);
        }
        let word = |file: Restoration| match file.how {
            Some(undo) => format!("{}: {} < {}", file.path, undo.before.unwrap_or_default(), undo.after_sha256),
            None => format!("{}: ?", file.path),
        };
        changes.restorations().into_iter().map(word).collect()
    }

    #[test]
    fn the_first_content_and_the_last_count() {
        let edits = [started("t"), changed("b", "1", "2"), changed("a", "", "x"), changed("b", "2", "3")];
        assert_eq!(told(&edits), ["a:  < x", "b: 1 < 3"]);
        assert_eq!(told(&[started("t")]), [""; 0]);
    }

    #[test]
    fn what_was_restored_before_is_no_change() {
        let edits = [
            started("t1"),
            changed("a", "1", "2"),
            started("t2"),
            changed("a", "2", "3"),
            changed("b", "", "x"),
            rewound("t2", &["a", "b"]),
        ];
        assert_eq!(told(&edits), ["a: 1 < 2"]);
        let mut more = edits.to_vec();
        more.extend([started("t3"), changed("a", "2", "4")]);
        assert_eq!(told(&more), ["a: 1 < 4"]);
    }

    #[test]
    fn what_a_rewind_left_as_it_was_is_a_change_still() {
        let edits = [started("t1"), started("t2"), changed("a", "1", "2"), rewound("t2", &[])];
        assert_eq!(told(&edits), ["a: 1 < 2"]);
    }

    #[test]
    fn a_change_without_a_checkpoint_can_not_be_undone() {
        let Event::FileChanged { path, tool_call_id, diff, .. } = changed("a", "1", "2") else { unreachable!() };
        let bare = Event::FileChanged { path, tool_call_id, diff, checkpoint: None };
        assert_eq!(told(&[started("t"), bare.clone(), changed("a", "2", "3")]), ["a: ?"]);
        assert_eq!(told(&[started("t"), changed("a", "1", "2"), bare]), ["a: ?"]);
    }
}
