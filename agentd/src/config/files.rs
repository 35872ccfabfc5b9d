//! The settings files as they are now, each read again only when it changed. Called by `loader`, at every call of a tool:
//! for a file that did not change it costs one look at its inode.
//!
//! A file that is being written may be seen empty, cut, mixed or gone. Then it allows nothing, and what it denied,
//! asked about or switched off before still holds.

use super::file::{self, Content, State};
use super::sift::Owner;
use crate::base::clock::{Stopwatch, is_past};
use crate::base::files::{is_private, open_plain};
use serde_json::{Map, Value};
use std::collections::HashMap;
use std::fs::Metadata;
use std::io::{self, ErrorKind, Read, Seek};
use std::os::unix::fs::MetadataExt;
use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex, PoisonError};
use std::time::{Duration, SystemTime};

/// No settings file is longer; what is longer is something else.
pub(super) const MAX_BYTES: u64 = 4 << 20;
/// File systems count time in steps, some in seconds: of a file that changed within the last one, a further change may
/// leave no mark, so it is read each time.
const STEP: Duration = Duration::from_secs(2);
/// How long a file that is gone may be on its way back: some programs remove it before they write it anew.
const ABSENCE: Duration = Duration::from_millis(250);
/// How often a file that changes while it is read is read once more.
const READS: usize = 3;
/// Files that are remembered; beyond it those that don't exist are forgotten.
const MANY: usize = 4_096;

/// What tells one state of a file from another.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct Stamp {
    inode: (u64, u64),
    bytes: u64,
    modified: (i64, i64),
    changed: (i64, i64),
}

impl Stamp {
    /// Of a file, links followed; none if there is none.
    pub(super) fn of(path: &Path) -> Option<Self> {
        std::fs::metadata(path).ok().as_ref().map(Self::from)
    }
}

impl From<&Metadata> for Stamp {
    fn from(found: &Metadata) -> Self {
        Self {
            inode: (found.dev(), found.ino()),
            bytes: found.size(),
            modified: (found.mtime(), found.mtime_nsec()),
            changed: (found.ctime(), found.ctime_nsec()),
        }
    }
}

/// The files that were read.
#[derive(Debug)]
pub(super) struct Files {
    known: Mutex<HashMap<PathBuf, Known>>,
    patience: Patience,
}

/// How long a file that is not whole may be under way.
#[derive(Debug, Clone, Copy)]
pub(super) struct Patience {
    /// Since its last change.
    pub(super) step: Duration,
    /// Since it is gone.
    pub(super) absence: Duration,
}

impl Default for Files {
    fn default() -> Self {
        Self::new(Patience { step: STEP, absence: ABSENCE })
    }
}

/// A file as it was read last.
#[derive(Debug, Default)]
struct Known {
    stamp: Option<Stamp>,
    /// Whether every later change would leave its mark on the stamp.
    settled: bool,
    content: Arc<Content>,
    /// What it tightened when it could last be read.
    tightens: Map<String, Value>,
    /// Since when it is gone.
    gone: Option<Stopwatch>,
}

impl Files {
    pub(super) fn new(patience: Patience) -> Self {
        Self { known: Mutex::default(), patience }
    }

    /// What a file says now. As long as it says the same it is the same value.
    pub(super) fn content(&self, path: &Path, owner: Owner) -> Arc<Content> {
        // A file is known by a single assignment; there is no half-done state to fear.
        let mut all = self.known.lock().unwrap_or_else(PoisonError::into_inner);
        if all.len() >= MANY {
            all.retain(|_, known| known.stamp.is_some() || known.gone.is_some());
        }
        let known = all.entry(path.to_owned()).or_default();
        match std::fs::metadata(path).as_ref().map(Stamp::from) {
            Ok(stamp) if known.stamp == Some(stamp) && known.settled => {}
            Err(error) if is_absence(error.kind()) => known.absent(self.patience),
            // What can't be looked at, such as in a folder that is closed, can't be read either, and that is told.
            Ok(_) | Err(_) => known.read(path, owner, self.patience),
        }
        Arc::clone(&known.content)
    }

    /// Reads every file anew when it is asked for next.
    pub(super) fn forget_stamps(&self) {
        self.known.lock().unwrap_or_else(PoisonError::into_inner).values_mut().for_each(|known| known.settled = false);
    }
}

impl Known {
    /// There is no file.
    fn absent(&mut self, patience: Patience) {
        if self.stamp.take().is_some() && !self.tightens.is_empty() {
            self.gone = Some(Stopwatch::start());
        }
        if self.gone.is_some_and(|gone| gone.elapsed() < patience.absence) {
            let values = self.tightens.clone();
            self.set(Content { values, ..Content::default() });
        } else {
            self.gone = None;
            self.tightens.clear();
            self.set(Content::default());
        }
    }

