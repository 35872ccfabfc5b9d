//! Tests of the framing: a table of hostile input, and that no chunking of the input matters.

use super::{Frame, FrameCodec, FrameError, Framing, MAX_DEPTH, Refusal, is_deeper, write_frame};
use bytes::BytesMut;
use proptest::prelude::*;
use tokio_util::codec::{Decoder, Encoder};

const SMALL: usize = 64;

fn text(text: &str) -> Frame {
    Frame::Text(text.to_owned())
}

/// Feeds the input in pieces of the given sizes, repeated; gives the frames and the error that ended it.
fn decode(codec: &mut FrameCodec, input: &[u8], sizes: &[usize]) -> (Vec<Frame>, Option<String>) {
    let (mut frames, mut buffer, mut rest) = (Vec::new(), BytesMut::new(), input);
    for size in sizes.iter().cycle() {
        let (now, later) = rest.split_at((*size).clamp(1, rest.len().max(1)).min(rest.len()));
        buffer.extend_from_slice(now);
        rest = later;
        loop {
            let step = if rest.is_empty() { codec.decode_eof(&mut buffer) } else { codec.decode(&mut buffer) };
            match step {
                Ok(Some(frame)) => frames.push(frame),
                Ok(None) => break,
                Err(error) => return (frames, Some(error.to_string())),
            }
        }
        if rest.is_empty() {
            break;
        }
    }
    (frames, None)
}

fn frames(input: &[u8]) -> Vec<Frame> {
    let (frames, error) = decode(&mut FrameCodec::new().max_bytes(SMALL), input, &[usize::MAX]);
    assert_eq!(error, None);
    frames
}

#[test]
fn lines_are_told_from_the_first_byte() {
    assert_eq!(frames(b"{\"a\":1}\n[2]\r\n"), [text("{\"a\":1}"), text("[2]")]);
    assert_eq!(frames(b" \n\n\r\n{}\n \t\n{}"), [text("{}"), text("{}")], "blank lines are no frames");
    assert_eq!(frames(b"hello\n"), [text("hello")], "what is no JSON is for the parser to refuse");
}

#[test]
fn headers_are_told_from_the_first_byte() {
    let input = b"Content-Length: 2\r\n\r\n{}content-type: x\r\ncontent-length:3\r\n\r\n[1]";
    assert_eq!(frames(input), [text("{}"), text("[1]")]);
    assert_eq!(frames(b"Content-Length: 4\n\n{\n\n}"), [text("{\n\n}")], "bare line feeds are understood");
    assert_eq!(frames(b"Content-Length: 2\r\n\r\n{}\r\nContent-Length: 2\r\n\r\n[]"), [text("{}"), text("[]")]);
    assert_eq!(frames(b"Content-Length: 9\r\n\r\n{}"), [], "half a frame at the end is dropped");
}

#[test]
fn http_is_left_untouched() {
    for verb in ["GET", "POST", "PUT", "OPTIONS", "HEAD", "DELETE"] {
        let mut buffer = BytesMut::from(verb.as_bytes());
        assert!(matches!(FrameCodec::new().decode(&mut buffer), Err(FrameError::Http)));
        assert_eq!(buffer, verb.as_bytes());
    }
}

#[test]
fn an_oversize_line_is_skipped_without_being_held() {
    let mut codec = FrameCodec::new().max_bytes(SMALL);
    let mut buffer = BytesMut::from(&b"["[..]);
    let mut refusals = 0;
    for _ in 0..1000 {
        buffer.extend_from_slice(&[b'1'; 16]);
        if let Some(frame) = codec.decode(&mut buffer).unwrap() {
            assert_eq!(frame, Frame::Refused(Refusal::TooLarge(SMALL)));
            refusals += 1;
        }
        assert!(buffer.len() <= SMALL, "the codec holds {} bytes", buffer.len());
        assert!(codec.is_within_frame(&buffer));
    }
    assert_eq!(refusals, 1);
    buffer.extend_from_slice(b"]\n{}\n");
    assert_eq!(codec.decode(&mut buffer).unwrap(), Some(text("{}")));
    assert!(!codec.is_within_frame(&buffer));
}

#[test]
fn the_limit_itself_is_allowed() {
    let fits = "1".repeat(SMALL);
    let over = "1".repeat(SMALL + 1);
    let refused = Frame::Refused(Refusal::TooLarge(SMALL));
    assert_eq!(
        frames(format!("[]\n{fits}\n{over}\n[]\n").as_bytes()),
        [text("[]"), text(&fits), refused.clone(), text("[]")]
    );
    let headers = format!("Content-Length: {}\r\n\r\n{over}Content-Length: 2\r\n\r\n[]", over.len());
    assert_eq!(frames(headers.as_bytes()), [refused, text("[]")]);
}

#[test]
fn invalid_utf8_costs_one_frame() {
    assert_eq!(frames(b"{\"a\":\"\xff\"}\n{}\n"), [Frame::Refused(Refusal::NotUtf8), text("{}")]);
    assert_eq!(
        frames(b"Content-Length: 2\r\n\r\n\xff\xfeContent-Length: 2\r\n\r\n{}"),
        [Frame::Refused(Refusal::NotUtf8), text("{}")]
    );
}

