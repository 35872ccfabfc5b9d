//! A disk for tests on which a chosen call fails, once or from then on. Everything else goes to the real one.

use super::disk::{Disk, LogFile, RealDisk};
use nix::errno::Errno;
use std::io;
use std::path::Path;
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, Mutex};

/// How a call fails.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(super) enum Failure {
    /// With this error; nothing is done.
    Error(Errno),
    /// A write writes half of it, and the write of the rest fails with this error. Other calls as `Error`.
    Short(Errno),
}

/// The calls that fail.
#[derive(Debug, Default)]
struct Plan {
    calls: u64,
    at: Option<u64>,
    failure: Option<Failure>,
    lasting: bool,
    /// The file system can't reserve space.
    no_reserve: bool,
    /// There is no room but what is reserved.
    full: bool,
    /// Set by a short write: what the next one gives.
    rest: Option<Errno>,
}

/// The disk. Clones share their plan.
#[derive(Clone, Default)]
pub(super) struct FaultDisk(Arc<Mutex<Plan>>);

struct FaultFile {
    file: Box<dyn LogFile>,
    disk: FaultDisk,
    reserved_to: AtomicU64,
}

impl FaultDisk {
    /// Lets the n-th call from now (1 is the next) fail, and all later ones if it is `lasting`.
    pub(super) fn fail(&self, call: u64, failure: Failure, lasting: bool) {
        let mut plan = self.0.lock().unwrap();
        plan.at = Some(plan.calls + call);
        plan.failure = Some(failure);
        plan.lasting = lasting;
    }

    /// Nothing fails any more.
    pub(super) fn mend(&self) {
        let mut plan = self.0.lock().unwrap();
        (plan.at, plan.failure, plan.rest) = (None, None, None);
    }

    /// Makes the disk full, or empty again: what was reserved before can still be written.
    pub(super) fn set_full(&self, full: bool) {
        self.0.lock().unwrap().full = full;
    }

    /// A file system without fallocate.
    pub(super) fn without_reserve(self) -> Self {
        self.0.lock().unwrap().no_reserve = true;
        self
    }

    /// How many calls there were.
    pub(super) fn calls(&self) -> u64 {
        self.0.lock().unwrap().calls
    }

    /// Counts a call, and says how it is to fail.
    fn call(&self) -> Option<Failure> {
        let mut plan = self.0.lock().unwrap();
        plan.calls += 1;
        let at = plan.at?;
        let due = plan.calls == at || (plan.lasting && plan.calls > at);
        plan.failure.filter(|_| due)
    }

    fn plain_call(&self) -> io::Result<()> {
        match self.call() {
            None => Ok(()),
            Some(Failure::Error(errno) | Failure::Short(errno)) => Err(errno.into()),
        }
    }

    fn wrap(&self, file: Box<dyn LogFile>) -> Box<dyn LogFile> {
        Box::new(FaultFile { file, disk: self.clone(), reserved_to: AtomicU64::new(0) })
    }
}

impl Disk for FaultDisk {
    fn create(&self, path: &Path) -> io::Result<Box<dyn LogFile>> {
        self.plain_call()?;
        Ok(self.wrap(RealDisk.create(path)?))
    }

    fn open(&self, path: &Path) -> io::Result<Box<dyn LogFile>> {
        self.plain_call()?;
        Ok(self.wrap(RealDisk.open(path)?))
    }

    fn sync_dir(&self, _path: &Path) -> io::Result<()> {
        // No test can see whether a disk has really synced, and it takes long.
        self.plain_call()
    }
}

impl LogFile for FaultFile {
    fn length(&self) -> io::Result<u64> {
        self.disk.plain_call()?;
        self.file.length()
    }

    fn read_at(&self, buffer: &mut [u8], offset: u64) -> io::Result<usize> {
        self.disk.plain_call()?;
        self.file.read_at(buffer, offset)
    }

    fn write_at(&self, bytes: &[u8], offset: u64) -> io::Result<usize> {
        if let Some(errno) = self.disk.0.lock().unwrap().rest.take() {
            return Err(errno.into());
        }
        let full = self.disk.0.lock().unwrap().full;
        if full && offset + bytes.len() as u64 > self.reserved_to.load(Ordering::Relaxed) {
            return Err(Errno::ENOSPC.into());
        }
        match self.disk.call() {
            None => self.file.write_at(bytes, offset),
            Some(Failure::Error(errno)) => Err(errno.into()),
            Some(Failure::Short(errno)) => {
                self.disk.0.lock().unwrap().rest = Some(errno);
                self.file.write_at(&bytes[..bytes.len() / 2], offset)
            }
        }
    }

    fn cut(&self, length: u64) -> io::Result<()> {
        self.disk.plain_call()?;
        self.reserved_to.store(length, Ordering::Relaxed);
        self.file.cut(length)
    }

    fn reserve(&self, from: u64, to: u64) -> io::Result<()> {
        if self.disk.0.lock().unwrap().no_reserve {
            return Err(Errno::EOPNOTSUPP.into());
        }
        if self.disk.0.lock().unwrap().full {
            return Err(Errno::ENOSPC.into());
        }
        self.disk.plain_call()?;
        self.file.reserve(from, to)?;
        self.reserved_to.fetch_max(to, Ordering::Relaxed);
        Ok(())
    }

    fn sync(&self) -> io::Result<()> {
        self.disk.plain_call()
    }
}
