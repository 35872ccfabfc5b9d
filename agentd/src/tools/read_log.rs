//! The file in which a session keeps what it has read: one line of JSON for each file and state, the last one counts.
//! Called by `read_state`. What can't be kept is read again by the model; so nothing here fails.

use super::read_state::Seen;
use serde::{Deserialize, Serialize};
use std::collections::HashMap;
use std::fs::{self, OpenOptions};
use std::io::Write as _;
use std::os::unix::fs::OpenOptionsExt as _;
use std::path::{Path, PathBuf};

/// A file with more lines than this for each that counts is written anew.
const LINES_PER_FILE: usize = 4;
/// Below this many lines it is left as it is.
const FEW_LINES: usize = 256;

/// See the module.
#[derive(Debug)]
pub(super) struct ReadLog {
    file: PathBuf,
}

#[derive(Serialize, Deserialize)]
struct Line<P, S> {
    path: P,
    #[serde(flatten)]
    seen: S,
}

impl ReadLog {
    pub fn new(file: PathBuf) -> Self {
        Self { file }
    }

    /// What is kept. A line that is cut or not understood is passed over.
    pub fn load(&self) -> HashMap<PathBuf, Seen> {
        let text = fs::read_to_string(&self.file).unwrap_or_default();
        let parsed = text.lines().filter_map(|line| serde_json::from_str::<Line<PathBuf, Seen>>(line).ok());
        let found: HashMap<PathBuf, Seen> = parsed.map(|line| (line.path, line.seen)).collect();
        let lines = text.lines().count();
        // What is added comes behind a whole line.
        if !text.is_empty() && !text.ends_with('\n') || lines > FEW_LINES.max(found.len() * LINES_PER_FILE) {
            self.write_anew(&found);
        }
        found
    }

    /// Adds a state of a file.
    pub fn add(&self, path: &Path, seen: &Seen) {
        let Ok(mut line) = serde_json::to_vec(&Line { path, seen }) else { return };
        line.push(b'\n');
        let file = OpenOptions::new().create(true).append(true).mode(0o600).open(&self.file);
        if let Err(error) = file.and_then(|mut file| file.write_all(&line)) {
            tracing::debug!(%error, "what was read is not kept; it is to be read again after a restart");
        }
    }

    /// Forgets all.
    pub fn clear(&self) {
        let _ = fs::remove_file(&self.file);
    }

    fn write_anew(&self, found: &HashMap<PathBuf, Seen>) {
        let aside = self.file.with_extension("new");
        let _ = fs::remove_file(&aside);
        let other = Self::new(aside);
        found.iter().for_each(|(path, seen)| other.add(path, seen));
        // Without any, the old file goes.
        if fs::rename(&other.file, &self.file).is_err() {
            self.clear();
        }
    }
}
