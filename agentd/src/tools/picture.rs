//! Pictures, told by their content: which kind, how large, and whether a model can be shown them. Pure. Called by Read.
//!
//! A picture that a provider refuses stays in the transcript, and every later request of the session with it. So what
//! is damaged or too large is refused here.

/// What Anthropic takes of a picture in base64 is 5 MiB, the least of all providers; base64 makes three bytes four.
pub(super) const MAX_BYTES: u64 = (5 << 20) / 4 * 3;
/// Pixels of a side that Anthropic takes.
const MAX_SIDE: u32 = 8000;

/// A kind of picture that providers take.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Picture {
    Png,
    Jpeg,
    Gif,
    Webp,
}

impl Picture {
    /// The kind, by the first bytes of a file.
    pub(super) fn of(start: &[u8]) -> Option<Self> {
        match start {
            [0x89, b'P', b'N', b'G', ..] => Some(Self::Png),
            [0xFF, 0xD8, 0xFF, ..] => Some(Self::Jpeg),
            [b'G', b'I', b'F', b'8', ..] => Some(Self::Gif),
            [b'R', b'I', b'F', b'F', _, _, _, _, b'W', b'E', b'B', b'P', ..] => Some(Self::Webp),
            _ => None,
        }
    }

    /// Such as `image/png`.
    pub(super) fn media_type(self) -> &'static str {
        match self {
            Self::Png => "image/png",
            Self::Jpeg => "image/jpeg",
            Self::Gif => "image/gif",
            Self::Webp => "image/webp",
        }
    }

    /// Width and height in pixels of a picture that can be shown.
    ///
    /// # Errors
    /// What is wrong with it, as the end of a sentence on the file.
    pub(super) fn check(self, bytes: &[u8]) -> Result<(u32, u32), String> {
        let size = match self {
            Self::Png => png(bytes),
            Self::Jpeg => jpeg(bytes),
            Self::Gif => gif(bytes),
            Self::Webp => webp(bytes),
        };
        match size.filter(|(width, height)| *width > 0 && *height > 0) {
            None => Err("looks like a picture, but is damaged or not complete".to_owned()),
            Some((width, height)) if width.max(height) > MAX_SIDE => Err(format!(
                "is a picture of {width} by {height} pixels; at most {MAX_SIDE} a side can be shown, so make a smaller \
                 copy first"
            )),
            Some(size) => Ok(size),
        }
    }
}

/// The header's chunk, and that the last one is there.
fn png(bytes: &[u8]) -> Option<(u32, u32)> {
    let ends = bytes.windows(4).any(|chunk| chunk == b"IEND");
    let header = bytes.get(12..24).filter(|header| header.starts_with(b"IHDR") && ends)?;
    Some((big(header.get(4..8)?), big(header.get(8..12)?)))
}

/// The frame header among the segments, and that the picture's end is there.
fn jpeg(bytes: &[u8]) -> Option<(u32, u32)> {
    let mut rest = bytes.get(2..)?;
    loop {
        let [0xFF, marker, after @ ..] = rest else { return None };
        match *marker {
            // A marker may be filled up, and some stand alone.
            0xFF => rest = rest.get(1..)?,
            0x01 | 0xD0..=0xD7 => rest = after,
            0xC0..=0xC3 | 0xC5..=0xC7 | 0xC9..=0xCB | 0xCD..=0xCF => {
                let ends = after.windows(2).any(|marker| marker == [0xFF, 0xD9]);
                let sides = after.get(3..7).filter(|_| ends)?;
                return Some((big(sides.get(2..4)?), big(sides.get(..2)?)));
            }
            _ => rest = after.get(usize::try_from(big(after.get(..2)?)).ok()?..)?,
        }
    }
}

fn gif(bytes: &[u8]) -> Option<(u32, u32)> {
    // Behind the screen's size there is at least an image and the end.
    bytes.get(13)?;
    Some((little(bytes.get(6..8)?), little(bytes.get(8..10)?)))
}

