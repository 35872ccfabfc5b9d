//! Text files as bytes: open only what is a plain file, decode without losing how it was encoded, write
//! back whole or not at all. Called by Read, Write and Edit. Decides nothing about who may do so.

use encoding_rs::{UTF_16BE, UTF_16LE, WINDOWS_1252};
use nix::unistd::{Gid, Uid};
use std::fs::{File, Metadata, OpenOptions, Permissions};
use std::io::{self, Read as _, Write as _};
use std::os::unix::fs::{MetadataExt as _, OpenOptionsExt as _, PermissionsExt as _};
use std::path::Path;

/// The largest file that is read into memory as a whole, to be edited.
pub(super) const MAX_WHOLE_BYTES: u64 = 16 << 20;
/// Where a NUL byte is looked for to tell binary files.
const SNIFF_BYTES: usize = 8192;

/// How a text is written as bytes.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Encoding {
    Utf8,
    Utf16Le,
    Utf16Be,
    /// Any single-byte encoding: it is not known which, but every byte survives.
    SingleByte,
}

/// A decoded text. Line ends are as in the file.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Text {
    pub text: String,
    pub encoding: Encoding,
    /// Whether a byte order mark precedes it.
    pub bom: bool,
}

/// A file as it was when it was read.
#[derive(Debug)]
pub(super) struct Loaded {
    pub bytes: Vec<u8>,
    metadata: Metadata,
}

impl Loaded {
    /// Whether nobody may write to it. A new file would take its name all the same, so this must be asked.
    pub(super) fn is_read_only(&self) -> bool {
        self.metadata.mode() & 0o222 == 0
    }

    /// Its permission bits.
    pub(super) fn mode(&self) -> u32 {
        self.metadata.mode() & 0o7777
    }
}

/// The sentence for a file that nobody may write to.
pub(super) fn read_only(name: &str) -> String {
    format!("{name} is read-only; if it is meant to be changed, make it writable first (chmod u+w)")
}

/// Opens a plain file for reading. A pipe, socket or device is refused rather than waited for.
///
/// # Errors
/// One sentence that names the file and what it is instead.
pub(super) fn open(path: &Path) -> Result<(File, Metadata), String> {
    let shown = path.display();
    let file = OpenOptions::new()
        .read(true)
        .custom_flags(nix::fcntl::OFlag::O_NONBLOCK.bits())
        .open(path)
        .map_err(|error| describe(path, &error))?;
    let metadata = file.metadata().map_err(|error| describe(path, &error))?;
    if metadata.is_dir() {
        return Err(format!("{shown} is a folder; list it with Glob or with `ls` in Bash"));
    }
    if !metadata.is_file() {
        return Err(not_plain(path));
    }
    Ok((file, metadata))
}

/// Reads a plain file as a whole.
///
/// # Errors
/// As [`open`], or the file is larger than [`MAX_WHOLE_BYTES`].
pub(super) fn load(path: &Path) -> Result<Loaded, String> {
    let (file, metadata) = open(path)?;
    let too_large =
        || format!("{} is larger than {} MiB; change it with a command in Bash", path.display(), MAX_WHOLE_BYTES >> 20);
    if metadata.len() > MAX_WHOLE_BYTES {
        return Err(too_large());
    }
    let mut bytes = Vec::with_capacity(usize::try_from(metadata.len()).unwrap_or(0));
    file.take(MAX_WHOLE_BYTES + 1).read_to_end(&mut bytes).map_err(|error| describe(path, &error))?;
    if bytes.len() as u64 > MAX_WHOLE_BYTES {
        return Err(too_large());
    }
    Ok(Loaded { bytes, metadata })
}

/// As [`load`]; `None` if there is no such file.
///
/// # Errors
/// As [`load`].
pub(super) fn load_if_exists(path: &Path) -> Result<Option<Loaded>, String> {
    match std::fs::symlink_metadata(path) {
        Err(error) if error.kind() == io::ErrorKind::NotFound => Ok(None),
        Err(error) => Err(describe(path, &error)),
        Ok(_) => load(path).map(Some),
    }
}

