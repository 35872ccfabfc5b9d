//! New files for what tool calls give out. Called by `spawn`, and by `tools` for results that are too large.

use std::fs::{DirBuilder, File, OpenOptions};
use std::io;
use std::os::unix::fs::{DirBuilderExt as _, OpenOptionsExt as _};
use std::path::{Path, PathBuf};

/// A new file for a call, for its owner only, opened for appending. Ids of calls come from models and may
/// repeat, so a name that is taken gets a number. Makes the folder if need be.
///
/// # Errors
/// The folder or the file can't be made.
pub fn create_output_file(dir: &Path, call: &str) -> io::Result<(File, PathBuf)> {
    create_result_file(dir, call, "txt")
}

/// The same with an extension of its own, for a result whose kind is known.
///
/// # Errors
/// The folder or the file can't be made.
pub fn create_result_file(dir: &Path, call: &str, extension: &str) -> io::Result<(File, PathBuf)> {
    DirBuilder::new().recursive(true).mode(0o700).create(dir)?;
    // Without links, as `/proc` shows it of the processes that write to it.
    let dir = dir.canonicalize()?;
    let name = crate::base::text::file_name(call);
    for number in 1..=10_000 {
        let numbered = if number == 1 { name.clone() } else { format!("{name}-{number}") };
        let path = dir.join(format!("{numbered}.{extension}"));
        match OpenOptions::new().append(true).create_new(true).mode(0o600).open(&path) {
            Ok(file) => return Ok((file, path)),
            Err(error) if error.kind() == io::ErrorKind::AlreadyExists => {}
            Err(error) => return Err(error),
        }
    }
    Err(io::Error::new(io::ErrorKind::AlreadyExists, format!("{} holds too many files of one name", dir.display())))
}
