//! The folders that patterns of paths start from. Made by the session, which follows their links; kept in the policy.

use std::path::{Path, PathBuf};

/// The session's folder and home, each as it is named and with all links followed.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Places {
    /// The session's folder, absolute.
    pub folder: PathBuf,
    /// Where that leads.
    pub real_folder: PathBuf,
    /// The user's home, absolute.
    pub home: PathBuf,
    /// Where that leads.
    pub real_home: PathBuf,
}

impl Places {
    /// A folder and where it leads, as far as is known here.
    pub(super) fn both(&self, base: &Path) -> [PathBuf; 2] {
        let through = |named: &Path, real: &Path| {
            let inner = base.strip_prefix(named).ok().filter(|_| !named.as_os_str().is_empty())?;
            Some(if inner.as_os_str().is_empty() { real.to_owned() } else { real.join(inner) })
        };
        let real = through(&self.folder, &self.real_folder).or_else(|| through(&self.home, &self.real_home));
        [base.to_owned(), real.unwrap_or_else(|| base.to_owned())]
    }

    /// A path for people: relative where it is in the session's folder.
    pub(super) fn shown(&self, path: &Path) -> String {
        match path.strip_prefix(&self.folder) {
            Ok(inner) if inner.as_os_str().is_empty() => ".".to_owned(),
            Ok(inner) if !self.folder.as_os_str().is_empty() => inner.display().to_string(),
            Ok(_) | Err(_) => path.display().to_string(),
        }
    }
}
