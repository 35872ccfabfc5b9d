//! Which folders a person trusts: `trust.json` in the state folder. Called by `loader` for every folder whose settings
//! are read, and by `trust/get` and `trust/set`. Who can't read it trusts nothing.

use super::files::Stamp;
use super::replace;
use crate::base::files::open_plain;
use serde::{Deserialize, Serialize};
use std::collections::BTreeMap;
use std::io::Read;
use std::os::unix::fs::MetadataExt;
use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex, PoisonError};

/// No such file is longer.
const MAX_BYTES: u64 = 4 << 20;

/// What is known of a folder.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Trust {
    /// Whether it is trusted.
    pub trusted: bool,
    /// The folder above it that makes it so.
    pub by: Option<PathBuf>,
}

/// The file.
#[derive(Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
struct Record {
    /// Each folder that a person has judged, by its real path.
    folders: BTreeMap<PathBuf, bool>,
}

/// The folders that a person has judged.
#[derive(Debug)]
pub(super) struct TrustStore {
    file: PathBuf,
    home: PathBuf,
    read: Mutex<(Option<Stamp>, Arc<Judged>)>,
}

/// The file as it was read last.
#[derive(Debug, Default)]
struct Judged {
    record: Record,
    problem: Option<String>,
}

impl TrustStore {
    /// Over a file that need not exist.
    pub(super) fn new(file: PathBuf, home: &Path) -> Self {
        let home = home.canonicalize().unwrap_or_else(|_| home.to_owned());
        Self { file, home, read: Mutex::default() }
    }

    /// The file.
    pub(super) fn file(&self) -> &Path {
        &self.file
    }

    /// Why nothing is trusted, if the file can't be used.
    pub(super) fn problem(&self) -> Option<String> {
        self.judged().problem.clone()
    }

    /// What is known of a folder.
    pub(super) fn of(&self, folder: &Path) -> Trust {
        let judged = self.judged();
        if judged.record.folders.is_empty() {
            return Trust::default();
        }
        // A folder that is not there has nothing to trust.
        let Ok(real) = folder.canonicalize() else { return Trust::default() };
        for above in real.ancestors() {
            let Some(trusted) = judged.record.folders.get(above).copied() else { continue };
            if above == real {
                return Trust { trusted, by: None };
            }
            // Home holds everything that a person ever downloaded.
            if above != self.home {
                return Trust { trusted, by: Some(above.to_owned()) };
            }
        }
        Trust::default()
    }

    /// Judges a folder.
    ///
    /// # Errors
    /// A sentence, if it can't be trusted or the file can't be written.
    pub(super) fn set(&self, folder: &Path, trusted: bool) -> Result<Trust, String> {
        let shown = folder.display();
        let real = folder.canonicalize().map_err(|error| format!("{shown} can't be used: {error}"))?;
        if trusted && real == Path::new("/") {
            return Err("/ can't be trusted, for everything is below it: trust the folders that you work in".to_owned());
        }
        if real.to_str().is_none() {
            return Err(format!("{shown} can't be trusted, for its name is not UTF-8: rename it"));
        }
        replace::edit(&self.file, |bytes| {
            let mut record = match bytes {
                None => Record::default(),
                Some(bytes) => serde_json::from_slice(bytes).map_err(|error| self.damaged(&error.to_string()))?,
            };
            if record.folders.insert(real.clone(), trusted) == Some(trusted) {
                return Ok(None);
            }
            let mut text = serde_json::to_vec_pretty(&record).map_err(|error| error.to_string())?;
            text.push(b'\n');
            Ok(Some(text))
        })?;
        Ok(self.of(&real))
    }

    fn damaged(&self, why: &str) -> String {
        format!(
            "{} is damaged ({why}), so no folder is trusted: remove it, and trust your folders anew",
            self.file.display()
        )
    }

    fn judged(&self) -> Arc<Judged> {
        let mut read = self.read.lock().unwrap_or_else(PoisonError::into_inner);
        let stamp = Stamp::of(&self.file);
        // It is replaced as a whole, so that each state of it is another inode.
        if stamp.is_none() || stamp != read.0 {
            *read = (stamp, Arc::new(self.read()));
        }
        Arc::clone(&read.1)
    }

