//! L5: the socket: listen, peer check, framing, connections, dispatch; one file per method.