/// The text of some bytes; `None` if they are not a text.
pub(super) fn decode(bytes: &[u8]) -> Option<Text> {
    if let Some(rest) = bytes.strip_prefix(b"\xEF\xBB\xBF") {
        let text = std::str::from_utf8(rest).ok()?.to_owned();
        return Some(Text { text, encoding: Encoding::Utf8, bom: true });
    }
    for (mark, codec, encoding) in
        [(b"\xFF\xFE", UTF_16LE, Encoding::Utf16Le), (b"\xFE\xFF", UTF_16BE, Encoding::Utf16Be)]
    {
        if let Some(rest) = bytes.strip_prefix(mark) {
            let text = codec.decode_without_bom_handling_and_without_replacement(rest)?.into_owned();
            return Some(Text { text, encoding, bom: true });
        }
    }
    if bytes.iter().take(SNIFF_BYTES).any(|byte| *byte == 0) {
        return None;
    }
    match std::str::from_utf8(bytes) {
        Ok(text) => Some(Text { text: text.to_owned(), encoding: Encoding::Utf8, bom: false }),
        // The WHATWG form of Windows-1252 gives every byte a character of its own, so it goes both ways.
        Err(_) if !bytes.contains(&0) => {
            let (text, _) = WINDOWS_1252.decode_without_bom_handling(bytes);
            Some(Text { text: text.into_owned(), encoding: Encoding::SingleByte, bom: false })
        }
        Err(_) => None,
    }
}

/// The bytes of a text in a file's own encoding.
///
/// # Errors
/// The encoding has no form for some character, which is given back.
pub(super) fn encode(text: &str, encoding: Encoding, bom: bool) -> Result<Vec<u8>, char> {
    let mut bytes = Vec::with_capacity(text.len() + 3);
    match encoding {
        Encoding::Utf8 => {
            if bom {
                bytes.extend_from_slice(b"\xEF\xBB\xBF");
            }
            bytes.extend_from_slice(text.as_bytes());
        }
        Encoding::Utf16Le => {
            bytes.extend_from_slice(b"\xFF\xFE");
            bytes.extend(text.encode_utf16().flat_map(u16::to_le_bytes));
        }
        Encoding::Utf16Be => {
            bytes.extend_from_slice(b"\xFE\xFF");
            bytes.extend(text.encode_utf16().flat_map(u16::to_be_bytes));
        }
        Encoding::SingleByte => {
            let unknown = |c: &char| WINDOWS_1252.encode(c.encode_utf8(&mut [0; 4])).2;
            if let Some(c) = text.chars().find(unknown) {
                return Err(c);
            }
            bytes.extend_from_slice(&WINDOWS_1252.encode(text).0);
        }
    }
    Ok(bytes)
}

/// Puts `bytes` in the place of a file, whole or not at all: a new file beside it takes its name once it
/// is safe on disk. Mode and owner are kept. `path` has all links followed.
///
/// # Errors
/// One sentence: the file changed meanwhile, or can't be written.
pub(super) fn save(path: &Path, bytes: &[u8], before: Option<&Loaded>) -> Result<(), String> {
    replace(path, bytes, before, before.map(Loaded::mode)).map_err(|error| match error.kind() {
        io::ErrorKind::AlreadyExists => {
            format!("{} was changed by somebody else just now; Read it and try again", path.display())
        }
        _ => describe(path, &error),
    })
}

/// As [`save`], with other permission bits than the file has now.
///
/// # Errors
/// `AlreadyExists` if the file changed meanwhile; else as the system says.
pub(super) fn put_back(path: &Path, bytes: &[u8], now: &Loaded, mode: u32) -> io::Result<()> {
    replace(path, bytes, Some(now), Some(mode))
}

fn replace(path: &Path, bytes: &[u8], before: Option<&Loaded>, mode: Option<u32>) -> io::Result<()> {
    let dir = path.parent().ok_or_else(|| io::Error::from(io::ErrorKind::IsADirectory))?;
    std::fs::create_dir_all(dir)?;
    let mut new = tempfile::Builder::new()
        .prefix(".agentd-")
        .permissions(Permissions::from_mode(0o666)) // less the umask, as any program's new file
        .tempfile_in(dir)?;
    new.write_all(bytes)?;
    if let Some(before) = before {
        keep_owner(new.as_file(), &before.metadata)?;
    }
    if let Some(mode) = mode {
        // Last, as a change of the owner takes bits away.
        new.as_file().set_permissions(Permissions::from_mode(mode))?;
    }
    new.as_file().sync_all()?;
    match before {
        Some(before) => {
            if !is_unchanged(path, &before.metadata) {
                return Err(io::ErrorKind::AlreadyExists.into());
            }
            new.persist(path).map_err(|error| error.error)?;
        }
        None => {
            new.persist_noclobber(path).map_err(|error| error.error)?;
        }
    }
    // The new name must survive a power cut too; some file systems can't sync a folder, and say so.
    let _ = File::open(dir).and_then(|dir| dir.sync_all());
    Ok(())
}