    fn read(&mut self, path: &Path, owner: Owner, patience: Patience) {
        for attempt in 1..=READS {
            match Reading::of(path, owner, patience.step) {
                // It went between two looks.
                None => return self.absent(patience),
                Some(read) if read.steady || attempt == READS => return self.take(read),
                Some(_) => {}
            }
        }
    }

    fn take(&mut self, read: Reading) {
        let Reading { stamp, steady, changed_long_ago, mut content } = read;
        self.stamp = stamp;
        self.settled = steady && changed_long_ago;
        self.gone = None;
        match content.state {
            State::Whole => self.tightens = tightening(&content.values),
            // Once it is certain that nobody writes it, an empty file says nothing.
            State::Empty if self.settled => self.tightens.clear(),
            State::Empty | State::Broken => {
                super::merge::over(&mut content.values, self.tightens.clone());
                if let Some(last) = content.errors.last_mut().filter(|_| !self.tightens.is_empty()) {
                    last.message.push_str("; what it denied and asked about before still holds");
                }
            }
        }
        self.set(content);
    }

    fn set(&mut self, content: Content) {
        if *self.content != content {
            self.content = Arc::new(content);
        }
    }
}

/// One look into a file.
struct Reading {
    stamp: Option<Stamp>,
    /// Whether it was the same before and after.
    steady: bool,
    changed_long_ago: bool,
    content: Content,
}

impl Reading {
    /// None if there is no file.
    fn of(path: &Path, owner: Owner, step: Duration) -> Option<Self> {
        let shown = path.display().to_string();
        let why = match Self::try_of(path, &shown, owner, step) {
            Ok(read) => return Some(read),
            Err(error) => match error.kind() {
                kind if is_absence(kind) => return None,
                ErrorKind::PermissionDenied => format!("can't be read ({error}): correct its permissions"),
                ErrorKind::FileTooLarge => format!("is longer than {MAX_BYTES} bytes: it is no settings file"),
                _ => format!("can't be read ({error})"),
            },
        };
        let content = file::unreadable(&shown, why);
        Some(Self { stamp: Stamp::of(path), steady: true, changed_long_ago: false, content })
    }

    fn try_of(path: &Path, shown: &str, owner: Owner, step: Duration) -> io::Result<Self> {
        let mut file = open_plain(path)?;
        let before = file.metadata()?;
        let mut bytes = Vec::new();
        (&mut file).take(MAX_BYTES.saturating_add(1)).read_to_end(&mut bytes)?;
        let after = file.metadata()?;
        let changed_long_ago = is_past(changed_at(&after), step);
        // Within one tick of the clock two texts may have the same stamp; what was read of both does not come twice.
        let comes_again = changed_long_ago || {
            let mut again = Vec::new();
            file.rewind()?;
            (&mut file).take(MAX_BYTES.saturating_add(1)).read_to_end(&mut again)?;
            again == bytes
        };
        if bytes.len() as u64 > MAX_BYTES {
            return Err(ErrorKind::FileTooLarge.into());
        }
        let mut content = file::read(shown, bytes, owner);
        content.private = is_private(&after);
        Ok(Self {
            stamp: Some(Stamp::from(&after)),
            steady: comes_again && Stamp::from(&before) == Stamp::from(&after),
            changed_long_ago,
            content,
        })
    }
}

/// Whether an error says that there is no such file.
fn is_absence(kind: ErrorKind) -> bool {
    matches!(kind, ErrorKind::NotFound | ErrorKind::NotADirectory)
}

/// When the inode changed last, which no program can set, unlike the time of the content.
fn changed_at(found: &Metadata) -> SystemTime {
    let (seconds, nanoseconds) = (u64::try_from(found.ctime()), u32::try_from(found.ctime_nsec()));
    SystemTime::UNIX_EPOCH + Duration::new(seconds.unwrap_or_default(), nanoseconds.unwrap_or_default())
}

/// The part of a file that can only tighten.
pub(super) fn tightening(values: &Map<String, Value>) -> Map<String, Value> {
    const KEYS: [&str; 4] = ["deny", "ask", "disableBypassPermissionsMode", "disableAutoMode"];
    const MANAGED_ONLY: &str = "allowManagedPermissionRulesOnly";
    let mut kept = Map::new();
    if let Some(Value::Object(all)) = values.get("permissions") {
        let permissions: Map<String, Value> =
            KEYS.iter().filter_map(|key| Some(((*key).to_owned(), all.get(*key)?.clone()))).collect();
        if !permissions.is_empty() {
            kept.insert("permissions".to_owned(), Value::Object(permissions));
        }
    }
    kept.extend(values.get(MANAGED_ONLY).map(|only| (MANAGED_ONLY.to_owned(), only.clone())));
    kept
}
