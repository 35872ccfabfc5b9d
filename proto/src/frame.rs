//! Framing: where one JSON text ends and the next begins. The first byte of a connection tells the
//! framing; both sides keep to it. Limits are held here, before anything is buffered beyond them.
//! It moves no bytes itself: it is a decoder and an encoder over buffers.