fn keep_owner(new: &File, old: &Metadata) -> io::Result<()> {
    let made = new.metadata()?;
    if (made.uid(), made.gid()) != (old.uid(), old.gid()) {
        nix::unistd::fchown(new, Some(Uid::from_raw(old.uid())), Some(Gid::from_raw(old.gid())))?;
    }
    Ok(())
}

fn is_unchanged(path: &Path, before: &Metadata) -> bool {
    let mark = |m: &Metadata| (m.dev(), m.ino(), m.size(), m.mtime(), m.mtime_nsec());
    std::fs::symlink_metadata(path).is_ok_and(|now| mark(&now) == mark(before))
}

/// An error of the system as a sentence about a file.
pub(super) fn describe(path: &Path, error: &io::Error) -> String {
    let shown = path.display();
    match error.kind() {
        io::ErrorKind::NotFound => format!("{shown} does not exist; find files with Glob"),
        io::ErrorKind::PermissionDenied => format!("{shown}: permission denied by the system"),
        io::ErrorKind::IsADirectory => format!("{shown} is a folder, not a file"),
        io::ErrorKind::NotADirectory => format!("{shown} does not exist: a part of its path is a file, not a folder"),
        io::ErrorKind::StorageFull => format!("{shown} can't be written: the disk is full; nothing was changed"),
        io::ErrorKind::ReadOnlyFilesystem => format!("{shown} can't be written: the file system is read-only"),
        // What a socket says to being opened.
        _ if error.raw_os_error() == Some(nix::errno::Errno::ENXIO as i32) => not_plain(path),
        _ => format!("{shown}: {error}"),
    }
}

fn not_plain(path: &Path) -> String {
    format!("{} is a pipe, socket or device; only plain files can be used", path.display())
}

#[cfg(test)]
mod tests {
    use super::*;

    fn round_trip(bytes: &[u8]) -> Text {
        let text = decode(bytes).unwrap();
        assert_eq!(encode(&text.text, text.encoding, text.bom).unwrap(), bytes);
        text
    }

    #[test]
    fn every_encoding_goes_both_ways() {
        assert_eq!(round_trip("aé\r\n".as_bytes()).encoding, Encoding::Utf8);
        assert!(round_trip(b"\xEF\xBB\xBFa").bom);
        assert_eq!(round_trip(b"\xFF\xFEa\0\x3D\xD8\x00\xDE").text, "a😀");
        assert_eq!(round_trip(b"\xFE\xFF\0a").encoding, Encoding::Utf16Be);
        let all: Vec<u8> = (1..=255).collect();
        assert_eq!(round_trip(&all).encoding, Encoding::SingleByte);
        assert_eq!(round_trip(b"caf\xE9").text, "café");
    }

    #[test]
    fn binary_is_told_from_text() {
        assert_eq!(decode(b"a\0b"), None);
        assert_eq!(decode(b"\xFF\xFEa"), None, "half a character");
        assert_eq!(decode(b"\xFF\xFE\x00\xD8a\0"), None, "half a surrogate pair");
        assert_eq!(decode(b"\xEF\xBB\xBF\xFF"), None, "a mark that lies");
        assert_eq!(decode(b"").unwrap().text, "");
    }

    #[test]
    fn a_character_without_a_form_is_named() {
        assert_eq!(encode("a€→", Encoding::SingleByte, false), Err('→'));
    }

    #[test]
    fn a_failed_write_leaves_the_old_file_and_no_other() {
        let dir = tempfile::tempdir().unwrap();
        let path = dir.path().join("f");
        std::fs::write(&path, "old").unwrap();
        let loaded = load(&path).unwrap();
        std::fs::remove_file(&path).unwrap();
        std::fs::write(&path, "other").unwrap();
        assert!(save(&path, b"new", Some(&loaded)).unwrap_err().contains("changed by somebody else"));
        assert_eq!(std::fs::read(&path).unwrap(), b"other");
        assert!(save(&path, b"new", None).unwrap_err().contains("changed by somebody else"));
        assert_eq!(std::fs::read_dir(dir.path()).unwrap().count(), 1);
    }

    #[test]
    fn a_pipe_or_socket_is_refused_without_waiting() {
        let dir = tempfile::tempdir().unwrap();
        let socket = dir.path().join("socket");
        let _listener = std::os::unix::net::UnixListener::bind(&socket).unwrap();
        assert!(open(&socket).unwrap_err().contains("only plain files"));
        let pipe = dir.path().join("pipe");
        nix::unistd::mkfifo(&pipe, nix::sys::stat::Mode::S_IRWXU).unwrap();
        assert!(open(&pipe).unwrap_err().contains("only plain files"));
        assert!(open(dir.path()).unwrap_err().contains("is a folder"));
    }
}
