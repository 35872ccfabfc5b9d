//! The terminal: whether there is one, how wide it is, and single key presses. Used by `render` and `ask`.
//! It draws nothing.

use nix::sys::termios::{self, FlushArg, LocalFlags, SetArg, Termios};
use std::io::{self, IsTerminal};
use tokio::io::AsyncReadExt;
use tokio::net::unix::pipe;

/// Whether standard output is a terminal.
pub fn stdout_is_terminal() -> bool {
    io::stdout().is_terminal()
}

/// Whether standard error is a terminal.
pub fn stderr_is_terminal() -> bool {
    io::stderr().is_terminal()
}

/// Whether a person can be asked: they see standard error and type on standard input.
pub fn can_ask() -> bool {
    io::stdin().is_terminal() && io::stderr().is_terminal()
}

/// Whether colours and live lines are welcome on a terminal (<https://no-color.org>).
pub fn wants_colour() -> bool {
    let env = crate::environment::Environment::of_process();
    env.get("NO_COLOR").is_none() && env.get("TERM") != Some("dumb")
}

/// Columns of the terminal.
pub fn width() -> usize {
    let size = terminal_size::terminal_size_of(io::stderr()).or_else(terminal_size::terminal_size);
    size.map_or(80, |(width, _)| usize::from(width.0))
}

/// Key presses, one by one and without echo. Ctrl-C stays a signal. Dropping it gives the terminal back.
pub struct Keys {
    /// A file of our own on the terminal, so that standard input's flags stay as they are.
    tty: pipe::Receiver,
    before: Termios,
    /// The start of a character that has not come whole.
    part: Vec<u8>,
}

impl Keys {
    /// Takes the terminal. What was typed before comes first.
    pub fn open() -> io::Result<Self> {
        // a terminal is read as a pipe is; `unchecked` leaves out the test that it is one
        let tty = pipe::OpenOptions::new().unchecked(true).open_receiver("/dev/tty")?;
        let before = termios::tcgetattr(&tty)?;
        let mut raw = before.clone();
        raw.local_flags.remove(LocalFlags::ICANON | LocalFlags::ECHO);
        termios::tcsetattr(&tty, SetArg::TCSADRAIN, &raw)?;
        Ok(Self { tty, before, part: Vec::new() })
    }

    /// Throws away what was typed but not read: nobody answers a question that they have not read.
    pub fn discard(&self) {
        let _ = termios::tcflush(&self.tty, FlushArg::TCIFLUSH); // nothing to throw away is fine
    }

    /// The characters of the next key press or paste. Cancel-safe.
    pub async fn next(&mut self) -> io::Result<String> {
        let mut bytes = [0_u8; 4096];
        let read = self.tty.read(&mut bytes).await?;
        match bytes.get(..read) {
            Some(pressed) if read > 0 => {
                self.part.extend_from_slice(pressed);
                Ok(whole(&mut self.part))
            }
            _ => Err(io::ErrorKind::UnexpectedEof.into()),
        }
    }
}

impl Drop for Keys {
    fn drop(&mut self) {
        let _ = termios::tcsetattr(&self.tty, SetArg::TCSADRAIN, &self.before); // the terminal may be gone
    }
}

/// Takes the characters that are whole; what is no text counts as one that is.
fn whole(bytes: &mut Vec<u8>) -> String {
    let end = match std::str::from_utf8(bytes) {
        Err(error) if error.error_len().is_none() => error.valid_up_to(),
        _ => bytes.len(),
    };
    let whole: Vec<u8> = bytes.drain(..end).collect();
    String::from_utf8_lossy(&whole).into_owned()
}

#[cfg(test)]
mod tests {
    use super::whole;

    #[test]
    fn a_character_that_comes_in_two_parts_is_one() {
        let mut bytes = "aü".as_bytes().to_vec();
        let last = bytes.pop().unwrap();
        assert_eq!(whole(&mut bytes), "a");
        bytes.push(last);
        assert_eq!(whole(&mut bytes), "ü");
        bytes.extend([0xff, b'b']);
        assert_eq!(whole(&mut bytes), "\u{fffd}b");
    }
}
