//! A program on a terminal of its own: what a person types, and what they see.

use crate::PATIENCE;
use crate::home::Home;
use nix::pty::{Winsize, openpty};
use nix::sys::signal::{Signal, kill};
use nix::unistd::Pid;
use std::fs::File;
use std::io::{Read, Write};
use std::path::Path;
use std::process::ExitStatus;
use std::sync::mpsc::{Receiver, channel};
use std::sync::{Arc, Condvar, Mutex};
use std::thread;
use std::time::Instant;

/// A terminal with a program on it.
#[derive(Debug)]
pub struct Pty {
    terminal: File,
    pid: Pid,
    exit: Receiver<std::io::Result<ExitStatus>>,
    screen: Arc<Screen>,
    /// How much of the output has been expected already.
    seen: usize,
}

#[derive(Debug, Default)]
struct Screen {
    state: Mutex<Shown>,
    changed: Condvar,
}

#[derive(Debug, Default)]
struct Shown {
    bytes: Vec<u8>,
    ended: bool,
}

impl Pty {
    /// Starts a program with a home's variables.
    ///
    /// # Panics
    /// If no terminal can be opened.
    #[must_use]
    pub fn start(home: &Home, program: &Path, arguments: &[&str]) -> Self {
        let size = Winsize { ws_row: 40, ws_col: 120, ws_xpixel: 0, ws_ypixel: 0 };
        let pair = openpty(Some(&size), None).expect("a terminal");
        let slave = || pair.slave.try_clone().expect("a second handle of the terminal");
        // setsid makes the terminal the program's own, so that Ctrl-C reaches it as a signal.
        let mut command = home.command(Path::new("/usr/bin/setsid"));
        command.arg("--ctty").arg(program).args(arguments).env("TERM", "xterm-256color");
        command.stdin(slave()).stdout(slave()).stderr(slave());
        let mut child = command.spawn().expect("the program starts");
        drop(command);
        drop(pair.slave);
        let pid = Pid::from_raw(child.id().cast_signed());
        let (sender, exit) = channel();
        thread::spawn(move || sender.send(child.wait()));
        let terminal = File::from(pair.master);
        let reading = terminal.try_clone().expect("a second handle of the terminal");
        let screen = Arc::new(Screen::default());
        let filling = Arc::clone(&screen);
        thread::spawn(move || filling.fill(reading));
        Self { terminal, pid, exit, screen, seen: 0 }
    }

    /// Waits until this text is shown, after what was expected before; colours and cursor movements
    /// don't count. What was shown up to its end.
    ///
    /// # Panics
    /// If it is not shown.
    pub fn expect(&mut self, text: &str) -> String {
        let end = Instant::now() + PATIENCE;
        let mut state = self.screen.state.lock().unwrap();
        loop {
            let shown = plain(&state.bytes);
            let new = &shown[self.seen..];
            if let Some(at) = new.find(text) {
                let upto = at + text.len();
                let passed = new[..upto].to_owned();
                self.seen += upto;
                return passed;
            }
            let left = end.saturating_duration_since(Instant::now());
            if state.ended || left.is_zero() {
                let failure = if state.ended { "the program ended and never" } else { "the terminal never" };
                let failure = format!("{failure} showed {text:?}, but\n{new}");
                // Not while the reading thread may wait for it.
                drop(state);
                panic!("{failure}");
            }
            state = self.screen.changed.wait_timeout(state, left).unwrap().0;
        }
    }

    /// Types.
    ///
    /// # Panics
    /// If the terminal is gone.
    pub fn send(&mut self, text: &str) {
        self.terminal.write_all(text.as_bytes()).expect("the terminal takes keys");
    }

    /// Waits for the program's end. Its exit code.
    ///
    /// # Panics
    /// If it does not end.
    pub fn wait(self) -> Option<i32> {
        match self.exit.recv_timeout(PATIENCE) {
            Ok(status) => status.expect("the program is a child").code(),
            Err(_) => panic!("the program did not end; it showed\n{}", self.shown()),
        }
    }

    /// All that was shown so far, without colours and cursor movements.
    #[must_use]
    pub fn shown(&self) -> String {
        plain(&self.screen.state.lock().unwrap().bytes)
    }
}

impl Drop for Pty {
    fn drop(&mut self) {
        if self.exit.try_recv().is_err() {
            let _ = kill(self.pid, Signal::SIGKILL);
        }
    }
}

impl Screen {
    fn fill(&self, mut terminal: File) {
        let mut part = [0; 4096];
        // A terminal whose program is gone ends with an error.
        while let Ok(length @ 1..) = terminal.read(&mut part) {
            self.state.lock().unwrap().bytes.extend_from_slice(&part[..length]);
            self.changed.notify_all();
        }
        self.state.lock().unwrap().ended = true;
        self.changed.notify_all();
    }
}

/// The text without escape sequences. A sequence that has not come whole is left out, so that the
/// result only grows.
fn plain(bytes: &[u8]) -> String {
    let whole = bytes.utf8_chunks().next().map_or("", |chunk| chunk.valid());
    let mut text = String::new();
    let mut chars = whole.chars().peekable();
    while let Some(char) = chars.next() {
        if char != '\u{1b}' {
            text.push(char);
        } else if chars.next_if_eq(&'[').is_some() {
            let _ = chars.by_ref().find(|char| ('@'..='~').contains(char));
        } else if chars.next_if_eq(&']').is_some() {
            let _ = chars.by_ref().find(|char| *char == '\u{7}');
        } else {
            let _ = chars.next();
        }
    }
    text
}

#[cfg(test)]
mod tests {
    use super::{Pty, plain};
    use crate::Home;
    use std::path::Path;

    #[test]
    fn escape_sequences_are_left_out() {
        assert_eq!(plain(b"a\x1b[1;32mb\x1b[0mc\x1b]0;title\x07d\x1b[1"), "abcd");
    }

    #[test]
    fn a_program_has_a_terminal_and_takes_ctrl_c() {
        let home = Home::new();
        let script = "test -t 0 && echo ready; trap 'echo caught; exit 7' INT; read line; echo got $line; read line";
        let mut pty = Pty::start(&home, Path::new("/bin/sh"), &["-c", script]);
        pty.expect("ready");
        pty.send("hello\r");
        pty.expect("got hello");
        pty.send("\u{3}");
        pty.expect("caught");
        assert_eq!(pty.wait(), Some(7));
    }
}