#[test]
fn deep_nesting_costs_one_frame() {
    let nested = |depth: usize| format!("{}{}", "[".repeat(depth), "]".repeat(depth));
    let (found, error) =
        decode(&mut FrameCodec::new(), format!("{}\n{}\n", nested(MAX_DEPTH), nested(MAX_DEPTH + 1)).as_bytes(), &[7]);
    assert_eq!((found, error), (vec![text(&nested(MAX_DEPTH)), Frame::Refused(Refusal::TooDeep(MAX_DEPTH))], None));
    assert!(!is_deeper(br#"["[[[[\"[[[["]"#, 1), "brackets in strings do not count");
    assert!(!is_deeper(b"[][][]{}{}", 1), "neighbours do not add up");
    assert!(is_deeper(&vec![b'['; 100_000], MAX_DEPTH));
}

#[test]
fn a_broken_header_ends_the_connection() {
    for (input, word) in [
        (&b"Content-Length: ten\r\n\r\n"[..], "not a number"),
        (b"Content-Length: -1\r\n\r\n", "not a number"),
        (b"Content-Length: 99999999999999999999999\r\n\r\n", "out of range"),
        (b"Content-Length\r\n\r\n", "no colon"),
        (b"Content-Type: x\r\n\r\n{}", "no Content-Length"),
        (b"Content-Length: 2\r\nContent-Length: 3\r\n\r\n{}", "two lengths"),
        (b"C\xff: 2\r\n\r\n{}", "not ASCII"),
    ] {
        let (found, error) = decode(&mut FrameCodec::new(), input, &[usize::MAX]);
        assert!(found.is_empty() && error.as_ref().is_some_and(|text| text.contains(word)), "{input:?}: {error:?}");
    }
    let (_, error) = decode(&mut FrameCodec::new(), &vec![b'c'; 20_000], &[100]);
    assert!(error.is_some_and(|text| text.contains("too long")));
}

#[test]
fn answers_are_in_kind() {
    for (framing, expected) in [(Framing::Lines, "[1]\n"), (Framing::Headers, "Content-Length: 3\r\n\r\n[1]")] {
        let mut out = BytesMut::new();
        FrameCodec::with_framing(framing).encode("[1]", &mut out).unwrap();
        assert_eq!(out, expected.as_bytes());
        out.clear();
        write_frame(framing, &[b"[", b"1", b"]"], &mut out);
        assert_eq!(out, expected.as_bytes());
    }
}

/// Good frames, blank lines, oversize lines, bad UTF-8, deep nesting, strings with brackets.
fn line() -> impl Strategy<Value = Vec<u8>> {
    prop_oneof![
        Just(br#"{"jsonrpc":"2.0","id":1,"method":"a"}"#.to_vec()),
        Just(b"  ".to_vec()),
        Just(br#"{"a":"[[\"{"}"#.to_vec()),
        Just(vec![b'['; SMALL]),
        Just(vec![b'x'; SMALL + 1]),
        Just(vec![b'"', 0xff, b'"']),
        "[ -~é]{0,80}".prop_map(String::into_bytes),
    ]
}

proptest! {
    #[test]
    fn chunks_of_lines_do_not_matter(lines in prop::collection::vec(line(), 0..8), sizes in prop::collection::vec(1usize..40, 1..6)) {
        let mut input = b"{}\n".to_vec();
        for line in &lines {
            input.extend_from_slice(line);
            input.push(b'\n');
        }
        let codec = || FrameCodec::new().max_bytes(SMALL);
        let whole = decode(&mut codec(), &input, &[usize::MAX]);
        prop_assert_eq!(&decode(&mut codec(), &input, &[1]), &whole);
        prop_assert_eq!(&decode(&mut codec(), &input, &sizes), &whole);
    }

    #[test]
    fn chunks_of_headers_do_not_matter(bodies in prop::collection::vec(line(), 0..8), sizes in prop::collection::vec(1usize..40, 1..6)) {
        let mut input = Vec::new();
        for body in &bodies {
            input.extend_from_slice(format!("Content-Length: {}\r\nX: y\r\n\r\n", body.len()).as_bytes());
            input.extend_from_slice(body);
        }
        let codec = || FrameCodec::with_framing(Framing::Headers).max_bytes(SMALL);
        let whole = decode(&mut codec(), &input, &[usize::MAX]);
        prop_assert_eq!(whole.0.len(), bodies.len());
        prop_assert_eq!(&decode(&mut codec(), &input, &[1]), &whole);
        prop_assert_eq!(&decode(&mut codec(), &input, &sizes), &whole);
    }

    #[test]
    fn no_input_panics(input in prop::collection::vec(any::<u8>(), 0..300), sizes in prop::collection::vec(1usize..40, 1..4)) {
        let whole = decode(&mut FrameCodec::new().max_bytes(SMALL), &input, &[usize::MAX]);
        prop_assert_eq!(decode(&mut FrameCodec::new().max_bytes(SMALL), &input, &sizes), whole);
    }

    #[test]
    fn what_is_written_is_read_back(texts in prop::collection::vec("[ -~é]{0,60}", 0..6), headers in any::<bool>()) {
        let framing = if headers { Framing::Headers } else { Framing::Lines };
        let mut wire = BytesMut::new();
        for text in &texts {
            write_frame(framing, &[b"[", text.as_bytes(), b"]"], &mut wire);
        }
        let (found, error) = decode(&mut FrameCodec::with_framing(framing), &wire, &[3]);
        prop_assert_eq!(error, None);
        prop_assert_eq!(found.len(), texts.len());
        for (frame, text) in found.iter().zip(&texts) {
            let expected = format!("[{text}]");
            let deep = is_deeper(expected.as_bytes(), MAX_DEPTH);
            prop_assert!(deep || *frame == Frame::Text(expected));
        }
    }
}
