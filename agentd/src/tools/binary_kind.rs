//! What a file that is no text is, told by its first bytes, and the command that looks into it. Pure. Called by Read.

/// A kind of file.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct Kind {
    /// With its article, such as `a PDF document`.
    pub name: &'static str,
    /// The command, in backticks.
    pub command: &'static str,
}

/// A file with NUL bytes and no start that is known.
pub(super) const UNKNOWN: Kind = Kind { name: "a binary file", command: "`file` or `xxd`" };

const PDF: Kind = Kind { name: "a PDF document", command: "`pdftotext -layout FILE -`" };
const ZIP: Kind = Kind { name: "a ZIP archive or an Office document", command: "`unzip -l`" };
const TAR: Kind = Kind { name: "a compressed file", command: "`tar -tf`, or `zcat`, `xzcat` and the like" };
const SEVEN: Kind = Kind { name: "a 7-Zip archive", command: "`7z l`" };
const PROGRAM: Kind = Kind { name: "a compiled program", command: "`file`, `nm` or `objdump`" };
const DATABASE: Kind = Kind { name: "an SQLite database", command: "`sqlite3 FILE .schema`" };
const PICTURE: Kind = Kind { name: "a picture of a kind that can't be shown", command: "`convert` to make it a PNG" };
const SOUND: Kind = Kind { name: "a sound or a film", command: "`ffprobe`" };

/// First bytes and what they tell.
const STARTS: [(&[u8], Kind); 27] = [
    (b"%PDF-", PDF),
    (b"PK\x03\x04", ZIP),
    (b"PK\x05\x06", ZIP),
    (b"\x1f\x8b\x08", TAR),
    (b"BZh", TAR),
    (b"\xfd7zXZ\0", TAR),
    (b"\x28\xb5\x2f\xfd", TAR),
    (b"7z\xbc\xaf\x27\x1c", SEVEN),
    (b"\x7fELF", PROGRAM),
    (b"\0asm", PROGRAM),
    (b"\xca\xfe\xba\xbe", PROGRAM),
    (b"\xcf\xfa\xed\xfe", PROGRAM),
    (b"\xce\xfa\xed\xfe", PROGRAM),
    (b"!<arch>\n", PROGRAM),
    (b"SQLite format 3\0", DATABASE),
    (b"II*\0", PICTURE),
    (b"MM\0*", PICTURE),
    (b"\0\0\x01\0", PICTURE),
    (b"\xff\x0a", PICTURE),
    (b"8BPS", PICTURE),
    (b"ID3", SOUND),
    (b"\xff\xfb", SOUND),
    (b"OggS", SOUND),
    (b"fLaC", SOUND),
    (b"RIFF", SOUND),
    (b"\x1a\x45\xdf\xa3", SOUND),
    (b"FORM\0", SOUND),
];

/// Starts of letters alone, which a text may have too: behind them there must be a byte that no text has.
const LETTERS: [&[u8]; 6] = [b"BZh", b"8BPS", b"ID3", b"OggS", b"fLaC", b"RIFF"];

/// The kind of a file with this start, where the start tells it.
pub(super) fn of(start: &[u8]) -> Option<Kind> {
    // ISO media: a length, then `ftyp` and the brand.
    if start.get(4..8) == Some(b"ftyp") {
        let still = [&b"avif"[..], b"heic", b"heix", b"mif1"].iter().any(|brand| start.get(8..12) == Some(*brand));
        return Some(if still { PICTURE } else { SOUND });
    }
    let (mark, kind) = STARTS.iter().find(|(mark, _)| start.starts_with(mark))?;
    let is_text = |byte: &u8| byte.is_ascii_graphic() || byte.is_ascii_whitespace() || *byte >= 0x80;
    let may_be_text = LETTERS.contains(mark) && start.iter().all(is_text);
    (!may_be_text).then_some(*kind)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn files_are_told_by_their_first_bytes() {
        for (start, kind) in [
            (&b"%PDF-1.7\n%"[..], PDF),
            (b"PK\x03\x04\x14\0", ZIP),
            (b"\x1f\x8b\x08\0", TAR),
            (b"\x7fELF\x02\x01", PROGRAM),
            (b"SQLite format 3\0", DATABASE),
            (b"RIFF\x24\0\0\0WAVEfmt ", SOUND),
            (b"ID3\x04\0", SOUND),
            (b"\0\0\0\x20ftypheic", PICTURE),
            (b"\0\0\0\x20ftypisom", SOUND),
        ] {
            assert_eq!(of(start), Some(kind), "{start:?}");
        }
        for text in [&b"RIFFLE\nshuffle"[..], b"ID3 tags are", b"BZhang wrote", b"PK is a key", b"", b"\xef\xbb\xbfx"] {
            assert_eq!(of(text), None, "{text:?}");
        }
    }
}