    fn read(&self) -> Judged {
        let failed = |problem: String| Judged { record: Record::default(), problem: Some(problem) };
        let file = match open_plain(&self.file) {
            Ok(file) => file,
            Err(error) if error.kind() == std::io::ErrorKind::NotFound => return Judged::default(),
            Err(error) => return failed(self.damaged(&error.to_string())),
        };
        if !file
            .metadata()
            .is_ok_and(|found| found.uid() == nix::unistd::geteuid().as_raw() && found.mode() & 0o022 == 0)
        {
            return failed(self.damaged("others can write it"));
        }
        let mut bytes = Vec::new();
        if let Err(error) = file.take(MAX_BYTES).read_to_end(&mut bytes) {
            return failed(self.damaged(&error.to_string()));
        }
        match serde_json::from_slice(&bytes) {
            Ok(record) => Judged { record, problem: None },
            Err(error) => failed(self.damaged(&error.to_string())),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::fs::{self, Permissions};
    use std::os::unix::fs::{PermissionsExt, symlink};

    struct Place {
        dir: tempfile::TempDir,
        base: PathBuf,
        store: TrustStore,
    }

    fn place() -> Place {
        let dir = tempfile::tempdir().unwrap();
        let base = dir.path().canonicalize().unwrap();
        for folder in ["home/work/a/b", "other"] {
            fs::create_dir_all(base.join(folder)).unwrap();
        }
        let store = TrustStore::new(base.join("state/trust.json"), &base.join("home"));
        Place { dir, base, store }
    }

    #[test]
    fn trust_covers_what_is_below_unless_that_was_judged_itself() {
        let Place { dir: _held, base, store } = place();
        let work = base.join("home/work");
        assert_eq!(store.of(&work), Trust::default());
        assert_eq!(store.set(&work, true), Ok(Trust { trusted: true, by: None }));
        let below = Trust { trusted: true, by: Some(work.clone()) };
        assert_eq!(store.of(&work.join("a/b")), below);
        assert_eq!(store.set(&work.join("a"), false), Ok(Trust { trusted: false, by: None }));
        assert_eq!(store.of(&work.join("a/b")), Trust { trusted: false, by: Some(work.join("a")) });
        assert_eq!(store.of(&base.join("other")), Trust::default());
        assert_eq!(store.of(&base.join("home")), Trust::default());
        // Another store over the same file knows as much.
        let anew = TrustStore::new(store.file().to_owned(), &base.join("home"));
        assert!(anew.of(&work).trusted && !anew.of(&work.join("a")).trusted);
        assert_eq!(fs::metadata(store.file()).unwrap().permissions().mode() & 0o777, 0o600);
    }

    #[test]
    fn a_folder_is_known_by_where_it_really_is() {
        let Place { dir: _held, base, store } = place();
        store.set(&base.join("home/work"), true).unwrap();
        symlink(base.join("other"), base.join("home/work/link")).unwrap();
        symlink(base.join("home/work"), base.join("way")).unwrap();
        assert!(!store.of(&base.join("home/work/link")).trusted);
        assert!(store.of(&base.join("way/a")).trusted);
        assert!(!store.of(&base.join("home/work/../../other")).trusted);
        assert!(!store.of(&base.join("home/work/gone")).trusted);
    }

    #[test]
    fn the_root_is_never_trusted_and_home_only_for_itself() {
        let Place { dir: _held, base, store } = place();
        assert!(store.set(Path::new("/"), true).unwrap_err().contains("/ can't be trusted"));
        assert!(store.set(Path::new("/"), false).is_ok());
        store.set(&base.join("home"), true).unwrap();
        assert!(store.of(&base.join("home")).trusted);
        assert!(!store.of(&base.join("home/work")).trusted);
    }

    #[test]
    fn a_file_that_cannot_be_believed_trusts_nothing_and_is_not_overwritten() {
        let Place { dir: _held, base, store } = place();
        let work = base.join("home/work");
        store.set(&work, true).unwrap();
        fs::set_permissions(store.file(), Permissions::from_mode(0o622)).unwrap();
        assert!(!store.of(&work).trusted);
        assert!(store.problem().unwrap().contains("others can write it"));
        fs::set_permissions(store.file(), Permissions::from_mode(0o600)).unwrap();
        assert!(store.of(&work).trusted && store.problem().is_none());
        for damaged in ["", "{", "[]", r#"{"folders": {"/": "yes"}}"#, r#"{"folders": {}, "more": 1}"#] {
            fs::write(store.file(), damaged).unwrap();
            assert!(!store.of(&work).trusted, "{damaged}");
            assert!(store.problem().unwrap().contains("is damaged"), "{damaged}");
            assert!(store.set(&work, true).unwrap_err().contains("remove it"), "{damaged}");
            assert_eq!(fs::read_to_string(store.file()).unwrap(), damaged);
        }
    }
}
