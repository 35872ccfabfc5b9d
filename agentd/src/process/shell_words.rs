//! What a waiting bash is told, and which lines it runs as `bash -c LINE` would. Called by `ahead`, and by `follow` at the end.
//!
//! The waiting shell reads its orders from standard input to the end, runs the line by `eval`, and writes down
//! where it then stands if that is elsewhere than where it began. To the line it looks like `bash -c LINE`: the same
//! `$0`, `$-`, `$?`, `$_`, `$#`, `$SECONDS`, `$BASH_EXECUTION_STRING`, no variable more. What differs:
//! - a syntax error is told as `eval: line 1` rather than `-c: line 1`, and an unclosed quote always ends with code 2,
//!   where `bash -c` keeps the code of the commands before;
//! - a program at the end of the line that a signal kills is told by the shell (code 128 + signal), where
//!   `bash -c` may have become that program.

use super::environment::{CALL_VARIABLE, tag_text};
use super::follow::LastFolder;
use nix::fcntl::OFlag;
use std::ffi::OsString;
use std::fs::OpenOptions;
use std::io::{self, Read as _};
use std::os::unix::ffi::{OsStrExt as _, OsStringExt as _};
use std::os::unix::fs::OpenOptionsExt as _;
use std::path::Path;

/// The longest path on Linux, and a line break.
const MAX_NOTE_BYTES: u64 = 4096;
/// Words of lines that a waiting shell would not run alike: they look at or trace the shell's own steps, or forbid it
/// what it does at its end.
const UNLIKE: [&str; 5] = ["DEBUG", "xtrace", "functrace", "BASH_XTRACEFD", "restricted"];

/// Whether a shell can wait for its line: only bash is known well enough.
pub(super) fn can_wait(shell: &str) -> bool {
    shell.rsplit('/').next() == Some("bash")
}

/// Whether a waiting shell runs a line as a shell that is started with it would. Errs towards no.
pub(super) fn runs_alike(line: &str) -> bool {
    !line.contains('\0') && !UNLIKE.iter().any(|word| line.contains(word)) && !sets_option(line)
}

/// `set -x` and the like, by which the line would be traced one level too deep, and `set -r`. An option that is only
/// known when the line runs may be one of them.
fn sets_option(line: &str) -> bool {
    let mut words = line.split(|c: char| c.is_whitespace() || ";&|(){}`".contains(c)).filter(|word| !word.is_empty());
    while let Some(word) = words.next() {
        if word.trim_matches(['\\', '"', '\'']) != "set" {
            continue;
        }
        let mut options = words.clone().take_while(|word| word.starts_with(['-', '+', '"', '\'', '$', '\\']));
        if options.any(|option| option.contains(['x', 'T', 'r', '$'])) {
            return true;
        }
    }
    false
}

/// The script of a shell that waits in `folder`, and writes to `note` where it stands after the line if that is
/// elsewhere. Without orders, or with a part of them, it ends and runs nothing.
pub(super) fn waiting_script(folder: &Path, note: &Path) -> OsString {
    let script = [
        b". /proc/self/fd/0; [[ ${".as_slice(),
        CALL_VARIABLE.as_bytes(),
        b"-} ]] || exit; SECONDS=0; export ",
        CALL_VARIABLE.as_bytes(),
        b"; : \"$0\"; eval \"$BASH_EXECUTION_STRING\"; { builtin set -- \"$?\"; builtin set +x; [[ . -ef ",
        &quoted(folder.as_os_str().as_bytes()),
        b" ]] || builtin pwd -P >| ",
        &quoted(note.as_os_str().as_bytes()),
        b"; } 2>/dev/null; builtin exit \"$1\"",
    ];
    OsString::from_vec(script.concat())
}

