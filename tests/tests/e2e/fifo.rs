//! Named pipes, with which a test holds a command until it wants it to go on.

use nix::errno::Errno;
use nix::fcntl::OFlag;
use nix::sys::stat::Mode;
use nix::unistd::mkfifo;
use std::fs::OpenOptions;
use std::io::Write as _;
use std::os::unix::fs::OpenOptionsExt as _;
use std::path::{Path, PathBuf};
use std::time::Instant;
use tests::PATIENCE;

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

    /// Waits for the reader and gives it this text and an end of file. A reader that never comes, as of a call that was
    /// stopped, fails the test.
    pub fn release(&self, text: &str) {
        let end = Instant::now() + PATIENCE;
        loop {
            let opened = OpenOptions::new().write(true).custom_flags(OFlag::O_NONBLOCK.bits()).open(&self.0);
            match opened {
                Ok(mut pipe) => return pipe.write_all(text.as_bytes()).unwrap(),
                Err(error) if error.raw_os_error() == Some(Errno::ENXIO as i32) => {}
                Err(error) => panic!("{}: {error}", self.0.display()),
            }
            assert!(Instant::now() < end, "nobody reads from {}", self.0.display());
            std::thread::yield_now();
        }
    }
}
