//! The listening socket: made here, or handed over by systemd. One agentd serves a socket: a lock beside
//! it, held while agentd lives, decides who; nobody's process id is guessed. Called by `daemon` at start.

use super::folder;
use interprocess::local_socket::tokio::{Listener, Stream};
use interprocess::local_socket::traits::tokio::Listener as _;
use interprocess::local_socket::{GenericFilePath, ListenerNonblockingMode, ListenerOptions, ToFsName};
use interprocess::os::unix::local_socket::ListenerOptionsExt;
use interprocess::os::unix::uds_local_socket::tokio::Listener as UnixListener;
use std::fs::{File, OpenOptions, TryLockError};
use std::io;
use std::os::fd::OwnedFd;
use std::os::unix::fs::{FileTypeExt, MetadataExt, OpenOptionsExt};
use std::os::unix::net::UnixStream;
use std::path::{Path, PathBuf};

/// The longest path that the kernel takes for a socket.
const MAX_PATH_BYTES: usize = 107;

/// Why agentd can't listen.
#[derive(Debug, thiserror::Error)]
pub enum ListenError {
    /// Another agentd serves that socket.
    #[error("another agentd already serves {0}; use that one, or give --socket another path")]
    AlreadyServed(PathBuf),
    /// Anything else, as a sentence with the remedy.
    #[error("{0}")]
    Refused(String),
}

/// A listening socket. Dropping it removes the socket's file, if that is still the one that was made.
#[derive(Debug)]
pub struct Listening {
    listener: Listener,
    path: PathBuf,
    /// The file that was made; none for a socket of systemd's, which systemd removes.
    own_file: Option<FileId>,
    /// Held as long as this socket is served.
    _lock: File,
}

/// Tells a file from another one at the same path.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
struct FileId {
    device: u64,
    inode: u64,
}

impl FileId {
    fn of(path: &Path) -> io::Result<Self> {
        let metadata = path.symlink_metadata()?;
        Ok(Self { device: metadata.dev(), inode: metadata.ino() })
    }
}

impl Listening {
    /// Makes the socket at an absolute path. Needs the runtime.
    ///
    /// # Errors
    /// If another agentd serves it, the folder is not private, or the socket can't be made.
    pub fn bind(path: &Path) -> Result<Self, ListenError> {
        if path.as_os_str().len() > MAX_PATH_BYTES {
            let message = format!(
                "the socket path {} is longer than {MAX_PATH_BYTES} bytes; give --socket a shorter one",
                path.display()
            );
            return Err(ListenError::Refused(message));
        }
        let lock = claim(path)?;
        remove_stale(path)?;
        let refused = |error: io::Error| {
            ListenError::Refused(format!(
                "the socket {} can't be made: {error}; give --socket another path",
                path.display()
            ))
        };
        let name = path.to_fs_name::<GenericFilePath>().map_err(refused)?;
        let listener = ListenerOptions::new()
            .name(name)
            .mode(0o600)
            .nonblocking(ListenerNonblockingMode::Both)
            // Removed in our own drop, which checks that it is still ours.
            .reclaim_name(false)
            .create_tokio()
            .map_err(refused)?;
        let own_file = Some(FileId::of(path).map_err(refused)?);
        Ok(Self { listener, path: path.to_owned(), own_file, _lock: lock })
    }

    /// Takes over a listening socket that systemd made. Needs the runtime.
    ///
    /// # Errors
    /// If the socket is not bound to a path, another agentd serves it, or its folder is not private.
    pub fn adopt(socket: std::os::unix::net::UnixListener) -> Result<Self, ListenError> {
        let address = socket.local_addr().map_err(|error| ListenError::Refused(error.to_string()))?;
        let Some(path) = address.as_pathname().map(Path::to_owned) else {
            let message = "the socket that systemd handed over has no path; give its unit ListenStream= with a path";
            return Err(ListenError::Refused(message.to_owned()));
        };
        let lock = claim(&path)?;
        let listener = UnixListener::try_from(OwnedFd::from(socket)).map_err(|error| {
            ListenError::Refused(format!("the socket that systemd handed over can't be used: {error}; check its unit"))
        })?;
        Ok(Self { listener: Listener::from(listener), path, own_file: None, _lock: lock })
    }

    /// The socket's path.
    #[must_use]
    pub fn path(&self) -> &Path {
        &self.path
    }

    /// Waits for a peer.
    pub(super) async fn accept(&self) -> io::Result<Stream> {
        self.listener.accept().await
    }
}

impl Drop for Listening {
    fn drop(&mut self) {
        let own = self.own_file.is_some_and(|own| FileId::of(&self.path).is_ok_and(|now| now == own));
        if own && let Err(error) = std::fs::remove_file(&self.path) {
            tracing::warn!(%error, socket = %self.path.display(), "the socket's file can't be removed");
        }
    }
}

