//! L6: start, signals, systemd, stop. Called by `main`.
//!
//! Start: arguments → hardening → log → the socket's lock and the socket → the state folder's lock, settings,
//! sessions → ready. Stop: no new work → running turns end, or the deadline passes → processes are
//! stopped → clients get their last events → the locks go, the socket's last.

mod args;
mod assembly;
mod control;
mod hardening;
mod log;
mod open_files;
mod run;
mod signals;
mod start_error;
mod stop;
mod systemd;

pub use run::run;
