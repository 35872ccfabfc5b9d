//! The peer of a connection: whether it may connect, which is for the user that agentd runs as and for
//! root, which process it is, and whether it is still there. Asked before a byte is read or written, and when no more
//! come.

use interprocess::local_socket::tokio::Stream;
use interprocess::local_socket::traits::StreamCommon;
use nix::poll::{PollFd, PollFlags, PollTimeout, poll};
use nix::unistd::Uid;
use std::os::fd::AsFd;

/// Whether the peer may talk to this daemon. One whose identity can't be told may not.
pub fn is_allowed(stream: &Stream) -> bool {
    match stream.peer_creds().map(|credentials| credentials.euid()) {
        Ok(Some(uid)) => is_trusted(Uid::from_raw(uid), Uid::effective()),
        Ok(None) => false,
        Err(error) => {
            tracing::warn!(%error, "the identity of a peer could not be read; it is refused");
            false
        }
    }
}

/// Where the process of a peer comes from, as far as `daemon` can tell.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Origin {
    /// A tool of this daemon started it.
    Tool,
    /// It is somebody else's.
    Elsewhere,
    /// It was gone before it could be looked at.
    Unknown,
}

/// A peer that has connected.
pub struct Peer {
    /// Its connection.
    pub stream: Stream,
    /// Where its process comes from.
    pub origin: Origin,
}

/// The peer's process id when it connected; `None` if the system does not tell, or it can't be seen from here: a
/// tool's process always can.
pub fn pid(stream: &Stream) -> Option<u32> {
    let credentials = stream.peer_creds().ok()?;
    u32::try_from(credentials.pid()?).ok().filter(|pid| *pid != 0)
}

fn is_trusted(peer: Uid, own: Uid) -> bool {
    peer == own || peer.is_root()
}

/// Whether the peer has closed its end altogether, given that it sends no more.
pub fn is_gone(stream: &Stream) -> bool {
    let Stream::UdSocket(socket) = stream;
    let mut fds = [PollFd::new(socket.as_fd(), PollFlags::empty())];
    match poll(&mut fds, PollTimeout::ZERO) {
        Ok(_) => fds
            .iter()
            .any(|fd| fd.revents().is_some_and(|events| events.intersects(PollFlags::POLLHUP | PollFlags::POLLERR))),
        Err(_) => true,
    }
}

#[cfg(test)]
mod tests {
    use super::is_trusted;
    use nix::unistd::Uid;

    #[test]
    fn only_the_own_user_and_root_are_trusted() {
        let (own, root, other) = (Uid::from_raw(1000), Uid::from_raw(0), Uid::from_raw(1001));
        assert!(is_trusted(own, own));
        assert!(is_trusted(root, own));
        assert!(!is_trusted(other, own));
        assert!(!is_trusted(own, root), "a daemon of root does not serve other users");
    }
}
