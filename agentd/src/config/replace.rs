//! Writing a small file of agentd's or the user's as a whole: whoever reads it sees the old text or the new one, and so
//! does the next start after a power loss. Called by `trust` and `remember`. Blocks for the disk.

use super::files::MAX_BYTES;
use crate::base::files::{lock, open_plain};
use std::fs::{DirBuilder, File, Permissions, TryLockError};
use std::io::{self, ErrorKind, Read, Write};
use std::os::unix::fs::{DirBuilderExt, PermissionsExt};
use std::path::{Path, PathBuf};

/// How often an edit starts again when somebody else wrote the file meanwhile.
const TRIES: usize = 10;
/// How often the second is waited that a lock of the folder may be held; an edit takes some milliseconds.
const WAITS: usize = 60;

/// Changes a file by a function from its bytes (none: there is no file) to the new ones (none: leave it). A link is
/// followed to its file. The mode of the file is kept; a new file is the user's alone.
///
/// # Errors
/// A sentence that names the file.
pub(super) fn edit(
    path: &Path,
    mut change: impl FnMut(Option<&[u8]>) -> Result<Option<Vec<u8>>, String>,
) -> Result<(), String> {
    let target = target(path)?;
    let failed = |error: io::Error| format!("{} can't be written: {error}", target.display());
    let folder = target.parent().ok_or_else(|| format!("{} is no file", target.display()))?;
    DirBuilder::new().recursive(true).mode(0o700).create(folder).map_err(failed)?;
    let held = File::open(folder).map_err(failed)?;
    if !is_free(&held) {
        return Err(format!("{} is being written by somebody else: try again", target.display()));
    }
    for _ in 0..TRIES {
        let before = bytes(&target).map_err(failed)?;
        let Some(after) = change(before.as_deref())? else { return Ok(()) };
        if swap(&target, before.as_deref(), &after).map_err(failed)? {
            drop(held);
            return Ok(());
        }
    }
    Err(format!("{} changes all the time: try again when nobody else writes it", target.display()))
}

/// Waits until nobody else edits a file of the folder. Where a folder can't be locked, the comparison before the swap
/// still finds all but the narrowest race.
fn is_free(folder: &File) -> bool {
    (0..WAITS).any(|_| !matches!(lock(folder), Err(TryLockError::WouldBlock)))
}

/// The file that a link leads to, or the path itself.
fn target(path: &Path) -> Result<PathBuf, String> {
    match path.symlink_metadata() {
        Ok(found) if found.is_symlink() => path
            .canonicalize()
            .map_err(|error| format!("{} is a link that leads nowhere ({error}): correct it", path.display())),
        _ => Ok(path.to_owned()),
    }
}

fn bytes(path: &Path) -> io::Result<Option<Vec<u8>>> {
    let file = match open_plain(path) {
        Err(error) if error.kind() == ErrorKind::NotFound => return Ok(None),
        opened => opened?,
    };
    let mut bytes = Vec::new();
    file.take(MAX_BYTES.saturating_add(1)).read_to_end(&mut bytes)?;
    if bytes.len() as u64 > MAX_BYTES {
        return Err(io::Error::new(ErrorKind::FileTooLarge, format!("it is longer than {MAX_BYTES} bytes")));
    }
    Ok(Some(bytes))
}

/// Puts a new file in the place of the old one, unless that has changed.
fn swap(path: &Path, before: Option<&[u8]>, after: &[u8]) -> io::Result<bool> {
    let folder = path.parent().unwrap_or(path);
    let mode = match path.metadata() {
        Ok(found) if found.permissions().mode() & 0o200 == 0 => {
            return Err(io::Error::new(ErrorKind::PermissionDenied, "it is read-only"));
        }
        Ok(found) => found.permissions().mode() & 0o777,
        Err(_) => 0o600,
    };
    let mut draft = tempfile::Builder::new().prefix(".settings-").suffix(".tmp").tempfile_in(folder)?;
    draft.write_all(after)?;
    draft.as_file().set_permissions(Permissions::from_mode(mode))?;
    draft.as_file().sync_all()?;
    if bytes(path)?.as_deref() != before {
        return Ok(false);
    }
    draft.persist(path)?;
    File::open(folder)?.sync_all()?;
    Ok(true)
}