/// The orders for a waiting shell: the line, its call, and the file for its output. The call comes last: it stands for
/// orders that arrived whole.
pub(super) fn orders(line: &str, call: &str, output: &Path) -> Vec<u8> {
    let output = quoted(output.as_os_str().as_bytes());
    [
        b"BASH_EXECUTION_STRING=".as_slice(),
        &quoted(line.as_bytes()),
        b"\nexec </dev/null >>",
        &output,
        b" 2>&1\n",
        CALL_VARIABLE.as_bytes(),
        b"=",
        &quoted(tag_text(call).as_bytes()),
        b"\n",
    ]
    .concat()
}

/// One word for bash, whatever the bytes.
fn quoted(bytes: &[u8]) -> Vec<u8> {
    let mut word = Vec::with_capacity(bytes.len() + 2);
    word.push(b'\'');
    for byte in bytes {
        match byte {
            b'\'' => word.extend_from_slice(b"'\\''"),
            byte => word.push(*byte),
        }
    }
    word.push(b'\'');
    word
}

/// The folder that a shell wrote down at its end; `None` if it stands where it began. Removes the note.
/// The command could have put anything there: nothing is followed, waited for, or read on and on.
///
/// # Errors
/// It can't be read or removed.
pub(super) fn read_note(note: &Path) -> io::Result<Option<LastFolder>> {
    let flags = OFlag::O_NOFOLLOW | OFlag::O_NONBLOCK;
    let opened = OpenOptions::new().read(true).custom_flags(flags.bits()).open(note);
    if opened.as_ref().is_err_and(|error| error.kind() == io::ErrorKind::NotFound) {
        return Ok(None);
    }
    std::fs::remove_file(note)?;
    let file = opened?;
    let mut bytes = Vec::new();
    if file.metadata()?.is_file() {
        file.take(MAX_NOTE_BYTES).read_to_end(&mut bytes)?;
    }
    let is_path = bytes.pop() == Some(b'\n') && bytes.starts_with(b"/");
    Ok(Some(if is_path { LastFolder::At(OsString::from_vec(bytes).into()) } else { LastFolder::Unknown }))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_bash_waits() {
        for (shell, can) in [("/bin/bash", true), ("bash", true), ("/bin/sh", false), ("/opt/bash/zsh", false)] {
            assert_eq!(can_wait(shell), can, "{shell}");
        }
    }

    #[test]
    fn lines_that_trace_the_shell_get_one_of_their_own() {
        for line in [
            "set -x; make",
            "set -eux\nmake",
            "set -e -x",
            "set -o xtrace",
            "trap : DEBUG",
            "set \"-x\"",
            "set $f",
            "\\set -x",
            "set -r; cd sub",
            "set -eur",
            "set -o restricted",
        ] {
            assert!(!runs_alike(line), "{line}");
        }
        for line in ["make", "set -euo pipefail; make", "tar -xf $a", "echo $x -x", "cd sub && ls", "set -e; tar -x"] {
            assert!(runs_alike(line), "{line}");
        }
    }

    #[test]
    fn a_note_is_read_once_and_nothing_else_is_waited_for() {
        let dir = tempfile::tempdir().unwrap();
        let note = dir.path().join("note");
        for (text, folder) in
            [("/a b\n", Some("/a b")), ("/a\n\n", Some("/a\n")), ("", None), ("a\n", None), ("/a", None)]
        {
            std::fs::write(&note, text).unwrap();
            let stood = folder.map_or(LastFolder::Unknown, |folder| LastFolder::At(folder.into()));
            assert_eq!(read_note(&note).unwrap(), Some(stood), "{text:?}");
            assert_eq!(read_note(&note).unwrap(), None);
        }
        nix::unistd::mkfifo(&note, nix::sys::stat::Mode::S_IRWXU).unwrap();
        assert_eq!(read_note(&note).unwrap(), Some(LastFolder::Unknown));
        std::os::unix::fs::symlink("/dev/zero", &note).unwrap();
        assert!(read_note(&note).is_err());
        assert!(note.symlink_metadata().is_err(), "nothing is left");
    }

    #[test]
    fn whatever_the_bytes_a_quoted_word_is_one_word() {
        assert_eq!(quoted(b"a'b\n$c\\"), b"'a'\\''b\n$c\\'");
    }
}
