//! All that the journal asks of a file system, as two small traits, so that tests can make any single
//! call fail. Used by `journal`, `reader` and `lines`; never decides anything.

use nix::errno::Errno;
use std::fs::{DirBuilder, File, OpenOptions};
use std::io;
use std::os::unix::fs::{DirBuilderExt, FileExt, OpenOptionsExt};
use std::path::Path;

/// Opens journals.
pub(super) trait Disk {
    /// Creates a file that only its owner can use; fails if it exists.
    fn create(&self, path: &Path) -> io::Result<Box<dyn LogFile>>;
    /// Opens a file. On a read-only file system it can be read, and writes fail.
    fn open(&self, path: &Path) -> io::Result<Box<dyn LogFile>>;
    /// Makes the entries of a folder survive a power loss.
    fn sync_dir(&self, path: &Path) -> io::Result<()>;
}

/// An open journal file. Offsets and lengths are bytes.
pub(super) trait LogFile: Send + Sync {
    /// How long the file is.
    fn length(&self) -> io::Result<u64>;
    /// One read; 0 at the end.
    fn read_at(&self, buffer: &mut [u8], offset: u64) -> io::Result<usize>;
    /// One write; may write less.
    fn write_at(&self, bytes: &[u8], offset: u64) -> io::Result<usize>;
    /// Cuts the file. What was reserved beyond may be given back.
    fn cut(&self, length: u64) -> io::Result<()>;
    /// Takes disk space for a range, without making the file longer.
    fn reserve(&self, from: u64, to: u64) -> io::Result<()>;
    /// Returns once what was written survives a power loss.
    fn sync(&self) -> io::Result<()>;
}

/// The file system of this machine.
pub(super) struct RealDisk;

struct RealFile {
    file: File,
    writable: bool,
}

/// Creates a folder that only its owner can enter.
pub(super) fn create_private_dir(path: &Path) -> io::Result<()> {
    DirBuilder::new().mode(0o700).create(path)
}

impl Disk for RealDisk {
    fn create(&self, path: &Path) -> io::Result<Box<dyn LogFile>> {
        let file = OpenOptions::new().read(true).write(true).create_new(true).mode(0o600).open(path)?;
        Ok(Box::new(RealFile { file, writable: true }))
    }

    fn open(&self, path: &Path) -> io::Result<Box<dyn LogFile>> {
        match OpenOptions::new().read(true).write(true).open(path) {
            Ok(file) => Ok(Box::new(RealFile { file, writable: true })),
            Err(error) if error.raw_os_error() == Some(Errno::EROFS as i32) => {
                Ok(Box::new(RealFile { file: File::open(path)?, writable: false }))
            }
            Err(error) => Err(error),
        }
    }

    fn sync_dir(&self, path: &Path) -> io::Result<()> {
        File::open(path)?.sync_all()
    }
}

impl RealFile {
    fn for_writing(&self) -> io::Result<&File> {
        if self.writable { Ok(&self.file) } else { Err(Errno::EROFS.into()) }
    }
}

impl LogFile for RealFile {
    fn length(&self) -> io::Result<u64> {
        Ok(self.file.metadata()?.len())
    }

    fn read_at(&self, buffer: &mut [u8], offset: u64) -> io::Result<usize> {
        self.file.read_at(buffer, offset)
    }

    fn write_at(&self, bytes: &[u8], offset: u64) -> io::Result<usize> {
        self.for_writing()?.write_at(bytes, offset)
    }

    fn cut(&self, length: u64) -> io::Result<()> {
        self.for_writing()?.set_len(length)
    }

    #[cfg(target_os = "linux")]
    fn reserve(&self, from: u64, to: u64) -> io::Result<()> {
        use nix::fcntl::{FallocateFlags, fallocate};
        let too_long = |_| io::Error::from(Errno::EFBIG);
        let offset = i64::try_from(from).map_err(too_long)?;
        let length = i64::try_from(to.saturating_sub(from)).map_err(too_long)?;
        let file = self.for_writing()?;
        loop {
            match fallocate(file, FallocateFlags::FALLOC_FL_KEEP_SIZE, offset, length) {
                Err(Errno::EINTR) => {}
                other => return Ok(other?),
            }
        }
    }

    #[cfg(not(target_os = "linux"))]
    fn reserve(&self, _from: u64, _to: u64) -> io::Result<()> {
        Err(Errno::EOPNOTSUPP.into())
    }

    fn sync(&self) -> io::Result<()> {
        self.file.sync_data()
    }
}
