//! L6: start, signals, systemd, stop.