fn webp(bytes: &[u8]) -> Option<(u32, u32)> {
    let whole = usize::try_from(little(bytes.get(4..8)?)).ok()?;
    if bytes.len() < whole.checked_add(8)? {
        return None;
    }
    match bytes.get(12..16)? {
        b"VP8 " => Some((little(bytes.get(26..28)?) & 0x3FFF, little(bytes.get(28..30)?) & 0x3FFF)),
        b"VP8L" => {
            let bits = little(bytes.get(21..25)?);
            Some(((bits & 0x3FFF) + 1, (bits >> 14 & 0x3FFF) + 1))
        }
        b"VP8X" => Some((little(bytes.get(24..27)?) + 1, little(bytes.get(27..30)?) + 1)),
        _ => None,
    }
}

/// A number of up to four bytes, the greatest first.
fn big(bytes: &[u8]) -> u32 {
    bytes.iter().fold(0, |number, byte| number << 8 | u32::from(*byte))
}

/// A number of up to four bytes, the least first.
fn little(bytes: &[u8]) -> u32 {
    bytes.iter().rev().fold(0, |number, byte| number << 8 | u32::from(*byte))
}

#[cfg(test)]
pub(super) mod tests {
    use super::*;

    /// The smallest files that pass, of these sides.
    pub(in crate::tools) fn samples(width: u16, height: u16) -> [(Picture, Vec<u8>); 4] {
        let (wide, high) = (u32::from(width), u32::from(height));
        let png = [
            &b"\x89PNG\r\n\x1a\n\0\0\0\x0dIHDR"[..],
            &wide.to_be_bytes(),
            &high.to_be_bytes(),
            b"\x08\x02\0\0\0crc!\0\0\0\0IEND\xaeB`\x82",
        ];
        let jpeg = [
            &b"\xFF\xD8\xFF\xE0\0\x04JF\xFF\xFF\xC0\0\x0b\x08"[..],
            &height.to_be_bytes(),
            &width.to_be_bytes(),
            b"\x01\x01\x11\0\xFF\xDA\0\xFF\xD9",
        ];
        let gif = [&b"GIF89a"[..], &width.to_le_bytes(), &height.to_le_bytes(), b"\0\0\0;"];
        let webp = [
            &b"RIFF\x16\0\0\0WEBPVP8X\x0a\0\0\0\0\0\0\0"[..],
            &(wide - 1).to_le_bytes()[..3],
            &(high - 1).to_le_bytes()[..3],
        ];
        [
            (Picture::Png, png.concat()),
            (Picture::Jpeg, jpeg.concat()),
            (Picture::Gif, gif.concat()),
            (Picture::Webp, webp.concat()),
        ]
    }

    #[test]
    fn the_kind_and_the_sides_are_read_from_the_content() {
        for (picture, bytes) in samples(8000, 3) {
            assert_eq!(Picture::of(&bytes), Some(picture));
            assert_eq!(picture.check(&bytes), Ok((8000, 3)), "{picture:?}");
        }
        let lossy = b"RIFF\x16\0\0\0WEBPVP8 \x0a\0\0\0\0\0\0\x9d\x01\x2a\x05\0\x07\0";
        assert_eq!(Picture::Webp.check(lossy), Ok((5, 7)));
        let lossless = b"RIFF\x11\0\0\0WEBPVP8L\x05\0\0\0\x2f\x04\x80\x01\0";
        assert_eq!(Picture::Webp.check(lossless), Ok((5, 7)));
    }

    #[test]
    fn what_a_provider_would_refuse_is_refused() {
        for (picture, bytes) in samples(8001, 3) {
            assert!(picture.check(&bytes).unwrap_err().contains("8001 by 3"), "{picture:?}");
        }
        for (picture, bytes) in samples(20, 30) {
            for length in 0..bytes.len() {
                let cut = &bytes[..length];
                // What follows the end of a PNG and the number of its check are no loss.
                if picture == Picture::Png && length + 4 >= bytes.len() {
                    continue;
                }
                assert!(picture.check(cut).unwrap_err().contains("damaged"), "{picture:?} {length}");
            }
        }
        for (picture, bytes) in samples(1, 1) {
            let blank: Vec<u8> = bytes.iter().take(6).copied().chain(std::iter::repeat_n(0, 40)).collect();
            assert!(picture.check(&blank).is_err(), "{picture:?}");
        }
    }
}