/// Checks the folder and takes the lock. The lock's file stays: removing it would let two hold "the" lock.
fn claim(socket: &Path) -> Result<File, ListenError> {
    let (Some(folder), Some(name)) = (socket.parent(), socket.file_name()) else {
        return Err(ListenError::Refused(format!(
            "{} can't be a socket; give --socket the path of a file",
            socket.display()
        )));
    };
    folder::prepare(folder).map_err(ListenError::Refused)?;
    let mut lock_name = name.to_owned();
    lock_name.push(".lock");
    let path = folder.join(lock_name);
    let refused = |error: io::Error| {
        ListenError::Refused(format!(
            "the lock {} can't be taken: {error}; remove it or give --socket another path",
            path.display()
        ))
    };
    let nofollow = nix::fcntl::OFlag::O_NOFOLLOW.bits();
    let mut options = OpenOptions::new();
    options.read(true).write(true).create(true).truncate(false).mode(0o600).custom_flags(nofollow);
    let lock = options.open(&path).map_err(refused)?;
    match crate::base::files::lock(&lock) {
        Ok(()) => Ok(lock),
        Err(TryLockError::WouldBlock) => Err(ListenError::AlreadyServed(socket.to_owned())),
        Err(TryLockError::Error(error)) => Err(refused(error)),
    }
}

/// Removes what an agentd left that was killed. Only whoever holds the lock may do this; a socket that
/// answers belongs to somebody who knows nothing of the lock.
fn remove_stale(path: &Path) -> Result<(), ListenError> {
    let shown = path.display();
    let refused = |text: String| Err(ListenError::Refused(text));
    match path.symlink_metadata() {
        Err(error) if error.kind() == io::ErrorKind::NotFound => return Ok(()),
        Err(error) => return refused(format!("{shown} can't be read: {error}; give --socket another path")),
        Ok(metadata) if !metadata.file_type().is_socket() => {
            return refused(format!("{shown} exists and is not a socket; move it away or give --socket another path"));
        }
        Ok(_) => {}
    }
    match UnixStream::connect(path) {
        Ok(_) => Err(ListenError::AlreadyServed(path.to_owned())),
        Err(error) if error.kind() == io::ErrorKind::ConnectionRefused => {
            tracing::info!(socket = %shown, "a socket that nobody serves any more is replaced");
            std::fs::remove_file(path).or_else(|error| {
                refused(format!(
                    "the old socket {shown} can't be removed: {error}; remove it or give --socket another path"
                ))
            })
        }
        Err(error) => refused(format!("{shown} can't be probed: {error}; remove it or give --socket another path")),
    }
}

#[cfg(test)]
mod tests {
    use super::{ListenError, Listening};
    use std::fs;
    use std::os::unix::fs::PermissionsExt;
    use std::os::unix::net::UnixListener;

    fn folder() -> tempfile::TempDir {
        tempfile::Builder::new().permissions(fs::Permissions::from_mode(0o700)).tempdir().unwrap()
    }

    fn refusal(result: Result<Listening, ListenError>) -> String {
        match result {
            Err(ListenError::Refused(message)) => message,
            other => panic!("{other:?}"),
        }
    }

    #[tokio::test]
    async fn the_socket_is_private_and_removed_at_the_end() {
        let folder = folder();
        let path = folder.path().join("agentd.sock");
        let listening = Listening::bind(&path).unwrap();
        assert_eq!(path.metadata().unwrap().permissions().mode() & 0o777, 0o600);
        drop(listening);
        assert!(!path.exists());
        drop(Listening::bind(&path).unwrap());
    }

    #[tokio::test]
    async fn only_one_serves_a_socket() {
        let folder = folder();
        let path = folder.path().join("agentd.sock");
        let first = Listening::bind(&path).unwrap();
        assert!(matches!(Listening::bind(&path), Err(ListenError::AlreadyServed(_))));
        assert!(path.exists(), "the loser leaves the winner's socket alone");
        drop(first);
    }

    #[tokio::test]
    async fn a_stale_socket_is_replaced_and_a_live_one_is_not() {
        let folder = folder();
        let path = folder.path().join("agentd.sock");
        let other = UnixListener::bind(&path).unwrap();
        assert!(matches!(Listening::bind(&path), Err(ListenError::AlreadyServed(_))));
        drop(other);
        assert!(path.exists());
        drop(Listening::bind(&path).unwrap());
    }

    #[tokio::test]
    async fn a_socket_that_took_its_place_is_left_alone() {
        let folder = folder();
        let path = folder.path().join("agentd.sock");
        let listening = Listening::bind(&path).unwrap();
        fs::rename(&path, folder.path().join("moved")).unwrap();
        let _other = UnixListener::bind(&path).unwrap();
        drop(listening);
        assert!(path.exists());
    }

    #[tokio::test]
    async fn what_is_no_socket_is_left_alone() {
        let folder = folder();
        let path = folder.path().join("agentd.sock");
        fs::write(&path, "precious").unwrap();
        assert!(refusal(Listening::bind(&path)).contains("not a socket"));
        assert_eq!(fs::read_to_string(&path).unwrap(), "precious");
        let long = folder.path().join("x".repeat(120));
        assert!(refusal(Listening::bind(&long)).contains("longer than 107 bytes"));
    }

    #[tokio::test]
    async fn a_socket_of_systemds_is_served_and_left_behind() {
        let folder = folder();
        let path = folder.path().join("agentd.sock");
        let listening = Listening::adopt(UnixListener::bind(&path).unwrap()).unwrap();
        assert_eq!(listening.path(), path);
        drop(listening);
        assert!(path.exists());
    }
}
