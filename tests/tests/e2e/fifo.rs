//! Named pipes, with which a test holds a command until it wants it to go on.

use nix::sys::stat::Mode;
use nix::unistd::mkfifo;
use std::fs;
use std::path::{Path, PathBuf};

/// A named pipe. `cat` of it waits until the test releases it.
#[derive(Debug)]
pub struct Fifo(PathBuf);

impl Fifo {
    /// Makes one.
    pub fn new(folder: &Path, name: &str) -> Self {
        let path = folder.join(name);
        mkfifo(&path, Mode::S_IRWXU).unwrap();
        Self(path)
    }

    /// Waits for the reader and gives it this text and an end of file.
    pub fn release(&self, text: &str) {
        fs::write(&self.0, text).unwrap();
    }
}
